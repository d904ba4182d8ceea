"""`remx explain PREFIX --shape 1,3,224,224`: what computes each layer of a saved network, why, and for how long."""

import json

from .._core.arguments import at_least
from .._core.errors import MXNetError
from ._networks import add_network, known_shapes, load_symbol, params_path


def add(parser):
    """The command's own options."""
    add_network(parser)
    parser.add_argument("--epoch", type=at_least(0), help="of the parameters; the latest if left out")
    parser.add_argument("--inference", action="store_true", help="leave the training step out")
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def run(options):
    """Print the table of layers."""
    symbol = load_symbol(options.prefix)
    shapes = known_shapes(symbol, options.shape)
    if not shapes:
        raise MXNetError("the ways depend on the size of the inputs: give --shape, as in --shape 1,3,224,224")
    found = symbol.explain(_arrays(symbol, shapes, options), training=not options.inference)
    print(json.dumps(found.as_dict(), indent=1) if options.json else found)


def _arrays(symbol, shapes, options):
    """Arrays for every input: parameters from the file beside the graph, random numbers for the others."""
    from .. import ndarray

    of_arguments, _, of_states = symbol.infer_shape(**shapes)
    sizes = {
        **dict(zip(symbol.list_arguments(), of_arguments, strict=True)),
        **dict(zip(symbol.list_auxiliary_states(), of_states, strict=True)),
    }
    arrays = _parameters(options)
    states = set(symbol.list_auxiliary_states())
    for name, size in sizes.items():
        if name not in arrays:
            drawn = name not in states and not name.endswith("label")
            arrays[name] = ndarray.random.uniform(-0.1, 0.1, shape=size) if drawn else ndarray.ones(size)
        elif arrays[name].shape != size:
            raise MXNetError(f"parameter {name} has shape {arrays[name].shape}; this --shape needs {size}")
    return arrays


def _parameters(options):
    from .. import ndarray

    try:
        path = params_path(options.prefix.removesuffix("-symbol.json"), options.epoch)
    except MXNetError:
        if options.epoch is not None:
            raise
        return {}
    return {name.partition(":")[2] or name: array for name, array in ndarray.load(str(path)).items()}
