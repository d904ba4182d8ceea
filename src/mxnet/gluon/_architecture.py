"""`Block.save` and `Block.load`: the tree of blocks with its traced graphs in one file, the parameters in another."""

import json

from .._formats.atomic import write_file
from ..symbol import load_json


def save(block, prefix):
    """Write `prefix-model.json` and `prefix-model.params`."""
    model = {}
    _describe(block, iter(range(1 << 62)), model)
    write_file(prefix + "-model.json", json.dumps(model))
    block.save_parameters(prefix + "-model.params")


def load(block, prefix):
    """Give `block`, which must be built like the saved one, the saved names, graphs and parameters."""
    with open(prefix + "-model.json", "rb") as file:
        model = json.load(file)
    _restore(block, iter(range(1 << 62)), model)
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


def _restore(block, numbers, model):
    entry = model[_key(block, numbers)]
    block._name = entry["orig_name"]
    if entry.get("hybridized"):
        block._in_format, block._out_format = entry["in_format"], entry["out_format"]
        block._cached_graph = [load_json(text) for text in entry["inputs"]], load_json(entry["symbol"])
        block._active = True
    _rename_parameters(block)
    children = list(block._children.values())
    for child in children:
        _restore(child, numbers, entry)
    block._children.clear()
    for child in children:
        block._children[entry["children"][child.name]] = child


def _rename_parameters(block):
    params = block.params
    renamed = {f"{block.name}_{name[len(params.prefix) :]}": param for name, param in params.items()}
    params._params.clear()
    params._params.update(renamed)
