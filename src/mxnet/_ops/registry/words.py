"""The meanings of operators' parameters, and examples, read from `_ops/words` when a docstring or a message needs them.

There is one file for each chapter of operators, and `common.txt` for the parameters that mean the same everywhere. An
entry begins with `# name`, or several names; `# *` is for all operators of the chapter. Lines `parameter: meaning`
follow, `returns: meaning` among them, then an example.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "words"


class Entry(NamedTuple):
    """What a file says about one operator."""

    meanings: dict[str, str]
    example: str


NOTHING = Entry({}, "")


@cache
def entries(chapter: str) -> dict[str, Entry]:
    """Every entry of a chapter's file, by the operators' names."""
    path = FOLDER / f"{chapter}.txt"
    if not path.exists():
        return {}
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


def of_operator(module: str, name: str) -> Entry:
    """The meanings that hold for an operator, the nearest first: its own, its chapter's, the common ones."""
    chapter = entries(module.partition(".")[0])
    own, shared, common = chapter.get(name, NOTHING), chapter.get("*", NOTHING), entries("common")["*"]
    return Entry({**common.meanings, **shared.meanings, **own.meanings}, own.example)
