"""Steps of training and inferences leave no objects behind, and hardly a byte."""

import gc
import mmap

import numpy as np
import pytest

import mxnet as mx
from mxnet._core.lru import Recent
from mxnet._graph.inference import packed_conv as packed
from mxnet._graph.lower import lower, program
from mxnet._ops.registry import output_shapes as infer

from . import memory

CASES = [(kind, name) for kind in ("training", "inference") for name in getattr(memory, kind.upper())]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_nothing_piles_up(kind, name):
    slope = memory.slopes(getattr(memory, kind.upper())[name](), 200)
    assert abs(slope.objects) < 0.05, slope
    assert slope.resident < 16 * memory.LIMIT, slope  # a short run also sees memory that is kept for later
    assert not slope.used >= memory.LIMIT, slope


@pytest.mark.parametrize("name", memory.SHAPES)
def test_shapes_that_never_come_again_pile_up_nothing(name):
    """When the caches have reached their bounds, a step with a new shape leaves less than 1 KB and no object behind."""
    steps = 400 if "Gluon" in name else 160  # the others reach their bounds within 50 steps
    slope = memory.measured("shapes", name, steps, caches=8)
    assert slope.objects < 0.5 and not slope.used >= memory.LIMIT, slope


def test_a_leak_would_be_seen():
    kept = []

    def leak():
        pages = mmap.mmap(-1, 1 << 18)  # memory of its own: the heap may have room from what ran before
        pages.write(bytes(1 << 18))
        kept.append([pages])

    slope = memory.slopes(leak, 300)
    assert slope.objects > 0.9 and slope.resident > memory.LIMIT
    kept.clear()
    slope = memory.slopes(lambda: kept.append(bytearray(2 * memory.LIMIT)), 300)
    assert not slope.used <= memory.LIMIT


def test_sizes_that_never_come_again_are_forgotten(monkeypatch):
    monkeypatch.setattr(program, "MAX_CACHED_CODES", 3)
    monkeypatch.setattr(infer, "_MEMO", Recent(3))
    net = mx.gluon.rnn.GRU(4, input_size=2)  # states of zeros are as many as there are rows
    net.initialize()
    batches = [mx.nd.random.uniform(shape=(steps, 2, 2)) for steps in range(1, 9)]
    want = [net(batch).asnumpy() for batch in batches]
    outer = mx.gluon.nn.HybridSequential()
    outer.add(net)
    outer.hybridize()
    before = len(_alive(lower.Lowered))
    for batch, value in zip(batches * 2, want * 2, strict=True):
        np.testing.assert_allclose(outer(batch).asnumpy(), value, rtol=1e-5)
    assert 1 <= len(_alive(lower.Lowered)) - before <= 3 and infer._MEMO.total() <= 3


def _alive(kind):
    gc.collect()
    return [each for each in gc.get_objects() if type(each) is kind]


@pytest.mark.skipif(not packed.has_onednn(), reason="this build of torch has no fused convolutions")
def test_images_of_any_size_leave_no_views_behind(monkeypatch):
    monkeypatch.setattr(packed, "MOST_VIEWS", 3)
    net = mx.gluon.nn.HybridSequential()
    for _ in range(3):
        net.add(mx.gluon.nn.Conv2D(8, 3, padding=1, in_channels=8), mx.gluon.nn.BatchNorm(in_channels=8))
    net.initialize()
    images = [mx.nd.random.uniform(shape=(1, 8, 24 - size, 24)) for size in range(9)]
    want = [net(image).asnumpy() for image in images]
    net.hybridize()
    before = _alive(packed.Workspace)
    for image, value in zip(images * 2, want * 2, strict=True):
        np.testing.assert_allclose(net(image).asnumpy(), value, rtol=1e-4, atol=1e-6)
    (workspace,) = (each for each in _alive(packed.Workspace) if each not in before)
    assert 1 <= len(workspace._views) <= 3
