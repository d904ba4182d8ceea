"""Making inputs: random shapes, arrays, matrices with wanted properties."""


import numpy as np

from .. import ndarray as nd
from .._core.errors import MXNetError
from ..context import current_context
from .comparison import default_dtype


def random_arrays(*shapes):
    """Standard normal float32 arrays; one alone comes without a list."""
    arrays = [np.array(np.random.randn(*s), dtype=default_dtype()) for s in shapes]
    return arrays[0] if len(arrays) == 1 else arrays


def random_uniform_arrays(*shapes, **kwargs):
    """Uniform arrays between `low` and `high`."""
    low, high, dtype = kwargs.pop("low", 0.0), kwargs.pop("high", 1.0), kwargs.pop("dtype", default_dtype())
    if kwargs:
        raise TypeError(f"Got unexpected argument/s : {list(kwargs)}")
    return [np.random.uniform(low, high, size=s).astype(dtype) for s in shapes]


def random_sample(population, k):
    """`k` items in random order."""
    assert 0 <= k <= len(population)
    copy = population[:]
    np.random.shuffle(copy)
    return copy[:k]


def _low(allow_zero_size):
    return 0 if allow_zero_size else 1


def rand_shape_2d(dim0=10, dim1=10, allow_zero_size=False):
    """A random shape of two axes."""
    return tuple(np.random.randint(_low(allow_zero_size), d + 1) for d in (dim0, dim1))


def rand_shape_3d(dim0=10, dim1=10, dim2=10, allow_zero_size=False):
    """A random shape of three axes."""
    return tuple(np.random.randint(_low(allow_zero_size), d + 1) for d in (dim0, dim1, dim2))


def rand_shape_nd(num_dim, dim=10, allow_zero_size=False):
    """A random shape of `num_dim` axes."""
    return tuple(np.random.randint(_low(allow_zero_size), dim + 1, size=num_dim).tolist())


def rand_coord_2d(x_low, x_high, y_low, y_high):
    """A random place in a box."""
    return np.random.randint(x_low, x_high, dtype=np.int64), np.random.randint(y_low, y_high, dtype=np.int64)


def rand_ndarray(
    shape, stype="default", density=None, dtype=None, modifier_func=None, shuffle_csr_indices=False,
    distribution=None, ctx=None,
):  # fmt: skip
    """A uniform random array between -1 and 1."""
    if stype != "default":
        return rand_sparse_ndarray(
            shape, stype, density, dtype, distribution, modifier_func=modifier_func, ctx=ctx,
            shuffle_csr_indices=shuffle_csr_indices,
        )[0]  # fmt: skip
    values = np.random.uniform(-1, 1, size=shape)
    return nd.array(values, dtype=dtype, ctx=ctx or current_context())


def _no_sparse(stype):
    raise MXNetError(f"storage type {stype!r} is not available in this version")


def rand_sparse_ndarray(
    shape, stype, density=None, dtype=None, distribution=None, data_init=None, rsp_indices=None,
    modifier_func=None, shuffle_csr_indices=False, ctx=None,
):  # fmt: skip
    """A random sparse array and its parts."""
    return _no_sparse(stype)


def create_sparse_array(
    shape, stype, data_init=None, rsp_indices=None, dtype=None, modifier_func=None, density=0.5,
    shuffle_csr_indices=False,
):  # fmt: skip
    """A sparse array of a given density."""
    return _no_sparse(stype)


def create_sparse_array_zd(
    shape, stype, density, data_init=None, rsp_indices=None, dtype=None, modifier_func=None, shuffle_csr_indices=False
):
    """A sparse array whose density may be zero."""
    return _no_sparse(stype)


def shuffle_csr_column_indices(csr):
    """Put the column indices of each row in random order."""
    for start, stop in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        part = csr.indices[start:stop]
        np.random.shuffle(part)
        csr.indices[start:stop] = part


def assign_each(the_input, function):
    """A function applied to every element."""
    return np.array(the_input) if function is None else np.vectorize(function)(np.array(the_input))


def assign_each2(input1, input2, function):
    """A function of two applied to every pair of elements."""
    assert input1.shape == input2.shape
    return np.array(input1) if function is None else np.vectorize(function)(np.array(input1), np.array(input2))


def create_2d_tensor(rows, columns, dtype=np.int64):
    """Rows of equal numbers: row i is all i."""
    column = nd.arange(0, rows, dtype=dtype).reshape((rows, 1))
    return nd.broadcast_to(column, shape=(rows, columns))


def create_vector(size, dtype=np.int64):
    """0, 1, 2 …"""
    return nd.arange(0, size, dtype=dtype)


def get_identity_mat(size):
    """The identity matrix."""
    return np.identity(size)


def get_identity_mat_batch(size):
    """Two identity matrices."""
    return np.stack([np.identity(size)] * 2)


def new_matrix_with_real_eigvals_2d(n):
    """A square matrix whose eigenvalues are real."""
    basis = np.ones((n, n)) * 2 * np.eye(n) - 0.5
    values = np.diag(np.random.uniform(-1.0, 1.0, n))
    return np.linalg.inv(basis) @ values @ basis


def _stacked(make, shape):
    count = int(np.prod(shape[:-2])) if len(shape) > 2 else 1
    return np.array([make(shape[-1]) for _ in range(count)]).reshape(shape)


def new_matrix_with_real_eigvals_nd(shape):
    """Stacked square matrices whose eigenvalues are real."""
    return _stacked(new_matrix_with_real_eigvals_2d, shape)


def new_orthonormal_matrix_2d(n):
    """A random orthonormal matrix."""
    return np.linalg.qr(np.random.normal(size=(n, n)))[0]


def new_sym_matrix_with_real_eigvals_2d(n):
    """A random symmetric matrix."""
    basis = new_orthonormal_matrix_2d(n)
    return basis.T @ np.diag(np.random.uniform(-10.0, 10.0, n)) @ basis


def new_sym_matrix_with_real_eigvals_nd(shape):
    """Stacked random symmetric matrices."""
    return _stacked(new_sym_matrix_with_real_eigvals_2d, shape)


__all__ = [n for n, v in list(globals().items()) if getattr(v, "__module__", None) == __name__ and n[0] != "_"]
