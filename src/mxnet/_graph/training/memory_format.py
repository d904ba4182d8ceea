"""Training graph rewriting: convolutions in channels-last memory format, sums and `relu` in place.

Values and gradients equal those of the plain graph up to rounding; the graph's results are NCHW in memory.
"""

from typing import Any

import torch
from torch import fx

from ..._kernels import tuning
from ..._ops.nn.pooling import max_pooling_recompute
from ..._ops.registry.registry import find
from ..lower.codegen import Code
from ..lower.fx_calls import argument, calls, pick, selected_output
from .convolution import channels_last_convolution, compilable_convolution
from .recompute import add_in_place, norm_sum_relu, recompute_activations, relu_in_place

CONVOLUTION, NORM, SUM = (find(n).fn for n in ("Convolution", "BatchNorm", "elemwise_add"))
ACTIVATION, RELU = find("Activation").fn, find("relu").fn
# Operators that work in, and keep, the channels-last memory format; every other one is given NCHW.
KEEP_ORDER = frozenset(
    find(n).fn
    for n in (
        "Convolution BatchNorm Activation LeakyReLU clip relu sigmoid Pooling elemwise_add elemwise_mul broadcast_add "
        "broadcast_mul _plus_scalar _mul_scalar Concat Dropout"
    ).split()
)
IN_ORDER = frozenset([channels_last_convolution, add_in_place, relu_in_place, norm_sum_relu, max_pooling_recompute])


def plain(value: Any) -> Any:
    """A tensor in contiguous (NCHW) memory format, for operators that may rely on it."""
    return value.contiguous() if isinstance(value, torch.Tensor) else value


def restore_order(graph: fx.Graph, keep: frozenset[Any]) -> None:
    """Results, and operators that are not in `keep`, get values in contiguous (NCHW) memory format."""
    for node in list(graph.nodes):
        if node.op == "placeholder" or node.target in keep or node.target in (pick, plain):
            continue
        for value in list(node.all_input_nodes):
            if value.op == "call_function":
                with graph.inserting_before(node):
                    node.replace_input_with(value, graph.call_function(plain, (value,)))


def _overwritable(value: Any, user: fx.Node) -> bool:
    """May `user` write into the value: is it the only reader, and does the value's gradient not need it?"""
    if not isinstance(value, fx.Node) or list(value.users) != [user]:
        return False
    selected = selected_output(value)
    if selected is not None:
        norm, index = selected
        return calls(norm, NORM) and index == 0 and argument(norm, "axis") == 1
    return calls(value, channels_last_convolution, SUM, add_in_place)


def _work_in_place(graph: fx.Graph) -> None:
    for node in graph.nodes:
        if calls(node, SUM) and len(set(node.all_input_nodes)) == 2:
            mine = next((v for v in node.all_input_nodes if _overwritable(v, node)), None)
            if mine is not None:
                other = next(v for v in node.all_input_nodes if v is not mine)
                node.target, node.args, node.kwargs = add_in_place, (mine, other), {}
        elif _is_relu(node) and _overwritable(argument(node, "data"), node):
            node.target, node.kwargs = relu_in_place, {}


def _is_relu(node: fx.Node) -> bool:
    return calls(node, RELU) or (calls(node, ACTIVATION) and node.kwargs["act_type"] == "relu")


def ordered(module: Code) -> Code | None:
    """The training graph in channels-last format; None where it has too few convolutions that gain by it."""
    graph = _with_convolutions(module, channels_last_convolution)
    if graph is None:
        return None
    _work_in_place(graph)
    recompute_activations(graph)
    restore_order(graph, KEEP_ORDER | IN_ORDER)
    return Code(graph, "Training")


def compilable(module: Code) -> Code:
    """The inference graph for compilers: convolutions in channels-last format."""
    graph = _with_convolutions(module, compilable_convolution)
    if graph is None:
        return module
    restore_order(graph, KEEP_ORDER | {compilable_convolution})
    return Code(graph, "Inference")


def _with_convolutions(module: Code, function: Any) -> fx.Graph | None:
    """A copy of the graph with another function for its convolutions; None where too few of them gain by it."""
    if sum(map(_gains, module.graph.nodes)) < tuning.CHANNELS_LAST_CONVOLUTIONS:
        return None
    graph = fx.Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    for node in graph.nodes:
        if calls(node, CONVOLUTION):
            node.target = function
    return graph


def _gains(node: fx.Node) -> bool:
    """A convolution over two axes with enough filters to fill the processor's vectors.

    Windows as large as an image are not faster, and their long sums round differently in another order.
    """
    if not calls(node, CONVOLUTION) or node.kwargs.get("layout") not in (None, "NCHW"):
        return False
    kernel = node.kwargs["kernel"]
    small = len(kernel) == 2 and max(kernel) <= tuning.CHANNELS_LAST_KERNEL
    return small and node.kwargs["num_filter"] >= tuning.CHANNELS_LAST_FILTERS
