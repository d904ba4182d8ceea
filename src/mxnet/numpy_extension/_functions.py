"""`mx.npx` functions that are more than one operator: files, checks, coded shapes."""

from .._core.errors import MXNetError
from ..ndarray import utils
from ..numpy import ndarray
from ..numpy._call import as_np, call


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
    """True if every element is; else an error with the message."""
    if not bool(x.all()):
        raise ValueError(msg)
    return x.all()


def reshape(a, newshape, reverse=False, order="C"):
    """The elements in a shape in which negative numbers are codes.

    -1 is what is left, -2 copies a size, -3 drops a size of one, -4 copies all that remain, -5 joins two sizes,
    -6 splits one into the two numbers that follow.
    """
    if order != "C":
        raise MXNetError(f"npx.reshape: only order 'C' is supported, got {order!r}")
    codes = (newshape,) if isinstance(newshape, int) else tuple(newshape)
    if reverse:
        return a.reshape(_decoded(codes[::-1], a.shape[::-1])[::-1])
    return a.reshape(_decoded(codes, a.shape))


def _decoded(codes, shape):
    sizes, rest, queue = [], list(shape), list(codes)
    while queue:
        code = queue.pop(0)
        if code >= 0 or code == -1:
            sizes.append(code)
            rest = rest[1:]
        elif code == -4:
            sizes, rest = sizes + rest, []
        elif len(rest) < (2 if code == -5 else 1):
            raise MXNetError(f"npx.reshape: the codes {codes} need more axes than shape {shape} has")
        else:
            made, used = _one(code, rest, queue, shape)
            sizes, rest = sizes + made, rest[used:]
    return tuple(sizes)


def _one(code, rest, queue, shape):
    """What one code makes of the sizes that remain, and how many of them it uses."""
    if code == -2:
        return [rest[0]], 1
    if code == -3:
        if rest[0] != 1:
            raise MXNetError(f"npx.reshape: -3 drops an axis of size one, got {rest[0]} in shape {shape}")
        return [], 1
    if code == -5:
        return [rest[0] * rest[1]], 2
    if code == -6:
        first, second = queue.pop(0), queue.pop(0)
        first = rest[0] // second if first == -1 else first
        second = rest[0] // first if second == -1 else second
        if first * second != rest[0]:
            raise MXNetError(f"npx.reshape: cannot split {rest[0]} into {first} and {second}")
        return [first, second], 1
    raise MXNetError(f"npx.reshape: {code} is no code; -1 to -6 are")
