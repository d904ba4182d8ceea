"""Optimizers that scale each weight's step by the history of its gradients: Adam and its relatives."""

from .._core.environment import whole_number
from .._core.rounding import single
from .._kernels.optimizer import formulas
from .._ops.optimizer import steps
from .._ops.optimizer.update_rules import held
from .base import Optimizer, zeros_like
from .multi_tensor import MultiTensorOptimizer

register = Optimizer.register


def corrections_of(beta, counts):
    """1 - beta ** t for the numbers of steps of all parameters, most of which agree."""
    by_count = {t: 1 - beta**t for t in set(counts)}
    return list(map(by_count.__getitem__, counts))


class _Moments(MultiTensorOptimizer):
    """Keeps a running mean and a running second moment of the gradients."""

    def __init__(self, learning_rate, beta1, beta2, epsilon, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index, weight):
        return (zeros_like(weight), zeros_like(weight))

    @property
    def _decays(self):
        return {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon}

    def _correction(self, count):
        """What the learning rate of the t-th update is multiplied by, since both moments began at zero."""
        return (1 - self.beta2**count) ** 0.5 / (1 - self.beta1**count)


class _ClipAlways:
    """Formulas that MXNet writes in Python clip at 0 too, where its operators take 0 for none."""

    @property
    def _limits(self):
        return {"rescale": self.rescale_grad, "clip": self.clip_gradient}


@register
class Adam(_Moments):
    """Adam: m = β1 m + (1 - β1) g; v = β2 v + (1 - β2) g²; weight -= lr_t · m / (√v + epsilon).

    lr_t = lr · √(1 - β2^t) / (1 - β1^t), and weight decay is part of the gradient: g = grad + wd · weight.

    Parameters
    ----------
    learning_rate : float, default 0.001
        The learning rate.
    beta1, beta2 : float, default 0.9 and 0.999
        How much of the running means is kept in each step.
    epsilon : float, default 1e-8
        Added to the root, so that the division is safe.
    lazy_update : bool, default True
        Whether a row-sparse gradient updates only its own rows.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.Adam(learning_rate=0.1)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.9, 1.9], dtype=float32)
    """

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, lazy_update=True, **kwargs):
        super().__init__(learning_rate, beta1, beta2, epsilon, **kwargs)
        self.lazy_update = lazy_update

    def create_state(self, index, weight):
        stype = weight.stype if self.lazy_update else "default"
        return (zeros_like(weight, stype=stype), zeros_like(weight, stype=stype))

    @property
    def _lazy(self):
        return self.lazy_update

    def _step(self, weights, grads, states, lrs, wds, indices):
        counts = self._counts(indices)
        if lrs.count(lrs[0]) == len(lrs) and counts.count(counts[0]) == len(counts):
            rates = [lrs[0] * self._correction(counts[0])] * len(lrs)
        else:
            rates = [lr * self._correction(t) for lr, t in zip(lrs, counts, strict=True)]
        steps.adam(weights, grads, *states, rates, wds, **self._decays, **self._limits)


@register
class AdamW(_Moments):
    """Adam with weight decay apart from the gradient: weight -= lr_t · m / (√v + epsilon) + lr · wd · weight.

    MXNet 1.9.1 has the operator but no such class.

    Parameters
    ----------
    learning_rate : float, default 0.001
        The learning rate.
    beta1, beta2 : float, default 0.9 and 0.999
        How much of the running means is kept in each step.
    epsilon : float, default 1e-6
        Added to the root.
    correct_bias : bool, default True
        Whether the running means are corrected for their start at zero.
    **kwargs
        What every optimizer takes: see `Optimizer`.

    Examples
    --------
    >>> optimizer = mx.optimizer.AdamW(learning_rate=0.1)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.9, 1.9], dtype=float32)
    """

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-6, correct_bias=True, **kwargs):
        super().__init__(learning_rate, beta1, beta2, epsilon, **kwargs)
        self.correct_bias = correct_bias

    def _step(self, weights, grads, states, lrs, wds, indices):
        counts = self._counts(indices)
        rates = [lr * (self._correction(t) if self.correct_bias else 1.0) for lr, t in zip(lrs, counts, strict=True)]
        decays = [lr * wd for lr, wd in zip(lrs, wds, strict=True)]
        numbers = *self._bounds, single(self.beta1), single(self.beta2), self.epsilon
        steps.step(formulas.adamw, weights, grads, states, (rates, decays), *numbers)


@register
class LAMB(_Moments):
    """Adam's direction, scaled in each layer by ‖weight‖ / ‖direction‖.

    Parameters
    ----------
    learning_rate : float, default 0.001
        The learning rate.
    beta1, beta2 : float, default 0.9 and 0.999
        How much of the running means is kept in each step.
    epsilon : float, default 1e-6
        Added to the root.
    lower_bound, upper_bound : float, optional
        Limits of ‖weight‖.
    bias_correction : bool, default True
        Whether the running means are corrected for their start at zero.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.LAMB(learning_rate=0.1)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.8419, 1.8419], dtype=float32)
    """

    _past_update = True

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-6,
        lower_bound=None,
        upper_bound=None,
        bias_correction=True,
        **kwargs,
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, **kwargs)
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction
        self.aggregate_num = max(1, min(45, whole_number("MXNET_OPTIMIZER_AGGREGATION_SIZE", 45)))

    def create_state(self, index, weight):
        return (zeros_like(weight, stype=weight.stype), zeros_like(weight, stype=weight.stype))

    def _step(self, weights, grads, states, lrs, wds, indices):
        betas, counts = (single(self.beta1), single(self.beta2)), self._counts(indices)
        corrections = [corrections_of(beta if self.bias_correction else 0.0, counts) for beta in betas]
        steps.lamb(
            weights,
            grads,
            *states,
            lrs,
            wds,
            corrections,
            beta1=betas[0],
            beta2=betas[1],
            epsilon=self.epsilon,
            lower=self.lower_bound or None,
            upper=self.upper_bound or None,
            **self._limits,
        )


@register
class Adamax(_ClipAlways, _Moments):
    """Adam in the infinity norm: u = max(β2 u, |g|); weight -= lr / (1 - β1^t) · m / u.

    Parameters
    ----------
    learning_rate : float, default 0.002
        The learning rate.
    beta1, beta2 : float, default 0.9 and 0.999
        How much of the running values is kept in each step.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.Adamax(learning_rate=0.1)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.9, 1.9], dtype=float32)
    """

    def __init__(self, learning_rate=0.002, beta1=0.9, beta2=0.999, **kwargs):
        super().__init__(learning_rate, beta1, beta2, None, **kwargs)
        del self.epsilon

    def _step(self, weights, grads, states, lrs, wds, indices):
        counts = self._counts(indices)
        rates = [lr / (1 - self.beta1**t) for lr, t in zip(lrs, counts, strict=True)]
        steps.step(formulas.adamax, weights, grads, states, (rates, wds), *self._bounds, self.beta1, self.beta2)


@register
class Nadam(_ClipAlways, _Moments):
    """Adam with Nesterov momentum on a schedule.

    Parameters
    ----------
    learning_rate : float, default 0.001
        The learning rate.
    beta1, beta2 : float, default 0.9 and 0.999
        How much of the running means is kept in each step.
    epsilon : float, default 1e-8
        Added to the root.
    schedule_decay : float, default 0.004
        How fast the momentum reaches `beta1`.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.Nadam(learning_rate=0.1)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.8944, 1.8944], dtype=float32)
    """

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, schedule_decay=0.004, **kwargs):
        super().__init__(learning_rate, beta1, beta2, epsilon, **kwargs)
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.0

    def _momentum(self, count):
        return self.beta1 * (1.0 - 0.5 * pow(0.96, count * self.schedule_decay))

    def _mixture(self, count):
        """Factors of the gradient and of its mean. The schedule moves with every parameter, as MXNet's does."""
        now, following = self._momentum(count), self._momentum(count + 1)
        self.m_schedule *= now
        return (1.0 - now) / (1.0 - self.m_schedule), following / (1.0 - self.m_schedule * following)

    def _step(self, weights, grads, states, lrs, wds, indices):
        counts = self._counts(indices)
        grad_factors, mean_factors = zip(*map(self._mixture, counts), strict=True)
        own = lrs, wds, grad_factors, mean_factors, [1.0 - self.beta2**t for t in counts]
        numbers = *self._bounds, self.beta1, self.beta2, self.epsilon
        steps.step(formulas.nadam, weights, grads, states, own, *numbers)


@register
class FTML(MultiTensorOptimizer):
    """Follow the moving leader.

    Parameters
    ----------
    beta1, beta2 : float, default 0.6 and 0.999
        How much of the running means is kept in each step.
    epsilon : float, default 1e-8
        Added to the root.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.FTML(learning_rate=0.1)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.9, 1.9], dtype=float32)
    """

    def __init__(self, beta1=0.6, beta2=0.999, epsilon=1e-8, **kwargs):
        super().__init__(**kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index, weight):
        return tuple(zeros_like(weight) for _ in range(3))

    def _step(self, weights, grads, states, lrs, wds, indices):
        betas = [held(beta, weights[0].dtype) for beta in (self.beta1, self.beta2)]
        corrections = [corrections_of(beta, self._counts(indices)) for beta in betas]
        numbers = *self._bounds, *betas, self.epsilon
        steps.step(formulas.ftml, weights, grads, states, (lrs, wds, *corrections), *numbers)


@register
class Ftrl(MultiTensorOptimizer):
    """Follow the regularized leader, which makes weights sparse.

    Parameters
    ----------
    lamda1 : float, default 0.01
        L1 regularization.
    learning_rate : float, default 0.1
        The learning rate.
    beta : float, default 1
        Smoothing of the rate of each coordinate.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.Ftrl()
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.2993, 0.9495], dtype=float32)
    """

    _lazy, _lazy_when_dense = True, False

    def __init__(self, lamda1=0.01, learning_rate=0.1, beta=1, **kwargs):
        super().__init__(**kwargs)
        self.lamda1 = lamda1
        self.beta = beta
        self.lr = learning_rate

    def create_state(self, index, weight):
        return tuple(zeros_like(weight, dtype="float32", stype=weight.stype) for _ in range(2))

    def _step(self, weights, grads, states, lrs, wds, indices):
        steps.step(formulas.ftrl, weights, grads, states, (lrs, wds), *self._bounds, self.lamda1, self.beta)


@register
class AdaGrad(_ClipAlways, MultiTensorOptimizer):
    """AdaGrad: h += grad²; weight -= lr · (grad / √(h + eps) + wd · weight).

    Each element has its own rate, which decreases with the sum of its squared gradients: elements that rarely have a
    gradient, such as the rows of an embedding, keep large steps. As the sum never decreases, steps become small in long
    runs; AdaDelta and RMSProp use averages instead.

    Parameters
    ----------
    eps : float, default 1e-7
        Added inside the root, so that the division is safe.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.AdaGrad(learning_rate=0.1)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.9, 1.9], dtype=float32)
    """

    _lazy = True

    def __init__(self, eps=1e-7, **kwargs):
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index, weight):
        return zeros_like(weight, dtype="float32", stype=weight.stype)

    def _step(self, weights, grads, states, lrs, wds, indices):
        steps.step(formulas.adagrad, weights, grads, states, (lrs, wds), *self._bounds, self.float_stable_eps)


@register
class AdaDelta(_ClipAlways, MultiTensorOptimizer):
    """AdaDelta: steps as large as the recent steps were, relative to the recent gradients; it needs no learning rate.

    Parameters
    ----------
    rho : float, default 0.9
        How much of the running means is kept in each step.
    epsilon : float, default 1e-5
        Added inside the roots.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.AdaDelta()
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.99, 1.99], dtype=float32)
    """

    def __init__(self, rho=0.9, epsilon=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def create_state(self, index, weight):
        return tuple(zeros_like(weight, dtype="float32") for _ in range(2))

    def _step(self, weights, grads, states, lrs, wds, indices):
        steps.step(formulas.adadelta, weights, grads, states, (lrs, wds), *self._bounds, self.rho, self.epsilon)


@register
class RMSProp(MultiTensorOptimizer):
    """RMSProp: n = γ1 n + (1 - γ1) g²; weight -= lr · g / √(n + epsilon).

    Parameters
    ----------
    learning_rate : float, default 0.001
        The learning rate.
    gamma1 : float, default 0.9
        How much of the running mean of squared gradients is kept.
    gamma2 : float, default 0.9
        The momentum, used if `centered`.
    epsilon : float, default 1e-8
        Added inside the root.
    centered : bool, default False
        Whether the running mean of gradients is subtracted (Graves' variant).
    clip_weights : float, optional
        Weights are clipped to [-clip_weights, clip_weights].
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> optimizer = mx.optimizer.RMSProp(learning_rate=0.1)
    >>> weight, grad = mx.nd.array([1.0, 2.0]), mx.nd.array([0.5, 1.0])
    >>> mx.optimizer.get_updater(optimizer)(0, grad, weight)
    >>> weight.asnumpy().round(4)
    array([0.6838, 1.6838], dtype=float32)
    """

    def __init__(
        self,
        learning_rate=0.001,
        gamma1=0.9,
        gamma2=0.9,
        epsilon=1e-8,
        centered=False,
        clip_weights=None,
        **kwargs,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.centered = centered
        self.epsilon = epsilon
        self.clip_weights = clip_weights

    def create_state(self, index, weight):
        parts = 3 if self.centered else 1
        return tuple(zeros_like(weight, dtype="float32", stype=weight.stype) for _ in range(parts))

    def _step(self, weights, grads, states, lrs, wds, indices):
        epsilon, weight_limit = self.epsilon, steps.bound(self.clip_weights or None)
        if self.centered:
            numbers = *self._bounds, single(self.gamma1), self.gamma2, epsilon, weight_limit
            steps.step(formulas.rmsprop_centered, weights, grads, states, (lrs, wds), *numbers)
        else:
            numbers = *self._bounds, single(self.gamma1), epsilon, weight_limit
            steps.step(formulas.rmsprop, weights, grads, states, (lrs, wds), *numbers)
