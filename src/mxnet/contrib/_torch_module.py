"""`to_module`: a Gluon block as a `torch.nn.Module` over the same memory."""

import inspect

import torch

from .. import autograd
from .._core.modes import MODES
from .._core.streams import stream
from .._core.writes import lend
from .._graph.infer.dynamic import lower_dynamic
from .._graph.ir.node import mutated_variables, walk
from .._graph.lower.lower import Lowered, has_inferred_sizes, lower
from ..base import MXNetError
from ..context import current_context
from ..gluon import Block, HybridBlock
from ..gluon._inputs import variables_for
from ..gluon._nesting import _flatten, _regroup
from ..gluon._parameter import DeferredInitializationError
from ..ndarray import NDArray, from_torch, zeros
from ..ndarray.ndarray import wrap
from ..symbol import Group, Symbol, load_json


def to_module(block, *inputs):
    """A torch module that computes what `block` computes and shares its parameters' memory.

    Its `state_dict` has the names of `save_parameters`; `train()` and `eval()` choose the mode. Running statistics
    move when the gradient is computed, as they do in MXNet. Example `inputs`
    (arrays or tensors) are needed when parameters still wait for their shapes, when the block takes more than one
    input, or when it makes arrays whose size follows the input, such as the first states of a recurrent layer.

    Parameters
    ----------
    block : Block
        The network.
    *inputs : NDArray or torch.Tensor
        Example inputs.

    Returns
    -------
    torch.nn.Module

    Examples
    --------
    >>> import torch
    >>> from mxnet.contrib.torch import to_module
    >>> net = mx.gluon.nn.Dense(2, in_units=3)
    >>> net.initialize()
    >>> to_module(net)(torch.ones(1, 3)).shape
    torch.Size([1, 2])
    """
    if not isinstance(block, Block):
        raise TypeError(f"to_module takes a Gluon block, got {type(block)}")
    arrays = [_as_arrays(x) for x in inputs]
    parameters = _ready(block, arrays)
    if not isinstance(block, HybridBlock) or not block._fits_graphs():
        return EagerModule(block, parameters)
    return GraphModule(Trace(block, arrays), parameters)


def _as_arrays(value):
    if isinstance(value, torch.Tensor):
        return from_torch(value)
    return type(value)(map(_as_arrays, value)) if isinstance(value, (list, tuple)) else value


def _ready(block, arrays):
    """The block's parameters by their place in the tree, all initialized."""
    parameters = block._collect_params_with_prefix()
    try:
        for parameter in parameters.values():
            parameter.list_data()
    except DeferredInitializationError as error:
        if not arrays:
            raise MXNetError(f"{error} Or give to_module example inputs: to_module(net, x).") from error
        with autograd.pause():
            block(*arrays)
    return parameters


class Trace:
    """A hybrid block as a graph: its variables, its heads, and how inputs and outputs are nested."""

    def __init__(self, block, arrays):
        if not arrays and block._cached_graph:
            variables, out = block._cached_graph
            self.in_format, self.out_format = block._in_format, block._out_format
        else:
            arrays = arrays or [self._stand_in(block)]
            flat, self.in_format = _flatten(arrays, "input")
            variables = variables_for(flat, arrays)
            outputs, self.out_format = _flatten(block(*_regroup(variables, self.in_format)), "output")
            variables, out = [v for v in variables if v is not None], Group(outputs)
        self.heads = out._entries
        self.sizes = {p.name: p.shape for p in block.collect_params().values()}
        self.inputs = [v.name for v in variables]
        self.shapes = {n: a.shape for n, a in zip(self.inputs, _flatten(arrays, "input")[0], strict=False)}

    def __getstate__(self):
        """A graph travels as the text that files have."""
        return {**self.__dict__, "heads": Symbol(self.heads).tojson(remove_amp_cast=False)}

    def __setstate__(self, state):
        self.__dict__.update(state, heads=load_json(state["heads"])._entries)

    @staticmethod
    def _stand_in(block):
        """One array for a block of one input: only the number of inputs matters for the graph."""
        wanted = list(inspect.signature(block.hybrid_forward).parameters.values())[2:]
        named = {p for p in wanted if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD}
        if any(p.name not in block._reg_params for p in named):
            raise MXNetError(f"{type(block).__name__} takes several inputs: give examples, to_module(net, x, y)")
        return zeros((1,))

    def lowered(self, train, ctx) -> Lowered:
        nodes = walk(self.heads)
        if not has_inferred_sizes(nodes):
            return lower(self.heads, train, ctx)
        if not self.shapes:
            raise MXNetError("the graph makes arrays whose size follows its inputs: give examples, to_module(net, x)")
        shapes = {n.name: self.sizes[n.name] for n in nodes if n.op is None and n.name in self.sizes}
        return lower_dynamic(self.heads, train, lambda node: ctx, {**shapes, **self.shapes}, self.inputs)


class Tree(torch.nn.Module):
    """Holds parameters under dotted names, as nested modules do."""

    def place(self, path, tensor, state):
        *owners, name = path.split(".")
        module = self
        for owner in owners:
            if owner not in module._modules:
                module.add_module(owner, torch.nn.Module())
            module = module._modules[owner]
        if state:
            module.register_buffer(name, tensor)
        else:
            module.register_parameter(name, tensor)

    def adopt(self, parameters, states):
        """Register Gluon parameters; one that has two places in the tree is one tensor here, too."""
        made = {}
        for path, parameter in parameters.items():
            state, trained = parameter.name in states, parameter.grad_req != "null"
            if parameter not in made:
                memory = parameter.list_data()[0]._t.data
                lend(memory)
                made[parameter] = memory if state else torch.nn.Parameter(memory, requires_grad=trained)
            self.place(path, made[parameter], state)


class GraphModule(Tree):
    """The traced graph of a hybrid block as torch code, once for training and once for evaluation."""

    def __init__(self, trace, parameters):
        super().__init__()
        nodes = walk(trace.heads)
        changed = mutated_variables(nodes)
        self.adopt(parameters, {n.name for n in nodes if id(n) in changed})
        self.trace = trace
        self.context = next((p.list_ctx()[0] for p in parameters.values()), None) or current_context()
        self.paths = {parameter.name: path for path, parameter in parameters.items()}
        self._write_code()

    def _write_code(self):
        codes = [
            as_methods(self.trace.lowered(train, self.context), self.trace.inputs, self.paths, self)
            for train in (True, False)
        ]
        (self.training_code, self.training_streams), (self.evaluation_code, self.evaluation_streams) = codes

    def __getstate__(self):
        """Copies and files take the graph; its code is written anew."""
        made = ("training_code", "training_streams", "evaluation_code", "evaluation_streams")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def __setstate__(self, state):
        super().__setstate__(state)
        self._write_code()

    def forward(self, *inputs):
        flat = _flat(inputs)
        if self.training:
            results = self.training_code(self, *flat, *self.training_streams)
        else:
            results = self.evaluation_code(self, *flat, *self.evaluation_streams)
        return _regroup(list(results), self.trace.out_format)


def _flat(values):
    """The tensors in nested inputs, in order."""
    if isinstance(values, NDArray):
        raise TypeError("a torch module takes tensors, not NDArrays: give it x.as_torch(), which shares x's memory")
    if isinstance(values, (list, tuple)):
        return [tensor for value in values for tensor in _flat(value)]
    return [] if values is None else [values]


def as_methods(lowered, inputs, paths, root):
    """Lowered code whose parameters are attributes of `root`, as a function of (root, inputs, streams)."""
    graph = lowered.module.graph
    placeholders = [n for n in graph.nodes if n.op == "placeholder"]
    given = {}
    for node, variable in zip(placeholders, lowered.variables, strict=False):
        if variable.name in inputs:
            given[variable.name] = node
            continue
        with graph.inserting_after(placeholders[-1]):
            attribute = graph.create_node("get_attr", paths[variable.name])
        node.replace_all_uses_with(attribute)
        graph.erase_node(node)
    _in_order(graph, given, inputs)
    code = torch.fx.GraphModule(root, graph, "Graph")
    return type(code).forward, [stream(c.device_typeid, c.device_id) for c in lowered.streams]


def _in_order(graph, given, inputs):
    """Inputs come as the block takes them, those it does not use included."""
    first = next(iter(graph.nodes))
    for name in inputs:
        if name not in given:
            with graph.inserting_before(first):
                given[name] = graph.placeholder(name)
        if given[name] is not first:
            first.prepend(given[name])
        else:
            first = first.next


class EagerModule(Tree):
    """A block that cannot be traced: its own Python runs, on this module's parameters."""

    def __init__(self, block, parameters):
        super().__init__()
        self.adopt(parameters, {p.name for p in parameters.values() if not p._differentiable})
        self.block = [block]  # in a list, so that torch does not look for parameters in it
        self.paths = {parameter.name: path for path, parameter in parameters.items()}

    def forward(self, *inputs):
        arrays, parameters = [], self.block[0].collect_params().values()
        tensors = dict(self.named_parameters(remove_duplicate=False)) | dict(self.named_buffers())
        kept = [(p, p._data) for p in parameters]
        recording = torch.is_grad_enabled()
        scope = autograd.record(self.training) if recording else autograd.pause(self.training)
        with scope:
            try:
                for p, data in kept:
                    tensor = tensors[self.paths[p.name]]
                    lend(tensor)
                    p._data = [wrap(tensor, data[0].context, MODES.epoch if tensor.requires_grad else None)]
                arrays = [_as_arrays(x) for x in inputs]
                return _as_tensors(self.block[0](*arrays))
            finally:
                for p, data in kept:
                    p._data = data


def _as_tensors(value):
    if isinstance(value, NDArray):
        return value.as_torch()
    return type(value)(map(_as_tensors, value)) if isinstance(value, (list, tuple)) else value
