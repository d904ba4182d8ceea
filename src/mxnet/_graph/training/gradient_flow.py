"""Where gradients flow in a graph: from the heads back to the variables whose gradients are wanted."""

from collections.abc import Iterable

from ..._core.errors import MXNetError
from ..ir.node import FUSED, Node
from ..lower.program import Program

# Gradients end here: these operators hand zeros back.
_STOPS = frozenset(("BlockGrad", "stop_gradient"))
# MXNet has no gradient for these (the updates of optimizers aside, which have none by nature).
_WITHOUT = frozenset(
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


def _lacking(node: Node) -> bool:
    name = node.op.name if node.op is not None else ""
    return name in _WITHOUT or "_update" in name


def stops(node: Node) -> bool:
    """Does no gradient pass the operator, as MXNet has it?"""
    op = node.op
    if op is None or (node.subgraphs and op.name not in FUSED):
        return False
    return op.name in _STOPS or (not op.differentiable and not _lacking(node))


def path(program: Program, wanted: Iterable[Node]) -> list[Node]:
    """The operators that a gradient passes on its way from a head to one of the wanted variables."""
    leads = {id(node) for node in wanted}
    for node in program.nodes:
        if node.op is not None and not stops(node) and any(id(e.node) in leads for e in node.inputs):
            leads.add(id(node))
    passed = {id(e.node) for e in program.heads} & leads
    result = []
    for node in reversed(program.nodes):
        if node.op is not None and id(node) in passed:
            result.append(node)
            passed |= {id(e.node) for e in node.inputs if id(e.node) in leads}
    return result


def visited(program: Program, wanted: Iterable[Node]) -> set[int]:
    """The operators that MXNet's backward pass visits, and those of which hidden outputs are read, by identity.

    A gradient that is blocked or zero is followed, too: MXNet has nodes for it.
    """
    found = {id(node) for node in wanted}
    for node in program.nodes:
        if any(id(entry.node) in found for entry in node.inputs):
            found.add(id(node))
    read = [*program.heads, *(entry for node in program.nodes for entry in node.inputs)]
    return found | {id(entry.node) for entry in read if entry.index}


def check(program: Program, wanted: Iterable[Node]) -> None:
    """Refuse to differentiate through an operator that has no gradient."""
    for node in path(program, wanted):
        if _lacking(node):
            raise MXNetError(
                f"Operator {node.op.name} is non-differentiable because it didn't register FGradient attribute "  # type: ignore[union-attr]
                f"(node {node.name}); bind with grad_req='null' for its inputs, or put BlockGrad after it"
            )
