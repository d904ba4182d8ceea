"""Callbacks for training loops: checkpoints, speed, progress, logged metrics."""

import functools
import logging
import math
import sys
import time

from ._metrics.base import number
from ._training.checkpoint import save_checkpoint
from ._training.module_callbacks import (  # noqa: F401 - shown here
    EarlyStopping,
    ExponentialMovingAverage,
    GradientUpdate,
    LearningRates,
    ReduceLROnPlateau,
    TopKCheckpoint,
    find_learning_rate,
)


def _after_epochs(period, prefix, save):
    """A callback for the end of epochs that calls `save(epochs done, symbol, args, auxs)` after each `period`."""
    period = int(max(1, period))

    def _callback(iter_no, sym=None, arg=None, aux=None):
        done = iter_no + 1
        if not done % period:
            save(done, sym, arg, aux)

    _callback.prefix = prefix  # tells `fit` that checkpoints are wanted
    return _callback


def module_checkpoint(mod, prefix, period=1, save_optimizer_states=False):
    """A callback that saves a module after every `period` epochs.

    Parameters
    ----------
    mod : BaseModule
        Module to save.
    prefix : str
        Beginning of the file names: `prefix-symbol.json`, `prefix-0001.params`, …
    period : int
        Number of epochs between checkpoints.
    save_optimizer_states : bool
        Whether to write the optimizer's states, `prefix-0001.states`, too.

    Returns
    -------
    callable
        For the `epoch_end_callback` of `fit`.

    Examples
    --------
    >>> import os, tempfile
    >>> prefix = os.path.join(tempfile.mkdtemp(), "net")
    >>> data = mx.io.NDArrayIter(np.ones((4, 3)), np.ones(4), batch_size=2)
    >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax"))
    >>> mod.fit(data, num_epoch=2, epoch_end_callback=mx.callback.module_checkpoint(mod, prefix, period=2))
    >>> os.path.exists(prefix + "-0001.params"), os.path.exists(prefix + "-0002.params")
    (False, True)
    """
    return _after_epochs(
        period, prefix, lambda done, sym, arg, aux: mod.save_checkpoint(prefix, done, save_optimizer_states)
    )


def do_checkpoint(prefix, period=1):
    """A callback that saves symbol and parameters after every `period` epochs.

    Parameters
    ----------
    prefix : str
        Beginning of the file names: `prefix-symbol.json`, `prefix-0001.params`, …
    period : int
        Number of epochs between checkpoints.

    Returns
    -------
    callable
        For the `epoch_end_callback` of `fit`.

    Examples
    --------
    >>> import os, tempfile
    >>> prefix = os.path.join(tempfile.mkdtemp(), "net")
    >>> save = mx.callback.do_checkpoint(prefix)
    >>> save(0, mx.sym.var("x"), {"x": mx.nd.ones((2,))}, {})
    >>> mx.model.load_checkpoint(prefix, 1)[1]["x"].asnumpy()
    array([1., 1.], dtype=float32)
    """
    return _after_epochs(period, prefix, functools.partial(save_checkpoint, prefix))


def log_train_metric(period, auto_reset=False):
    """A callback that logs the training metric every `period` batches.

    Parameters
    ----------
    period : int
        Number of batches between lines.
    auto_reset : bool
        Whether the metric starts again after each line.

    Returns
    -------
    callable
        For the `batch_end_callback` of `fit`.

    Examples
    --------
    >>> metric = mx.metric.Accuracy()
    >>> metric.update([mx.nd.array([1])], [mx.nd.array([1])])
    >>> log = mx.callback.log_train_metric(period=10)
    >>> log(mx.model.BatchEndParam(epoch=0, nbatch=20, eval_metric=metric, locals=None))
    """

    def _callback(param):
        if param.nbatch % period != 0 or param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, number(value))
        if auto_reset:
            param.eval_metric.reset_local()

    return _callback


class Speedometer:
    """Logs the samples per second and the metric every `frequent` batches, for the `batch_end_callback` of `fit`.

    Parameters
    ----------
    batch_size : int
        Number of samples in a batch.
    frequent : int
        Number of batches between lines.
    auto_reset : bool
        Whether the metric starts again after each line, so that a line shows the last `frequent` batches only.

    Examples
    --------
    >>> data = mx.io.NDArrayIter(np.ones((8, 3)), np.ones(8), batch_size=2)
    >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax"))
    >>> mod.fit(data, num_epoch=1, batch_end_callback=mx.callback.Speedometer(batch_size=2, frequent=2))
    """

    def __init__(self, batch_size, frequent=50, auto_reset=True):
        self.batch_size, self.frequent, self.auto_reset = batch_size, frequent, auto_reset
        self.init, self.tic, self.last_count = False, 0, 0

    def __call__(self, param):
        """Called after each batch."""
        running = self.init and self.last_count <= param.nbatch  # a smaller number begins another epoch
        self.init, self.last_count = True, param.nbatch
        if running and param.nbatch % self.frequent:
            return
        if running:
            self._log(param, param.nbatch)
        self.tic = time.time()

    def state_dict(self):
        """The position in the epoch, for `load_state_dict`; it decides when the next line is logged. Not in MXNet.

        Examples
        --------
        >>> isinstance(mx.callback.Speedometer(32).state_dict(), dict)
        True
        """
        return {"init": self.init, "last_count": self.last_count}

    def load_state_dict(self, state):
        """Continue at a position that `state_dict` returned; the clock starts now. Not in MXNet.

        Parameters
        ----------
        state : dict
            The position.

        Examples
        --------
        >>> speed = mx.callback.Speedometer(32)
        >>> speed.load_state_dict(speed.state_dict())
        """
        self.init, self.last_count, self.tic = state["init"], state["last_count"], time.time()

    def _speed(self):
        elapsed = time.time() - self.tic
        return self.frequent * self.batch_size / elapsed if elapsed else float("inf")

    def _log(self, param, count):
        speed = self._speed()
        if param.eval_metric is None:
            logging.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", param.epoch, count, speed)
            return
        values = [(name, number(value)) for name, value in param.eval_metric.get_name_value()]
        first = 0
        if self.auto_reset:
            param.eval_metric.reset_local()
            first = count - self.frequent
        message = "Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec" + "\t%s=%f" * len(values)
        logging.info(message, param.epoch, first, count, speed, *sum(values, ()))


class ProgressBar:
    """Shows how many of `total` batches are done: a moving bar in a terminal, elsewhere a log line at each tenth.

    Parameters
    ----------
    total : int
        Number of batches of an epoch.
    length : int
        Number of characters of the bar.

    Examples
    --------
    >>> data = mx.io.NDArrayIter(np.ones((8, 3)), np.ones(8), batch_size=2)
    >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax"))
    >>> mod.fit(data, num_epoch=1, batch_end_callback=mx.callback.ProgressBar(total=4))
    """

    def __init__(self, total, length=80):
        self.bar_len = length
        self.total = total
        self._tenth = None

    def __call__(self, param):
        """Called after each batch."""
        done = param.nbatch / float(self.total)
        filled = int(round(self.bar_len * done))
        bar = "=" * filled + "-" * (self.bar_len - filled)
        self._show(f"[{bar}] {math.ceil(100 * done)}%", int(10 * done), param.nbatch + 1 >= self.total)

    def _show(self, text, tenth, last):
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{text}" + ("\n" if last else ""))
            sys.stderr.flush()
        elif tenth != self._tenth or last:  # a log keeps what it gets: MXNet's carriage return would stay in it
            logging.info("%s", text)
        self._tenth = tenth


class LogValidationMetricsCallback:
    """Logs the validation metric at the end of an epoch, for the `eval_end_callback` of `fit`.

    Examples
    --------
    >>> data = mx.io.NDArrayIter(np.ones((8, 3)), np.ones(8), batch_size=2)
    >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax"))
    >>> mod.fit(data, data, num_epoch=1, eval_end_callback=mx.callback.LogValidationMetricsCallback())
    """

    def __call__(self, param):
        """Called after evaluation."""
        if not param.eval_metric:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, number(value))
