"""Steps of training and inferences leave no objects behind, and hardly a byte."""

import mmap

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

    def leak():
        pages = mmap.mmap(-1, 1 << 18)  # memory of its own: the heap may have room from what ran before
        pages.write(bytes(1 << 18))
        kept.append([pages])

    size, objects = memory.slopes(leak, 300)
    assert objects > 0.9 and size > memory.LIMIT
