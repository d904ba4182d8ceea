"""Reads files of documentation: what parameters mean, and examples, for functions that are made at run time.

An entry begins with `# name`, or several names; `# *` is for all functions of the file. Lines `key: text` follow, where
a key is a parameter, `returns` or what the reader of a file agrees on; an example ends the entry.
"""

from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """What a file says about one function."""

    meanings: dict[str, str]
    example: str


NOTHING = Entry({}, "")


def entries(path: Path) -> dict[str, Entry]:
    """Every entry of a file, by name."""
    found: dict[str, Entry] = {}
    for part in f"\n{path.read_text(encoding='utf-8')}".split("\n# ")[1:]:
        names, _, body = part.partition("\n")
        entry = _entry(body)
        found.update((name, entry) for name in names.split())
    return found


def _entry(body: str) -> Entry:
    start = body.find(">>> ")
    head, example = (body, "") if start < 0 else (body[:start], body[start:].rstrip())
    pairs = (line.partition(": ") for line in head.splitlines() if line)
    return Entry({name: meaning for name, _, meaning in pairs}, example)
