"""`remx plot PREFIX -o net.svg`: a saved network as a picture."""

import shutil
from pathlib import Path

from .._core.errors import MXNetError
from .._formats.atomic import write_file
from ._networks import add_network, known_shapes, load_symbol

_DOT, _PICTURES = ("dot", "gv"), ("svg", "pdf", "png", "jpg", "jpeg", "gif", "eps", "ps")


def add(parser):
    """The command's own options."""
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
    kind = options.output.suffix.lstrip(".").lower()
    if kind not in (*_DOT, *_PICTURES):
        raise MXNetError(f"{options.output}: pictures end in .{', .'.join((*_PICTURES, *_DOT))}")
    if not options.output.parent.is_dir():
        raise MXNetError(f"cannot write {options.output}: {options.output.parent} is no folder; make it first")
    symbol = load_symbol(options.prefix)
    write_file(options.output, _picture(symbol, known_shapes(symbol, options.shape) or None, options, kind))
    print(f"wrote {options.output}")


def _picture(symbol, shapes, options, kind):
    """What the file will hold: text or bytes."""
    if kind in _DOT:
        return _graph(symbol, shapes, options, "svg").source
    if shutil.which("dot"):
        return _graph(symbol, shapes, options, kind).pipe()
    if kind == "svg":
        from ..symbol._drawing import svg

        return svg(symbol, shapes, options.weights)
    raise MXNetError(f"a .{kind} file needs graphviz's program `dot` on the path; without it choose .svg or .dot")


def _graph(symbol, shapes, options, kind):
    from ..visualization import plot_network

    return plot_network(symbol, Path(options.prefix).name, kind, shapes, hide_weights=not options.weights)
