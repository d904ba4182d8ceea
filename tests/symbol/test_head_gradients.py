"""`Executor.backward()` without head gradients: wanted only where one would reach a variable."""

import numpy as np
import pytest

import mxnet as mx

S = mx.sym
X, L = S.var("x"), S.var("l")
DATA = np.arange(8, dtype="float32").reshape(2, 4) / 10
LABELS = np.array([1, 3], "float32")


def _loss():
    return S.SoftmaxOutput(X, L, name="loss")


# What MXNet 1.9.1 gives for SoftmaxOutput on these numbers, whatever stands behind the loss.
SOFTMAX = np.array([[0.2138, -0.7637, 0.2612, 0.2887], [0.2138, 0.2363, 0.2612, -0.7113]])
BEHIND = {
    "Reshape": lambda s: S.Reshape(s, shape=(-1,)),
    "transpose": S.transpose,
    "slice_axis": lambda s: S.slice_axis(s, axis=0, begin=0, end=1),
    "scalar": lambda s: s * 2,
    "identity": S.identity,
    "Concat": lambda s: S.Concat(s, s, dim=0),
    "mean": S.mean,
    "Flatten": S.flatten,
    "square": S.square,
    "sum of two": lambda s: s + s,
    "softmax": S.softmax,
    "Dropout": S.Dropout,
    "Cast": lambda s: S.Cast(s, dtype="float64"),
    "pick": lambda s: S.pick(s, L),
    "argmax": lambda s: S.argmax(s, axis=1),
    "BlockGrad": lambda s: S.BlockGrad(S.Reshape(s, shape=(-1,))),
    "two outputs": lambda s: S.split(s, num_outputs=2),
    "group": lambda s: S.Group([s, S.square(S.BlockGrad(X))]),
    "an equal loss": lambda s: s + S.SoftmaxOutput(X, L, name="again"),  # equal calls are one in MXNet's graphs
    "group with a comparison": lambda s: S.Group([X > 0, S.zeros_like(X), S.Reshape(s, shape=(-1,))]),
}


def _bound(symbol):
    arguments = {"x": mx.nd.array(DATA), "l": mx.nd.array(LABELS)}
    arguments = {name: arguments[name] for name in symbol.list_arguments()}
    return symbol.bind(mx.cpu(), arguments, {"x": mx.nd.ones((2, 4)) * 7})


@pytest.mark.parametrize("monitored", [False, True])
@pytest.mark.parametrize("name", BEHIND)
def test_operators_behind_a_loss_need_no_head_gradient(name, monitored):
    executor = _bound(BEHIND[name](_loss()))
    if monitored:
        executor.set_monitor_callback(lambda name, array: None)
    executor.forward(is_train=True)
    executor.backward()
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), SOFTMAX, atol=6e-5)


def test_operators_behind_a_loss_need_no_head_gradient_when_mirrored(monkeypatch):
    monkeypatch.setenv("MXNET_BACKWARD_DO_MIRROR", "1")
    executor = _bound(S.transpose(S.Reshape(_loss() * 2 + 1, shape=(4, 2))))
    executor.forward(is_train=True)
    executor.backward()
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), SOFTMAX, atol=6e-5)


@pytest.mark.parametrize("make", [S.MakeLoss, S.make_loss])
@pytest.mark.parametrize("behind", [lambda s: s, S.sum, lambda s: S.Reshape(s, shape=(-1,)), lambda s: s * 3])
def test_make_loss_starts_with_ones_whatever_follows(make, behind):
    executor = _bound(behind(make(S.square(X))))
    executor.forward(is_train=True)
    executor.backward()
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), 2 * DATA)


def test_blocked_squares_have_the_gradient_zero():
    executor = _bound(S.square(S.BlockGrad(X)))
    executor.forward(is_train=True)
    executor.backward()
    assert not executor.grad_dict["x"].asnumpy().any()


@pytest.mark.parametrize("monitored", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        lambda: _loss() + X,
        lambda: S.Group([_loss(), S.square(X)]),
        lambda: S.square(X),
        lambda: S.Group([X, _loss()]),
        lambda: S.sum(S.softmax_cross_entropy(X, L)),
    ],
)
def test_a_head_gradient_that_reaches_a_variable_is_asked_for(make, monitored):
    executor = _bound(make())
    if monitored:
        executor.set_monitor_callback(lambda name, array: None)
    executor.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match="head_gradient is required"):
        executor.backward()


def test_layers_behind_a_loss_ask_for_a_head_gradient_only_if_they_are_trained():
    layer = S.FullyConnected(_loss(), num_hidden=2, name="fc")
    trained = layer.simple_bind(mx.cpu(), x=(2, 4), l=(2,))
    trained.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match="head_gradient is required"):
        trained.backward()
    frozen = layer.simple_bind(mx.cpu(), x=(2, 4), l=(2,), grad_req={"x": "write"})
    frozen.arg_dict["x"][:], frozen.arg_dict["l"][:] = DATA, LABELS
    frozen.forward(is_train=True)
    frozen.backward()
    np.testing.assert_allclose(frozen.grad_dict["x"].asnumpy(), SOFTMAX, atol=6e-5)


@pytest.mark.parametrize(
    ("loss", "times"),
    [("SoftmaxOutput", 1), ("LinearRegressionOutput", 1), ("LogisticRegressionOutput", 1), ("SVMOutput", 2)],
)
def test_equal_losses_count_once_unless_they_are_heads_or_keep_a_state(loss, times):
    def gradient(make):
        label = (2, 4) if "Regression" in loss else (2,)
        executor = make(lambda name: getattr(S, loss)(X, L, name=name)).simple_bind(mx.cpu(), x=(2, 4), l=label)
        executor.arg_dict["x"][:] = DATA
        executor.forward(is_train=True)
        executor.backward()
        return executor.grad_dict["x"].asnumpy()

    one = gradient(lambda make: make("one"))
    assert np.abs(one).sum() > 0.1
    np.testing.assert_allclose(gradient(lambda make: make("one") + make("two")), times * one, rtol=1e-6)
    np.testing.assert_allclose(gradient(lambda make: S.concat(make("one"), make("two"))), times * one, rtol=1e-6)
    np.testing.assert_allclose(gradient(lambda make: S.Group([make("one"), make("two")])), 2 * one, rtol=1e-6)
    np.testing.assert_allclose(gradient(lambda make: S.Group([make("one") * 2, make("two")])), 2 * one, rtol=1e-6)
