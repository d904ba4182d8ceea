"""LBSGD: SGD for very large batches, which gathers gradients and warms the learning rate up."""

import logging
import math
import warnings

import numpy

from ..ndarray import array, mp_sgd_mom_update, mp_sgd_update, multiply, sgd_mom_update, sgd_update
from .base import Optimizer, check_arrays, zeros_like

WARMUPS = {
    "linear": lambda progress: progress,
    "power2": lambda progress: progress * progress,
    "sqrt": math.sqrt,
}


@Optimizer.register
class LBSGD(Optimizer):
    """SGD for large batches: gradients of `batch_scale` calls are averaged, and one step is taken at a warmed-up rate.

    During the first `warmup_epochs` the learning rate rises from lr to lr · batch_scale; the step is that of `SGD`. The
    larger batch is gathered on one device, so that its memory does not limit the size.

    Parameters
    ----------
    momentum : float, default 0.0
        The share of the last step that the next one repeats.
    multi_precision : bool, default False
        Whether float16 weights keep a float32 copy.
    warmup_strategy : {'linear', 'power2', 'sqrt', 'lars'}, default 'linear'
        How the rate rises. With p = updates / (warmup_epochs · updates_per_epoch) the factor is 1 + (batch_scale - 1) ·
        p, p² or √p in place of p. 'lars' has no warm-up: the factor is ‖weight‖ / ‖gradient‖, between 0.01 and 100.
    warmup_epochs : int, default 5
        Length of the warm-up in epochs.
    batch_scale : int, default 1
        Number of calls whose gradients are averaged.
    updates_per_epoch : int, default 32
        Number of calls in an epoch.
    begin_epoch : int, default 0
        The epoch at which training begins, for a run that continues another.
    num_epochs : int, default 60
        Number of epochs of the whole training; not used, as in MXNet.
    **kwargs
        What every optimizer takes: see `Optimizer`.

    Examples
    --------
    >>> optimizer = mx.optimizer.LBSGD(learning_rate=0.1, batch_scale=2, warmup_epochs=0)
    >>> update = mx.optimizer.get_updater(optimizer)
    >>> weight = mx.nd.array([1.0])
    >>> for gradient in (1.0, 3.0):  # nothing in the first call, then 0.1 · 2 · (1 + 3) / 2
    ...     update(0, mx.nd.array([gradient]), weight)
    ...     print(weight.asnumpy().round(4))
    [1.]
    [0.6]
    """

    def __init__(
        self,
        momentum=0.0,
        multi_precision=False,
        warmup_strategy="linear",
        warmup_epochs=5,
        batch_scale=1,
        updates_per_epoch=32,
        begin_epoch=0,
        num_epochs=60,
        **kwargs,
    ):
        super().__init__(**kwargs)
        logging.info("Running Large-Batch SGD Algorithm")
        logging.info(
            "(Batch_scale=%f, warmup_epochs=%d, warmup_strategy=%s, updates_per_epoch=%d)",
            batch_scale,
            warmup_epochs,
            warmup_strategy,
            updates_per_epoch,
        )
        self.momentum, self.multi_precision = momentum, multi_precision
        self.batch_scale, self.warmup_strategy, self.warmup_epochs = batch_scale, warmup_strategy, warmup_epochs
        self.updates_per_epoch, self.num_epochs = updates_per_epoch, num_epochs
        self.init_updates = updates_per_epoch * begin_epoch
        self.cumgrads = {}  # index -> the sum of gradients, and how many updates there were
        self.lbmult = self.admult = 1
        self.adaptive = False

    def create_state(self, index, weight):
        if self.multi_precision and weight.dtype == numpy.float16:
            master = array(weight, ctx=weight.context, dtype=numpy.float32)
            return (self._momentum_like(weight, numpy.float32), master)
        if weight.dtype == numpy.float16:
            warnings.warn(
                "Accumulating with float16 in optimizer can lead to poor accuracy or slow convergence. "
                "Consider using multi_precision=True option of the SGD optimizer",
                stacklevel=2,
            )
        return self._momentum_like(weight, weight.dtype)

    def _momentum_like(self, weight, dtype):
        return None if self.momentum == 0.0 else zeros_like(weight, dtype=dtype, stype=weight.stype)

    def _get_lbmult(self, nup):
        """The factor of the learning rate after `nup` updates: from 1 up to `batch_scale`."""
        warmup = self.warmup_epochs * self.updates_per_epoch
        if nup >= warmup:
            return float(self.batch_scale)
        if warmup <= 1 or self.warmup_strategy not in WARMUPS:
            return 1.0
        return 1.0 + (float(self.batch_scale) - 1) * WARMUPS[self.warmup_strategy](nup / warmup)

    def _get_lars(self, weight, g, wd):
        """|weight| / |gradient|, between 0.01 and 100."""
        weight2, grad2 = self._l2norm(weight), self._l2norm(g)
        return min(max(math.sqrt(weight2 / (grad2 + wd * weight2 + 1e-18)), 0.01), 100)

    def _l2norm(self, v):
        return multiply(v, v).asnumpy().sum()

    def _cumulate_gradient(self, grad, index):
        known = self.cumgrads.get(index)
        if known:
            gathered = {"cum_grad": known["cum_grad"] + grad, "num_cums": known["num_cums"] + 1}
        else:
            gathered = {"cum_grad": grad, "num_cums": self.init_updates + 1}
        self.cumgrads[index] = gathered
        return gathered["cum_grad"], gathered["num_cums"]

    def update(self, index, weight, grad, state):
        check_arrays(weight, grad)
        lr, wd = self._get_lr(index), self._get_wd(index)
        self._update_count(index)
        total, count = self._cumulate_gradient(grad, index)
        if count % self.batch_scale != 0:
            return
        grad = total / self.batch_scale
        lr *= self._get_lars(weight, grad, wd) if self.warmup_strategy == "lars" else self._get_lbmult(count)
        self._sgd(weight, grad, state, lr, wd)
        self.cumgrads[index]["cum_grad"] = 0

    def _sgd(self, weight, grad, state, lr, wd):
        options = {"rescale_grad": self.rescale_grad, "lr": lr, "wd": wd}
        if self.clip_gradient:
            options["clip_gradient"] = self.clip_gradient
        momentum, master = state if isinstance(state, (list, tuple)) else (state, None)
        inputs = [weight, grad] + [s for s in (momentum, master) if s is not None]
        if momentum is not None:
            options["momentum"] = max(self.momentum, 0.0)
            step = sgd_mom_update if master is None else mp_sgd_mom_update
        else:
            step = sgd_update if master is None else mp_sgd_update
        step(*inputs, out=weight, **options)
