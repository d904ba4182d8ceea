"""Nodes fused by MXNet's oneDNN backend: the operators in them, and their shapes, dtypes and functions."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..._core.errors import MXNetError
from ..._ops.nn.onednn_subgraph import Parts, result_type
from ..._ops.registry.gradient import without_gradient
from ..._ops.registry.integer_gradient import plain
from ..inference.parameter_watch import CopySnapshot, same_bytes, usable
from .node import ONEDNN_FUSED, Node, walk

# Post-ops that may be fused after the layer, with the number of inputs that each adds.
POST_OPS = {"BatchNorm": 4, "elemwise_add": 1, "Activation": 0, "LeakyReLU": 0, "clip": 0}
POST_OPS |= dict.fromkeys(("abs", "exp", "sqrt", "square"), 0)
# Attention has no post-ops: the dtypes of its 8-bit inputs, each of which has a minimum and a maximum.
ATTENTION = {"_sg_mkldnn_selfatt_qk": ("int8",), "_sg_mkldnn_selfatt_valatt": ("int8", "uint8")}


def quantized(node: Node) -> bool:
    """Does the node compute in 8 bits?"""
    return bool(node.op is not None and node.op.name in ONEDNN_FUSED and node.parsed.get("quantized"))


def inner_inputs(node: Node) -> int:
    """How many of the node's inputs are those of its graph; the others are minima and maxima of ranges."""
    return sum(n.op is None for n in walk(node.subgraphs[0])) if node.subgraphs else 0


def operators(node: Node) -> tuple[tuple[str, dict[str, Any]], ...]:
    """The operators of the node's graph with their attributes, in order: each takes the result of the one before."""
    assert node.op is not None
    inner = [n for n in walk(node.subgraphs[0]) if n.op is not None]
    names = [n.op.name for n in inner if n.op is not None]
    chained = all(n.inputs[0].node is before for before, n in zip(inner, inner[1:], strict=False))
    following = () if node.op.name in ATTENTION else POST_OPS.keys()
    if not names or names[0] != ONEDNN_FUSED[node.op.name] or not {*names[1:]} <= {*following} or not chained:
        raise MXNetError(f"node {node.name}: {node.op.name} cannot be made of {', '.join(names) or 'nothing'}")
    return tuple((n.op.name, n.op.full(n.parsed)) for n in inner if n.op is not None)


def check(node: Node) -> None:
    """A node read from a file must have as many inputs as its operators take."""
    assert node.op is not None
    if len(node.subgraphs) != 1:
        raise MXNetError(f"node {node.name} needs 1 subgraph, it has {len(node.subgraphs)}")
    layers, count = operators(node), inner_inputs(node)
    layer_inputs = len(ATTENTION.get(node.op.name, ())) or (2 if layers[0][1]["no_bias"] else 3)
    wanted = layer_inputs + sum(POST_OPS[name] for name, _ in layers[1:])
    ranges = _range_inputs(node, layers, layer_inputs) if quantized(node) else 0
    if count != wanted or len(node.inputs) != count + ranges:
        given = f"{len(node.inputs)} inputs and its subgraph {count}"
        raise MXNetError(f"node {node.name} has {given}, it takes {wanted + ranges} and {wanted}")


def _range_inputs(node: Node, layers: Sequence[tuple[str, Any]], layer_inputs: int) -> int:
    """How many minima and maxima a quantized node has as inputs."""
    assert node.op is not None
    if node.op.name in ATTENTION:
        return 2 * layer_inputs
    if node.op.name == "_sg_mkldnn_conv":
        return 4 if any(name == "elemwise_add" for name, _ in layers) else 2
    return 2 if node.parsed.get("channel_wise_quantize") else 2 * layer_inputs


class _ParameterCache:
    """Caches what is computed from parameters until they change."""

    def __init__(self) -> None:
        self._state: Any = None  # (key, unchanged, value): one tuple, so that threads never see a mixture

    def __call__(self, key: Any, parameters: Sequence[torch.Tensor], make: Callable[[], Any]) -> Any:
        state = self._state
        if state is None or state[0] != key or not state[1](parameters):
            state = self._state = key, _change_detector(parameters), make()
        return state[2]


def _change_detector(parameters: Sequence[torch.Tensor]) -> Callable[[Sequence[torch.Tensor]], bool]:
    """A function that tells whether tensors still hold the values that these hold now."""
    if all(map(usable, parameters)):
        snapshot = CopySnapshot(parameters)
        return lambda tensors: snapshot.compare(tensors)()
    copies = [t.clone() for t in parameters]
    return lambda tensors: all(map(same_bytes, tensors, copies))


def quantized_function(node: Node) -> Callable[..., Any]:
    """The function of a quantized node."""
    assert node.op is not None
    function, parts = node.op.fn, (Parts(operators(node), _ParameterCache()),)

    return fused_function(lambda tensors, attrs: function(*tensors, **attrs, _graphs=parts))


def fused_function(run: Callable[[Sequence[torch.Tensor], dict[str, Any]], Any]) -> Callable[..., Any]:
    """The function that lowered code calls for a fused layer; its gradient is zero."""

    def fused_layer(*tensors: Any, **attrs: Any) -> Any:
        tensors = tuple(t if t.is_floating_point() else plain(t).detach() for t in tensors)
        return without_gradient(lambda *given: run(given, attrs), *tensors)

    return fused_layer


def shapes(node: Node, inner: list[Any], outer: list[Any]) -> tuple[list[Any], list[Any]]:
    """Shapes of a quantized node's inputs and outputs from those of its graph; ranges have one element."""
    return inner + [(1,)] * (len(node.inputs) - len(inner)), outer + [(1,)] * (node.outputs() - len(outer))


def types(node: Node, ins: list[str | None]) -> tuple[list[Any], list[Any]]:
    """Dtypes of a quantized node's inputs and outputs."""
    assert node.op is not None
    full, layers = node.op.full(node.parsed), operators(node)
    results = [result_type(node.op.name, full, layers), "float32", "float32"][: node.outputs()]
    if node.op.name in ATTENTION:
        integers = ATTENTION[node.op.name]
        return [*integers, *["float32"] * (2 * len(integers))], results
    float_parameters = node.op.name == "_sg_mkldnn_conv" or full["channel_wise_quantize"]
    inner = inner_inputs(node)
    kinds: list[Any] = ["float32" if float_parameters else "int8"] * inner + ["float32"] * (len(ins) - inner)
    kinds[0] = ins[0]
    if any(name == "elemwise_add" for name, _ in layers):
        kinds[inner - 1] = ins[inner - 1]
    return kinds, results
