"""`mx.npx`: what NumPy does not have (network operators, switches, devices) for `mx.np` arrays."""

from .._core.errors import no_attribute as _no_attribute
from ..context import Context, cpu, cpu_pinned, current_context, gpu, gpu_memory_info, num_gpus
from ..ndarray.functions import waitall
from ..numpy._builtin import builtin as _builtin
from ..numpy._builtin import plain as _plain
from ..util import get_cuda_compute_capability, is_np_array, is_np_shape, reset_np, set_np
from . import image, random
from ._functions import load, save

# name here: the operator
_OPERATORS = {
    "activation": "Activation", "arange_like": "_contrib_arange_like", "batch_dot": "batch_dot",
    "batch_flatten": "Flatten", "batch_norm": "BatchNorm", "cast": "Cast", "convolution": "Convolution",
    "deconvolution": "Deconvolution", "dropout": "Dropout", "embedding": "Embedding", "erf": "erf",
    "erfinv": "erfinv", "fully_connected": "FullyConnected", "gamma": "gamma", "gammaln": "gammaln",
    "gather_nd": "gather_nd", "layer_norm": "LayerNorm", "leaky_relu": "LeakyReLU", "log_softmax": "log_softmax",
    "multibox_detection": "_contrib_MultiBoxDetection", "multibox_prior": "_contrib_MultiBoxPrior",
    "multibox_target": "_contrib_MultiBoxTarget", "one_hot": "one_hot", "pick": "pick", "pooling": "Pooling",
    "relu": "_npx_relu", "reshape_like": "reshape_like", "rnn": "RNN", "roi_pooling": "ROIPooling",
    "sequence_mask": "SequenceMask", "shape_array": "shape_array", "sigmoid": "_npx_sigmoid", "slice": "slice",
    "smooth_l1": "smooth_l1", "softmax": "softmax", "topk": "topk",
}  # fmt: skip
seed = random.seed
constraint_check, nonzero, reshape = (
    _builtin(f"_npx_{name}", __name__) for name in ("constraint_check", "nonzero", "reshape")
)


def __getattr__(name):
    if name not in _OPERATORS:
        raise _no_attribute(__name__, name)
    globals()[name] = function = _plain(_OPERATORS[name], __name__, name)
    return function


def __dir__():
    return sorted({*globals(), *_OPERATORS})
