"""Optimizer steps over whole lists of tensors, in place: each of MXNet's update formulas, once, as multi-tensor calls.

Every function takes equally long lists (weights, gradients, states, learning rates `lrs`, weight decays `wds`).
`rescale` multiplies gradients, `clip` limits them (None: no limit). Gradients are never changed.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np
import torch
from torch import Tensor

Tensors = Sequence[Tensor]
Numbers = Sequence[float]

add_, mul_, div_, sqrt_ = torch._foreach_add_, torch._foreach_mul_, torch._foreach_div_, torch._foreach_sqrt_
add, sub, mul, div, sqrt = (
    torch._foreach_add,
    torch._foreach_sub,
    torch._foreach_mul,
    torch._foreach_div,
    torch._foreach_sqrt,
)


def add_scaled_(targets: Tensors, others: Tensors, factors: Numbers) -> None:
    """targets += factors * others; one call when the factors agree, as they mostly do."""
    first = factors[0]
    if all(f == first for f in factors):
        if first != 0:
            add_(targets, others, alpha=first)
    else:
        add_(targets, mul(others, list(factors)))


def clip_(tensors: Tensors, limit: float | None) -> None:
    if limit is not None:
        torch._foreach_clamp_min_(tensors, -limit)
        torch._foreach_clamp_max_(tensors, limit)


def scaled(grads: Tensors, rescale: float, clip: float | None) -> list[Tensor]:
    """clip(rescale * grad), in new tensors."""
    result = mul(grads, rescale)
    clip_(result, clip)
    return list(result)


def decayed(grads: Tensors, weights: Tensors, wds: Numbers, rescale: float, clip: float | None) -> list[Tensor]:
    """clip(rescale * grad + wd * weight), in new tensors."""
    result = list(mul(grads, rescale))
    add_scaled_(result, weights, wds)
    clip_(result, clip)
    return result


def average_(states: Tensors, values: Tensors, decay: float) -> None:
    """states = decay * states + (1 - decay) * values."""
    mul_(states, decay)
    add_(states, values, alpha=1 - decay)


def average_square_(states: Tensors, values: Tensors, decay: float) -> None:
    """states = decay * states + (1 - decay) * values²."""
    mul_(states, decay)
    torch._foreach_addcmul_(states, values, values, 1 - decay)


def single(number: float) -> float:
    """As MXNet's kernels hold it: 1 - float32(0.999) is 5e-5 away from 0.001, which training curves show."""
    return float(np.float32(number))


def negative(numbers: Iterable[float]) -> list[float]:
    return [-n for n in numbers]


def _flat(tensor: Tensor) -> bool:
    """Is the tensor one block of memory, whatever the order of its axes?"""
    return tensor.is_contiguous() or (
        tensor.dim() == 4 and tensor.is_contiguous(memory_format=torch.channels_last)
    )


def alike(*lists: Tensors) -> bool:
    """May torch's fused kernels, which walk raw memory, run over these lists together?"""
    first = lists[0]
    if first[0].dtype not in (torch.float32, torch.float64):
        return False
    strides = [t.stride() for t in first]
    same = all([t.stride() for t in others] == strides for others in lists[1:])
    return same and all(o[0].dtype == first[0].dtype for o in lists[1:]) and all(map(_flat, first))


def grouped(keys: Iterable[object], *lists: Sequence[object]) -> Iterable[tuple]:
    """(key, its part of every list) for each distinct key: fused kernels take one learning rate at a time."""
    groups: dict[object, list[int]] = defaultdict(list)
    for position, key in enumerate(keys):
        groups[key].append(position)
    if len(groups) == 1:
        yield next(iter(groups)), *lists
        return
    for key, positions in groups.items():
        yield key, *[[part[i] for i in positions] for part in lists]


def _fused_sgd(weights: Tensors, grads: Tensors, momenta: Tensors, lr: float, wd: float, momentum: float) -> None:
    """torch keeps buf' = momentum*buf + (1-dampening)*g and w -= lr*buf'; MXNet's momentum holds -lr already."""
    if momenta:
        rates = {"lr": -1.0, "momentum": momentum, "dampening": 1 + lr}
    else:
        rates = {"lr": lr, "momentum": 0.0, "dampening": 0.0}
    torch._fused_sgd_(
        weights, grads, momenta, weight_decay=wd, nesterov=False, maximize=False, is_first_step=False, **rates
    )


def sgd(
    weights: Tensors,
    grads: Tensors,
    momenta: Tensors,
    lrs: Numbers,
    wds: Numbers,
    *,
    momentum: float,
    rescale: float,
    clip: float | None,
) -> None:
    """mom = momentum*mom - lr*(grad + wd*weight); weight += mom. `momenta` is empty where there is no momentum."""
    if rescale != 0 and alike(weights, grads, *([momenta] if momenta else [])):
        if clip is not None:
            grads, rescale = scaled(grads, rescale, clip), 1.0
        for (lr, wd), *parts in grouped(zip(lrs, wds, strict=True), weights, grads, momenta or weights):
            states = parts[2] if momenta else []
            _fused_sgd(parts[0], parts[1], states, lr * rescale, wd / rescale, momentum)
        return
    steps = scaled(grads, rescale, clip)
    add_scaled_(steps, weights, wds)
    if momenta:
        mul_(momenta, momentum)
        add_scaled_(momenta, steps, negative(lrs))
        add_(weights, momenta)
    else:
        add_scaled_(weights, steps, negative(lrs))


def nag(
    weights: Tensors,
    grads: Tensors,
    momenta: Tensors,
    lrs: Numbers,
    wds: Numbers,
    *,
    momentum: float,
    rescale: float,
    clip: float | None,
) -> None:
    """Nesterov: weight += momentum²*mom - (1+momentum)*lr*g; mom = momentum*mom - lr*g, with g = grad + wd*weight.

    The g of `mom` decays the new weight: MXNet's kernel writes the weight before it reads it again.
    """
    steps, rates = scaled(grads, rescale, clip), negative(lrs)
    mul_(momenta, momentum)
    first = list(torch._foreach_clone(steps))
    add_scaled_(first, weights, wds)
    add_(weights, momenta, alpha=momentum)
    add_scaled_(weights, first, [rate * (1 + momentum) for rate in rates])
    add_scaled_(steps, weights, wds)
    add_scaled_(momenta, steps, rates)


def signsgd(weights: Tensors, grads: Tensors, lrs: Numbers, wds: Numbers) -> None:
    """weight = (1 - lr*wd)*weight - lr*sign(grad)."""
    mul_(weights, [1 - lr * wd for lr, wd in zip(lrs, wds, strict=True)])
    add_scaled_(weights, torch._foreach_sign(grads), negative(lrs))


def signum(
    weights: Tensors,
    grads: Tensors,
    momenta: Tensors,
    lrs: Numbers,
    wds: Numbers,
    *,
    momentum: float,
    wd_lh: float,
    rescale: float,
    clip: float | None,
) -> None:
    """The sign of a running mean of gradients; `wd_lh` decays the weight itself."""
    momentum = single(momentum)
    steps = scaled(grads, rescale, clip)
    add_scaled_(steps, weights, wds)
    mul_(momenta, momentum)
    add_(momenta, steps, alpha=momentum - 1)
    if wd_lh:
        mul_(weights, [1 - lr * wd_lh for lr in lrs])
    add_scaled_(weights, torch._foreach_sign(momenta), lrs)


def dcasgd(
    weights: Tensors,
    grads: Tensors,
    momenta: Tensors,
    previous: Tensors,
    lrs: Numbers,
    wds: Numbers,
    *,
    momentum: float,
    lamda: float,
    rescale: float,
    clip: float | None,
) -> None:
    """Delay-compensated SGD: the gradient is corrected by how far the weight moved since the worker saw it."""
    steps = scaled(grads, rescale, clip)
    drift = mul(mul(steps, steps), sub(weights, previous))
    add_(steps, drift, alpha=lamda)
    add_scaled_(steps, weights, wds)
    torch._foreach_copy_(previous, weights)
    if momenta:
        mul_(momenta, momentum)
        add_scaled_(momenta, steps, negative(lrs))
        add_(weights, momenta)
    else:
        add_scaled_(weights, steps, negative(lrs))


def adam(
    weights: Tensors,
    grads: Tensors,
    means: Tensors,
    variances: Tensors,
    lrs: Numbers,
    wds: Numbers,
    counts: Sequence[int],
    *,
    beta1: float,
    beta2: float,
    epsilon: float,
    rescale: float,
    clip: float | None,
) -> None:
    """weight -= lr_t * mean / (sqrt(variance) + epsilon), lr_t = lr*sqrt(1-beta2^t)/(1-beta1^t)."""
    rates = [lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t) for lr, t in zip(lrs, counts, strict=True)]
    beta1, beta2 = single(beta1), single(beta2)
    if alike(weights, grads, means, variances) and beta2 < 1:
        if clip is not None:
            grads, wds = decayed(grads, weights, wds, rescale, clip), [0.0] * len(wds)
        elif rescale != 1:
            grads = mul(grads, rescale)
        for (rate, wd), *parts in grouped(zip(rates, wds, strict=True), weights, grads, means, variances):
            _fused_adam(*parts, rate, wd, beta1, beta2, epsilon)
        return
    steps = decayed(grads, weights, wds, rescale, clip)
    average_(means, steps, beta1)
    average_square_(variances, steps, beta2)
    _descend(weights, means, variances, rates, epsilon)


def _fused_adam(
    weights: Tensors,
    grads: Tensors,
    means: Tensors,
    variances: Tensors,
    rate: float,
    wd: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> None:
    """torch corrects for bias inside, as of a step count: one step, undone in `lr` and `eps`, gives MXNet's formula."""
    step = torch.ones((), device=weights[0].device)
    first, second = 1 - beta1, (1 - beta2) ** 0.5
    torch._fused_adam_(
        weights,
        grads,
        means,
        variances,
        [],
        [step] * len(weights),
        lr=rate * first / second,
        beta1=beta1,
        beta2=beta2,
        weight_decay=wd,
        eps=epsilon / second,
        amsgrad=False,
        maximize=False,
    )


def _descend(weights: Tensors, means: Tensors, variances: Tensors, rates: Numbers, epsilon: float) -> None:
    """weight -= rate * mean / (sqrt(variance) + epsilon)."""
    roots = sqrt(variances)
    add_(roots, epsilon)
    torch._foreach_addcdiv_(weights, means, roots, negative(rates))


def adamw(
    weights: Tensors,
    grads: Tensors,
    means: Tensors,
    variances: Tensors,
    rates: Numbers,
    etas: Numbers,
    wds: Numbers,
    *,
    beta1: float,
    beta2: float,
    epsilon: float,
    rescale: float,
    clip: float | None,
) -> None:
    """weight -= eta * (rate * mean / (sqrt(variance) + epsilon) + wd * weight)."""
    beta1, beta2 = single(beta1), single(beta2)
    steps = scaled(grads, rescale, clip)
    average_(means, steps, beta1)
    average_square_(variances, steps, beta2)
    mul_(weights, [1 - eta * wd for eta, wd in zip(etas, wds, strict=True)])
    _descend(weights, means, variances, [e * r for e, r in zip(etas, rates, strict=True)], epsilon)


def adamax(
    weights: Tensors,
    grads: Tensors,
    means: Tensors,
    norms: Tensors,
    lrs: Numbers,
    wds: Numbers,
    *,
    beta1: float,
    beta2: float,
    rescale: float,
    clip: float | None,
) -> None:
    """Adam in the infinity norm; `lrs` hold the bias correction already."""
    steps = decayed(grads, weights, wds, rescale, clip)
    average_(means, steps, beta1)
    mul_(norms, beta2)
    torch._foreach_maximum_(norms, torch._foreach_abs(steps))
    torch._foreach_addcdiv_(weights, means, norms, negative(lrs))


def nadam(
    weights: Tensors,
    grads: Tensors,
    means: Tensors,
    variances: Tensors,
    lrs: Numbers,
    wds: Numbers,
    *,
    grad_factors: Numbers,
    mean_factors: Numbers,
    corrections: Numbers,
    beta1: float,
    beta2: float,
    epsilon: float,
    rescale: float,
    clip: float | None,
) -> None:
    """Adam with Nesterov momentum: the step mixes the gradient and its mean by the given factors."""
    steps = decayed(grads, weights, wds, rescale, clip)
    average_(means, steps, beta1)
    average_square_(variances, steps, beta2)
    mul_(steps, list(grad_factors))
    add_scaled_(steps, means, mean_factors)
    _descend(weights, steps, div(variances, list(corrections)), lrs, epsilon)


def ftml(
    weights: Tensors,
    grads: Tensors,
    ds: Tensors,
    vs: Tensors,
    zs: Tensors,
    lrs: Numbers,
    wds: Numbers,
    counts: Sequence[int],
    *,
    beta1: float,
    beta2: float,
    epsilon: float,
    rescale: float,
    clip: float | None,
) -> None:
    """Follow the moving leader."""
    beta1, beta2 = single(beta1), single(beta2)
    steps = decayed(grads, weights, wds, rescale, clip)
    average_square_(vs, steps, beta2)
    sizes = div(vs, [1 - beta2**t for t in counts])
    sqrt_(sizes)
    add_(sizes, epsilon)
    mul_(sizes, [(1 - beta1**t) / lr for t, lr in zip(counts, lrs, strict=True)])
    average_(zs, steps, beta1)
    torch._foreach_addcmul_(zs, torch._foreach_sub(sizes, mul(ds, beta1)), weights, -1)
    torch._foreach_copy_(ds, sizes)
    torch._foreach_copy_(weights, torch._foreach_neg(div(zs, sizes)))


def ftrl(
    weights: Tensors,
    grads: Tensors,
    zs: Tensors,
    ns: Tensors,
    lrs: Numbers,
    wds: Numbers,
    *,
    lamda1: float,
    beta: float,
    rescale: float,
    clip: float | None,
) -> None:
    """Follow the regularized leader: weights whose |z| stays within lamda1 are exactly zero."""
    steps = scaled(grads, rescale, clip)
    before = sqrt(ns)
    torch._foreach_addcmul_(ns, steps, steps, 1)
    roots = sqrt(ns)
    add_(zs, steps)
    moved = sub(roots, before)
    mul_(moved, weights)
    add_scaled_(zs, moved, [-1 / lr for lr in lrs])
    add_(roots, beta)
    div_(roots, list(lrs))
    add_(roots, list(wds))
    shrunk = torch._foreach_abs(zs)
    add_(shrunk, -lamda1)
    torch._foreach_clamp_min_(shrunk, 0)
    mul_(shrunk, torch._foreach_sign(zs))
    torch._foreach_copy_(weights, torch._foreach_neg(div(shrunk, roots)))


def adagrad(
    weights: Tensors,
    grads: Tensors,
    histories: Tensors,
    lrs: Numbers,
    wds: Numbers,
    *,
    epsilon: float,
    rescale: float,
    clip: float | None,
) -> None:
    """history += grad²; weight -= lr * (grad / sqrt(history + epsilon) + wd*weight)."""
    steps = scaled(grads, rescale, clip)
    torch._foreach_addcmul_(histories, steps, steps, 1)
    roots = add(histories, epsilon)
    sqrt_(roots)
    div_(steps, roots)
    add_scaled_(steps, weights, wds)
    add_scaled_(weights, steps, negative(lrs))


def group_adagrad(
    weights: Tensors,
    grads: Tensors,
    histories: Tensors,
    lrs: Numbers,
    *,
    epsilon: float,
    rescale: float,
    clip: float | None,
) -> None:
    """AdaGrad with one history value for each row."""
    steps = scaled(grads, rescale, clip)
    add_(histories, [torch.mean(s * s, dim=1, keepdim=True) for s in steps])
    roots = add(histories, epsilon)
    sqrt_(roots)
    add_scaled_(weights, div(steps, roots), negative(lrs))


def adadelta(
    weights: Tensors,
    grads: Tensors,
    squares: Tensors,
    deltas: Tensors,
    wds: Numbers,
    *,
    rho: float,
    epsilon: float,
    rescale: float,
    clip: float | None,
) -> None:
    """Steps as large as the recent steps were, relative to the recent gradients; there is no learning rate."""
    steps = scaled(grads, rescale, clip)
    average_square_(squares, steps, rho)
    ratio = div(add(deltas, epsilon), add(squares, epsilon))
    sqrt_(ratio)
    mul_(steps, ratio)
    average_square_(deltas, steps, rho)
    add_scaled_(steps, weights, wds)
    add_(weights, steps, alpha=-1)


def rmsprop(
    weights: Tensors,
    grads: Tensors,
    ns: Tensors,
    lrs: Numbers,
    wds: Numbers,
    *,
    gamma1: float,
    epsilon: float,
    clip_weights: float | None,
    rescale: float,
    clip: float | None,
) -> None:
    """n = gamma1*n + (1-gamma1)*grad²; weight -= lr * grad / sqrt(n + epsilon)."""
    gamma1 = single(gamma1)
    steps = decayed(grads, weights, wds, rescale, clip)
    average_square_(ns, steps, gamma1)
    roots = add(ns, epsilon)
    sqrt_(roots)
    torch._foreach_addcdiv_(weights, steps, roots, negative(lrs))
    clip_(weights, clip_weights)


def rmsprop_centered(
    weights: Tensors,
    grads: Tensors,
    ns: Tensors,
    gs: Tensors,
    deltas: Tensors,
    lrs: Numbers,
    wds: Numbers,
    *,
    gamma1: float,
    gamma2: float,
    epsilon: float,
    clip_weights: float | None,
    rescale: float,
    clip: float | None,
) -> None:
    """RMSProp with the mean gradient taken off the second moment, and momentum `gamma2`."""
    gamma1 = single(gamma1)
    steps = decayed(grads, weights, wds, rescale, clip)
    average_square_(ns, steps, gamma1)
    average_(gs, steps, gamma1)
    roots = add(ns, epsilon)
    torch._foreach_addcmul_(roots, gs, gs, -1)
    sqrt_(roots)
    mul_(deltas, gamma2)
    torch._foreach_addcdiv_(deltas, steps, roots, negative(lrs))
    add_(weights, deltas)
    clip_(weights, clip_weights)


def lars_factors(
    weights: Tensors, grads: Tensors, wds: Numbers, *, eta: float, epsilon: float, rescale: float
) -> list[Tensor]:
    """How much slower each layer learns: eta*|w| / (|g| + wd*|w| + epsilon), 1 where a norm is zero."""
    sizes = torch.stack(torch._foreach_norm([w.float() for w in weights]))
    slopes = torch.stack(torch._foreach_norm([g.float() for g in grads])) * rescale
    decay = torch.tensor(list(wds), dtype=sizes.dtype, device=sizes.device)
    factors = eta * sizes / (slopes + decay * sizes + epsilon)
    return list(torch.where((sizes > 0) & (slopes > 0), factors, torch.ones_like(factors)).unbind())


def scaled_sgd(
    weights: Tensors,
    grads: Tensors,
    momenta: Tensors,
    factors: Sequence[Tensor | float],
    lrs: Numbers,
    wds: Numbers,
    *,
    momentum: float,
    rescale: float,
    clip: float | None,
) -> None:
    """SGD whose learning rates are multiplied by factors that live on the device."""
    steps = scaled(grads, rescale, clip)
    add_scaled_(steps, weights, wds)
    mul_(steps, list(lrs))
    for step, factor in zip(steps, factors, strict=True):
        step.mul_(factor)
    if momenta:
        mul_(momenta, momentum)
        add_(momenta, steps, alpha=-1)
        add_(weights, momenta)
    else:
        add_(weights, steps, alpha=-1)


def lamb(
    weights: Tensors,
    grads: Tensors,
    means: Tensors,
    variances: Tensors,
    lrs: Numbers,
    wds: Numbers,
    counts: Sequence[int],
    *,
    beta1: float,
    beta2: float,
    epsilon: float,
    lower: float | None,
    upper: float | None,
    bias_correction: bool,
    rescale: float,
    clip: float | None,
    sizes: Tensors | None = None,
) -> None:
    """Adam's direction, scaled for each tensor by |weight| / |direction|; `sizes` are the weights to measure."""
    beta1, beta2 = single(beta1), single(beta2)
    steps = scaled(grads, rescale, clip)
    average_(means, steps, beta1)
    average_square_(variances, steps, beta2)
    first = [1 - beta1**t for t in counts] if bias_correction else list(repeat(1.0, len(counts)))
    second = [1 - beta2**t for t in counts] if bias_correction else list(repeat(1.0, len(counts)))
    roots = div(variances, second)
    sqrt_(roots)
    add_(roots, epsilon)
    steps = list(div(div(means, first), roots))
    add_scaled_(steps, weights, wds)
    ratios = _trust(torch._foreach_norm(sizes or weights), torch._foreach_norm(steps), lower, upper)
    for weight, step, lr, ratio in zip(weights, steps, lrs, ratios, strict=True):
        weight.sub_(step.mul_(ratio * lr))


def _trust(sizes: Tensors, slopes: Tensors, lower: float | None, upper: float | None) -> list[Tensor]:
    """|weight| within its bounds over |direction|, 1 where either is zero."""
    size, slope = torch.stack(list(sizes)), torch.stack(list(slopes)).to(sizes[0].dtype)
    if lower is not None or upper is not None:
        size = size.clamp(lower, upper)
    return list(torch.where((size == 0) | (slope == 0), torch.ones_like(size), size / slope).unbind())
