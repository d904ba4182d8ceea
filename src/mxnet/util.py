"""NumPy-semantics switches, environment variables and device questions."""

import functools
import inspect
import os
import threading

from .context import gpu_memory_info, num_gpus


def makedirs(d):
    """Create a folder, and those above it, unless it exists.

    Parameters
    ----------
    d : str
        The path.

    Examples
    --------
    >>> mx.util.makedirs("models/first")
    >>> import os
    >>> os.path.isdir("models/first")
    True
    """
    os.makedirs(os.path.expanduser(d), exist_ok=True)


class _Semantics(threading.local):
    array = False
    shape = False


_SEMANTICS = _Semantics()
NUMPY_SHAPES_ASKED = [False]  # has any thread ever turned NumPy's shapes on? Asked where every call counts
_EVERYWHERE = [False]  # the shape switch of all threads, which `set_np_shape(2)` turns on


def get_gpu_count():
    """The number of GPUs.

    Examples
    --------
    >>> mx.util.get_gpu_count() >= 0
    True
    """
    return num_gpus()


def get_gpu_memory(gpu_dev_id):
    """The free and the total memory of a GPU, in bytes.

    Parameters
    ----------
    gpu_dev_id : int
        The number of the GPU.

    Returns
    -------
    (int, int)

    Examples
    --------
    >>> free, total = mx.util.get_gpu_memory(0) if mx.util.get_gpu_count() else (0, 0)
    >>> free <= total
    True
    """
    return gpu_memory_info(gpu_dev_id)


def get_cuda_compute_capability(ctx):
    """The compute capability of a GPU, such as 80 for 8.0.

    Parameters
    ----------
    ctx : Context
        The GPU.

    Returns
    -------
    int

    Examples
    --------
    >>> mx.util.get_cuda_compute_capability(mx.gpu(0)) if mx.context.num_gpus() else 80
    80
    """
    if ctx.device_type != "gpu":
        raise ValueError("Expecting a gpu context to get cuda compute capability")
    import torch

    if not torch.cuda.is_available():
        return None
    major, minor = torch.cuda.get_device_capability(ctx.device_id)
    return major * 10 + minor


class _Switch:
    """A scope that also works as a decorator."""

    def __init__(self, setter, active):
        self._setter, self._active = setter, active

    def __enter__(self):
        self._before = self._setter(self._active)

    def __exit__(self, *exc):
        self._setter(self._before)

    def __call__(self, function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with _Switch(self._setter, self._active):  # a scope of its own: calls may nest
                return function(*args, **kwargs)

        return wrapper


def set_np_shape(active):
    """Switch NumPy's shapes on or off, in which () is a number and 0 is a size.

    The setting belongs to the thread. `np_shape` sets it for a block of code and restores it at the end.

    Parameters
    ----------
    active : bool
        Whether to switch it on.

    Returns
    -------
    bool
        Whether they were on.

    Examples
    --------
    >>> before = mx.util.set_np_shape(True)
    >>> mx.util.is_np_shape()
    True
    >>> mx.util.set_np_shape(before)
    True
    """
    before = is_np_shape()
    _SEMANTICS.shape = bool(active)
    NUMPY_SHAPES_ASKED[0] |= bool(active)
    if int(active) == 2 or not active:
        _EVERYWHERE[0] = bool(active)
    return before


def is_np_shape():
    """Whether NumPy's shapes are on.

    Examples
    --------
    >>> mx.util.is_np_shape()
    False
    """
    return _SEMANTICS.shape or _EVERYWHERE[0]


def np_shape(active=True):
    """A scope in which NumPy's shapes are on.

    In MXNet's classic shapes, 0 stands for an unknown length and `()` for an unknown shape, so there are no
    zero-dimensional and no empty arrays. Inside this scope both exist, as in NumPy; unknown lengths are written -1.

    Parameters
    ----------
    active : bool, default True
        Whether to switch it on.

    Returns
    -------
    context manager and decorator

    Examples
    --------
    >>> with mx.util.np_shape():
    ...     mx.nd.ones(()).shape
    ()
    """
    return _NumpyShapeScope(active)


def _set_np_array(active):
    before, _SEMANTICS.array = _SEMANTICS.array, bool(active)
    return before


def is_np_array():
    """Whether Gluon and the data loaders make `mx.np` arrays.

    Examples
    --------
    >>> mx.util.is_np_array()
    False
    """
    return _SEMANTICS.array


def np_array(active=True):
    """A scope in which Gluon and the data loaders make `mx.np` arrays.

    Outside it, layers and loaders return classic `mx.nd` arrays. It usually goes together with `np_shape`:
    `npx.set_np()` switches both on for the program.

    Parameters
    ----------
    active : bool, default True
        Whether to switch it on.

    Returns
    -------
    context manager and decorator

    Examples
    --------
    >>> with mx.util.np_array():
    ...     mx.util.is_np_array()
    True
    """
    return _NumpyArrayScope(active)


class _NumpyArrayScope(_Switch):
    """The scope that `np_array` gives, under MXNet's name."""

    _current = None

    def __init__(self, is_np_array):
        super().__init__(_set_np_array, is_np_array)
        self._is_np_array = is_np_array


class _NumpyShapeScope(_Switch):
    """The scope that `np_shape` gives, under MXNet's name."""

    def __init__(self, is_np_shape):
        super().__init__(set_np_shape, is_np_shape)


def _decorated(thing, switch):
    if inspect.isclass(thing):
        for name in dir(thing):  # what is inherited, too: `initialize` makes the arrays
            method = inspect.getattr_static(thing, name)
            if inspect.isfunction(method):
                setattr(thing, name, switch()(method))
        return thing
    if callable(thing):
        return switch()(thing)
    raise TypeError(f"use_np_shape and its kin decorate classes and functions, got {thing!r}")


def use_np_shape(func):
    """A function or class that always runs with NumPy's shapes.

    Parameters
    ----------
    func : callable or class
        The function or class.

    Returns
    -------
    callable or class

    Examples
    --------
    >>> @mx.util.use_np_shape
    ... def is_on():
    ...     return mx.util.is_np_shape()
    >>> is_on()
    True
    """
    return _decorated(func, np_shape)


def use_np_array(func):
    """A function or class that always runs with `mx.np` arrays.

    Parameters
    ----------
    func : callable or class
        The function or class.

    Returns
    -------
    callable or class

    Examples
    --------
    >>> @mx.util.use_np_array
    ... def is_on():
    ...     return mx.util.is_np_array()
    >>> is_on()
    True
    """
    return _decorated(func, np_array)


def use_np(func):
    """A function or class that always runs with NumPy's shapes and `mx.np` arrays.

    Use it on a block whose `hybrid_forward` calls `F.np` and `F.npx`, so that it runs in programs that have not called
    `npx.set_np()`. Every method of a class is decorated.

    Parameters
    ----------
    func : callable or class
        The function or class.

    Returns
    -------
    callable or class

    Examples
    --------
    >>> @mx.util.use_np
    ... def are_on():
    ...     return mx.util.is_np_shape(), mx.util.is_np_array()
    >>> are_on()
    (True, True)
    """
    return use_np_shape(use_np_array(func))


def set_np(shape=True, array=True):
    """Switch NumPy's shapes and arrays on, for this thread.

    Call it at the start of a program that uses `mx.np` arrays with Gluon.

    Parameters
    ----------
    shape : bool, default True
        Whether shapes are NumPy's: () is an array without axes and 0 a size. Otherwise both mean "not known".
    array : bool, default True
        Whether Gluon and the data loaders make `mx.np` arrays; otherwise `mx.nd` arrays. It needs `shape`.

    Examples
    --------
    >>> mx.npx.set_np()
    >>> mx.npx.is_np_array()
    True
    >>> mx.npx.reset_np()
    """
    if array and not shape:
        raise ValueError("NumPy Shape semantics is required in using NumPy array semantics.")
    _set_np_array(array)
    set_np_shape(shape)


def reset_np():
    """Switch NumPy's shapes and arrays off, for this thread: the state before `set_np`.

    Examples
    --------
    >>> mx.npx.reset_np()
    >>> mx.npx.is_np_array()
    False
    """
    set_np(shape=False, array=False)


def set_module(module):
    """A decorator that sets the module that a function says it is from.

    Parameters
    ----------
    module : str
        The name of the module.

    Returns
    -------
    callable

    Examples
    --------
    >>> @mx.util.set_module("mxnet.mine")
    ... def double(x):
    ...     return x * 2
    >>> double.__module__
    'mxnet.mine'
    """

    def moved(func):
        func.__module__ = func.__module__ if module is None else module
        return func

    return moved


_DTYPES = ("int8", "uint8", "int32", "int64", "float16", "float32", "float64")
_LEGAL = {
    "where": lambda v: True,
    "casting": lambda v: v in ("no", "equiv", "safe", "same_kind", "unsafe"),
    "order": lambda v: isinstance(v, str),
    "dtype": lambda v: getattr(v, "__name__", v) in _DTYPES,
    "subok": lambda v: isinstance(v, bool),
}


def np_ufunc_legal_option(key, value):
    """Whether a value of one of NumPy's ufunc options is supported.

    Parameters
    ----------
    key : str
        The option: where, subok, casting, dtype or order.
    value : object
        Its value.

    Returns
    -------
    bool

    Examples
    --------
    >>> mx.util.np_ufunc_legal_option("subok", True)
    True
    """
    return key in _LEGAL and _LEGAL[key](value)


def _checked_ufunc(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        out = kwargs.pop("out", None)
        for key, value in kwargs.items():
            if key not in _LEGAL:
                raise TypeError(f"{key} is an invalid keyword to function '{func.__name__}'")
            if not np_ufunc_legal_option(key, value):
                raise NotImplementedError(f"{key}={value} is not implemented yet for operator {func.__name__}")
        return func(*args, out=out)

    return wrapper


def wrap_np_unary_func(func):
    """A function of one array that refuses NumPy's options it does not support.

    Parameters
    ----------
    func : callable or class
        The function or class.

    Returns
    -------
    callable

    Examples
    --------
    >>> double = mx.util.wrap_np_unary_func(lambda x, out=None: x * 2)
    >>> double(3)
    6
    """
    return _checked_ufunc(func)


def wrap_np_binary_func(func):
    """A function of two arrays that refuses NumPy's options it does not support.

    Parameters
    ----------
    func : callable or class
        The function or class.

    Returns
    -------
    callable

    Examples
    --------
    >>> add = mx.util.wrap_np_binary_func(lambda x1, x2, out=None: x1 + x2)
    >>> add(3, 4)
    7
    """
    return _checked_ufunc(func)


def getenv(name):
    """The value of an environment variable, or None.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    str or None

    Examples
    --------
    >>> mx.util.setenv("REMX_EXAMPLE", "1")
    >>> mx.util.getenv("REMX_EXAMPLE")
    '1'
    """
    return os.environ.get(name)


def setenv(name, value):
    """Set an environment variable, or remove it.

    Parameters
    ----------
    name : str
        Its name.
    value : str or None
        Its value; None removes it.

    Examples
    --------
    >>> mx.util.setenv("REMX_EXAMPLE", None)
    >>> mx.util.getenv("REMX_EXAMPLE") is None
    True
    """
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = str(value)


def active(array):
    """The array over the same memory in the kind that the switches ask for, classic or NumPy-like."""
    return array.as_np_ndarray() if is_np_array() else array


def default_array(source_array, ctx=None, dtype=None):
    """An array of the active kind: `mx.np` if `is_np_array()`, else `mx.nd`.

    Parameters
    ----------
    source_array : array_like
        The values.
    ctx : Context, optional
        The device; None means the current context.
    dtype : str or type, optional
        The data type.

    Returns
    -------
    NDArray or ndarray

    Examples
    --------
    >>> type(mx.util.default_array([1, 2])).__name__
    'NDArray'
    """
    if is_np_array():
        from .numpy import array
    else:
        from .ndarray import array
    return array(source_array, ctx=ctx, dtype=dtype)
