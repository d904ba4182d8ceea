"""How NDArrays travel between processes: as torch tensors in shared memory."""

from multiprocessing.reduction import ForkingPickler

import torch.multiprocessing  # noqa: F401  (registers how tensors travel)

from ... import ndarray as nd
from ...context import Context
from ...ndarray.ndarray import wrap


def rebuild_ndarray(tensor, device_type="cpu", device_id=0, kind=nd.NDArray):
    """An array, of the class `kind`, over a tensor that came from another process."""
    array = wrap(tensor, Context(device_type, device_id))
    return array if kind is nd.NDArray else kind(array)


def reduce_ndarray(data):
    """What to send for an NDArray: its values, which torch moves to shared memory, and its context."""
    context = data.context
    tensor = data.detach()._t.detach()
    return rebuild_ndarray, (tensor, context.device_type, context.device_id, type(data))


ForkingPickler.register(nd.NDArray, reduce_ndarray)
