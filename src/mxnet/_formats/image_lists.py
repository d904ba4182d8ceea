"""Image lists (`.lst`): lines of an index, labels and a path, separated by tabs."""

import os
import stat
from collections.abc import Iterator

from .._core.errors import MXNetError


def entries(path: str | os.PathLike[str], least: int = 3) -> Iterator[tuple[int, list[float], str]]:
    """Index, labels and file name of each line; a line that is none is an error with file and line.

    `least` is the number of fields that a line must have: 2 admits images without labels.
    """
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield _entry(line, least)
            except ValueError as error:  # also what is no UTF-8
                raise MXNetError(f"{os.fspath(path)}, line {number}: {error}") from None


def _entry(line: bytes, least: int) -> tuple[int, list[float], str]:
    fields = line.decode("utf-8").strip().split("\t")
    if len(fields) < least:
        raise ValueError("expected index, label(s) and path separated by tabs")
    if "\0" in fields[-1]:
        raise ValueError(f"{fields[-1]!r} is no path")
    return index_of(fields[0], -(1 << 63)), [float(value) for value in fields[1:-1]], fields[-1]


def index_of(text: str, least: int = 0) -> int:
    """The number of a line; that of a record is not negative."""
    index = int(text)
    if not least <= index < 1 << 64:
        raise ValueError(f"the index {text[:40]} does not fit in 64 bits")
    return index


def check_file(path: str) -> None:
    """Refuse what a list names but is no file: a device has no end, and a pipe may never have a writer."""
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # opening a folder tells it best
        raise MXNetError(f"{path} is a device, a pipe or a socket, not a file of an image")


def content(path: str) -> bytes:
    """The bytes of a file that a list names."""
    check_file(path)
    with open(path, "rb") as file:
        return file.read()
