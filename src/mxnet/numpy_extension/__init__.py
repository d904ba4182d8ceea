"""`mx.npx`: what NumPy does not have (network operators, switches, devices) for `mx.np` arrays."""

import functools as _functools

from ..context import Context, cpu, cpu_pinned, current_context, gpu, gpu_memory_info, num_gpus
from ..ndarray.faces import face as _face
from ..ndarray.functions import waitall
from ..numpy._call import as_np as _as_np
from ..util import get_cuda_compute_capability, is_np_array, is_np_shape, reset_np, set_np
from . import random
from ._functions import constraint_check, load, nonzero, reshape, save

# name here: the operator
_OPERATORS = {
    "activation": "Activation", "arange_like": "_contrib_arange_like", "batch_dot": "batch_dot",
    "batch_flatten": "Flatten", "batch_norm": "BatchNorm", "cast": "Cast", "convolution": "Convolution",
    "deconvolution": "Deconvolution", "dropout": "Dropout", "embedding": "Embedding", "erf": "erf",
    "erfinv": "erfinv", "fully_connected": "FullyConnected", "gamma": "gamma", "gammaln": "gammaln",
    "gather_nd": "gather_nd", "layer_norm": "LayerNorm", "leaky_relu": "LeakyReLU", "log_softmax": "log_softmax",
    "multibox_detection": "_contrib_MultiBoxDetection", "multibox_prior": "_contrib_MultiBoxPrior",
    "multibox_target": "_contrib_MultiBoxTarget", "one_hot": "one_hot", "pick": "pick", "pooling": "Pooling",
    "relu": "relu", "reshape_like": "reshape_like", "rnn": "RNN", "roi_pooling": "ROIPooling",
    "sequence_mask": "SequenceMask", "shape_array": "shape_array", "sigmoid": "sigmoid", "slice": "slice",
    "smooth_l1": "smooth_l1", "softmax": "softmax", "topk": "topk",
}  # fmt: skip
seed = random.seed


def _build(name):
    operator = _face(_OPERATORS[name])

    @_functools.wraps(operator)
    def function(*args, **kwargs):
        out = kwargs.get("out")
        result = operator(*args, **kwargs)
        return result if out is not None else _as_np(result)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "mxnet.numpy_extension"
    return function


def __getattr__(name):
    if name not in _OPERATORS:
        raise AttributeError(f"module 'mxnet.numpy_extension' has no attribute '{name}'")
    globals()[name] = function = _build(name)
    return function


def __dir__():
    return sorted({*globals(), *_OPERATORS})
