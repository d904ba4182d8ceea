"""Callbacks log MXNet's lines and write its files."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest
import training_cases

import mxnet as mx


def batch(epoch, nbatch, metric=None):
    return SimpleNamespace(epoch=epoch, nbatch=nbatch, eval_metric=metric)


def accuracy():
    metric = mx.metric.create("acc")
    metric.update([mx.nd.array([0, 1, 1, 0])], [mx.nd.array([0, 1, 1, 1])])
    return metric


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO)
    return lambda: [record.getMessage() for record in caplog.records]


def test_speedometer_logs_every_so_many_batches(lines, monkeypatch):
    clock = iter(range(100, 200, 2))
    monkeypatch.setattr("mxnet.callback.time.time", lambda: next(clock))
    speedometer, metric = mx.callback.Speedometer(batch_size=10, frequent=2), accuracy()
    for count in range(4):
        speedometer(batch(1, count, metric))
    assert lines() == ["Epoch[1] Batch [0-2]\tSpeed: 10.00 samples/sec\taccuracy=0.750000"]
    assert metric.num_inst == 0 and metric.global_num_inst == 4


def test_speedometer_without_reset_and_without_metric(lines, monkeypatch):
    clock = iter(range(100, 200, 2))
    monkeypatch.setattr("mxnet.callback.time.time", lambda: next(clock))
    speedometer = mx.callback.Speedometer(10, frequent=2, auto_reset=False)
    metric = accuracy()
    for count in range(3):
        speedometer(batch(0, count, metric))
    speedometer(batch(0, 4))
    assert lines() == [
        "Epoch[0] Batch [0-2]\tSpeed: 10.00 samples/sec\taccuracy=0.750000",
        "Iter[0] Batch [4]\tSpeed: 10.00 samples/sec",
    ]
    assert metric.num_inst == 4


def test_progress_bar_and_metric_logs(lines):
    mx.callback.ProgressBar(total=8, length=8)(batch(0, 3))
    mx.callback.log_train_metric(2)(batch(0, 4, accuracy()))
    mx.callback.LogValidationMetricsCallback()(batch(7, 0, accuracy()))
    assert lines() == [
        "[===-----] 38%",
        "Iter[0] Batch[4] Train-accuracy=0.750000",
        "Epoch[7] Validation-accuracy=0.750000",
    ]


def test_checkpoints_at_the_end_of_epochs(tmp_path, lines):
    prefix = str(tmp_path / "net")
    weights = {"fc1_weight": mx.nd.ones((2, 3))}
    save = mx.callback.do_checkpoint(prefix, period=2)
    for epoch in range(4):
        save(epoch, training_cases.network(mx), weights, {})
    manifests = [f"net-{epoch:04d}.manifest.json" for epoch in (2, 4)]  # ours: what belongs together, with its hashes
    files = ["net-0002.params", "net-0004.params", "net-symbol.json"]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(files + manifests)
    assert lines()[0] == f'Saved checkpoint to "{prefix}-0002.params"'
    symbol, args, auxs = mx.model.load_checkpoint(prefix, 4)
    assert symbol.list_outputs() == ["softmax_output"] and auxs == {}
    assert (args["fc1_weight"].asnumpy() == 1).all()


def test_module_checkpoint_keeps_the_optimizer(tmp_path):
    prefix = str(tmp_path / "mod")
    module, _ = training_cases.fitted(mx, epochs=2)
    mx.callback.module_checkpoint(module, prefix, save_optimizer_states=True)(1)
    assert (tmp_path / "mod-0002.states").exists()


class OfOne(mx.metric.EvalMetric):
    """A metric whose value is an array of one element, as sums of `asnumpy()` are."""

    def get(self):
        return self.name, np.array([0.25])


def test_metrics_that_are_arrays_of_one_element_are_printed(lines, monkeypatch):
    clock = iter(range(100, 200, 2))
    monkeypatch.setattr("mxnet.callback.time.time", lambda: next(clock))
    speedometer, metric = mx.callback.Speedometer(batch_size=10, frequent=2), OfOne("mine")
    for callback in (speedometer, mx.callback.log_train_metric(2), mx.callback.LogValidationMetricsCallback()):
        for count in (1, 2):
            callback(batch(1, count, metric))
    assert lines() == [
        "Epoch[1] Batch [0-2]\tSpeed: 10.00 samples/sec\tmine=0.250000",
        "Iter[1] Batch[2] Train-mine=0.250000",
        *["Epoch[1] Validation-mine=0.250000"] * 2,
    ]


def test_fit_prints_metrics_that_are_arrays_of_one_element(lines):
    data = mx.io.NDArrayIter(np.ones((4, 3), "float32"), np.zeros(4), 2)
    module = mx.mod.Module(
        mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
    )
    module.fit(data, data, eval_metric=mx.metric.np(lambda label, pred: np.array([0.5])), num_epoch=1)
    assert [line for line in lines() if "=" in line and "Time" not in line] == [
        "Epoch[0] Train-custom(<lambda>)=0.500000", "Epoch[0] Validation-custom(<lambda>)=0.500000"
    ]  # fmt: skip
