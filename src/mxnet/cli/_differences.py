"""What ReMX treats differently from MXNet, name by name: the table behind `remx check` and docs/differences.md."""

import re

# Names are canonical (`mxnet.ndarray`, never `mx.nd`); the first pattern that matches a whole name tells the reason.
DIFFERENT = [
    (r"mxnet\.engine\.(bulk|set_bulk_size)", "remembered without effect: operations run at once"),
    (r"mxnet\.autograd\.get_symbol",
     "single operators leave a history once a program has named it; indices and Functions leave none"),
    (r"mxnet\.base\._LIB", "has a few functions of MXNet's C library; others say that they are missing"),
    (r"mxnet\.profiler\.(dump|dumps|set_config)", "kernels in the trace are torch's, under its names"),
    (r"mxnet\.(context\.)?cpu_pinned", "page-locked only on machines with an NVIDIA or AMD GPU, else plain memory"),
]  # fmt: skip
# Why a name is not there, where there is more to say than that
ABSENT = [
    (r"mxnet\.base\.\w*Handle|mxnet\.(library|rtc)\b.*",
     "belongs to MXNet's C library, which ReMX does not have; write a CustomOp or an autograd.Function"),
    (r"mxnet\.(ndarray\.|symbol\.)?(np|npx|numpy|numpy_extension)\b.*",
     "mx.np and mx.npx are there for arrays only, and not whole"),
    (r"mxnet\.contrib\.tensorrt\b.*", "TensorRT reads ONNX: export the network with mx.onnx.export_model"),
    (r"mxnet\.kvstore_server\b.*", "there are no server processes: workers hold the values themselves"),
    (r"mxnet\.(ndarray|symbol|io)\.(Caffe\w+|WarpCTC)",
     "a plug-in, which MXNet's own packages do not have either; CTCLoss does what WarpCTC did"),
    (r"mxnet\.(torch|th)\b.*", "the Lua-Torch plug-in; PyTorch is reached by array.as_torch() and mx.contrib.torch"),
]  # fmt: skip
# Packages beside MXNet that its programs import, and what takes their place
NEIGHBOURS = {"mxboard": "needs a protobuf of its time; mxnet.contrib.tensorboard.SummaryWriter takes the same calls"}
# Environment variables that ReMX reads
VARIABLES = frozenset(
    "MXNET_ALLOW_HTTP MXNET_BACKWARD_DO_MIRROR MXNET_CHECK_NAN MXNET_CUDA_ALLOW_TENSOR_CORE "
    "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION MXNET_CUDNN_AUTOTUNE_DEFAULT MXNET_ELIMINATE_COMMON_EXPR "
    "MXNET_ENABLE_CUDA_GRAPHS MXNET_ENFORCE_DETERMINISM MXNET_ENGINE_TYPE MXNET_GLUON_REPO MXNET_HOME "
    "MXNET_IMAGE_FORMATS MXNET_KEPT_MEMORY MXNET_KERNELS MXNET_KVSTORE_OVERLAP MXNET_KVSTORE_PULSE "
    "MXNET_KVSTORE_SECRET_FILE MXNET_KVSTORE_TIMEOUT MXNET_MAX_IMAGE_PIXELS MXNET_ONNX_MAX_CONSTANT_BYTES "
    "MXNET_ONNX_MAX_NODES "
    "MXNET_OPTIMIZER_AGGREGATION_SIZE MXNET_PROFILER_AUTOSTART MXNET_SAFE_ACCUMULATION MXNET_SERVE_SETTINGS "
    "MXNET_UPDATE_ON_KVSTORE MXNET_VIRTUAL_GPUS".split()
)


def _reason(table, name):
    return next((reason for pattern, reason in table if re.fullmatch(pattern, name)), None)


def difference(name):
    """How ReMX treats this name differently, or None."""
    return _reason(DIFFERENT, name)


def absence(name):
    """Why this name is not there, or None if nothing more is known."""
    return _reason(ABSENT, name)
