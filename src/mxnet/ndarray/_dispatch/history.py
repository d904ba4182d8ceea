"""How an array came out of graphs and operators: which ones, applied to what.

Results of `CachedOp` carry it, where it is free. Recorded operators leave it on the nodes of torch's graph, once
`keep` was called: it costs about half a microsecond a call, which only those pay who ask for `autograd.get_symbol`.
"""

import functools
import weakref

import torch

from ..._core.attrs import text
from ..._core.errors import MXNetError
from ..._graph.ir.attributes import dtype_text
from ..._graph.ir.node import CACHED_OP, Entry, Node, copy_graph, variable, walk
from ..._ops.registry import observe
from ..._ops.registry.registry import find
from ..._ops.registry.torch_dtypes import NAME
from .invoke import SparseStorage

CAST = "ToCopyBackward0"
FROM_END = 1 << 63
MOST = 1 << 40  # no axis is as long
INLINE_LIMIT = 2  # a graph of more operators than this is one node of the history


class Made:
    """One call of a graph: its symbol, and for every input the call that made it or a weak reference to the array."""

    __slots__ = ("inputs", "limit", "symbol")

    def __init__(self, symbol, arrays, limit):
        self.symbol, self.limit = symbol, limit
        try:  # most are parameters
            tensors = [a._t for a in arrays]
            self.inputs = [(weakref.ref(t), None) if t.grad_fn is None else _tensor_origin(t) for t in tensors]
        except SparseStorage:
            self.inputs = [origin(a) for a in arrays]


class Noted:
    """One call of an operator, with what it was applied to."""

    __slots__ = ("attrs", "inputs", "name")

    def __init__(self, name, tensors, attrs):
        self.name, self.attrs = name, attrs
        self.inputs = [_tensor_origin(t) for t in tensors if t is not None]


def origin(array):
    """(call, which of its results) of a recorded result, (reference, None) of any other array."""
    return (weakref.ref(array), None) if array.stype != "default" else _tensor_origin(array._t)


def _tensor_origin(tensor):
    node = tensor.grad_fn
    if node is None:
        return weakref.ref(tensor), None
    return getattr(tensor, "made", None) or _node_origin(node, tensor.output_nr, tuple(tensor.shape), tensor.dtype)


def _node_origin(node, index, shape, dtype):
    """The origin of a value of torch's graph; what arrays' own methods made of others is said by operators."""
    leaf = getattr(node, "variable", None)
    if leaf is not None:
        return weakref.ref(leaf), None
    made = node.metadata.get(("made", index))
    steps = _TOLD[node.name()](node, shape, dtype) if made is None and node.name() in _TOLD else None
    if steps is None:
        return made or (None, None)
    before = tuple(getattr(node, "_saved_self_sym_sizes", shape))
    source = _node_origin(*node.next_functions[0], before, None if node.name() == CAST else dtype)
    for name, attrs in steps:
        made = Noted(name, (), attrs)
        made.inputs.append(source)
        source = made, 0
    return source


def _reshape(node, shape, dtype):
    return [("Reshape", {"shape": shape})]


def _signed(place):
    """torch shows places from the end as if they had no sign."""
    return place - (1 << 64) if place >= FROM_END else place


def _part(node, shape, dtype):
    end = node._saved_end
    if node._saved_step != 1:
        return None
    return [
        (
            "slice_axis",
            {
                "axis": node._saved_dim,
                "begin": _signed(node._saved_start),
                "end": None if MOST < end < FROM_END else _signed(end),
            },
        )
    ]


def _element(node, shape, dtype):
    axis, place = node._saved_dim, _signed(node._saved_index)
    attrs = {"axis": axis, "begin": place, "end": place + 1 or None}
    return [("slice_axis", attrs), ("Reshape", {"shape": shape or (1,)})]


# Methods that are no operators here, by the names torch gives what they record: (operator, attributes) for each.
_TOLD = {
    **dict.fromkeys(("ViewBackward0", "UnsafeViewBackward0", "ReshapeAliasBackward0"), _reshape),
    CAST: lambda node, shape, dtype: None if dtype is None else [("Cast", {"dtype": NAME[dtype]})],
    "CloneBackward0": lambda node, shape, dtype: [],  # a copy of what would have shared memory
    "SliceBackward0": _part,
    "SelectBackward0": _element,
}


@functools.cache
def keep():
    """Have recorded operators leave their history from now on."""
    observe.watch(_noting)


def _noting(op):
    function, name, injected = op.fn, op.name, op.injected

    @functools.wraps(function)
    def noting(*tensors, **attrs):
        result = function(*tensors, **attrs)
        results = result if result.__class__ is tuple or result.__class__ is list else (result,)
        if any(r.__class__ is torch.Tensor and r.grad_fn is not None for r in results):
            made = Noted(name, tensors, {k: v for k, v in attrs.items() if k not in injected})
            for i, r in enumerate(results):
                if r.grad_fn is not None:
                    r.grad_fn.metadata["made", r.output_nr] = made, i
        return result

    return noting


def _unknown():
    return MXNetError(
        "autograd.get_symbol knows what hybridized blocks did, and operators that were recorded after get_symbol was "
        "named for the first time (import it before), but not how this array was made: indices, Functions and "
        "assignments leave no history. Hybridize the block whose graph you want, or compose it with mx.sym"
    )


class Rebuilding:
    """Turns a history back into a graph; an array that was used twice is one variable."""

    def __init__(self):
        self.calls, self.variables = {}, {}

    def entry(self, origin):
        """The graph's entry for one value of the history; without recursion, as loops make histories long."""
        stack = [origin]
        while stack:
            made, index = stack[-1]
            if made is None:
                raise _unknown()
            waiting = [] if index is None or id(made) in self.calls else self._waiting(made)
            stack.extend(reversed(waiting))
            if not waiting:
                stack.pop()
                if index is not None and id(made) not in self.calls:
                    self.calls[id(made)] = self._call(made)
        return self._known(origin)

    def _waiting(self, made):
        """Calls that must be there before this one."""
        return [o for o in made.inputs if o[0] is None or (o[1] is not None and id(o[0]) not in self.calls)]

    def _known(self, origin):
        made, index = origin
        return Entry(self._variable(made)) if index is None else self.calls[id(made)][index]

    def _variable(self, reference):
        array = reference()
        if array is None:
            return variable(f"null{len(self.variables)}")
        if id(array) not in self.variables:
            marked = array.requires_grad if isinstance(array, torch.Tensor) else array._ag is not None
            kind = "var" if marked else "null"
            self.variables[id(array)] = variable(f"{kind}{len(self.variables)}")
        return self.variables[id(array)]

    def _call(self, made):
        return self._operator(made) if isinstance(made, Noted) else self._graph(made)

    def _operator(self, made):
        inputs = [self._known(origin) for origin in made.inputs]
        attrs = {k: dtype_text(v) if k == "dtype" else text(v) for k, v in made.attrs.items()}
        node = Node(find(made.name), f"node_{len(self.calls)}", attrs, inputs)
        node.parse()
        return [Entry(node, i) for i in range(node.outputs())]

    def _graph(self, made):
        heads = made.symbol._entries
        inner = [n for n in walk(heads) if n.op is None]
        given = {id(n): self._known(origin) for n, origin in zip(inner, made.inputs, strict=True)}
        if sum(n.op is not None for n in walk(heads)) <= made.limit:
            return copy_graph(heads, lambda e: given.get(id(e.node)))
        node = Node(find(CACHED_OP), f"node_{len(self.calls)}", {}, [given[id(n)] for n in inner])
        node.subgraphs = [copy_graph(heads)]
        return [Entry(node, i) for i in range(len(heads))]
