"""The history of an array for `autograd.get_symbol`: which graphs and operators computed it, from which inputs.

Results of `CachedOp` always carry it, at no cost. Recorded operators store it in the metadata of torch's graph nodes
once `record_history` was called: it costs about half a microsecond per call, paid only by users of `get_symbol`.
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
MAX_SIZE = 1 << 40  # longer than any axis: torch's open end of a slice
INLINE_LIMIT = 2  # a graph with more operators than this becomes one node of the symbol


class GraphCall:
    """One call of a graph: its symbol, and for every input its origin (see `origin`)."""

    __slots__ = ("inputs", "limit", "symbol")

    def __init__(self, symbol, arrays, limit):
        self.symbol, self.limit = symbol, limit
        try:  # most are parameters
            tensors = [a._t for a in arrays]
            self.inputs = [(weakref.ref(t), None) if t.grad_fn is None else _tensor_origin(t) for t in tensors]
        except SparseStorage:
            self.inputs = [origin(a) for a in arrays]


class OperatorCall:
    """One call of an operator: its name, attributes and the origins of its inputs."""

    __slots__ = ("attrs", "inputs", "name")

    def __init__(self, name, tensors, attrs):
        self.name, self.attrs = name, attrs
        self.inputs = [_tensor_origin(t) for t in tensors if t is not None]


def origin(array):
    """The origin of an array: (call, output index) of a recorded result, (weak reference, None) of any other."""
    return (weakref.ref(array), None) if array.stype != "default" else _tensor_origin(array._t)


def _tensor_origin(tensor):
    node = tensor.grad_fn
    if node is None:
        return weakref.ref(tensor), None
    return getattr(tensor, "call", None) or _node_origin(node, tensor.output_nr, tuple(tensor.shape), tensor.dtype)


def _node_origin(node, index, shape, dtype):
    """The origin of a value of torch's graph; views and casts by array methods are expressed as operators."""
    leaf = getattr(node, "variable", None)
    if leaf is not None:
        return weakref.ref(leaf), None
    call = node.metadata.get(("call", index))
    steps = _TORCH_NODES[node.name()](node, shape, dtype) if call is None and node.name() in _TORCH_NODES else None
    if steps is None:
        return call or (None, None)
    before = tuple(getattr(node, "_saved_self_sym_sizes", shape))
    source = _node_origin(*node.next_functions[0], before, None if node.name() == CAST else dtype)
    for name, attrs in steps:
        call = OperatorCall(name, (), attrs)
        call.inputs.append(source)
        source = call, 0
    return source


def _reshape(node, shape, dtype):
    return [("Reshape", {"shape": shape})]


def _signed(index):
    """torch shows negative indices as unsigned 64-bit integers."""
    return index - (1 << 64) if index >= FROM_END else index


def _slice(node, shape, dtype):
    end = node._saved_end
    if node._saved_step != 1:
        return None
    return [
        (
            "slice_axis",
            {
                "axis": node._saved_dim,
                "begin": _signed(node._saved_start),
                "end": None if MAX_SIZE < end < FROM_END else _signed(end),
            },
        )
    ]


def _select(node, shape, dtype):
    axis, index = node._saved_dim, _signed(node._saved_index)
    attrs = {"axis": axis, "begin": index, "end": index + 1 or None}
    return [("slice_axis", attrs), ("Reshape", {"shape": shape or (1,)})]


# Array methods that call torch directly, by the name of torch's backward node: equivalent (operator, attributes) pairs.
_TORCH_NODES = {
    **dict.fromkeys(("ViewBackward0", "UnsafeViewBackward0", "ReshapeAliasBackward0"), _reshape),
    CAST: lambda node, shape, dtype: None if dtype is None else [("Cast", {"dtype": NAME[dtype]})],
    "CloneBackward0": lambda node, shape, dtype: [],  # a copy of what would have shared memory
    "SliceBackward0": _slice,
    "SelectBackward0": _select,
}


@functools.cache
def record_history():
    """Store the history of recorded operators from now on."""
    observe.watch(_record_calls)


def _record_calls(op):
    function, name, injected = op.fn, op.name, op.injected

    @functools.wraps(function)
    def recording(*tensors, **attrs):
        result = function(*tensors, **attrs)
        results = result if result.__class__ is tuple or result.__class__ is list else (result,)
        if any(r.__class__ is torch.Tensor and r.grad_fn is not None for r in results):
            call = OperatorCall(name, tensors, {k: v for k, v in attrs.items() if k not in injected})
            for i, r in enumerate(results):
                if r.grad_fn is not None:
                    r.grad_fn.metadata["call", r.output_nr] = call, i
        return result

    return recording


def _unknown():
    return MXNetError(
        "autograd.get_symbol knows what hybridized blocks did, and operators that were recorded after get_symbol was "
        "named for the first time (import it before), but not how this array was made: indices, Functions and "
        "assignments leave no history. Hybridize the block whose graph you want, or compose it with mx.sym"
    )


class GraphRebuilder:
    """Turns a history into a graph; an array that was used twice becomes one variable."""

    def __init__(self):
        self.calls, self.variables = {}, {}

    def entry(self, origin):
        """The graph's entry for one value of the history. Without recursion: loops make histories long."""
        stack = [origin]
        while stack:
            call, index = stack[-1]
            if call is None:
                raise _unknown()
            missing = [] if index is None or id(call) in self.calls else self._missing_inputs(call)
            stack.extend(reversed(missing))
            if not missing:
                stack.pop()
                if index is not None and id(call) not in self.calls:
                    self.calls[id(call)] = self._call(call)
        return self._entry_of(origin)

    def _missing_inputs(self, call):
        """Inputs of the call that have no node yet."""
        return [o for o in call.inputs if o[0] is None or (o[1] is not None and id(o[0]) not in self.calls)]

    def _entry_of(self, origin):
        call, index = origin
        return Entry(self._variable(call)) if index is None else self.calls[id(call)][index]

    def _variable(self, reference):
        array = reference()
        if array is None:
            return variable(f"null{len(self.variables)}")
        if id(array) not in self.variables:
            marked = array.requires_grad if isinstance(array, torch.Tensor) else array._ag is not None
            kind = "var" if marked else "null"
            self.variables[id(array)] = variable(f"{kind}{len(self.variables)}")
        return self.variables[id(array)]

    def _call(self, call):
        return self._operator(call) if isinstance(call, OperatorCall) else self._graph(call)

    def _operator(self, call):
        inputs = [self._entry_of(origin) for origin in call.inputs]
        attrs = {k: dtype_text(v) if k == "dtype" else text(v) for k, v in call.attrs.items()}
        node = Node(find(call.name), f"node_{len(self.calls)}", attrs, inputs)
        node.parse()
        return [Entry(node, i) for i in range(node.outputs())]

    def _graph(self, call):
        heads = call.symbol._entries
        inner = [n for n in walk(heads) if n.op is None]
        given = {id(n): self._entry_of(origin) for n, origin in zip(inner, call.inputs, strict=True)}
        if sum(n.op is not None for n in walk(heads)) <= call.limit:
            return copy_graph(heads, lambda e: given.get(id(e.node)))
        node = Node(find(CACHED_OP), f"node_{len(self.calls)}", {}, [given[id(n)] for n in inner])
        node.subgraphs = [copy_graph(heads)]
        return [Entry(node, i) for i in range(len(heads))]
