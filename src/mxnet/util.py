"""NumPy-semantics switches, environment variables and device questions."""

import functools
import inspect
import os
import threading

from .context import gpu_memory_info, num_gpus


def makedirs(d):
    """Make a folder and its parents."""
    os.makedirs(os.path.expanduser(d), exist_ok=True)


class _Semantics(threading.local):
    array = False
    shape = False


_SEMANTICS = _Semantics()
NUMPY_SHAPES_ASKED = [False]  # has any thread ever turned NumPy's shapes on? Asked where every call counts
_EVERYWHERE = [False]  # the shape switch of all threads, which `set_np_shape(2)` turns on


def get_gpu_count():
    """How many GPUs there are."""
    return num_gpus()


def get_gpu_memory(gpu_dev_id):
    """Free and total bytes of a GPU."""
    return gpu_memory_info(gpu_dev_id)


def get_cuda_compute_capability(ctx):
    """A GPU's compute capability, two digits as one number; None elsewhere."""
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
    """Let shapes be zero-dim and sizes zero, as NumPy has them: 1 in this thread, 2 in all; returns what it was."""
    before = is_np_shape()
    _SEMANTICS.shape = bool(active)
    NUMPY_SHAPES_ASKED[0] |= bool(active)
    if int(active) == 2 or not active:
        _EVERYWHERE[0] = bool(active)
    return before


def is_np_shape():
    """Are NumPy's shape rules on?"""
    return _SEMANTICS.shape or _EVERYWHERE[0]


def np_shape(active=True):
    """NumPy's shape rules inside a `with`."""
    return _NumpyShapeScope(active)


def _set_np_array(active):
    before, _SEMANTICS.array = _SEMANTICS.array, bool(active)
    return before


def is_np_array():
    """Do Gluon blocks and creation functions give `mx.np` arrays in this thread?"""
    return _SEMANTICS.array


def np_array(active=True):
    """`mx.np` arrays inside a `with`."""
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
    """NumPy's shape rules inside a function, or the methods of a class."""
    return _decorated(func, np_shape)


def use_np_array(func):
    """`mx.np` arrays inside a function, or the methods of a class."""
    return _decorated(func, np_array)


def use_np(func):
    """Both of NumPy's rules inside a function, or the methods of a class."""
    return use_np_shape(use_np_array(func))


def set_np(shape=True, array=True):
    """Turn NumPy's rules on for good."""
    if array and not shape:
        raise ValueError("NumPy Shape semantics is required in using NumPy array semantics.")
    _set_np_array(array)
    set_np_shape(shape)


def reset_np():
    """Turn NumPy's rules off."""
    set_np(shape=False, array=False)


def set_module(module):
    """A decorator that says which module a name belongs to."""

    def decorator(func):
        if module is not None:
            func.__module__ = module
        return func

    return decorator


_DTYPES = ("int8", "uint8", "int32", "int64", "float16", "float32", "float64")
_LEGAL = {
    "where": lambda v: True,
    "casting": lambda v: v in ("no", "equiv", "safe", "same_kind", "unsafe"),
    "order": lambda v: isinstance(v, str),
    "dtype": lambda v: getattr(v, "__name__", v) in _DTYPES,
    "subok": lambda v: isinstance(v, bool),
}


def np_ufunc_legal_option(key, value):
    """Is this a value of a NumPy ufunc's keyword, be it one that is not implemented here?"""
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
    """Check a unary ufunc's keywords before calling it."""
    return _checked_ufunc(func)


def wrap_np_binary_func(func):
    """Check a binary ufunc's keywords before calling it."""
    return _checked_ufunc(func)


def getenv(name):
    """An environment variable, or None."""
    return os.environ.get(name)


def setenv(name, value):
    """Set an environment variable; None removes it."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = str(value)


def active(array):
    """The array over the same memory in the kind that the switches ask for, classic or NumPy-like."""
    return array.as_np_ndarray() if is_np_array() else array


def default_array(source_array, ctx=None, dtype=None):
    """An array of the kind the switches ask for."""
    if is_np_array():
        from .numpy import array
    else:
        from .ndarray import array
    return array(source_array, ctx=ctx, dtype=dtype)
