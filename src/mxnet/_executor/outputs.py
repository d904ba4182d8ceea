"""Output arrays of executors: the same objects from run to run, with new values."""

import torch

from .._core.writes import wrote

_storage_uses = torch._C._storage_Use_Count


def fill(array, tensor):
    """Give an output its new value: in the memory that it has if views of it or copies by reference exist, else by
    taking the tensor as it is.
    """
    memory = array._t
    if _shared(memory) and memory.shape == tensor.shape and memory.dtype is tensor.dtype:
        memory.data.copy_(tensor)
        wrote(memory)
    else:
        array._t = tensor


def _shared(tensor):
    """Does another tensor use this one's memory? One reference is the tensor's, one that of the question."""
    return _storage_uses(tensor.untyped_storage()._cdata) > 2
