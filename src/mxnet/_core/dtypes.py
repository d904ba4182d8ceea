"""Element types: MXNet's numbers and names for them, beside NumPy's."""

import contextlib
import reprlib
from difflib import get_close_matches

import numpy as np

from .errors import NameUnknown

# The flag that MXNet writes into files and C calls, by name.
FLAGS = {
    "float32": 0,
    "float64": 1,
    "float16": 2,
    "uint8": 3,
    "int32": 4,
    "int8": 5,
    "int64": 6,
    "bool": 7,
    "int16": 8,
    "uint16": 9,
    "uint32": 10,
    "uint64": 11,
    "bfloat16": 12,
}
NAMES = {flag: name for name, flag in FLAGS.items()}


class bfloat16:
    """Stands where NumPy has no type of its own; arrays of it reach NumPy as float32."""

    __module__ = "mxnet.base"
    dtype = np.dtype([("bfloat16", np.uint16)])  # what MXNet's programs call it; NumPy takes the class for it


# What `NDArray.dtype` returns: NumPy's scalar class, not a dtype instance.
SCALARS: dict[str, type] = {name: np.dtype(name).type for name in FLAGS if name != "bfloat16"}
SCALARS["bfloat16"] = bfloat16

_SEEN: dict[object, str] = {}


def dtype_name(dtype: object) -> str:
    """The canonical name of anything a user may call a dtype: `"float32"`, `np.float32`, `float`, …

    As in NumPy an object that has a `dtype` (an NDArray, a parameter) stands for it, but for NumPy's own arrays.
    """
    try:
        return _SEEN[dtype]
    except (KeyError, TypeError):
        pass
    if dtype is None:
        return "float32"
    if not isinstance(dtype, (type, np.ndarray, np.generic)):
        own = getattr(dtype, "dtype", None)
        if own is not None:
            return dtype_name(own)  # and the object is not kept
    name = _read(dtype)
    with contextlib.suppress(TypeError):  # not everything that names a dtype can be a key
        _SEEN[dtype] = name
    return name


def _read(dtype: object) -> str:
    if dtype is bfloat16 or (isinstance(dtype, str) and dtype == "bfloat16"):
        return "bfloat16"
    try:
        found = np.dtype(dtype)  # pyright: ignore[reportArgumentType, reportCallIssue]
    except (TypeError, ValueError, SyntaxError):  # NumPy reads texts such as "(2, 3)f4" as Python
        near = get_close_matches(dtype, FLAGS, 1) if isinstance(dtype, str) else []
        hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(FLAGS)}"
        raise TypeError(f"{reprlib.repr(dtype)} is not a data type; {hint}") from None
    name = "bfloat16" if found == bfloat16.dtype else found.name
    if name not in FLAGS:
        raise NameUnknown(f"data type {name} is not supported; use one of {', '.join(FLAGS)}")
    return name
