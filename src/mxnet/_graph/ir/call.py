"""Calls: an operator with its parsed attributes, shared by all nodes that have the same operator and attributes."""

from functools import cache, cached_property
from typing import Any

from ..._core.lru import Recent
from ..._ops.registry.registry import Attrs, Op
from .outputs import NAMES, declared

MAX_CALLS = 1 << 10  # bounds the cache of programs whose attributes never repeat
MAX_INFERRED = 256  # inference results of one call


class Call:
    """What follows from an operator and its attributes alone. The attributes are shared and must not be changed."""

    def __init__(self, op: Op | None, parsed: Attrs) -> None:
        self.op, self.parsed = op, parsed
        self.mutates_inputs = op is not None and bool(op.aux or op.mutates)
        self.cacheable = op is None or op.name != "Custom"  # a user's class may infer differently each time
        self.inferred: Recent[Any, Any] = Recent(MAX_INFERRED)  # results of shape and dtype inference
        self._mutated: dict[int, tuple[int, ...]] = {}  # by the number of inputs, like `_arity`
        self._arity: dict[int, tuple[int, int]] = {}

    @cached_property
    def full(self) -> Attrs:
        """The attributes with the defaults filled in."""
        assert self.op is not None
        return self.op.full(self.parsed)

    @cached_property
    def output_names(self) -> tuple[str, ...]:
        if self.op is None:
            return ("",)
        names = self.op.output_names(self.parsed)
        return (NAMES[self.op.name],) if len(names) == 1 and self.op.name in NAMES else names

    @cached_property
    def visible(self) -> int:
        """How many of the outputs a caller sees."""
        return 1 if self.op is None else self.op.visible_outputs(self.parsed)

    @cached_property
    def declared(self) -> int:
        """How many outputs MXNet counts, including the work space of its kernels."""
        return declared(self.op.name, self.full, len(self.output_names)) if self.op is not None else 1

    def arity(self, given: int) -> tuple[int, int]:
        """The smallest and the largest number of inputs; `given` is the number for a variadic operator."""
        found = self._arity.get(given)
        if found is None:
            assert self.op is not None
            names = self.op.input_names(self.parsed, given)
            found = self._arity[given] = len([n for n in names if n not in self.op.optional]), len(names)
        return found

    def mutated(self, count: int) -> tuple[int, ...]:
        """Positions, among `count` inputs, of those that the operator writes."""
        found = self._mutated.get(count)
        if found is None:
            found = self._mutated[count] = self._find_mutated(count)
        return found

    def _find_mutated(self, count: int) -> tuple[int, ...]:
        op = self.op
        if op is None or not self.mutates_inputs:
            return ()
        written = {*op.aux_names(self.parsed), *op.mutates}
        names = op.input_names(self.parsed, count)[:count]  # mom_0, mom_1, … in multi-tensor updates
        return tuple(i for i, n in enumerate(names) if n in written or op.variadic and n.rpartition("_")[0] in written)

    def cache_inference(self, key: Any, result: Any) -> None:
        """Cache a result of inference; results that were not used recently are dropped when there are too many."""
        self.inferred.keep(key, result)


VARIABLE = Call(None, {})
_CALLS: Recent[tuple[Op, tuple[tuple[str, str], ...]], Call] = Recent(MAX_CALLS)


def cached_call(op: Op, attrs: dict[str, str]) -> Call:
    """The call of `op` with attributes as strings; an operator without attributes ignores them."""
    key = (op, tuple(attrs.items()))
    found = _CALLS.get(key) or _CALLS.again(key)
    if found is None:
        found = _CALLS.keep(key, Call(op, op.parse(attrs) if op.attrs else {}))
    return found


@cache
def unparsed_call(op: Op) -> Call:
    """The call of a node of `op` whose attributes have not been parsed yet."""
    return Call(op, {})
