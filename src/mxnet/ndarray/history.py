"""How an array came out of graphs: which one, applied to what. Kept for results of `CachedOp`, where it is free."""

import weakref

from .._core.errors import MXNetError
from .._graph.node import CACHED, Entry, Node, copy, variable, walk
from .._ops.registry import find

INLINE_LIMIT = 2  # a graph of more operators than this is one node of the history


class Made:
    """One call of a graph: its symbol, and for every input the call that made it or a weak reference to the array."""

    __slots__ = ("inputs", "limit", "symbol")

    def __init__(self, symbol, arrays, limit):
        self.symbol, self.limit = symbol, limit
        self.inputs = [origin(a) for a in arrays]


def origin(array):
    """(call, which of its results) of a recorded result, (reference, None) of any other array."""
    if array.stype != "default" or array._t.grad_fn is None:
        return weakref.ref(array), None
    return getattr(array._t, "made", (None, None))


def _unknown():
    return MXNetError(
        "autograd.get_symbol knows what hybridized blocks did, but not single operators: keeping their history would "
        "slow down every recorded call. Hybridize the block whose graph you want, or compose it with mx.sym"
    )


class Rebuilding:
    """Turns a history back into a graph; an array that was used twice is one variable."""

    def __init__(self):
        self.calls, self.variables = {}, {}

    def entry(self, origin):
        """The graph's entry for one value of the history."""
        made, index = origin
        if made is None:
            raise _unknown()
        if index is None:
            return Entry(self._variable(made))
        if id(made) not in self.calls:
            self.calls[id(made)] = self._call(made)
        return self.calls[id(made)][index]

    def _variable(self, reference):
        array = reference()
        if array is None:
            return variable(f"null{len(self.variables)}")
        if id(array) not in self.variables:
            kind = "null" if array._ag is None else "var"
            self.variables[id(array)] = variable(f"{kind}{len(self.variables)}")
        return self.variables[id(array)]

    def _call(self, made):
        heads = made.symbol._entries
        inner = [n for n in walk(heads) if n.op is None]
        given = {id(n): self.entry(origin) for n, origin in zip(inner, made.inputs, strict=True)}
        if sum(n.op is not None for n in walk(heads)) <= made.limit:
            return copy(heads, lambda e: given.get(id(e.node)))
        node = Node(find(CACHED), f"node_{len(self.calls)}", {}, [given[id(n)] for n in inner])
        node.subgraphs = [copy(heads)]
        return [Entry(node, i) for i in range(len(heads))]
