"""`remx summary PREFIX`: the layers of a saved network as a table, its parameters, bytes and FLOPs."""

from .._core.arguments import at_least
from .._core.errors import MXNetError
from ._costs import costs
from ._networks import add_network, known_shapes, load_symbol, params_path
from ._output import add_json, print_json


def add(parser):
    """The command's own options."""
    add_network(parser)
    parser.add_argument("--width", type=at_least(40), default=120, help="width of the table in characters")
    add_json(parser)


def run(options):
    """Print the table, or its facts as JSON; with shapes it tells output shapes and parameter counts too."""
    symbol = load_symbol(options.prefix)
    shapes = known_shapes(symbol, options.shape)
    path, arrays = _parameters(options.prefix.removesuffix("-symbol.json"))
    found = costs(symbol, arrays, shapes)
    if options.json:
        inputs = [name for name in symbol.list_inputs() if name not in {n.split(":", 1)[-1] for n in arrays}]
        outputs = symbol.list_outputs()
        print_json({"inputs": inputs, "outputs": outputs, "file": path and str(path), **found})
        return
    _print_table(symbol, shapes or _assumed(symbol, arrays, found), options.width)
    _print_costs(found, path, len(arrays))


def _assumed(symbol, arrays, found):
    """The shape that the FLOPs are counted for, with those of the arrays beside the graph; {} if there is none."""
    if not found["shape"]:
        return {}
    inputs = set(symbol.list_inputs())
    known = {name.split(":", 1)[-1]: tuple(array.shape) for name, array in arrays.items()}
    known |= {name: tuple(shape) for name, shape in found["shape"].items()}
    return {name: shape for name, shape in known.items() if name in inputs}


def _print_table(symbol, shapes, width):
    from ..visualization import print_summary

    print_summary(symbol, shape=shapes or None, line_length=width)
    if not shapes:
        names = [name for name in symbol.list_inputs() if name.endswith(("data", "label"))] or symbol.list_inputs()[:1]
        print(f"Shapes and parameter counts of each layer need --shape {names[0]}=…")


def _print_costs(found, path, count):
    if found["flops"] is not None:
        shapes = ", ".join(f"{name}={','.join(map(str, shape))}" for name, shape in found["shape"].items())
        assumed = " (assumed; give --shape for another)" if found["shape_assumed"] else ""
        print(f"{found['flops']:,} FLOPs in a forward pass of {shapes}{assumed}")
    if path is not None:
        size = f"{found['parameters']:,} numbers, {found['bytes']:,} bytes"
        print(f"{path.name}: {count} arrays, {size}")


def _parameters(prefix):
    """(file, arrays) beside the graph; (None, {}) if there are none."""
    from .. import ndarray

    try:
        path = params_path(prefix)
    except MXNetError:
        return None, {}
    return path, ndarray.load(str(path))
