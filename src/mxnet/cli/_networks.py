"""Saved networks on the command line: a prefix or a file, and the shapes of its inputs."""

import argparse
import re
from pathlib import Path

from .._core.errors import MXNetError


def add_network(parser):
    """The arguments by which `summary` and `plot` are told of a network."""
    parser.add_argument("prefix", metavar="PREFIX", help="PREFIX of PREFIX-symbol.json, or the file itself")
    add_shapes(parser)


def add_shapes(parser):
    parser.add_argument(
        "--shape", action="append", default=[], metavar="[NAME=]N,C,H,W", type=shape_of,
        help="shape of an input; NAME is `data` if left out; may be repeated",
    )  # fmt: skip


def shape_of(text):
    """`data=1,3,224,224` as ("data", (1, 3, 224, 224))."""
    name, _, numbers = text.rpartition("=")
    parts = re.split(r"[,x]", numbers.strip("() ").removesuffix(","))
    if not all(part.strip().isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not a shape: numbers and commas, as in 1,3,224,224")
    return name or "data", tuple(map(int, parts))


def symbol_path(prefix):
    """The file with the graph."""
    path = Path(prefix)
    if path.name.endswith(".json"):
        return path
    return path.with_name(f"{path.name}-symbol.json")


def load_symbol(prefix):
    from .. import symbol

    path = symbol_path(prefix)
    if not path.is_file():
        near = sorted(other.name.removesuffix("-symbol.json") for other in path.parent.glob("*-symbol.json"))
        hint = f"; prefixes there: {', '.join(near)}" if near else ""
        raise MXNetError(f"there is no file {path}{hint}")
    return symbol.load(str(path))


def params_path(prefix, epoch=None):
    """The parameters beside a prefix: of the given epoch, else the latest."""
    prefix = Path(prefix)
    if epoch is not None:
        return prefix.with_name(f"{prefix.name}-{epoch:04d}.params")
    pattern = re.compile(re.escape(prefix.name) + r"-(\d{4,})\.params")
    found = [(int(m[1]), path) for path in prefix.parent.glob("*.params") if (m := pattern.fullmatch(path.name))]
    if not found:
        raise MXNetError(f"there is no file {prefix}-NNNN.params")
    return max(found)[1]
