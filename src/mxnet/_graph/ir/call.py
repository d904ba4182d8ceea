"""An operator with its attributes, read once: what every node that makes the same call shares."""

from functools import cache, cached_property
from typing import Any

from ..._core.lru import Recent
from ..._ops.registry.registry import Attrs, Op
from .outputs import NAMES, declared

MOST_CALLS = 1 << 10  # kept; programs whose attributes never repeat have ever new ones
MOST_ANSWERS = 256  # of one call


class Call:
    """What follows from an operator and its attributes alone; the attributes are not to be changed."""

    def __init__(self, op: Op | None, parsed: Attrs) -> None:
        self.op, self.parsed = op, parsed
        self.changes = op is not None and bool(op.aux or op.mutates)  # are some inputs changed?
        self.lasting = op is None or op.name != "Custom"  # is a question always answered alike?
        self.answers: Recent[Any, Any] = Recent(MOST_ANSWERS)
        self._mutated: dict[int, tuple[int, ...]] = {}  # by the number of inputs, as what follows
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
        """How many outputs MXNet counts."""
        return declared(self.op.name, self.full, len(self.output_names)) if self.op is not None else 1

    def arity(self, given: int) -> tuple[int, int]:
        """The least and the largest number of inputs; `given` counts those of a variadic operator."""
        found = self._arity.get(given)
        if found is None:
            assert self.op is not None
            wanted = self.op.input_names(self.parsed, given)
            found = self._arity[given] = len([n for n in wanted if n not in self.op.optional]), len(wanted)
        return found

    def mutated(self, count: int) -> tuple[int, ...]:
        """Positions, among `count` inputs, of those that the operator changes."""
        found = self._mutated.get(count)
        if found is None:
            found = self._mutated[count] = self._changed(count)
        return found

    def _changed(self, count: int) -> tuple[int, ...]:
        op = self.op
        if op is None or not self.changes:
            return ()
        changed = {*op.aux_names(self.parsed), *op.mutates}
        names = op.input_names(self.parsed, count)[:count]  # mom_0, mom_1, … if they are updates of many weights
        return tuple(i for i, n in enumerate(names) if n in changed or op.variadic and n.rpartition("_")[0] in changed)

    def keep(self, question: Any, answer: Any) -> None:
        """Keep what was found out about the call; when it gets too much, what was not asked of late is dropped."""
        self.answers.keep(question, answer)


VARIABLE = Call(None, {})
_CALLS: Recent[tuple[Op, tuple[tuple[str, str], ...]], Call] = Recent(MOST_CALLS)


def call_of(op: Op, attrs: dict[str, str]) -> Call:
    """The call of `op` with attributes as text; operators that have none accept any text."""
    key = (op, tuple(attrs.items()))
    found = _CALLS.get(key) or _CALLS.again(key)
    if found is None:
        found = _CALLS.keep(key, Call(op, op.parse(attrs) if op.attrs else {}))
    return found


@cache
def bare(op: Op) -> Call:
    """The call of `op` as long as its attributes have not been read."""
    return Call(op, {})
