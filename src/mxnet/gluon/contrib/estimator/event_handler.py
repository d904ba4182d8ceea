"""Event handlers: what is done at the beginning and end of training, epochs and batches."""

import time
import warnings

import numpy as np

from ...._core.progress import progress
from ....metric import CompositeEvalMetric, EvalMetric
from ....metric import Loss as metric_loss
from .utils import _check_metrics

__all__ = [
    "BatchBegin", "BatchEnd", "CheckpointHandler", "EarlyStoppingHandler", "EpochBegin", "EpochEnd",
    "GradientUpdateHandler", "LoggingHandler", "MetricHandler", "ProgressBarHandler", "StoppingHandler", "TrainBegin",
    "TrainEnd", "ValidationHandler",
]  # fmt: skip


class EventHandler:
    """Base of all handlers. What `state_dict` gives is saved with a checkpoint and set again by `load_state_dict`."""

    _counts = ()

    def state_dict(self):
        """The progress of the handler, a dict of numbers, texts, lists and arrays; it is saved with a checkpoint. Not
        in MXNet.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import BatchEnd
        >>> BatchEnd().state_dict()
        {}
        """
        return {name: getattr(self, name) for name in self._counts if hasattr(self, name)}

    def load_state_dict(self, state):
        """Continue from what `state_dict` returned. Not in MXNet.

        Parameters
        ----------
        state : dict
            The progress.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import BatchEnd
        >>> handler = BatchEnd()
        >>> handler.load_state_dict({"seen": 3})
        >>> handler.seen
        3
        """
        for name, value in state.items():
            setattr(self, name, value)


def _check_event_handlers(handlers):
    handlers = [handlers] if isinstance(handlers, EventHandler) else handlers or []
    if not all(isinstance(handler, EventHandler) for handler in handlers):
        raise ValueError(f"handlers must be an EventHandler or a list of EventHandler, got: {handlers}")
    return handlers


class TrainBegin(EventHandler):
    """A handler with a method `train_begin(estimator)`, which is called before training.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import TrainBegin
    >>> class Hello(TrainBegin):
    ...     def train_begin(self, estimator, *args, **kwargs):
    ...         print("training begins")
    >>> Hello().train_begin(None)
    training begins
    """

    def train_begin(self, estimator, *args, **kwargs):
        """Called before training.

        Parameters
        ----------
        estimator : Estimator
            The estimator that trains.
        *args, **kwargs
            Not used.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import TrainBegin
        >>> class Hello(TrainBegin):
        ...     def train_begin(self, estimator, *args, **kwargs):
        ...         print("training begins")
        >>> Hello().train_begin(None)
        training begins
        """


class TrainEnd(EventHandler):
    """A handler with a method `train_end(estimator)`, which is called after training.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import TrainEnd
    >>> class Bye(TrainEnd):
    ...     def train_end(self, estimator, *args, **kwargs):
    ...         print("training ends")
    >>> Bye().train_end(None)
    training ends
    """

    def train_end(self, estimator, *args, **kwargs):
        """Called after training.

        Parameters
        ----------
        estimator : Estimator
            The estimator that trained.
        *args, **kwargs
            Not used.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import TrainEnd
        >>> class Bye(TrainEnd):
        ...     def train_end(self, estimator, *args, **kwargs):
        ...         print("training ends")
        >>> Bye().train_end(None)
        training ends
        """


class EpochBegin(EventHandler):
    """A handler with a method `epoch_begin(estimator)`, which is called before each epoch.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import EpochBegin
    >>> class Count(EpochBegin):
    ...     def epoch_begin(self, estimator, *args, **kwargs):
    ...         print("an epoch begins")
    >>> Count().epoch_begin(None)
    an epoch begins
    """

    def epoch_begin(self, estimator, *args, **kwargs):
        """Called before each epoch.

        Parameters
        ----------
        estimator : Estimator
            The estimator that trains.
        *args, **kwargs
            Not used.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import EpochBegin
        >>> class Announce(EpochBegin):
        ...     def epoch_begin(self, estimator, *args, **kwargs):
        ...         print("an epoch begins")
        >>> Announce().epoch_begin(None)
        an epoch begins
        """


class EpochEnd(EventHandler):
    """A handler with a method `epoch_end(estimator)`, which is called after each epoch.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import EpochEnd
    >>> class Count(EpochEnd):
    ...     def epoch_end(self, estimator, *args, **kwargs):
    ...         print("an epoch ends")
    >>> Count().epoch_end(None)
    an epoch ends
    """

    def epoch_end(self, estimator, *args, **kwargs):
        """Called after each epoch.

        Parameters
        ----------
        estimator : Estimator
            The estimator that trains.
        *args, **kwargs
            Not used.

        Returns
        -------
        bool
            Whether training ends here.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import EpochEnd
        >>> class Once(EpochEnd):
        ...     def epoch_end(self, estimator, *args, **kwargs):
        ...         return True
        >>> Once().epoch_end(None)
        True
        """
        return False


class BatchBegin(EventHandler):
    """A handler with a method `batch_begin(estimator)`, which is called before each batch.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import BatchBegin
    >>> class Count(BatchBegin):
    ...     def batch_begin(self, estimator, *args, **kwargs):
    ...         print("a batch begins")
    >>> Count().batch_begin(None)
    a batch begins
    """

    def batch_begin(self, estimator, *args, **kwargs):
        """Called before each batch.

        Parameters
        ----------
        estimator : Estimator
            The estimator that trains.
        *args
            Not used.
        **kwargs
            `batch`: the batch, as the loader gave it.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import BatchBegin
        >>> class Announce(BatchBegin):
        ...     def batch_begin(self, estimator, *args, **kwargs):
        ...         print("a batch of", len(kwargs["batch"][0]), "samples")
        >>> Announce().batch_begin(None, batch=(mx.nd.ones((4, 2)), mx.nd.ones((4,))))
        a batch of 4 samples
        """


class BatchEnd(EventHandler):
    """A handler with a method `batch_end(estimator)`, which is called after each batch.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import BatchEnd
    >>> class Count(BatchEnd):
    ...     def batch_end(self, estimator, *args, **kwargs):
    ...         print("a batch ends")
    >>> Count().batch_end(None)
    a batch ends
    """

    def batch_end(self, estimator, *args, **kwargs):
        """Called after each batch.

        Parameters
        ----------
        estimator : Estimator
            The estimator that trains.
        *args
            Not used.
        **kwargs
            `batch`: the batch, as the loader gave it; `pred`, `label` and `loss`: lists with an array for every
            context.

        Returns
        -------
        bool
            Whether training ends here.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import BatchEnd
        >>> class StopAtNaN(BatchEnd):
        ...     def batch_end(self, estimator, *args, **kwargs):
        ...         return any(bool((loss != loss).sum()) for loss in kwargs["loss"])
        >>> StopAtNaN().batch_end(None, loss=[mx.nd.array([1, 2])])
        False
        """
        return False


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Stop training after a number of epochs or batches.

    Parameters
    ----------
    max_epoch : int, optional
        The number of epochs.
    max_batch : int, optional
        The number of batches.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import StoppingHandler
    >>> StoppingHandler(max_epoch=3).max_epoch
    3
    """

    _counts = ("current_batch", "current_epoch")

    def __init__(self, max_epoch=None, max_batch=None):
        self.max_epoch, self.max_batch = max_epoch, max_batch
        self.current_batch = self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator, *args, **kwargs):
        """Take the limits from the estimator."""
        self.max_epoch, self.max_batch = estimator.max_epoch, estimator.max_batch
        self.current_batch = self.current_epoch = 0

    def batch_end(self, estimator, *args, **kwargs):
        """Count batches."""
        self.current_batch += 1
        self.stop_training = self.stop_training or self.current_batch == self.max_batch
        return self.stop_training

    def epoch_end(self, estimator, *args, **kwargs):
        """Count epochs."""
        self.current_epoch += 1
        self.stop_training = self.stop_training or self.current_epoch == self.max_epoch
        return self.stop_training


class MetricHandler(EpochBegin, BatchEnd):
    """Update metrics after each batch, before handlers that read them.

    Parameters
    ----------
    metrics : EvalMetric or list of EvalMetrics
        The metrics.
    priority : number, default -1000
        Handlers with smaller numbers run first.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import MetricHandler
    >>> MetricHandler([mx.metric.Accuracy()]).priority
    -1000
    """

    def __init__(self, metrics, priority=-1000):
        self.metrics, self.priority = _check_metrics(metrics), priority

    def epoch_begin(self, estimator, *args, **kwargs):
        """Start afresh."""
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator, *args, **kwargs):
        """Take the batch in."""
        for metric in self.metrics:
            if isinstance(metric, metric_loss):
                metric.update(0, kwargs["loss"])
            else:
                metric.update(kwargs["label"], kwargs["pred"])


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Evaluate the network every so many epochs or batches.

    Parameters
    ----------
    val_data : DataLoader
        The validation data.
    eval_fn : callable
        What to call with it, usually `Estimator.evaluate`.
    epoch_period : int, default 1
        The number of epochs between two evaluations.
    batch_period : int, optional
        The number of batches between two evaluations.
    priority : number, default -1000
        Handlers with smaller numbers run first.
    event_handlers : list, optional
        Handlers of the evaluation.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import ValidationHandler
    >>> ValidationHandler([], eval_fn=print, epoch_period=2).epoch_period
    2
    """

    _counts = ("current_batch", "current_epoch")

    def __init__(self, val_data, eval_fn, epoch_period=1, batch_period=None, priority=-1000, event_handlers=None):
        self.val_data, self.eval_fn, self.event_handlers = val_data, eval_fn, event_handlers
        self.epoch_period, self.batch_period, self.priority = epoch_period, batch_period, priority
        self.current_batch = self.current_epoch = 0

    def train_begin(self, estimator, *args, **kwargs):
        """Start afresh."""
        self.current_batch = self.current_epoch = 0

    def _evaluate(self, estimator):
        self.eval_fn(val_data=self.val_data, batch_axis=estimator.batch_axis, event_handlers=self.event_handlers)

    def batch_end(self, estimator, *args, **kwargs):
        """Evaluate if it is time."""
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._evaluate(estimator)

    def epoch_end(self, estimator, *args, **kwargs):
        """Evaluate if it is time."""
        self.current_epoch += 1
        if self.epoch_period and self.current_epoch % self.epoch_period == 0:
            self._evaluate(estimator)


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Log metrics and times; it runs after all other handlers.

    Parameters
    ----------
    log_interval : int or str, default 'epoch'
        The number of batches between two lines, or 'epoch'.
    metrics : EvalMetric or list of EvalMetrics, optional
        The metrics.
    priority : number, default np.inf
        Handlers with smaller numbers run first.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import LoggingHandler
    >>> LoggingHandler(log_interval=10).log_interval
    10
    """

    _counts = ("batch_index", "current_epoch", "processed_samples", "log_interval_time")

    def __init__(self, log_interval="epoch", metrics=None, priority=np.inf):
        super().__init__()
        if not isinstance(log_interval, int) and log_interval != "epoch":
            raise ValueError(f"log_interval must be either an integer or string 'epoch', got {log_interval!r}")
        self.metrics, self.priority, self.log_interval = _check_metrics(metrics), priority, log_interval
        self._reset()

    def _reset(self):
        self.batch_index = self.current_epoch = self.processed_samples = 0
        self.log_interval_time = 0

    def _values(self):
        return ", ".join(f"{name}: {value:.4f}" for name, value in (metric.get() for metric in self.metrics))

    def train_begin(self, estimator, *args, **kwargs):
        """Say what begins."""
        self.train_start = time.time()
        trainer = estimator.trainer
        estimator.logger.info(
            "Training begin: using optimizer %s with current learning rate %.4f ",
            type(trainer.optimizer).__name__,
            trainer.learning_rate,
        )
        if estimator.max_epoch:
            estimator.logger.info("Train for %d epochs.", estimator.max_epoch)
        else:
            estimator.logger.info("Train for %d batches.", estimator.max_batch)
        self._reset()

    def train_end(self, estimator, *args, **kwargs):
        """Say what came out."""
        seconds = int(time.time() - self.train_start)
        head = f"Train finished using total {seconds}s with {self.current_epoch} epochs. "
        estimator.logger.info((head + self._values()).rstrip(", "))

    def batch_begin(self, estimator, *args, **kwargs):
        """Start the clock."""
        self.batch_start = time.time()

    def batch_end(self, estimator, *args, **kwargs):
        """Log if it is time."""
        if isinstance(self.log_interval, int):
            self.processed_samples += kwargs["batch"][0].shape[0]
            self.log_interval_time += time.time() - self.batch_start
            if self.batch_index % self.log_interval == 0:
                head = f"[Epoch {self.current_epoch}][Batch {self.batch_index}][Samples {self.processed_samples}] "
                head += f"time/interval: {self.log_interval_time:.3f}s "
                estimator.logger.info((head + self._values()).rstrip(", "))
                self.log_interval_time = 0
        self.batch_index += 1

    def epoch_begin(self, estimator, *args, **kwargs):
        """Say what begins; the estimator names training metrics so."""
        self.epoch_start = time.time()
        if any("training" in metric.name for metric in self.metrics):
            estimator.logger.info(
                "[Epoch %d] Begin, current learning rate: %.4f", self.current_epoch, estimator.trainer.learning_rate
            )
        else:
            estimator.logger.info("Validation Begin")

    def epoch_end(self, estimator, *args, **kwargs):
        """Say what came out."""
        head = f"[Epoch {self.current_epoch}] Finished in {time.time() - self.epoch_start:.3f}s, "
        estimator.logger.info((head + self._values()).rstrip(", "))
        self.current_epoch += 1
        self.batch_index = 0


class ProgressBarHandler(EpochBegin, BatchEnd, EpochEnd):
    """Show a progress bar for each epoch, with the metrics beside it.

    Parameters
    ----------
    metrics : EvalMetric or list of EvalMetrics, optional
        The metrics.
    total : int, optional
        The number of batches of an epoch, if the loader does not tell.
    priority : number, default np.inf
        Handlers with smaller numbers run first.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import ProgressBarHandler
    >>> handler = ProgressBarHandler(total=100)
    """

    _counts = ("current_epoch",)

    def __init__(self, metrics=None, total=None, priority=np.inf):
        self.metrics, self.total, self.priority = _check_metrics(metrics), total, priority
        self.current_epoch = 0
        self._bar = None

    def epoch_begin(self, estimator, *args, **kwargs):
        """Open a bar."""
        self._bar = progress(total=self.total, desc=f"epoch {self.current_epoch}", unit="batch")

    def batch_end(self, estimator, *args, **kwargs):
        """Move it."""
        self._bar.set_postfix({name: f"{value:.4f}" for name, value in (m.get() for m in self.metrics)}, refresh=False)
        self._bar.update()

    def epoch_end(self, estimator, *args, **kwargs):
        """Close it."""
        self._bar.close()
        self.current_epoch += 1


def comparison(monitor, mode, who):
    """How to tell a better value: `np.less` or `np.greater`."""
    if mode not in ("auto", "min", "max"):
        warnings.warn(
            f"{who} mode {mode} is unknown, fallback to auto mode: greater is better", RuntimeWarning, stacklevel=3
        )
        mode = "auto"
    if mode == "auto":
        warnings.warn(
            f"`greater` operator will be used to determine if {monitor.get()[0]} has improved. Please specify "
            "`mode='min'` to use the `less` operator. Specify `mode='max' to disable this warning.`",
            stacklevel=3,
        )
    return np.less if mode == "min" else np.greater


def worst(better):
    """The value that everything is better than."""
    return np.inf if better is np.less else -np.inf


def copies_of(net):
    """{name: copy of the parameter}, of parameters that are initialized."""
    parameters = net._collect_params_with_prefix()
    return {name: p.data(p.list_ctx()[0]).copy() for name, p in parameters.items() if p._data is not None}


def put_back(net, values):
    """Set parameters to what `copies_of` returned."""
    parameters = net._collect_params_with_prefix()
    for name, value in values.items():
        parameters[name].set_data(value)


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """Stops when a metric has not improved for `patience` epochs.

    With `restore_best` the network ends with the parameters of its best epoch, whether it was stopped or not. They are
    kept in memory, one copy of the parameters more. Epochs in which the metric is not a number are told and, as in
    MXNet, not counted.

    Parameters
    ----------
    monitor : EvalMetric
        The metric to watch.
    min_delta : float, default 0
        The least change that counts as an improvement.
    patience : int, default 0
        The number of epochs without an improvement after which training stops.
    mode : str, default 'auto'
        min or max: which values are better; auto: by the metric's name.
    baseline : float, optional
        A value that the metric must reach.
    restore_best : bool, default False
        Whether the network ends with the parameters of its best epoch.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import EarlyStoppingHandler
    >>> handler = EarlyStoppingHandler(mx.metric.Accuracy(), patience=3)
    """

    _counts = ("wait", "best", "stopped_epoch", "current_epoch", "stop_training", "best_parameters")

    def __init__(self, monitor, min_delta=0, patience=0, mode="auto", baseline=None, restore_best=False):
        super().__init__()
        if not isinstance(monitor, EvalMetric):
            raise ValueError(
                "Please provide one of the metric objects from estimator.train_metrics and estimator.val_metrics as "
                "monitor."
            )
        if isinstance(monitor, CompositeEvalMetric):
            raise ValueError(
                "CompositeEvalMetric is not supported for EarlyStoppingHandler, please specify a simple metric instead."
            )
        self.monitor, self.baseline, self.patience, self.restore_best = monitor, baseline, patience, restore_best
        self.monitor_op = comparison(monitor, mode, "EarlyStopping")
        self.min_delta = min_delta if self.monitor_op is np.greater else -min_delta
        self._reset()

    def _reset(self):
        self.wait = self.stopped_epoch = self.current_epoch = 0
        self.stop_training, self.best_parameters = False, {}
        self.best = self.baseline if self.baseline is not None else worst(self.monitor_op)

    def train_begin(self, estimator, *args, **kwargs):
        """Start afresh."""
        self._reset()

    def epoch_end(self, estimator, *args, **kwargs):
        """Look whether the metric improved."""
        name, value = self.monitor.get()
        if np.isnan(value):
            warnings.warn(
                f"{name} is not updated, make sure you pass one of the metric objects from estimator.train_metrics and "
                "estimator.val_metrics as monitor.",
                RuntimeWarning,
                stacklevel=2,
            )
        elif self.monitor_op(value - self.min_delta, self.best):
            self.best, self.wait = value, 0
            if self.restore_best:
                self.best_parameters = copies_of(estimator.net)
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch, self.stop_training = self.current_epoch, True
        self.current_epoch += 1
        return self.stop_training

    def train_end(self, estimator, *args, **kwargs):
        """Say why it stopped; put the best parameters back."""
        if self.best_parameters:
            put_back(estimator.net, self.best_parameters)
        if self.stopped_epoch > 0:
            estimator.logger.info(
                "[Epoch %d] EarlyStoppingHanlder: early stopping due to %s not improving",
                self.stopped_epoch,
                self.monitor.get()[0],
            )


from .checkpoint import CheckpointHandler  # noqa: E402 - these need the classes above
from .gradient_update import GradientUpdateHandler  # noqa: E402
