"""How programs use metrics, beside the values that are compared with MXNet's."""

import math

import numpy as np
import pytest
import torch

import mxnet as mx


def test_nothing_counted_is_nan_and_lists_make_composites():
    name, value = mx.metric.Accuracy().get()
    assert name == "accuracy" and math.isnan(value)
    metric = mx.metric.create(["acc", mx.metric.MAE(), lambda label, pred: 3.0])
    metric.update([mx.nd.array([1, 0])], [mx.nd.array([1, 1])])
    assert metric.get() == (["accuracy", "mae", "custom(<lambda>)"], [0.5, 0.5, 3.0])
    assert metric.get_name_value()[0] == ("accuracy", 0.5)
    assert str(mx.metric.create("mse")) == "EvalMetric: {'mse': nan}"
    assert isinstance(metric.get_metric(9), ValueError)


def test_names_choose_among_dicts_of_arrays():
    metric = mx.metric.create("acc", output_names=["b"], label_names=["y"])
    good, bad = mx.nd.array([1, 1]), mx.nd.array([0, 0])
    metric.update_dict({"x": bad, "y": good}, {"a": bad, "b": good})
    assert metric.get()[1] == 1.0


def test_a_config_makes_the_metric_again():
    config = mx.metric.TopKAccuracy(top_k=3).get_config()
    assert config["metric"] == "TopKAccuracy" and config["top_k"] == 3
    with pytest.raises(NotImplementedError):
        mx.metric.np(lambda label, pred: 0).get_config()


def test_functions_on_numpy_arrays():
    def distance(label, pred):
        return float(np.abs(label - pred).sum()), label.size

    metric = mx.metric.np(distance)
    metric.update([mx.nd.array([1, 2])], [mx.nd.array([2, 4])])
    assert metric.get() == ("distance", 1.5)


def test_a_program_writes_its_own_in_the_old_way():
    class Zeros(mx.metric.EvalMetric):
        def __init__(self):
            super().__init__("zeros")

        def update(self, labels, preds):
            for pred in preds:
                self.sum_metric += int((pred.asnumpy() == 0).sum())
                self.num_inst += pred.size

    metric = Zeros()
    metric.update(None, [mx.nd.array([0, 1, 0, 5])])
    assert metric.get() == ("zeros", 0.5) and metric.get_global() == ("zeros", 0.5)


def test_sums_of_float32_are_double_as_under_numpy_1():
    class Loss(mx.metric.EvalMetric):
        def update(self, labels, preds):
            self.sum_metric += preds[0].asnumpy().sum()
            self.num_inst += 1

    metric = Loss("loss")
    for value in (1e8, 1.0, 1.0):  # float32 would lose the ones
        metric.update(None, [mx.nd.array([value])])
    assert metric.sum_metric == 100000002.0 and str(metric.get()[1]) == "33333334.0"


def test_wrong_lengths_and_classes_are_refused():
    with pytest.raises(ValueError, match="Shape of labels 1 does not match shape of predictions 2"):
        mx.metric.Accuracy().update([mx.nd.ones((2,))], [mx.nd.ones((2,))] * 2)
    with pytest.raises(ValueError, match="Shape of labels 3 does not match shape of predictions 2"):
        mx.metric.Accuracy().update([mx.nd.ones((3,))], [mx.nd.ones((2, 2))])
    with pytest.raises(ValueError, match="only supports binary classification"):
        mx.metric.F1().update([mx.nd.array([0, 1, 2])], [mx.nd.ones((3, 2))])
    with pytest.raises(mx.MXNetError, match="axis 1 exceeds the input dimension of 1"):
        mx.metric.Accuracy().update([mx.nd.ones((3,))], [mx.nd.ones((4,))])
    with pytest.raises(AssertionError, match="use Accuracy"):
        mx.metric.TopKAccuracy(top_k=1)


def test_sums_wait_on_the_device_and_leave_the_graph():
    metric, pred = mx.metric.Loss(), mx.nd.ones((4,))
    pred.attach_grad()
    with mx.autograd.record():
        metric.update(None, [pred * 2])
    held = metric.__dict__["_sum_metric"]
    assert not held.requires_grad
    assert metric.get() == ("loss", 2.0) and metric.sum_metric == 8.0


SCORES = np.array([[0.55, 0.72, 0.6], [0.54, 0.42, 0.65], [0.44, 0.89, 0.96], [0.38, 0.79, 0.53], [0.57, 0.93, 0.07]])


def test_odd_inputs_as_mxnet_takes_them():
    label, pred = mx.nd.array([[0], [2], [1], [1], [0]]), mx.nd.array(SCORES)
    pcc = mx.metric.PCC()
    pcc.update([label], [pred])
    assert pcc.get()[1] == pytest.approx(0.14433757)
    pcc = mx.metric.PCC()
    pcc.update([label.reshape((-1,))[:3]], [pred])  # MXNet counts what both have
    assert pcc.get()[1] == pytest.approx(0.0)
    with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(3,1\) \(5,1\)"):
        mx.metric.MSE().update([mx.nd.ones((3,))], [mx.nd.ones((5,))])
    with pytest.raises(ValueError, match="top_k=7 is more than the 3 classes"):
        mx.metric.TopKAccuracy(top_k=7).update([label], [pred])
    with pytest.raises(IndexError, match="axis 1 is out of bounds for array of dimension 1"):
        mx.metric.F1().update([mx.nd.ones((3,))], [mx.nd.ones((3,))])
    with pytest.raises(AssertionError, match="must have NDArray type"):
        mx.metric.Accuracy().update([np.ones(5)], [SCORES])


def test_whole_numbers_and_matrices_of_classes_are_counted():
    for name, value in (("mae", 2.5), ("mse", 6.5), ("rmse", 2.5495097567963922)):
        metric = mx.metric.create(name)
        metric.update([mx.nd.array([3, 5], dtype="int32")], [mx.nd.array([1, 8], dtype="int32")])
        assert metric.get() == (name, pytest.approx(value))
    pcc = mx.metric.PCC()
    pcc.update([mx.nd.array([[0, 1, 1], [2, 2, 0]])], [mx.nd.array([[0, 1, 0], [2, 2, 1]])])
    assert pcc.get() == ("pcc", 0.375) and pcc.lcm.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize(
    ("metric", "labels", "error"),
    [
        (mx.metric.F1(), (4, 3), ValueError),
        (mx.metric.TopKAccuracy(2), (4, 3), ValueError),
        (mx.metric.Perplexity(None, axis=0), (4,), mx.MXNetError),
        (mx.metric.Perplexity(None, axis=5), (4,), mx.MXNetError),
    ],
)
def test_labels_that_do_not_fit_are_no_errors_of_the_engine(metric, labels, error):
    with pytest.raises(error, match="labels"):
        metric.update([mx.nd.ones(labels)], [mx.nd.ones((4, 3))])


@pytest.mark.parametrize("name", ["acc", "ce", "top_k_accuracy", "mae", "rmse", "loss", "f1", "mcc"])
def test_counting_a_batch_reads_nothing_back_from_a_device(name, monkeypatch):
    options = {"top_k": 2} if name == "top_k_accuracy" else {}
    shape = (6,) if name in ("mae", "rmse", "loss") else (6, 2)
    metric = mx.metric.create(name, **options)
    label, pred = mx.nd.array([0, 1, 1, 0, 1, 0]), mx.nd.uniform(0.1, 0.9, shape)
    if name in ("f1", "mcc"):  # on the CPU, where reading is free, wrong labels are told at once
        monkeypatch.setattr(metric._metrics, "check", lambda: None)
    reads = []
    for method in ("item", "tolist", "numpy", "__bool__", "__float__", "__int__"):
        monkeypatch.setattr(torch.Tensor, method, lambda self, *_, method=method: reads.append(method))
    for _ in range(3):
        metric.update([label], [pred])
    assert reads == []
    monkeypatch.undo()
    assert math.isfinite(metric.get()[1])


def test_a_function_may_return_numpy_numbers():
    """Numbers of MXNet with NumPy 1: sums with half precision are kept in double, and shown as numbers."""
    metric = mx.metric.CustomMetric(lambda label, pred: (label.sum(), 3), name="mine")
    for values in ([1.1, 2.2, -9.7], [0.1, 2.2, -3.3]):
        metric.update([mx.nd.array(values, dtype="float16")], [mx.nd.zeros(3)])
    assert metric.get() == ("mine", -1.2347005208333333)
    assert str(metric) == "EvalMetric: {'mine': -1.2347005208333333}"
