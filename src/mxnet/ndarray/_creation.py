"""Functions that make arrays: from Python and NumPy, of one number, of ranges."""

import numbers

import numpy as np
import torch

from .._core.dtypes import dtype_name
from .._core.errors import MXNetError
from .._core.modes import MODES
from .._device.copies import can_pin, held_pinned, moved, pinned
from .._device.errors import tells_exhaustion
from .._ops.elementwise.identity import to_dtype
from .._ops.registry import observe, registry
from .._ops.registry.device import torch_device
from .._ops.registry.torch_dtypes import TORCH, torch_dtype
from ..context import PINNED, Context, current_context, parse_context
from ._base import NDArrayBase, plain_sizes, wrap
from ._dispatch.invoke import invoke, recorded_tensor


def _sizes(shape):
    """A shape from a number, a tuple or a list."""
    if isinstance(shape, numbers.Integral):
        return (int(shape),)
    try:
        return tuple(int(s) for s in shape)
    except (TypeError, ValueError):
        raise MXNetError(f"a shape is an integer or a tuple of integers, got {shape!r}") from None


def _place(ctx):
    """The context that is asked for; a string such as "cpu(0)" may name it, as in MXNet."""
    if ctx is None:
        return current_context()
    return ctx if isinstance(ctx, Context) else parse_context(ctx)


def array(source_array, ctx=None, dtype=None):
    """An array from nested lists, a NumPy array or an NDArray; float32 unless `dtype` says otherwise.

    Parameters
    ----------
    source_array : array_like
        Nested lists, a number, a NumPy array or another NDArray.
    ctx : Context, optional
        The device; the current context without it.
    dtype : str or type, optional
        The data type; without it that of an NDArray, and float32 for all else.

    Returns
    -------
    NDArray
        A copy of the values.

    Examples
    --------
    >>> mx.nd.array([[1, 2], [3, 4]]).asnumpy()
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    where = _place(ctx)
    if dtype is None and source_array.__class__ in (list, np.ndarray):
        made = _of_floats(source_array, where)
        if made is not None:
            return made
    if getattr(source_array, "stype", "default") != "default" or hasattr(source_array, "tocsr"):
        from . import sparse

        return sparse.array(source_array, ctx, dtype)
    if isinstance(source_array, NDArrayBase):
        return _copied(source_array, where, dtype)
    if isinstance(source_array, torch.Tensor):
        wanted = source_array.dtype if dtype is None else torch_dtype(dtype)
        return wrap(_placed(source_array, where, wanted), where)
    name = dtype_name(np.float32 if dtype is None else dtype)
    if not isinstance(source_array, np.ndarray):
        source_array = _from_nested(source_array, name)
    return wrap(_to_tensor(source_array, name, where), where)


def _placed(source, where, dtype):
    """A copy of a tensor in a context, of a type."""
    source = source.detach()
    if where.device_typeid == PINNED:
        return pinned(source.to(dtype))
    converted, device = source.to(dtype), torch_device(where)
    if converted is not source and converted.device == device:
        return converted
    return moved(converted, device)


def _copied(source, where, dtype):
    """A copy in a context, recorded if the source is: MXNet fills a new array by an assignment."""
    tensor = recorded_tensor(source)
    recorded = tensor is not None
    tensor = tensor if recorded else source._t.detach()
    if where.device_typeid == PINNED:
        tensor = pinned(tensor)
    else:
        tensor = moved(tensor, torch_device(where), source._ctx.device_typeid == PINNED)
    wanted = tensor.dtype if dtype is None else torch_dtype(dtype)
    result = tensor if wanted is tensor.dtype else to_dtype(tensor, wanted)
    return wrap(result, where, MODES.epoch if recorded else None)


_PLAIN_ITEMS = frozenset({int, float, bool, list, tuple, np.ndarray})


_SMALL = 4096


def _of_floats(source, where):
    """A few plain numbers as float32; None where the source needs a closer look, or memory of torch's own."""
    if not (_PLAIN_ITEMS.issuperset(map(type, source)) if source.__class__ is list else source.size <= _SMALL):
        return None
    try:
        values = np.array(source, dtype=np.float32, order="C")
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
    tensor, device = torch.from_numpy(values), torch_device(where)
    if values.size > _SMALL:
        tensor = tensor.clone()
    if where.device_typeid == PINNED:
        return wrap(held_pinned(tensor), where)
    return wrap(tensor if device.type == "cpu" else moved(tensor, device), where)


def _from_nested(source, name):
    if isinstance(source, (list, tuple)) and any(isinstance(x, NDArrayBase) for x in source):
        source = [x.asnumpy() if isinstance(x, NDArrayBase) else x for x in source]
    kind = "float32" if name == "bfloat16" else name
    try:
        return np.array(source, dtype=kind)
    except OverflowError:  # NumPy 2 refuses what older ones wrap around, as MXNet knows it
        return np.array(source).astype(kind)
    except (ValueError, TypeError):
        raise TypeError(f"source_array must be array like object, got {type(source)}{_ragged(source)}") from None


def _ragged(source):
    """What is wrong with nested lists that are no array."""
    lengths = (
        {len(row) for row in source if isinstance(row, (list, tuple))} if isinstance(source, (list, tuple)) else ()
    )
    if len(lengths) < 2:
        return ""
    return f" with rows of different lengths, {' and '.join(map(str, sorted(lengths)))}; pad them to one length"


def _to_tensor(source, name, where):
    if source.dtype == object:  # a table with columns of several kinds
        source = source.astype("float32" if name == "bfloat16" else name)
    source = np.ascontiguousarray(source).reshape(source.shape)
    if not source.dtype.isnative:
        source = source.astype(source.dtype.newbyteorder("="))
    if name != "bfloat16":
        source = source.astype(name, copy=False)
    tensor = torch.tensor(source) if source.dtype.name in TORCH else torch.tensor(source.astype("float32"))
    if where.device_typeid == PINNED:
        return held_pinned(tensor.to(TORCH[name]))
    tensor, device = tensor.to(TORCH[name]), torch_device(where)
    return tensor if device.type == "cpu" else moved(tensor, device)


def empty(shape, ctx=None, dtype=None, stype=None):
    """An array whose elements are whatever was in memory.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the array.
    ctx : Context, optional
        The device; the current context without it.
    dtype : str or type, optional
        The data type of the array; float32 without it.
    stype : str, optional
        The storage type: default, row_sparse or csr.

    Returns
    -------
    NDArray
        An array whose values are not set.

    Examples
    --------
    >>> mx.nd.empty((2, 3)).shape
    (2, 3)
    """
    if stype not in (None, "default"):
        from . import sparse

        return sparse.empty(stype, shape, ctx, dtype)
    where = _place(ctx)
    in_pinned = where.device_typeid == PINNED and can_pin()
    sizes, kind = _sizes(shape), torch_dtype(dtype)
    made = tells_exhaustion(torch.empty)(sizes, dtype=kind, device=torch_device(where), pin_memory=in_pinned)
    return wrap(made, where)


_LIKE = {}


def _like(ctx, dtype):
    """A tensor without elements, which hands its type and place on quicker than torch reads them as arguments."""
    found = _LIKE.get((id(ctx), dtype))  # a context is never given back
    if found is None:
        found = _LIKE[id(ctx), dtype] = torch.empty(0, dtype=dtype, device=torch_device(ctx))
    return found


def _made(make, shape, ctx, dtype):
    """A constant array by torch's own function; None for what only the operator can tell."""
    if shape.__class__ is int:
        shape = (shape,)
    if shape.__class__ is not tuple or not plain_sizes(shape) or observe.watching():
        return None
    where = current_context() if ctx is None else ctx
    if where.__class__ is not Context or where.device_typeid == PINNED:
        return None
    try:
        return wrap(make(_like(where, torch.float32 if dtype is None else torch_dtype(dtype)), shape), where)
    except (RuntimeError, TypeError):  # too large, or a size beyond 64 bits: the operator tells
        return None


def zeros(shape, ctx=None, dtype=None, stype=None, **kwargs):
    """An array of zeros.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the array.
    ctx : Context, optional
        The device; the current context without it.
    dtype : str or type, optional
        The data type of the array; float32 without it.
    stype : str, optional
        The storage type: default, row_sparse or csr.
    **kwargs
        Further arguments of the operator, such as `name`.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.nd.zeros((2, 3)).asnumpy()
    array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    if stype is None and not kwargs:
        made = _made(lambda like, sizes: like.new_zeros(*sizes), shape, ctx, dtype)
        if made is not None:
            return made
    if stype not in (None, "default"):
        from . import sparse

        return sparse.zeros(stype, shape, ctx, dtype, **kwargs)
    return _filled("_zeros", shape, ctx, dtype, kwargs)


def ones(shape, ctx=None, dtype=None, **kwargs):
    """An array of ones.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the array.
    ctx : Context, optional
        The device; the current context without it.
    dtype : str or type, optional
        The data type of the array; float32 without it.
    **kwargs
        Further arguments of the operator, such as `name`.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.nd.ones((2, 3)).asnumpy()
    array([[1., 1., 1.],
           [1., 1., 1.]], dtype=float32)
    """
    made = None if kwargs else _made(lambda like, sizes: like.new_ones(sizes), shape, ctx, dtype)
    if made is not None:
        return made
    return _filled("_ones", shape, ctx, dtype, kwargs)


def _filled(name, shape, ctx, dtype, kwargs):
    out = kwargs.pop("out", None)
    attrs = {"shape": _sizes(shape), "dtype": dtype_name(dtype), **{k: v for k, v in kwargs.items() if k != "name"}}
    return invoke(registry.find(name), [], attrs, out, ctx=_place(ctx))


def full(shape, val, ctx=None, dtype=np.float32, out=None):
    """An array with `val` everywhere.

    Parameters
    ----------
    shape : int or tuple of int
        The shape of the array.
    val : number
        The value of every element.
    ctx : Context, optional
        The device; the current context without it.
    dtype : str or type, default np.float32
        The data type of the array; float32 without it.
    out : NDArray, optional
        The array to write the result to.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.nd.full((2, 2), 7).asnumpy()
    array([[7., 7.],
           [7., 7.]], dtype=float32)
    """
    if out is None and val.__class__ in (int, float) and (dtype is None or dtype is np.float32):
        made = _made(lambda like, sizes: like.new_full(sizes, val), shape, ctx, dtype)
        if made is not None:
            return made
    result = empty(shape, ctx, dtype) if out is None else out
    result[:] = val
    return result


def arange(start, stop=None, step=1.0, repeat=1, infer_range=None, ctx=None, dtype=np.float32):
    """Numbers from `start` up to but without `stop`, each `repeat` times.

    Parameters
    ----------
    start : number
        The first value, or the end of the range if `stop` is not given.
    stop : number, optional
        The end of the range, which is not part of it.
    step : number, default 1.0
        The distance between two values.
    repeat : int, default 1
        How many times each value is repeated.
    infer_range : bool, optional
        Ignored here: the range is always known.
    ctx : Context, optional
        The device; the current context without it.
    dtype : str or type, default np.float32
        The data type of the array; float32 without it.

    Returns
    -------
    NDArray
        The values start, start + step, … before `stop`.

    Examples
    --------
    >>> mx.nd.arange(2, 8, 2).asnumpy()
    array([2., 4., 6.], dtype=float32)
    >>> mx.nd.arange(3, repeat=2).asnumpy()
    array([0., 0., 1., 1., 2., 2.], dtype=float32)
    """
    attrs = {
        "start": start,
        "stop": stop,
        "step": step,
        "repeat": repeat,
        "infer_range": bool(infer_range),
        "dtype": dtype_name(dtype),
    }
    return invoke(registry.find("_arange"), [], attrs, ctx=_place(ctx))


def linspace(start, stop, num, endpoint=True, ctx=None, dtype=np.float32):
    """`num` numbers at equal distances.

    Parameters
    ----------
    start : number
        The first value.
    stop : number
        The end of the range.
    num : int
        The number of values.
    endpoint : bool, default True
        Whether `stop` is the last value.
    ctx : Context, optional
        The device; the current context without it.
    dtype : str or type, default np.float32
        The data type of the array; float32 without it.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.nd.linspace(0, 1, 5).asnumpy()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    attrs = {"start": start, "stop": stop, "num": num, "endpoint": endpoint, "dtype": dtype_name(dtype)}
    return invoke(registry.find("_linspace"), [], attrs, ctx=_place(ctx))


def eye(N, M=0, k=0, ctx=None, dtype=None, **kwargs):
    """Ones on a diagonal, zeros elsewhere.

    Parameters
    ----------
    N : int
        The number of rows.
    M : int, default 0
        The number of columns; 0 means as many as rows.
    k : int, default 0
        The diagonal: 0 is the main one, positive ones lie above it, negative ones below.
    ctx : Context, optional
        The device; the current context without it.
    dtype : str or type, optional
        The data type of the array; float32 without it.
    **kwargs
        Further arguments of the operator, such as `name`.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.nd.eye(2, 3, 1).asnumpy()
    array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    attrs = {"N": N, "M": M, "k": k, "dtype": dtype_name(dtype)}
    return invoke(registry.find("_eye"), [], attrs, kwargs.get("out"), ctx=_place(ctx))
