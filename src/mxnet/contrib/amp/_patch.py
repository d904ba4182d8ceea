"""`init`: the operator functions of `mx.nd` and `mx.sym`, replaced by ones that cast their inputs first."""

import functools
import logging

from ... import ndarray, symbol
from ..._ops.elementwise.amp_cast import MIXED
from ..._ops.registry.methods import FLUENT
from ..._ops.registry.torch_dtypes import NAME
from ...ndarray import NDArray
from ...ndarray._dispatch.arithmetic import BINARY
from ...symbol import Symbol
from ._graph import HIGH

PLACES = {"_contrib_": "contrib", "_linalg_": "linalg", "_random_": "random", "_image_": "image", "_sparse_": "sparse"}
FUNCTIONS = {
    "add": BINARY["add"],
    "subtract": BINARY["sub"],
    "multiply": BINARY["mul"],
    "divide": BINARY["truediv"],
    "true_divide": BINARY["truediv"],
    "modulo": BINARY["mod"],
    "power": BINARY["pow"],
    "maximum": ("broadcast_maximum", "_maximum_scalar", "_maximum_scalar"),
    "minimum": ("broadcast_minimum", "_minimum_scalar", "_minimum_scalar"),
    "equal": BINARY["eq"],
    "not_equal": BINARY["ne"],
    "greater": BINARY["gt"],
    "greater_equal": BINARY["ge"],
    "lesser": BINARY["lt"],
    "lesser_equal": BINARY["le"],
}


def places(face, name):
    """(module, attribute) under which `mx.nd` or `mx.sym` shows an operator."""
    prefix = next((p for p in PLACES if name.startswith(p)), None)
    if prefix and (prefix != "_random_" or name.endswith("_like")):
        yield getattr(face, PLACES[prefix]), name.removeprefix(prefix)
    elif name.startswith("_"):
        yield face._internal, name
    else:
        yield face, name
        yield face.op, name


def patch(rules, losses, scaler):
    """Replace the functions of all operators that the lists name; returns what was there, for putting it back."""
    wishes = [(name, rules.dtype, None) for name in sorted(rules.low)]
    wishes += [(name, HIGH, None) for name in sorted(rules.high)]
    wishes += [(name, HIGH, (attribute, values)) for name, attribute, values in rules.conditional]
    wishes += [(name, "widest", None) for name in sorted(rules.widest)]
    replaced = []
    for name, wanted, condition in wishes:
        _replace(places(symbol, name), replaced, _casting(_symbol_caster(wanted), condition))
        method = [(NDArray, name)] if name in FLUENT and name != "reshape" else []  # that one makes views, no operator
        _replace([*places(ndarray, name), *method], replaced, _casting(_array_caster(wanted), condition))
    _arithmetic({name: _array_caster(wanted) for name, wanted, _ in wishes}, replaced)
    for name in losses:
        _replace([(ndarray, name)], replaced, lambda f: _scaling(f, scaler))
        _replace([(symbol, name)], replaced, _warning)
    return replaced


def _arithmetic(casters, replaced):
    """`+` and its kin on arrays, as operators and as functions: one operator for arrays, others for numbers."""
    one = ndarray.ones(1)
    for name, (array, number, turned) in BINARY.items():
        for method, names in (("", (array, number)), ("r", (array, turned)), ("i", (array, number))):
            method = f"__{method}{name}__"
            if hasattr(NDArray, method):
                getattr(NDArray, method)(one, 1.0)  # they are built when first called
                _replace([(NDArray, method)], replaced, _choosing(casters, *names, names[1]))
    if "_mul_scalar" in casters:
        _replace([(NDArray, "__neg__")], replaced, _casting(casters["_mul_scalar"], None))
    for name, names in FUNCTIONS.items():
        _replace([(ndarray, name)], replaced, _choosing(casters, *names))


def _choosing(casters, array, number, turned):
    """Casts as the operator wants that a call with these operands is."""

    def around(function):
        @functools.wraps(function)
        def cast_first(lhs, rhs):
            name = turned if not isinstance(lhs, NDArray) else array if isinstance(rhs, NDArray) else number
            return casters[name](function, (lhs, rhs), {}) if name in casters else function(lhs, rhs)

        return cast_first

    return around


def _replace(where, replaced, make):
    for module, attribute in where:
        function = getattr(module, attribute, None)
        if function is not None:
            replaced.append((module, attribute, function))
            setattr(module, attribute, make(function))


def restore(replaced):
    """Put functions back; of one that was replaced twice, the first."""
    for module, attribute, function in reversed(replaced):
        setattr(module, attribute, function)


def _casting(caster, condition):
    """The caster around a function, where the condition on an attribute holds."""

    def around(function):
        @functools.wraps(function)
        def cast_first(*args, **kwargs):
            if condition is not None and kwargs.get(condition[0]) not in condition[1]:
                return function(*args, **kwargs)
            return caster(function, args, kwargs)

        return cast_first

    return around


def _array_caster(wanted):
    def caster(function, args, kwargs):
        dtype = _widest([*args, *kwargs.values()]) if wanted == "widest" else wanted
        kwargs = {k: v if k in ("out", "dtype") else _cast(v, dtype) for k, v in kwargs.items()}
        return function(*[_cast(a, dtype) for a in args], **kwargs)

    return caster


def _widest(values):
    single = any(isinstance(v, NDArray) and NAME[v._t.dtype] == HIGH for v in values)
    return HIGH if single else None


def _cast(value, dtype):
    if dtype and isinstance(value, NDArray) and NAME[value._t.dtype] in MIXED and NAME[value._t.dtype] != dtype:
        return ndarray.amp_cast(value, dtype=dtype)
    return value


def _symbol_caster(wanted):
    return _symbol_widest if wanted == "widest" else functools.partial(_symbol_inputs, dtype=wanted)


def _symbol_inputs(function, args, kwargs, dtype):
    """Call the function, and put casts before the inputs of the node it made but not before states it changes."""
    made = function(*args, **kwargs)
    node = made._entries[0].node
    states = set(made.list_auxiliary_states())
    node.inputs = [
        e if e.node.name in states else symbol.amp_cast(Symbol([e]), dtype=dtype)._entries[0] for e in node.inputs
    ]
    return made


def _symbol_widest(function, args, kwargs):
    """Call the function with its symbols brought to the widest type among them when the graph runs."""
    args, kwargs = list(args), dict(kwargs)
    slots = [(args, i) for i in range(len(args))] + [(kwargs, k) for k in kwargs]
    slots = [(where, key) for where, key in slots if isinstance(where[key], Symbol)]
    cast = symbol.amp_multicast(*[where[key] for where, key in slots], num_outputs=len(slots))
    for (where, key), one in zip(slots, cast, strict=True):
        where[key] = one
    return function(*args, **kwargs)


def _scaling(function, scaler):
    """A loss that starts its own backward pass, with gradients times the scale."""

    @functools.wraps(function)
    def scaled(*args, **kwargs):
        kwargs["grad_scale"] = kwargs.get("grad_scale", 1.0) * scaler.loss_scale
        return function(*args, **kwargs)

    return scaled


def _warning(function):
    name = function.__name__

    @functools.wraps(function)
    def warned(*args, **kwargs):
        logging.warning("%s does not support dynamic loss scaling in symbolic and hybridized execution.", name)
        return function(*args, **kwargs)

    return warned
