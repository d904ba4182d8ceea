"""Where gradients flow in a graph: from the heads back to the variables whose gradients are wanted."""

from collections.abc import Iterable

from ..._core.errors import MXNetError
from ..ir.node import ONEDNN_FUSED, Node
from ..lower.program import Program

# Operators that return zero gradients.
_ZERO_GRADIENT = frozenset(("BlockGrad", "stop_gradient"))
# MXNet has no gradient for these (the updates of optimizers aside, which have none by nature).
_NON_DIFFERENTIABLE = frozenset(
    [
        "_broadcast_backward",
        "_contrib_allclose",
        "_contrib_getnnz",
        "_grad_add",
        "_histogram",
        "_scatter_set_nd",
        "_shuffle",
        "_slice_assign",
        "_slice_assign_scalar",
        "all_finite",
        "argmax_channel",
        "batch_take",
        "khatri_rao",
        "multi_all_finite",
        "multi_lars",
        "multi_sum_sq",
    ]
)


def _has_no_gradient(node: Node) -> bool:
    name = node.op.name if node.op is not None else ""
    return name in _NON_DIFFERENTIABLE or "_update" in name


def blocks_gradient(node: Node) -> bool:
    """Does the operator block gradients in MXNet?"""
    op = node.op
    if op is None or (node.subgraphs and op.name not in ONEDNN_FUSED):
        return False
    return op.name in _ZERO_GRADIENT or (not op.differentiable and not _has_no_gradient(node))


def gradient_path(program: Program, wanted: Iterable[Node]) -> list[Node]:
    """The operators on the paths of gradients from the heads to the wanted variables."""
    reaches_wanted = {id(node) for node in wanted}
    for node in program.nodes:
        if node.op is not None and not blocks_gradient(node) and any(id(e.node) in reaches_wanted for e in node.inputs):
            reaches_wanted.add(id(node))
    on_path = {id(e.node) for e in program.heads} & reaches_wanted
    result = []
    for node in reversed(program.nodes):
        if node.op is not None and id(node) in on_path:
            result.append(node)
            on_path |= {id(e.node) for e in node.inputs if id(e.node) in reaches_wanted}
    return result


def visited(program: Program, wanted: Iterable[Node]) -> set[int]:
    """The operators that MXNet's backward pass visits, and those of which hidden outputs are read, by identity.

    Blocked and zero gradients are followed too, because MXNet has nodes for them.
    """
    found = {id(node) for node in wanted}
    for node in program.nodes:
        if any(id(entry.node) in found for entry in node.inputs):
            found.add(id(node))
    read = [*program.heads, *(entry for node in program.nodes for entry in node.inputs)]
    return found | {id(entry.node) for entry in read if entry.index}


def check_differentiable(program: Program, wanted: Iterable[Node]) -> None:
    """Refuse to differentiate through an operator that has no gradient."""
    for node in gradient_path(program, wanted):
        if _has_no_gradient(node):
            raise MXNetError(
                f"Operator {node.op.name} is non-differentiable because it didn't register FGradient attribute "  # type: ignore[union-attr]
                f"(node {node.name}); bind with grad_req='null' for its inputs, or put BlockGrad after it"
            )
