"""The oldest learning-rate schedulers, under their old address."""

import logging
import math


class LearningRateScheduler:
    """Base: has `base_lr`, the first learning rate; a call with the iteration returns the rate."""

    base_lr = 0.01

    def __call__(self, iteration):
        raise NotImplementedError(f"{type(self).__name__} must define __call__(iteration)")


class FactorScheduler(LearningRateScheduler):
    """Multiplies the rate by `factor` every `step` iterations."""

    def __init__(self, step, factor=0.1):
        if step < 1:
            raise ValueError("Schedule step must be greater or equal than 1 round")
        if factor >= 1.0:
            raise ValueError("Factor must be less than 1 to make lr reduce")
        self.step, self.factor = step, factor
        self.old_lr, self.init = self.base_lr, False

    def __call__(self, iteration):
        if not self.init:
            self.init, self.old_lr = True, self.base_lr
        rate = self.base_lr * math.pow(self.factor, int(iteration / self.step))
        if rate != self.old_lr:
            self.old_lr = rate
            logging.info("At Iteration [%d]: Swith to new learning rate %.5f", iteration, rate)
        return rate
