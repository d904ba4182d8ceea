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


def _table(name, doc):
    """A property that reads one table of a logger."""
    return property(lambda self: self._dataframes[name], doc=doc)


class PandasLogger:
    """Logs training to pandas tables.

    `train_df` gets a row every `frequent` batches, `eval_df` one for each evaluation, `epoch_df` the times of epochs.

    Parameters
    ----------
    batch_size : int
        Number of samples in a batch.
    frequent : int
        Number of batches between rows of `train_df`.

    Examples
    --------
    >>> data = mx.io.NDArrayIter(np.ones((8, 3)), np.ones(8), batch_size=2)
    >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax"))
    >>> logger = mx.notebook.callback.PandasLogger(batch_size=2, frequent=2)
    >>> mod.fit(data, num_epoch=1, **logger.callback_args())
    >>> [int(count) for count in logger.train_df["minibatch_count"]]
    [0, 2]
    """

    def __init__(self, batch_size, frequent=50):
        frame = _pandas().DataFrame
        self.batch_size, self.frequent = batch_size, frequent
        self._dataframes = {name: frame() for name in ("train", "eval", "epoch")}
        self.last_time = time.time()
        self.start_time = self.last_epoch_time = datetime.now()

    train_df = _table("train", "Metrics of training batches.")
    eval_df = _table("eval", "Metrics of evaluations.")
    epoch_df = _table("epoch", "How long the epochs took.")

    @property
    def all_dataframes(self):
        """Dict of the tables by name: train, eval, epoch."""
        return self._dataframes

    def elapsed(self):
        """Time since the logger was created.

        Returns
        -------
        datetime.timedelta

        Examples
        --------
        >>> logger = mx.notebook.callback.PandasLogger(batch_size=2)
        >>> logger.elapsed().days
        0
        """
        return datetime.now() - self.start_time

    def append_metrics(self, metrics, df_name):
        """Append a row to a table. A metric that the table does not have yet gets a new column.

        Parameters
        ----------
        metrics : dict of str to value
            The values of the row, by column.
        df_name : str
            The table: 'train', 'eval' or 'epoch'.

        Examples
        --------
        >>> logger = mx.notebook.callback.PandasLogger(batch_size=2)
        >>> logger.append_metrics({"accuracy": 0.5}, "train")
        >>> logger.append_metrics({"accuracy": 0.75}, "train")
        >>> logger.train_df["accuracy"].tolist()
        [0.5, 0.75]
        """
        pandas, table = _pandas(), self._dataframes[df_name]
        for column in metrics.keys() - set(table.columns):
            table[column] = pandas.Series(dtype=object)
        table.loc[len(table)] = metrics

    def train_cb(self, param):
        """Callback for `batch_end_callback`: adds a row to `train_df` every `frequent` batches and resets the metric.

        Parameters
        ----------
        param : BatchEndParam
            The epoch, the number of the batch and the metric, as `fit` passes them.

        Examples
        --------
        >>> logger = mx.notebook.callback.PandasLogger(batch_size=2, frequent=1)
        >>> logger.train_cb(mx.model.BatchEndParam(epoch=0, nbatch=0, eval_metric=None, locals=None))
        >>> len(logger.train_df)
        1
        """
        if not param.nbatch % self.frequent:
            self._process_batch(param, "train")

    def _process_batch(self, param, dataframe):
        now = time.time()
        metrics, passed = _taken(param), now - self.last_time
        speed = self.frequent / passed if passed else float("inf")
        # MXNet has these two the wrong way round; programs that plot them expect its columns.
        metrics.update(batches_per_sec=speed * self.batch_size, records_per_sec=speed)
        metrics.update(elapsed=self.elapsed(), minibatch_count=param.nbatch, epoch=param.epoch)
        self.append_metrics(metrics, dataframe)
        self.last_time = now

    def eval_cb(self, param):
        """Callback for `eval_end_callback`: appends a row to `eval_df`.

        Parameters
        ----------
        param : BatchEndParam
            The epoch, the number of batches and the metric, as `score` passes them.

        Examples
        --------
        >>> logger = mx.notebook.callback.PandasLogger(batch_size=2)
        >>> logger.eval_cb(mx.model.BatchEndParam(epoch=0, nbatch=4, eval_metric=None, locals=None))
        >>> int(logger.eval_df["minibatch_count"][0])
        4
        """
        self._process_batch(param, "eval")

    def epoch_cb(self, *_):
        """Callback for `epoch_end_callback`: adds the duration of the epoch to `epoch_df`. Its arguments are ignored.

        Examples
        --------
        >>> logger = mx.notebook.callback.PandasLogger(batch_size=2)
        >>> logger.epoch_cb()
        >>> sorted(logger.epoch_df.columns)
        ['elapsed', 'epoch_time']
        """
        now = datetime.now()
        self.append_metrics({"elapsed": self.elapsed(), "epoch_time": now - self.last_epoch_time}, "epoch")
        self.last_epoch_time = now

    def callback_args(self):
        """Keyword arguments for `fit` that register the callbacks: `module.fit(data, **logger.callback_args())`.

        Returns
        -------
        dict of str to callable

        Examples
        --------
        >>> sorted(mx.notebook.callback.PandasLogger(batch_size=2).callback_args())
        ['batch_end_callback', 'epoch_end_callback', 'eval_end_callback']
        """
        return {
            "batch_end_callback": self.train_cb,
            "eval_end_callback": self.eval_cb,
            "epoch_end_callback": self.epoch_cb,
        }


class LiveBokehChart:
    """Base class of charts in a notebook that are redrawn every `display_freq` seconds.

    Subclasses define `setup_chart`, which shows the chart and returns Bokeh's handle, and `update_chart_data`, which
    gives it new data.

    Parameters
    ----------
    pandas_logger : PandasLogger or None
        The tables to draw; None creates a logger.
    metric_name : str
        The metric that the chart shows.
    display_freq : float, default 10
        Seconds between two drawings.
    batch_size, frequent : int
        Arguments of the `PandasLogger` that is created.
    """

    def __init__(self, pandas_logger, metric_name, display_freq=10, batch_size=None, frequent=50):
        notebook = _bokeh().io
        self.pandas_logger = pandas_logger or PandasLogger(batch_size=batch_size, frequent=frequent)
        self.display_freq, self.metric_name = display_freq, metric_name
        self.last_update = time.time()
        notebook.output_notebook()
        self.handle = self.setup_chart()

    def callback_args(self):
        """Keyword arguments for `fit` that register the callbacks: `module.fit(data, **chart.callback_args())`.

        Returns
        -------
        dict of str to callable
        """
        return {"batch_end_callback": self.batch_cb, "eval_end_callback": self.eval_cb}

    def setup_chart(self):
        """Show the chart. Subclasses must define this method.

        Returns
        -------
        handle
            What `bokeh.plotting.show(figure, notebook_handle=True)` returns.
        """
        raise NotImplementedError(f"{type(self).__name__} must define setup_chart, which shows the chart")

    def update_chart_data(self):
        """Give the chart its new data. Subclasses must define this method."""
        raise NotImplementedError(f"{type(self).__name__} must define update_chart_data, which sets the new data")

    def batch_cb(self, param):
        """Callback for `batch_end_callback`: redraws the chart if `display_freq` seconds have passed.

        Parameters
        ----------
        param : BatchEndParam
            The epoch, the number of the batch and the metric.
        """
        if self.interval_elapsed():
            self._do_update()

    def interval_elapsed(self):
        """Whether `display_freq` seconds have passed since the last drawing.

        Returns
        -------
        bool
        """
        return self.last_update + self.display_freq < time.time()

    def eval_cb(self, param):
        """Callback for `eval_end_callback`: redraws the chart at once.

        Parameters
        ----------
        param : BatchEndParam
            The epoch, the number of batches and the metric.
        """
        self._do_update()

    def _do_update(self):
        self.update_chart_data()
        self._push_render()

    def _push_render(self):
        _bokeh().io.push_notebook(handle=self.handle)
        self.last_update = time.time()


def _points(glyph, x, y):
    """Give a glyph of Bokeh other points."""
    glyph.data_source.data = {"x": list(x), "y": list(y)}


class LiveTimeSeries(LiveBokehChart):
    """Chart of values over time; call `update_chart_data(value)` to append a value.

    Parameters
    ----------
    **fig_params
        Arguments of Bokeh's `figure`, such as `title` or `width`.
    """

    def __init__(self, **fig_params):
        figure = _bokeh().plotting.figure
        self.fig = figure(x_axis_type="datetime", x_axis_label="Elapsed time", **fig_params)
        super().__init__(None, None)

    def setup_chart(self):
        self.start_time, self.x_axis_val, self.y_axis_val = datetime.now(), [], []
        self.line = self.fig.line([], [])
        return _bokeh().plotting.show(self.fig, notebook_handle=True)

    def elapsed(self):
        """Time since the chart was shown.

        Returns
        -------
        datetime.timedelta
        """
        return datetime.now() - self.start_time

    def update_chart_data(self, value):
        """Append a value at the present time and redraw the chart.

        Parameters
        ----------
        value : float
            The value.
        """
        self.x_axis_val.append(self.elapsed())
        self.y_axis_val.append(value)
        _points(self.line, self.x_axis_val, self.y_axis_val)
        self._push_render()


class LiveLearningCurve(LiveBokehChart):
    """Chart of one metric of training and validation over time, updated while `fit` runs.

    Parameters
    ----------
    metric_name : str
        The name of the metric, as `metric.get_name_value()` returns it, for example 'accuracy'.
    display_freq : float, default 10
        Seconds between two drawings.
    frequent : int, default 50
        Number of training batches between two points.
    """

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
        """Callback for `batch_end_callback`: keeps the metric every `frequent` batches, redraws when it is time.

        Parameters
        ----------
        param : BatchEndParam
            The epoch, the number of the batch and the metric.
        """
        if param.nbatch % self.frequent == 0:
            self._process_batch(param, "train")
        super().batch_cb(param)

    def eval_cb(self, param):
        """Callback for `eval_end_callback`: keeps the metric of the validation and redraws.

        Parameters
        ----------
        param : BatchEndParam
            The epoch, the number of batches and the metric.
        """
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
    """Arguments for `fit` that call several loggers and charts.

    Parameters
    ----------
    *args : PandasLogger or LiveBokehChart
        What to call.

    Returns
    -------
    dict of str to list of callable

    Examples
    --------
    >>> from mxnet.notebook.callback import PandasLogger, args_wrapper
    >>> sorted(args_wrapper(PandasLogger(2), PandasLogger(2)))
    ['batch_end_callback', 'epoch_end_callback', 'eval_end_callback']
    """
    found = defaultdict(list)
    for callback in args:
        for name, function in callback.callback_args().items():
            found[name].append(function)
    return dict(found)
