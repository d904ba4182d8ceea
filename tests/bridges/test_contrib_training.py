"""SVRG modules, with numbers of MXNet 1.9.1, and metrics in TensorBoard's files."""

import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet.contrib.svrg_optimization.svrg_module import SVRGModule
from mxnet.contrib.tensorboard import LogMetricsCallback


def regression(**options):
    data = np.arange(24).reshape(12, 2).astype("float32") / 10
    batches = mx.io.NDArrayIter(data, data @ np.array([1.0, 2.0]), batch_size=5, label_name="y")
    line = mx.sym.FullyConnected(mx.sym.Variable("data"), name="fc", num_hidden=1)
    return batches, SVRGModule(mx.sym.LinearRegressionOutput(line, mx.sym.Variable("y")), ["data"], ["y"], **options)


def fit(batches, module, **options):
    steps = (("learning_rate", 0.05), ("momentum", 0.5))
    module.fit(batches, eval_metric="mse", optimizer_params=steps, num_epoch=4, initializer=mx.init.One(), **options)


def test_svrg_trains_as_in_mxnet():
    batches, module = regression(update_freq=2)
    fit(batches, module)
    params = module.get_params()[0]
    np.testing.assert_allclose(params["fc_weight"].asnumpy(), [[1.6066452264785767, 1.642535924911499]], rtol=1e-5)
    np.testing.assert_allclose(params["fc_bias"].asnumpy(), [0.35890498757362366], rtol=1e-5)


def test_svrg_on_two_devices_goes_through_the_store():
    batches, module = regression(update_freq=1, context=[mx.cpu(0), mx.cpu(1)])
    fit(batches, module)
    assert dict(module.score(batches, "mse"))["mse"] < 1


@pytest.mark.parametrize("frequency, error", [(0, ValueError), (None, TypeError), (1.5, TypeError)])
def test_svrg_wants_a_frequency(frequency, error):
    with pytest.raises(error, match="update_freq in SVRGModule"):
        regression(update_freq=frequency)


def test_metrics_reach_tensorboard(tmp_path):
    batches, module = regression(update_freq=2)
    fit(batches, module, batch_end_callback=LogMetricsCallback(str(tmp_path), prefix="train"))
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert events.Tags()["scalars"] == ["train-mse"]
    assert [e.step for e in events.Scalars("train-mse")][:4] == [0, 0, 0, 1]


def test_without_tensorboard_one_sentence_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(mx.MXNetError, match=r"pip install 'remx\[tensorboard\]'"):
        LogMetricsCallback(str(tmp_path))
