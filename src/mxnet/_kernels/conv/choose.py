"""Selection of a convolution algorithm: one ordered table for eager calls, training graphs and inference graphs.

The first `Way` of the table that applies is used; the choice is cached for equal problems. Operators call `conv2d` and
`deconv`.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..._core.lru import Recent
from .. import tuning
from ..registry import OFF, SWITCH, TRACED, Decision
from . import channels_last, deconv_products, direct, few_pixels, nchw_few_channels, nchw_odd_channels, pointwise
from .problem import EAGER, INFERENCE, TRAINING, TRANSPOSED, UNRECORDED, Problem, Way
from .winograd import f2x2, ways

WAYS: dict[str, tuple[Way, ...]] = {
    EAGER: (
        nchw_few_channels.WAY,
        ways.COMPILED,
        ways.TORCH,
        nchw_odd_channels.ONE_CHANNEL,
        nchw_odd_channels.ODD_CHANNELS,
    ),
    UNRECORDED: (few_pixels.WAY,),
    TRAINING: (ways.COMPILED, ways.TORCH, pointwise.WAY, pointwise.TORCH, channels_last.WAY),
    INFERENCE: (direct.DEPTHWISE, direct.DENSE, ways.PACKED, ways.PACKED_TORCH, f2x2.PACKED),
    TRANSPOSED: (
        deconv_products.ONE_PIXEL,
        deconv_products.SIDE_BY_SIDE,
        deconv_products.FEW_FILTERS,
        deconv_products.CHANNELS_LAST,
    ),
}
LIBRARY = {
    EAGER: "conv.torch",
    UNRECORDED: "conv.torch",
    TRAINING: "conv.torch",
    INFERENCE: "conv.onednn",
    TRANSPOSED: "conv.torch",
}
MOST_CHOICES = 1 << 10  # bounds the cache of networks that take images of any size


class Choice(NamedTuple):
    """The selected way (None: the library's own), its computation, and the rule behind the choice, for explanations."""

    way: Way | None
    compute: Any
    decision: Decision


_choices: Recent[Problem, Choice] = Recent(MOST_CHOICES)


def forget() -> None:
    """Clear the cached choices, because limits or compiled code have changed."""
    _choices.clear()


def choose(problem: Problem) -> Choice:
    """Return the way that computes the problem now, and log the decision if it is being explained."""
    choice = _choices.get(problem) or _choices.again(problem) or _decide(problem)
    if SWITCH.mode == TRACED:
        SWITCH.log.append(choice.decision)
    return choice


def _decide(problem: Problem) -> Choice:
    """Return the first compiled way that applies; training waits for code, so that two runs give equal results."""
    waiting = ""
    for way in WAYS[problem.mode]:
        work = way.applies(problem)
        if work < way.minimum_work:
            continue
        code = way.code
        if code is None or code.earned(work, wait=problem.mode != INFERENCE) is not None:
            decision = Decision(way.name, True, f"{way.rule} ({work} multiplications)")
            return _keep(problem, Choice(way, way.run(problem), decision), not waiting)
        state, reason = code.state()
        if state in ("idle", "compiling"):
            waiting = waiting or f"; {way.name} waits: {reason}"
    rule = f"no kernel is faster for {_described(problem)}{waiting}"
    return _keep(problem, Choice(None, None, Decision(LIBRARY[problem.mode], True, rule)), not waiting)


def _keep(problem: Problem, choice: Choice, final: bool) -> Choice:
    return _choices.keep(problem, choice) if final else choice


def _described(problem: Problem) -> str:
    window, stride = ("x".join(map(str, sizes)) for sizes in (problem.weight[2:], problem.stride))
    groups = f", {problem.groups} groups" if problem.groups > 1 else ""
    return f"a window of {window}, stride {stride}{groups}, data of {tuple(problem.data)}, {problem.weight[0]} filters"


ONES, ZEROS = (1, 1), (0, 0)


def _recorded(data: Tensor, bias: Tensor | None) -> bool:
    return torch.is_grad_enabled() and (data.requires_grad or (bias is not None and bias.requires_grad))


def conv2d(
    data: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    pad: tuple[int, ...],
    dilate: tuple[int, ...],
    groups: int,
    mode: str = EAGER,
) -> Tensor | None:
    """Compute the 2D convolution, with its gradients, by the fastest way; None if torch's own is the fastest.

    Eager calls and their results are NCHW in memory; results of training graphs are channels-last.
    """
    if mode == EAGER and not (weight.requires_grad and torch.is_grad_enabled()):
        if data.dim() != 4 or data.shape[-1] > tuning.CONV_FEW_PIXELS or _recorded(data, bias):  # in this order: cheap
            return None
        mode = UNRECORDED
    elif mode == EAGER and not data.is_contiguous():
        return None
    if SWITCH.mode == OFF or not data.is_cpu or data.__class__ is not Tensor or torch.compiler.is_compiling():
        return None
    described = None if bias is None else (bias.shape, bias.dtype)
    geometry = stride or ONES, pad or ZEROS, dilate or ONES, groups
    kinds = data.dtype, weight.dtype, mode == EAGER, torch.get_num_threads()
    choice = choose(Problem(mode, data.shape, weight.shape, described, *geometry, *kinds))
    return None if choice.way is None else choice.compute(data, weight, bias)


def packed_conv2d(data: tuple[int, ...], dtype: torch.dtype, weight: tuple[int, ...], geometry: Any) -> Choice:
    """The choice for channels-last data and a constant weight of these shapes; its `compute` packs the weight.

    The geometry is padding, stride, dilation and groups.
    """
    pad, stride, dilate, groups = geometry
    kinds = dtype, torch.float32, False, torch.get_num_threads()
    return choose(Problem(INFERENCE, data, weight, None, (*stride,), (*pad,), (*dilate,), groups, *kinds))


def deconv(
    data: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: tuple[int, ...],
    pad: tuple[int, ...],
    adj: tuple[int, ...],
    dilate: tuple[int, ...],
    groups: int,
) -> Tensor | None:
    """Compute the deconvolution, with its gradients, if another way is faster than torch's; else None."""
    if SWITCH.mode == OFF or not data.is_cpu or data.__class__ is not Tensor or torch.compiler.is_compiling():
        return None
    recorded = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (data, weight, bias))
    axes = data.dim() - 2
    ones, zeros = (1,) * axes, (0,) * axes
    geometry = tuple(stride) or ones, tuple(pad) or zeros, tuple(dilate) or ones, groups
    described = None if bias is None else (bias.shape, bias.dtype)
    kinds = data.dtype, weight.dtype, True, torch.get_num_threads(), tuple(adj) or zeros, recorded
    choice = choose(Problem(TRANSPOSED, data.shape, weight.shape, described, *geometry, *kinds))
    return None if choice.way is None else choice.compute(data, weight, bias)
