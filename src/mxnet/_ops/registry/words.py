"""The meanings of operators' parameters, and examples, read from `_ops/words` when a docstring or a message needs them.

There is one file for each chapter of operators (`# *` in it is for all of them), and `common.txt` for the parameters
that mean the same everywhere.
"""

from functools import cache
from pathlib import Path

from ..._core.advice.entries import NOTHING, Entry
from ..._core.advice.entries import entries as read_entries

FOLDER = Path(__file__).parents[1] / "words"


@cache
def entries(chapter: str) -> dict[str, Entry]:
    """Every entry of a chapter's file, by the operators' names."""
    path = FOLDER / f"{chapter}.txt"
    return read_entries(path) if path.exists() else {}


def of_operator(module: str, name: str) -> Entry:
    """The meanings that hold for an operator, the nearest first: its own, its chapter's, the common ones."""
    chapter = entries(module.partition(".")[0])
    own, shared, common = chapter.get(name, NOTHING), chapter.get("*", NOTHING), entries("common")["*"]
    return Entry({**common.meanings, **shared.meanings, **own.meanings}, own.example)
