"""Nodes that hold graphs: what their bodies' inputs are, and inference and lowering through them."""

from collections.abc import Callable
from typing import Any

from ..._core.errors import MXNetError
from ...context import Context
from ..infer.fixpoint import Facts, shape_facts, type_facts
from ..ir import onednn_nodes as onednn
from ..ir.node import CACHED, FUSED, Node, walk

Shape = tuple[int, ...]


def body_inputs(node: Node) -> list[list[int]]:
    """For every body of the node: which input of the node each input of the body is."""
    assert node.op is not None
    attrs = node.op.full(node.parsed)
    if node.op.name == "_foreach":
        places = (*attrs["in_data_locs"], *attrs["in_state_locs"], *attrs["remain_locs"])
        order = [0] * len(places)
        for outer, inner in enumerate(places):
            if not 0 <= inner < len(order):
                raise MXNetError(f"node {node.name}: the positions {places} do not number the inputs of its body")
            order[inner] = outer
        return [order]
    if node.op.name == "_while_loop":
        return [list(attrs["cond_input_locs"]), list(attrs["func_input_locs"])]
    if node.op.name == "_cond":
        return [list(attrs[f"{part}_input_locs"]) for part in ("cond", "then", "else")]
    if node.op.name == CACHED:
        return [list(range(len(node.inputs)))]
    if node.op.name in FUSED:
        return [list(range(onednn.inner_inputs(node)))]
    raise MXNetError(f"operator {node.op.name} of node {node.name} holds subgraphs that cannot be run")


def variables(heads: Any) -> list[Node]:
    return [n for n in walk(heads) if n.op is None]


def check(node: Node) -> None:
    """A node read from a file must have bodies that fit it."""
    if node.op is not None and node.op.name in FUSED:
        onednn.check(node)
        return
    orders = body_inputs(node)
    if len(orders) != len(node.subgraphs):
        raise MXNetError(f"node {node.name} needs {len(orders)} subgraphs, it has {len(node.subgraphs)}")
    for heads, order in zip(node.subgraphs, orders, strict=True):
        count = len(variables(heads))
        if len(order) != count or any(not 0 <= i < len(node.inputs) for i in order):
            raise MXNetError(f"node {node.name}: its subgraph has {count} inputs, the attributes name {order}")
    results = [len(heads) for heads in node.subgraphs]
    expected = {"_cond": [1, *results[1:2] * 2], "_while_loop": [1, *results[1:]]}.get(node.op.name, results)  # type: ignore[union-attr]
    if results != expected or (node.op.name != CACHED and results[-1] != node.outputs()):  # type: ignore[union-attr]
        raise MXNetError(f"node {node.name}: its subgraphs have {results} outputs, which does not fit {node.op.name}")  # type: ignore[union-attr]


def bound(node: Node, train: bool, ctx: Context) -> Callable[..., Any]:
    """The node's function with its bodies ready to run inside it."""
    from .program import Program

    if onednn.quantized(node):
        return onednn.bound(node)
    train = train and node.op.name not in FUSED  # type: ignore[union-attr]  # which are made for predictions

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

    if node.op.name == CACHED:  # type: ignore[union-attr]
        return _named(lambda *tensors: graphs[0](list(tensors)), "graph")
    if node.op.name in FUSED:  # type: ignore[union-attr]
        return onednn.constant(lambda tensors, attrs: graphs[0](list(tensors))[0])

    def call(*tensors: Any, **attrs: Any) -> Any:
        return function(*tensors, **attrs, _graphs=graphs)

    return _named(call, node.op.name.strip("_"))  # type: ignore[union-attr]


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Lowered code calls functions by their names."""
    function.__name__ = function.__qualname__ = name
    return function


# inference


def _merge(old: Any, new: Any) -> Any:
    if old is None or new is None:
        return old if new is None else new
    if isinstance(old, tuple) and len(old) == len(new):
        return tuple(a or b for a, b in zip(old, new, strict=True))
    return old


def _infer(node: Node, ins: list[Any], entering: Callable[[int, Any], Any], find: Callable[..., Facts]) -> list[Facts]:
    """Facts about each body; what is learnt there about inputs that enter as they are flows back into `ins`."""
    results = []
    for heads, order in zip(node.subgraphs, body_inputs(node), strict=True):
        inner = variables(heads)
        given = {n.name: entering(outer, ins[outer]) for n, outer in zip(inner, order, strict=True)}
        facts = find(heads, {name: value for name, value in given.items() if value is not None})
        for n, outer in zip(inner, order, strict=True):
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

    def entering(outer: int, shape: Shape | None) -> Shape | None:
        if shape is None or not _sliced(node, outer):
            return shape
        return shape[1:] if len(shape) > 1 else (1,)

    facts = _infer(node, ins, entering, shape_facts)
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
    """What the bodies say of their outputs: the last body's, or for a branch what either knows."""
    values = [f.of(head) for f in facts[-1:] for head in f.heads]
    if node.op.name == "_cond":  # type: ignore[union-attr]
        then = [facts[1].of(head) for head in facts[1].heads]
        values = [a if a is not None else b for a, b in zip(then, values, strict=True)]
    return values


def _stacked(node: Node, ins: list[Any], shapes: list[Any]) -> list[Any]:
    """Outputs of all steps lie along a new first axis."""
    name = node.op.name  # type: ignore[union-attr]
    if name in ("_cond", CACHED, *FUSED):
        return shapes
    if name == "_foreach":
        steps = ins[0][0] if ins[0] else 0
    else:
        steps = node.parsed["max_iterations"]
    count = node.parsed["num_out_data"]
    return [(steps, *s) if s is not None and i < count else s for i, s in enumerate(shapes)]
