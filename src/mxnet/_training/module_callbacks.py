"""Conveniences of training for Module, as the Estimator has them: callbacks for `fit`, and a learning-rate finder."""

import copy
import itertools
import logging
import math
from contextlib import contextmanager

from .. import metric as metrics
from .. import ndarray as nd
from .. import optimizer as opt
from .._core.errors import MXNetError
from .._formats import manifest
from .rate_search import LearningRates, search  # noqa: F401 - for those who name what they get
from .updates import StopTraining, update_params


def _current(mod):
    """The module that holds the arrays; of a BucketingModule, that of the current bucket."""
    return getattr(mod, "_curr_module", None) or mod


def _copies(mod):
    """The parameters of all, by name."""
    arguments, states = mod.get_params()
    return ({name: value.copy() for name, value in part.items()} for part in (arguments, states))


class _Monitor:
    """A metric of validation, and whether it got better; `mode` is "max" or "min"."""

    def __init__(self, monitor, mode, min_delta=0.0):
        if mode not in ("max", "min"):
            raise ValueError(f'mode must be "max" or "min", got {mode!r}')
        self._name, self._sign, self._min_delta = monitor, 1 if mode == "max" else -1, min_delta
        self.best = -self._sign * math.inf

    def value(self, param):
        """The metric of a BatchEndParam."""
        found = dict(param.eval_metric.get_name_value()) if param.eval_metric is not None else {}
        if self._name is None and found:
            return float(next(iter(found.values())))
        if self._name not in found:
            raise MXNetError(f"there is no metric {self._name} among {', '.join(found)} to watch")
        return float(found[self._name])

    def better(self, value, than):
        """Is it?"""
        return self._sign * (value - than) > self._min_delta

    def improved(self, value):
        """Is it better than all before? Then it is the best."""
        if not self.better(value, self.best):
            return False
        self.best = value
        return True

    def key(self, value):
        """Sorts the best first."""
        return -self._sign * value


class _Resumed:
    """A callback whose state `fit(resume="auto")` saves and restores: the attributes that `_state` names."""

    _state = ()

    def state_dict(self):
        """What a resumed training needs."""
        return {name: getattr(self, name) for name in self._state}

    def load_state_dict(self, state):
        """Continue from what `state_dict` returned."""
        for name in self._state:
            setattr(self, name, state[name])


class _Watching(_Resumed):
    """One that watches a metric: the best value so far, and for how many evaluations there was no better one."""

    _state = ("best", "_wait")

    @property
    def best(self):
        """The best value so far."""
        return self._monitor.best

    @best.setter
    def best(self, value):
        self._monitor.best = value


class EarlyStopping(_Watching):
    """Ends `fit` when a metric of validation has not improved for `patience` epochs; an `eval_end_callback`.

    Parameters
    ----------
    mod : BaseModule
        The module that is trained.
    patience : int
        Epochs without an improvement of more than `min_delta` before training ends.
    mode : {"max", "min"}
        Whether larger or smaller values are better.
    monitor : str, optional
        Name of the metric; by default the first.
    restore_best : bool
        Whether the module ends with the parameters of its best epoch, whether it was stopped or not.

    Attributes
    ----------
    best : float
        The best value.
    stopped_epoch : int or None
        The last epoch, if training was ended.

    Examples
    --------
    >>> data = mx.io.NDArrayIter(np.ones((4, 3)), np.ones(4), batch_size=2)
    >>> scores = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2)
    >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(scores, name="softmax"))
    >>> stop = mx.callback.EarlyStopping(mod, patience=2, mode="max")
    >>> mod.fit(data, data, num_epoch=20, eval_end_callback=stop)
    >>> stop.best, stop.stopped_epoch < 19
    (1.0, True)
    """

    _state = (*_Watching._state, "stopped_epoch", "_parameters")

    def __init__(self, mod, patience=3, mode="max", monitor=None, min_delta=0.0, restore_best=True):
        self._mod, self.patience, self.restore_best = mod, patience, restore_best
        self._monitor, self._wait, self.stopped_epoch = _Monitor(monitor, mode, min_delta), 0, None
        self._parameters = None

    def __call__(self, param):
        """Called after evaluation."""
        if self._monitor.improved(self._monitor.value(param)):
            self._wait = 0
            self._parameters = tuple(_copies(self._mod)) if self.restore_best else None
            return
        self._wait += 1
        if self._wait >= self.patience:
            self.stopped_epoch = param.epoch
            logging.info("Epoch[%d] Early stopping: no improvement on %g", param.epoch, self.best)
            raise StopTraining

    def train_end(self):
        """Put the best parameters back; `fit` calls it."""
        if self._parameters is not None:
            self._mod.set_params(*self._parameters)


class ReduceLROnPlateau(_Watching):
    """Multiplies the learning rate by `factor` when a metric of validation has not improved for `patience` epochs.

    An `eval_end_callback` of `fit`, for optimizers without a schedule.

    Parameters
    ----------
    mod : BaseModule
        The module that is trained.
    factor : float
        Between 0 and 1.
    patience : int
        Epochs without an improvement of more than `min_delta` before the rate falls.
    mode : {"max", "min"}
        Whether larger or smaller values are better.
    monitor : str, optional
        Name of the metric; by default the first.
    min_lr : float
        The rate does not fall below it.

    Examples
    --------
    >>> data = mx.io.NDArrayIter(np.ones((4, 3)), np.ones(4), batch_size=2)
    >>> scores = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2)
    >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(scores, name="softmax"))
    >>> reduce = mx.callback.ReduceLROnPlateau(mod, factor=0.5, patience=2, mode="max")
    >>> mod.fit(data, data, num_epoch=4, optimizer_params={"learning_rate": 0.2}, eval_end_callback=reduce)
    >>> mod._optimizer.learning_rate
    0.1
    """

    def __init__(self, mod, factor=0.1, patience=10, mode="max", monitor=None, min_delta=0.0, min_lr=0.0):
        if not 0 < factor < 1:
            raise ValueError(f"factor must be between 0 and 1, got {factor}")
        self._mod, self.factor, self.patience, self.min_lr = mod, factor, patience, min_lr
        self._monitor, self._wait = _Monitor(monitor, mode, min_delta), 0

    def __call__(self, param):
        """Called after evaluation."""
        optimizer = self._changeable()
        if self._monitor.improved(self._monitor.value(param)):
            self._wait = 0
            return
        self._wait += 1
        if self._wait >= self.patience:
            self._wait = 0
            self._reduce(optimizer, param.epoch)

    def _changeable(self):
        """The optimizer; whether its rate can be changed is asked from the first epoch on, not at the first plateau."""
        optimizer, store = _current(self._mod)._optimizer, _current(self._mod)._kvstore
        if store is not None and "dist" in store.type:
            raise MXNetError("servers of a distributed job have an optimizer of their own; its rate cannot be changed")
        if optimizer.lr_scheduler is not None:
            raise MXNetError(
                "ReduceLROnPlateau changes the optimizer's learning rate, which its lr_scheduler sets; use one of both"
            )
        return optimizer

    def _reduce(self, optimizer, epoch):
        rate = max(optimizer.learning_rate * self.factor, self.min_lr)
        if rate < optimizer.learning_rate:
            optimizer.set_learning_rate(rate)
            logging.info("Epoch[%d] Learning rate is %.5g now", epoch, rate)


class ExponentialMovingAverage(_Resumed):
    """Keeps an exponential moving average of the weights, which often predicts better than the last ones.

    A `batch_end_callback` of `fit`. After each batch `average = d * average + (1 - d) * weight`, where `d` is `decay`,
    or `(1 + n) / (10 + n)` in the first updates n, if that is smaller. Moving statistics of norms are copied.

    Parameters
    ----------
    mod : BaseModule
        The module that is trained.
    decay : float
        Between 0 and 1; 0.999 averages about the last thousand updates.
    swap_at_end : bool
        Whether the module ends with the averages.

    Examples
    --------
    >>> data = mx.io.NDArrayIter(np.ones((4, 3)), np.ones(4), batch_size=2)
    >>> scores = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2)
    >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(scores, name="softmax"))
    >>> ema = mx.callback.ExponentialMovingAverage(mod, decay=0.9, swap_at_end=False)
    >>> mod.fit(data, num_epoch=2, batch_end_callback=ema)
    >>> with ema.applied():
    ...     print(mod.score(data, "acc"))
    [('accuracy', 1.0)]
    """

    _state = ("averages", "updates")

    def __init__(self, mod, decay=0.999, swap_at_end=True):
        if not 0 < decay < 1:
            raise ValueError(f"decay must be between 0 and 1, got {decay}")
        self._mod, self.decay, self.swap_at_end = mod, decay, swap_at_end
        self.averages, self.updates = None, 0

    def __call__(self, param):
        """Called after each batch."""
        if self.averages is None:
            self.averages = tuple(_copies(self._mod))
            return
        self.updates += 1
        decay = min(self.decay, (1 + self.updates) / (10 + self.updates))
        arguments, states = self._mod.get_params()
        for name, average in self.averages[0].items():
            average += (1 - decay) * (arguments[name] - average)
        for name, value in self.averages[1].items():
            value[:] = states[name]

    @contextmanager
    def applied(self):
        """The module has the averages inside `with`, and its own weights again after it."""
        own = tuple(_copies(self._mod))
        self._mod.set_params(*self.averages)
        try:
            yield self._mod
        finally:
            self._mod.set_params(*own)

    def train_end(self):
        """The module gets the averages; `fit` calls it."""
        if self.swap_at_end and self.averages is not None:
            self._mod.set_params(*self.averages)


class TopKCheckpoint(_Resumed):
    """Keeps the checkpoints of the `k` best epochs; an `eval_end_callback` of `fit`.

    Parameters
    ----------
    mod : BaseModule
        The module that is trained.
    prefix : str
        Beginning of the file names: `prefix-symbol.json`, `prefix-0003.params`, …
    k : int
        How many are kept.
    mode : {"max", "min"}
        Whether larger or smaller values are better.
    monitor : str, optional
        Name of the metric; by default the first.

    Attributes
    ----------
    saved : list of (value, epoch)
        What is kept, best first; `mx.model.load_checkpoint(prefix, epoch)` loads it.

    Examples
    --------
    >>> import os, tempfile
    >>> data = mx.io.NDArrayIter(np.ones((4, 3)), np.ones(4), batch_size=2)
    >>> scores = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2)
    >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(scores, name="softmax"))
    >>> top = mx.callback.TopKCheckpoint(mod, os.path.join(tempfile.mkdtemp(), "net"), k=2, mode="max")
    >>> mod.fit(data, data, num_epoch=3, eval_end_callback=top)
    >>> [epoch for value, epoch in top.saved]
    [1, 2]
    """

    _state = ("saved",)

    def __init__(self, mod, prefix, k=3, mode="max", monitor=None):
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        self._mod, self._prefix, self.k, self._monitor, self.saved = mod, prefix, k, _Monitor(monitor, mode), []

    def __call__(self, param):
        """Called after evaluation."""
        value = self._monitor.value(param)
        if math.isnan(value) or (len(self.saved) == self.k and not self._monitor.better(value, self.saved[-1][0])):
            return
        self._mod.save_checkpoint(self._prefix, param.epoch + 1)
        self.saved = sorted([*self.saved, (value, param.epoch + 1)], key=lambda one: self._monitor.key(one[0]))
        for _, epoch in self.saved[self.k :]:
            manifest.remove(f"{self._prefix}-{epoch:04d}")
        self.saved = self.saved[: self.k]


class GradientUpdate(_Resumed):
    """Updates after several batches, or with gradients of a bounded norm; an `epoch_end_callback` of `fit`.

    It takes the place of the module's `update` when it is made, until `detach`.

    Parameters
    ----------
    mod : Module
        The module that is trained.
    accumulate : int
        Number of batches whose gradients make one update, that of one batch of all their samples; the last ones of an
        epoch may be fewer.
    clip_norm : float or None
        Largest L2 norm of all gradients together, averaged over the samples; longer ones are scaled down to it. In a
        distributed job each worker looks at its own gradients.

    Examples
    --------
    >>> data = mx.io.NDArrayIter(np.ones((4, 3)), np.ones(4), batch_size=2)
    >>> scores = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2)
    >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(scores, name="softmax"))
    >>> update = mx.callback.GradientUpdate(mod, accumulate=2, clip_norm=1.0)
    >>> mod.fit(data, num_epoch=1, epoch_end_callback=update)
    >>> mod._optimizer.num_update
    1
    """

    _state = ("_sums", "_batches")

    def __init__(self, mod, accumulate=1, clip_norm=None):
        if accumulate < 1 or int(accumulate) != accumulate:
            raise ValueError(f"accumulate must be a whole number of batches from 1 on, got {accumulate}")
        if clip_norm is not None and not clip_norm > 0:
            raise ValueError(f"clip_norm must be positive, or None for gradients as they are, got {clip_norm}")
        self._mod, self.accumulate, self.clip_norm = mod, int(accumulate), clip_norm
        self._sums, self._batches, self._update = [], 0, mod.update
        mod.update = self._after_batch

    def detach(self):
        """The module updates after each batch again."""
        if self._mod.__dict__.get("update") == self._after_batch:
            del self._mod.update

    def __call__(self, epoch, symbol=None, arguments=None, states=None):
        """Called after each epoch: the last batches may be fewer."""
        if self._batches:
            self._step()

    def _gradients(self):
        """Those of each parameter, a list over the devices."""
        return [grads for grads in _current(self._mod)._exec_group.grad_arrays if grads[0] is not None]

    def _after_batch(self):
        self._batches += 1
        if self.accumulate > 1:
            self._add()
        if self._batches == self.accumulate:
            self._step()

    def _add(self):
        flat = [grad for grads in self._gradients() for grad in grads]
        if not self._sums:
            self._sums = [grad.copy() for grad in flat]
            return
        for kept, grad in zip(self._sums, flat, strict=True):
            kept += grad

    def _step(self):
        """The optimizer divides by the samples of one batch, so that sums over batches are divided by their number."""
        if self._sums:
            for grad, kept in zip((g for grads in self._gradients() for g in grads), self._sums, strict=True):
                grad[:] = kept / self._batches
        self._sums, self._batches = [], 0
        if self.clip_norm is not None:
            self._clip()
        self._update()

    def _clip(self):
        bound = self.clip_norm / _current(self._mod)._optimizer.rescale_grad
        gradients = self._gradients()
        summed = [nd.add_n(*(grad.as_in_context(grads[0].context) for grad in grads)) for grads in gradients]
        norm = math.sqrt(sum(float((total * total).sum().asscalar()) for total in summed))
        if norm > bound:
            for grad in itertools.chain.from_iterable(gradients):
                grad *= bound / norm


def find_learning_rate(mod, train_data, start=1e-6, end=1.0, steps=100, loss="ce"):
    """Train with a rate that rises from `start` to `end`, and suggest a tenth of the one with the smallest loss.

    The loss at a rate is the mean over seven batches around it. Parameters, the optimizer and its states are the same
    afterwards, random streams have moved on (Smith, 2015).

    Parameters
    ----------
    mod : Module
        Bound for training, with parameters and an optimizer.
    train_data : DataIter
        Is begun anew if it has fewer batches than `steps`, and afterwards.
    start, end : float
        The range of rates.
    steps : int
        How many rates are tried, one batch each.
    loss : EvalMetric or what `mx.metric.create` takes
        What is to become small: "ce", the cross entropy of a SoftmaxOutput; "mse" of a regression, "loss" of MakeLoss.

    Returns
    -------
    LearningRates
        `rates`, `losses` and `suggestion`.

    Examples
    --------
    >>> mx.random.seed(0)
    >>> x = mx.nd.random.normal(shape=(64, 3)).asnumpy()
    >>> data = mx.io.NDArrayIter(x, (x.sum(axis=1) > 0).astype("float32"), batch_size=16)
    >>> scores = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2)
    >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(scores, name="softmax"))
    >>> mod.bind(data.provide_data, data.provide_label)
    >>> mod.init_params(mx.init.Xavier())
    >>> mod.init_optimizer()
    >>> found = mx.callback.find_learning_rate(mod, data, start=1e-3, end=1000.0, steps=50)
    >>> bool(1e-2 < found.suggestion < 50)
    True
    """
    optimizer = copy.deepcopy(mod._optimizer, {id(mod._optimizer.lr_scheduler): None})
    updater, measured, batches = opt.get_updater(optimizer), metrics.create(loss), _endless(train_data)

    def loss_at(rate):
        optimizer.lr = rate
        batch, group = next(batches), mod._exec_group
        mod.forward_backward(batch)
        update_params(group.param_arrays, _summed(group.grad_arrays), updater, len(mod._context))
        mod._params_dirty = True
        measured.reset()
        mod.update_metric(measured, batch.label)
        return float(measured.get()[1])

    before = tuple(_copies(mod))
    try:
        return search(loss_at, start, end, steps)
    finally:
        mod.set_params(*before)
        train_data.reset()


def _endless(data):
    while True:
        data.reset()
        count = -1
        for count, batch in enumerate(data):  # noqa: B007 - it tells whether there was a batch
            yield batch
        if count < 0:
            raise MXNetError("the data have no batch to try rates on")


def _summed(grad_arrays):
    """On several devices, each gets the sum."""
    return [grads if len(grads) == 1 or grads[0] is None else _over_devices(grads) for grads in grad_arrays]


def _over_devices(grads):
    total = nd.add_n(*(grad.as_in_context(grads[0].context) for grad in grads))
    return [total.as_in_context(grad.context) for grad in grads]
