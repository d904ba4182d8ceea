"""Making inputs: random shapes, arrays, matrices with wanted properties."""

import numpy as np

from .. import ndarray as nd
from ..context import current_context
from ..ndarray._sparse.array import scipy_sparse
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
    """A random array, standard normal if it is dense."""
    if stype != "default":
        return rand_sparse_ndarray(
            shape, stype, density, dtype, distribution, modifier_func=modifier_func, ctx=ctx,
            shuffle_csr_indices=shuffle_csr_indices,
        )[0]  # fmt: skip
    return nd.array(random_arrays(shape), dtype=dtype, ctx=ctx or current_context())


def rand_sparse_ndarray(
    shape, stype, density=None, dtype=None, distribution=None, data_init=None, rsp_indices=None,
    modifier_func=None, shuffle_csr_indices=False, ctx=None,
):  # fmt: skip
    """A random sparse array and its parts; `distribution` of a matrix is "uniform" or "powerlaw"."""
    density = np.random.rand() if density is None else density
    dtype = default_dtype() if dtype is None else dtype
    ctx = ctx or current_context()
    if stype == "row_sparse":
        assert distribution in (None, "uniform"), f"Distribution {distribution} not supported for row_sparse"
        return _random_rows(shape, density, dtype, data_init, rsp_indices, modifier_func, ctx)
    assert stype == "csr", "unknown storage type"
    assert len(shape) == 2
    assert distribution in (None, "uniform", "powerlaw"), f"Distribution not supported: {distribution}"
    if distribution == "powerlaw":
        csr = nd.array(_power_law(*shape, density, dtype), dtype=dtype, ctx=ctx).tostype("csr")
    else:
        csr = _random_csr(shape, density, dtype, data_init, shuffle_csr_indices, ctx)
    return csr, (csr.indptr, csr.indices, csr.data)


def _random_rows(shape, density, dtype, data_init, rows, modifier, ctx):
    if rows is None:
        rows = np.flatnonzero(np.random.rand(shape[0]) < density)
    assert len(rows) <= shape[0]
    if not len(rows):
        return nd.zeros(shape, stype="row_sparse", dtype=dtype, ctx=ctx), (np.array([], dtype=dtype), np.array([]))
    values = np.random.rand(len(rows), *shape[1:]).astype(dtype)
    if data_init is not None:
        values.fill(data_init)
    if modifier is not None:
        values = assign_each(values, modifier)
    return nd.sparse.row_sparse_array((values, rows), shape=shape, dtype=dtype, ctx=ctx), (values, rows)


def _random_csr(shape, density, dtype, data_init, shuffled, ctx):
    matrix = scipy_sparse().rand(*shape, density, dtype=dtype, format="csr")
    if data_init is not None:
        matrix.data.fill(data_init)
    if shuffled:
        shuffle_csr_column_indices(matrix)
    return nd.sparse.csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=shape, dtype=dtype, ctx=ctx)


def _power_law(rows, columns, density, dtype):
    """One element in each row, then twice as many in each row as in the one before, until the density is reached."""
    left = int(rows * columns * density)
    matrix = np.zeros((rows, columns), dtype=dtype)
    counts = [1] * min(rows, max(left, 1))
    left -= len(counts)
    for row, most in enumerate(min(columns, 2 << row) for row in range(len(counts))):
        more = min(left, most - 1)
        counts[row] += more
        left -= more
    if left > 0:
        raise ValueError(f"not supported for this density: {density} for this shape ({rows},{columns})")
    for row, count in enumerate(counts):
        matrix[row, :count] = 1 + np.random.uniform(0.001, 2, count)
    return matrix


def create_sparse_array(
    shape, stype, data_init=None, rsp_indices=None, dtype=None, modifier_func=None, density=0.5,
    shuffle_csr_indices=False,
):  # fmt: skip
    """A sparse array of a given density; the rows of a row-sparse one may be given."""
    rows = None if rsp_indices is None else np.sort(np.asarray(rsp_indices))
    return rand_sparse_ndarray(
        shape, stype, density=density, data_init=data_init, rsp_indices=rows, dtype=dtype,
        modifier_func=modifier_func, shuffle_csr_indices=shuffle_csr_indices,
    )[0]  # fmt: skip


def create_sparse_array_zd(
    shape, stype, density, data_init=None, rsp_indices=None, dtype=None, modifier_func=None, shuffle_csr_indices=False
):
    """The same, where a row-sparse array has the given rows or none."""
    if stype == "row_sparse":
        density = 0.0
        assert rsp_indices is None or len(rsp_indices) <= shape[0]
    return create_sparse_array(shape, stype, data_init, rsp_indices, dtype, modifier_func, density, shuffle_csr_indices)


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
    """A square matrix whose eigenvalues are real, none beyond 10; its eigenvectors' lengths differ by 3 at most."""
    basis = new_orthonormal_matrix_2d(n) * np.random.uniform(1.0, 3.0, n)
    values = np.diag(np.random.uniform(-10.0, 10.0, n))
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
