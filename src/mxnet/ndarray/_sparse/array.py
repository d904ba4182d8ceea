"""Sparse arrays: `RowSparseNDArray` stores some rows, `CSRNDArray` the nonzero elements of a matrix."""

import warnings

import numpy as np
import torch

from ..._core.dtypes import dtype_name
from ..._core.errors import MXNetError, NotSupportedForSparseNDArray
from ..._core.modes import MODES
from ..._core.shims.handles import Handle, handle_of
from ..._ops.registry.device import torch_device
from ..._ops.registry.torch_dtypes import SCALAR, torch_dtype
from ..._ops.sparse import parts as _parts
from ..._ops.sparse.tensors import csr_tensor, rows_tensor
from ...context import Context, cpu
from .._dispatch.invoke import SparseStorage, check_writable, freed, plain_tensor, recorded_tensor, write
from ..ndarray import NDArray, wrap

CSR_SHAPE = "Check failed: err != kCSRShapeErr (1 vs. 1) : Shape mismatch of this csr NDArray"
CSR_STARTS = (
    "Check failed: err != kCSRIndPtrErr (2 vs. 2) : IndPtr of csr NDArray should be non-negative, in non-decreasing "
    "order, start with 0, and end with value equal with size of indices."
)
CSR_COLUMNS = (
    "Check failed: err != kCSRIdxErr (3 vs. 3) : Indices of csr NDArray should be non-negative, in ascending order "
    "per row  and less than the number of columns."
)
ROW_SHAPE = "Check failed: err != kRSPShapeErr (4 vs. 4) : Shape mismatch of this row_sparse NDArray"
ROW_ORDER = (
    "Check failed: err != kRSPIdxErr (5 vs. 5) : Indices of row_sparse NDArray should be non-negative, less than the "
    "size of first dimension and in ascending order"
)


def scipy_sparse():
    """`scipy.sparse`, an optional dependency; without it MXNet's message is raised."""
    try:
        import scipy.sparse
    except ImportError as error:
        words = "scipy could not be imported. Please make sure that the scipy is installed"
        raise ImportError(f"{words}: pip install scipy ({error})") from None
    return scipy.sparse


class BaseSparseNDArray(NDArray):
    """An array that stores only a part of its elements: the base of CSRNDArray and RowSparseNDArray.

    It is made by `mx.nd.sparse.csr_matrix`, `row_sparse_array`, or `tostype`, not by its constructor.

    Parameters
    ----------
    data : tuple of tensors
        The stored parts.
    shape : tuple of int
        The shape.

    Examples
    --------
    >>> x = mx.nd.array([[0, 1], [0, 0]]).tostype("csr")
    >>> isinstance(x, mx.nd.sparse.BaseSparseNDArray), x.stype
    (True, 'csr')
    """

    __slots__ = ("_graph", "_parts", "_sizes")
    __module__ = "mxnet.ndarray.sparse"
    __hash__ = NDArray.__hash__

    def __init__(self, handle=None, writable=True):
        if isinstance(handle, Handle):
            handle = handle.owner
        parts, sizes, ctx = (handle._parts, handle._sizes, handle._ctx) if handle is not None else (None, (), cpu())
        self._parts, self._sizes, self._ctx = parts, sizes, ctx
        self._ag = self._graph = None

    @property
    def _t(self):
        raise SparseStorage(f"an array of storage {self.stype} has no dense tensor; convert it with tostype('default')")

    # ------------------------------------------------------------------ what it is
    @property
    def shape(self):
        """Its size along each axis, of the whole array."""
        return self._sizes

    @property
    def ndim(self):
        """How many axes it has."""
        return len(self._sizes)

    @property
    def size(self):
        """Not offered: it could mean the dense size or the number of stored elements."""
        raise NotImplementedError

    @property
    def dtype(self):
        """Its element type, as NumPy's scalar class."""
        return SCALAR[self._parts[0].dtype]

    @property
    def handle(self):
        """Where MXNet has a pointer: `value` is a number of this array's own, and its class makes the array of it."""
        return None if self._parts is None else handle_of(self)

    @property
    def data(self):
        """A copy of the stored values, a dense NDArray.

        Examples
        --------
        >>> mx.nd.array([[0, 5], [6, 0]]).tostype("csr").data.asnumpy()
        array([5., 6.], dtype=float32)
        """
        return wrap(self._parts[0].clone(), self._ctx)

    @property
    def indices(self):
        """A copy of the indices, an NDArray of int64: the numbers of the stored rows, or in csr the column of each
        element.

        Examples
        --------
        >>> mx.nd.array([[0, 5], [6, 0]]).tostype("csr").indices.asnumpy()
        array([1, 0])
        """
        return wrap(self._parts[1].clone(), self._ctx)

    @property
    def _num_aux(self):
        return len(self._parts) - 1

    @property
    def _aux_types(self):
        return [np.int64] * self._num_aux

    def _aux_type(self, i):
        return self._aux_types[i]

    def __repr__(self):
        shape = "x".join(str(s) for s in self.shape)
        return f"\n<{type(self).__name__} {shape} @{self._ctx}>"

    __str__ = __repr__

    def __len__(self):
        return self._sizes[0]

    def __bool__(self):
        raise ValueError("The truth value of an NDArray with multiple elements is ambiguous.")

    # ------------------------------------------------------------------ dense and back
    def _recorded(self):
        """The dense tensor to record with: a variable's leaf, a recorded result, or just the values."""
        graph = self._graph
        if graph is not None and graph.grad_fn is not None and freed(graph.grad_fn):
            graph = self._graph = None
            self._ag = None if isinstance(self._ag, int) else self._ag
        if graph is None and hasattr(self._ag, "leaf"):
            graph = self._graph = self._ag.leaf(self._dense())
        return self._dense() if graph is None else graph

    def _replace(self, parts, graph=None):
        """Replace the parts; the old values are dropped."""
        self._parts, self._graph = parts, graph

    def _assign(self, dense, graph=None):
        """Take the values of a dense tensor, with the graph that it comes from."""
        own = self._parts[0]
        self._replace(self._of_dense(dense.to(own.device, own.dtype)))
        self._follow(graph)

    def _follow(self, graph):
        """Become part of a graph as the array that `graph` stands for; None leaves it a constant."""
        if graph is not None:
            self._graph, self._ag = graph.to(self._parts[0].device, self._parts[0].dtype), MODES.epoch
        return self

    def _copied(self, ctx, dtype):
        """A copy in a context and of a type, recorded if the array is."""
        device = torch_device(ctx)
        data, *places = self._parts
        parts = (data.to(device, dtype, copy=True), *(p.to(device, copy=True) for p in places))
        return type(self)._made(parts, self._sizes, ctx)._follow(recorded_tensor(self))

    def asnumpy(self):
        """The whole array as NumPy's."""
        return wrap(self._dense(), self._ctx).asnumpy()

    def asscalar(self):
        """Not offered, as `size` is not."""
        raise NotImplementedError

    def tolist(self):
        """Nested lists of Python numbers, of the whole array."""
        return self._dense().tolist()

    def tostype(self, stype):
        """The array in another storage: dense, or a copy in its own."""
        if stype in ("csr", "row_sparse") and stype != self.stype:
            raise ValueError(f"cast_storage from {self.stype} to {stype} is not supported")
        from .._dispatch.generated import generated_function

        return generated_function("cast_storage")(self, stype=stype)

    # ------------------------------------------------------------------ copies and moves
    def copyto(self, other):
        """Copy into another array of this or dense storage, or into a new one in the given context."""
        if isinstance(other, Context):
            return self._copied(other, self._parts[0].dtype)
        if not isinstance(other, NDArray):
            raise TypeError(f"copyto does not support type {type(other)}")
        if other.stype not in ("default", self.stype):
            raise TypeError(f"copyto does not support destination NDArray stype {other.stype}")
        if other is self:
            warnings.warn("You are attempting to copy an array to itself", RuntimeWarning, stacklevel=2)
            return False
        if other.shape != self.shape:
            raise MXNetError(f"copyto: the arrays must have one shape, got {self.shape} and {other.shape}")
        graph = recorded_tensor(self)
        if other.stype == "default":
            values = self._dense() if graph is None else graph
            write(other, values.to(plain_tensor(other).dtype), graph is not None, "_copyto")
            return other
        check_writable(other)
        other._replace(_converted_like(self._parts, other._parts[0]))
        return other._follow(graph)

    def astype(self, dtype, copy=True):
        """A copy of another type; itself if `copy` is False and the type is that already."""
        if not copy and dtype_name(dtype) == dtype_name(self.dtype):
            return self
        return self._copied(self._ctx, torch_dtype(dtype))

    def detach(self):
        """The same memory as a constant."""
        return type(self)._made(self._parts, self._sizes, self._ctx)

    @classmethod
    def _made(cls, parts, sizes, ctx, mark=None, graph=None):
        array = cls.__new__(cls)
        array._parts, array._sizes, array._ctx = tuple(parts), tuple(sizes), ctx
        array._ag, array._graph = mark, graph
        return array

    def __reduce__(self):
        return type(self), (None,), self.__getstate__()

    def __setstate__(self, state):
        from ..utils import unpickled_array

        made = unpickled_array(state["handle"])
        BaseSparseNDArray.__init__(self, made)

    # ------------------------------------------------------------------ writing, and what is not offered
    def __setitem__(self, key, value):
        if not isinstance(key, slice):
            assert isinstance(key, (int, tuple))
            raise self._whole_only()
        if key != slice(None):
            raise ValueError(f"Assignment with slice for {type(self).__name__} is not implemented yet.")
        check_writable(self)
        if isinstance(value, NDArray):
            if value is not self:
                value.copyto(self)
        elif isinstance(value, (np.ndarray, np.generic)):
            warnings.warn(
                f"Assigning non-NDArray object to {type(self).__name__} is not efficient", RuntimeWarning, stacklevel=2
            )
            self._assign(torch.from_numpy(np.broadcast_to(value, self.shape).copy()))
        else:
            self._fill(value)

    def _sync_copyfrom(self, source_array):
        raise NotImplementedError

    def _at(self, idx):
        raise NotSupportedForSparseNDArray(self._at, "[idx]", idx)

    def _slice(self, start, stop=None):
        raise NotSupportedForSparseNDArray(self._slice, None, start, stop)

    def reshape(self, *shape, **kwargs):
        """Not offered for sparse storage."""
        raise NotSupportedForSparseNDArray(self.reshape, None, shape)

    def check_format(self, full_check=True):
        """Raise MXNetError if the parts do not fit together.

        Parameters
        ----------
        full_check : bool, default True
            Whether every index is checked, which takes time; otherwise only the shapes of the parts.

        Examples
        --------
        >>> mx.nd.sparse.csr_matrix(([5, 6], [1, 0], [0, 1, 2]), shape=(2, 3)).check_format()
        """
        raise NotImplementedError

    def wait_to_read(self):
        """Return when the value is there."""
        self.data.wait_to_read()

    def attach_grad(self, grad_req="write", stype=None):
        """Make it a variable: `backward` will write, add or skip its gradient, in the requested storage or its own."""
        from ... import autograd
        from ..sparse import zeros

        grad = zeros(stype or self.stype, self.shape, self._ctx, self.dtype)
        autograd.mark_variables([self], [grad], [grad_req])


def _converted_like(parts, like):
    data, *indices = parts
    return (data.to(like.device, like.dtype, copy=True), *(i.to(like.device, copy=True) for i in indices))


class CSRNDArray(BaseSparseNDArray):
    """A matrix in compressed sparse row format: the values of each row, and the column of each value.

    Make one with `mx.nd.sparse.csr_matrix`, or from a dense array with `tostype("csr")`.

    Parameters
    ----------
    data : tuple of tensors
        The stored parts.
    shape : tuple of int
        The shape.

    Examples
    --------
    >>> x = mx.nd.array([[0, 7], [8, 0]]).tostype("csr")
    >>> x.data.asnumpy(), x.indices.asnumpy(), x.indptr.asnumpy()
    (array([7., 8.], dtype=float32), array([1, 0]), array([0, 1, 2]))
    """

    __slots__ = ()
    __module__ = "mxnet.ndarray.sparse"
    __hash__ = NDArray.__hash__
    stype = "csr"

    @property
    def indptr(self):
        """A copy of the row pointers, an NDArray of int64: row i has the elements from `indptr[i]` to `indptr[i + 1]`
        of `data` and `indices`.

        Examples
        --------
        >>> mx.nd.array([[0, 5], [6, 0]]).tostype("csr").indptr.asnumpy()
        array([0, 1, 2])
        """
        return wrap(self._parts[2].clone(), self._ctx)

    def _aux_data(self, i):
        return (self.indptr, self.indices)[i]

    def _dense(self):
        return _parts.dense_of_csr(self._parts, self._sizes)

    def _sparse_tensor(self):
        return csr_tensor(self._parts, self._sizes)

    @staticmethod
    def _of_dense(dense):
        if dense.dim() != 2:
            raise ValueError(
                f"To convert to a CSR, the NDArray should be 2 Dimensional. Current shape is {tuple(dense.shape)}"
            )
        return _parts.csr_of_dense(dense)

    @staticmethod
    def _whole_only():
        return Exception("CSRNDArray only supports [:] for assignment")

    def _fill(self, value):
        if isinstance(value, (int, float, np.generic)):
            raise ValueError("Assigning numeric types to CSRNDArray is not implemented yet.")
        raise TypeError(f"type {type(value)} not supported")

    def __getitem__(self, key):
        if isinstance(key, int):
            begin = self._sizes[0] - 1 if key == -1 else key
            return self._rows(begin, begin + 1)
        if isinstance(key, slice):
            if key.step is not None:
                raise ValueError("CSRNDArray only supports continuous slicing on axis 0")
            if key.start is None and key.stop is None:
                return self
            return self._rows(key.start or 0, key.stop or self._sizes[0])
        if isinstance(key, tuple):
            raise ValueError("Multi-dimension indexing is not supported")
        raise ValueError(f"Undefined behaviour for {key}")

    def _rows(self, begin, end):
        from .._dispatch.generated import generated_function

        return generated_function("slice")(self, begin=begin, end=end)

    def asscipy(self):
        """Convert the array to a `scipy.sparse.csr_matrix`.

        Examples
        --------
        >>> mx.nd.array([[0, 5], [6, 0]]).tostype("csr").asscipy().nnz
        2
        """
        data, columns, starts = (part.cpu().numpy() for part in self._parts)
        return scipy_sparse().csr_matrix((data, columns, starts), shape=self._sizes, dtype=self.dtype)

    def check_format(self, full_check=True):
        """Raise if the parts do not fit together; `full_check` looks at every index, too."""
        data, columns, starts = self._parts
        if len(self._sizes) != 2 or len(starts) != self._sizes[0] + 1 or len(data) != len(columns):
            raise MXNetError(CSR_SHAPE)
        if not full_check:
            return
        if int(starts[0]) != 0 or int(starts[-1]) != len(columns) or bool((starts < 0).any()):
            raise MXNetError(CSR_STARTS)
        if bool((starts.diff() < 0).any()):
            raise MXNetError(CSR_STARTS)
        if len(columns):
            new_row = torch.zeros(len(columns), dtype=torch.bool, device=columns.device)
            new_row[starts[:-1][starts[:-1] < len(columns)]] = True
            ascending = bool((new_row[1:] | (columns.diff() > 0)).all())
            if not ascending or int(columns.min()) < 0 or int(columns.max()) >= self._sizes[1]:
                raise MXNetError(CSR_COLUMNS)


class RowSparseNDArray(BaseSparseNDArray):
    """An array of which only some rows are stored; the others are zero. Gradients of embeddings are such arrays.

    Make one with `mx.nd.sparse.row_sparse_array`, or from a dense array with `tostype("row_sparse")`.

    Parameters
    ----------
    data : tuple of tensors
        The stored parts.
    shape : tuple of int
        The shape.

    Examples
    --------
    >>> x = mx.nd.array([[0, 0], [7, 8]]).tostype("row_sparse")
    >>> x.data.asnumpy(), x.indices.asnumpy()
    (array([[7., 8.]], dtype=float32), array([1]))
    """

    __slots__ = ()
    __module__ = "mxnet.ndarray.sparse"
    __hash__ = NDArray.__hash__
    stype = "row_sparse"

    def _aux_data(self, i):
        return self.indices

    def _dense(self):
        return _parts.dense_of_rows(self._parts, self._sizes)

    def _sparse_tensor(self):
        return rows_tensor(self._parts, self._sizes)

    @staticmethod
    def _of_dense(dense):
        return _parts.rows_of_dense(dense)

    @staticmethod
    def _whole_only():
        return TypeError("RowSparseNDArray only supports [:] for assignment")

    def _fill(self, value):
        if not isinstance(value, (int, float, np.generic)):
            raise TypeError(f"type {type(value)} not supported")
        data, rows = self._parts
        if value == 0:
            self._replace((data.new_zeros((0, *self._sizes[1:])), rows.new_zeros(0)))
        else:
            self._replace((data.new_full(self._sizes, value), torch.arange(self._sizes[0], device=rows.device)))

    def __getitem__(self, key):
        if isinstance(key, int):
            raise Exception("__getitem__ with int key is not implemented for RowSparseNDArray yet")
        if isinstance(key, slice):
            if key != slice(None):
                raise Exception("RowSparseNDArray only supports [:] for __getitem__")
            return self
        if isinstance(key, tuple):
            raise ValueError("Multi-dimension indexing is not supported")
        raise ValueError(f"Undefined behaviour for {key}")

    def retain(self, *args, **kwargs):
        """A copy that stores only some of the rows; the others are zero.

        Parameters
        ----------
        *args, **kwargs
            `indices`: the numbers of the rows, an NDArray. As in MXNet, the array itself may come before them.

        Examples
        --------
        >>> rows = mx.nd.array([[1, 1], [0, 0], [3, 3]]).tostype("row_sparse")
        >>> rows.retain(mx.nd.array([2])).asnumpy()
        array([[0., 0.],
               [0., 0.],
               [3., 3.]], dtype=float32)
        """
        from .._dispatch.generated import generated_function

        given = () if "data" in kwargs or (args and isinstance(args[0], RowSparseNDArray)) else (self,)
        return generated_function("_sparse_retain")(*given, *args, **kwargs)

    def check_format(self, full_check=True):
        """Raise if the parts do not fit together; `full_check` looks at every index, too."""
        data, rows = self._parts
        if len(data) != len(rows) or tuple(data.shape[1:]) != self._sizes[1:]:
            raise MXNetError(ROW_SHAPE)
        if full_check and len(rows):
            inside = int(rows.min()) >= 0 and int(rows.max()) < self._sizes[0]
            if not inside or bool((rows.diff() <= 0).any()):
                raise MXNetError(ROW_ORDER)


def rows_for_update(rows, array, all_rows):
    """For an update of some rows: (values to write, positions of `rows` in them, stored rows or None if dense).

    The values are the array's own memory, unless rows must be stored that were not; with `all_rows`, all of them.
    """
    if array.stype == "default":
        return plain_tensor(array), rows, None
    return _parts.rows_for_update(array._parts, array.shape, rows, all_rows)


CLASSES = {"csr": CSRNDArray, "row_sparse": RowSparseNDArray}

from .arithmetic import install  # noqa: E402 - after the classes it is given

install(BaseSparseNDArray)
