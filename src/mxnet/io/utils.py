"""Helpers of NDArrayIter: inputs in canonical form, slices and shuffles of them."""

import numpy as np

from .. import ndarray as nd
from ..ndarray import NDArray, array
from ..ndarray.sparse import CSRNDArray
from ..ndarray.sparse import array as sparse_array


def _is_lazy(value):
    """Whether it is an h5py dataset: rows are read when a batch needs them. (h5py may not be installed.)"""
    return type(value).__module__.partition(".")[0] == "h5py"


def _is_scipy_sparse(value):
    """Whether it is one of SciPy's sparse matrices."""
    return hasattr(value, "tocsr") and hasattr(value, "toarray")


def _init_data(data, allow_empty, default_name):
    """Any accepted form of data as a list of (name, array), sorted by name."""
    assert data is not None or allow_empty
    if data is None:
        data = []
    if isinstance(data, (np.ndarray, NDArray)) or _is_lazy(data):
        data = [data]
    if isinstance(data, list):
        assert data or allow_empty
        data = {default_name: data[0]} if len(data) == 1 else {f"_{i}_{default_name}": d for i, d in enumerate(data)}
    if not isinstance(data, dict):
        raise TypeError(
            "Input must be NDArray, numpy.ndarray, h5py.Dataset a list of them or dict with them as values, "
            f"got {type(data)}"
        )
    return sorted(((name, _as_array(name, value)) for name, value in data.items()), key=lambda item: item[0])


def _as_array(name, value):
    if isinstance(value, NDArray) or _is_lazy(value):
        return value
    try:
        return sparse_array(value) if _is_scipy_sparse(value) else array(value)
    except Exception as error:  # whatever could not become an array is the wrong type for MXNet
        raise TypeError(
            f"Invalid type '{type(value)}' for {name}, should be NDArray, numpy.ndarray or h5py.Dataset"
        ) from error


def _has_instance(data, dtype):
    """Whether any of the (name, array) pairs holds an array of that class."""
    return any(isinstance(value, dtype) for _, value in data)


def _getdata_by_idx(data, idx):
    """The (name, array) pairs with their rows in the order of `idx`; h5py data is ordered when it is read."""
    return [(name, _rows(value, idx)) for name, value in data]


def _rows(value, idx):
    if _is_lazy(value):
        return value
    if isinstance(value, CSRNDArray):
        return sparse_array(value.asscipy()[idx], value.context)
    # MXNet goes through NumPy here, from which arrays come back as float32 whatever they were
    return nd.take(value, array(idx, ctx=value.context, dtype="int64"), axis=0).astype("float32", copy=False)


def _slice_along_batch_axis(data, s, batch_axis):
    """The part of `data` within a slice of its batch axis."""
    if isinstance(data, CSRNDArray):  # only rows can be cut out, and they stay sparse
        return data[s]
    return data.slice_axis(axis=batch_axis, begin=s.start, end=s.stop)
