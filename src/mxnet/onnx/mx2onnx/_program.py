"""A symbol with its parameters as a torch module for evaluation, ready for torch's exporters."""

from copy import copy as copy_object

import torch

from ..._core.dtypes import dtype_name
from ..._graph.infer.dynamic import lower_dynamic
from ..._graph.infer.fixpoint import shape_facts, type_facts
from ..._graph.ir.node import copy_graph, walk
from ..._graph.lower.lower import has_inferred_sizes, lower
from ..._ops.registry.torch_dtypes import TORCH
from ...base import MXNetError
from ...context import cpu
from ...contrib._torch_module import Tree, as_methods
from ._detection import TRACEABLE

NO_BOUNDS = {"lstm_state_clip_min": -3e38, "lstm_state_clip_max": 3e38}
LOSS_LABELS = ("label", "softmax_label")


class Plan:
    """What is exported: the graph for evaluation, its data inputs with example shapes and types, its parameters."""

    def __init__(self, sym, params, shapes, types, inputs=None):
        self.heads, self.params = frozen(sym._entries, params)
        self.nodes = walk(self.heads)
        names = [n.name for n in self.nodes if n.op is None]
        labels = label_names(self.nodes)
        data = [n for n in names if n not in self.params]
        self.inputs = inputs or (data if len(data) == len(shapes) else [n for n in data if n not in labels])
        self._check(shapes, types)
        self.shapes = dict(zip(self.inputs, shapes, strict=True))
        self.types = dict(zip(self.inputs, map(dtype_name, types), strict=True))
        facts = shape_facts(self.heads, self.known())  # where shapes do not fit, this names the node
        self._add_labels([n for n in data if n not in self.inputs], facts)

    def _check(self, shapes, types):
        if len(types) != len(shapes):
            raise MXNetError(f"The lengths of in_types and in_shapes must equal, got {len(types)} and {len(shapes)}")
        if len(self.inputs) != len(shapes):
            raise MXNetError(
                f"The symbol has {len(self.inputs)} inputs without a parameter ({', '.join(self.inputs)}), but "
                f"in_shapes gives {len(shapes)} shapes: give the missing parameters, or a shape for each input"
            )

    def _add_labels(self, labels, facts):
        """Labels play no part in evaluation; zeros stand for them."""
        if labels:
            types = type_facts(self.heads, self.types)
            for node in (n for n in self.nodes if n.op is None and n.name in labels):
                shape = facts.first(node)
                if not shape or 0 in shape:
                    raise MXNetError(f"the shape of {node.name} cannot be inferred; give it in in_shapes")
                dtype = TORCH[types.first(node) or "float32"]
                self.params[node.name] = torch.zeros(shape, dtype=dtype)

    def known(self):
        """The shapes of all variables."""
        used = {n.name for n in self.nodes if n.op is None}
        return {**{k: tuple(v.shape) for k, v in self.params.items() if k in used}, **self.shapes}

    def module(self):
        """The torch module; its arguments are the inputs in order."""
        if has_inferred_sizes(self.nodes):
            lowered = lower_dynamic(self.heads, False, lambda node: cpu(), self.known(), self.inputs)
        else:
            lowered = lower(self.heads, False, cpu())
        used = [v.name for v in lowered.variables if v.name not in self.inputs]
        self.lowered = lowered
        self.root = SymbolModule(lowered, self.inputs, {name: self.params[name] for name in used})
        return self.root

    def examples(self):
        """Tensors to trace with: ones, which are good indices as well as good numbers."""
        return tuple(torch.ones(self.shapes[n], dtype=TORCH[self.types[n]]) for n in self.inputs)


class SymbolModule(Tree):
    """The lowered graph with its parameters as buffers."""

    def __init__(self, lowered, inputs, params):
        super().__init__()
        for name, tensor in params.items():
            self.place(name, tensor, state=True)
        self.code, self.streams = as_methods(lowered, inputs, {name: name for name in params}, self)

    def forward(self, *inputs):
        """What the graph gives; an output that is an input gets a name of its own by being a copy."""
        outputs = self.code(self, *inputs, *self.streams)
        return tuple(x.clone() if any(x is given for given in inputs) else x for x in outputs)


def label_names(nodes):
    """Variables that only loss operators read, as their labels."""
    return {
        entry.node.name
        for node in nodes
        if node.op is not None
        for name, entry in zip(node.input_names(), node.inputs, strict=False)
        if name in LOSS_LABELS and entry.node.op is None
    }


def frozen(heads, params):
    """A copy of graph and parameters without what only training needs or torch's exporter gets wrong."""
    heads, params = copy_graph(heads), dict(params)
    for node in walk(heads):
        attrs = node.op.full(node.parsed) if node.op is not None else {}
        if node.op is not None and node.op.name in TRACEABLE:
            node.op, node.parsed = _with_function(node.op, TRACEABLE[node.op.name]), attrs
        if attrs.get("fix_gamma"):  # it is simply a gamma of ones
            node.parsed = {**node.parsed, "fix_gamma": False}
            gamma = node.inputs[1].node.name
            if gamma in params:
                params[gamma] = torch.ones_like(params[gamma])
        if attrs.get("projection_size"):  # ONNX's LSTM has none; bounds make the operator go step by step
            node.parsed = {**node.parsed, **{k: v for k, v in NO_BOUNDS.items() if attrs[k] is None}}
    return heads, params


def _with_function(op, function):
    """The operator with another function behind it."""
    other = copy_object(op)
    other.fn = function
    return other
