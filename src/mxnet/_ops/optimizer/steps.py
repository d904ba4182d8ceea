"""Optimizer steps over lists of tensors, in place: a formula, computed in the fewest passes over memory.

`weights`, `grads` and the lists of `states` are equally long; `lrs` and `wds` have a number for each weight. `rescale`
multiplies gradients, `clip` bounds them (None: no bound). Gradients are never changed.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import inf
from typing import Any

import torch
from torch import Tensor

from ..._core.rounding import single
from ..._device.copies import constant
from ..._kernels import tuning
from ..._kernels.optimizer import formulas, single_pass
from ..._kernels.optimizer.tensor_lists import FixedTensors, Numbers, Tensors, alike, uniform
from .tensor_list import Plain, State, Value, per_tensor

Formula = Callable[..., tuple[Any, ...]]


def bound(limit: float | None) -> float:
    """A limit as formulas take it."""
    return inf if limit is None else limit


def step(
    formula: Formula, weights: Tensors, grads: Tensors, states: Sequence[Tensors], own: Sequence[Any], *shared: Any
) -> None:
    """Update weights and states in place; `own` holds sequences with a number for each weight, `shared` numbers."""
    target = State(weights)
    made = _evaluated(formula, target, grads, states, own, shared)
    if made is not target:
        target.assign(made)


def new_weights(
    formula: Formula, weights: Tensors, grads: Tensors, states: Sequence[Tensors], own: Sequence[Any], *shared: Any
) -> Tensors:
    """As `step`, but the weights stay and the new ones are returned."""
    made = _evaluated(formula, Plain(weights), grads, states, own, shared).tensors
    return [t.clone() for t in made] if made is weights else made


def _evaluated(
    formula: Formula, weights: Value, grads: Tensors, states: Sequence[Tensors], own: Sequence[Any], shared: Any
) -> Any:
    return formula(Plain(grads), weights, *map(State, states), *map(per_tensor, own), *shared)[0]


# SGD and Adam, which torch and a kernel of ours compute in one pass


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
    """`formulas.sgd_momentum`, or `formulas.sgd` where `momenta` is empty."""
    if single_pass.sgd(weights, grads, momenta, lrs, wds, (rescale, clip), momentum):
        return
    if rescale != 0 and alike(weights, grads, *([momenta] if momenta else [])):
        if clip is not None:
            grads, rescale = scaled(weights, grads, rescale, clip), 1.0
        for (lr, wd), *parts in _grouped(lrs, wds, weights, grads, momenta or weights):
            _torch_sgd(parts[0], parts[1], parts[2] if momenta else [], lr * rescale, wd / rescale, momentum)
    elif momenta:
        step(formulas.sgd_momentum, weights, grads, [momenta], (lrs, wds), rescale, bound(clip), momentum)
    else:
        step(formulas.sgd, weights, grads, [], (lrs, wds), rescale, bound(clip))


def _torch_sgd(weights: Tensors, grads: Tensors, momenta: Tensors, lr: float, wd: float, momentum: float) -> None:
    """torch keeps buf' = momentum*buf + (1-dampening)*g and w -= lr*buf'; MXNet's momentum holds -lr already."""
    rates = (-1.0, momentum, 1 + lr) if momenta else (lr, 0.0, 0.0)
    options = dict(zip(("lr", "momentum", "dampening"), rates, strict=True))
    torch._fused_sgd_(
        weights, grads, momenta, weight_decay=wd, nesterov=False, maximize=False, is_first_step=False,
        **options,  # pyright: ignore[reportArgumentType]
    )  # fmt: skip


def adam(
    weights: Tensors,
    grads: Tensors,
    means: Tensors,
    variances: Tensors,
    lrs: Numbers,
    wds: Numbers,
    *,
    beta1: float,
    beta2: float,
    epsilon: float,
    rescale: float,
    clip: float | None,
) -> None:
    """`formulas.adam`; the learning rates hold the correction of bias."""
    beta1, beta2 = single(beta1), single(beta2)
    states, factors = (means, variances), (beta1, beta2, epsilon)
    if single_pass.adam(weights, grads, *states, lrs, wds, (rescale, clip), factors):
        return
    if alike(weights, grads, *states) and beta2 < 1 and clip is None:
        if rescale != 1:
            grads = scaled(weights, grads, rescale, None)
        for (lr, wd), *parts in _grouped(lrs, wds, weights, grads, *states):
            _torch_adam(*parts, lr, wd, beta1, beta2, epsilon)
        return
    step(formulas.adam, weights, grads, states, (lrs, wds), rescale, bound(clip), *factors)


def _torch_adam(
    weights: Tensors,
    grads: Tensors,
    means: Tensors,
    variances: Tensors,
    lr: float,
    wd: float,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> None:
    """torch corrects for bias by a step count: the first step, undone in `lr` and `eps`, gives MXNet's formula."""
    first, second = 1 - beta1, (1 - beta2) ** 0.5
    torch._fused_adam_(
        weights, grads, means, variances, [], [_one(weights[0].device)] * len(weights), lr=lr * first / second,
        beta1=beta1, beta2=beta2, weight_decay=wd, eps=epsilon / second, amsgrad=False, maximize=False,
    )  # fmt: skip


@cache
def _one(device: torch.device) -> Tensor:
    """The count of a first step, which torch's kernel only reads."""
    return torch.ones((), device=device)


def scaled(weights: Tensors, grads: Tensors, rescale: float, clip: float | None) -> Tensors:
    """clip(rescale * grad), in memory that the weights keep for it: a call instead of one for each of many arrays."""
    buffer = weights.buffer("scaled") if isinstance(weights, FixedTensors) else None
    if buffer is None:
        return (Plain(grads) * rescale).clamp(-bound(clip), bound(clip)).tensors
    block, parts = buffer
    if block.numel() > tuning.GRADIENT_CALLS * len(parts):  # one pass counts for more than calls
        factor = torch.full((), rescale, dtype=block.dtype)
        for grad, part in zip(grads, parts, strict=True):
            torch.mul(grad, factor, out=part)
    else:
        torch._foreach_copy_(parts, grads)
        block.mul_(rescale)
    if clip is not None:
        block.clamp_(-clip, clip)
    return parts


def _grouped(firsts: Numbers, seconds: Numbers, *lists: Sequence[object]) -> Iterable[tuple]:
    """((first, second), their part of every list) for each pair: torch's fused kernels take one rate at a time."""
    if uniform(firsts) and uniform(seconds):
        yield (firsts[0], seconds[0]), *lists
        return
    groups: dict[object, list[int]] = defaultdict(list)
    for position, key in enumerate(zip(firsts, seconds, strict=True)):
        groups[key].append(position)
    for key, positions in groups.items():
        yield key, *[[part[i] for i in positions] for part in lists]


# Layer-wise adaptive rates


def lars_factors(
    weights: Tensors, grads: Tensors, wds: Numbers, *, eta: float, epsilon: float, rescale: float
) -> list[Tensor]:
    """How much slower each layer learns: eta*|w| / (|g| + wd*|w| + epsilon), 1 where a norm is zero."""
    sizes = torch.stack(torch._foreach_norm([w.float() for w in weights]))
    slopes = torch.stack(torch._foreach_norm([g.float() for g in grads])) * rescale
    decay = constant(list(wds), sizes.dtype, sizes.device)
    factors = eta * sizes / (slopes + decay * sizes + epsilon)
    return list(torch.where((sizes > 0) & (slopes > 0), factors, torch.ones_like(factors)).unbind())


def lamb(
    weights: Tensors,
    grads: Tensors,
    means: Tensors,
    variances: Tensors,
    lrs: Numbers,
    wds: Numbers,
    corrections: tuple[Numbers, Numbers],
    *,
    beta1: float,
    beta2: float,
    epsilon: float,
    lower: float | None,
    upper: float | None,
    rescale: float,
    clip: float | None,
    sizes: Tensors | None = None,
) -> None:
    """w -= lr * ratio * direction, ratio = |w| / |direction|; `corrections` are 1 - beta ** t of both moments, or 1.

    `sizes` are the weights to measure, where they are not those that change.
    """
    numbers = beta1, beta2, epsilon
    directions = _directions(weights, grads, means, variances, corrections, wds, rescale, clip, *numbers)
    ratios = trust_ratios(torch._foreach_norm(sizes or weights), torch._foreach_norm(directions), lower, upper)
    if weights[0].device.type == "cpu":
        rates = [-lr * ratio for lr, ratio in zip(lrs, ratios.tolist(), strict=True)]
        torch._foreach_addcmul_(weights, directions, [ratios.new_ones((), dtype=weights[0].dtype)] * len(rates), rates)
        return
    for weight, direction, lr, ratio in zip(weights, directions, lrs, ratios.unbind(), strict=True):  # without a wait
        weight.sub_(direction * (ratio * lr))


def _directions(
    weights: Tensors,
    grads: Tensors,
    means: Tensors,
    variances: Tensors,
    corrections: tuple[Numbers, Numbers],
    wds: Numbers,
    rescale: float,
    clip: float | None,
    beta1: float,
    beta2: float,
    epsilon: float,
) -> Tensors:
    firsts, seconds = corrections
    if not (alike(weights, grads, means, variances) and beta2 < 1 and uniform(firsts)):
        own, numbers = (firsts, seconds, wds), (rescale, bound(clip), beta1, beta2, epsilon)
        return new_weights(formulas.lamb_direction, weights, grads, (means, variances), own, *numbers)
    grads = grads if rescale == 1 and clip is None else scaled(weights, grads, rescale, clip)
    # Adam's kernel on weights of zero, with a rate of -1, leaves the directions in them
    directions, root = _zeros(weights), seconds[0] ** 0.5
    _torch_adam(directions, grads, means, variances, -root / firsts[0], 0.0, beta1, beta2, epsilon * root)
    State(directions).assign(Plain(directions) + Plain(weights) * per_tensor(wds))
    return directions


def _zeros(weights: Tensors) -> Tensors:
    buffer = weights.buffer("zeros") if isinstance(weights, FixedTensors) else None
    if buffer is None:
        return list(map(torch.zeros_like, weights))
    buffer[0].zero_()
    return buffer[1]


def trust_ratios(sizes: Any, slopes: Any, lower: float | None, upper: float | None) -> Tensor:
    """|weight| within its bounds over |direction|, 1 where either is zero."""
    size, slope = torch.stack(list(sizes)), torch.stack(list(slopes)).to(sizes[0].dtype)
    if lower is not None or upper is not None:
        size = size.clamp(lower, upper)
    return torch.where((size == 0) | (slope == 0), torch.ones_like(size), size / slope)
