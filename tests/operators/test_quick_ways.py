"""Operators that look at their data find the way that is quick for it, with the same result."""

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd, sym
from mxnet._kernels import tuning
from mxnet._kernels.registry import enabled
from mxnet._ops.array import sorting
from mxnet._ops.linalg import matrix as linalg
from mxnet._ops.nn import im2col as windows
from mxnet._ops.vision import multibox
from mxnet._ops.vision import roi_pooling as regions


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("kind", ["value", "indices", "mask"])
@pytest.mark.parametrize("ties", [False, True])
def test_few_of_many(kind, ascending, ties, monkeypatch):
    random = np.random.RandomState(1)
    data = random.randint(0, 9, (5, 64)) if ties else random.randn(5, 64)
    data = nd.array(data)
    data[2, 7] = np.nan if kind != "mask" else 0
    for k in (1, 3, 7):
        quick = nd.topk(data, k=k, ret_typ=kind, is_ascend=ascending).asnumpy()
        with monkeypatch.context() as patch:
            patch.setattr(sorting, "_extremum", lambda *call: None)
            patch.setattr(sorting, "topk_kernel", lambda *call: None)
            np.testing.assert_array_equal(quick, nd.topk(data, k=k, ret_typ=kind, is_ascend=ascending).asnumpy())


def test_equal_ones_come_in_their_order():
    data = nd.array([[1, 3, 3, 2, 3] + [0] * 40])
    assert nd.topk(data, k=2).asnumpy().tolist() == [[1, 2]]
    assert nd.topk(data, k=1).asnumpy().tolist() == [[1]]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8", "uint8", "float64", "int64"])
@pytest.mark.parametrize("ascending", [False, True])
def test_few_of_many_equal_ones_without_sorting_all(dtype, ascending, monkeypatch):
    """Keys of element and place; NaN and both zeros are where a stable sort has them."""
    numbers = np.random.RandomState(0).randint(0, 20, (3, 500, 2)).astype(dtype)
    if dtype.startswith("float"):
        numbers[numbers == 19] = np.nan
        numbers[numbers == 7] = -0.0
        numbers = numbers - np.array(10, dtype) * (numbers > 3)
    data = nd.array(numbers, dtype=dtype)
    calls = {"k": 40, "axis": 1, "ret_typ": "both", "is_ascend": ascending}
    quick = [part.asnumpy() for part in nd.topk(data, **calls)]
    with mx.runtime.kernels_off():
        sorted_ones = [part.asnumpy() for part in nd.topk(data, **calls)]
    np.testing.assert_array_equal(quick[0], sorted_ones[0])
    np.testing.assert_array_equal(quick[1], sorted_ones[1])
    if dtype in ("float32", "int32") and enabled():
        monkeypatch.setattr(torch, "sort", None)
        nd.topk(data, **calls)


def test_the_gradient_of_few():
    data = nd.array(np.random.RandomState(0).randn(3, 40))
    data.attach_grad()
    with autograd.record():
        loss = (nd.topk(data, k=2, ret_typ="value") * nd.array([1, 10])).sum()
    loss.backward()
    order = np.argsort(-data.asnumpy(), 1)[:, :2]
    want = np.zeros((3, 40))
    np.put_along_axis(want, order, [[1, 10]] * 3, 1)
    np.testing.assert_array_equal(data.grad.asnumpy(), want)


def test_kept_priors_are_nobodys(monkeypatch):
    """Boxes that were asked for before are copies, and those that no one would keep."""
    calls = [{"sizes": (0.2, 0.3), "ratios": (1, 2)}, {"sizes": (0.2,)}, {"clip": True}, {"steps": (0.1, 0.2)}]
    data = nd.zeros((1, 3, 5, 7))
    first = [nd.contrib.MultiBoxPrior(data, **each) for each in calls]
    want = [boxes.asnumpy() for boxes in first]
    for boxes in first:
        boxes[:] = 9
    again = [nd.contrib.MultiBoxPrior(data, **each).asnumpy() for each in calls]
    monkeypatch.setattr(multibox, "MOST_KEPT", 0)
    made = [nd.contrib.MultiBoxPrior(data, **each).asnumpy() for each in calls]
    for one, two, three in zip(want, again, made, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)
    assert nd.contrib.MultiBoxPrior(nd.zeros((1, 3, 5, 8)), **calls[0]).shape != want[0].shape
    assert nd.contrib.MultiBoxPrior(data.astype("float64"), **calls[0]).dtype == np.float64


@pytest.mark.parametrize("together", [1, 500, 1 << 20])
def test_columns_of_some_images_at_a_time(together, monkeypatch):
    columns = torch.rand(5, 3 * 6, 6 * 4)
    attrs = {"kernel": (3, 2), "stride": (1, 2), "dilate": (2, 1), "pad": (1, 1)}
    want = torch.nn.functional.fold(columns, (8, 7), (3, 2), (2, 1), (1, 1), (1, 2))
    monkeypatch.setattr(windows, "TOGETHER", together)
    got = nd.col2im(nd.array(columns.numpy()), output_size=(8, 7), **attrs)
    np.testing.assert_allclose(got.asnumpy(), want.numpy(), rtol=1e-6)


ROIS = [[0, 0, 0, 30, 25], [1, 4, 4, 4, 4], [1, -20, 3, 9, 60], [0, 90, 90, 95, 95], [-1, 0, 0, 9, 9], [2, 0, 0, 9, 9]]


def pooled_regions(data):
    data.attach_grad()
    with autograd.record():
        out = nd.ROIPooling(data, nd.array(ROIS), pooled_size=(3, 4), spatial_scale=0.4)
        loss = (out * nd.arange(out.size).reshape(out.shape)).sum()
    loss.backward()
    still = nd.ROIPooling(data, nd.array(ROIS), pooled_size=(3, 4), spatial_scale=0.4)
    np.testing.assert_array_equal(still.asnumpy(), out.asnumpy())
    return out.asnumpy(), data.grad.asnumpy()


@pytest.mark.parametrize("ties", [False, True])
def test_regions_one_by_one_and_all_at_once(ties, monkeypatch):
    random = np.random.RandomState(2)
    data = nd.array(random.randint(0, 3, (2, 5, 12, 14)) if ties else random.randn(2, 5, 12, 14))
    one_by_one = pooled_regions(data)
    monkeypatch.setattr(regions, "is_concrete", lambda tensor: False)
    for got, want in zip(one_by_one, pooled_regions(data), strict=True):
        assert np.abs(want).max() > 0
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_one_hot_of_indices_outside():
    out = nd.one_hot(nd.array([[1, -1], [3, 0]]), 3, on_value=2, off_value=-1).asnumpy()
    assert out.tolist() == [[[-1, 2, -1], [-1, -1, -1]], [[-1, -1, -1], [2, -1, -1]]]


@pytest.mark.parametrize("beta", [0.75, 0.6])
def test_neighbouring_channels(beta):
    data = np.random.RandomState(3).randn(2, 7, 3, 4)
    padded = np.pad(data**2, ((0, 0), (2, 2), (0, 0), (0, 0)))
    total = sum(padded[:, i : i + 7] for i in range(5))
    want = data * (2 + 0.1 / 5 * total) ** -beta
    got = mx.nd.LRN(nd.array(data), alpha=0.1, beta=beta, nsize=5)
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["equal", "not_equal", "greater", "greater_equal", "less", "less_equal"])
def test_comparisons_of_many(name, dtype, monkeypatch):
    values = np.random.RandomState(0).randint(-2, 3, (40, 300)).astype(dtype) * 0.1
    values[3, 4:7] = np.nan, np.inf, -np.inf
    one, other = mx.np.array(values, dtype=dtype), mx.np.array(values[::-1], dtype=dtype)
    row = mx.np.array(values[:1], dtype=dtype)
    for rhs in (other, row, one.T[:1, :1], 0.1, 1, other.astype("float64")):
        for _ in range(3):  # a number that comes again is kept
            quick = getattr(mx.np, name)(one, rhs), getattr(one, f"__{OPERATORS[name]}__")(rhs)
        with monkeypatch.context() as patch:
            patch.setattr(tuning, "BOOL_ELEMENTS", 1 << 40)
            want = getattr(mx.np, name)(one, rhs)
        for got in quick:
            assert got.dtype == want.dtype and got.shape == want.shape
            assert (got.asnumpy() == want.asnumpy()).all()


OPERATORS = {
    "equal": "eq", "not_equal": "ne", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le",
}  # fmt: skip


@pytest.mark.parametrize("name", ["isfinite", "isinf", "isnan", "logical_not"])
def test_truths_of_many(name):
    values = np.random.RandomState(0).randint(-2, 3, (40, 300)).astype(np.float32)
    values[3, 4:8] = np.nan, np.inf, -np.inf, -0.0
    got = getattr(mx.np, name)(mx.np.array(values))
    assert got.dtype == np.bool_
    assert (got.asnumpy() == getattr(np, name)(values)).all()


@pytest.mark.parametrize("attrs", [{}, {"transpose": True}, {"lower": False}, {"alpha": 2.0}])
@pytest.mark.parametrize("rightside", [False, True])
def test_triangles_from_both_sides(rightside, attrs):
    random = np.random.RandomState(0)
    given, known = nd.array(random.rand(2, 5, 5) + 3 * np.eye(5)), nd.array(random.rand(2, 5, 5))
    given.attach_grad()
    with autograd.record():
        found = nd.linalg.trsm(given, known, rightside=rightside, **attrs)
    found.backward(known)
    half = np.tril(given.asnumpy()) if attrs.get("lower", True) else np.triu(given.asnumpy())
    triangle = half.swapaxes(1, 2) if attrs.get("transpose") else half
    product = found.asnumpy() @ triangle if rightside else triangle @ found.asnumpy()
    np.testing.assert_allclose(product, attrs.get("alpha", 1) * known.asnumpy(), rtol=1e-5)
    assert ((given.grad.asnumpy() != 0) == (half != 0)).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_halves_are_rounded_away_from_zero(dtype):
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    just_below = np.nextafter(np.array([0.5, 1.5, 2.5], dtype), np.array(0, dtype))
    with np.errstate(invalid="ignore"):
        values = np.concatenate([halves.astype(dtype), just_below, -just_below])
    got = nd.round(nd.array(values, dtype=dtype)).asnumpy()
    with np.errstate(invalid="ignore"):
        exact = values.astype(np.float64)
        inner = np.trunc(exact)
        want = np.where(np.abs(exact - inner) >= 0.5, inner + np.sign(exact), inner)
    np.testing.assert_array_equal(got, want.astype(dtype))
    numbers = ~np.isnan(values)
    assert (np.signbit(got) == np.signbit(values))[numbers].all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_gradient_of_clip(dtype):
    data = nd.array([np.nan, -np.inf, -1, -0.5, 0, 0.5, 1, np.inf], dtype=dtype)
    data.attach_grad()
    for head in (1.0, np.inf):
        with autograd.record():
            out = nd.clip(data, -0.5, 0.5)
        out.backward(nd.full(8, head, dtype=dtype))
        np.testing.assert_array_equal(out.asnumpy(), [np.nan, -0.5, -0.5, -0.5, 0, 0.5, 0.5, 0.5])
        np.testing.assert_array_equal(data.grad.asnumpy(), [head, 0, 0, head, head, head, 0, 0])


def test_bounds_of_clip_are_float32():
    largest = str(np.finfo(np.float32).max)  # 3.4028235e+38, which is a little more in double precision
    for call in (nd.clip, lambda x, **bounds: sym.clip(sym.var("x"), **bounds).eval(x=x)[0]):
        assert call(nd.array([-1, 3, 2**100]), a_min=1, a_max=largest).asnumpy().tolist() == [1, 3, 2**100]
        assert call(nd.array([-1, 3]), a_min="-inf", a_max="inf").asnumpy().tolist() == [-1, 3]
    double = nd.clip(nd.array([0.1, 0.3], dtype="float64"), 0.1, 0.2).asnumpy()
    assert double.tolist() == [0.10000000149011612, 0.20000000298023224]


def test_clip_is_differentiated_twice():
    data = nd.array([-2, -0.5, 0.25, 3])
    data.attach_grad()
    with autograd.record():
        loss = (nd.clip(data, -1, 1) ** 3).sum()
        slope = autograd.grad(loss, [data], create_graph=True)[0]
        total = slope.sum()
    total.backward()
    np.testing.assert_allclose(slope.asnumpy(), [0, 0.75, 0.1875, 0])
    np.testing.assert_allclose(data.grad.asnumpy(), [0, -3, 1.5, 0])


def inverses(shape):
    a = mx.np.array(np.random.RandomState(3).randn(*shape), dtype="float64")
    b = mx.np.array(np.random.RandomState(4).randn(*shape[:-1], 3), dtype="float64")
    found = []
    for function, inputs in ((mx.np.linalg.inv, [a]), (mx.np.linalg.solve, [a, b])):
        for array in inputs:
            array.attach_grad()
        with autograd.record():
            result = function(*inputs)
            loss = (result * result).sum()
        loss.backward()
        found += [result, *(array.grad.copy() for array in inputs)]
    return [f.asnumpy() for f in found]


@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (3, 5, 5), (2, 2, 6, 6)])
def test_inverses_and_solutions_from_the_right(shape, monkeypatch):
    monkeypatch.setattr(linalg, "_MANY", 1)
    quick = inverses(shape)
    monkeypatch.setattr(linalg, "_MANY", 1000)
    for ours, theirs in zip(quick, inverses(shape), strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-9, 1e-9)


def test_singular_matrices_are_refused_by_the_quick_way_too(monkeypatch):
    monkeypatch.setattr(linalg, "_MANY", 1)
    for call in (mx.np.linalg.inv, lambda a: mx.np.linalg.solve(a, a)):
        with pytest.raises(mx.MXNetError, match="singular"):
            call(mx.np.ones((3, 3)))


def test_norms_of_lamb_may_have_more_axes():
    """MXNet checks the first axis only and reads the first number; recorded from 1.9.1."""
    weight, grad = mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[0.1, 0.2], [0.3, 0.4]])
    norms = mx.nd.array([[2, 3, 4, 5]]), mx.nd.array([[4, 1, 1, 1]])
    found = mx.nd.lamb_update_phase2(weight, grad, *norms, lr=0.1)
    np.testing.assert_allclose(found.asnumpy(), [[0.995, 1.99], [2.985, 3.98]], rtol=1e-6)


def test_columns_of_three_axes_and_of_one_axis_of_images():
    """opperf asks for both: three axes are added up, and one axis ignores the last one of the data (MXNet 1.9.1)."""
    columns = mx.nd.arange(2 * 8 * 12).reshape((2, 8, 12))
    image = mx.nd.col2im(columns, output_size=(2, 3, 4), kernel=(1, 1, 1), stride=(1, 1, 2))
    np.testing.assert_array_equal(image[:, :, :, :, ::2].reshape((2, 8, 12)).asnumpy(), columns.asnumpy())
    assert not image[:, :, :, :, 1::2].asnumpy().any()
    found = mx.nd.im2col(mx.nd.arange(120).reshape((2, 3, 5, 4)), kernel=(3,), stride=(1,))
    assert found.shape == (2, 9, 3)
    assert found[1, :4].asnumpy().tolist() == [[60, 61, 62], [61, 62, 63], [62, 63, 64], [65, 66, 67]]
