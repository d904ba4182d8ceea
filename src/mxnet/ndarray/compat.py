"""Names of MXNet's indexing and C interface that programs import from `mxnet.ndarray.ndarray`."""

import ctypes

import numpy as np

from .._core.dtypes import FLAGS, SCALARS
from ..base import c_array, c_array_buf, c_handle_array, c_str, check_call, ctypes2buffer, mx_real_t  # noqa: F401
from ..runtime import Features  # noqa: F401
from ..util import is_np_array  # noqa: F401

py_slice = slice
_NDARRAY_UNSUPPORTED_INDEXING = -1
_NDARRAY_BASIC_INDEXING = 0
_NDARRAY_ADVANCED_INDEXING = 1
_NDARRAY_EMPTY_TUPLE_INDEXING = 2
_NDARRAY_BOOLEAN_INDEXING = 3
_NDARRAY_NO_ZERO_DIM_BOOL_ARRAY = -1
_NDARRAY_ZERO_DIM_BOOL_ARRAY_FALSE = 0
_NDARRAY_ZERO_DIM_BOOL_ARRAY_TRUE = 1
_STORAGE_TYPE_UNDEFINED, _STORAGE_TYPE_DEFAULT, _STORAGE_TYPE_ROW_SPARSE, _STORAGE_TYPE_CSR = -1, 0, 1, 2
_STORAGE_TYPE_STR_TO_ID = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}
_STORAGE_TYPE_ID_TO_STR = {number: name for name, number in _STORAGE_TYPE_STR_TO_ID.items()}
_GRAD_REQ_MAP = {"null": 0, "write": 1, "add": 3}
_DTYPE_NP_TO_MX = {None: -1, **{SCALARS[name]: flag for name, flag in FLAGS.items()}}
_DTYPE_MX_TO_NP = {flag: scalar for scalar, flag in _DTYPE_NP_TO_MX.items()}


class DLContext(ctypes.Structure):
    """DLPack's device."""

    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int)]


class DLDataType(ctypes.Structure):
    """DLPack's element type."""

    _fields_ = [("type_code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    """DLPack's tensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("ctx", DLContext),
        ("ndim", ctypes.c_int),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    """DLPack's tensor with its owner."""


DLManagedTensor._fields_ = [
    ("dl_tensor", DLTensor),
    ("manager_ctx", ctypes.c_void_p),
    ("deleter", ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensor))),
]


def get_indexing_dispatch_code(key):
    """Which kind of indexing a tuple key asks for: basic, advanced, none of them."""
    if isinstance(key, tuple) and len(key) == 0:
        return _NDARRAY_EMPTY_TUPLE_INDEXING
    code = _NDARRAY_BASIC_INDEXING
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, (list, tuple, np.ndarray, range)) or hasattr(part, "_t"):
            code = _NDARRAY_ADVANCED_INDEXING
        elif part is not None and part is not Ellipsis and not isinstance(part, (slice, int, np.integer)):
            return _NDARRAY_UNSUPPORTED_INDEXING
    return code


def indexing_key_expand_implicit_axes(key, shape):
    """A key with one entry per axis: the ellipsis and the axes left out written as full slices."""
    parts = list(key) if isinstance(key, tuple) else [key]
    if sum(p is Ellipsis for p in parts) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    named = sum(1 for p in parts if p is not None and p is not Ellipsis)
    if named > len(shape):
        raise IndexError(f"too many indices ({named}) for array with {len(shape)} dimensions")
    fill = [slice(None)] * (len(shape) - named)
    where = next((i for i, p in enumerate(parts) if p is Ellipsis), None)
    if where is None:
        return tuple(parts + fill)
    return tuple(parts[:where] + fill + parts[where + 1 :])


def get_oshape_of_gather_nd_op(dshape, ishape):
    """The shape that `gather_nd` gives for data and indices of these shapes."""
    depth = ishape[0]
    if depth > len(dshape):
        raise ValueError(f"the first size of the indices ({depth}) exceeds the data's {len(dshape)} axes")
    return tuple(ishape[1:]) + tuple(dshape[depth:])


def check_boolean_array_dimension(array_shape, axis, bool_shape):
    """Raise IndexError unless a boolean mask fits the axes it indexes."""
    for i, size in enumerate(bool_shape):
        if array_shape[axis + i] != size:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + i}; "
                f"dimension is {array_shape[axis + i]} but corresponding boolean dimension is {size}"
            )


__all__ = [n for n in globals() if n[:2] != "__" and n not in ("ctypes", "np", "FLAGS", "SCALARS")]
