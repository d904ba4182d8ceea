"""Dropout masks are those recorded from MXNet 1.9.1, in the order in which it draws them."""

import pathlib

import dropout_cases as cases
import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd
from mxnet._core import engines, samplers, streams
from mxnet._kernels.random import draw

RECORDED = np.load(pathlib.Path(__file__).parents[1] / "data" / "dropout.npz")


@pytest.mark.parametrize("name", cases.MASKS)
def test_masks_bit_for_bit(name):
    for i, values in enumerate(cases.MASKS[name]()):
        for j, part in enumerate(cases.kept(values)):
            golden = RECORDED[f"{name}|{i}|{j}"]
            assert part.dtype == golden.dtype
            np.testing.assert_array_equal(part, golden)


@pytest.mark.parametrize("name", cases.PROGRAMS)
def test_programs(name):
    for i, values in enumerate(cases.PROGRAMS[name]()):
        golden = RECORDED[f"{name}|{i}"]
        assert values.shape == golden.shape and ((values == 0) == (golden == 0)).all()
        np.testing.assert_allclose(values, golden, 2e-5, 2e-6)


@pytest.mark.parametrize("size", [1, 64, 65, 700, 4096, 70_001])
@pytest.mark.parametrize("rate", [0.5, 0.1, 0.999, 1.0])
def test_compiled_loops_draw_the_same(size, rate, monkeypatch):
    pytest.importorskip("numba")
    if draw._code.get(wait=True) is None:
        pytest.skip("no kernels for this processor")
    found = []
    for find in (draw.mt19937, lambda: None):
        monkeypatch.setattr(engines, "COMPILED", engines.Compiled())
        monkeypatch.setattr(samplers, "COMPILED", engines.COMPILED)
        engines.COMPILED.find = find
        monkeypatch.setattr(engines, "ENOUGH", 0)
        stream = streams.Stream(seed=5)
        drawn = [stream.dropout(1 - rate, True, size, "float32") for _ in range(12)]
        found.append([*drawn, stream.uniform(0.0, 1.0, 70_000, "float32")])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("dtype", "bits"), [("float32", 32), ("float64", 64)])
@pytest.mark.parametrize("kept", [0.0, 1e-9, 0.3, 0.5, 0.7, 0.999, float(np.float32(1 - 2**-24))])
@pytest.mark.parametrize("inclusive", [True, False])
def test_the_last_draw_that_is_kept(dtype, bits, kept, inclusive):
    kept = float(np.float32(kept))
    rule = samplers.factors(kept, dtype, inclusive)

    def stays(draw):
        words = np.array([draw & 0xFFFFFFFF, draw >> 32][: bits // 32], np.uint32)
        unit = np.float32(samplers.unit32(words)[0] if bits == 32 else samplers.unit64(words)[0])
        return bool(unit <= kept if inclusive else unit < kept)

    if stays(0):
        assert stays(rule.last) and (rule.last == 2**bits - 1 or not stays(rule.last + 1))
    else:
        assert rule.kept == rule.dropped or np.isnan(rule.kept)


def test_channels_last_and_gradients():
    """The mask follows the order of elements, not of memory; the gradient has the same mask."""
    x = nd.ones((2, 3, 4, 5)).transpose((0, 3, 1, 2))
    x.attach_grad()
    mx.random.seed(1)
    with autograd.record():
        y = nd.Dropout(x, p=0.5)
    y.backward()
    mx.random.seed(1)
    with autograd.train_mode():
        plain = nd.Dropout(nd.ones((2, 5, 3, 4)), p=0.5)
    np.testing.assert_array_equal(y.asnumpy(), plain.asnumpy())
    np.testing.assert_array_equal(x.grad.asnumpy(), plain.asnumpy())


def test_mirrored_graphs_keep_their_masks(monkeypatch):
    monkeypatch.setenv("MXNET_BACKWARD_DO_MIRROR", "1")
    data = mx.sym.var("data")
    for _ in range(6):
        data = mx.sym.Dropout(mx.sym.tanh(data) + 1, p=0.3)
    bound = data.simple_bind(mx.cpu(), data=(30, 40))
    bound.arg_dict["data"][:] = 0
    mx.random.seed(2)
    (y,) = bound.forward(is_train=True)
    bound.backward(nd.ones(y.shape))
    dropped = y.asnumpy() == 0
    assert dropped.any() and (bound.grad_dict["data"].asnumpy()[dropped] == 0).all()
    assert nd.random.uniform(shape=1).asnumpy() == _after(lambda: [_drop(30, 40) for _ in range(6)])


def _drop(*shape):
    with autograd.train_mode():
        return nd.Dropout(nd.ones(shape), p=0.3)


def _after(draws):
    mx.random.seed(2)
    draws()
    return nd.random.uniform(shape=1).asnumpy()
