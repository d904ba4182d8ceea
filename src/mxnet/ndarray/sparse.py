"""`mx.nd.sparse`: making sparse arrays, arithmetic on them, and every operator under its sparse name."""

import numpy as np

from .._core.dtypes import dtype_name as _dtype_name
from .._core.errors import MXNetError, NotSupportedForSparseNDArray  # noqa: F401 - MXNet's module shows it
from .._core.shims.handles import owner_of as _owner_of
from .._ops.registry.device import torch_device as _torch_device
from .._ops.registry.torch_dtypes import torch_dtype as _torch_dtype
from ..base import c_array_buf, check_call  # noqa: F401 - MXNet's module shows them
from ..context import Context, current_context  # noqa: F401
from . import _creation
from ._creation import array as _dense_array
from ._dispatch.invoke import plain_tensor as _plain_tensor
from ._dispatch.namespaces import module_attributes as _module_attributes
from ._sparse.arithmetic import add, divide, multiply, subtract
from ._sparse.array import BaseSparseNDArray, CSRNDArray, RowSparseNDArray
from ._sparse.array import scipy_sparse as _scipy_sparse
from ._sparse.bad_indices import checked as _checked
from ._sparse.invoke import zeros as _zeros
from .ndarray import NDArray

__all__ = [
    "BaseSparseNDArray", "CSRNDArray", "RowSparseNDArray", "add", "csr_matrix", "divide", "multiply",
    "row_sparse_array", "subtract",
]  # fmt: skip
_lookup, __dir__ = _module_attributes(__name__, "sparse")


# ---------------------------------------------------------------------- making them
def _ndarray_cls(handle, writable=True, stype=-1):
    """The array that a handle stands for, in the class of its storage."""
    array = _owner_of(handle)
    return NDArray(handle) if array is None else type(array)(handle, writable)


def zeros(stype, shape, ctx=None, dtype=None, **kwargs):
    """An array of zeros in the given storage.

    Parameters
    ----------
    stype : str
        The storage type: default, row_sparse or csr.
    shape : tuple of int
        The shape of the array.
    ctx : Context, optional
        The device; the current context without it.
    dtype : str or type, optional
        The data type of the values.
    **kwargs
        Further arguments of the operator.

    Returns
    -------
    NDArray
        An array that stores nothing.

    Examples
    --------
    >>> mx.nd.sparse.zeros("csr", (2, 3)).asnumpy()
    array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    if stype == "default":
        return _creation.zeros(shape, ctx=ctx, dtype=dtype, **kwargs)
    if stype not in ("row_sparse", "csr"):
        raise ValueError("unknown storage type" + str(stype))
    shape = _creation._sizes(shape)
    if stype == "csr" and len(shape) != 2:
        raise MXNetError(f"a csr array has two axes, not the shape {shape}")
    return _zeros(stype, shape, ctx or current_context(), _torch_dtype(dtype))


def empty(stype, shape, ctx=None, dtype=None):
    """The same as `zeros`: nothing is kept yet.

    Parameters
    ----------
    stype : str
        The storage type: default, row_sparse or csr.
    shape : tuple of int
        The shape of the array.
    ctx : Context, optional
        The device; the current context without it.
    dtype : str or type, optional
        The data type of the values.

    Returns
    -------
    NDArray
        An array that stores nothing.

    Examples
    --------
    >>> mx.nd.sparse.empty("row_sparse", (2, 3)).stype
    'row_sparse'
    """
    assert stype is not None
    if stype not in ("csr", "row_sparse"):
        raise Exception(f"unknown stype : {stype}")
    return zeros(stype, shape, ctx, dtype)


def array(source_array, ctx=None, dtype=None):
    """A sparse array from another one or from SciPy's.

    Parameters
    ----------
    source_array : sparse NDArray or SciPy sparse matrix
        What to copy.
    ctx : Context, optional
        The device; the current context without it.
    dtype : str or type, optional
        The data type of the values.

    Returns
    -------
    CSRNDArray or RowSparseNDArray

    Examples
    --------
    >>> x = mx.nd.sparse.csr_matrix([[0, 1], [2, 0]])
    >>> mx.nd.sparse.array(x).asnumpy()
    array([[0., 1.],
           [2., 0.]], dtype=float32)
    """
    where = ctx or current_context()
    if isinstance(source_array, NDArray):
        assert source_array.stype != "default", (
            "Please use `tostype` to create RowSparseNDArray or CSRNDArray from an NDArray"
        )
        moved = source_array.copyto(where)
        return moved if dtype is None else moved.astype(dtype, copy=False)
    if _from_scipy(source_array):
        matrix = source_array.tocsr().sorted_indices()
        matrix.sum_duplicates()
        parts = matrix.data, matrix.indices, matrix.indptr
        return csr_matrix(parts, shape=matrix.shape, dtype=matrix.dtype if dtype is None else dtype, ctx=where)
    if isinstance(source_array, (np.ndarray, np.generic)):
        raise ValueError("Please use mx.nd.array to create an NDArray with source_array of type ", type(source_array))
    raise ValueError("Unexpected source_array type: ", type(source_array))


def _from_scipy(value):
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def csr_matrix(arg1, shape=None, ctx=None, dtype=None):
    """A csr array: of a shape, from (data, indices, indptr), from (data, (rows, columns)), or from another array.

    Parameters
    ----------
    arg1 : tuple or array_like
        (values, column of each, where each row begins), (values, (rows, columns)), a shape, or a dense or sparse array.
    shape : tuple of int, optional
        The shape; without it, it follows from the indices.
    ctx : Context, optional
        The device; the current context without it.
    dtype : str or type, optional
        The data type of the values.

    Returns
    -------
    CSRNDArray

    Examples
    --------
    >>> x = mx.nd.sparse.csr_matrix(([5, 6], [1, 0], [0, 1, 2]), shape=(2, 3))
    >>> x.asnumpy()
    array([[0., 5., 0.],
           [6., 0., 0.]], dtype=float32)
    """
    if isinstance(arg1, tuple):
        if len(arg1) == 3:
            return _csr_of_parts(*arg1, shape, ctx, dtype)
        if len(arg1) != 2:
            raise ValueError(f"Unexpected length of input tuple: {len(arg1)}")
        if isinstance(arg1[1], tuple) and len(arg1[1]) == 2:
            return _csr_of_elements(*arg1, shape, ctx, dtype)
        _check_shape(arg1, shape)
        return empty("csr", arg1, ctx, dtype)
    if isinstance(arg1, RowSparseNDArray):
        raise ValueError("Unexpected input type: RowSparseNDArray; make it dense first, by tostype('default')")
    return _converted(arg1, "csr", shape, ctx, dtype)


def row_sparse_array(arg1, shape=None, ctx=None, dtype=None):
    """A row-sparse array: of a shape, from (data, rows), or from another array.

    Parameters
    ----------
    arg1 : tuple or array_like
        (rows, their numbers), a shape, or a dense or sparse array.
    shape : tuple of int, optional
        The shape; without it, it follows from the indices.
    ctx : Context, optional
        The device; the current context without it.
    dtype : str or type, optional
        The data type of the values.

    Returns
    -------
    RowSparseNDArray

    Examples
    --------
    >>> x = mx.nd.sparse.row_sparse_array(([[5, 6]], [1]), shape=(3, 2))
    >>> x.asnumpy()
    array([[0., 0.],
           [5., 6.],
           [0., 0.]], dtype=float32)
    """
    if isinstance(arg1, tuple):
        if len(arg1) < 2:
            raise ValueError(f"Unexpected length of input tuple: {len(arg1)}")
        if len(arg1) > 2 or all(isinstance(size, (int, np.integer)) for size in arg1):
            _check_shape(arg1, shape)
            return empty("row_sparse", arg1, ctx, dtype)
        return _rows_of_parts(*arg1, shape, ctx, dtype)
    if isinstance(arg1, CSRNDArray):
        raise ValueError("Unexpected input type: CSRNDArray; make it dense first, by tostype('default')")
    return _converted(arg1, "row_sparse", shape, ctx, dtype)


def _converted(source, stype, shape, ctx, dtype):
    if getattr(source, "stype", "default") == stype or _from_scipy(source):
        _check_shape(source.shape, shape)
        return array(source, ctx, dtype)
    dense = _dense_array(source, ctx=ctx, dtype=_type_of(source, dtype))
    _check_shape(dense.shape, shape)
    return dense.tostype(stype)


def _check_shape(one, other):
    if one and other and tuple(one) != tuple(other):
        raise ValueError(f"Shape mismatch detected. {one} v.s. {other}")


def _type_of(source, dtype):
    """The type asked for, that of the source, or float32."""
    if dtype is None:
        dtype = source.dtype if isinstance(source, (NDArray, np.ndarray)) else np.float32
    return _dtype_name(dtype)


def _part(values, where, dtype):
    """One part of a sparse array as a tensor of its own."""
    if not isinstance(values, (NDArray, np.ndarray)):
        try:
            values = np.array(values, dtype=dtype)
        except (TypeError, ValueError):
            raise TypeError(f"values must be array like object, got {type(values)}") from None
    tensor = _plain_tensor(_dense_array(values, ctx=where, dtype=dtype))
    return tensor.to(_torch_device(where))


def _check_count(data, indices):
    if len(data) != len(indices):
        raise MXNetError(f"{len(data)} values are kept, but indices say where {len(indices)} belong")


_NO_SHAPE = "invalid shape: without elements it cannot be told from the indices; give shape="


def _csr_of_parts(data, indices, indptr, shape, ctx, dtype):
    where = ctx or current_context()
    data = _part(data, where, _type_of(data, dtype))
    indptr, indices = _part(indptr, where, "int64"), _part(indices, where, "int64")
    if shape is None:
        if not len(indices):
            raise ValueError(_NO_SHAPE)
        shape = (len(indptr) - 1, int(indices.max()) + 1)
    if data.dim() != 1 or indptr.dim() != 1 or indices.dim() != 1 or not len(indptr) or len(shape) != 2:
        shapes = ", ".join(str(tuple(part.shape)) for part in (data, indices, indptr))
        raise ValueError(
            f"invalid shape: a csr array has two axes, and data, indices and indptr are vectors; got {tuple(shape)} "
            f"and parts of shapes {shapes}"
        )
    _check_count(data, indices)
    return _checked(CSRNDArray._made((data, indices, indptr), shape, where))


def _csr_of_elements(data, places, shape, ctx, dtype):
    data, row, column = (x.asnumpy() if isinstance(x, NDArray) else x for x in (data, *places))
    matrix = _scipy_sparse().coo_matrix((data, (row, column)), shape=shape)
    _check_shape(matrix.shape, shape)
    return array(matrix, ctx=ctx, dtype=dtype)


def _rows_of_parts(data, indices, shape, ctx, dtype):
    where = ctx or current_context()
    data, indices = _part(data, where, _type_of(data, dtype)), _part(indices, where, "int64")
    if shape is None:
        if not len(indices):
            raise ValueError(_NO_SHAPE)
        shape = (int(indices[-1]) + 1, *data.shape[1:])
    if data.dim() != len(shape) or indices.dim() != 1 or 0 in shape[1:]:
        raise ValueError(
            f"invalid shape: {tuple(shape)} for rows of shape {tuple(data.shape)} and indices of shape "
            f"{tuple(indices.shape)}"
        )
    _check_count(data, indices)
    return _checked(RowSparseNDArray._made((data, indices), shape, where))


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "gs_retain":
        name = "retain"
    try:
        return _lookup(name)
    except AttributeError:
        from .op import __getattr__ as dense

        return dense(name)
