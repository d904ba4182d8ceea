"""`mx.np.random`: the numbers that MXNet draws after `mx.npx.random.seed(5)`, recorded, eager and in a graph."""

import numpy as onp
import pytest

import mxnet as mx
from mxnet import autograd, gluon, np, npx
from mxnet._core.streams import custom_stream


@pytest.fixture(autouse=True)
def numpy_semantics():
    npx.set_np()
    yield
    npx.reset_np()


CHANCES = [0.1, 0.2, 0.3, 0.1, 0.2, 0.1]
DRAWS = [  # what is asked for, the first numbers
    ("uniform", (2, 4), [3.7214746, 2.6452405, 3.5324569, 3.3494196, 2.4482925]),
    ("normal", (1, 2), [0.17555559, 2.6766729, 2.4741273, 3.2463219, 2.4246602]),
    ("lognormal", (0, 1), [0.66217715, 2.3125169, 2.0897901, 3.0745573, 2.0387363]),
    ("exponential", (2.0,), [0.2999318, 2.2625587, 0.53254986, 0.78694504, 2.9909127]),
    ("gamma", (2.0, 3.0), [2.4049034, 3.8689175, 2.5963826, 2.747035, 1.4820303]),
    ("gamma", (0.5, 3.0), [0.6489031, 1.3512378, 1.5403618, 0.2284374, 0.48893455]),
    ("beta", (2, 3), [0.25024557, 0.15447624, 0.20927428, 0.17683114, 0.09851556]),
    ("chisquare", (3,), [0.23757157, 0.42818847, 0.26163083, 0.28077531, 0.12706695]),
    ("gumbel", (), [1.8973473, -0.12334917, 1.323226, 0.93274403, -0.4024314]),
    ("logistic", (), [1.8214275, -0.7417561, 1.1871359, 0.7295652, -1.241665]),
    ("rayleigh", (), [0.5476603, 1.5041804, 0.7297602, 0.8870992, 1.7294255]),
    ("weibull", (2.0,), [0.3872543, 1.0636162, 0.5160183, 0.62727386, 1.2228885]),
    ("pareto", (2.0,), [0.07786577, 0.7605736, 0.14240703, 0.21742292, 1.112196]),
    ("power", (2.0,), [0.37317914, 0.8230308, 0.4834993, 0.5703421, 0.8808256]),
    ("choice", (10,), [4, 0, 1, 5, 1]),
    ("randint", (0, 100), [62, 83, 44, 63, 20]),
]


class Draw(gluon.HybridBlock):
    """Random numbers inside a graph."""

    def __init__(self, name, args):
        super().__init__()
        self.name_, self.args = name, args

    def hybrid_forward(self, F, x):
        return getattr(F.np.random, self.name_)(*self.args, size=(5,)) + x * 0


@pytest.mark.parametrize(("name", "args", "numbers"), DRAWS)
def test_numbers_are_those_of_mxnet(name, args, numbers):
    npx.random.seed(5)
    drawn = getattr(np.random, name)(*args, size=(5,))
    onp.testing.assert_allclose(drawn.asnumpy(), numbers, rtol=3e-6)
    block = Draw(name, args)
    block.hybridize()
    npx.random.seed(5)
    onp.testing.assert_allclose(block(np.zeros(5)).asnumpy(), numbers, rtol=3e-6)
    assert block._active and block._cached_op is not None, "it must have been traced"


def seeded(draw):
    npx.random.seed(5)
    return draw().asnumpy().reshape(-1)[:6].tolist()


def test_choices_and_throws_are_those_of_mxnet():
    random = np.random
    assert seeded(lambda: random.choice(10, (5,), replace=False)) == [0, 9, 6, 3, 5]
    assert seeded(lambda: random.choice(4, (5,), p=np.array([0.1, 0.2, 0.3, 0.4]))) == [3, 2, 3, 3, 1]
    assert seeded(lambda: random.choice(6, (3,), replace=False, p=np.array(CHANCES))) == [2, 0, 5]
    assert seeded(lambda: random.multinomial(10, [0.2, 0.3, 0.5], size=(2,))) == [0, 4, 6, 5, 2, 3]
    assert seeded(lambda: npx.random.bernoulli(0.4, size=(9,))) == [0.0, 1.0, 0.0, 0.0, 1.0, 0.0]


def test_arrays_of_parameters_are_broadcast():
    drawn = seeded(lambda: np.random.normal(np.array([0.0, 10.0]), np.array([[1.0], [2.0]])))
    onp.testing.assert_allclose(drawn, [-0.4122222, 10.8383369, 1.4741273, 12.2463217], rtol=1e-6)
    batch = seeded(lambda: npx.random.normal_n(np.array([0.0, 5.0]), 1, batch_shape=3))
    onp.testing.assert_allclose(batch, [-0.4122222, 5.8383365, 0.7370636, 6.1231608, 0.7123302, 3.9372625], rtol=1e-6)
    with pytest.raises(mx.MXNetError, match="could not be broadcast"):
        np.random.uniform(np.array([1.0, 2.0]), 3.0, size=(2, 3))


def test_gradients_reach_locations_scales_and_exponents():
    scale = np.full((300,), 2.0)
    scale.attach_grad()
    for name in ("exponential", "rayleigh"):
        with autograd.record():
            drawn = getattr(np.random, name)(scale)
        drawn.backward()
        onp.testing.assert_allclose(scale.grad.asnumpy(), drawn.asnumpy() / 2, rtol=1e-5)
    with autograd.record():
        drawn = np.random.weibull(scale)
    drawn.backward()
    expected = -drawn.asnumpy() * onp.log(drawn.asnumpy()) / 2
    onp.testing.assert_allclose(scale.grad.asnumpy(), expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: np.random.normal(0, -1),
        lambda: np.random.exponential(-1.0),
        lambda: np.random.gamma(np.array([1.0, 0.0]), 1.0),
        lambda: np.random.pareto(0.0),
        lambda: np.random.choice(3, 4, replace=False),
        lambda: np.random.multinomial(3, [0.8, 0.9]),
        lambda: npx.random.bernoulli(1.5),
        lambda: npx.random.bernoulli(0.5, 0.5),
    ],
)
def test_parameters_out_of_range_are_value_errors(draw):
    with pytest.raises(ValueError):
        draw()


def test_an_array_may_receive_the_numbers():
    target = np.zeros((2, 3))
    npx.random.seed(5)
    assert np.random.uniform(out=target) is target
    onp.testing.assert_allclose(target.asnumpy()[0], [0.86073732, 0.32262024, 0.76622844], rtol=1e-6)
    npx.random.seed(5)
    np.random.gamma(2.0, 3.0, out=target)
    assert (target.asnumpy() > 0).all()


def test_normal_vectors_have_a_stream_that_no_seed_reaches():
    """Numbers of MXNet 1.9.1: the first calls of a process, in this order, whatever seeds are set in between."""
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]], dtype="float64")
    wanted = {
        "float64": [[4.539742648078187, 3.0879604702600805], [2.2656574379985495, 2.4525577763257886]],
        "float16": [[2.58203125, 2.28125], [2.7265625, 2.142578125]],
        "float32": [[3.262045383453369, 0.9066739082336426], [-0.1953268051147461, 3.457442283630371]],
    }
    custom_stream().reseed(0)
    for dtype, numbers in wanted.items():
        mx.random.seed(11)
        mean = np.array([1.0, 2.0], dtype=dtype)
        found = np.random.multivariate_normal(mean, covariance.astype(dtype), size=(2,))
        assert found.dtype == dtype
        onp.testing.assert_allclose(found.asnumpy(), numbers, rtol=1e-15 if dtype == "float64" else 2e-7)
        onp.testing.assert_array_equal(np.random.uniform(size=(2,)).asnumpy(), onp.float32([0.2994827, 0.6171957]))


def test_a_checkpoint_keeps_the_stream_of_normal_vectors():
    mean, covariance = np.zeros(2), np.eye(2)
    state = mx.random.get_state()
    first = np.random.multivariate_normal(mean, covariance).asnumpy()
    mx.random.set_state(state)
    onp.testing.assert_array_equal(np.random.multivariate_normal(mean, covariance).asnumpy(), first)


def test_power_draws_one_number_more_than_it_returns():
    mx.random.seed(5)
    found = np.random.power(2.0, size=(2, 2))
    onp.testing.assert_allclose(found.asnumpy(), [[0.37317914, 0.82303083], [0.48349929, 0.57034212]], rtol=2e-7)
    found = np.random.power(np.array([1.0, 3.0]))
    onp.testing.assert_allclose(found.asnumpy(), [0.31510121, 0.49564666], rtol=2e-7)
    onp.testing.assert_array_equal(np.random.uniform(size=2).asnumpy(), onp.float32([0.4986414015, 0.2953703105]))
