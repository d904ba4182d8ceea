"""Optimizers that step along the gradient: SGD and its relatives."""

import math
from functools import partial

from .._core.environment import whole_number
from .._core.rounding import single
from .._kernels.optimizer import formulas
from .._ops.optimizer import steps
from ..ndarray import clip
from ..ndarray._dispatch.invoke import plain_tensor
from ..random import normal
from .base import Optimizer, check_arrays, zeros_like
from .multi_tensor import MultiTensorOptimizer, takes_lists

register = Optimizer.register


class _WithMaster(MultiTensorOptimizer):
    """The SGD family writes multi-precision states as (state, master copy)."""

    _own_name = "SGD "
    _past_update = True

    def _join_state(self, master, state):
        return (state, master)

    def _split_state(self, state):
        return state[1], state[0]

    def _master_grad(self, grad):
        return super()._master_grad(grad).tostype("default")  # no operator of theirs for halves is lazy


@register
class SGD(_WithMaster):
    """Stochastic gradient descent: m = momentum · m - lr · (grad + wd · weight); weight += m.

    Parameters
    ----------
    momentum : float, default 0.0
        The momentum.
    lazy_update : bool, default True
        Whether a row-sparse gradient updates only its own rows.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.SGD(learning_rate=0.1, momentum=0.9)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.95, 1.9 ], dtype=float32)
    """

    _rates_in_lists = True

    def __init__(self, momentum=0.0, lazy_update=True, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lazy_update = lazy_update
        self.aggregate_num = whole_number("MXNET_OPTIMIZER_AGGREGATION_SIZE", 4)

    def create_state(self, index, weight):
        if self.momentum == 0.0:
            return None
        return zeros_like(weight, stype=weight.stype if self.lazy_update else "default")

    @property
    def _lazy(self):
        return self.lazy_update

    def _step(self, weights, grads, states, lrs, wds, indices):
        momenta = states[0] if states and self.momentum != 0.0 else []  # loaded ones are of no use without momentum
        steps.sgd(weights, grads, momenta, lrs, wds, momentum=max(self.momentum, 0.0), **self._limits)


@register
class ccSGD(SGD):
    """SGD under the name of its former C++ twin."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


@register
class NAG(_WithMaster):
    """Nesterov's accelerated gradient: m = momentum · m - lr · grad; weight += momentum · m - lr · grad.

    Parameters
    ----------
    momentum : float, default 0.0
        The momentum.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.NAG(learning_rate=0.1, momentum=0.9)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.905, 1.81 ], dtype=float32)
    """

    _own_name = "NAG "

    def __init__(self, momentum=0.0, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum

    def create_state(self, index, weight):
        return None if self.momentum == 0.0 else zeros_like(weight)

    @property
    def _lazy(self):
        return self.momentum == 0.0  # without a state MXNet takes plain SGD's operator, which is lazy

    def _step(self, weights, grads, states, lrs, wds, indices):
        if states:
            numbers = *self._bounds, self.momentum
            steps.step(formulas.nesterov_in_place, weights, grads, states, (lrs, wds), *numbers)
        else:
            steps.sgd(weights, grads, [], lrs, wds, momentum=0.0, **self._limits)


@register
class Signum(MultiTensorOptimizer):
    """Steps of the same length: weight -= lr · sign(m) with the running mean m of the gradients.

    Parameters
    ----------
    learning_rate : float, default 0.01
        The learning rate.
    momentum : float, default 0.9
        The momentum; 0 takes the sign of the gradient itself.
    wd_lh : float, default 0.0
        Weight decay apart from the gradient: weight · (1 - lr · wd_lh).
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.Signum(learning_rate=0.1)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.9, 1.9], dtype=float32)
    """

    def __init__(self, learning_rate=0.01, momentum=0.9, wd_lh=0.0, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def create_state(self, index, weight):
        return None if self.momentum == 0.0 else zeros_like(weight, stype=weight.stype)

    def _step(self, weights, grads, states, lrs, wds, indices):
        if states:
            numbers = *self._bounds, single(max(self.momentum, 0.0)), self.wd_lh
            steps.step(formulas.signum, weights, grads, states, (lrs, wds), *numbers)
        else:
            steps.step(formulas.sign_sgd, weights, grads, [], (lrs, wds))


@register
class DCASGD(MultiTensorOptimizer):
    """SGD that compensates the delay of asynchronous workers: g + wd · w + lamda · g² · (w - w_previous).

    Parameters
    ----------
    momentum : float, default 0.0
        The momentum.
    lamda : float, default 0.04
        Strength of the compensation.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.DCASGD(learning_rate=0.1)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.95, 1.9 ], dtype=float32)
    """

    def __init__(self, momentum=0.0, lamda=0.04, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.weight_previous = {}
        self.lamda = lamda

    def create_state(self, index, weight):
        return (None if self.momentum == 0.0 else zeros_like(weight), weight.copy())

    @property
    def _limits(self):
        return {"rescale": self.rescale_grad, "clip": self.clip_gradient}

    def _step(self, weights, grads, states, lrs, wds, indices):
        formula = formulas.delay_compensated_sgd if len(states) == 2 else formulas.delay_compensated_plain_sgd
        steps.step(formula, weights, grads, states, (lrs, wds), *self._bounds, self.momentum, self.lamda)


@register
class SGLD(Optimizer):
    """Stochastic gradient Langevin dynamics: weight -= lr / 2 · (grad + wd · weight) + noise of variance lr.

    Parameters
    ----------
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> weight = mx.nd.zeros((1000,))
    >>> mx.optimizer.get_updater(mx.optimizer.SGLD(learning_rate=0.01))(0, mx.nd.zeros((1000,)), weight)
    >>> abs(float(weight.asnumpy().std()) - 0.1) < 0.02
    True
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def create_state(self, index, weight):
        return None

    def update(self, index, weight, grad, state):
        check_arrays(weight, grad)
        self._update_count(index)
        lr, wd = self._get_lr(index), self._get_wd(index)
        slope, most = grad * self.rescale_grad, self.clip_gradient
        slope = slope if most is None else clip(slope, -most, most)
        noise = normal(0, math.sqrt(lr), shape=weight.shape, dtype=weight.dtype, ctx=weight.context)
        weight[:] += -lr / 2 * (slope + wd * weight)
        weight[:] += noise


@register
class LARS(SGD):
    """SGD whose rate in each layer is scaled by eta · ‖weight‖ / (‖grad‖ + wd · ‖weight‖ + eps).

    Parameters
    ----------
    momentum : float, default 0.0
        The momentum.
    lazy_update : bool, default True
        Whether a row-sparse gradient updates only its own rows.
    eta : float, default 0.001
        The trust coefficient.
    eps : float, default 0
        Added to the denominator.
    momentum_correction : bool, default True
        Whether the momentum follows changes of the learning rate.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.LARS(learning_rate=0.1)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.9999, 1.9998], dtype=float32)
    """

    _decayed_names = ("_weight",)
    _plain_names = ("gamma", "beta", "bias")

    def __init__(self, momentum=0.0, lazy_update=True, eta=0.001, eps=0, momentum_correction=True, **kwargs):
        super().__init__(momentum=momentum, lazy_update=lazy_update, **kwargs)
        self.momentum_correction = momentum_correction
        self.eta = eta
        self.eps = eps
        self.skip = 0
        self.last_lr = None
        self.cur_lr = None

    @takes_lists
    def _get_lrs(self, indices):
        lr = self.learning_rate
        self.last_lr = lr if self.cur_lr is None else self.cur_lr
        self.cur_lr = lr
        return [lr * self._factor(i, "lr_mult", self.lr_mult) for i in indices]

    @property
    def _list_size(self):
        """As in MXNet, where only the first list of a step sees that the learning rate has changed."""
        return self.aggregate_num

    def _momentum_now(self):
        """Momentum holds the last learning rate; when the rate changes, it is brought to the new one."""
        if self.momentum_correction and self.last_lr != 0:
            return self.momentum * (self.cur_lr / self.last_lr)
        return self.momentum

    def _one(self, index, weight, grad, state, lr, wd):
        """The norms are those of whole arrays, also where a sparse gradient changes its own rows only."""
        whole = [[plain_tensor(a.tostype("default"))] for a in (weight, grad)]
        factors = self._layer_factors(*whole, [wd], [index])
        self._rows(partial(self._descend, factors), index, weight, grad, state, lr, wd)

    def _step(self, weights, grads, states, lrs, wds, indices):
        factors = self._layer_factors(weights, grads, wds, indices)
        self._descend(factors, weights, grads, states, lrs, wds, indices)

    def _layer_factors(self, weights, grads, wds, indices):
        """What each parameter's rate is multiplied by."""
        layers = [k for k, i in enumerate(indices) if not self.idx2name.get(i, str(i)).endswith(self._plain_names)]
        factors = [1.0] * len(indices)
        if layers:
            chosen = ([part[k] for k in layers] for part in (weights, grads, wds))
            scales = steps.lars_factors(*chosen, eta=self.eta, epsilon=self.eps, rescale=self.rescale_grad)
            for k, scale in zip(layers, scales, strict=True):
                factors[k] = scale
        return factors

    def _descend(self, factors, weights, grads, states, lrs, wds, indices):
        rates = [lr * factor for lr, factor in zip(lrs, factors, strict=True)]
        if states:
            momentum = self._momentum_now() if self.momentum > 0 else 0.0
            steps.step(formulas.sgd_momentum, weights, grads, states, (rates, wds), *self._bounds, momentum)
        else:
            steps.step(formulas.sgd, weights, grads, [], (rates, wds), *self._bounds)


@register
class Test(Optimizer):
    """weight += grad * rescale_grad, for tests."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def create_state(self, index, weight):
        return zeros_like(weight, dtype="float32")

    def update(self, index, weight, grad, state):
        weight[:] += grad * self.rescale_grad
        state[:] = weight
