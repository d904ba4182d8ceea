"""Element types: MXNet's numbers and names for them, beside NumPy's."""

import contextlib

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
    """The canonical name of anything a user may call a dtype: `"float32"`, `np.float32`, `float`, …"""
    try:
        return _SEEN[dtype]
    except (KeyError, TypeError):
        pass
    if dtype is None:
        return "float32"
    if dtype is bfloat16 or dtype == "bfloat16":
        name = "bfloat16"
    else:
        try:
            found = np.dtype(dtype)  # pyright: ignore[reportArgumentType, reportCallIssue]
            name = "bfloat16" if found == bfloat16.dtype else found.name
        except (TypeError, ValueError, SyntaxError):  # NumPy reads texts such as "(2, 3)f4" as Python
            raise TypeError(f"{dtype!r} is not a data type; use one of {', '.join(FLAGS)}") from None
    if name not in FLAGS:
        raise NameUnknown(f"data type {name} is not supported; use one of {', '.join(FLAGS)}")
    with contextlib.suppress(TypeError):  # not everything that names a dtype can be a key
        _SEEN[dtype] = name
    return name
