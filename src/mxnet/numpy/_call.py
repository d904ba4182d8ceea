"""Calling an operator for `mx.np`: numbers stay NumPy's business, results are `mx.np.ndarray`."""

import numbers
import threading
from functools import cache, partial

import numpy as onp

from .. import _numpy_op_doc
from .._core.errors import MXNetError
from .._core.tracing import Traced
from .._ops.registry import registry
from ..context import current_context
from ..ndarray._dispatch.generated import call as run
from ..ndarray._dispatch.generated import creation_of, generated_function_for
from ..ndarray._dispatch.invoke import invoke
from ..ndarray.ndarray import NDArrayBase
from ..util import np_ufunc_legal_option

ARRAYS = (NDArrayBase, Traced)
UFUNC_OPTIONS = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True}


class _Mode(threading.local):
    symbolic = False  # do functions without inputs make nodes?


MODE = _Mode()
_FACES = {}


def as_np(result):
    """The same memory and history as `mx.np.ndarray`s, in lists too."""
    if isinstance(result, (list, tuple)):
        return [as_np(r) for r in result]
    return result.as_np_ndarray()


def call(name, *inputs, out=None, ctx=None, **attrs):
    """Run a registered operator, or make a node of it; attributes that are None are left at their default."""
    given = {k: v for k, v in attrs.items() if v is not None}
    if inputs:
        return face(name)(*inputs, **given) if out is None else face(name)(*inputs, out=out, **given)
    if MODE.symbolic:
        return _node(name, inputs, given, ctx)
    where = place(ctx)
    made = None if out is not None else _creation(name)(**{**given, "ctx": where})
    if made is not None:
        return made
    result = invoke(registry.find(name), [], given, out, ctx=where)
    return out if out is not None else as_np(result)


@cache
def _creation(name):
    from .multiarray import ndarray

    return creation_of(name, ndarray)


def face(name):
    """The operator as a function of `mx.np` arrays, or of symbols, with the operator's own arguments."""
    return _FACES.get(name) or _made(name)


def _made(name):
    from .multiarray import ndarray

    function = _FACES[name] = generated_function_for(name, ndarray, partial(_every_case, name), as_np)
    return function


def _every_case(name, operator, inputs, attrs, kwargs, out):
    """What the generated function cannot do by itself: symbols, `out`, several contexts, whatever is wrong."""
    inputs, attrs = documented(name, inputs, {**attrs, **kwargs})
    if any(isinstance(x, Traced) for x in (*inputs, *attrs.values())):
        return _node(name, [x for x in inputs if x is not None], attrs)
    for place, x in enumerate(inputs):
        if x is not None and not isinstance(x, NDArrayBase):
            label = "Positional arguments" if operator.variadic else f"Argument {operator.inputs[place]}"
            raise AssertionError(f"{label} must have NDArray type, but got {x}; make one with mx.np.array")
    missing = [n for n, x in zip(operator.inputs, inputs, strict=False) if x is None and n not in operator.optional]
    if missing:
        given, wanted = len(inputs) - len(missing), len(inputs)
        raise MXNetError(
            f"Check failed: num_inputs == infered_num_inputs ({given} vs. {wanted}) : Operator {operator.name} expects "
            f"{wanted} inputs, but got {given} instead."
        )
    result = run(operator, inputs, attrs, {}, out)
    return out if out is not None else as_np(result)


def documented(operator, inputs, attrs):
    """Inputs that were given by the names NumPy has for them, which the signature shows, in their places."""
    words = getattr(_numpy_op_doc, operator, None)
    if words is None or not inputs or inputs[0] is not None:
        return inputs, attrs
    name = words.__code__.co_varnames[0]
    attrs = dict(attrs)
    return ([attrs.pop(name), *inputs[1:]], attrs) if name in attrs else (inputs, attrs)


def _node(name, inputs, attrs, ctx=None):
    from ._symbolic import compose

    return compose(name, inputs, attrs, ctx)


def place(ctx):
    """The context asked for, or the current one."""
    return current_context() if ctx is None else ctx


def check_ufunc(name, options):
    """NumPy's ufunc keywords are accepted as far as they change nothing."""
    for key, value in options.items():
        if key not in UFUNC_OPTIONS:
            raise TypeError(f"{key} is an invalid keyword to function '{name}'")
        if value is UFUNC_OPTIONS[key] or value == UFUNC_OPTIONS[key]:
            continue
        if np_ufunc_legal_option(key, value):
            raise NotImplementedError(f"{key}={value} is not implemented yet for operator {name}")
        raise TypeError(f"{key}={value} not understood for operator {name}")


def unary(name, x, out, plain):
    """An operator of one array; a number is computed by NumPy."""
    if isinstance(x, numbers.Number):
        return plain(x)
    if not isinstance(x, ARRAYS):
        raise TypeError(f"type {type(x)} not supported")
    return call(f"_npi_{name}", x, out=out)


def binary(name, x1, x2, out, plain, reverse=None):
    """An operator of two arrays, or of an array and a number on either side."""
    if isinstance(x1, ARRAYS):
        if isinstance(x2, ARRAYS):
            return call(f"_npi_{name}", x1, x2, out=out)
        if isinstance(x2, numbers.Number):
            return call(f"_npi_{name}_scalar", x1, out=out, **_number(x2, x1, isinstance(x2, numbers.Integral)))
        raise TypeError(f"type {type(x2)} not supported")
    if not isinstance(x1, numbers.Number):
        raise TypeError(f"type {type(x1)} not supported")
    if isinstance(x2, ARRAYS):
        return call(f"_npi_{reverse or name}_scalar", x2, out=out, **_number(x1, x2, False))
    if isinstance(x2, numbers.Number):
        return plain(x1, x2)
    raise TypeError(f"type {type(x2)} not supported")


def _number(value, beside, is_int):
    """Only nodes of a graph know whether a number is an integer, and only a number on the right can be one to them."""
    return {"scalar": float(value), "is_int": is_int} if isinstance(beside, Traced) else {"scalar": float(value)}


def axes(axis):
    """An axis, or several, as operators take them."""
    return (axis,) if isinstance(axis, numbers.Integral) else axis


def array_beside(values, arr, own_type=None):
    """An array of NumPy or a list beside `arr`, in its type unless the values are to keep theirs."""
    from . import array

    return array(onp.asarray(values), dtype=None if own_type else arr.dtype, ctx=arr.ctx)
