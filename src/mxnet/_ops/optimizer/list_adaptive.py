"""Adam and its relatives over whole lists of tensors, in place; arguments as in `fused_update`."""

from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor

from ..._core.rounding import single
from ..._kernels.optimizer import single_pass as one_pass
from ..._kernels.optimizer.tensor_lists import Numbers, Tensors, alike, uniform
from .list_updates import (
    add,
    add_,
    add_scaled_,
    average_,
    average_square_,
    clip_,
    decayed,
    div,
    div_,
    each,
    grouped,
    mul,
    mul_,
    negative,
    scaled,
    scaled_beside,
    sqrt,
    sqrt_,
    sub,
    zeros_beside,
)
from .updates import held


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
    rates = each(lambda lr, t: lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t), lrs, counts)
    beta1, beta2 = single(beta1), single(beta2)
    limits, factors = (rescale, clip), (beta1, beta2, epsilon)
    if one_pass.adam(weights, grads, means, variances, rates, wds, limits, factors):
        return
    if alike(weights, grads, means, variances) and beta2 < 1:
        if clip is not None:
            grads, wds = decayed(grads, weights, wds, rescale, clip), [0.0] * len(wds)
        elif rescale != 1:
            grads = scaled_beside(weights, grads, rescale, None)
        for (rate, wd), *parts in grouped(rates, wds, weights, grads, means, variances):
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
    step = _one(weights[0].device)
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


@cache
def _one(device: torch.device) -> Tensor:
    """The count of a first step, which kernels only read."""
    return torch.ones((), device=device)


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
    beta1, beta2 = held(beta1, weights[0].dtype), held(beta2, weights[0].dtype)
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
    steps = grads if rescale == 1 and clip is None else scaled_beside(weights, grads, rescale, clip)
    wanted = counts if bias_correction else None
    steps = _directions(weights, steps, means, variances, wanted, beta1, beta2, epsilon)
    add_scaled_(steps, weights, wds)
    ratios = _trust(torch._foreach_norm(sizes or weights), torch._foreach_norm(steps), lower, upper)
    if weights[0].device.type == "cpu":
        rates = [-lr * ratio for lr, ratio in zip(lrs, ratios.tolist(), strict=True)]
        torch._foreach_addcmul_(weights, steps, [ratios.new_ones((), dtype=weights[0].dtype)] * len(steps), rates)
        return
    for weight, step, lr, ratio in zip(weights, steps, lrs, ratios.unbind(), strict=True):  # without a wait
        weight.sub_(step.mul_(ratio * lr))


def _directions(
    weights: Tensors,
    grads: Tensors,
    means: Tensors,
    variances: Tensors,
    counts: Sequence[int] | None,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> list[Tensor]:
    """mean / (sqrt(variance) + epsilon) after both have taken the gradients in; bias corrected if there are counts."""
    if alike(weights, grads, means, variances) and beta2 < 1 and (counts is None or uniform(counts)):
        directions = zeros_beside(weights)
        first = second = 1.0
        if counts is not None:
            first, second = 1 - beta1 ** counts[0], (1 - beta2 ** counts[0]) ** 0.5
        # Adam's kernel on weights of zero, with a rate of -1, leaves the directions in them.
        _fused_adam(directions, grads, means, variances, -second / first, 0.0, beta1, beta2, epsilon * second)
        return directions
    average_(means, grads, beta1)
    average_square_(variances, grads, beta2)
    if counts is None:
        roots, tops = sqrt(variances), means
    else:
        roots, tops = div(variances, [1 - beta2**t for t in counts]), div(means, [1 - beta1**t for t in counts])
        sqrt_(roots)
    add_(roots, epsilon)
    return list(div(tops, roots))


def _trust(sizes: Tensors, slopes: Tensors, lower: float | None, upper: float | None) -> Tensor:
    """|weight| within its bounds over |direction|, 1 where either is zero."""
    size, slope = torch.stack(list(sizes)), torch.stack(list(slopes)).to(sizes[0].dtype)
    if lower is not None or upper is not None:
        size = size.clamp(lower, upper)
    return torch.where((size == 0) | (slope == 0), torch.ones_like(size), size / slope)
