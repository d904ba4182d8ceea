"""Callbacks for training loops: checkpoints, speed, progress, logged metrics."""

import logging
import math
import sys
import time

from ._training.checkpoint import save_checkpoint


def module_checkpoint(mod, prefix, period=1, save_optimizer_states=False):
    """At the end of every `period`-th epoch, save `mod` as a checkpoint."""
    period = int(max(1, period))

    def _callback(iter_no, sym=None, arg=None, aux=None):
        if (iter_no + 1) % period == 0:
            mod.save_checkpoint(prefix, iter_no + 1, save_optimizer_states)

    _callback.prefix = prefix  # tells `fit` that checkpoints are wanted
    return _callback


def do_checkpoint(prefix, period=1):
    """At the end of every `period`-th epoch, save symbol and parameters as a checkpoint."""
    period = int(max(1, period))

    def _callback(iter_no, sym, arg, aux):
        if (iter_no + 1) % period == 0:
            save_checkpoint(prefix, iter_no + 1, sym, arg, aux)

    _callback.prefix = prefix
    return _callback


def log_train_metric(period, auto_reset=False):
    """Log the training metric every `period` batches."""

    def _callback(param):
        if param.nbatch % period != 0 or param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, value)
        if auto_reset:
            param.eval_metric.reset_local()

    return _callback


class Speedometer:
    """Logs samples per second, and the metric, every `frequent` batches."""

    def __init__(self, batch_size, frequent=50, auto_reset=True):
        self.batch_size = batch_size
        self.frequent = frequent
        self.init = False
        self.tic = 0
        self.last_count = 0
        self.auto_reset = auto_reset

    def __call__(self, param):
        """Called after each batch."""
        count = param.nbatch
        if self.last_count > count:
            self.init = False
        self.last_count = count
        if not self.init:
            self.init = True
            self.tic = time.time()
        elif count % self.frequent == 0:
            self._log(param, count)
            self.tic = time.time()

    def state_dict(self):
        """Where it is in the epoch: when it logs next, and so when it resets the metric."""
        return {"init": self.init, "last_count": self.last_count}

    def load_state_dict(self, state):
        """Continue from what `state_dict` returned; the clock starts now."""
        self.init, self.last_count, self.tic = state["init"], state["last_count"], time.time()

    def _speed(self):
        elapsed = time.time() - self.tic
        return self.frequent * self.batch_size / elapsed if elapsed else float("inf")

    def _log(self, param, count):
        speed = self._speed()
        if param.eval_metric is None:
            logging.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", param.epoch, count, speed)
            return
        values = param.eval_metric.get_name_value()
        first = 0
        if self.auto_reset:
            param.eval_metric.reset_local()
            first = count - self.frequent
        message = "Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec" + "\t%s=%f" * len(values)
        logging.info(message, param.epoch, first, count, speed, *sum(values, ()))


class ProgressBar:
    """A bar of how much of `total` batches is done: moving in a terminal, elsewhere logged at each tenth."""

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
    """Logs the validation metric at the end of an epoch."""

    def __call__(self, param):
        """Called after evaluation."""
        if not param.eval_metric:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)
