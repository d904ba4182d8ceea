"""What `Estimator.fit` remembers of each epoch, and how a notebook shows it while it grows: a bar and curves."""

import base64
import time
from html import escape

import numpy as np

from ...._core.extras import MXNetError
from ...._training.curves import draw, png
from .event_handler import BatchEnd, EpochBegin, EpochEnd, TrainBegin
from .utils import _check_metrics

__all__ = ["HistoryHandler", "NotebookHandler"]


def _values(metrics):
    return [pair for metric in metrics for pair in metric.get_name_value()]


class HistoryHandler(TrainBegin, EpochEnd):
    """Keeps the values of metrics at the end of each epoch; `Estimator.fit` uses one, and `history` reads it.

    Parameters
    ----------
    metrics : EvalMetric or list of EvalMetric
        What to keep; those of validation have the values of their last evaluation.

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(2)
    >>> net.initialize()
    >>> data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(mx.nd.ones((8, 3)), mx.nd.zeros((8,))), 4)
    >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
    >>> loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    >>> Estimator = mx.gluon.contrib.estimator.Estimator
    >>> est = Estimator(net, loss, mx.metric.Accuracy(), trainer=trainer)
    >>> est.logger.setLevel("ERROR")
    >>> est.fit(data, epochs=3)
    >>> {name: len(values) for name, values in est.history.items()}
    {'training accuracy': 3}
    """

    _counts = ("history",)

    def __init__(self, metrics, priority=np.inf):
        self.metrics, self.priority, self.history = _check_metrics(metrics), priority, {}

    def train_begin(self, estimator, *args, **kwargs):
        """Start afresh."""
        self.history = {}

    def epoch_end(self, estimator, *args, **kwargs):
        """Keep the values; a metric that was never updated has none."""
        for name, value in _values(self.metrics):
            if not np.isnan(value):
                self.history.setdefault(name, []).append(float(value))


class NotebookHandler(TrainBegin, EpochBegin, BatchEnd, EpochEnd):
    """A bar that moves with each batch and curves that grow with each epoch, in the output of a notebook's cell.

    `Estimator.fit` adds one when it runs in a notebook. The curves need matplotlib; the bar does not.

    Parameters
    ----------
    history : HistoryHandler
        Where the values of past epochs are.
    total : int, optional
        Batches in an epoch.
    every : float, default 0.2
        Seconds between two updates of the bar, at least.

    Examples
    --------
    >>> history = mx.gluon.contrib.estimator.HistoryHandler(mx.metric.Accuracy())
    >>> mx.gluon.contrib.estimator.NotebookHandler(history, total=10).html()
    '<div>epoch 0 <progress value="0" max="10"></progress> batch 0: accuracy nan</div>'
    """

    def __init__(self, history, total=None, every=0.2, priority=np.inf):
        self.history, self.total, self.every, self.priority = history, total, every, priority
        self.epoch = self.batch = self._shown = 0
        self._handle, self._curves, self._epochs = None, "", None

    def train_begin(self, estimator, *args, **kwargs):
        """Open the display."""
        from IPython.display import HTML, display

        self._html, self._epochs = HTML, estimator.max_epoch
        self._handle = display(HTML(self.html()), display_id=True)

    def epoch_begin(self, estimator, *args, **kwargs):
        """A new bar; the curves stay."""
        self.epoch, self.batch = self.epoch + 1, 0

    def batch_end(self, estimator, *args, **kwargs):
        """Move the bar, but not more often than a person can see."""
        self.batch += 1
        if time.monotonic() - self._shown >= self.every:
            self._show()

    def epoch_end(self, estimator, *args, **kwargs):
        """Draw the curves."""
        if self.history.history:
            self._curves = self._drawn()
        self._show()

    def _drawn(self):
        try:
            image = base64.b64encode(png(draw(self.history.history))).decode()
        except MXNetError:  # no matplotlib: the bar alone
            return ""
        return f'<img alt="curves of the training" src="data:image/png;base64,{image}">'

    def _show(self):
        self._shown = time.monotonic()
        self._handle.update(self._html(self.html()))

    def html(self):
        """The bar, the metrics as they are now, and the curves."""
        epochs = f" of {self._epochs}" if self._epochs else ""
        bar = f'<progress value="{self.batch}" max="{self.total}"></progress>' if self.total else ""
        numbers = ", ".join(f"{escape(name)} {value:.4f}" for name, value in _values(self.history.metrics))
        return f"<div>epoch {self.epoch}{epochs} {bar} batch {self.batch}: {numbers}</div>{self._curves}"
