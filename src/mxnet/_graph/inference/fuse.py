"""Operator fusion: attention, recurrent layers whose parameters are concatenated first, softmax cross entropy.

A rewritten graph gives the same values and gradients up to rounding. Values that have other users are not fused.
"""

from typing import Any

from torch import fx

from ..._ops.nn.attention import cross_attention, self_attention
from ..._ops.nn.cross_entropy import label_entropy
from ..._ops.nn.recurrent import rnn_of_parts
from ..._ops.registry.registry import find
from ..lower.codegen import Code
from ..lower.fx_calls import argument, arguments_from, calls, pick, sole_user

SELF_SCORES, SELF_VALUES, CROSS_SCORES, CROSS_VALUES = (
    find(f"_contrib_interleaved_matmul_{n}").fn for n in ("selfatt_qk", "selfatt_valatt", "encdec_qk", "encdec_valatt")
)
SOFTMAX, DROPOUT = find("softmax").fn, find("Dropout").fn
RNN, PARAM_CONCAT, RESHAPE = (find(n).fn for n in ("RNN", "_rnn_param_concat", "Reshape"))
LOG_SOFTMAX, PICK, MUL_SCALAR, MEAN = (find(n).fn for n in ("log_softmax", "pick", "_mul_scalar", "mean"))


def _sole_producer(node: Any, target: Any) -> fx.Node | None:
    """The call of `target` that computed the value, if it has no other user; selections of output 0 are skipped."""
    while calls(node, pick) and argument(node, "index") == 0 and len(node.users) == 1:
        node = argument(node, "result")
    return node if calls(node, target) and len(node.users) == 1 else None


def _attention_weights(value: Any) -> fx.Node | None:
    """The softmax over the last axis that computed the value; an inactive dropout after it is skipped."""
    dropout = _sole_producer(value, DROPOUT)
    if dropout is not None:
        active = argument(dropout, "_train") or argument(dropout, "mode") == "always"
        if active and argument(dropout, "p"):
            return None
        value = argument(dropout, "data")
    softmax = _sole_producer(value, SOFTMAX)
    if softmax is None or argument(softmax, "axis") not in (-1, 2) or argument(softmax, "dtype"):
        return None
    return softmax if argument(softmax, "temperature") in (None, 1) else None


def _fuse_attention(graph: fx.Graph, node: fx.Node) -> bool:
    """softmax(Q Kᵀ) V, with an optional `length` of the softmax."""
    cross = node.target is CROSS_VALUES
    projections = "keys_values" if cross else "queries_keys_values"
    softmax = _attention_weights(argument(node, "attention"))
    if softmax is None:
        return False
    scores = _sole_producer(argument(softmax, "data"), CROSS_SCORES if cross else SELF_SCORES)
    if scores is None or argument(scores, "heads") != argument(node, "heads"):
        return False
    if argument(scores, projections) is not argument(node, projections):  # keys and values of different origin
        return False
    with graph.inserting_before(node):
        function = cross_attention if cross else self_attention
        inputs = *scores.args, *arguments_from(softmax, "length")
        attention = graph.call_function(function, inputs, {"heads": argument(node, "heads")})
    attention.meta["layers"] = [node.name]  # for explanations
    node.replace_all_uses_with(attention)
    return True


def _fuse_rnn(graph: fx.Graph, node: fx.Node) -> bool:
    """A recurrent layer whose parameters are concatenated only to be split again."""
    concat = _sole_producer(argument(node, "parameters"), PARAM_CONCAT)
    if concat is None or argument(concat, "dim") != 0:
        return False
    parts = tuple(_flattened(part) for part in arguments_from(concat, "data"))
    if None in parts:
        return False
    with graph.inserting_before(node):
        inputs = argument(node, "data"), parts, *arguments_from(node, "state")
        layer = graph.call_function(rnn_of_parts, inputs, dict(node.kwargs))
    layer.meta["layers"] = [node.name]  # for explanations
    node.replace_all_uses_with(layer)
    return True


def _flattened(value: Any) -> Any:
    """The value that was reshaped to one dimension; None if it is no such reshape."""
    return argument(value, "data") if calls(value, RESHAPE) and tuple(argument(value, "shape")) == (-1,) else None


def _fuse_cross_entropy(graph: fx.Graph, node: fx.Node) -> bool:
    """-pick(log_softmax(pred), label), and the mean over each sample that may follow; `node` is the pick.

    The fused call takes the place of the pick and keeps its name, so that errors name the user's node.
    """
    log_softmax, negated = _sole_producer(argument(node, "data"), LOG_SOFTMAX), sole_user(node)
    if log_softmax is None or negated is None or not _negates(negated) or set(log_softmax.kwargs) - {"axis"}:
        return False
    if not argument(node, "keepdims") or argument(node, "mode") != "clip":
        return False
    axes = argument(log_softmax, "axis"), argument(node, "axis")
    mean = sole_user(negated)
    by_sample = mean is not None and _averages_samples(mean)
    node.args = argument(log_softmax, "data"), argument(node, "index")
    node.target, node.kwargs = label_entropy, {"axes": axes, "samples": by_sample}
    (mean if by_sample else negated).replace_all_uses_with(node)  # type: ignore[union-attr]
    return True


def _negates(node: fx.Node) -> bool:
    return calls(node, MUL_SCALAR) and argument(node, "scalar") == -1


def _averages_samples(node: fx.Node) -> bool:
    """Is it the mean over all axes but the first?"""
    if not calls(node, MEAN) or argument(node, "keepdims"):
        return False
    return argument(node, "axis") == (0,) and bool(argument(node, "exclude"))


FUSIONS = {PICK: _fuse_cross_entropy, SELF_VALUES: _fuse_attention, CROSS_VALUES: _fuse_attention, RNN: _fuse_rnn}


def fused(module: Code) -> Code:
    """The graph with fused operators; the module itself if there is nothing to fuse."""
    if not any(node.target in FUSIONS for node in module.graph.nodes):
        return module
    graph = fx.Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    found = [FUSIONS[node.target](graph, node) for node in list(graph.nodes) if node.target in FUSIONS]
    if not any(found):
        return module
    graph.eliminate_dead_code()
    return Code(graph, "Fused")
