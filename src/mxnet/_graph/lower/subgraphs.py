"""Nodes with subgraphs (control flow, CachedOp, fused oneDNN layers): their inputs, inference and lowering."""

from collections.abc import Callable
from typing import Any

from ..._core.errors import MXNetError
from ...context import Context
from ..infer.fixpoint import Facts, shape_facts, type_facts
from ..ir import onednn_nodes as onednn
from ..ir.node import CACHED_OP, ONEDNN_FUSED, Node, walk

Shape = tuple[int, ...]


def body_inputs(node: Node) -> list[list[int]]:
    """For every body of the node: the position among the node's inputs of each of the body's inputs."""
    assert node.op is not None
    attrs = node.op.full(node.parsed)
    if node.op.name == "_foreach":
        locations = (*attrs["in_data_locs"], *attrs["in_state_locs"], *attrs["remain_locs"])
        positions = [0] * len(locations)
        for outer, inner in enumerate(locations):
            if not 0 <= inner < len(positions):
                raise MXNetError(f"node {node.name}: the positions {locations} do not number the inputs of its body")
            positions[inner] = outer
        return [positions]
    if node.op.name == "_while_loop":
        return [list(attrs["cond_input_locs"]), list(attrs["func_input_locs"])]
    if node.op.name == "_cond":
        return [list(attrs[f"{part}_input_locs"]) for part in ("cond", "then", "else")]
    if node.op.name == CACHED_OP:
        return [list(range(len(node.inputs)))]
    if node.op.name in ONEDNN_FUSED:
        return [list(range(onednn.inner_inputs(node)))]
    raise MXNetError(f"operator {node.op.name} of node {node.name} holds subgraphs that cannot be run")


def variables(heads: Any) -> list[Node]:
    """The variables of a graph, in topological order."""
    return [n for n in walk(heads) if n.op is None]


def check_subgraphs(node: Node) -> None:
    """A node read from a file must have bodies that fit it."""
    if node.op is not None and node.op.name in ONEDNN_FUSED:
        onednn.check(node)
        return
    body_positions = body_inputs(node)
    if len(body_positions) != len(node.subgraphs):
        raise MXNetError(f"node {node.name} needs {len(body_positions)} subgraphs, it has {len(node.subgraphs)}")
    for heads, positions in zip(node.subgraphs, body_positions, strict=True):
        count = len(variables(heads))
        if len(positions) != count or any(not 0 <= i < len(node.inputs) for i in positions):
            raise MXNetError(f"node {node.name}: its subgraph has {count} inputs, the attributes name {positions}")
    results = [len(heads) for heads in node.subgraphs]
    expected = {"_cond": [1, *results[1:2] * 2], "_while_loop": [1, *results[1:]]}.get(node.op.name, results)  # type: ignore[union-attr]
    if results != expected or (node.op.name != CACHED_OP and results[-1] != node.outputs()):  # type: ignore[union-attr]
        raise MXNetError(f"node {node.name}: its subgraphs have {results} outputs, which does not fit {node.op.name}")  # type: ignore[union-attr]


def subgraph_function(node: Node, train: bool, ctx: Context) -> Callable[..., Any]:
    """The node's function with its bodies ready to run inside it."""
    from .program import Program

    if onednn.quantized(node):
        return onednn.quantized_function(node)
    train = train and node.op.name not in ONEDNN_FUSED  # type: ignore[union-attr]  # which are for inference only

    def runner(heads: Any) -> Callable[..., Any]:
        program = Program(heads, ctx)
        states = program.states

        def run(tensors: list[Any]) -> Any:
            if states:
                tensors = [t.detach() if i in states else t for i, t in enumerate(tensors)]
            return program.run(tensors, train)

        return run

    function = node.op.fn  # type: ignore[union-attr]
    graphs = tuple(runner(heads) for heads in node.subgraphs)

    if node.op.name == CACHED_OP:  # type: ignore[union-attr]
        return _with_name(lambda *tensors: graphs[0](list(tensors)), "graph")
    if node.op.name in ONEDNN_FUSED:  # type: ignore[union-attr]
        return onednn.fused_function(lambda tensors, attrs: graphs[0](list(tensors))[0])

    def call(*tensors: Any, **attrs: Any) -> Any:
        return function(*tensors, **attrs, _graphs=graphs)

    return _with_name(call, node.op.name.strip("_"))  # type: ignore[union-attr]


def _with_name(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function with a name, which fx graphs use for their values."""
    function.__name__ = function.__qualname__ = name
    return function


# inference


def _merge(old: Any, new: Any) -> Any:
    if old is None or new is None:
        return old if new is None else new
    if isinstance(old, tuple) and len(old) == len(new):
        return tuple(a or b for a, b in zip(old, new, strict=True))
    return old


def _infer(
    node: Node, ins: list[Any], body_value: Callable[[int, Any], Any], infer: Callable[..., Facts]
) -> list[Facts]:
    """Infer each body; `ins` is refined by what is found for inputs that are passed to a body unchanged."""
    results = []
    for heads, positions in zip(node.subgraphs, body_inputs(node), strict=True):
        inner = variables(heads)
        given = {n.name: body_value(outer, ins[outer]) for n, outer in zip(inner, positions, strict=True)}
        facts = infer(heads, {name: value for name, value in given.items() if value is not None})
        for n, outer in zip(inner, positions, strict=True):
            if not _sliced(node, outer):
                ins[outer] = _merge(ins[outer], facts.first(n))
        results.append(facts)
    return results


def _sliced(node: Node, outer: int) -> bool:
    """Does the body see only a part of this input at a time?"""
    return node.op.name == "_foreach" and outer < len(node.parsed["in_data_locs"])  # type: ignore[union-attr]


def subgraph_shapes(node: Node, ins: list[Shape | None], outs: list[Shape | None]) -> tuple[list[Any], list[Any]]:
    """Shapes of the inputs and outputs of a node with bodies."""
    ins = list(ins)

    def body_value(outer: int, shape: Shape | None) -> Shape | None:
        if shape is None or not _sliced(node, outer):
            return shape
        return shape[1:] if len(shape) > 1 else (1,)

    facts = _infer(node, ins, body_value, shape_facts)
    if onednn.quantized(node):
        return onednn.shapes(node, ins[: onednn.inner_inputs(node)], _results(node, facts))
    return ins, _stacked(node, ins, _results(node, facts))


def subgraph_types(node: Node, ins: list[str | None], outs: list[str | None]) -> tuple[list[Any], list[Any]]:
    """Dtypes of the inputs and outputs of a node with bodies."""
    if onednn.quantized(node):
        return onednn.types(node, ins)
    ins = list(ins)
    return ins, _results(node, _infer(node, ins, lambda _, dtype: dtype, type_facts))


def _results(node: Node, facts: list[Facts]) -> list[Any]:
    """The values of the outputs: those of the last body, or for `_cond` those of either branch."""
    values = [f.of(head) for f in facts[-1:] for head in f.heads]
    if node.op.name == "_cond":  # type: ignore[union-attr]
        then = [facts[1].of(head) for head in facts[1].heads]
        values = [a if a is not None else b for a, b in zip(then, values, strict=True)]
    return values


def _stacked(node: Node, ins: list[Any], shapes: list[Any]) -> list[Any]:
    """Output shapes of a loop: the outputs of all steps are stacked along a new first axis."""
    name = node.op.name  # type: ignore[union-attr]
    if name in ("_cond", CACHED_OP, *ONEDNN_FUSED):
        return shapes
    if name == "_foreach":
        steps = ins[0][0] if ins[0] else 0
    else:
        steps = node.parsed["max_iterations"]
    count = node.parsed["num_out_data"]
    return [(steps, *s) if s is not None and i < count else s for i, s in enumerate(shapes)]
