"""`Block.save` and `Block.load`: the tree of blocks with its traced graphs in one file, the parameters in another."""

import json
from typing import Any, NamedTuple

from .._core.errors import NameUnknown, ValueRefused
from .._formats import manifest
from .._formats.atomic import write_file
from ..symbol import load_json


def save(block, prefix):
    """Write `prefix-model.json` and `prefix-model.params`, which become visible at once."""
    model = {}
    _describe(block, iter(range(1 << 62)), model)
    with manifest.together(prefix + "-model"):
        write_file(prefix + "-model.json", json.dumps(model))
        block.save_parameters(prefix + "-model.params")


def load(block, prefix):
    """Give `block`, which must be built like the saved one, the saved names, graphs and parameters."""
    manifest.verify(prefix + "-model")
    path = prefix + "-model.json"
    with open(path, "rb") as file:
        text = file.read()
    try:
        plan = _plan(block, iter(range(1 << 62)), json.loads(text))
    except (ValueError, RecursionError) as error:
        raise ValueRefused(f"{path} is no description of a block: {error}") from None
    except (LookupError, TypeError) as error:
        raise NameUnknown(f"{path} describes another block than this {type(block).__name__}: {error}") from None
    _apply(plan)
    block.load_parameters(prefix + "-model.params")


def _key(block, numbers):
    """Blocks are told apart by class and position in the tree, so both sides must build them in the same order."""
    return f"{type(block).__name__.lower()}{next(numbers)}"


def _describe(block, numbers, into):
    entry = into[_key(block, numbers)] = {"orig_name": block.name}
    if hasattr(block, "_cached_graph"):
        entry.update(_graph_of(block))
    names = entry["children"] = {}
    for name, child in block._children.items():
        names[child.name] = name
        _describe(child, numbers, entry)


def _graph_of(block):
    if not block._cached_graph:
        return {"hybridized": False}
    inputs, out = block._cached_graph
    return {
        "in_format": block._in_format,
        "out_format": block._out_format,
        "inputs": [symbol.tojson() for symbol in inputs],
        "symbol": out.tojson(),
        "hybridized": True,
    }


class _Plan(NamedTuple):
    """What a block will get from the file; nothing is changed before all of it was read."""

    block: Any
    name: str
    graph: dict
    children: list  # (name that its parent knows it by, plan)


def _plan(block, numbers, model):
    key = _key(block, numbers)
    entry = model[key]
    name, names = entry["orig_name"], entry["children"]
    children = [_plan(child, numbers, entry) for child in block._children.values()]
    places = [names[each.name] for each in children]
    if not all(isinstance(text, str) for text in (name, *places)) or len(set(places)) != len(places):
        raise TypeError(f"the names in {key} are not texts, each for one block")
    return _Plan(block, name, _graph_in(entry), list(zip(places, children, strict=True)))


def _graph_in(entry):
    """The attributes of a block that was hybridized."""
    if not entry.get("hybridized"):
        return {}
    graph = [load_json(text) for text in entry["inputs"]], load_json(entry["symbol"])
    return {"_in_format": entry["in_format"], "_out_format": entry["out_format"], "_cached_graph": graph,
            "_active": True}  # fmt: skip


def _apply(plan):
    block = plan.block
    block._name = plan.name
    for name, value in plan.graph.items():
        setattr(block, name, value)
    _rename_parameters(block)
    for _, child in plan.children:
        _apply(child)
    block._children.clear()
    for name, child in plan.children:
        block._children[name] = child.block


def _rename_parameters(block):
    params = block.params
    renamed = {f"{block.name}_{name[len(params.prefix) :]}": param for name, param in params.items()}
    params._params.clear()
    params._params.update(renamed)
