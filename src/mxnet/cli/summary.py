"""`remx summary PREFIX`: the layers of a saved network as a table."""

from .._core.arguments import at_least
from .._core.errors import MXNetError
from ._networks import add_network, known_shapes, load_symbol, params_path


def add(parser):
    """The command's own options."""
    add_network(parser)
    parser.add_argument("--width", type=at_least(40), default=120, help="width of the table in characters")


def run(options):
    """Print the table; with shapes it tells output shapes and parameter counts too."""
    from ..visualization import print_summary

    symbol = load_symbol(options.prefix)
    shapes = known_shapes(symbol, options.shape)
    print_summary(symbol, shape=shapes or None, line_length=options.width)
    if not shapes:
        names = [name for name in symbol.list_inputs() if name.endswith(("data", "label"))] or symbol.list_inputs()[:1]
        print(f"Shapes and parameter counts need --shape {names[0]}=…")
    _print_parameters(options.prefix.removesuffix("-symbol.json"))


def _print_parameters(prefix):
    """What the parameters beside the graph hold, if there are any."""
    from .. import ndarray

    try:
        path = params_path(prefix)
    except MXNetError:
        return
    arrays = ndarray.load(str(path)).values()
    print(f"{path.name}: {len(arrays)} arrays, {sum(array.size for array in arrays):,} numbers")
