"""Saved networks on the command line: a prefix or a file, and the shapes of its inputs."""

import argparse
import re
from contextlib import contextmanager, suppress
from pathlib import Path

from .._core.errors import MXNetError

LARGEST = (1 << 63) - 1  # a size in MXNet's files


def add_network(parser):
    """The arguments by which `summary` and `plot` are told of a network."""
    parser.add_argument("prefix", metavar="PREFIX", help="PREFIX of PREFIX-symbol.json, or the file itself")
    add_shapes(parser)


def add_shapes(parser):
    """The option that gives the shapes of inputs."""
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
    shape = tuple(map(int, parts))
    if not all(1 <= size <= LARGEST for size in shape):
        raise argparse.ArgumentTypeError(f"{text!r}: the sizes of an input are whole numbers from 1 to {LARGEST}")
    return name or "data", shape


def symbol_path(prefix):
    """The file with the graph."""
    path = Path(prefix)
    if path.name.endswith(".json"):
        return path
    return path.with_name(f"{path.name}-symbol.json")


def load_symbol(prefix):
    """The symbol of a checkpoint; what is there instead, if it is not."""
    from .. import symbol

    path = symbol_path(prefix)
    if not path.is_file():
        near = sorted(other.name.removesuffix("-symbol.json") for other in path.parent.glob("*-symbol.json"))
        hint = f"; prefixes there: {', '.join(near)}" if near else ""
        raise MXNetError(f"there is no file {path}{hint}")
    try:
        return symbol.load(str(path))
    except MXNetError as error:
        raise MXNetError(str(error) if path.name in str(error) else f"{path}: {error}") from error


def known_shapes(symbol, pairs):
    """{input: shape} of what --shape gave; names that the network does not have are refused."""
    inputs = symbol.list_inputs()
    unknown = [name for name, _ in pairs if name not in inputs]
    if unknown:
        wanted = [name for name in inputs if name.endswith(("data", "label"))] or inputs[:1]
        raise MXNetError(f"the network has no input {', '.join(unknown)}; give --shape {wanted[0]}=…")
    return dict(pairs)


@contextmanager
def folder_of(path):
    """The folder to write a file into; what had to be made for it goes again if nothing is written."""
    folder = Path(path).parent
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    wrong = next((each for each in (folder, *folder.parents) if each.is_file()), None)
    if wrong is not None:
        raise MXNetError(f"cannot write {path}: {wrong} is a file, not a folder")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        with suppress(OSError):  # what was written meanwhile stays, and what went wrong is told
            for each in made:
                each.rmdir()
        raise


def params_path(prefix, epoch=None):
    """The file of parameters beside a prefix: of the given epoch, else the latest."""
    prefix = Path(prefix)
    pattern = re.compile(re.escape(prefix.name) + r"-(\d{4,})\.params")
    found = {int(m[1]): path for path in prefix.parent.glob("*.params") if (m := pattern.fullmatch(path.name))}
    if epoch is None and not found:
        raise MXNetError(f"there is no file {prefix}-NNNN.params")
    if epoch is None or epoch in found:
        return found[max(found) if epoch is None else epoch]
    there = f"; there are epochs {', '.join(map(str, sorted(found)))}" if found else ""
    raise MXNetError(f"there is no file {prefix}-{epoch:04d}.params{there}")
