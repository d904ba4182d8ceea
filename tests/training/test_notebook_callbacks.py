"""`mx.notebook.callback`: tables and live charts of a training run."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import mxnet as mx
from mxnet.base import MXNetError
from mxnet.notebook import callback


class Glyph:
    def __init__(self, x, y, **options):
        self.data_source, self.options = SimpleNamespace(data={"x": list(x), "y": list(y)}), options


class Figure:
    def __init__(self, **options):
        self.options, self.legend, self.yaxis = options, SimpleNamespace(), SimpleNamespace()

    line = scatter = staticmethod(Glyph)


@pytest.fixture
def shown(monkeypatch):
    """As much of Bokeh as charts use; gives what is pushed to the notebook."""
    pushed = []
    bokeh, io, plotting = (ModuleType(n) for n in ("bokeh", "bokeh.io", "bokeh.plotting"))
    io.output_notebook, io.push_notebook = lambda: None, lambda handle: pushed.append(handle)
    plotting.figure, plotting.show = Figure, lambda figure, notebook_handle: figure
    bokeh.io, bokeh.plotting = io, plotting
    for module in (bokeh, io, plotting):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return pushed


def fit(**arguments):
    """Four batches, twice, of a small module."""
    data = mx.io.NDArrayIter(np.ones((8, 3), "float32"), np.arange(8) % 2, batch_size=2)
    out = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
    mx.mod.Module(out).fit(data, eval_data=data, num_epoch=2, eval_metric="acc", **arguments)


def test_tables_have_a_row_for_each_look():
    pytest.importorskip("pandas")
    logger = callback.PandasLogger(batch_size=2, frequent=2)
    fit(**logger.callback_args())
    assert list(logger.train_df["minibatch_count"]) == [0, 2, 0, 2] and list(logger.train_df["epoch"]) == [0, 0, 1, 1]
    assert len(logger.eval_df) == len(logger.epoch_df) == 2
    assert set(logger.epoch_df.columns) == {"elapsed", "epoch_time"}
    columns = {"accuracy", "batches_per_sec", "records_per_sec", "elapsed", "minibatch_count", "epoch"}
    assert set(logger.train_df.columns) == columns and logger.all_dataframes["eval"] is logger.eval_df
    assert all(0 <= value <= 1 for value in logger.eval_df["accuracy"])


def test_learning_curves_show_both_kinds_of_data(shown):
    pytest.importorskip("pandas")
    chart = callback.LiveLearningCurve("accuracy", display_freq=0, frequent=1)
    fit(**chart.callback_args())
    assert len(chart.train1.data_source.data["y"]) == 8 and len(chart.valid1.data_source.data["y"]) == 2
    assert chart.valid1.data_source.data == chart.valid2.data_source.data
    assert chart.fig.yaxis.axis_label == "accuracy" and shown and set(shown) == {chart.fig}


def test_time_series_grow(shown):
    pytest.importorskip("pandas")
    chart = callback.LiveTimeSeries(title="loss")
    for value in (3, 2, 1):
        chart.update_chart_data(value)
    assert chart.line.data_source.data["y"] == [3, 2, 1] and len(shown) == 3
    assert chart.fig.options["title"] == "loss"


def test_several_are_called_together():
    pytest.importorskip("pandas")
    one, two = callback.PandasLogger(2, 1), callback.PandasLogger(2, 4)
    fit(**callback.args_wrapper(one, two))
    assert len(two.train_df) == 2 and len(one.train_df) == 8


def test_missing_packages_are_told_in_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "bokeh", None)
    with pytest.raises(MXNetError, match=r"drawn by Bokeh.*remx\[notebook\]"):
        callback.LiveTimeSeries()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MXNetError, match=r"tables in pandas.*remx\[notebook\]"):
        callback.PandasLogger(1)
