"""Outputs of executors are bound once: arrays taken before a forward, and views of them, show its results."""

import numpy as np
import pytest

import mxnet as mx

S = mx.sym
DATA = np.array([[1, 2], [3, 4]], "float32")
WEIGHT = np.array([[1, 0], [1, 1]], "float32")
PRODUCT = DATA @ WEIGHT.T


def _network():
    x, w = S.var("x"), S.var("w")
    return S.Group([S.FullyConnected(x, w, no_bias=True, num_hidden=2, name="fc"), S.sum(x, axis=1, name="total")])


def _bound():
    return _network().bind(mx.cpu(), {"x": mx.nd.array(DATA), "w": mx.nd.array(WEIGHT)})


def _simply_bound():
    executor = _network().simple_bind(mx.cpu(), x=(2, 2), w=(2, 2))
    executor.arg_dict["x"][:], executor.arg_dict["w"][:] = DATA, WEIGHT
    return executor


def _shared():
    executor = _network().simple_bind(mx.cpu(), shared_exec=_simply_bound(), x=(2, 2), w=(2, 2))
    executor.arg_dict["x"][:], executor.arg_dict["w"][:] = DATA, WEIGHT
    return executor


def _reshaped():
    executor = _network().simple_bind(mx.cpu(), x=(5, 2), w=(2, 2)).reshape(x=(2, 2))
    executor.arg_dict["x"][:], executor.arg_dict["w"][:] = DATA, WEIGHT
    return executor


@pytest.mark.parametrize("make", [_bound, _simply_bound, _shared, _reshaped])
@pytest.mark.parametrize("train", [False, True])
def test_outputs_taken_early_are_filled_by_every_forward(make, train):
    executor = make()
    first, second = executor.outputs
    named = executor.output_dict
    assert first.shape == (2, 2) and second.shape == (2,)
    for factor in (1, 2, 3):
        executor.arg_dict["x"][:] = DATA * factor
        executor.forward(is_train=train)
        np.testing.assert_array_equal(first.asnumpy(), PRODUCT * factor)
        np.testing.assert_array_equal(second.asnumpy(), [3 * factor, 7 * factor])
        np.testing.assert_array_equal(named["fc_output"].asnumpy(), PRODUCT * factor)


@pytest.mark.parametrize("early", [True, False])
def test_views_of_outputs_show_the_newest_results(early):
    executor = _bound()
    if not early:
        executor.forward()
    output = executor.outputs[0]
    flat, row, constant = output.reshape((-1,)), output[1], output.detach()
    kept = output.copy(), output.asnumpy()
    before = output.asnumpy()
    for factor in (2, 3):
        executor.forward(x=mx.nd.array(DATA * factor))
        np.testing.assert_array_equal(flat.asnumpy(), PRODUCT.ravel() * factor)
        np.testing.assert_array_equal(row.asnumpy(), PRODUCT[1] * factor)
        np.testing.assert_array_equal(constant.asnumpy(), PRODUCT * factor)
    np.testing.assert_array_equal(kept[0].asnumpy(), before)
    np.testing.assert_array_equal(kept[1], before)


def test_an_executor_bound_to_the_outputs_of_another():
    x = S.var("x")
    first = S.square(x).bind(mx.cpu(), {"x": mx.nd.array(DATA)})
    second = (x + 1).bind(mx.cpu(), {"x": first.outputs[0]})
    for factor in (1, 2):
        first.forward(x=mx.nd.array(DATA * factor))
        second.forward()
        np.testing.assert_array_equal(second.outputs[0].asnumpy(), (DATA * factor) ** 2 + 1)


def test_a_written_output_is_overwritten_by_the_next_forward():
    executor = _bound()
    output = executor.outputs[0]
    output[:] = 9
    executor.forward()
    np.testing.assert_array_equal(output.asnumpy(), PRODUCT)


def test_outputs_of_a_module_taken_early():
    module = mx.mod.Module(S.FullyConnected(S.var("data"), num_hidden=2, name="fc"), label_names=None)
    module.bind([("data", (2, 3))], for_training=False)
    module.init_params(mx.init.One())
    output = module.get_outputs()[0]
    for value in (1, 2):
        module.forward(mx.io.DataBatch([mx.nd.ones((2, 3)) * value]))
        np.testing.assert_array_equal(output.asnumpy(), np.full((2, 2), 3 * value))


def test_sparse_outputs_taken_early():
    x = S.var("x", stype="csr")
    executor = S.Group([S.sparse.square(x), S.sparse.sum(x, axis=1)]).bind(
        mx.cpu(), {"x": mx.nd.sparse.csr_matrix(DATA)}
    )
    squared, total = executor.outputs
    assert squared.stype == "csr"
    executor.forward()
    np.testing.assert_array_equal(squared.asnumpy(), DATA**2)
    np.testing.assert_array_equal(total.asnumpy(), [3, 7])
