"""`mx.npx` functions for files of `mx.np` arrays."""

from ..ndarray import utils
from ..numpy import ndarray
from ..numpy._call import as_np


def save(file, arr):
    """Write an array, a list or a dictionary of arrays to a file."""
    groups = arr.values() if isinstance(arr, dict) else arr if isinstance(arr, (list, tuple)) else [arr]
    wrong = [a for a in groups if not isinstance(a, ndarray)]
    if wrong:
        raise TypeError(f"npx.save writes mx.np arrays, got {type(wrong[0])}")
    if isinstance(arr, ndarray):
        arr = [arr]
    utils.save(file, arr if isinstance(arr, dict) else list(arr))


def load(file):
    """Read what `save` wrote: a list or a dictionary of arrays."""
    found = utils.load(file)
    return {k: as_np(v) for k, v in found.items()} if isinstance(found, dict) else as_np(found)
