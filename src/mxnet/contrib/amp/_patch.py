"""`init`: the operator functions of `mx.nd` and `mx.sym`, replaced by ones that cast their inputs first."""

import functools

from ... import ndarray, symbol
from ..._graph.node import Entry, call
from ..._ops.dtypes import NAME
from ..._ops.registry import find, load
from ...name import manager
from ...ndarray import NDArray
from ...symbol import Symbol
from ._graph import HIGH, cast_inputs

FLOATS = ("float16", "bfloat16", "float32")
PLACES = {"_contrib_": "contrib", "_linalg_": "linalg", "_random_": "random", "_image_": "image", "_sparse_": "sparse"}


def places(name):
    """(module, attribute) under which `mx.nd` and `mx.sym` show an operator."""
    prefix = next((p for p in PLACES if name.startswith(p)), None)
    for face in (ndarray, symbol):
        if prefix:
            yield getattr(face, PLACES[prefix]), name.removeprefix(prefix)
        elif name.startswith("_"):
            yield face._internal, name
        else:
            yield face, name
            yield face.op, name


def patch(rules):
    """Replace the functions of all operators that the rules name; returns what was there, for putting it back."""
    conditional = [name for name, _, _ in rules.conditional]
    replaced = []
    for name in sorted({*rules.low, *rules.high, *rules.widest, *conditional} & set(load())):
        for module, attribute in places(name):
            function = getattr(module, attribute, None)
            if function is not None:
                replaced.append((module, attribute, function))
                setattr(module, attribute, _casting(function, name, rules))
    return replaced


def _casting(function, name, rules):
    operator = find(name)

    @functools.wraps(function)
    def cast_first(*args, **kwargs):
        values = [*args, *kwargs.values()]
        if any(isinstance(v, Symbol) for v in values):
            return _symbol(function(*args, **kwargs), rules)
        wanted = _wanted(operator, kwargs, rules)
        arrays = [v for v in values if isinstance(v, NDArray)]
        if wanted == "widest":
            wanted = HIGH if len({NAME[a._t.dtype] for a in arrays} & set(FLOATS)) > 1 else None
        if wanted is None:
            return function(*args, **kwargs)
        kwargs = {k: v if k == "out" else _cast(v, wanted) for k, v in kwargs.items()}
        return function(*[_cast(a, wanted) for a in args], **kwargs)

    return cast_first


class _Call:
    """A call of an operator as the rules look at nodes."""

    def __init__(self, op, parsed):
        self.op, self.parsed, self.name = op, parsed, None


def _wanted(operator, kwargs, rules):
    return rules.wanted(_Call(operator, {k: v for k, v in kwargs.items() if k in operator.attrs}))


def _cast(value, dtype):
    if isinstance(value, NDArray) and NAME[value._t.dtype] in FLOATS and NAME[value._t.dtype] != dtype:
        return ndarray.amp_cast(value, dtype=dtype)
    return value


def _symbol(made, rules):
    """The node just made, with casts before its inputs; what they are is seen when the graph runs."""
    node = made._entries[0].node

    def cast(entry, dtype):
        name = manager().get(None, "amp_cast")
        return Entry(call(find("amp_cast"), name, {"dtype": dtype}, [entry], {}))

    wanted = rules.wanted(node)
    if wanted == "widest":
        _multicast(node)
    else:
        cast_inputs(node, wanted, lambda entry: None, cast)
    return made


def _multicast(node):
    count = len(node.inputs)
    if count > 1:
        name = manager().get(None, "amp_multicast")
        both = call(find("amp_multicast"), name, {"num_outputs": str(count)}, list(node.inputs), {})
        node.inputs = [Entry(both, i) for i in range(count)]
