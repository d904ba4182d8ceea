"""`mx.np` functions on shapes: reshaping, joining, splitting, picking."""

import numbers

import numpy as onp

from .._core.tracing import Traced
from ..ndarray.ndarray import NDArrayBase
from ._call import ARRAYS, axes, call

__all__ = [
    "append", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to",
    "column_stack", "concatenate", "delete", "diag", "diag_indices_from", "diagflat", "diagonal", "dsplit", "dstack",
    "ediff1d", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "hstack", "may_share_memory", "meshgrid",
    "moveaxis",
    "nonzero", "pad", "ravel", "repeat", "reshape", "resize", "roll", "rot90", "row_stack", "shape", "shares_memory",
    "split", "squeeze", "stack", "swapaxes", "take", "tile", "trace", "transpose", "tril", "unique",
    "unravel_index", "vsplit", "vstack", "where",
]  # fmt: skip


def reshape(a, newshape, order="C", out=None):
    """The elements in another shape; one size may be -1."""
    newshape = (newshape,) if isinstance(newshape, numbers.Integral) else tuple(newshape)
    return call("_np_reshape", a, newshape=newshape, order=order, out=out)


def ravel(x, order="C"):
    """All elements along one axis."""
    if order != "C":
        raise NotImplementedError(f"order {order} is not supported")
    return x if isinstance(x, numbers.Number) else reshape(x, -1)


def shape(a):
    """The size along each axis."""
    return a.shape


def transpose(a, axes=None):
    """Axes in another order, reversed unless told."""
    return call("_np_transpose", a, axes=None if axes is None else tuple(axes))


def squeeze(a, axis=None, out=None):
    """Without axes of size one."""
    return call("_np_squeeze", a, axis=axes(axis), out=out)


def expand_dims(a, axis):
    """A new axis of size one."""
    return call("_npi_expand_dims", a, axis=axis)


def moveaxis(a, source, destination):
    """Axes moved to other places."""
    return call("_np_moveaxis", a, source=axes(source), destination=axes(destination))


def swapaxes(a, axis1, axis2):
    """Two axes exchanged."""
    return call("_npi_swapaxes", a, dim1=axis1, dim2=axis2)


def broadcast_to(array, shape):
    """Stretched to a shape."""
    shape = (shape,) if isinstance(shape, numbers.Integral) else tuple(shape)
    if isinstance(array, numbers.Number):
        from . import full

        return full(shape, array)
    return call("_npi_broadcast_to", array, shape=shape)


def broadcast_arrays(*args):
    """All arrays stretched to their common shape."""
    common = onp.broadcast_shapes(*(a.shape for a in args))
    return [broadcast_to(a, common) for a in args]


def repeat(a, repeats, axis=None):
    """Each element so many times."""
    return call("_np_repeat", a, repeats=repeats, axis=axis)


def tile(A, reps):
    """The whole array so many times along each axis."""
    return call("_npi_tile", A, reps=axes(reps))


def resize(a, new_shape):
    """The elements in another shape, repeated or cut to fill it."""
    new_shape = axes(new_shape)
    size = int(onp.prod(new_shape))
    if not a.size:
        from . import zeros

        return zeros(new_shape, a.dtype)
    return reshape(tile(ravel(a), -(-size // a.size))[:size], new_shape)


def roll(a, shift, axis=None):
    """Elements moved round."""
    return call("_np_roll", a, shift=axes(shift), axis=axes(axis))


def flip(m, axis=None, out=None):
    """Turned round along axes, all unless told."""
    return call("_npi_flip", m, axis=tuple(range(m.ndim)) if axis is None else axes(axis), out=out)


def flipud(m):
    """Turned upside down."""
    return flip(m, 0)


def fliplr(m):
    """Left and right exchanged."""
    return flip(m, 1)


def rot90(m, k=1, axes=(0, 1)):
    """Turned by quarters in the plane of two axes."""
    return call("_npi_rot90", m, k=k, axes=tuple(axes))


def diag(array, k=0):
    """A matrix's diagonal, or a matrix with it."""
    return call("_np_diag", array, k=k)


def diagflat(array, k=0):
    """A matrix with the flat array as diagonal."""
    return call("_np_diagflat", array, k=k)


def diagonal(a, offset=0, axis1=0, axis2=1):
    """Diagonals of the planes of two axes."""
    return call("_np_diagonal", a, offset=offset, axis1=axis1, axis2=axis2)


def diag_indices_from(arr):
    """The places of the main diagonal of a cube, one index array per axis."""
    if arr.ndim < 2 or len(set(arr.shape)) != 1:
        raise ValueError(f"the array must have at least two axes, all of one length, got shape {arr.shape}")
    from . import arange

    return tuple(arange(arr.shape[0], dtype="int64") for _ in arr.shape)


def trace(a, offset=0, axis1=0, axis2=1, out=None):
    """Sums of diagonals."""
    return call("_np_trace", a, offset=offset, axis1=axis1, axis2=axis2, out=out)


def tril(m, k=0):
    """Zeros above a diagonal."""
    return call("_npi_tril", m, k=k)


def concatenate(seq, axis=0, out=None):
    """Joined along an axis; None joins the flat arrays."""
    if axis is None:
        seq, axis = [ravel(a) for a in seq], 0
    return call("_npi_concatenate", *seq, dim=axis, num_args=len(seq), out=out)


def append(arr, values, axis=None):
    """`values` after `arr`."""
    return concatenate((arr, values), axis)


def delete(arr, obj, axis=None):
    """Without the items at a place, a slice of places, or an array of places; MXNet ignores negative ones there."""
    from . import array

    if axis is None:
        arr, axis = ravel(arr), 0
    size = arr.shape[axis]
    if isinstance(obj, numbers.Integral) and not -size <= obj < size:
        raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {size}")
    if isinstance(obj, (NDArrayBase, onp.ndarray, list, tuple)):
        places = onp.asarray(obj.asnumpy() if isinstance(obj, NDArrayBase) else obj)
        obj = places if places.dtype == onp.bool_ else places[(places >= 0) & (places < size)].astype("int64")
    kept = onp.delete(onp.arange(size), obj)
    return take(arr, array(kept, dtype="int64", ctx=arr.ctx), axis, "clip") if len(kept) else _nothing(arr, axis)


def _nothing(arr, axis):
    """None of the items along an axis."""
    return arr[tuple(slice(0, 0) if i == axis % arr.ndim else slice(None) for i in range(arr.ndim))]


def stack(arrays, axis=0, out=None):
    """Joined along a new axis."""
    return call("_npi_stack", *arrays, axis=axis, num_args=len(arrays), out=out)


def vstack(arrays, out=None):
    """Joined as rows."""
    return call("_npi_vstack", *arrays, num_args=len(arrays), out=out)


def row_stack(arrays):
    """Joined as rows."""
    return vstack(arrays)


def hstack(arrays):
    """Joined side by side."""
    return call("_npi_hstack", *arrays, num_args=len(arrays))


def dstack(arrays):
    """Joined along the third axis."""
    return call("_npi_dstack", *arrays, num_args=len(arrays))


def column_stack(tup):
    """Vectors as columns, joined with matrices."""
    return call("_npi_column_stack", *tup, num_args=len(tup))


def _cut(ary, indices, axis):
    """Pieces that end before each index."""
    pieces = call("_npi_split", ary, indices=(0, *indices), axis=axis)
    return pieces if isinstance(pieces, list) else [pieces]


def split(ary, indices_or_sections, axis=0):
    """Pieces along an axis: so many equal ones, or cut at indices."""
    if not isinstance(indices_or_sections, numbers.Integral):
        return _cut(ary, tuple(int(i) for i in indices_or_sections), axis)
    if not isinstance(ary, Traced) and ary.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def array_split(ary, indices_or_sections, axis=0):
    """Pieces along an axis, equal as far as possible."""
    if not isinstance(indices_or_sections, numbers.Integral):
        return _cut(ary, tuple(int(i) for i in indices_or_sections), axis)
    if indices_or_sections <= 0:
        raise ValueError("number sections must be larger than 0")
    pieces = call("_npi_split", ary, indices=(), sections=indices_or_sections, axis=axis)
    return pieces if isinstance(pieces, list) else [pieces]


def hsplit(ary, indices_or_sections):
    """Pieces side by side."""
    if ary.ndim < 1:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    """Pieces one above the other."""
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """Pieces along the third axis."""
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def _grown(arrays, change):
    result = [change(a) for a in arrays]
    return result[0] if len(result) == 1 else result


def atleast_1d(*arys):
    """With at least one axis."""
    return _grown(arys, lambda a: a if a.ndim else reshape(a, 1))


def atleast_2d(*arys):
    """With at least two axes."""
    return _grown(arys, lambda a: a if a.ndim > 1 else reshape(a, (1, -1)))


def atleast_3d(*arys):
    """With at least three axes."""
    wanted = {0: (1, 1, 1), 1: (1, -1, 1)}
    return _grown(arys, lambda a: a if a.ndim > 2 else reshape(a, wanted.get(a.ndim, (*a.shape, 1))))


def meshgrid(*xi, **kwargs):
    """Coordinate arrays of a grid."""
    matrix = kwargs.pop("indexing", "xy") == "xy"
    sparse, copied = kwargs.pop("sparse", False), kwargs.pop("copy", True)
    if kwargs:
        raise TypeError(f"meshgrid() got an unexpected keyword argument '{next(iter(kwargs))}'")
    if not copied:
        raise NotImplementedError("meshgrid: copy=False is not supported, every array has memory of its own")
    places = list(range(len(xi)))
    if matrix and len(xi) > 1:
        places[0], places[1] = 1, 0
    shaped = [reshape(x, [-1 if p == axis else 1 for axis in range(len(xi))]) for x, p in zip(xi, places, strict=True)]
    return shaped if sparse else broadcast_arrays(*shaped)


def take(a, indices, axis=None, mode="raise", out=None):
    """Elements or slices at indices; places outside are brought to the edge, or counted round."""
    if mode not in ("wrap", "clip", "raise"):
        raise NotImplementedError(f"function take does not support mode '{mode}'")
    if isinstance(indices, numbers.Integral):
        from . import array

        indices = array(indices, dtype="int64")
    if axis is None:
        a, axis = ravel(a), 0
    return call("_npi_take", a, indices, axis=axis, mode=mode, out=out)


def where(condition, x=None, y=None):
    """Elements of `x` where the condition holds, of `y` elsewhere; alone: where it holds."""
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return call("_npi_where", condition, _filled(x, y, condition), _filled(y, x, condition))


def _filled(value, other, condition):
    """A number as an array of the other side's type."""
    if isinstance(value, ARRAYS):
        return value
    from . import full, full_like

    if isinstance(condition, Traced):
        return full_like(other if isinstance(other, Traced) else condition, value)

    return full((), value, other.dtype if isinstance(other, NDArrayBase) else None, ctx=condition.ctx)


def nonzero(a):
    """Where elements are not zero, one index array per axis."""
    places = call("_npi_nonzero", a)
    return tuple(places[:, i] for i in range(max(a.ndim, 1)))


def unravel_index(indices, shape, order="C"):
    """Flat positions as coordinates."""
    if order != "C":
        raise NotImplementedError("Don't support column-major (Fortran-style) order yet.")
    from . import array

    if isinstance(indices, numbers.Number):
        return tuple(int(i) for i in onp.unravel_index(indices, shape))
    return tuple(array(i) for i in onp.unravel_index(indices.asnumpy().astype("int64"), shape))


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None):
    """The different elements, sorted, and where they are and how often they occur."""
    from . import array

    found = onp.unique(ar.asnumpy(), return_index, return_inverse, return_counts, axis)
    if not isinstance(found, tuple):
        return array(found, ctx=ar.ctx)
    return tuple(array(f.reshape(-1) if i else f, ctx=ar.ctx) for i, f in enumerate(found))


def shares_memory(a, b, max_work=None):
    """Do two arrays have elements in the same memory?"""
    first, second = _extent(a), _extent(b)
    return first.start < second.stop and second.start < first.stop


def _extent(a):
    """The addresses that an array's elements take up; views here are without gaps."""
    t = a._t.detach()
    return range(t.data_ptr(), t.data_ptr() + t.numel() * t.element_size())


may_share_memory = shares_memory


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours in the flat array, with numbers or arrays before and after."""
    from . import array, diff

    parts = [to_begin, diff(ravel(ary)), to_end]
    made = [p if isinstance(p, NDArrayBase) else array(p, dtype=ary.dtype) for p in parts if p is not None]
    return concatenate([ravel(p) for p in made])


def pad(x, pad_width=None, mode="constant", **kwargs):
    """Wider along each axis: a constant, or the array's own elements by their places."""
    if mode not in ("constant", "edge", "reflect", "symmetric", "maximum", "minimum"):
        raise ValueError(f"mode '{mode}' is not supported")
    value = kwargs.pop("constant_values", 0)
    if kwargs.pop("reflect_type", "even") != "even" or kwargs:
        raise ValueError(f"pad: unsupported keyword arguments for mode '{mode}': {kwargs or 'reflect_type'}")
    for axis, (before, after) in enumerate(onp.broadcast_to(pad_width, (x.ndim, 2)).tolist()):
        if before or after:
            x = _padded(x, axis, before, after, mode, value)
    return x


def _padded(x, axis, before, after, mode, value):
    from . import array, full
    from . import max as greatest
    from . import min as least

    if mode in ("edge", "reflect", "symmetric"):
        places = onp.pad(onp.arange(x.shape[axis]), (before, after), mode)
        return take(x, array(places), axis, "clip")
    if mode == "constant":
        edge = full((), value, x.dtype, ctx=x.ctx)
    else:
        edge = (greatest if mode == "maximum" else least)(x, axis, keepdims=True)
    sizes = [(*x.shape[:axis], width, *x.shape[axis + 1 :]) for width in (before, after)]
    return concatenate([broadcast_to(edge, sizes[0]), x, broadcast_to(edge, sizes[1])], axis)
