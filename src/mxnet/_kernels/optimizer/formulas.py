"""MXNet's optimizer formulas, each written once for everything that has arithmetic.

A formula takes the gradient, the weight and its states, then the weight's own numbers (learning rate `lr`, weight decay
`wd`), then numbers that all weights share. It returns the new weight and the new states. Values are lists of tensors
(`_ops/optimizer/tensor_list.py`, for operators and optimizers) or the lanes of a SIMD vector (for the kernel that walks
over memory once). `rescale` multiplies the gradient, `limit` bounds it (infinity: no bound).
"""

from typing import Any


def assigned(state: Any, value: Any) -> Any:
    """The state after it has become `value`: tensors are written in place, lanes are replaced."""
    assign = getattr(state, "assign", None)
    return value if assign is None else assign(value)


def computed(value: Any) -> Any:
    """The value, computed before a state that it reads is written."""
    compute = getattr(value, "compute", None)
    return value if compute is None else compute()


def clip(value: Any, limit: Any) -> Any:
    """The value between -limit and limit."""
    return value.clamp(0.0 - limit, limit)


def moving_average(state: Any, value: Any, decay: Any) -> Any:
    """decay * state + (1 - decay) * value."""
    return assigned(state, state * decay + value * (1.0 - decay))


# Gradient descent


def sgd(grad, weight, lr, wd, rescale, limit):
    """w - lr * (clip(rescale * g) + wd * w)."""
    return (weight - (clip(grad * rescale, limit) + weight * wd) * lr,)


def sgd_momentum(grad, weight, mom, lr, wd, rescale, limit, momentum):
    """mom = momentum * mom - lr * (clip(rescale * g) + wd * w); w + mom. MXNet's momentum holds the learning rate."""
    mom = assigned(mom, mom * momentum - (clip(grad * rescale, limit) + weight * wd) * lr)
    return weight + mom, mom


def nesterov(grad, weight, mom, lr, wd, rescale, limit, momentum):
    """Nesterov's accelerated gradient: a look-ahead step of the weight, then the step of the momentum."""
    grad = clip(grad * rescale, limit)
    step = (grad + weight * wd) * lr
    new = computed(weight + mom * momentum * momentum - step * (1.0 + momentum))
    return new, assigned(mom, mom * momentum - step)


def nesterov_in_place(grad, weight, mom, lr, wd, rescale, limit, momentum):
    """The same where the weight is written first: the momentum's step decays the new weight, as in MXNet."""
    grad = clip(grad * rescale, limit)
    weight = assigned(weight, weight + mom * momentum * momentum - (grad + weight * wd) * lr * (1.0 + momentum))
    return weight, assigned(mom, mom * momentum - (grad + weight * wd) * lr)


def sign_sgd(grad, weight, lr, wd):
    """(1 - lr * wd) * w - lr * sign(g)."""
    return (weight * (1.0 - lr * wd) - grad.sign() * lr,)


def signum(grad, weight, mom, lr, wd, rescale, limit, momentum, wd_lh):
    """mom = momentum * mom - (1 - momentum) * (g + wd * w); (1 - lr * wd_lh) * w + lr * sign(mom)."""
    slope = clip(grad * rescale, limit) + weight * wd
    mom = assigned(mom, mom * momentum - slope * (1.0 - momentum))
    return weight * (1.0 - lr * wd_lh) + mom.sign() * lr, mom


def delay_compensated_sgd(grad, weight, mom, previous, lr, wd, rescale, limit, momentum, lamda):
    """SGD with momentum whose gradient is corrected by how far the weight moved since the worker saw it."""
    mom = assigned(mom, mom * momentum - _compensated(grad, weight, previous, wd, rescale, limit, lamda) * lr)
    return weight + mom, mom, assigned(previous, weight)


def delay_compensated_plain_sgd(grad, weight, previous, lr, wd, rescale, limit, momentum, lamda):
    """The same without momentum."""
    new = computed(weight - _compensated(grad, weight, previous, wd, rescale, limit, lamda) * lr)
    return new, assigned(previous, weight)


def _compensated(grad, weight, previous, wd, rescale, limit, lamda):
    grad = clip(grad * rescale, limit)
    return grad + grad * grad * (weight - previous) * lamda + weight * wd


# Adaptive rates


def adam(grad, weight, mean, variance, lr, wd, rescale, limit, beta1, beta2, epsilon):
    """w - lr * mean / (sqrt(variance) + epsilon); `lr` holds the bias correction, the gradient the weight decay."""
    slope = clip(grad * rescale + weight * wd, limit)
    mean, variance = _moments(slope, mean, variance, beta1, beta2)
    return weight - mean / (variance.sqrt() + epsilon) * lr, mean, variance


def adamw(grad, weight, mean, variance, lr, wd, rescale, limit, beta1, beta2, epsilon):
    """(1 - wd) * w - lr * mean / (sqrt(variance) + epsilon): weight decay apart from the gradient."""
    mean, variance = _moments(clip(grad * rescale, limit), mean, variance, beta1, beta2)
    return weight * (1.0 - wd) - mean / (variance.sqrt() + epsilon) * lr, mean, variance


def _moments(grad, mean, variance, beta1, beta2):
    return moving_average(mean, grad, beta1), moving_average(variance, grad * grad, beta2)


def adamax(grad, weight, mean, norm, lr, wd, rescale, limit, beta1, beta2):
    """Adam in the infinity norm."""
    slope = clip(grad * rescale + weight * wd, limit)
    mean = moving_average(mean, slope, beta1)
    norm = assigned(norm, (norm * beta2).maximum(slope.absolute()))
    return weight - mean / norm * lr, mean, norm


def nadam(
    grad, weight, mean, variance, lr, wd, grad_factor, mean_factor, correction, rescale, limit, beta1, beta2, epsilon
):
    """Adam with Nesterov momentum: the step mixes the gradient and its mean by the given factors."""
    slope = clip(grad * rescale + weight * wd, limit)
    mean, variance = _moments(slope, mean, variance, beta1, beta2)
    step = slope * grad_factor + mean * mean_factor
    return weight - step / ((variance * (1.0 / correction)).sqrt() + epsilon) * lr, mean, variance


def lamb_direction(grad, weight, mean, variance, first, second, wd, rescale, limit, beta1, beta2, epsilon):
    """The direction of a LAMB step; `first` and `second` correct the moments' bias (1: not corrected)."""
    mean, variance = _moments(clip(grad * rescale, limit), mean, variance, beta1, beta2)
    root = (variance * (1.0 / second)).sqrt() + epsilon
    return mean / root * (1.0 / first) + weight * wd, mean, variance


def ftml(grad, weight, d, v, z, lr, wd, first, second, rescale, limit, beta1, beta2, epsilon):
    """Follow the moving leader; `first` and `second` are 1 - beta ** t."""
    slope = clip(grad * rescale + weight * wd, limit)
    v = moving_average(v, slope * slope, beta2)
    rate = ((v * (1.0 / second)).sqrt() + epsilon) * (first / lr)
    z = assigned(z, z * beta1 + slope * (1.0 - beta1) - (rate - d * beta1) * weight)
    return 0.0 - z / rate, assigned(d, rate), v, z


def ftrl(grad, weight, z, n, lr, wd, rescale, limit, lamda1, beta):
    """Follow the regularized leader: weights whose |z| stays within lamda1 become exactly zero."""
    slope = clip(grad * rescale, limit)
    before = n.sqrt()
    n = assigned(n, n + slope * slope)
    root = n.sqrt()
    z = assigned(z, z + slope - (root - before) * weight * (1.0 / lr))
    return 0.0 - z.shrunk(lamda1) / ((root + beta) * (1.0 / lr) + wd), z, n


def rmsprop(grad, weight, n, lr, wd, rescale, limit, gamma1, epsilon, weight_limit):
    """w - lr * g / sqrt(n + epsilon), n the moving average of the squared gradient (Tieleman and Hinton)."""
    slope = clip(grad * rescale + weight * wd, limit)
    n = moving_average(n, slope * slope, gamma1)
    return clip(weight - slope / (n + epsilon).sqrt() * lr, weight_limit), n


def rmsprop_centered(grad, weight, n, g, delta, lr, wd, rescale, limit, gamma1, gamma2, epsilon, weight_limit):
    """RMSProp with the mean gradient taken off the second moment, and momentum `gamma2` (Graves)."""
    slope = clip(grad * rescale + weight * wd, limit)
    n, g = moving_average(n, slope * slope, gamma1), moving_average(g, slope, gamma1)
    delta = assigned(delta, delta * gamma2 - slope / (n - g * g + epsilon).sqrt() * lr)
    return clip(weight + delta, weight_limit), n, g, delta


def adagrad(grad, weight, history, lr, wd, rescale, limit, epsilon):
    """history += g ** 2; w - lr * (g / sqrt(history + epsilon) + wd * w)."""
    slope = clip(grad * rescale, limit)
    history = assigned(history, history + slope * slope)
    return weight - (slope / (history + epsilon).sqrt() + weight * wd) * lr, history


def group_adagrad(grad, weight, history, lr, wd, rescale, limit, epsilon):
    """AdaGrad with one history value for each row of a matrix."""
    slope = clip(grad * rescale, limit)
    history = assigned(history, history + (slope * slope).row_mean())
    return weight - slope / (history + epsilon).sqrt() * lr, history


def adadelta(grad, weight, squares, deltas, lr, wd, rescale, limit, rho, epsilon):
    """Steps as large as the recent steps were, relative to the recent gradients; there is no learning rate."""
    slope = clip(grad * rescale, limit)
    squares = moving_average(squares, slope * slope, rho)
    step = ((deltas + epsilon) / (squares + epsilon)).sqrt() * slope
    deltas = moving_average(deltas, step * step, rho)
    return weight - step - weight * wd, squares, deltas
