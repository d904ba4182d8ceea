"""Steps of training and inferences leave no objects behind, and hardly a byte."""

import pytest

from . import memory

CASES = [(kind, name) for kind in ("training", "inference") for name in getattr(memory, kind.upper())]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_nothing_piles_up(kind, name):
    size, objects = memory.slopes(getattr(memory, kind.upper())[name](), 200)
    assert abs(objects) < 0.05, f"{objects} objects a step"
    assert size < 16 * memory.LIMIT, f"{size} bytes a step"  # a short run also sees memory that is kept for later


def test_a_leak_would_be_seen():
    kept = []
    size, objects = memory.slopes(lambda: kept.append([b"x" * (1 << 18)]), 300)
    assert objects > 0.9 and size > memory.LIMIT
