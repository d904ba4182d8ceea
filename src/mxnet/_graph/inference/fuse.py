"""Operators that torch computes in one call, found behind one another in a graph: attention, recurrent
layers whose parameters are packed first, the cross entropy of labels.

A rewritten graph gives the same values and gradients but for rounding. What is shown outside, or used twice, stays.
"""

from typing import Any

from torch import fx

from ..._ops.nn.attention import cross_attention, self_attention
from ..._ops.nn.cross_entropy import label_entropy
from ..._ops.nn.recurrent import rnn_of_parts
from ..._ops.registry.registry import find
from ..lower.codegen import Code
from ..lower.lower import calls, pick, sole_user

SELF_SCORES, SELF_MIXED, CROSS_SCORES, CROSS_MIXED = (
    find(f"_contrib_interleaved_matmul_{n}").fn for n in ("selfatt_qk", "selfatt_valatt", "encdec_qk", "encdec_valatt")
)
SOFTMAX, DROPOUT = find("softmax").fn, find("Dropout").fn
RNN, PACKED, RESHAPE = (find(n).fn for n in ("RNN", "_rnn_param_concat", "Reshape"))
LOG_SOFTMAX, PICK, SCALED, MEAN = (find(n).fn for n in ("log_softmax", "pick", "_mul_scalar", "mean"))


def _only(node: Any, target: Any) -> fx.Node | None:
    """The call of `target` that made the value, if nobody else uses it; looks through the choice of an output."""
    while calls(node, pick) and node.args[1] == 0 and len(node.users) == 1:
        node = node.args[0]
    return node if calls(node, target) and len(node.users) == 1 else None


def _attention_weights(value: Any) -> fx.Node | None:
    """The softmax over the last axis that made the value; a dropout between that does nothing is passed over."""
    dropped = _only(value, DROPOUT)
    if dropped is not None:
        active = dropped.kwargs.get("_train") or dropped.kwargs.get("mode") == "always"
        if active and dropped.kwargs.get("p", 0.5):
            return None
        value = dropped.args[0]
    found = _only(value, SOFTMAX)
    if found is None or found.kwargs.get("axis", -1) not in (-1, 2) or found.kwargs.get("dtype"):
        return None
    return found if found.kwargs.get("temperature") in (None, 1) else None


def _fuse_attention(graph: fx.Graph, node: fx.Node) -> bool:
    cross = node.target is CROSS_MIXED
    weights = _attention_weights(node.args[1])
    scores = _only(weights.args[0], CROSS_SCORES if cross else SELF_SCORES) if weights is not None else None
    if weights is None or scores is None or scores.kwargs["heads"] != node.kwargs["heads"]:
        return False
    if scores.args[-1] is not node.args[0]:  # keys and values of different origin
        return False
    with graph.inserting_before(node):
        function = cross_attention if cross else self_attention
        made = graph.call_function(function, (*scores.args, *weights.args[1:]), {"heads": node.kwargs["heads"]})
    made.meta["layers"] = [node.name]
    node.replace_all_uses_with(made)
    return True


def _fuse_network(graph: fx.Graph, node: fx.Node) -> bool:
    """A recurrent network whose parameters are packed only to be unpacked again."""
    packed = _only(node.args[1], PACKED)
    parts = [_flattened(part) for part in packed.args] if packed is not None else [None]
    if None in parts or packed is None or packed.kwargs.get("dim", 1) != 0:
        return False
    with graph.inserting_before(node):
        made = graph.call_function(rnn_of_parts, (node.args[0], tuple(parts), *node.args[2:]), dict(node.kwargs))
    made.meta["layers"] = [node.name]
    node.replace_all_uses_with(made)
    return True


def _flattened(value: Any) -> Any:
    """What was made one row of; None if it is no such value."""
    return value.args[0] if calls(value, RESHAPE) and tuple(value.kwargs.get("shape", ())) == (-1,) else None


def _fuse_loss(graph: fx.Graph, node: fx.Node) -> bool:
    """Minus the logarithm of each label's share, as losses take it; the call keeps its name for those it fails."""
    logarithms, after = _only(node.args[0], LOG_SOFTMAX), sole_user(node)
    if logarithms is None or not calls(after, SCALED) or after.kwargs.get("scalar") != -1 or len(after.args) > 1:
        return False
    choice = node.kwargs
    if set(logarithms.kwargs) - {"axis"} or not choice.get("keepdims") or choice.get("mode", "clip") != "clip":
        return False
    axes = logarithms.kwargs.get("axis", -1), choice.get("axis", -1)
    average = sole_user(after)
    samples = calls(average, MEAN) and average.kwargs.get("axis") == (0,) and average.kwargs.get("exclude")
    samples = samples and not average.kwargs.get("keepdims")
    node.target, node.args = label_entropy, (logarithms.args[0], node.args[1])
    node.kwargs = {"axes": axes, "samples": bool(samples)}
    (average if samples else after).replace_all_uses_with(node)
    return True


FUSIONS = {PICK: _fuse_loss, SELF_MIXED: _fuse_attention, CROSS_MIXED: _fuse_attention, RNN: _fuse_network}


def fused(module: Code) -> Code:
    """The graph with what can be computed in one call, or the module itself where there is nothing of the kind."""
    if not any(node.target in FUSIONS for node in module.graph.nodes):
        return module
    graph = fx.Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    found = [FUSIONS[node.target](graph, node) for node in list(graph.nodes) if node.target in FUSIONS]
    if not any(found):
        return module
    graph.eliminate_dead_code()
    return Code(graph, "Fused")
