"""What an executor is bound to, and the same arrays for other shapes."""

import numpy as np
import torch

from .._core.errors import MXNetError
from .._graph.infer.zero_size import fully_known
from ..ndarray.ndarray import wrap

ARGUMENT_CHANGED = (
    "Shape of unspecifie arg: {} changed. This can cause the new executor to not share parameters with the old one. "
    "Please check for error in the network. If this is intended, set partial_shaping=True to suppress this warning."
)
STATE_CHANGED = (
    "Shape of unspecifie aux: {} changed. If this is intended, set partial_shaping=True to suppress this warning."
)


class Bound:
    """What an executor is bound to: arrays for arguments, gradients and states, and a request per argument."""

    def __init__(self, args, grads, reqs, states, base=None):
        self.args, self.grads, self.reqs, self.states = args, grads, reqs, states
        self.base = base  # the executor whose memory this one shares


def new_shape(name, array, found, free, complaint):
    """The shape that a variable has now; only those that are `free` may have got another one."""
    shape = found[name] if fully_known(found[name]) else array.shape
    if shape != array.shape and name not in free:
        raise MXNetError(complaint.format(name))
    return shape


def resized(array, shape, allow_up_sizing, name):
    """The same memory under another shape; new memory if more is needed."""
    if shape == array.shape:
        return array
    count = int(np.prod(shape))
    tensor = array._t.detach()
    if count > tensor.numel():
        if not allow_up_sizing:
            raise MXNetError(
                f"New shape of arg: {name} is larger than original. First making a big executor and then down sizing "
                "it is more efficient than the reverse. If you really want to up size, set allow_up_sizing=True to "
                "enable allocation of new arrays."
            )
        return wrap(torch.zeros(shape, dtype=tensor.dtype, device=tensor.device), array.context)
    return wrap(tensor.contiguous().view(-1)[:count].view(shape), array.context)
