"""`mx.npx` functions that are more than one operator: files, checks, coded shapes."""

import functools

from ..ndarray import utils
from ..ndarray.faces import face
from ..numpy import ndarray
from ..numpy._call import as_np, call


def network_function(name, operator, module):
    """A classic operator as a function of `mx.np` arrays."""
    call_classic = face(operator)

    @functools.wraps(call_classic)
    def function(*args, **kwargs):
        out = kwargs.get("out")
        result = call_classic(*args, **kwargs)
        return result if out is not None else as_np(result)

    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    return function


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


def nonzero(a):
    """The positions of what is not zero, one row each."""
    return call("_npi_nonzero", a)


def constraint_check(x, msg):
    """True if every element is; else a ValueError with the message."""
    return call("_npx_constraint_check", x, msg=msg)


def reshape(a, newshape, reverse=False, order="C"):
    """The elements in a shape in which negative numbers are codes.

    -1 is what is left, -2 copies a size, -3 drops a size of one, -4 copies all that remain, -5 joins two sizes,
    -6 splits one into the two numbers that follow.
    """
    codes = (newshape,) if isinstance(newshape, int) else tuple(newshape)
    return call("_npx_reshape", a, newshape=codes, reverse=reverse, order=order)
