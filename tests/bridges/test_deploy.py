"""Inference out of checkpoints: one predictor, several, and many threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet._core.writes import WRITES, Watch
from mxnet.deploy import Predictor


@pytest.fixture
def checkpoint(tmp_path):
    """(prefix, the same network as a function)."""
    data = mx.sym.Variable("data")
    x = mx.sym.BatchNorm(mx.sym.Convolution(data, kernel=(3, 3), num_filter=4, name="conv"), name="bn")
    x = mx.sym.FullyConnected(mx.sym.Activation(x, act_type="relu"), num_hidden=3, name="fc")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(x, name="softmax"))
    module.bind([("data", (2, 3, 8, 8))], [("softmax_label", (2,))])
    module.init_params(mx.init.Xavier())
    module.save_checkpoint(str(tmp_path / "net"), 3)

    def evaluated(images):
        module.forward(mx.io.DataBatch([nd.array(images)], [nd.zeros(len(images))]), is_train=False)
        return module.get_outputs()[0].asnumpy()

    return str(tmp_path / "net"), evaluated


def images(seed, batch=2):
    return np.random.default_rng(seed).normal(size=(batch, 3, 8, 8)).astype("float32")


def test_forward_output_and_reshape(checkpoint):
    prefix, evaluated = checkpoint
    predictor = Predictor(prefix, 3, {"data": (2, 3, 8, 8)})
    assert (predictor.output_names, predictor.output_shapes) == (["softmax_output"], [(2, 3)])
    predictor.forward(data=images(0))
    np.testing.assert_allclose(predictor.get_output(0), evaluated(images(0)), rtol=1e-5)
    predictor.reshape({"data": (5, 3, 8, 8)})
    out = predictor.forward(data=nd.array(images(1, 5))).get_output(0)
    np.testing.assert_allclose(out, evaluated(images(1, 5)), rtol=1e-5)


def test_threads_share_a_predictor(checkpoint):
    prefix, evaluated = checkpoint
    predictor = Predictor(prefix, 3, {"data": (2, 3, 8, 8)})
    wanted = [evaluated(images(i)) for i in range(16)]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda i: predictor.forward(data=images(i)).get_output(0), range(16)))
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_two_predictors_do_not_disturb_each_other(checkpoint):
    prefix, _ = checkpoint
    first, second = (Predictor(prefix, 3, {"data": (2, 3, 8, 8)}) for _ in range(2))
    first.forward(data=images(0))
    before = first.get_output(0)
    second.forward(data=images(1))
    np.testing.assert_array_equal(first.get_output(0), before)


def test_several_predictors_at_once_in_many_threads(checkpoint):
    prefix, evaluated = checkpoint
    predictors = [Predictor(prefix, 3, {"data": (batch, 3, 8, 8)}) for batch in (1, 2, 3)]
    wanted = {(i, batch): evaluated(images(i, batch)) for i in range(8) for batch in (1, 2, 3)}

    def predicted(case):
        i, batch = case
        return predictors[batch - 1].forward(data=images(i, batch)).get_output(0)

    with ThreadPoolExecutor(6) as threads:
        for case, found in zip(wanted, threads.map(predicted, wanted), strict=True):
            np.testing.assert_allclose(found, wanted[case], rtol=1e-5)


def test_faults_are_told(checkpoint):
    prefix, _ = checkpoint
    with pytest.raises(mx.MXNetError, match="no input image"):
        Predictor(prefix, 3, {"image": (2, 3, 8, 8)})
    with pytest.raises(mx.MXNetError, match="conv"):
        Predictor(prefix, 3, {"data": (2, 5, 8, 8)})
    with pytest.raises(mx.MXNetError, match="data is neither"):
        Predictor(prefix, 3, {})
    predictor = Predictor(prefix, 3, {"data": (2, 3, 8, 8)})
    with pytest.raises(mx.MXNetError, match="call forward"):
        predictor.get_output(0)
    with pytest.raises(mx.MXNetError, match=r"shape \(1, 3, 8, 8\)"):
        predictor.forward(data=images(0, 1))
    with pytest.raises(mx.MXNetError, match="takes data"):
        predictor.forward(x=images(0))
    with pytest.raises(mx.MXNetError, match="none of number 4"):
        predictor.forward(data=images(0)).get_output(4)


def test_values_inside_the_network_can_be_asked_for(checkpoint):
    prefix, evaluated = checkpoint
    predictor = Predictor(prefix, 3, {"data": (2, 3, 8, 8)}, outputs=["bn", "softmax_output", "fc_output"])
    assert predictor.output_names == ["bn_output", "softmax_output", "fc_output"]
    assert predictor.output_shapes == [(2, 4, 6, 6), (2, 3), (2, 3)]
    predictor.forward(data=images(0))
    np.testing.assert_allclose(predictor.get_output(1), evaluated(images(0)), rtol=1e-5)
    scores = np.exp(predictor.get_output(2))
    np.testing.assert_allclose(scores / scores.sum(1, keepdims=True), predictor.get_output(1), rtol=1e-5)
    only = Predictor(prefix, 3, {"data": (2, 3, 8, 8)}, outputs="conv")  # needs neither the label nor the rest
    assert only.forward(data=images(0)).get_output().shape == (2, 4, 6, 6)
    with pytest.raises(mx.MXNetError, match="nothing called conf.*did you mean"):
        Predictor(prefix, 3, {"data": (2, 3, 8, 8)}, outputs=["conf"])


def test_names_of_parameters_are_not_offered_as_inputs(checkpoint):
    with pytest.raises(mx.MXNetError, match="its inputs are data, softmax_label$"):
        Predictor(checkpoint[0], 3, {"dta": (2, 3, 8, 8)})


def test_a_failed_reshape_changes_nothing(checkpoint):
    predictor = Predictor(checkpoint[0], 3, {"data": (2, 3, 8, 8)})
    with pytest.raises(mx.MXNetError, match="Error in operator fc"):
        predictor.reshape({"data": (2, 3, 9, 8)})
    assert predictor.forward(data=images(0)).get_output().shape == (2, 3)


def test_parameters_are_compared_again_only_after_a_write():
    """A comparison of all parameters in each prediction costs as much as a small network itself."""
    symbol = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    params = {"fc_weight": nd.ones((3, 4)), "fc_bias": nd.zeros(3)}
    predictor = mx.deploy.Predictor.from_symbol(symbol, params, {"data": (2, 4)})
    watch = Watch(predictor._params.values())
    watch.looked(WRITES.now())
    row = np.ones((2, 4), "float32")
    for _ in range(3):
        assert (predictor.forward(data=row).get_output(0) == 4).all()
        assert watch.untouched()
    params["fc_weight"][:] = 2
    assert not watch.untouched()
    assert (predictor.forward(data=row).get_output(0) == 8).all()
