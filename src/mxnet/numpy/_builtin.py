"""`mx.np` functions that are one operator: its arguments decide, NumPy's signature is what `help` shows."""

import inspect
from types import FunctionType

from .. import _numpy_op_doc
from ._call import face


def plain(operator, module, name=None):
    """The operator as a function of `module`; its code is the generated one, nothing stands between a call and it."""
    raw, name = face(operator), name or operator.split("_", 2)[2]
    function = FunctionType(raw.__code__, raw.__globals__, name, raw.__defaults__)
    function.__qualname__, function.__module__, function.__doc__ = name, module, raw.__doc__
    return function


def builtin(operator, module="mxnet.numpy"):
    """The same with NumPy's signature and a word on it."""
    function, words = plain(operator, module), getattr(_numpy_op_doc, operator)
    function.__doc__, function.__signature__ = words.__doc__, inspect.signature(words)
    return function


all, any, sometrue = map(builtin, ("_np_all", "_np_any", "_np_sometrue"))
amax, amin, max, min = map(builtin, ("_np_amax", "_np_amin", "_np_max", "_np_min"))
sum, prod, product, cumsum = map(builtin, ("_np_sum", "_np_prod", "_np_product", "_np_cumsum"))
reshape, transpose, squeeze, moveaxis = map(builtin, ("_np_reshape", "_np_transpose", "_np_squeeze", "_np_moveaxis"))
repeat, roll, copy, dot = map(builtin, ("_np_repeat", "_np_roll", "_np_copy", "_np_dot"))
diag, diagflat, diagonal, trace = map(builtin, ("_np_diag", "_np_diagflat", "_np_diagonal", "_np_trace"))
atleast_1d, atleast_2d, atleast_3d = map(builtin, ("_np_atleast_1d", "_np_atleast_2d", "_np_atleast_3d"))

NAMES = [name.removeprefix("_np_") for name in vars(_numpy_op_doc) if name.startswith("_np_")]
__all__ = NAMES
