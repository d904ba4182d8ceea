"""`mx.np.ndarray`: an NDArray with NumPy's manners (no-axis arrays, promotion, boolean comparisons)."""

import re
from importlib import import_module

import numpy as onp
import torch

from .._core.dtypes import dtype_name
from .._core.modes import MODES
from ..context import Context, cpu, current_context  # noqa: F401 - public names here
from ..ndarray import indexing
from ..ndarray._dispatch.invoke import graph_tensor, own, plain_tensor
from ..ndarray.ndarray import NDArray, NDArrayBase
from ._call import as_np, binary, unary
from ._quick import ARITHMETIC, BACKWARD, FORWARD, assigned, quickened

__all__ = ["ndarray"]
_new = object.__new__


class ndarray(NDArray):
    """An array with NumPy's semantics: shapes without axes, data types that promote, indexing as in NumPy.

    Arrays are made by `mx.np.array`, `zeros`, `ones` and the other functions of `mx.np`. They compute on the same
    engine as `mx.nd.NDArray`, with gradients and devices.

    Parameters
    ----------
    handle : torch.Tensor or NDArray, optional
        What to share memory with. Programs call `mx.np.array` instead.
    writable : bool, default True
        Accepted for old programs and ignored.

    Examples
    --------
    >>> from mxnet import np, npx
    >>> x = np.array([[1, 2], [3, 4]])
    >>> x.sum(axis=0) + 1
    array([5., 7.])
    """

    __slots__ = ()
    __module__ = "mxnet.numpy"

    def __init__(self, handle=None, writable=True):
        super().__init__(handle, writable)
        self._ag = handle._ag if isinstance(handle, NDArrayBase) else None

    # ------------------------------------------------------------------ to and from the other world
    def as_nd_ndarray(self):
        """An `mx.nd.NDArray` over the same memory, with the same history.

        Examples
        --------
        >>> from mxnet import np, npx
        >>> type(np.ones(2).as_nd_ndarray()).__name__
        'NDArray'
        """
        array = _new(NDArray)
        array._t, array._ctx, array._ag = self._t, self._ctx, self._ag
        return array

    def as_np_ndarray(self):
        """The array itself, which already is of this class.

        Examples
        --------
        >>> from mxnet import np, npx
        >>> x = np.ones(2)
        >>> x.as_np_ndarray() is x
        True
        """
        return self

    def asnumpy(self):
        """A NumPy copy of the values.

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.ones(2).asnumpy()
        array([1., 1.], dtype=float32)
        """
        return onp.asarray(super().asnumpy()).view(onp.ndarray)

    def item(self, *args):
        """One element as a Python number.

        Parameters
        ----------
        *args : int
            The index of the element, which an array of one element does not need.

        Returns
        -------
        number

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.array([[1, 2], [3, 4]]).item(3)
        4.0
        """
        if not args and self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.asnumpy().item(*args)

    def __repr__(self):
        text = re.sub(r",\s+dtype=float32\)$", ")", repr(self.asnumpy()))  # the default here; NumPy leaves out its own
        if self.dtype in (onp.float64, onp.int64) and "dtype" not in text:
            text = f"{text[:-1]}, dtype={self.dtype})"
        return text if self._ctx.device_type == "cpu" else f"{text[:-1]}, ctx={self._ctx})"

    def __str__(self):
        text = str(self.asnumpy())
        return text if self._ctx.device_type == "cpu" or not self.ndim else f"{text} @{self._ctx}"

    def __format__(self, spec):
        return format(self.asnumpy()[()], spec) if spec else str(self)

    @property
    def dtype(self):
        """The data type, as NumPy's dtype.

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.ones(2).dtype
        dtype('float32')
        """
        return onp.dtype(NDArray.dtype.fget(self))

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        """NumPy's own `numpy.exp(x)` is `mx.np.exp(x)`."""
        if method != "__call__":
            return NotImplemented
        out = kwargs.pop("out", None)
        if out is not None:
            kwargs["out"] = out[0]
        return _counterpart(ufunc)(*inputs, **kwargs)

    def __array_function__(self, func, types, args, kwargs):
        """NumPy's own `numpy.sum(x)` is `mx.np.sum(x)`."""
        return _counterpart(func)(*args, **kwargs)

    def __len__(self):
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self._t.shape[0]

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __bool__(self):
        if self.size > 1:
            raise ValueError("The truth value of an ndarray with multiple elements is ambiguous.")
        return bool(self.size and self.item())

    # ------------------------------------------------------------------ parts
    def __getitem__(self, key):
        part = _run_of_memory(self._t, key) if self._ctx is self._ctx.home else None
        if part is not None:
            return _wrap(part, self._ctx)
        holds, rest = _truths(key)
        if holds is not None:  # everything there is, or nothing, along a new axis
            return self[rest][None] if holds else self[rest][None][0:0]
        recorded = MODES.recording and graph_tensor(self).requires_grad
        t = self._t if recorded else plain_tensor(self)
        result = _read(t, key)
        shared = result.untyped_storage().data_ptr() == t.untyped_storage().data_ptr()
        return _wrap(result, self._ctx if shared else self._ctx.home, MODES.epoch if recorded else None)

    def __setitem__(self, key, value):
        holds, key = _truths(key)
        if holds is False:
            return
        whole = not self.ndim and (key is Ellipsis or (isinstance(key, (tuple, slice)) and key in ((), slice(None))))
        NDArray.__setitem__(self.reshape_view(1) if whole else self, slice(None) if whole else key, value)

    # ------------------------------------------------------------------ shapes
    @property
    def T(self):
        """The transpose: the axes in reverse order.

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.array([[1, 2], [3, 4]]).T
        array([[1., 3.],
               [2., 4.]])
        """
        return self.transpose()

    def reshape_view(self, *shape, **kwargs):
        """The same memory with another shape.

        Parameters
        ----------
        *shape : int or tuple of int
            The new shape.
        **kwargs
            `reverse` and the other arguments of `NDArray.reshape`.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.arange(6).reshape_view(2, 3).shape
        (2, 3)
        """
        return as_np(self._viewed(lambda t: t.reshape(_sizes(shape))))

    def reshape(self, *args, order="C", **kwargs):
        """The elements in another shape.

        Parameters
        ----------
        *args : int or tuple of int
            The new shape; one size may be -1, which is what remains.
        order : str, default 'C'
            Memory order; only 'C' is supported.
        **kwargs
            `newshape`, the same by name.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.arange(6).reshape(2, -1).shape
        (2, 3)
        """
        from . import reshape

        shape = kwargs.get("newshape", kwargs.get("shape", _sizes(args)))
        return reshape(self, shape, order=order)

    def transpose(self, *axes):
        """The array with its axes in another order; reversed without arguments.

        Parameters
        ----------
        *axes : int
            The new order of the axes, one by one or as a tuple.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.zeros((2, 3, 4)).transpose(1, 0, 2).shape
        (3, 2, 4)
        """
        from . import transpose

        return transpose(self, _sizes(axes) if axes and axes[0] is not None else None)

    def flatten(self, order="C"):
        """A copy with all elements along one axis.

        Parameters
        ----------
        order : str, default 'C'
            Memory order; only 'C' is supported.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.array([[1, 2], [3, 4]]).flatten()
        array([1., 2., 3., 4.])
        """
        return self.reshape(-1).copy()

    def squeeze(self, axis=None):
        """The array without axes of length 1.

        Parameters
        ----------
        axis : int or tuple of int, optional
            The axes to remove; None: all of length 1.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.ones((1, 2, 1)).squeeze().shape
        (2,)
        """
        from . import squeeze

        return squeeze(self, axis)

    def broadcast_to(self, shape):
        """The array with its axes of length 1 repeated to `shape`.

        Parameters
        ----------
        shape : tuple of int
            The new shape.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.ones((2, 1)).broadcast_to((2, 3)).shape
        (2, 3)
        """
        from . import broadcast_to

        return broadcast_to(self, shape)

    # ------------------------------------------------------------------ copies
    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """The array with another data type.

        Parameters
        ----------
        dtype : str or type
            The data type of the result.
        order : str, default 'K'
            Memory order; 'K' and 'C' are the same here.
        casting : str, default 'unsafe'
            Only 'unsafe' is supported.
        subok : bool, default True
            Only True is supported.
        copy : bool, default True
            Whether to copy if the data type is that already.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.array([1.7, 2.2]).astype("int32")
        array([1, 2], dtype=int32)
        """
        _only("astype", order=(order, "K"), casting=(casting, "unsafe"), subok=(subok, True))
        if not copy and dtype_name(dtype) == self.dtype.name:
            return self
        return as_np(super().astype(dtype))

    def copy(self, order="C"):
        """A copy in the same context.

        Parameters
        ----------
        order : str, default 'C'
            Memory order; only 'C' is supported.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.ones(2).copy()
        array([1., 1.])
        """
        if order != "C":
            raise NotImplementedError(f"ndarray.copy only supports order='C', got {order!r}")
        return self.copyto(self._ctx)

    def copyto(self, other):
        """Copy the values into another array, or into a new one on a device.

        Parameters
        ----------
        other : ndarray or Context
            Where to copy to.

        Returns
        -------
        ndarray
            The array that was written.

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.ones(2).copyto(np.zeros(2))
        array([1., 1.])
        """
        result = super().copyto(other)
        return as_np(result) if isinstance(result, NDArrayBase) else result

    def as_in_ctx(self, ctx):
        """The array on another device: itself if it is there already, else a copy.

        Parameters
        ----------
        ctx : Context
            The device.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.ones(2).as_in_ctx(npx.cpu(1)).ctx
        cpu(1)
        """
        return self if self._ctx == ctx else self.copyto(ctx)

    def as_in_context(self, context):
        """The array on another device: itself if it is there already, else a copy.

        Parameters
        ----------
        context : Context
            The device.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from mxnet import np, npx
        >>> x = np.ones(2)
        >>> x.as_in_context(npx.cpu()) is x
        True
        """
        return self.as_in_ctx(context)

    def detach(self):
        """An array over the same memory, through which no gradient passes.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from mxnet import np, npx
        >>> np.ones(2).detach()
        array([1., 1.])
        """
        return as_np(super().detach())

    @property
    def grad(self):
        """The gradient that `backward` wrote, or None without `attach_grad`.

        Examples
        --------
        >>> from mxnet import np, npx
        >>> x = np.ones(2)
        >>> x.attach_grad()
        >>> x.grad
        array([0., 0.])
        """
        grad = NDArray.grad.fget(self)
        return None if grad is None else grad.as_np_ndarray()

    def attach_grad(self, grad_req="write"):
        """Make the array a variable, for which `backward` computes a gradient.

        Parameters
        ----------
        grad_req : str, default 'write'
            What `backward` does: write replaces the gradient, add adds to it, null computes none.

        Examples
        --------
        >>> from mxnet import np, npx
        >>> from mxnet import autograd
        >>> x = np.array([1, 2])
        >>> x.attach_grad()
        >>> with autograd.record():
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad
        array([2., 4.])
        """
        super().attach_grad(grad_req)


def _counterpart(function):
    """The function of `mx.np` that a function of NumPy stands for; what is missing here NumPy computes on copies."""
    from .. import numpy as here
    from .fallback import through_numpy

    space = here.linalg if getattr(function, "__module__", "").endswith("linalg") else here
    return getattr(space, function.__name__, None) or through_numpy(function)


def _truth(key):
    return isinstance(key, (bool, onp.bool_)) or (isinstance(key, ndarray) and not key.ndim and key.dtype == onp.bool_)


def _truths(key):
    """Do the truth values in an index hold, None without any; and the index without them."""
    if not isinstance(key, tuple):
        return (bool(key), ...) if _truth(key) else (None, key)
    truths = [bool(k) for k in key if _truth(k)]
    return (all(truths), tuple(k for k in key if not _truth(k)) or ...) if truths else (None, key)


def _only(function, **options):
    for name, (given, legal) in options.items():
        if given != legal:
            raise ValueError(f"{name} must be {legal!r} in ndarray.{function}, got {given!r}")


def _sizes(shape):
    return tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else tuple(shape)


def _wrap(tensor, ctx, mark=None):
    array = _new(ndarray)
    array._t, array._ctx, array._ag = tensor, ctx, mark
    return array


def _run_of_memory(tensor, key):
    """What numbers and a slice of the first axis mark: torch reads it as MXNet does. None for all else."""
    kind = key.__class__
    numbers = kind is int or (kind is tuple and key and all(k.__class__ is int for k in key))
    if tensor.requires_grad or not (numbers or (kind is slice and key.step is None)):
        return None
    try:
        return tensor[key]
    except (IndexError, TypeError, ValueError, RuntimeError):  # said in MXNet's words, or bounds that are arrays
        return None


def _read(tensor, key):
    """`tensor[key]`, sharing memory where MXNet would; an index of everything leaves no axes."""
    if isinstance(key, tuple) and not key:
        return tensor
    entries = indexing.normalize(_plain_key(key), tensor.shape, tensor.device)
    result = indexing.taken(tensor, entries)
    shared = indexing.is_basic(entries) and indexing.shares(entries, tensor.shape)
    return result if shared else own(result, (tensor,))


def _plain_key(key):
    """No-axis integer arrays count as numbers."""
    if isinstance(key, tuple):
        return tuple(_plain_key(k) for k in key)
    if isinstance(key, NDArrayBase) and not key.ndim and key._t.dtype is not torch.bool:
        return int(key._t.item())
    return key


# dunder: (operator, the same with the number first)
OPERATORS = {
    "add": ("add", "add"), "sub": ("subtract", "rsubtract"), "mul": ("multiply", "multiply"),
    "truediv": ("true_divide", "rtrue_divide"), "mod": ("mod", "rmod"), "pow": ("power", "rpower"),
    "and": ("bitwise_and", "bitwise_and"), "or": ("bitwise_or", "bitwise_or"), "xor": ("bitwise_xor", "bitwise_xor"),
}  # fmt: skip
COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "gt": "greater", "ge": "greater_equal", "lt": "less", "le": "less_equal",
}  # fmt: skip


def _install_operator(cls, dunder, name, reverse):
    plain = getattr(onp, name)

    def forward(self, other):
        return binary(name, self, other, None, plain)

    def backward(self, other):
        if dunder == "add":  # MXNet turns only this one round, and a graph's node says on which side its number was
            return binary(name, self, other, None, plain)
        return binary(name, other, self, None, plain, reverse)

    def inplace(self, other):
        return binary(name, self, other, self, plain)

    if name in ARITHMETIC:
        inplace = assigned(cls, dunder, inplace)
    # Python makes a new array of `x **= y` here, as MXNet has no such operator
    assigning = () if dunder == "pow" else (("i", inplace),)
    quick = quickened(cls, FORWARD.get(name), forward, name), quickened(cls, BACKWARD.get(name), backward, name)
    for prefix, function in (("", quick[0]), ("r", quick[1]), *assigning):
        function.__name__ = f"__{prefix}{dunder}__"
        setattr(cls, function.__name__, function)


def _install_comparison(cls, dunder, name):
    plain = getattr(onp, name)

    def compare(self, other):
        return binary(name, self, other, None, plain)

    function = quickened(cls, FORWARD[name], compare, name)
    function.__name__ = f"__{dunder}__"
    setattr(cls, function.__name__, function)


def install_operators(cls):
    """Give the class Python's operators, as NumPy has them."""
    for dunder, (name, reverse) in OPERATORS.items():
        _install_operator(cls, dunder, name, reverse)
    for dunder, name in COMPARISONS.items():
        _install_comparison(cls, dunder, name)
    cls.__neg__ = lambda self: unary("negative", self, None, onp.negative)
    cls.__abs__ = lambda self: unary("absolute", self, None, onp.absolute)
    cls.__invert__ = lambda self: unary("bitwise_not", self, None, onp.invert)
    cls.__floor__ = lambda self: unary("floor", self, None, onp.floor)
    cls.__ceil__ = lambda self: unary("ceil", self, None, onp.ceil)
    cls.__trunc__ = lambda self: unary("trunc", self, None, onp.trunc)
    cls.__round__ = lambda self, ndigits=0: self.round(ndigits)


install_operators(ndarray)
ndarray.__hash__ = NDArray.__hash__


def __getattr__(name):
    """The functions of `mx.np`, which MXNet defines in this module."""
    functions = vars(import_module("mxnet.numpy"))
    if name.startswith("_") or not callable(functions.get(name)):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return functions[name]
