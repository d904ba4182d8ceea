"""Training graphs with less memory: activations after batch norms are recomputed in the backward pass."""

from typing import Any

import torch
from torch import fx

from ..._kernels.norm.fused_norm import fused_norm
from ..._ops.nn.batch_norm import fixed
from ..._ops.nn.pooling import max_pooling_recompute
from ..._ops.registry.registry import find
from ..lower.fx_calls import argument, calls, selected_output
from .convolution import channels_last_convolution

NORM, SUM, ACTIVATION, POOLING = (find(n).fn for n in ("BatchNorm", "elemwise_add", "Activation", "Pooling"))


def add_in_place(mine: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """`mine + other` in the memory of `mine`, which nobody else reads."""
    return mine.add_(other) if mine.shape == other.shape and mine.dtype is other.dtype else SUM(mine, other)


def relu_in_place(mine: torch.Tensor) -> torch.Tensor:
    """`relu` in the memory of its input, which nobody else reads."""
    return mine.relu_() if mine.is_floating_point() else ACTIVATION(mine, act_type="relu")


def norm_sum_relu(
    data: Any, gamma: Any, beta: Any, mean: Any, var: Any, addend: Any, relu: bool, attrs: dict[str, Any]
) -> Any:
    """Batch norm, a sum if there is an addend, `relu` if there is one; recomputed where that saves memory."""
    call = beta, (mean, var), addend, relu, attrs.get("eps", 1e-3), attrs.get("momentum", 0.9)
    if fused_norm.ready(data, gamma, *call):
        gamma = fixed(gamma, attrs.get("_set_gamma", True)) if attrs.get("fix_gamma", True) else gamma
        return fused_norm.run(data, gamma, *call)
    result = NORM(data, gamma, beta, mean, var, **attrs)[0]
    if addend is not None:
        result = add_in_place(result, addend)
    return relu_in_place(result) if relu else result


def recompute_activations(graph: fx.Graph) -> None:
    """Rewrite the paths from batch norms to convolutions, directly or through sums."""
    for node in list(graph.nodes):
        if calls(node, relu_in_place) and any(map(_recomputes, node.users)):
            _rewrite(graph, node)


def _recomputes(user: fx.Node) -> bool:
    """Can its input be recomputed for its gradient, instead of being saved?"""
    return calls(user, channels_last_convolution) or (
        calls(user, POOLING) and user.kwargs.get("pool_type", "max") == "max"
    )


def _rewrite(graph: fx.Graph, node: fx.Node) -> None:
    value, addend = argument(node, "mine"), None
    if calls(value, add_in_place):
        value, addend = argument(value, "mine"), argument(value, "other")
    norm = _norm(value)
    if norm is None:
        return
    if addend is not None and _norm(addend) is not None:
        addend = _replace(graph, addend, _norm(addend), None, False)
    new = _replace(graph, node, norm, addend, True)
    for user in new.users:
        if calls(user, POOLING) and _recomputes(user):
            user.target = max_pooling_recompute


def _norm(value: Any) -> fx.Node | None:
    """Return the batch norm (batch statistics, axis 1) that computed the value, if the value has only one reader."""
    selected = selected_output(value)
    if selected is None or selected[1] != 0 or len(value.users) != 1:
        return None
    norm = selected[0]
    if not calls(norm, NORM) or len(norm.users) > 1 or len(norm.args) != 5:
        return None
    attrs = norm.kwargs
    plain = attrs.get("axis", 1) == 1 and not attrs.get("use_global_stats") and not attrs.get("output_mean_var")
    return norm if plain and attrs.get("_train") else None


def _replace(graph: fx.Graph, node: fx.Node, norm: Any, addend: Any, relu: bool) -> fx.Node:
    with graph.inserting_before(node):
        new = graph.call_function(norm_sum_relu, (*norm.args, addend, relu, dict(norm.kwargs)))
    node.replace_all_uses_with(new)
    replaced = []
    while not node.users and node.op == "call_function":  # back to the batch norm
        before, node = node, node.all_input_nodes[0]
        replaced.append(before.name)
        graph.erase_node(before)
        if before is norm:
            break
    new.meta["layers"] = replaced[::-1]  # for explanations
    return new
