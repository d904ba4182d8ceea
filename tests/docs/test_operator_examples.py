"""The examples of operators run and print what they show."""

import pytest
from running_examples import Examples

from mxnet._ops.registry import words

CHAPTERS = sorted(path.stem for path in words.FOLDER.glob("*.txt"))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_examples_of_operators_run(chapter):
    examples = Examples()
    for name, entry in words.entries(chapter).items():
        if entry.example:
            examples.run(name, entry.example)
    examples.check()
