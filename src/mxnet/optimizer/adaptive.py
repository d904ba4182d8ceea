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

    lr_t = lr · √(1 - β2^t) / (1 - β1^t) corrects for the means' start at 0 in update t. Each element is divided by the
    size of its own gradients, so that the first steps have about the length `lr` everywhere.

    Parameters
    ----------
    learning_rate : float, default 0.001
        The learning rate.
    beta1 : float, default 0.9
        How much of the mean m of the gradients is kept in each step.
    beta2 : float, default 0.999
        How much of the mean v of their squares is kept in each step.
    epsilon : float, default 1e-8
        Added to √v, so that elements without a gradient do not divide by 0.
    lazy_update : bool, default True
        Whether a row-sparse gradient updates only the rows it has. False also applies the momentum of all other rows.
    **kwargs
        What every optimizer takes: see `Optimizer` (wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Notes
    -----
    Weight decay is part of the gradient: g = clip(rescale_grad · grad + wd · weight), which Adam then divides by √v;
    `AdamW` decays apart from it. `epsilon` is added to √v before its bias is corrected (PyTorch: after), which gives
    other results in the first hundred steps if gradients are tiny.

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.1))
    >>> weight = mx.nd.array([1.0, 1.0, 1.0])
    >>> update(0, mx.nd.array([100.0, -0.001, 0.0]), weight)  # the scale of a gradient does not matter
    >>> weight.asnumpy().round(4)
    array([0.9, 1.1, 1. ], dtype=float32)
    >>> update(0, mx.nd.array([-100.0, -0.001, 0.0]), weight)  # a change of sign is averaged out, almost
    >>> weight.asnumpy().round(4)
    array([0.9053, 1.1999, 1.    ], dtype=float32)
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

    `Adam` divides the decay by √v, too, so that weights with large gradients are decayed less. Here all weights shrink
    by the same share, which trains transformers better (Loshchilov and Hutter, 2019). MXNet 1.9.1 has the operator
    `nd.contrib.adamw_update` but no such class.

    Parameters
    ----------
    learning_rate : float, default 0.001
        The learning rate.
    beta1 : float, default 0.9
        How much of the mean of the gradients is kept in each step.
    beta2 : float, default 0.999
        How much of the mean of their squares is kept in each step.
    epsilon : float, default 1e-6
        Added to √v, so that elements without a gradient do not divide by 0.
    correct_bias : bool, default True
        Whether lr_t corrects for the means' start at 0, as in `Adam`; False uses lr itself.
    **kwargs
        What every optimizer takes: see `Optimizer` (wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> for kind in (mx.optimizer.Adam, mx.optimizer.AdamW):  # without a gradient Adam makes a whole step of the decay
    ...     weight = mx.nd.array([10.0, 10.0])
    ...     update = mx.optimizer.get_updater(kind(learning_rate=0.1, wd=0.1))
    ...     update(0, mx.nd.array([0.0, 5.0]), weight)
    ...     print(kind.__name__, weight.asnumpy().round(4))
    Adam [9.9 9.9]
    AdamW [9.9 9.8]
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
    """Layer-wise adaptive moments: Adam's direction, scaled in each layer to the size of its weights.

    u = m̂ / (√v̂ + epsilon) + wd · weight, with Adam's means m̂ and v̂; weight -= lr · ‖weight‖ / ‖u‖ · u. Each layer's
    step is the share `lr` of its weights, which lets BERT be trained in batches of 32,000 (You et al., 2020).

    Parameters
    ----------
    learning_rate : float, default 0.001
        The length of each layer's step relative to its weights.
    beta1 : float, default 0.9
        How much of the mean of the gradients is kept in each step.
    beta2 : float, default 0.999
        How much of the mean of their squares is kept in each step.
    epsilon : float, default 1e-6
        Added to √v̂.
    lower_bound, upper_bound : float, optional
        Limits of ‖weight‖ in the formula; None means no limit.
    bias_correction : bool, default True
        Whether the means are corrected for their start at 0.
    **kwargs
        What every optimizer takes: see `Optimizer` (wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.LAMB(learning_rate=0.1))
    >>> for size in (1, 100):  # the step is a tenth of the weight, whatever its size
    ...     weight = mx.nd.array([3.0, 4.0]) * size
    ...     update(size, mx.nd.array([0.0, 2.0]), weight)
    ...     print(weight.asnumpy())
    [3.  3.5]
    [300. 350.]
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
    """Adam in the infinity norm: m = β1 m + (1 - β1) g; u = max(β2 u, |g|); weight -= lr / (1 - β1^t) · m / u.

    u is the largest recent gradient of each element in place of Adam's root mean square; it needs no correction of its
    bias and reacts to a single large gradient at once.

    Parameters
    ----------
    learning_rate : float, default 0.002
        The learning rate.
    beta1 : float, default 0.9
        How much of the mean m of the gradients is kept in each step.
    beta2 : float, default 0.999
        By how much the largest gradient u decreases in each step.
    **kwargs
        What every optimizer takes: see `Optimizer` (wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Notes
    -----
    There is no epsilon: an element whose gradient has been exactly 0 from the first update on becomes NaN, as in MXNet.

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.Adamax(learning_rate=0.1))
    >>> weight = mx.nd.array([1.0, 1.0, 1.0])
    >>> update(0, mx.nd.array([100.0, -0.001, 0.0]), weight)
    >>> weight.asnumpy().round(4)
    array([0.9, 1.1, nan], dtype=float32)
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
    """Adam with Nesterov momentum: the step mixes the new gradient into the mean ahead of time.

    μ_t = β1 · (1 - 0.5 · 0.96^(t · schedule_decay)) and M_t = μ_1 · … · μ_t. With g, m and v as in `Adam`,
    ĝ = g / (1 - M_t), m̂ = m / (1 - M_{t+1}), v̂ = v / (1 - β2^t):
    weight -= lr · ((1 - μ_t) · ĝ + μ_{t+1} · m̂) / (√v̂ + epsilon).

    Parameters
    ----------
    learning_rate : float, default 0.001
        The learning rate.
    beta1 : float, default 0.9
        How much of the mean m of the gradients is kept in each step; half of it at the beginning of the schedule.
    beta2 : float, default 0.999
        How much of the mean v of their squares is kept in each step.
    epsilon : float, default 1e-8
        Added to √v̂.
    schedule_decay : float, default 0.004
        How fast the momentum μ_t rises to `beta1`.
    **kwargs
        What every optimizer takes: see `Optimizer` (wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Notes
    -----
    As in MXNet, all parameters share one product M_t, which is multiplied at the update of each parameter. The numbers
    of a network therefore depend on how many parameters it has.

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.Nadam(learning_rate=0.1))
    >>> weight = mx.nd.array([1.0])
    >>> for gradient in (1.0, 1.0, -1.0):  # reacts sooner than Adam to the last gradient
    ...     update(0, mx.nd.array([gradient]), weight)
    ...     print(weight.asnumpy().round(4))
    [0.8944]
    [0.816]
    [0.8731]
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
    """Follow the moving leader: the minimizer of all recent losses, each replaced by a parabola (Zheng and Kwok, 2017).

    v = β2 v + (1 - β2) g²; d_t = (1 - β1^t) / lr · (√(v / (1 - β2^t)) + epsilon);
    z = β1 z + (1 - β1) g - (d_t - β1 d_{t-1}) · weight; weight = -z / d_t, with g = grad + wd · weight.

    Parameters
    ----------
    beta1 : float, default 0.6
        How much older losses weigh in each step; smaller values forget sooner, which suits data that changes.
    beta2 : float, default 0.999
        How much of the mean v of squared gradients is kept in each step.
    epsilon : float, default 1e-8
        Added to the root.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).
        The default learning rate is 0.01.

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.FTML(learning_rate=0.1))
    >>> weight = mx.nd.array([1.0])
    >>> for gradient in (1.0, 1.0, -1.0):
    ...     update(0, mx.nd.array([gradient]), weight)
    ...     print(weight.asnumpy().round(4))
    [0.9]
    [0.8375]
    [0.8885]
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
    """Follow the regularized leader: weights that the data does not need become exactly 0.

    z += g - (√(n + g²) - √n) / lr · weight; n += g²;
    weight = 0 where |z| ≤ lamda1, elsewhere -(z - sign(z) · lamda1) / ((beta + √n) / lr + wd).
    It is meant for linear models of many sparse features, such as click prediction (McMahan et al., 2013).

    Parameters
    ----------
    lamda1 : float, default 0.01
        L1 regularization: the larger, the more weights are 0.
    learning_rate : float, default 0.1
        The learning rate.
    beta : float, default 1
        Smoothing: keeps the first steps of rare features short.
    **kwargs
        What every optimizer takes: see `Optimizer` (rescale_grad, clip_gradient, lr_scheduler, ...). `wd` is the L2
        regularization.

    Notes
    -----
    The weight is computed from z and n alone: its initial value only enters z, and a weight without a gradient becomes
    0 in the first update.

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.Ftrl(lamda1=0.5))
    >>> weight = mx.nd.zeros((3,))
    >>> update(0, mx.nd.array([2.0, 0.3, 0.0]), weight)  # a gradient below lamda1 leaves the weight at 0
    >>> weight.asnumpy().round(4)
    array([-0.05, -0.  , -0.  ], dtype=float32)
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
    """AdaGrad: h += g²; weight -= lr · (g / √(h + eps) + wd · weight).

    Each element has its own rate, which decreases with the sum of its squared gradients: elements that rarely have a
    gradient, such as the rows of an embedding, keep large steps. As the sum never decreases, steps become small in long
    runs; `AdaDelta` and `RMSProp` use averages instead.

    Parameters
    ----------
    eps : float, default 1e-7
        Added inside the root, so that the division is safe.
    **kwargs
        What every optimizer takes: see `Optimizer` (learning_rate, wd, rescale_grad, clip_gradient, lr_scheduler, ...).
        The default learning rate is 0.01.

    Notes
    -----
    Weight decay is not part of the gradient and does not enter h. A row-sparse gradient updates only the rows it has.

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.AdaGrad(learning_rate=0.1))
    >>> weight = mx.nd.array([1.0])
    >>> for step in range(4):  # steps of 0.1 / √1, 0.1 / √2, 0.1 / √3, ...
    ...     update(0, mx.nd.array([1.0]), weight)
    ...     print(weight.asnumpy().round(4))
    [0.9]
    [0.8293]
    [0.7716]
    [0.7216]
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

    E = rho · E + (1 - rho) · g²; step = √((D + epsilon) / (E + epsilon)) · g; D = rho · D + (1 - rho) · step²;
    weight -= step + wd · weight (Zeiler, 2012).

    Parameters
    ----------
    rho : float, default 0.9
        How much of the means E and D is kept in each step.
    epsilon : float, default 1e-5
        Added inside the root. D starts at 0, so epsilon determines the first steps: √(epsilon / 0.1) ≈ 0.01 by default.
    **kwargs
        What every optimizer takes: see `Optimizer` (wd, rescale_grad, clip_gradient, ...).

    Notes
    -----
    The learning rate has no effect, neither on the step nor, unlike in most optimizers, on the weight decay.

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.AdaDelta())
    >>> weight = mx.nd.array([1.0, 1.0])
    >>> for step in range(3):  # the first steps are small, and independent of the gradient's scale
    ...     update(0, mx.nd.array([1.0, 1000.0]), weight)
    ...     print(weight.asnumpy().round(4))
    [0.99 0.99]
    [0.9797 0.9797]
    [0.9693 0.9693]
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

    Each element is divided by the root mean square of its recent gradients. With `centered=True` (Graves, 2013) their
    variance takes the place of n, and there is momentum: a = γ1 a + (1 - γ1) g;
    delta = γ2 delta - lr · g / √(n - a² + epsilon); weight += delta.

    Parameters
    ----------
    learning_rate : float, default 0.001
        The learning rate.
    gamma1 : float, default 0.9
        How much of the means n and a is kept in each step.
    gamma2 : float, default 0.9
        The momentum; used only if `centered` is True.
    epsilon : float, default 1e-8
        Added inside the root.
    centered : bool, default False
        Whether to use the variance and the momentum.
    clip_weights : float, optional
        Weights are clipped to [-clip_weights, clip_weights] after the update; None clips nothing.
    **kwargs
        What every optimizer takes: see `Optimizer` (wd, rescale_grad, clip_gradient, lr_scheduler, ...).

    Notes
    -----
    n starts at 0 and is not corrected: the first step is lr / √(1 - γ1), about three times the learning rate. `epsilon`
    is inside the root (PyTorch: outside), so a value made for PyTorch has to be squared.

    Examples
    --------
    >>> update = mx.optimizer.get_updater(mx.optimizer.RMSProp(learning_rate=0.1))
    >>> weight = mx.nd.array([10.0])
    >>> for step in range(3):  # steps of 0.1 / √0.1, 0.1 / √0.19, 0.1 / √0.271
    ...     update(0, mx.nd.array([1.0]), weight)
    ...     print(weight.asnumpy().round(4))
    [9.6838]
    [9.4544]
    [9.2623]
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
