"""The search for a learning rate: training with a rising rate until the loss grows, for Module and Estimator."""

import math
from typing import NamedTuple

from .._core.errors import MXNetError

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


def _mean(values):
    """Of a list that is not empty."""
    return sum(values) / len(values)


def _smoothed(losses):
    """The mean loss over seven steps around each."""
    return [_mean(losses[max(0, i - AROUND) : i + AROUND + 1]) for i in range(len(losses))]


def _suggested(rates, losses):
    """A tenth of the rate with the smallest loss, where the training is about to diverge."""
    best = losses.index(min(losses)) if losses else 0
    if not best:
        raise MXNetError(f"the loss grew at once, at the rate {rates[0] if rates else 0:g}: begin with a smaller one")
    return rates[best] / 10


def check_range(start, end, steps):
    """Before anything is changed."""
    if not 0 < start < end:
        raise ValueError(f"rates must be positive and rise, got {start} and {end}")
    if steps < 10:
        raise ValueError(f"a search needs at least 10 steps, got {steps}")


def search(loss_at, start, end, steps):
    """LearningRates from `loss_at(rate)`, which trains one batch; ends once a running average has grown fourfold."""
    check_range(start, end, steps)
    rates, losses, average, best = [], [], 0.0, math.inf
    for step in range(1, steps + 1):
        rate = start * (end / start) ** ((step - 1) / (steps - 1))
        value = loss_at(rate)
        average = SMOOTHING * average + (1 - SMOOTHING) * value
        smooth = average / (1 - SMOOTHING**step)
        best = min(best, smooth)
        if not smooth <= DIVERGED * best:  # NaN, too
            break
        rates.append(rate)
        losses.append(value)
    return LearningRates(rates, _smoothed(losses), _suggested(rates, _smoothed(losses)))
