"""Handlers beside MXNet's: rates that fall on a plateau, averages of weights, the best checkpoints."""

import os
from contextlib import contextmanager

import numpy as np

from .event_handler import BatchEnd, EpochEnd, TrainBegin, TrainEnd, comparison, copies_of, put_back, worst

__all__ = ["EMAHandler", "ReduceLROnPlateauHandler", "TopKCheckpointHandler"]


class ReduceLROnPlateauHandler(TrainBegin, EpochEnd):
    """Multiplies the learning rate by `factor` when a metric has not improved for `patience` epochs.

    It is for trainers without an `lr_scheduler`. A metric that is not a number counts as no improvement.

    Parameters
    ----------
    monitor : EvalMetric
        One of the estimator's `train_metrics` or `val_metrics`.
    factor : float
        Between 0 and 1.
    patience : int
        Epochs without an improvement of more than `min_delta` before the rate falls.
    min_lr : float
        The rate does not fall below it.
    mode : str
        "min" if smaller values are better, "max" if larger ones are.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import ReduceLROnPlateauHandler
    >>> handler = ReduceLROnPlateauHandler(mx.metric.Accuracy(), factor=0.1, patience=3, mode="max")
    """

    _counts = ("best", "wait")

    def __init__(self, monitor, factor=0.1, patience=10, min_delta=0.0, min_lr=0.0, mode="auto", priority=0):
        if not 0 < factor < 1:
            raise ValueError(f"factor must be between 0 and 1, got {factor}")
        self.monitor, self.factor, self.patience, self.min_lr = monitor, factor, patience, min_lr
        self.monitor_op, self.priority = comparison(monitor, mode, "ReduceLROnPlateau"), priority
        self.min_delta = min_delta if self.monitor_op is np.greater else -min_delta
        self.best, self.wait = worst(self.monitor_op), 0

    def train_begin(self, estimator, *args, **kwargs):
        """Start afresh."""
        if estimator.trainer.optimizer.lr_scheduler is not None:  # told now, not at the first plateau
            raise ValueError(
                "ReduceLROnPlateauHandler changes the trainer's learning rate, which its lr_scheduler sets; use one of "
                "both"
            )
        self.best, self.wait = worst(self.monitor_op), 0

    def epoch_end(self, estimator, *args, **kwargs):
        """Look whether the metric improved."""
        value = self.monitor.get()[1]
        if self.monitor_op(value - self.min_delta, self.best):
            self.best, self.wait = value, 0
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.wait = 0
            self._reduce(estimator)

    def _reduce(self, estimator):
        trainer = estimator.trainer
        rate = max(trainer.learning_rate * self.factor, self.min_lr)
        if rate < trainer.learning_rate:
            trainer.set_learning_rate(rate)
            estimator.logger.info("ReduceLROnPlateauHandler: learning rate is %.5g now", rate)


class EMAHandler(TrainBegin, BatchEnd, TrainEnd):
    """Keeps an exponential moving average of the weights, which often predicts better than the last ones.

    After each batch `average = d * average + (1 - d) * weight`, where `d` is `decay`, or `(1 + n) / (10 + n)` in the
    first updates n, if that is smaller. Running statistics of norms are copied. When training ends the network gets
    the averages, unless `swap_at_end` is False.

    Parameters
    ----------
    decay : float
        Between 0 and 1; 0.999 averages about the last thousand updates.
    swap_at_end : bool
        Whether the network ends with the averages.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import EMAHandler
    >>> ema = EMAHandler(decay=0.99, swap_at_end=False)
    >>> # est.fit(data, epochs=10, event_handlers=[ema])
    >>> # with ema.applied(est.net): est.evaluate(validation)
    """

    _counts = ("updates", "averages")

    def __init__(self, decay=0.999, swap_at_end=True, priority=-1900):
        if not 0 < decay < 1:
            raise ValueError(f"decay must be between 0 and 1, got {decay}")
        self.decay, self.swap_at_end, self.priority = decay, swap_at_end, priority  # after the update of parameters
        self.averages, self.updates = {}, 0

    def train_begin(self, estimator, *args, **kwargs):
        """Start afresh."""
        self.averages, self.updates = {}, 0

    def batch_end(self, estimator, *args, **kwargs):
        """Take the weights in."""
        if not self.averages:
            self.averages = copies_of(estimator.net)
            return
        self.updates += 1
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        for name, parameter in estimator.net._collect_params_with_prefix().items():
            if parameter._data is None:  # a layer that no batch has reached yet
                continue
            value = parameter.data(parameter.list_ctx()[0])
            average = self.averages.get(name)
            if average is None:
                self.averages[name] = value.copy()
            elif parameter.grad_req == "null":
                average[:] = value
            else:
                average += (1 - decay) * (value - average)

    def train_end(self, estimator, *args, **kwargs):
        """The network gets the averages."""
        if self.swap_at_end:
            put_back(estimator.net, self.averages)

    @contextmanager
    def applied(self, net):
        """A context manager in which the network has the averaged weights; afterwards it has its own again.

        Parameters
        ----------
        net : Block
            The network that was trained.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import EMAHandler, Estimator
        >>> net = mx.gluon.nn.Dense(1, in_units=3)
        >>> estimator = Estimator(net, mx.gluon.loss.L2Loss(), mx.metric.MAE())
        >>> average = EMAHandler()
        >>> average.train_begin(estimator)
        >>> with average.applied(net):
        ...     shape = net(mx.nd.ones((2, 3))).shape
        >>> shape
        (2, 1)
        """
        own = copies_of(net)
        put_back(net, self.averages)
        try:
            yield net
        finally:
            put_back(net, own)


class TopKCheckpointHandler(TrainBegin, EpochEnd):
    """Saves the parameters of the `k` best epochs as `PREFIX-epoch3-0.9812.params`.

    Parameters
    ----------
    model_dir : str
        Folder of the files; made if it is not there.
    monitor : EvalMetric
        One of the estimator's `train_metrics` or `val_metrics`.
    k : int
        How many are kept.
    mode : str
        "min" if smaller values are better, "max" if larger ones are.

    Attributes
    ----------
    saved : list of (value, path)
        What is kept, best first.

    Examples
    --------
    >>> import tempfile
    >>> from mxnet.gluon.contrib.estimator import TopKCheckpointHandler
    >>> handler = TopKCheckpointHandler(tempfile.mkdtemp(), mx.metric.Accuracy(), k=3, mode="max")
    """

    _counts = ("current_epoch", "saved")

    def __init__(self, model_dir, monitor, k=3, mode="auto", model_prefix="model", priority=0):
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        os.makedirs(model_dir, exist_ok=True)
        self.model_dir, self.model_prefix, self.monitor, self.k = model_dir, model_prefix, monitor, k
        self.monitor_op, self.priority = comparison(monitor, mode, "TopKCheckpoint"), priority
        self.current_epoch, self.saved = 0, []

    def train_begin(self, estimator, *args, **kwargs):
        """Start afresh; files of an earlier training stay."""
        self.current_epoch, self.saved = 0, []

    def epoch_end(self, estimator, *args, **kwargs):
        """Save if it is among the best; the worst of one too many goes."""
        value = float(self.monitor.get()[1])
        epoch, self.current_epoch = self.current_epoch, self.current_epoch + 1
        if np.isnan(value) or (len(self.saved) == self.k and not self.monitor_op(value, self.saved[-1][0])):
            return
        path = os.path.join(self.model_dir, f"{self.model_prefix}-epoch{epoch}-{value:.4f}.params")
        estimator.net.save_parameters(path)
        order = -1 if self.monitor_op is np.greater else 1
        self.saved = sorted([*map(tuple, self.saved), (value, path)], key=lambda one: order * one[0])
        for _, old in self.saved[self.k :]:
            if os.path.exists(old):
                os.remove(old)
        self.saved = self.saved[: self.k]
