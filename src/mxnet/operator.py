"""Operators written in Python: `CustomOp`, its properties, and the older `NumpyOp` and `NDArrayOp`."""

import collections
import ctypes

from ._custom.custom_op import CustomOp, CustomOpProp, register
from ._custom.python_op import NDArrayOp, NumpyOp, PythonOp
from ._ops import custom
from ._ops.registry import registry
from .base import (  # noqa: F401 - public names of this module
    MXCallbackList,
    NDArrayHandle,
    c_array,
    c_array_buf,
    c_str,
    check_call,
    ctypes2numpy_shared,
    py_str,
)
from .ndarray._dispatch.custom_call import call_on_arrays, run_in_graph
from .ndarray.ndarray import NDArray
from .util import is_np_array  # noqa: F401

__all__ = [
    "CustomOp", "CustomOpProp", "NDArrayOp", "NumpyOp", "OperatorArguments", "PythonOp",
    "get_all_registered_operators", "get_operator_arguments", "register",
    "NDArray", "NDArrayHandle", "ctypes",  # MXNet's module gives these away, too
]  # fmt: skip

custom.RUNNER[:] = [run_in_graph]
custom.CALLER[:] = [call_on_arrays]

OperatorArguments = collections.namedtuple("OperatorArguments", ["narg", "names", "types"])


def get_all_registered_operators():
    """The names of all operators.

    Examples
    --------
    >>> "Convolution" in mx.operator.get_all_registered_operators()
    True
    """
    return registry.names()


def get_operator_arguments(op_name):
    """The number, names and types of an operator's arguments.

    Parameters
    ----------
    op_name : str
        The name of the operator.

    Returns
    -------
    OperatorArguments

    Examples
    --------
    >>> mx.operator.get_operator_arguments("SwapAxis").names
    ['data', 'dim1', 'dim2']
    """
    operator = registry.find(op_name)
    first = [operator.variadic] if operator.variadic else list(operator.inputs)
    kind = "NDArray-or-Symbol[]" if operator.variadic else "NDArray-or-Symbol"
    names = first + list(operator.attrs)
    types = [kind] * len(first) + [a.describe().partition(" : ")[2] for a in operator.attrs.values()]
    return OperatorArguments(len(names), names, types)
