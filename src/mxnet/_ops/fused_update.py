"""Optimizer steps over whole lists of tensors, in place: each of MXNet's update formulas, once, as multi-tensor calls.

Every function takes equally long lists (weights, gradients, states, learning rates `lrs`, weight decays `wds`).
`rescale` multiplies gradients, `clip` limits them (None: no limit). Gradients are never changed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from .._device.copies import constant
from . import one_pass
from .rounding import single
from .steady import Numbers, Steady, Tensors, alike, uniform

LARGE = 1 << 13  # numbers in each tensor: from there on another pass over memory takes longer than calls

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
    if uniform(factors):
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


def scaled_beside(weights: Tensors, grads: Tensors, rescale: float, clip: float | None) -> Tensors:
    """As `scaled`, in memory that the weights keep for it: two calls instead of one for each of many small arrays."""
    room = weights.room("scaled") if isinstance(weights, Steady) else None
    if room is None:
        return scaled(grads, rescale, clip)
    block, parts = room
    if block.numel() > LARGE * len(parts):  # reading all once counts for more than calls
        factor = torch.full((), rescale, dtype=block.dtype)
        for grad, part in zip(grads, parts, strict=True):
            torch.mul(grad, factor, out=part)
    else:
        torch._foreach_copy_(parts, grads)
        block.mul_(rescale)
    if clip is not None:
        block.clamp_(-clip, clip)
    return parts


def zeros_beside(weights: Tensors) -> list[Tensor]:
    """Zeros shaped as the weights."""
    room = weights.room("zeros") if isinstance(weights, Steady) else None
    if room is None:
        return list(map(torch.zeros_like, weights))
    room[0].zero_()
    return room[1]


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


def negative(numbers: Iterable[float]) -> list[float]:
    return [-n for n in numbers]


def each(formula: Callable[..., float], *lists: Sequence[float]) -> list[float]:
    """`formula` of the lists' elements; computed once where every list holds one value only."""
    if all(map(uniform, lists)):
        return [formula(*[values[0] for values in lists])] * len(lists[0])
    return [formula(*values) for values in zip(*lists, strict=True)]


def grouped(firsts: Numbers, seconds: Numbers, *lists: Sequence[object]) -> Iterable[tuple]:
    """((first, second), their part of every list) for each distinct pair: fused kernels take one rate at a time."""
    if uniform(firsts) and uniform(seconds):
        yield (firsts[0], seconds[0]), *lists
        return
    groups: dict[object, list[int]] = defaultdict(list)
    for position, key in enumerate(zip(firsts, seconds, strict=True)):
        groups[key].append(position)
    for key, positions in groups.items():
        yield key, *[[part[i] for i in positions] for part in lists]


def _fused_sgd(weights: Tensors, grads: Tensors, momenta: Tensors, lr: float, wd: float, momentum: float) -> None:
    """torch keeps buf' = momentum*buf + (1-dampening)*g and w -= lr*buf'; MXNet's momentum holds -lr already."""
    if momenta:
        rates = {"lr": -1.0, "momentum": momentum, "dampening": 1 + lr}
    else:
        rates = {"lr": lr, "momentum": 0.0, "dampening": 0.0}
    torch._fused_sgd_(
        weights,
        grads,
        momenta,
        weight_decay=wd,
        nesterov=False,
        maximize=False,
        is_first_step=False,
        **rates,  # pyright: ignore[reportArgumentType]
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
    if one_pass.sgd(weights, grads, momenta, lrs, wds, (rescale, clip), momentum):
        return
    if rescale != 0 and alike(weights, grads, *([momenta] if momenta else [])):
        if clip is not None:
            grads, rescale = scaled_beside(weights, grads, rescale, clip), 1.0
        for (lr, wd), *parts in grouped(lrs, wds, weights, grads, momenta or weights):
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


def lars_factors(
    weights: Tensors, grads: Tensors, wds: Numbers, *, eta: float, epsilon: float, rescale: float
) -> list[Tensor]:
    """How much slower each layer learns: eta*|w| / (|g| + wd*|w| + epsilon), 1 where a norm is zero."""
    sizes = torch.stack(torch._foreach_norm([w.float() for w in weights]))
    slopes = torch.stack(torch._foreach_norm([g.float() for g in grads])) * rescale
    decay = constant(list(wds), sizes.dtype, sizes.device)
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
