"""Functions of `mx.nd` that are more than one operator: creation, arithmetic on arrays or numbers, exchange."""

import builtins
import ctypes
import numbers
import warnings

import numpy as np
import torch

from .._core.dtypes import dtype_name
from .._core.errors import MXNetError
from .._core.modes import MODES
from .._core.writes import lend
from .._device.copies import can_pin, held_pinned, moved, pinned
from .._device.errors import tells_exhaustion
from .._device.waiting import wait_for_all
from .._ops.elementwise.identity import to_dtype
from .._ops.registry import observe, registry
from .._ops.registry.device import torch_device
from .._ops.registry.torch_dtypes import NAME, TORCH, torch_dtype
from ..context import PINNED, Context, cpu, current_context, gpu, parse_context
from ._dispatch.arithmetic import BINARY, binary
from ._dispatch.invoke import invoke, recorded_tensor
from .ndarray import NDArray, NDArrayBase, plain_sizes, wrap

__all__ = [
    "add", "arange", "array", "concatenate", "divide", "empty", "equal", "eye", "from_dlpack", "from_numpy",
    "from_torch", "full", "greater", "greater_equal", "histogram", "imdecode", "lesser", "lesser_equal", "linspace",
    "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "modulo", "moveaxis", "multiply", "not_equal",
    "onehot_encode", "ones", "power", "split_v2", "subtract", "to_dlpack_for_read", "to_dlpack_for_write",
    "true_divide", "waitall", "zeros",
]  # fmt: skip


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


def moveaxis(tensor, source, destination):
    """Move axes to other places, the rest keeping their order.

    Parameters
    ----------
    tensor : NDArray
        The input.
    source : int or tuple of int
        The axes to move.
    destination : int or tuple of int
        Where each of them goes.

    Returns
    -------
    NDArray
        The input with its axes in another order; the other axes keep theirs.

    Examples
    --------
    >>> mx.nd.moveaxis(mx.nd.zeros((2, 3, 4)), 0, 2).shape
    (3, 4, 2)
    """
    ndim = tensor.ndim
    source = [source] if isinstance(source, numbers.Integral) else list(source)
    destination = [destination] if isinstance(destination, numbers.Integral) else list(destination)
    for what, axes in (("source", source), ("destination", destination)):
        for i, axis in enumerate(axes):
            if not -ndim <= axis < ndim:
                raise ValueError(f"'{what}' should contain axes in [-{ndim}, {ndim}), got {axis}")
            axes[i] = axis % ndim
        if len(set(axes)) != len(axes):
            raise ValueError(f"repeated axis in `{what}`")
    if len(source) != len(destination):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements, "
            f"got {len(source)} and {len(destination)}"
        )
    order = [n for n in range(ndim) if n not in source]
    for to, axis in sorted(zip(destination, source, strict=True)):
        order.insert(to, axis)
    return tensor.transpose(order)


def concatenate(arrays, axis=0, always_copy=True):
    """Arrays one after another along `axis`.

    Parameters
    ----------
    arrays : list of NDArrays
        The arrays, of equal shapes but for `axis`.
    axis : int, default 0
        The axis to join along.
    always_copy : bool, default True
        Whether a single array is copied as well.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.nd.concatenate([mx.nd.ones((1, 2)), mx.nd.zeros((1, 2))]).asnumpy()
    array([[1., 1.],
           [0., 0.]], dtype=float32)
    """
    if not isinstance(arrays, list):
        raise TypeError(f"concatenate takes a list of arrays, got {type(arrays)}")
    if not arrays:
        raise AssertionError("concatenate needs at least one array")
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return invoke(registry.find("Concat"), arrays, {"dim": axis})


def histogram(a, bins=10, range=None):
    """Counts of elements in each bin, and the bins' edges.

    Parameters
    ----------
    a : NDArray
        The values.
    bins : int or NDArray, default 10
        The number of intervals of equal width, or their edges.
    range : tuple of two numbers, optional
        The lower and upper end of the intervals; without it, the least and greatest value.

    Returns
    -------
    list of two NDArrays
        The counts and the edges.

    Examples
    --------
    >>> counts, edges = mx.nd.histogram(mx.nd.array([1, 2, 2, 5]), bins=2, range=(0, 6))
    >>> counts.asnumpy(), edges.asnumpy()
    (array([3, 1]), array([0., 3., 6.], dtype=float32))
    """
    if isinstance(bins, NDArrayBase):
        return invoke(registry.find("_histogram"), [a, bins], {})
    if not isinstance(bins, numbers.Integral):
        raise ValueError(f"bins argument should be either an integer or an NDArray, got {type(bins)}")
    if range is None:
        warnings.warn("range is not specified, using numpy's result to ensure consistency with numpy", stacklevel=2)
        counts, edges = np.histogram(a.asnumpy(), bins=bins)
        return array(counts), array(edges)
    return invoke(registry.find("_histogram"), [a], {"bin_cnt": int(bins), "range": range})


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Split at indices, or into equal sections, along `axis`.

    Parameters
    ----------
    ary : NDArray
        The array to split.
    indices_or_sections : int or tuple of int
        The number of equal parts, or the places where new parts begin.
    axis : int, default 0
        The axis; negative ones count from the end.
    squeeze_axis : bool, default False
        Whether the split axis is removed from parts of length 1.

    Returns
    -------
    NDArray or list of NDArrays
        The parts.

    Examples
    --------
    >>> [part.shape for part in mx.nd.split_v2(mx.nd.zeros((5, 2)), (1, 3))]
    [(1, 2), (2, 2), (2, 2)]
    """
    size = ary.shape[axis]
    if isinstance(indices_or_sections, numbers.Integral):
        sections, indices = int(indices_or_sections), []
        if sections == 0 or size % sections:
            raise ValueError(
                f"array split does not result in an equal division: axis {axis} has size {size}, in {sections} sections"
            )
    elif isinstance(indices_or_sections, (tuple, list)):
        sections, indices = 0, [0, *indices_or_sections]
    else:
        raise ValueError(
            f"indices_or_sections must either int, or tuple / list / set of ints, got {type(indices_or_sections)}"
        )
    attrs = {"indices": tuple(indices), "axis": axis, "squeeze_axis": squeeze_axis, "sections": sections}
    return invoke(registry.find("_split_v2"), [ary], attrs)


def onehot_encode(indices, out):
    """One-hot rows of `indices`, written into `out`.

    Parameters
    ----------
    indices : NDArray
        The class of each row.
    out : NDArray
        The matrix to fill, with a column for each class.

    Returns
    -------
    NDArray
        `out`.

    Examples
    --------
    >>> mx.nd.onehot_encode(mx.nd.array([0, 2]), mx.nd.zeros((2, 3))).asnumpy()
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    return invoke(registry.find("_onehot_encode"), [indices, out], {}, out=out)


def imdecode(str_img, clip_rect=(0, 0, 0, 0), out=None, index=0, channels=3, mean=None):
    """An image's bytes, decoded, cropped and less its mean; the oldest of MXNet's decoders.

    Parameters
    ----------
    str_img : bytes
        The bytes of an image file.
    clip_rect : tuple of four ints, default (0, 0, 0, 0)
        The part to take: left, top, right, bottom; zeros mean all.
    out : NDArray, optional
        A batch of images to write into.
    index : int, default 0
        The place in that batch.
    channels : int, default 3
        3 for colour, 1 for grey.
    mean : NDArray, optional
        An image to subtract.

    Returns
    -------
    NDArray
        The image, (1, channels, height, width), or `out`.

    Examples
    --------
    >>> import cv2
    >>> data = cv2.imencode(".png", np.full((2, 2, 3), 255, "uint8"))[1].tobytes()
    >>> mx.nd.imdecode(data).shape
    (1, 3, 2, 2)
    """
    from ..image import imdecode as decode

    image = decode(str_img, flag=1 if channels == 3 else 0).astype("float32")
    x0, y0, x1, y1 = clip_rect
    if x1 > x0 and y1 > y0:
        image = image[y0:y1, x0:x1]
    image = image.transpose((2, 0, 1)).expand_dims(0)
    if mean is not None:
        image = image - mean
    if out is None:
        return image
    out[index : index + 1] = image
    return out


def waitall():
    """Wait until every device has finished its work.

    Examples
    --------
    >>> mx.nd.waitall()
    """
    wait_for_all()


def from_numpy(ndarray, zero_copy=True, array_cls=NDArray):
    """An array over a NumPy array's memory, which becomes read-only; a copy with `zero_copy=False`.

    Parameters
    ----------
    ndarray : numpy.ndarray
        The NumPy array, contiguous in memory.
    zero_copy : bool, default True
        Whether the memory is shared.
    array_cls : type, default NDArray
        The class of the result.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> x = np.ones((2,), dtype="float32")
    >>> mx.nd.from_numpy(x).asnumpy(), x.flags["WRITEABLE"]
    (array([1., 1.], dtype=float32), False)
    """
    if not zero_copy:
        return array(ndarray, dtype=ndarray.dtype)
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise ValueError(
            "Only c-contiguous arrays are supported for zero-copy: make a copy with zero_copy=False or "
            "np.ascontiguousarray"
        )
    if str(ndarray.dtype) not in TORCH:
        raise ValueError(f"{ndarray.dtype} is not supported: there are {', '.join(TORCH)}")
    if ndarray.flags["WRITEABLE"]:
        tensor = torch.from_numpy(ndarray)
        ndarray.flags["WRITEABLE"] = False
    else:
        tensor = torch.from_numpy(_writable_view(ndarray))
    lend(tensor)
    return _as(array_cls, wrap(tensor, cpu()))


def _writable_view(array):
    """The same memory as a writable array: an array is read-only here because we made it so before."""
    memory = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
    memory.owner = array
    return np.frombuffer(memory, dtype=array.dtype).reshape(array.shape)


def from_dlpack(dlpack):
    """An array over the memory of a DLPack capsule, or of an object that exports one.

    Parameters
    ----------
    dlpack : capsule or object with __dlpack__
        What another library exported.

    Returns
    -------
    NDArray
        An array over the same memory.

    Examples
    --------
    >>> import torch
    >>> mx.nd.from_dlpack(torch.ones(2)).asnumpy()
    array([1., 1.], dtype=float32)
    """
    try:
        tensor = torch.from_dlpack(dlpack) if hasattr(dlpack, "__dlpack__") else torch.utils.dlpack.from_dlpack(dlpack)
    except RuntimeError as error:
        raise AssertionError(f"Invalid DLPack Tensor: {error}") from None
    return from_torch(tensor)


def from_dlpack_address(address):
    """An array over the DLManagedTensor at an address, which it owns from now on.

    This is what `MXNDArrayFromDLPack` does with the pointer out of a capsule; the caller renames the capsule and takes
    its destructor away.
    """
    if not address:
        raise MXNetError("MXNDArrayFromDLPack takes the address of a DLManagedTensor, got a null pointer")
    return from_dlpack(_new_capsule(address, _DLTENSOR, None))


def to_dlpack_address(array):
    """The address of a DLManagedTensor over an array's memory, which the caller owns from now on."""
    capsule = array.to_dlpack_for_read()
    address = _pointer_in_capsule(capsule, _DLTENSOR)
    _set_destructor(capsule, None)
    return address


def _python_function(name, result, *arguments):
    """A function of Python's C API with types of its own: `ctypes.pythonapi` is shared by the process."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_DLTENSOR = b"dltensor"  # a capsule keeps a pointer to its name
_pointer, _name = ctypes.c_void_p, ctypes.c_char_p
_new_capsule = _python_function("PyCapsule_New", ctypes.py_object, _pointer, _name, _pointer)
_pointer_in_capsule = _python_function("PyCapsule_GetPointer", _pointer, ctypes.py_object, _name)
_set_destructor = _python_function("PyCapsule_SetDestructor", ctypes.c_int, ctypes.py_object, _pointer)


def from_torch(tensor):
    """An array over a torch tensor's memory; while recording the tensor's history goes along.

    Parameters
    ----------
    tensor : torch.Tensor
        The tensor.

    Returns
    -------
    NDArray
        An array over the same memory.

    Examples
    --------
    >>> import torch
    >>> tensor = torch.ones(2)
    >>> x = mx.nd.from_torch(tensor)
    >>> x[:] = 3
    >>> tensor
    tensor([3., 3.])
    """
    if tensor.dtype not in NAME:
        raise MXNetError(f"MXNet has no arrays of {tensor.dtype}; convert the tensor to one of {', '.join(TORCH)}")
    where = cpu() if tensor.device.type == "cpu" else gpu(tensor.device.index or 0)
    tensor = tensor.reshape(1) if tensor.dim() == 0 else tensor
    if tensor.requires_grad and not MODES.recording:
        tensor = tensor.detach()
    lend(tensor)
    return wrap(tensor, where, MODES.epoch if tensor.requires_grad else None)


def _as(cls, made):
    if cls is NDArray:
        return made
    result = cls.__new__(cls)
    result._t, result._ctx, result._ag = made._t, made._ctx, made._ag
    return result


def to_dlpack_for_read(data):
    """A DLPack capsule over the array's memory.

    Parameters
    ----------
    data : NDArray
        The array.

    Returns
    -------
    capsule
        A DLPack capsule, for `from_dlpack` of any library.

    Examples
    --------
    >>> capsule = mx.nd.to_dlpack_for_read(mx.nd.ones((2,)))
    >>> mx.nd.from_dlpack(capsule).asnumpy()
    array([1., 1.], dtype=float32)
    """
    return data.to_dlpack_for_read()


def to_dlpack_for_write(data):
    """A DLPack capsule over the array's memory, which the receiver may change.

    Parameters
    ----------
    data : NDArray
        The array.

    Returns
    -------
    capsule
        A DLPack capsule, for `from_dlpack` of any library.

    Examples
    --------
    >>> capsule = mx.nd.to_dlpack_for_read(mx.nd.ones((2,)))
    >>> mx.nd.from_dlpack(capsule).asnumpy()
    array([1., 1.], dtype=float32)
    """
    return data.to_dlpack_for_write()


_TWO = """{about}

Parameters
----------
{first} : NDArray or number
    The first operand.
{second} : NDArray or number
    The second operand; shapes broadcast.

Returns
-------
NDArray or number
    A number if both operands are numbers.

Examples
--------
>>> mx.nd.{name}(mx.nd.array([5, 2]), 2).asnumpy()
array([{shown}], dtype=float32)
"""


def _two(name, names, about, shown, first="lhs", second="rhs"):
    scope = {"binary": binary, "names": names, "fold": _fold(name)}
    exec(
        f"def {name}({first}, {second}):\n"
        f"    if isinstance({first}, Number) and isinstance({second}, Number): return fold({first}, {second})\n"
        f"    return binary({first}, {second}, names)",
        {**scope, "Number": numbers.Number},
        scope,
    )
    function = scope[name]
    function.__doc__ = _TWO.format(about=about, first=first, second=second, name=name, shown=shown)
    function.__module__ = "mxnet.ndarray.ndarray"
    return function


def _fold(name):
    """What two plain numbers give."""
    table = {
        "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
        "divide": lambda a, b: a / b, "true_divide": lambda a, b: a / b, "modulo": lambda a, b: a % b,
        "power": lambda a, b: a**b, "maximum": builtins.max, "minimum": builtins.min,
        "equal": lambda a, b: 1 if a == b else 0, "not_equal": lambda a, b: 1 if a != b else 0,
        "greater": lambda a, b: 1 if a > b else 0, "greater_equal": lambda a, b: 1 if a >= b else 0,
        "lesser": lambda a, b: 1 if a < b else 0, "lesser_equal": lambda a, b: 1 if a <= b else 0,
        "logical_and": lambda a, b: 1 if a and b else 0, "logical_or": lambda a, b: 1 if a or b else 0,
        "logical_xor": lambda a, b: 1 if bool(a) ^ bool(b) else 0,
    }  # fmt: skip
    return table[name]


def _commuting(stem, scalar):
    return (f"broadcast_{stem}", scalar, scalar)


add = _two("add", BINARY["add"], "`lhs + rhs`, element by element.", "7., 4.")
subtract = _two("subtract", BINARY["sub"], "`lhs - rhs`, element by element.", "3., 0.")
multiply = _two("multiply", BINARY["mul"], "`lhs * rhs`, element by element.", "10.,  4.")
divide = _two("divide", BINARY["truediv"], "`lhs / rhs`, element by element; integers truncate.", "2.5, 1. ")
true_divide = _two("true_divide", BINARY["truediv"], "`lhs / rhs`, element by element, as `divide`.", "2.5, 1. ")
modulo = _two("modulo", BINARY["mod"], "The remainder of `lhs / rhs`, with the sign of `rhs`.", "1., 0.")
power = _two("power", BINARY["pow"], "`base ** exp`, element by element.", "25.,  4.", "base", "exp")
maximum = _two("maximum", _commuting("maximum", "_maximum_scalar"), "The larger of two elements.", "5., 2.")
minimum = _two("minimum", _commuting("minimum", "_minimum_scalar"), "The smaller of two elements.", "2., 2.")
equal = _two("equal", BINARY["eq"], "1 where the elements are equal, 0 elsewhere.", "0., 1.")
not_equal = _two("not_equal", BINARY["ne"], "1 where the elements differ, 0 elsewhere.", "1., 0.")
greater = _two("greater", BINARY["gt"], "1 where `lhs > rhs`, 0 elsewhere.", "1., 0.")
greater_equal = _two("greater_equal", BINARY["ge"], "1 where `lhs >= rhs`, 0 elsewhere.", "1., 1.")
lesser = _two("lesser", BINARY["lt"], "1 where `lhs < rhs`, 0 elsewhere.", "0., 0.")
lesser_equal = _two("lesser_equal", BINARY["le"], "1 where `lhs <= rhs`, 0 elsewhere.", "0., 1.")
logical_and = _two(
    "logical_and", _commuting("logical_and", "_logical_and_scalar"), "1 where both are nonzero, 0 elsewhere.", "1., 1."
)
logical_or = _two(
    "logical_or", _commuting("logical_or", "_logical_or_scalar"), "1 where either is nonzero, 0 elsewhere.", "1., 1."
)
logical_xor = _two(
    "logical_xor", _commuting("logical_xor", "_logical_xor_scalar"), "1 where exactly one is nonzero.", "0., 0."
)
