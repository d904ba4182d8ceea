"""Learning-rate schedules: callables from the number of updates to a learning rate."""

import logging
from math import cos, pi

from ._core.advice.constructors import ExplainsArguments as _ExplainsArguments


class LRScheduler(_ExplainsArguments):
    """Base class of schedules: `schedule(num_update)` is the learning rate of that update.

    Parameters
    ----------
    base_lr : float, default 0.01
        The learning rate after the warm-up.
    warmup_steps : int, default 0
        Number of updates of the warm-up.
    warmup_begin_lr : float, default 0
        The rate at which the warm-up begins.
    warmup_mode : {'linear', 'constant'}, default 'linear'
        Whether the rate rises during the warm-up or stays at `warmup_begin_lr`.

    Examples
    --------
    >>> class Halving(mx.lr_scheduler.LRScheduler):
    ...     def __call__(self, num_update):
    ...         return self.base_lr / 2 ** (num_update // 10)
    >>> [Halving(base_lr=1)(n) for n in (0, 10, 20)]
    [1.0, 0.5, 0.25]
    """

    def __init__(self, base_lr=0.01, warmup_steps=0, warmup_begin_lr: float = 0, warmup_mode="linear"):
        assert isinstance(warmup_steps, int), f"warmup_steps must be an integer, got {warmup_steps!r}"
        if warmup_begin_lr > base_lr:
            raise ValueError(f"Base lr has to be higher than warmup_begin_lr, got {base_lr} and {warmup_begin_lr}")
        if warmup_steps < 0:
            raise ValueError(f"Warmup steps has to be positive or 0, got {warmup_steps}")
        if warmup_mode not in ("linear", "constant"):
            raise ValueError(f"Supports only linear and constant modes of warmup, got {warmup_mode!r}")
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_final_lr = base_lr
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update):
        """The learning rate during the warm-up: rising linearly, or constant, as `warmup_mode` says.

        Parameters
        ----------
        num_update : int
            The number of updates so far, below `warmup_steps`.

        Returns
        -------
        float

        Examples
        --------
        >>> mx.lr_scheduler.LRScheduler(base_lr=1.0, warmup_steps=4).get_warmup_lr(2)
        0.5
        """
        assert num_update < self.warmup_steps
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = self.warmup_final_lr - self.warmup_begin_lr
        return self.warmup_begin_lr + rise * float(num_update) / float(self.warmup_steps)

    def __call__(self, num_update):
        """The rate after `num_update` updates."""
        raise NotImplementedError("must override this")


def _check_factor(factor):
    if factor > 1.0:
        raise ValueError(f"Factor must be no more than 1 to make lr reduce, got {factor}")


def _check_max_update(max_update):
    assert isinstance(max_update, int), f"max_update must be an integer, got {max_update!r}"
    if max_update < 1:
        raise ValueError(f"maximum number of updates must be strictly positive, got {max_update}")


class FactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` after every `step` updates.

    Parameters
    ----------
    step : int
        Number of updates between two changes.
    factor : float, default 1
        What the rate is multiplied by, at most 1.
    stop_factor_lr : float, default 1e-8
        The lowest rate.
    base_lr : float, default 0.01
        The learning rate after the warm-up.
    warmup_steps : int, default 0
        Number of updates of the warm-up.
    warmup_begin_lr : float, default 0
        The rate at which the warm-up begins.
    warmup_mode : {'linear', 'constant'}, default 'linear'
        Whether the rate rises during the warm-up or stays at `warmup_begin_lr`.

    Examples
    --------
    >>> schedule = mx.lr_scheduler.FactorScheduler(step=10, factor=0.5, base_lr=1.0)
    >>> [schedule(n) for n in (1, 11, 21)]
    [1.0, 0.5, 0.25]
    """

    def __init__(
        self,
        step,
        factor: float = 1,
        stop_factor_lr=1e-8,
        base_lr=0.01,
        warmup_steps=0,
        warmup_begin_lr: float = 0,
        warmup_mode="linear",
    ):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise ValueError(f"Schedule step must be greater or equal than 1 round, got {step}")
        _check_factor(factor)
        self.step, self.factor, self.stop_factor_lr = step, factor, stop_factor_lr
        self.count = 0  # the update of the last change

    def __call__(self, num_update):
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.count + self.step < num_update:
            self._reduce(num_update)
            self.count += self.step
        return self.base_lr

    def _reduce(self, num_update):
        self.base_lr *= self.factor
        message = "Update[%d]: Change learning rate to %0.5e"
        if self.base_lr < self.stop_factor_lr:
            self.base_lr = self.stop_factor_lr
            message = "Update[%d]: now learning rate arrived at %0.5e, will not change in the future"
        logging.info(message, num_update, self.base_lr)


class MultiFactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` after each of the listed updates.

    Parameters
    ----------
    step : list of int
        The updates after which the rate changes, in rising order.
    factor : float, default 1
        What the rate is multiplied by, at most 1.
    base_lr : float, default 0.01
        The learning rate after the warm-up.
    warmup_steps : int, default 0
        Number of updates of the warm-up.
    warmup_begin_lr : float, default 0
        The rate at which the warm-up begins.
    warmup_mode : {'linear', 'constant'}, default 'linear'
        Whether the rate rises during the warm-up or stays at `warmup_begin_lr`.

    Examples
    --------
    >>> schedule = mx.lr_scheduler.MultiFactorScheduler(step=[10, 15], factor=0.5, base_lr=1.0)
    >>> [schedule(n) for n in (1, 11, 16)]
    [1.0, 0.5, 0.25]
    """

    def __init__(
        self, step, factor: float = 1, base_lr=0.01, warmup_steps=0, warmup_begin_lr: float = 0, warmup_mode="linear"
    ):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        assert isinstance(step, list) and len(step) >= 1, f"step must be a list of numbers of updates, got {step!r}"
        if any(later <= earlier for earlier, later in zip(step, step[1:], strict=False)):
            raise ValueError(f"Schedule step must be an increasing integer list, got {step}")
        if step[0] < 1:
            raise ValueError(f"Schedule step must be greater or equal than 1 round, got {step}")
        _check_factor(factor)
        self.step, self.factor = step, factor
        self.count = self.cur_step_ind = 0  # the update of the last change, and the place of the next in `step`

    def __call__(self, num_update):
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        for change in self.step[self.cur_step_ind :]:
            if num_update <= change:
                break
            self.base_lr *= self.factor
            self.count, self.cur_step_ind = change, self.cur_step_ind + 1
            logging.info("Update[%d]: Change learning rate to %0.5e", num_update, self.base_lr)
        return self.base_lr


class _DecayScheduler(LRScheduler):
    """From `base_lr` to `final_lr` over `max_update` updates, along a curve from 1 to 0."""

    def __init__(self, max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        _check_max_update(max_update)
        self.base_lr_orig = base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps = self.max_update - self.warmup_steps

    def _curve(self, progress):
        raise NotImplementedError

    def __call__(self, num_update):
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update <= self.max_update:
            progress = (num_update - self.warmup_steps) / self.max_steps
            self.base_lr = self.final_lr + (self.base_lr_orig - self.final_lr) * self._curve(progress)
        return self.base_lr


class PolyScheduler(_DecayScheduler):
    """final_lr + (base_lr - final_lr) · (1 - n / N)^pwr after n of N updates behind the warm-up.

    Parameters
    ----------
    max_update : int
        The update at which `final_lr` is reached.
    base_lr : float, default 0.01
        The learning rate after the warm-up.
    pwr : int, default 2
        The power.
    final_lr : float, default 0
        The rate at the end.
    warmup_steps, warmup_begin_lr, warmup_mode
        The warm-up, as in `LRScheduler`.

    Examples
    --------
    >>> schedule = mx.lr_scheduler.PolyScheduler(max_update=100, base_lr=1.0)
    >>> [schedule(n) for n in (0, 50, 100)]
    [1.0, 0.25, 0.0]
    """

    def __init__(
        self,
        max_update,
        base_lr=0.01,
        pwr=2,
        final_lr: float = 0,
        warmup_steps=0,
        warmup_begin_lr: float = 0,
        warmup_mode="linear",
    ):
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def _curve(self, progress):
        return pow(1 - progress, self.power)


class CosineScheduler(_DecayScheduler):
    """final_lr + (base_lr - final_lr) · (1 + cos(π n / N)) / 2 after n of N updates behind the warm-up.

    Parameters
    ----------
    max_update : int
        The update at which `final_lr` is reached.
    base_lr : float, default 0.01
        The learning rate after the warm-up.
    final_lr : float, default 0
        The rate at the end.
    warmup_steps, warmup_begin_lr, warmup_mode
        The warm-up, as in `LRScheduler`.

    Examples
    --------
    >>> schedule = mx.lr_scheduler.CosineScheduler(max_update=100, base_lr=1.0, warmup_steps=10)
    >>> [round(schedule(n), 3) for n in (0, 5, 10, 55, 100)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        max_update,
        base_lr=0.01,
        final_lr: float = 0,
        warmup_steps=0,
        warmup_begin_lr: float = 0,
        warmup_mode="linear",
    ):
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def _curve(self, progress):
        return (1 + cos(pi * progress)) / 2


class OneCycleScheduler(LRScheduler):
    """Rises to `max_lr` and falls far below where it began, along cosines, in `max_update` updates (Smith, 2018).

    Parameters
    ----------
    max_update : int
        Updates of the whole training.
    max_lr : float
        The highest rate; `gluon.contrib.estimator.find_learning_rate` suggests one.
    rise : float
        Share of the updates in which the rate rises.
    start_factor, final_factor : float
        The rate begins at `max_lr / start_factor` and ends at `max_lr / final_factor`.

    Examples
    --------
    >>> schedule = mx.lr_scheduler.OneCycleScheduler(max_update=100, max_lr=1.0, rise=0.25)
    >>> [round(schedule(update), 4) for update in (0, 25, 62, 100, 500)]
    [0.04, 1.0, 0.5105, 0.0001, 0.0001]
    """

    def __init__(self, max_update, max_lr=0.1, rise=0.3, start_factor=25.0, final_factor=1e4):
        _check_max_update(max_update)
        if not 0 < rise < 1:
            raise ValueError(f"rise must be a share of the updates between 0 and 1, got {rise}")
        if start_factor < 1 or final_factor < 1:
            raise ValueError(f"factors must be at least 1, got {start_factor} and {final_factor}")
        super().__init__(max_lr)
        self.max_update, self.max_lr, self.rise = max_update, max_lr, rise
        self.start_factor, self.final_factor = start_factor, final_factor

    def __call__(self, num_update):
        top = self.base_lr  # an optimizer sets it to its own learning rate, if it was given one
        begin, end, turn = top / self.start_factor, top / self.final_factor, self.rise * self.max_update
        if num_update < turn:
            return _along_cosine(begin, top, num_update / turn)
        return _along_cosine(top, end, min(1.0, (num_update - turn) / (self.max_update - turn)))


def _along_cosine(begin, end, progress):
    return end + (begin - end) * (1 + cos(pi * progress)) / 2
