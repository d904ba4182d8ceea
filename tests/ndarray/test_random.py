"""`mx.nd.random` and `mx.random`: MXNet's numbers through the public functions, gradients, errors, resume."""

import pathlib

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet._ops.random import torch_streams as random_device

GOLDEN = np.load(pathlib.Path(__file__).parents[1] / "data" / "streams.npz")


def test_the_numbers_of_mxnet():
    mx.random.seed(7)
    np.testing.assert_array_equal(mx.nd.random.uniform(shape=(65,)).asnumpy(), GOLDEN["uniform|0,1|float32|7|65"])
    mx.random.seed(7)
    normal = mx.nd.random.normal(shape=(8, 16)).asnumpy()
    np.testing.assert_allclose(normal.ravel(), GOLDEN["normal|0,1|float32|7|128"], rtol=3e-7)
    mx.random.seed(7)
    low, high = (mx.nd.array(v) for v in ([0.0, 2.5, -3.0], [1.0, 3.75, 4.0]))
    rows = mx.nd.random.uniform(low, high, shape=50)
    assert rows.shape == (3, 50)
    golden = GOLDEN["rows:uniform:float32|0.0,2.5,-3.0;1.0,3.75,4.0|float32|7|150"]
    np.testing.assert_array_equal(rows.asnumpy().ravel(), golden)


@pytest.mark.parametrize(
    ("kind", "parameters", "numbers"),
    [
        ("uniform", (2, 5), [3.755859375, 3.265625, 3.32421875, 2.982421875]),
        ("normal", (2, 5), [-6.1796875, -7.515625, -2.4609375, -7.390625]),
        ("gamma", (0.6, 5), [0.13505399227142334, 0.3410395383834839, 0.4072204828262329, 3.6635847091674805]),
        ("exponential", (3,), [0.29345703125, 0.1824951171875, 0.194091796875, 0.13232421875]),
    ],
)
def test_parameters_in_half_precision_round_at_every_step(kind, parameters, numbers):
    """Also where float32 is asked for: a number times a half is a half."""
    mx.random.seed(3)
    arrays = [mx.nd.array([p], dtype="float16") for p in parameters]
    drawn = getattr(mx.nd, f"sample_{kind}")(*arrays, shape=4, dtype="float32")
    np.testing.assert_allclose(drawn.asnumpy().ravel(), numbers, rtol=2e-7 if kind == "gamma" else 0)


def test_counts_whose_parameters_are_in_half_precision():
    mx.random.seed(3)
    means, spread = mx.nd.array([300, 5], dtype="float16"), mx.nd.array([0.4, 0.5], dtype="float16")
    counts = mx.nd.random.generalized_negative_binomial(means, spread, shape=500, dtype="float16").asnumpy()
    assert counts[0, :4].tolist() == [83, 343, 65, 1094] and counts.astype("float64").sum() == 150951


@pytest.mark.parametrize("size", [1, 3, 400])  # few by NumPy, many by kernels
def test_counts_that_no_integer_holds(size):
    """Infinite scales times nothing, rates that are no number: MXNet converts them to the lowest integer."""
    lowest, nan, inf = -(2**31), np.nan, np.inf
    draw, array = mx.nd.random, mx.nd.array
    for found in (
        draw.generalized_negative_binomial(mu=1e30, alpha=1e30, shape=size),
        draw.generalized_negative_binomial(array([nan, inf]), array([1.0, 1.0]), shape=size),
        draw.negative_binomial(array([1e-30]), array([0.0]), shape=size),
        draw.poisson(array([nan, inf, 1e30]), shape=size),
    ):
        assert (found.asnumpy() == lowest).all()
    mx.random.seed(3)
    counts = draw.negative_binomial(array([1e-30, 3]), array([0.0, 0.5]), shape=3).asnumpy()
    assert counts.tolist() == [[lowest] * 3, [3, 1, 3]]


def test_choices_and_their_log_likelihoods():
    mx.random.seed(7)
    chances = mx.nd.array([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.0, 0.5]])
    chances.attach_grad()
    with mx.autograd.record():
        samples, log = mx.nd.random.multinomial(chances, shape=(40,), get_prob=True)
    log.backward()
    np.testing.assert_array_equal(samples.asnumpy().ravel(), GOLDEN["multinomial|||7|80"])
    np.testing.assert_allclose(log.asnumpy().ravel(), GOLDEN["multinomial_log|||7|80"], rtol=1e-6)
    counts = np.stack([np.bincount(row, minlength=4) for row in samples.asnumpy()])
    chosen = chances.asnumpy()
    expected = np.divide(counts, chosen, where=chosen > 0, out=counts * 0.0)
    np.testing.assert_allclose(chances.grad.asnumpy(), expected, rtol=1e-5)
    order = mx.nd.random.shuffle(mx.nd.arange(500)).asnumpy()
    assert sorted(order) == list(range(500))


def test_out_gives_shape_and_dtype():
    target = mx.nd.zeros((2, 3), dtype="float64")
    mx.random.seed(1)
    assert mx.nd.random.uniform(out=target) is target and target.asnumpy().min() > 0
    with pytest.raises(mx.MXNetError, match="Output type does not match"):
        mx.nd.random.uniform(out=target, dtype="float32")
    with pytest.raises(mx.MXNetError, match="Shape inconsistent"):
        mx.nd.random.uniform(out=target, shape=(3, 2))


def test_shapes_and_dtypes():
    assert mx.nd.random.uniform().shape == (1,)
    assert mx.nd.random.randn(2, 3, loc=5).shape == (2, 3)
    assert mx.nd.random.randint(0, 5, shape=3).dtype == np.int32
    assert mx.nd.random.uniform(shape=2, dtype="float16").dtype == np.float16
    assert mx.nd.random.uniform_like(mx.nd.ones((2, 3), dtype="float64")).dtype == np.float64
    assert [a.shape for a in mx.nd._internal._sample_unique_zipfian(range_max=50, shape=(2, 5))] == [(2, 5), (2,)]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: mx.nd.random.uniform(1, 0, shape=2), mx.MXNetError, "low must be less or equal to high"),
        (lambda: mx.nd.random.normal(0, -1, shape=2), mx.MXNetError, "scale parameter in gaussian"),
        (lambda: mx.nd.random.gamma(0, 1, shape=2), mx.MXNetError, "alpha parameter in gamma"),
        (lambda: mx.nd.random.poisson(-1, shape=2), mx.MXNetError, "lambda parameter in poisson"),
        (lambda: mx.nd.random.uniform(shape=2, dtype="int32"), mx.MXNetError, "Invalid Input: 'int32'"),
        (lambda: mx.nd.random.uniform(mx.nd.ones(2), 1), AssertionError, "must all have the same type"),
        (lambda: mx.nd.random.uniform("a", 1), ValueError, "either NDArray or numbers"),
        (lambda: mx.nd._internal._random_uniform(0, 1), mx.MXNetError, "inferring shapes failed"),
        (lambda: mx.nd.random.uniform(mx.nd.ones(2), mx.nd.ones(3)), mx.MXNetError, "inferring shapes failed"),
        (lambda: mx.nd.random.multinomial(mx.nd.ones(2, dtype="int32")), mx.MXNetError, "floating point"),
        (lambda: mx.random.seed(1.5), ValueError, "seed_state must be int"),
    ],
)
def test_what_is_wrong_is_said(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("alpha", [-1.0, float("nan"), float("inf")])
def test_gamma_numbers_that_nobody_would_find_are_refused(alpha):
    """MXNet looks for them without end."""
    shapes = mx.nd.array([2.0, alpha])
    with pytest.raises(mx.MXNetError, match="positive, finite shape"):
        mx.nd.random.gamma(shapes, mx.nd.ones(2), shape=3)
    if alpha < np.inf:
        with pytest.raises(mx.MXNetError, match="positive, finite shape"):
            mx.nd.random.negative_binomial(-mx.nd.abs(shapes), mx.nd.ones(2) * 0.5, shape=3)


def test_a_refused_call_draws_nothing():
    mx.random.seed(3)
    expected = mx.nd.random.uniform(shape=4).asnumpy()
    mx.random.seed(3)
    with pytest.raises(mx.MXNetError):
        mx.nd.random.uniform(out=mx.nd.zeros(2), shape=3)
    np.testing.assert_array_equal(mx.nd.random.uniform(shape=4).asnumpy(), expected)


def test_resume_continues_every_stream():
    mx.random.seed(5)
    mx.nd.random.normal(shape=1001)
    state = mx.random.get_state()

    def draws():
        with mx.autograd.record():
            dropped = mx.nd.Dropout(mx.nd.ones(100), p=0.5)
        return [mx.nd.random.normal(shape=9), mx.nd.random.shuffle(mx.nd.arange(9)), dropped]

    first = [a.asnumpy() for a in draws()]
    mx.random.set_state(state)
    for a, b in zip(first, draws(), strict=True):
        np.testing.assert_array_equal(a, b.asnumpy())


def test_sampling_differentiates_to_zero():
    mean = mx.nd.array([0.0, 1.0])
    mean.attach_grad()
    with mx.autograd.record():
        y = mx.nd.random.normal(mean, mx.nd.ones(2), shape=3) * 2
    y.backward()
    assert not mean.grad.asnumpy().any()


DEVICE = [
    ("uniform", (1.0, 3.0), 2.0), ("normal", (1.0, 2.0), 1.0), ("exponential", (2.0,), 0.5), ("gamma", (2.0, 3.0), 6.0),
    ("poisson", (4.0,), 4.0), ("negative_binomial", (3.0, 0.4), 4.5), ("randint", (0, 11), 5.0),
    ("generalized_negative_binomial", (2.0, 0.3), 2.0), ("generalized_negative_binomial", (2.0, 0.0), 2.0),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "parameters", "mean"), DEVICE)
def test_devices_without_a_stream_draw_with_torch(kind, parameters, mean):
    import torch

    torch.manual_seed(0)
    dtype = torch.int32 if kind == "randint" else torch.float32
    drawn = random_device.draw(kind, parameters, (200, 100), dtype, torch.device("cpu"))
    assert drawn.dtype is dtype and drawn.shape == (200, 100)
    assert abs(drawn.double().mean().item() - mean) < 0.1


def test_the_quick_way_of_creation_is_the_long_one():
    """An operator without inputs runs in the generated code; while it is watched, or with `out`, elsewhere."""
    calls = {
        "uniform": {"low": -1, "high": 2.5, "shape": (3, 2)},
        "normal": {"loc": 1, "scale": 2, "shape": 70, "dtype": "float64"},
        "randint": {"low": 2, "high": 9, "shape": (5,), "dtype": np.int64},
        "exponential": {"lam": 2.0, "shape": [2, 2]},
    }
    for kind, given in calls.items():
        call, results = getattr(nd._internal, f"_random_{kind}"), []
        for more in ({}, {"ctx": mx.cpu(1)}, {"ctx": "cpu(1)"}):
            mx.random.seed(4)
            results.append(call(**given, **more))
        mx.random.seed(4)
        results.append(call(**given, out=nd.zeros(results[0].shape, dtype=results[0].dtype)))
        for result in results:
            assert result.dtype == results[0].dtype and (result.asnumpy() == results[0].asnumpy()).all()
        assert [r.context for r in results] == [mx.cpu(0), mx.cpu(1), mx.cpu(1), mx.cpu(0)]
    with mx.cpu(3):
        assert nd._internal._zeros(shape=(2,)).context == mx.cpu(3)


def test_what_is_wrong_with_a_creation_is_said():
    for given, error in (({"shape": (2,), "dtype": "int7"}, TypeError), ({"shap": 2}, mx.MXNetError)):
        with pytest.raises(error):
            nd._internal._random_uniform(**given)
    with pytest.raises(mx.MXNetError, match="low must be less or equal to high"):
        nd._internal._random_uniform(low=2, high=1, shape=(2,))


@pytest.mark.parametrize(
    ("seed", "choices", "order", "numbers"),
    [
        (5, [2, 0, 5, 5, 2, 3, 5, 5, 4], [1, 3, 5, 7, 2, 0, 4, 6], [0.8607373237609863, 0.3226202428340912]),
        (84249, [3, 5, 1, 1, 5, 5, 4, 5, 4], [4, 3, 1, 0, 2, 7, 6, 5], [0.6255047917366028, 0.3188932240009308]),
    ],
)
def test_the_seed_of_one_device(seed, choices, order, numbers):
    """MXNet takes it as it is for choices and orders, and spreads it for the other distributions."""
    mx.random.seed(seed, ctx=mx.cpu(0))
    chances = nd.softmax(nd.arange(6) / 3)
    assert nd.random.multinomial(chances, shape=9).asnumpy().tolist() == choices
    assert nd.shuffle(nd.arange(8)).asnumpy().tolist() == order
    assert nd.random.uniform(shape=2).asnumpy().tolist() == numbers


def test_a_density_of_one_sample_has_one_axis():
    assert nd.random_pdf_dirichlet(nd.array([0.3]), nd.array([2.0])).shape == (1,)
