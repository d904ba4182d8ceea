"""`NDArray`: MXNet's array, on a torch tensor."""

import ctypes
import numbers
import warnings
import weakref

import numpy as np
import torch

from .._core.errors import MXNetError, NotImplementedForSymbol  # noqa: F401 - public names of this module
from .._core.modes import MODES
from .._core.shims.handles import Handle, handle_of, owner_of
from .._core.writes import wrote
from .._device.copies import FLIGHTS, cloned, moved, pinned, settle, uploaded
from .._device.copies import put as transfer
from .._device.errors import exhaustion, tells_exhaustion
from .._device.waiting import number, wait
from .._kernels.elementwise.transpose import transposed_copy
from .._ops.elementwise.identity import QUICK_CASTS, to_dtype
from .._ops.registry import integer_gradient, observe
from .._ops.registry.device import torch_device
from .._ops.registry.gradient import with_zero_gradients
from .._ops.registry.torch_dtypes import SCALAR, torch_dtype
from ..context import PINNED, Context, cpu
from . import indexing
from ._base import NDArrayBase, set_array_class, wrap
from ._dispatch.fluent import METHODS, Fluent
from ._dispatch.invoke import check_writable, graph_tensor, own, plain_tensor, write
from ._exchange import Exchange
from ._views import Views, _generated_function
from .indexing import of_tuple, quick

__all__ = ["NDArray"]


_POINTED = weakref.WeakValueDictionary()


def _pointed(handle):
    if handle.value is None:
        return None  # MXNet's empty handle: an array without a value
    array = owner_of(handle)
    if array is None:
        array = _POINTED.get(handle.value)
    if array is None:
        raise MXNetError(f"no array lives at the handle {handle.value}; keep the array it was made from")
    return array


def _new_empty_handle():
    """A handle of no array yet; `NDArray(handle)` has no value."""
    return Handle()


class NDArray(Exchange, Views, NDArrayBase):
    """An array of numbers on a device.

    Arrays are made by `mx.nd.array`, `zeros`, `ones` and the other functions of `mx.nd`. Operators compute on the
    device of their inputs; `asnumpy` waits for the result.

    Parameters
    ----------
    handle : torch.Tensor or NDArray, optional
        What to share memory with. Programs call `mx.nd.array` instead.
    writable : bool, default True
        Accepted for old programs and ignored.

    Notes
    -----
    Inside, `_t` is the tensor, `_ctx` the context, `_ag` what automatic differentiation knows of it: None for a plain
    array, a `Variable` after `attach_grad`, the number of the tape for a recorded result.

    Examples
    --------
    >>> x = mx.nd.array([[1, 2], [3, 4]])
    >>> x.shape, x.dtype.__name__, x.context
    ((2, 2), 'float32', cpu(0))
    >>> (x * 2 + 1).asnumpy()
    array([[3., 5.],
           [7., 9.]], dtype=float32)
    """

    __slots__ = ("__weakref__",)
    __array_priority__ = 1000.0
    __module__ = "mxnet.ndarray.ndarray"

    def __init__(self, handle=None, writable=True):
        if isinstance(handle, ctypes.c_void_p):
            handle = _pointed(handle)
        tensor = handle._t if isinstance(handle, NDArrayBase) else handle
        if tensor is not None and not isinstance(tensor, torch.Tensor):
            raise TypeError(f"NDArray is made from a tensor or an array, not from {type(handle)}; use mx.nd.array")
        self._t = tensor
        self._ctx = handle._ctx if isinstance(handle, NDArrayBase) else cpu()
        self._ag = None

    # ------------------------------------------------------------------ what it is
    @property
    def shape(self):
        """The length of each axis.

        Examples
        --------
        >>> mx.nd.zeros((2, 3)).shape
        (2, 3)
        """
        return tuple(self._t.shape)

    @property
    def ndim(self):
        """The number of axes.

        Examples
        --------
        >>> mx.nd.zeros((2, 3)).ndim
        2
        """
        return self._t.dim()

    @property
    def size(self):
        """The number of elements.

        Examples
        --------
        >>> mx.nd.zeros((2, 3)).size
        6
        """
        return self._t.numel()

    @property
    def dtype(self):
        """The data type, as NumPy's scalar class.

        Examples
        --------
        >>> mx.nd.zeros((2, 3)).dtype
        <class 'numpy.float32'>
        """
        return SCALAR[self._t.dtype]

    @property
    def context(self):
        """The device that the array is on.

        Examples
        --------
        >>> mx.nd.zeros((2, 3)).context
        cpu(0)
        """
        return self._ctx

    ctx = context

    @property
    def stype(self):
        """The storage type: arrays of this class are dense, which is called default.

        Examples
        --------
        >>> mx.nd.zeros((2, 3)).stype
        'default'
        """
        return "default"

    @property
    def T(self):
        """The transpose: the axes in reverse order.

        Examples
        --------
        >>> mx.nd.array([[1, 2], [3, 4]]).T.asnumpy()
        array([[1., 3.],
               [2., 4.]], dtype=float32)
        """
        if self.__class__ is NDArray and not observe.watching():
            t = self._t
            if t.dim() == 2 and not t.requires_grad:
                return wrap(_transposed(t), self._ctx.home)
        return self.transpose() if self.ndim > 1 else self

    @property
    def handle(self):
        """Where MXNet has a pointer: `value` is its own number, and `NDArray(handle)` is the same array.

        Examples
        --------
        >>> x = mx.nd.ones((2,))
        >>> mx.nd.NDArray(x.handle).asnumpy()
        array([1., 1.], dtype=float32)
        """
        return None if self._t is None else handle_of(self)

    @property
    def _as_parameter_(self):
        """What `ctypes.cast(array, NDArrayHandle)` takes; `NDArray(handle)` finds the array again while it lives."""
        _POINTED[id(self)] = self
        return ctypes.c_void_p(id(self))

    @property
    def writable(self):
        """Whether it may be written; always.

        Examples
        --------
        >>> mx.nd.ones((2,)).writable
        True
        """
        return True

    def __repr__(self):
        shape = "x".join(str(s) for s in self.shape)
        return f"\n{self.asnumpy()!s}\n<{type(self).__name__} {shape} @{self._ctx}>"

    __str__ = __repr__

    def _repr_html_(self):
        from .notebook import html

        return html(self)

    def __hash__(self):
        return id(self) // 16

    def __len__(self):
        return self._t.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        if self.size == 0:
            return False
        if self.size == 1:
            return bool(number(self._t))
        raise ValueError(
            f"The truth value of an NDArray with multiple elements is ambiguous. Its shape is {self.shape}: "
            "reduce it to one element first, as in (x > 0).sum() > 0"
        )

    def __float__(self):
        return float(number(self._t) if self._t.numel() == 1 else self.asscalar())

    def __int__(self):
        return int(number(self._t) if self._t.numel() == 1 else self.asscalar())

    def __index__(self):
        if self.size == 1 and not self._t.is_floating_point():
            return int(number(self._t))
        raise TypeError(
            "only integer scalar arrays can be converted to a scalar index, "
            f"got shape {self.shape} and {np.dtype(self.dtype)}"
        )

    # ------------------------------------------------------------------ copies and moves
    def copyto(self, other):
        """Copy the values into another array, or into a new one on a device.

        Parameters
        ----------
        other : NDArray or Context
            Where to copy to.

        Returns
        -------
        NDArray
            The array that was written.

        Examples
        --------
        >>> x, y = mx.nd.ones((2,)), mx.nd.zeros((2,))
        >>> x.copyto(y).asnumpy()
        array([1., 1.], dtype=float32)
        """
        if other.__class__ is NDArray is self.__class__ and not MODES.recording and other is not self:
            source, target = self._t, other._t
            if source.shape == target.shape:
                source = source.data if source.requires_grad else source
                memory = target.data if target.requires_grad else target
                if FLIGHTS:
                    settle(memory)
                if memory.is_cpu:
                    memory.copy_(source)
                else:
                    transfer(memory, source, self._ctx.device_typeid == PINNED)
                wrote(target)
                return other
        if isinstance(other, NDArrayBase):
            if other is self:
                warnings.warn("You are attempting to copy an array to itself", RuntimeWarning, stacklevel=2)
                return False
            recorded = MODES.recording and graph_tensor(self).requires_grad
            source = self._t if recorded else plain_tensor(self)
            if self.shape != other.shape:
                raise MXNetError(f"copyto: the arrays must have one shape, got {self.shape} and {other.shape}")
            write(other, source.to(torch_dtype(other.dtype)), recorded, "_copyto")
            return other
        if isinstance(other, Context):
            return self._moved(other)
        raise TypeError(f"copyto does not support type {type(other)}")

    def _moved(self, ctx):
        recorded = MODES.recording and graph_tensor(self).requires_grad
        source = self._t if recorded else plain_tensor(self)
        if ctx.device_typeid == PINNED:
            copy = pinned(source)
        else:
            copy = moved(source, torch_device(ctx), self._ctx.device_typeid == PINNED)
        return wrap(copy, ctx, MODES.epoch if recorded else None)

    def copy(self):
        """A copy in the same context.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> x = mx.nd.ones((2,))
        >>> y = x.copy()
        >>> y[:] = 5
        >>> x.asnumpy()
        array([1., 1.], dtype=float32)
        """
        if self.__class__ is NDArray and not self._t.requires_grad:
            return wrap(cloned(self._t), self._ctx)
        return self.copyto(self._ctx)

    def as_in_context(self, context):
        """The array on another device: itself if it is there already, else a copy.

        Parameters
        ----------
        context : Context
            The device.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> x = mx.nd.ones((2,))
        >>> x.as_in_context(mx.cpu(0)) is x
        True
        """
        return self if self._ctx is context or self._ctx == context else self.copyto(context)

    as_in_ctx = as_in_context

    def astype(self, dtype, copy=True):
        """A copy with another data type.

        Parameters
        ----------
        dtype : str or type
            The data type.
        copy : bool, default True
            Whether to copy if the data type is that already.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> mx.nd.array([1.7, 2.2]).astype("int32").asnumpy()
        array([1, 2], dtype=int32)
        """
        try:
            return self._cast(torch_dtype(dtype), copy)
        except (RuntimeError, MemoryError, TypeError) as error:
            raise exhaustion(error) from None

    def _cast(self, wanted, copy):
        t = self._t
        if wanted is not t.dtype and not t.requires_grad:
            convert = QUICK_CASTS.get((t.dtype, wanted))
            if convert is not None:
                return wrap(convert(t), self._ctx)
        if wanted is self._t.dtype and not self._t.requires_grad:
            return wrap(cloned(self._t), self._ctx) if copy else self
        if not copy and wanted is self._t.dtype:
            return self
        recorded = MODES.recording and graph_tensor(self).requires_grad
        source = self._t if recorded else plain_tensor(self)
        result = to_dtype(source, wanted)  # recorded numbers keep their gradients also as whole ones
        return wrap(own(result, (source,)), self._ctx, MODES.epoch if recorded and result.requires_grad else None)

    def tostype(self, stype):
        """The array with another storage type.

        Parameters
        ----------
        stype : str
            default, row_sparse or csr.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> mx.nd.array([[0, 1], [0, 0]]).tostype("csr").stype
        'csr'
        """
        return _generated_function("cast_storage")(self, stype=stype)

    # ------------------------------------------------------------------ reading and writing parts
    def __getitem__(self, key):
        t = self._t
        if t.requires_grad:
            return self._part(key, t)
        kind = key.__class__
        try:
            if kind is int and t.dim() > 1 or kind is slice and key.step is None:  # of a vector it would have no axis
                r = t[key]
            else:
                r = of_tuple(t, key) if kind is tuple else quick(t, key)
        except (IndexError, TypeError, ValueError, RuntimeError):  # said in MXNet's words, or bounds that are arrays
            r = None
        if r is None:
            return self._slice(key)
        ctx = self._ctx
        if ctx is not ctx.home:  # a copy is somewhere else
            return self._slice(key)
        a = _new(NDArray)
        a._t = r
        a._ctx = ctx
        a._ag = None
        return a

    def _part(self, key, t):
        """The same for what may be recorded."""
        mark = None
        if not MODES.recording:
            t = t.data
        elif self._ag.__class__ is int and self._ag != MODES.epoch:
            return self._slice(key)
        else:
            mark = MODES.epoch
        try:
            r = quick(t, key)
        except (IndexError, TypeError, ValueError, RuntimeError):
            r = None
        return self._slice(key) if r is None else wrap(r, self._ctx, mark)

    @tells_exhaustion
    def _slice(self, key):
        if isinstance(key, tuple) and len(key) == 0:
            return self
        recorded = MODES.recording and graph_tensor(self).requires_grad
        t = self._t if recorded else plain_tensor(self)
        if isinstance(key, slice) and key.step == 0:
            raise ValueError("slice step cannot be zero")
        result, shared = indexing.read(t, key)
        if not shared:
            result = own(result, (t,))
        if MODES.recording:
            result = with_zero_gradients(result, *map(graph_tensor, indexing.index_variables(key)))
            recorded = recorded or result.requires_grad
        return wrap(result, self._ctx if shared else self._ctx.home, MODES.epoch if recorded else None)

    def __setitem__(self, key, value):
        if self.__class__ is NDArray and not MODES.recording and indexing.stored(self._t, key, value):
            return
        # what NumPy hands over for the whole array is no operation: also arrays of a graph may take it
        if MODES.recording and not (isinstance(value, np.ndarray) and indexing.covers(self._t.data, key)):
            check_writable(self)
        if isinstance(key, tuple) and len(key) == 0:
            key = slice(None)
        recorded = False
        if isinstance(value, NDArrayBase):
            recorded = MODES.recording and graph_tensor(value).requires_grad
            value = graph_tensor(value) if recorded else plain_tensor(value)
        elif isinstance(value, (np.ndarray, list, tuple)) or not isinstance(value, numbers.Real):
            value = _from_object(value, self._t)
        target = self._t if recorded else self._t.data
        if recorded:
            indexing.check_whole(self._t.data, key)
            target = self._t = self._t.data
            self._ag = MODES.epoch
        indexing.store(target, key, value)
        if recorded and not target.is_floating_point():
            self._t = integer_gradient.with_gradient_of(target, value)

    @staticmethod
    def _basic_indexing_slice_is_contiguous(slc_key, shape):
        return indexing.shares(slc_key, shape)

    def _at(self, idx):
        return self[idx]

    def _sync_copyfrom(self, source_array):
        """Overwrite everything with a NumPy array of the same shape."""
        array = np.asarray(source_array)
        if array.shape != self.shape:
            raise ValueError(f"Shape inconsistent: expected {array.shape} vs got {self.shape}")
        memory = plain_tensor(self)
        settle(memory)
        transfer(memory, torch.from_numpy(np.ascontiguousarray(array)))
        wrote(self._t)

    def slice_assign(self, rhs, begin, end, step):
        """Write an array into the slice that `begin`, `end` and `step` mark.

        Parameters
        ----------
        rhs : NDArray
            The values.
        begin : tuple of int
            The first index of each axis.
        end : tuple of int
            The index after the last one of each axis.
        step : tuple of int
            The step of each axis.

        Returns
        -------
        NDArray
            The array itself.

        Examples
        --------
        >>> x = mx.nd.zeros((2, 3))
        >>> x.slice_assign(mx.nd.ones((1, 2)), (0, 1), (1, 3), (None, None)).asnumpy()
        array([[0., 1., 1.],
               [0., 0., 0.]], dtype=float32)
        """
        self[_box(begin, end, step)] = rhs
        return self

    def slice_assign_scalar(self, value, begin, end, step):
        """Write a number into the slice that `begin`, `end` and `step` mark.

        Parameters
        ----------
        value : number
            The value.
        begin : tuple of int
            The first index of each axis.
        end : tuple of int
            The index after the last one of each axis.
        step : tuple of int
            The step of each axis.

        Returns
        -------
        NDArray
            The array itself.

        Examples
        --------
        >>> x = mx.nd.zeros((2, 3))
        >>> x.slice_assign_scalar(7, (0, 1), (1, 3), (None, None)).asnumpy()
        array([[0., 7., 7.],
               [0., 0., 0.]], dtype=float32)
        """
        self[_box(begin, end, step)] = value
        return self

    # ------------------------------------------------------------------ waiting: on the CPU every call has finished
    def wait_to_read(self):
        """Wait until the values are computed; errors of the device are raised here.

        Examples
        --------
        >>> mx.nd.ones((2,)).wait_to_read()
        """
        wait(self._t.device)

    def wait_to_write(self):
        """Wait until the array can be written.

        Examples
        --------
        >>> mx.nd.ones((2,)).wait_to_write()
        """
        self.wait_to_read()

    # ------------------------------------------------------------------ differentiation
    @property
    def grad(self):
        """The gradient that `backward` wrote, or None without `attach_grad`.

        Examples
        --------
        >>> x = mx.nd.array([1, 2])
        >>> x.attach_grad()
        >>> x.grad.asnumpy()
        array([0., 0.], dtype=float32)
        """
        return getattr(self._ag, "grad", None)

    @property
    def _fresh_grad(self):
        return bool(getattr(self._ag, "fresh", False))

    @_fresh_grad.setter
    def _fresh_grad(self, state):
        if hasattr(self._ag, "fresh"):
            self._ag.fresh = bool(state)

    def attach_grad(self, grad_req="write", stype=None):
        """Make the array a variable, for which `backward` computes a gradient.

        Parameters
        ----------
        grad_req : str, default 'write'
            What `backward` does: write replaces the gradient, add adds to it, null computes none.
        stype : str, optional
            The storage type of the gradient; None: that of the array.

        Examples
        --------
        >>> x = mx.nd.array([1, 2])
        >>> x.attach_grad()
        >>> with mx.autograd.record():
        ...     y = x * x
        >>> y.backward()
        >>> x.grad.asnumpy()
        array([2., 4.], dtype=float32)
        """
        from .. import autograd

        if stype in (None, "default"):
            grad = zeros_like_plain(self)
        else:
            from .sparse import zeros

            grad = zeros(stype, self.shape, self._ctx, self.dtype)
        autograd.mark_variables([self], [grad], [grad_req])

    def detach(self):
        """An array over the same memory, through which no gradient passes.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> x = mx.nd.array([1, 2])
        >>> x.attach_grad()
        >>> with mx.autograd.record():
        ...     y = x * x.detach()
        >>> y.backward()
        >>> x.grad.asnumpy()
        array([1., 2.], dtype=float32)
        """
        return wrap(self._t.detach(), self._ctx)

    def backward(self, out_grad=None, retain_graph=False, train_mode=True):
        """Compute the gradients of this array with respect to the variables it was computed from.

        Parameters
        ----------
        out_grad : NDArray, optional
            The gradient of the final value with respect to this array; ones without it.
        retain_graph : bool, default False
            Whether the recorded graph is kept for another `backward`.
        train_mode : bool, default True
            Whether operators such as Dropout are in training mode.

        Examples
        --------
        >>> x = mx.nd.array([1, 2])
        >>> x.attach_grad()
        >>> with mx.autograd.record():
        ...     y = x * x
        >>> y.backward(mx.nd.array([1, 10]))
        >>> x.grad.asnumpy()
        array([ 2., 40.], dtype=float32)
        """
        from .. import autograd

        autograd.backward([self], None if out_grad is None else [out_grad], retain_graph, train_mode)


_new = NDArray.__new__
set_array_class(NDArray)


_transposed = tells_exhaustion(transposed_copy)


@tells_exhaustion
def zeros_like_plain(array):
    """Zeros of the same shape, type and context, outside any graph."""
    return wrap(torch.zeros_like(array._t.data), array._ctx.home)


def _from_object(value, like):
    """Nested lists, tuples, NumPy arrays: a tensor to assign from."""
    if isinstance(value, (list, tuple)) and any(isinstance(v, NDArrayBase) for v in value):
        value = [v.asnumpy() if isinstance(v, NDArrayBase) else v for v in value]
    try:
        array = np.asarray(value)
        if array.dtype == object or isinstance(value, numbers.Number):  # a complex one: all others are no objects
            raise TypeError
        kind = None if like.is_cpu else like.dtype  # half of the bytes of float64, which not every device has
        return uploaded(np.ascontiguousarray(array), like.device, kind).reshape(array.shape)
    except (TypeError, ValueError):
        raise TypeError(
            f"{NDArray} does not support assignment with non-array-like object {value} of type {type(value)}"
        ) from None


def _box(begin, end, step):
    step = step or [None] * len(begin)
    return tuple(slice(b, e, s) for b, e, s in zip(begin, end, step, strict=True))


for _name in METHODS:
    if not hasattr(NDArray, _name):
        setattr(NDArray, _name, Fluent(_name))

from ._dispatch import arithmetic  # noqa: E402 - needs the class

arithmetic.install(NDArray)

from .compat import *  # noqa: E402, F403


def __getattr__(name):
    """MXNet shows its functions in this module, too; they need the class, and are looked up when they are asked for."""
    if name == "__path__":  # Python wants it whenever something is imported from here, in functions at each call
        raise AttributeError(name)
    from . import functions

    if name in functions.__all__:
        return getattr(functions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
