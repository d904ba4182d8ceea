"""NumPy-semantics switches, environment variables and device questions."""

import functools
import inspect
import os
import sys
import threading

from ._core.errors import MXNetError


def makedirs(d):
    """Make a folder and its parents."""
    os.makedirs(os.path.expanduser(d), exist_ok=True)


class _Semantics(threading.local):
    array = False


_SEMANTICS = _Semantics()
_SHAPE = [False]  # MXNet keeps the shape switch for the whole process, the array switch per thread


def get_gpu_count():
    """How many GPUs there are."""
    from .context import num_gpus

    return num_gpus()


def get_gpu_memory(gpu_dev_id):
    """Free and total bytes of a GPU."""
    from .context import gpu_memory_info

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
            with _Switch(self._setter, self._active):
                return function(*args, **kwargs)

        return wrapper


def set_np_shape(active):
    """Let shapes be zero-dim and sizes zero, as NumPy has them; returns what it was."""
    before, _SHAPE[0] = _SHAPE[0], bool(active)
    return before


def is_np_shape():
    """Are NumPy's shape rules on?"""
    return _SHAPE[0]


def np_shape(active=True):
    """NumPy's shape rules inside a `with`."""
    return _Switch(set_np_shape, active)


def _set_np_array(active):
    before, _SEMANTICS.array = _SEMANTICS.array, bool(active)
    return before


def is_np_array():
    """Do Gluon blocks and creation functions give `mx.np` arrays in this thread?"""
    return _SEMANTICS.array


def np_array(active=True):
    """`mx.np` arrays inside a `with`."""
    return _Switch(_set_np_array, active)


def _decorated(thing, switch):
    if inspect.isclass(thing):
        for name in ("__init__", "forward", "hybrid_forward", "__call__"):
            method = thing.__dict__.get(name)
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


_LEGAL = {
    "where": lambda v: v is True,
    "casting": lambda v: v == "same_kind",
    "order": lambda v: v in ("K", "C"),
    "dtype": lambda v: v is None or isinstance(v, (str, type)),
    "subok": lambda v: v is True,
}


def np_ufunc_legal_option(key, value):
    """May a NumPy ufunc keyword have this value here?"""
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


def default_array(source_array, ctx=None, dtype=None):
    """An array of the kind the switches ask for."""
    if is_np_array():
        if "mxnet.numpy" not in sys.modules:
            raise MXNetError("mx.np arrays are not available in this version")
        from .numpy import array
    else:
        from .ndarray import array
    return array(source_array, ctx=ctx, dtype=dtype)
