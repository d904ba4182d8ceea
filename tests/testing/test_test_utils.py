"""`mx.test_utils`, used as programs use it: each check passes what is right and refuses what is wrong."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd, sym
from mxnet import test_utils as tu

X = np.array([[0.5, -1.0, 2.0], [0.1, 0.7, -0.3]])


class Doubled(mx.operator.CustomOp):
    """Its gradient is wrong on purpose."""

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * 3)


@mx.operator.register("doubled_wrongly")
class DoubledProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Doubled()


def test_gradients_beside_numbers():
    x = sym.var("x")
    tu.check_numeric_gradient(sym.tanh(x) * x, [X], rtol=1e-2, atol=1e-3)
    tu.check_numeric_gradient(sym.dot(x, sym.var("w")), {"x": X, "w": X.T}, rtol=1e-2, atol=1e-3)
    with pytest.raises(AssertionError):
        tu.check_numeric_gradient(sym.Custom(x, op_type="doubled_wrongly"), [X], rtol=1e-2, atol=1e-3)


def test_values_beside_expected_ones():
    y = sym.square(sym.var("x")) + sym.var("b")
    tu.check_symbolic_forward(y, {"x": X, "b": X}, [X**2 + X], rtol=1e-5)
    with pytest.raises(AssertionError):
        tu.check_symbolic_forward(y, {"x": X, "b": X}, [X**2], rtol=1e-5)
    ones = np.ones_like(X)
    tu.check_symbolic_backward(y, [X, X], [ones], {"x": 2 * X, "b": ones}, rtol=1e-5)
    tu.check_symbolic_backward(y, [X, X], [ones], {"x": 2 * X, "b": ones}, rtol=1e-5, grad_req="add")
    with pytest.raises(AssertionError):
        tu.check_symbolic_backward(y, [X, X], [ones], {"x": 3 * X, "b": ones}, rtol=1e-5)


def test_the_same_in_several_types_and_places():
    net = sym.FullyConnected(sym.var("data"), num_hidden=4, name="fc")
    places = [
        {"ctx": mx.cpu(0), "data": (2, 3), "type_dict": {"data": np.float64}},
        {"ctx": mx.cpu(1), "data": (2, 3), "type_dict": {"data": np.float32}},
    ]
    tu.check_consistency(net, places)
    with pytest.raises(AssertionError):
        tu.check_consistency([net, net + 1], places)


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
def test_random_arrays(stype):
    array = tu.rand_ndarray((6, 5), stype, density=0.4)
    assert array.shape == (6, 5) and array.stype == stype and np.isfinite(array.asnumpy()).all()


def test_shapes_and_samples():
    assert len(tu.rand_shape_2d(4, 5)) == 2 and max(tu.rand_shape_nd(6, dim=3)) <= 3
    one, two = tu.random_arrays((2, 3), (4,))
    assert one.shape == (2, 3) and two.shape == (4,)
    assert sorted(tu.random_sample([1, 2, 3], 3)) == [1, 2, 3]


def test_comparisons():
    tu.assert_almost_equal_ignore_nan(np.array([1.0, 2.0, np.nan]), np.array([1.0, 2.0, 7.0]))
    tu.assert_almost_equal(nd.array([1.0]), np.array([1.0 + 1e-7]))
    with pytest.raises(AssertionError, match=r"Error [\d.]+ exceeds tolerance rtol"):
        tu.assert_almost_equal(nd.array([1.0, 2.0]), np.array([1.0, 2.1]))
    assert tu.almost_equal(X, X + 1e-9) and not tu.almost_equal(X, X + 1)
    assert tu.same(X, X.copy()) and not tu.same(X, X + 1e-9)
    tu.assert_exception(nd.dot, mx.MXNetError, nd.ones((2, 3)), nd.ones((2, 3)))
    with pytest.raises(AssertionError):
        tu.assert_exception(lambda: None, ValueError)


def test_arrays_that_share_memory():
    whole = nd.zeros((2, 3))
    assert tu.same_array(whole, whole[:]) and not tu.same_array(whole, whole.copy())
    assert (whole.asnumpy() == 0).all()


def test_a_second_attempt():
    left = [AssertionError("first"), None]

    @tu.retry(2)
    def attempt():
        failure = left.pop(0)
        if failure is not None:
            raise failure
        return "done"

    attempt()
    assert left == []
    left[:] = [AssertionError("first"), AssertionError("second")]
    with pytest.raises(AssertionError, match="second"):
        attempt()


def test_graphs_of_the_same_structure():
    def net(name):
        return sym.relu(sym.FullyConnected(sym.var(name), num_hidden=2), name="out")

    assert tu.same_symbol_structure(net("a"), net("b"))
    assert not tu.same_symbol_structure(net("a"), sym.tanh(sym.FullyConnected(sym.var("a"), num_hidden=2)))


def test_optimizers_step_by_step():
    kind = mx.optimizer.SGD
    tu.compare_optimizer(kind(learning_rate=0.1), kind(learning_rate=0.1), [(3, 4)], np.float32)
    with pytest.raises(AssertionError):
        tu.compare_optimizer(kind(learning_rate=0.1), kind(learning_rate=0.3), [(3, 4)], np.float32)


def test_distributions():
    pytest.importorskip("scipy")
    from scipy import stats

    buckets, chances = tu.gen_buckets_probs_with_ppf(stats.norm(0, 1).ppf, 5)
    rng = np.random.RandomState(3)
    sample = rng.normal(size=20000)
    assert tu.chi_square_check(lambda n: sample[:n], buckets, chances, 20000)[0] > 0.01
    assert tu.chi_square_check(lambda n: sample[:n] + 1, buckets, chances, 20000)[0] < 1e-6
    assert tu.mean_check(lambda n: sample[:n], 0, 1, nsamples=20000)
    assert not tu.mean_check(lambda n: sample[:n] + 1, 0, 1, nsamples=20000)
    assert tu.var_check(lambda n: sample[:n], 1, nsamples=20000)


def test_the_default_context():
    before = tu.default_context()
    try:
        tu.set_default_context(mx.cpu(3))
        assert tu.default_context() == mx.cpu(3) and nd.ones(1).context == mx.cpu(3)
    finally:
        tu.set_default_context(before)
    assert nd.ones(1).context == before


def test_old_names_of_autograd():
    old = mx.contrib.autograd
    gradient, loss = old.grad_and_loss(lambda x: x * x)(nd.array([1.0, 2.0]))
    assert gradient[0].asnumpy().tolist() == [2, 4] and loss.asnumpy().tolist() == [1, 4]
    with old.train_section():
        assert autograd.is_training() and autograd.is_recording()
        with old.test_section():
            assert not autograd.is_training()
    assert not autograd.is_recording()


def test_a_difference_is_told_as_mxnet_tells_it(capsys):
    with pytest.raises(AssertionError) as failure:
        tu.assert_almost_equal(np.array([1.0, 2.0]), np.array([1.0, 2.1]))
    assert str(failure.value) == (
        "\nItems are not equal:\nError 4761.904762 exceeds tolerance rtol=1.000000e-05, atol=1.000000e-20 "
        "(mismatch 50.000000%).\nLocation of maximum error: (1,), a=2.00000000, b=2.10000000\n"
        " ACTUAL: array([1., 2.])\n DESIRED: array([1. , 2.1])"
    )
    assert "  1: Error 4761.904762  Location of error: (1,), a=2.00000000, b=2.10000000" in capsys.readouterr().out


def test_the_class_of_numpys_symbols_is_there():
    assert isinstance(mx.sym.var("x").as_np_ndarray(), tu.np_symbol)
