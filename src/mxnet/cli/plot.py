"""`remx plot PREFIX -o net.svg`: a saved network as a picture."""

import shutil
from pathlib import Path

from .._core.errors import MXNetError
from ._networks import add_network, load_symbol


def add(parser):
    add_network(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("net.svg"),
        help="a .svg, .pdf, .png or .dot file; net.svg if left out",
    )
    parser.add_argument("--weights", action="store_true", help="draw parameters too")


def run(options):
    """Draw with graphviz; without its program `dot`, SVG is laid out here."""
    symbol = load_symbol(options.prefix)
    shapes = dict(options.shape) or None
    kind = options.output.suffix.lstrip(".").lower()
    if kind in ("dot", "gv"):
        options.output.write_text(_graph(symbol, shapes, options, "svg").source, encoding="utf-8")
    elif shutil.which("dot"):
        options.output.write_bytes(_graph(symbol, shapes, options, kind).pipe())
    elif kind == "svg":
        from ._drawing import svg

        options.output.write_text(svg(symbol, shapes, options.weights), encoding="utf-8")
    else:
        raise MXNetError(f"a .{kind} file needs graphviz's program `dot` on the path; without it choose .svg or .dot")
    print(f"wrote {options.output}")


def _graph(symbol, shapes, options, kind):
    from ..visualization import plot_network

    return plot_network(symbol, Path(options.prefix).name, kind, shapes, hide_weights=not options.weights)
