"""The learning-rate finder: one short training with a rising rate, after which the network is as before."""

import copy
import itertools
import math
from typing import NamedTuple

from ....base import MXNetError
from ...trainer import Trainer
from .event_handler import copies_of, put_back

__all__ = ["LearningRates", "find_learning_rate"]

SMOOTHING, DIVERGED, AROUND = 0.9, 4.0, 3


class LearningRates(NamedTuple):
    """What `find_learning_rate` found.

    Parameters
    ----------
    rates : list of float
        The learning rates.
    losses : list of float
        The mean loss around each.
    suggestion : float
        A learning rate to train with.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import LearningRates
    >>> LearningRates([0.1, 1.0], [2.0, 3.0], 0.1).suggestion
    0.1
    """

    rates: list
    losses: list
    suggestion: float


def find_learning_rate(estimator, train_data, start=1e-6, end=1.0, steps=100):
    """Train with a rate that rises from `start` to `end`, and suggest a tenth of the one with the smallest loss.

    The loss at a rate is the mean over seven batches around it. Once a running average of the loss is four times its
    best value, the search ends. Parameters, the trainer and its states are the same afterwards, random streams have
    moved on (Smith, 2015).

    Parameters
    ----------
    estimator : Estimator
        Its network, loss and optimizer are used.
    train_data : DataLoader
        Is begun anew if it has fewer batches than `steps`.
    start, end : float
        The range of rates.
    steps : int
        How many rates are tried, one batch each.

    Returns
    -------
    LearningRates
        `rates`, `losses` and `suggestion`.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import Estimator
    >>> mx.random.seed(0)
    >>> net = mx.gluon.nn.Dense(1)
    >>> net.initialize()
    >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd")
    >>> est = Estimator(net, mx.gluon.loss.L2Loss(), mx.metric.MSE(), trainer=trainer)
    >>> x = mx.nd.random.normal(shape=(64, 3))
    >>> data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(x, x.sum(axis=1, keepdims=True)), 16)
    >>> found = est.find_learning_rate(data, start=1e-3, end=100.0, steps=50)
    >>> bool(1e-2 < found.suggestion < 2)
    True
    """
    if not 0 < start < end:
        raise ValueError(f"rates must be positive and rise, got {start} and {end}")
    if steps < 10:
        raise ValueError(f"a search needs at least 10 steps, got {steps}")
    batches = itertools.islice(itertools.chain.from_iterable(itertools.repeat(train_data)), steps)
    first = next(iter(train_data), None)
    if first is None:
        raise MXNetError("the data have no batch to try rates on")
    estimator.batch_processor.evaluate_batch(estimator, first, 0)  # parameters of unknown shape get theirs
    before, trainer = copies_of(estimator.net), _other_trainer(estimator)
    factor = (end / start) ** (1 / (steps - 1))
    try:
        rates, losses = _search(estimator, trainer, batches, start, factor)
    finally:
        put_back(estimator.net, before)
    return LearningRates(rates, losses, _tenth_of_best(rates, losses))


def _other_trainer(estimator):
    """A trainer with an optimizer of the same kind and without its states or schedule."""
    optimizer = estimator.trainer.optimizer
    kept = {id(optimizer.param_dict): optimizer.param_dict, id(optimizer.lr_scheduler): None}
    return Trainer(estimator.net.collect_params(), copy.deepcopy(optimizer, kept), kvstore=None)


def _search(estimator, trainer, batches, rate, factor):
    """Rates and the loss around each; a running average, which lags behind, only says when to stop."""
    rates, losses, average, best = [], [], 0.0, math.inf
    for step, batch in enumerate(batches, 1):
        trainer.set_learning_rate(rate)
        _, _, _, loss = estimator.batch_processor.fit_batch(estimator, batch, 0)
        trainer.step(sum(part.shape[0] for part in loss))
        value = sum(float(part.mean().asscalar()) for part in loss) / len(loss)
        average = SMOOTHING * average + (1 - SMOOTHING) * value
        smooth = average / (1 - SMOOTHING**step)
        best = min(best, smooth)
        if not smooth <= DIVERGED * best:  # NaN, too
            break
        rates.append(rate)
        losses.append(value)
        rate *= factor
    return rates, [_mean(losses[max(0, i - AROUND) : i + AROUND + 1]) for i in range(len(losses))]


def _mean(values):
    return sum(values) / len(values)


def _tenth_of_best(rates, losses):
    """A tenth of the rate with the smallest loss, where the training is about to diverge."""
    best = losses.index(min(losses)) if losses else 0
    if not best:
        raise MXNetError(f"the loss grew at once, at the rate {rates[0] if rates else 0:g}: begin with a smaller one")
    return rates[best] / 10
