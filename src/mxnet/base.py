"""MXNet's `base`: the error class, and the small ctypes and path helpers that programs import from here."""

import ctypes
import os
import re
from typing import Any

import numpy as np

from ._core.attrs import NULL as _Null  # noqa: F401 - MXNet's name
from ._core.errors import (  # noqa: F401 - where they say that they are, which pickles ask for
    MXNetError,
    NameUnknown,
    NotImplementedForSymbol,
    NotSupportedForSparseNDArray,
    OperatorMissing,
    ValueRefused,
)
from ._core.shims import library as _library
from ._core.version import MXNET_VERSION as __version__  # noqa: F401

string_types = (str,)
numeric_types = (float, int, np.generic)
integer_types = (int, np.int32, np.int64)
mx_uint = ctypes.c_uint
mx_float = ctypes.c_float
mx_float_p = ctypes.POINTER(mx_float)
mx_real_t = np.float32
mx_int = ctypes.c_int
mx_int64 = ctypes.c_int64
NDArrayHandle = SymbolHandle = ExecutorHandle = KVStoreHandle = RecordIOHandle = ctypes.c_void_p

_LIB = _library.Library()

# Programs that handle DLPack capsules by hand rely on `mxnet.base` for these: by default ctypes cuts pointers to ints.
ctypes.pythonapi.PyCapsule_New.restype = ctypes.py_object
ctypes.pythonapi.PyCapsule_GetPointer.restype = ctypes.c_void_p

error_types = {"ValueError": ValueError, "TypeError": TypeError, "AttributeError": AttributeError,
               "IndexError": IndexError, "NotImplementedError": NotImplementedError,
               "MXNetError": MXNetError}  # fmt: skip


class MXCallbackList(ctypes.Structure):
    """Kept for programs that name it; nothing here is called through C."""

    _fields_ = [("num_callbacks", ctypes.c_int), ("callbacks", ctypes.c_void_p), ("contexts", ctypes.c_void_p)]


class _NullType:
    """The type of the mark for an attribute that was not given."""


def _as_list(obj):
    """A list as it is, anything else in a list of its own."""
    return list(obj) if isinstance(obj, (list, tuple)) else [obj]


class _Placeholder(type):
    """The type of the base class that `with_metaclass` returns; a class derived from it is made by `meta` instead."""

    meta: Any
    bases: tuple[type, ...]

    def __new__(cls, name, placeholders, namespace):
        (placeholder,) = placeholders
        return placeholder.meta(name, placeholder.bases, namespace)

    @classmethod
    def __prepare__(cls, name, placeholders):
        (placeholder,) = placeholders
        return placeholder.meta.__prepare__(name, placeholder.bases)


def with_metaclass(meta, *bases):
    """A base class that carries a metaclass, for code written for Python 2 and 3."""
    return type.__new__(_Placeholder, "temporary_class", (), {"meta": meta, "bases": bases})


class _ClassProperty:
    def __init__(self, fget):
        self.fget = fget

    def __get__(self, obj, cls=None):
        return self.fget.__get__(obj, cls or type(obj))()


def classproperty(func):
    """A read-only property of a class."""
    return _ClassProperty(func if isinstance(func, (classmethod, staticmethod)) else classmethod(func))


def register_error(func_name=None, cls=None):
    """Let an error class be found by its name at the beginning of a message.

    Parameters
    ----------
    func_name : str or class, optional
        The name; without it that of the class.

    Returns
    -------
    class or callable

    Examples
    --------
    >>> @mx.error.register_error
    ... class NoDataError(mx.MXNetError):
    ...     pass
    """
    if callable(func_name):
        func_name, cls = func_name.__name__, func_name

    def register(target):
        error_types[func_name if isinstance(func_name, str) else target.__name__] = target
        return target

    return register if cls is None else register(cls)


def c2pyerror(err_msg):
    """(message, class name) of an error text that begins with a registered class."""
    lines = err_msg.split("\n")
    for line in reversed(lines):
        match = re.match(r"\s*(?:\[.*?\]\s*\S+:\d+:\s*)?(\w+): ", line)
        if match and match.group(1) in error_types:
            return err_msg, match.group(1)
    return err_msg, None


def get_last_ffi_error():
    """What the last function of `_LIB` that failed in this thread raised."""
    return _library.last_error()


def check_call(ret):
    """Raise what a function of `_LIB` failed with, if it did: it returned something other than 0."""
    if ret != 0:
        raise get_last_ffi_error()


def c_str(string):
    """A string for ctypes."""
    return ctypes.c_char_p(string.encode())


def c_str_array(strings):
    """Strings for ctypes."""
    return c_array(ctypes.c_char_p, [string.encode() for string in strings])


def c_array(ctype, values):
    """A ctypes array from Python values."""
    return (ctype * len(values))(*values)


def c_array_buf(ctype, buf):
    """A ctypes array over a buffer."""
    return (ctype * len(buf)).from_buffer(buf)


def c_handle_array(objs):
    """The handles of objects, in a list."""
    return [o.handle for o in objs]


def ctypes2buffer(cptr, length):
    """Bytes copied out of a char pointer."""
    if not isinstance(cptr, ctypes.POINTER(ctypes.c_char)):
        raise TypeError("expected char pointer")
    return bytearray(ctypes.string_at(cptr, length))


def ctypes2numpy_shared(cptr, shape):
    """A NumPy array over the memory of a float pointer."""
    if not isinstance(cptr, mx_float_p):
        raise RuntimeError("expected float pointer")
    return np.ctypeslib.as_array(cptr, shape)


def py_str(x):
    """Text from bytes."""
    return x.decode("utf-8")


def build_param_doc(arg_names, arg_types, arg_descs, remove_dup=True):
    """A docstring's Parameters section."""
    seen, lines = set(), []
    for name, kind, text in zip(arg_names, arg_types, arg_descs, strict=True):
        if name in seen and remove_dup or name == "num_args":
            continue
        seen.add(name)
        lines.append(f"{name} : {kind}" + (f"\n    {text}" if text else ""))
    return "Parameters\n----------\n" + "\n".join(lines) + "\n"


def _init_op_module(root_namespace, module_name, make_op_func):
    """MXNet's generator of operator functions; the registry makes them here."""
    raise NotImplementedError(
        f"_init_op_module cannot fill {root_namespace}.{module_name}: operators come from ReMX's registry, not from "
        "a C library; mx.nd and mx.sym have them all, and mx.operator.register adds one"
    )


def add_fileline_to_docstring(module, incursive=True):
    """Docstrings here need no file and line; the source is Python."""


def data_dir_default():
    """The folder of downloaded models and data when `MXNET_HOME` is not set."""
    return (
        os.path.join(os.environ.get("APPDATA", ""), "mxnet")
        if os.name == "nt"
        else os.path.join(os.path.expanduser("~"), ".mxnet")
    )


def data_dir():
    """The folder of downloaded models and data."""
    return os.getenv("MXNET_HOME", data_dir_default())
