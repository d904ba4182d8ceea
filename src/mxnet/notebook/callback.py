"""Callbacks for `fit` that fill tables (pandas) and draw live charts (Bokeh) while a network trains."""

import time
from collections import defaultdict
from datetime import datetime

from .._core.extras import load


def _pandas():
    return load("PandasLogger keeps its tables in pandas, which cannot be imported", "notebook", "pandas")


def _bokeh():
    """Bokeh with the modules that draw in notebooks."""
    need = "Live charts are drawn by Bokeh, which cannot be imported"
    return load(need, "notebook", "bokeh", "bokeh.io", "bokeh.plotting")


def _taken(param):
    """The metrics of a callback's parameter by name; they begin anew."""
    if param.eval_metric is None:
        return {}
    metrics = dict(param.eval_metric.get_name_value())
    param.eval_metric.reset()
    return metrics


class PandasLogger:
    """Three tables: `train_df` with a row every `frequent` batches, `eval_df` for evaluations, `epoch_df` for times."""

    def __init__(self, batch_size, frequent=50):
        frame = _pandas().DataFrame
        self.batch_size, self.frequent = batch_size, frequent
        self._dataframes = {name: frame() for name in ("train", "eval", "epoch")}
        self.last_time = time.time()
        self.start_time = self.last_epoch_time = datetime.now()

    @property
    def train_df(self):
        """Metrics of training batches."""
        return self._dataframes["train"]

    @property
    def eval_df(self):
        """Metrics of evaluations."""
        return self._dataframes["eval"]

    @property
    def epoch_df(self):
        """How long the epochs took."""
        return self._dataframes["epoch"]

    @property
    def all_dataframes(self):
        """The tables by name: train, eval, epoch."""
        return self._dataframes

    def elapsed(self):
        """The time since the logger was made."""
        return datetime.now() - self.start_time

    def append_metrics(self, metrics, df_name):
        """Add a row to a table; a metric that is new gets a column."""
        pandas, table = _pandas(), self._dataframes[df_name]
        for column in metrics.keys() - set(table.columns):
            table[column] = pandas.Series(dtype=object)
        table.loc[len(table)] = metrics

    def train_cb(self, param):
        """For `batch_end_callback`."""
        if param.nbatch % self.frequent == 0:
            self._process_batch(param, "train")

    def eval_cb(self, param):
        """For `eval_end_callback`."""
        self._process_batch(param, "eval")

    def _process_batch(self, param, dataframe):
        now = time.time()
        metrics, passed = _taken(param), now - self.last_time
        speed = self.frequent / passed if passed else float("inf")
        # MXNet has these two the wrong way round; programs that plot them expect its columns.
        metrics.update(batches_per_sec=speed * self.batch_size, records_per_sec=speed)
        metrics.update(elapsed=self.elapsed(), minibatch_count=param.nbatch, epoch=param.epoch)
        self.append_metrics(metrics, dataframe)
        self.last_time = now

    def epoch_cb(self, *_):
        """For `epoch_end_callback`."""
        now = datetime.now()
        self.append_metrics({"elapsed": self.elapsed(), "epoch_time": now - self.last_epoch_time}, "epoch")
        self.last_epoch_time = now

    def callback_args(self):
        """Arguments for `fit`: `module.fit(data, **logger.callback_args())`."""
        return {
            "batch_end_callback": self.train_cb,
            "eval_end_callback": self.eval_cb,
            "epoch_end_callback": self.epoch_cb,
        }


class LiveBokehChart:
    """A chart in a notebook that is drawn again every `display_freq` seconds; subclasses say what it shows."""

    def __init__(self, pandas_logger, metric_name, display_freq=10, batch_size=None, frequent=50):
        bokeh = _bokeh()
        self.pandas_logger = pandas_logger or PandasLogger(batch_size=batch_size, frequent=frequent)
        self.display_freq, self.metric_name = display_freq, metric_name
        self.last_update = time.time()
        bokeh.io.output_notebook()
        self.handle = self.setup_chart()

    def setup_chart(self):
        """Show the chart; returns Bokeh's handle of it."""
        raise NotImplementedError("Incomplete base class: LiveBokehChart must be sub-classed")

    def update_chart_data(self):
        """Give the chart its new data."""
        raise NotImplementedError("Incomplete base class: LiveBokehChart must be sub-classed")

    def interval_elapsed(self):
        """Is it time to draw again?"""
        return time.time() - self.last_update > self.display_freq

    def _push_render(self):
        _bokeh().io.push_notebook(handle=self.handle)
        self.last_update = time.time()

    def _do_update(self):
        self.update_chart_data()
        self._push_render()

    def batch_cb(self, param):
        """For `batch_end_callback`."""
        if self.interval_elapsed():
            self._do_update()

    def eval_cb(self, param):
        """For `eval_end_callback`: draws at once."""
        self._do_update()

    def callback_args(self):
        """Arguments for `fit`: `module.fit(data, **chart.callback_args())`."""
        return {"batch_end_callback": self.batch_cb, "eval_end_callback": self.eval_cb}


def _points(glyph, x, y):
    """Give a glyph of Bokeh other points."""
    glyph.data_source.data = {"x": list(x), "y": list(y)}


class LiveTimeSeries(LiveBokehChart):
    """A line through the values that `update_chart_data(value)` is given, over time."""

    def __init__(self, **fig_params):
        figure = _bokeh().plotting.figure
        self.fig = figure(x_axis_type="datetime", x_axis_label="Elapsed time", **fig_params)
        super().__init__(None, None)

    def setup_chart(self):
        self.start_time, self.x_axis_val, self.y_axis_val = datetime.now(), [], []
        self.line = self.fig.line([], [])
        return _bokeh().plotting.show(self.fig, notebook_handle=True)

    def elapsed(self):
        """The time since the chart was shown."""
        return datetime.now() - self.start_time

    def update_chart_data(self, value):
        self.x_axis_val.append(self.elapsed())
        self.y_axis_val.append(value)
        _points(self.line, self.x_axis_val, self.y_axis_val)
        self._push_render()


class LiveLearningCurve(LiveBokehChart):
    """One metric of training and validation over time."""

    def __init__(self, metric_name, display_freq=10, frequent=50):
        self.frequent, self.start_time = frequent, datetime.now()
        self._data = {"train": {"elapsed": []}, "eval": {"elapsed": []}}
        super().__init__(None, metric_name, display_freq, frequent)

    def setup_chart(self):
        plotting = _bokeh().plotting
        self.fig = plotting.figure(x_axis_type="datetime", x_axis_label="Training time")
        self.train1 = self.fig.line([], [], line_dash="dotted", alpha=0.3, legend_label="train")
        self.valid1 = self.fig.line([], [], line_color="green", line_width=2, legend_label="validation")
        self.valid2 = self.fig.scatter([], [], line_color="green", line_width=2)
        self.fig.legend.location = "bottom_right"
        self.fig.yaxis.axis_label = self.metric_name
        return plotting.show(self.fig, notebook_handle=True)

    def batch_cb(self, param):
        if param.nbatch % self.frequent == 0:
            self._process_batch(param, "train")
        super().batch_cb(param)

    def eval_cb(self, param):
        self._process_batch(param, "eval")
        super().eval_cb(param)

    def _process_batch(self, param, df_name):
        metrics = {**_taken(param), "elapsed": datetime.now() - self.start_time}
        for name, value in metrics.items():
            self._data[df_name].setdefault(name, []).append(value)

    def update_chart_data(self):
        for kind, glyphs in (("train", [self.train1]), ("eval", [self.valid1, self.valid2])):
            table = self._data[kind]
            if self.metric_name in table:
                for glyph in glyphs:
                    _points(glyph, table["elapsed"], table[self.metric_name])


def args_wrapper(*args):
    """Arguments for `fit` that call all of several loggers and charts."""
    found = defaultdict(list)
    for callback in args:
        for name, function in callback.callback_args().items():
            found[name].append(function)
    return dict(found)
