"""Symbol functions made from the registry: each call adds one node to a graph."""

from collections.abc import Callable
from typing import Any

from .._core.attrs import NULL, text
from .._graph.ir.attributes import dtype_text, operator_attributes
from .._graph.ir.node import Entry, call_node
from .._ops.registry.registry import Op
from .._ops.registry.signature import docstring, parameters
from ..attribute import scope
from ..name import manager
from . import _base

TAIL = "name=None, attr=None, out=None"


def create(
    op: Op, args: list[Entry], named: dict[str, Entry], attrs: dict[str, Any], name: str, subgraphs: Any = ()
) -> Any:
    """The symbol of a new node that calls `op`."""
    written = ((k, dtype_text(v) if k == "dtype" else text(v)) for k, v in attrs.items())
    node = call_node(op, name, operator_attributes(written), args, named, subgraphs)
    return _base.symbol_class()([Entry(node, i) for i in range(node.visible())])


def _single(symbol: Any, key: str) -> Entry:
    entries = symbol._entries
    if len(entries) != 1:
        raise _base.MXNetError(f"Keyword Argument {key} is a tuple, single value is required")
    return entries[0]


def _advice(value: Any) -> str:
    """What to do with an array among symbols, which a hybridized block is likely to have."""
    if not hasattr(value, "asnumpy"):
        return ""
    return "; in a block that is hybridized, a constant is a parameter: self.params.get_constant(name, value)"


def _fixed(op: Op, hint: str, inputs: tuple, values: tuple, name: str | None, attr: Any, extra: dict[str, Any]) -> Any:
    """A call of an operator with named inputs."""
    extra.update(scope().get(attr))
    named: dict[str, Entry] = {}
    attrs: dict[str, Any] = {}
    for key, value in extra.items():
        if isinstance(value, _base.SymbolBase):
            named[key] = _single(value, key)
        else:
            attrs[key] = value
    for key, value in zip(op.inputs, inputs, strict=True):
        if value is not None:
            assert isinstance(value, _base.SymbolBase), (
                f"Argument {key} must be Symbol instances, but got {value}{_advice(value)}"
            )
            named[key] = _single(value, key)
    for key, value in zip(op.attrs, values, strict=True):
        if value is not NULL:
            attrs[key] = value
    return create(op, [], named, attrs, manager().get(name, hint))


def _variadic(op: Op, hint: str, symbols: tuple, extra: dict[str, Any]) -> Any:
    """A call of an operator with any number of inputs."""
    for value in symbols:
        assert isinstance(value, _base.SymbolBase), (
            f"Positional arguments must be Symbol instances, but got {value}{_advice(value)}"
        )
    extra.pop("out", None)
    extra.update(scope().get(extra.pop("attr", None)))
    name = manager().get(extra.pop("name", None), hint)
    named = {k: _single(v, k) for k, v in extra.items() if isinstance(v, _base.SymbolBase)}
    attrs = {k: v for k, v in extra.items() if not isinstance(v, _base.SymbolBase) and v is not NULL}
    if symbols and named:
        raise TypeError(
            "Operators with variable length input can only accept input "
            "Symbols either as positional or keyword arguments, not both"
        )
    if op.count in op.attrs and op.count not in attrs:
        attrs[op.count] = len(symbols) + len(named)
    return create(op, [_single(s, str(i)) for i, s in enumerate(symbols)], named, attrs, name)


def make(op: Op, name: str, module: str = "mxnet.symbol") -> Callable[..., Any]:
    """The function `name` that calls `op` on symbols, with the operator's signature and words."""
    if op.variadic is not None:
        body = f"_variadic(_op, {name.lower()!r}, {op.variadic}, kwargs)"
    else:
        inputs = "".join(f"{n}, " for n in op.inputs)
        values = "".join(f"{n}, " for n in op.attrs)
        body = f"_fixed(_op, {name.lower()!r}, ({inputs}), ({values}), name, attr, kwargs)"
    space = {"_op": op, "_Null": NULL, "_fixed": _fixed, "_variadic": _variadic, "__name__": module}
    exec(f"def {name}({parameters(op, TAIL)}):\n    return {body}\n", space)
    function = space[name]
    function.__doc__ = docstring(op, "sym")
    return function
