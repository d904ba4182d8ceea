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
    """Stochastic gradient descent with momentum: m = momentum · m - lr · (grad + wd · weight); weight += m.

    The momentum is a decaying sum of the past steps: it smooths the noise of single batches, and steps in a constant
    direction grow up to 1 / (1 - momentum) times as long. 0 gives plain gradient descent.

    Parameters
    ----------
    momentum : float, default 0.0
        The share of the last step that the next one repeats, from 0 to below 1; 0.9 is usual.
    lazy_update : bool, default True
        Whether a row-sparse gradient updates only the rows it has. False decays weights and momentum of all rows.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).
        The default learning rate is 0.01.

    Notes
    -----
    As in MXNet, the momentum contains the learning rate. When a schedule lowers the rate, the steps taken before keep
    their length in it; in PyTorch, whose momentum holds gradients, a new rate acts on all of them at once.

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.1, momentum=0.9))
    >>> weight = mx.nd.array([1.0])
    >>> for step in range(3):  # the gradient stays 1, the steps grow: 0.1, 0.19, 0.271
    ...     update(0, mx.nd.array([1.0]), weight)
    ...     print(weight.asnumpy())
    [0.9]
    [0.71]
    [0.43899998]
    >>> weight = mx.nd.array([1.0])  # weight decay alone: 1 - 0.1 · 0.5
    >>> mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.1, wd=0.5))(0, mx.nd.array([0.0]), weight)
    >>> weight.asnumpy()
    array([0.95], dtype=float32)
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
    """The same as `SGD`: the name of its former twin in C++, kept for old programs.

    Parameters
    ----------
    *args, **kwargs
        As for `SGD`.

    Examples
    --------
    >>> mx.optimizer.create("ccsgd", learning_rate=0.1, momentum=0.9).momentum
    0.9
    """

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


@register
class NAG(_WithMaster):
    """Nesterov's accelerated gradient: m = momentum · m - lr · g; weight += momentum · m - lr · g.

    Here g = grad + wd · weight. The step looks ahead: it adds the momentum that has already seen the new gradient,
    which damps oscillations better than `SGD` does.

    Parameters
    ----------
    momentum : float, default 0.0
        The share of the last step that the next one repeats; with 0 the optimizer is plain gradient descent.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).
        The default learning rate is 0.01.

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.NAG(learning_rate=0.1, momentum=0.9))
    >>> weight = mx.nd.array([1.0])
    >>> for step in range(2):  # the first step is 0.1 · (1 + 0.9), that of SGD 0.1
    ...     update(0, mx.nd.array([1.0]), weight)
    ...     print(weight.asnumpy().round(4))
    [0.81]
    [0.539]
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
    """Steps of one length: m = momentum · m - (1 - momentum) · (grad + wd · weight); weight += lr · sign(m).

    Only the sign of the averaged gradient counts, so every element moves by exactly the learning rate, up or down. That
    makes training insensitive to the scale of gradients and lets workers send one bit for each element.

    Parameters
    ----------
    learning_rate : float, default 0.01
        The length of each element's step.
    momentum : float, default 0.9
        How much of the average of the gradients is kept; 0 takes the sign of the gradient itself.
    wd_lh : float, default 0.0
        Weight decay apart from the gradient (Loshchilov and Hutter): the weight is multiplied by 1 - lr · wd_lh. It has
        no effect if `momentum` is 0, where `wd` acts in this way.
    **kwargs
        What every optimizer takes: see `Optimizer` (wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.Signum(learning_rate=0.1))
    >>> weight = mx.nd.array([1.0, 1.0, 1.0])
    >>> update(0, mx.nd.array([100.0, -0.001, 0.0]), weight)  # large or small: the same step; zero: none
    >>> weight.asnumpy()
    array([0.9, 1.1, 1. ], dtype=float32)
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
    """SGD for delayed gradients: m = momentum · m - lr · (g + wd · w + lamda · g² · (w - w_previous)); w += m.

    A worker of an asynchronous job computes its gradient from weights that others have changed since. The additional
    term estimates by how much the gradient would have changed with them (delay compensation, Zheng et al., 2017).

    Parameters
    ----------
    momentum : float, default 0.0
        The share of the last step that the next one repeats.
    lamda : float, default 0.04
        Strength of the compensation; 0 gives `SGD`.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).
        The default learning rate is 0.01.

    Notes
    -----
    `w_previous` is the weight before this parameter's last update, so that in a single process the formula sees its own
    last step.

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.DCASGD(learning_rate=0.1, lamda=1))
    >>> weight = mx.nd.array([1.0])
    >>> for step in range(2):  # the second step is shorter: 0.1 · (1 + 1² · (0.9 - 1.0))
    ...     update(0, mx.nd.array([1.0]), weight)
    ...     print(weight.asnumpy())
    [0.9]
    [0.80999994]
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
    """Stochastic gradient Langevin dynamics: weight -= lr / 2 · (grad + wd · weight) + noise, noise ~ N(0, lr).

    If the gradient is that of the negative log-posterior, the weights of successive steps are samples from the
    posterior distribution: averaging predictions over them tells how certain a network is. The noise is drawn from
    MXNet's random stream, so `mx.random.seed` makes it repeatable.

    Parameters
    ----------
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).
        The default learning rate is 0.01; √lr is the standard deviation of the noise.

    Examples
    --------
    >>> mx.random.seed(1)
    >>> weight = mx.nd.zeros((1000,))
    >>> update = mx.optimizer.get_updater(mx.optimizer.SGLD(learning_rate=0.01))
    >>> update(0, mx.nd.ones((1000,)), weight)  # a step of 0.01 / 2, hidden in noise of standard deviation 0.1
    >>> round(float(weight.asnumpy().std()), 1)
    0.1
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
    """Layer-wise adaptive rates: `SGD` whose rate in each layer is multiplied by a trust ratio.

    ratio = eta · ‖weight‖ / (‖grad‖ + wd · ‖weight‖ + eps), so that each layer's step is a fixed share of its weights,
    whatever the size of its gradient. It was made for batches of thousands of images (You et al., 2017).

    Parameters
    ----------
    momentum : float, default 0.0
        The share of the last step that the next one repeats.
    lazy_update : bool, default True
        Whether a row-sparse gradient updates only the rows it has.
    eta : float, default 0.001
        The trust coefficient.
    eps : float, default 0
        Added to the denominator.
    momentum_correction : bool, default True
        Whether the momentum, which contains the learning rate, is rescaled when the rate changes.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).
        The default learning rate is 0.01; with LARS it is usually above 1.

    Notes
    -----
    Parameters whose names end in `gamma`, `beta` or `bias` keep the ratio 1, and so do those with a norm of 0. With
    `param_idx2name` only names in `_weight` are decayed.

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.LARS(learning_rate=1.0, eta=0.01))
    >>> for scale in (1, 1000):  # the length of the step is eta · ‖weight‖ = 0.05 for any scale of the gradient
    ...     weight = mx.nd.array([3.0, 4.0])
    ...     update(0, scale * mx.nd.array([0.0, 2.0]), weight)
    ...     print(weight.asnumpy())
    [3.   3.95]
    [3.   3.95]
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
    """weight += rescale_grad · grad: what MXNet's own tests use, to see which gradients arrive.

    It has neither a learning rate nor weight decay; the state is a copy of the weight after the update.

    Parameters
    ----------
    **kwargs
        What every optimizer takes: see `Optimizer`; only `rescale_grad` has an effect.

    Examples
    --------
    >>> weight = mx.nd.array([1.0])
    >>> mx.optimizer.get_updater(mx.optimizer.create("test", rescale_grad=0.5))(0, mx.nd.array([4.0]), weight)
    >>> weight.asnumpy()
    array([3.], dtype=float32)
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def create_state(self, index, weight):
        return zeros_like(weight, dtype="float32")

    def update(self, index, weight, grad, state):
        weight[:] += grad * self.rescale_grad
        state[:] = weight
