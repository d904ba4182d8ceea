"""Fused batch norm, sum and `relu` for training; the result is recomputed in the backward pass instead of being saved.

The next operator, for example a convolution, needs that result for its gradient. One pass over memory recomputes it
from the input and the statistics, which batch norm saves anyway. Functions that save it with `save_or_recompute` and
read it with `saved` get it when the backward pass reaches them; until then it takes no memory.
"""

from typing import Any

import torch
from torch import Tensor

from ..._core.writes import wrote_anywhere
from .. import tuning
from ..registry import Kernel
from . import batch_norm_passes as passes
from .batch_statistics import batch_statistics
from .moving_statistics import move, share_of_batch

LAST = torch.channels_last
SLACK = 256  # bytes


class _FusedNorm(torch.autograd.Function):
    """relu(batch norm(data) + addend); addend and relu are optional."""

    @staticmethod
    def forward(ctx: Any, addend, data, gamma, beta, moving, options):
        ctx.moving, ctx.value = moving, None
        ctx.relu, ctx.eps, ctx.momentum = options
        ctx.summed = addend is not None
        if passes.applies(data, addend) and _plain(gamma, beta):
            result = _temporary_like(data)
            statistics = passes.forward(data, addend, gamma, beta, ctx.eps, ctx.relu, result)
        else:
            mean, variance = (one.double() for one in batch_statistics(data))
            invstd = (variance + ctx.eps).rsqrt()
            factors = (gamma * invstd).float()
            statistics = torch.stack((mean.float(), invstd.float(), factors, (beta - mean * factors).float()))
            result = _finish(_scale_shift(data, statistics, _temporary_like(data)), addend, ctx.relu)
        save_or_recompute(ctx, addend, data, gamma, beta, statistics)
        return result

    @staticmethod
    def backward(ctx: Any, *heads):
        head = heads[0].contiguous(memory_format=LAST)
        _, data, gamma, _, statistics = ctx.saved_tensors
        if not torch.is_grad_enabled() and passes.applies(data) and _plain(*ctx.moving):
            return *_by_passes(ctx, head, data, statistics), None, None
        mean, invstd = statistics[0], statistics[1]
        move(ctx.moving, mean, invstd, ctx.momentum, ctx.eps)
        if ctx.relu:
            head = _through_relu(head, ctx)
        options = (None, None, mean, invstd, True, ctx.eps)
        wanted = list(ctx.needs_input_grad[1:4])
        grads = torch.ops.aten.native_batch_norm_backward(head, data, gamma, *options, wanted)
        return head if ctx.needs_input_grad[0] else None, *grads, None, None


def _plain(*vectors: Tensor) -> bool:
    """Can kernels read these numbers of each channel?"""
    return all(v.dtype is torch.float32 and v.is_contiguous() for v in vectors)


def _by_passes(ctx: Any, head, data, statistics):
    """Gradients by compiled kernels. Where `relu` was not active is seen from the data, or, with an addend, from the
    result, in whose memory the addend's gradient is left; without one it is the buffer for the data's gradient.
    """
    value = _value(ctx) if ctx.relu and ctx.summed else None
    out, ctx.value = None if ctx.summed else ctx.value, None
    out = _temporary_like(data) if out is None else out
    options = ctx.relu, ctx.eps, share_of_batch(ctx.momentum)
    grads = passes.backward(head, data, value, statistics, ctx.moving, options, out)
    wrote_anywhere()
    by_addend = head if value is None else value
    return by_addend if ctx.needs_input_grad[0] else None, *grads


def _through_relu(head, ctx):
    """The gradient of what `relu` was given; in the memory of the result, which nobody needs any more."""
    with torch.no_grad():
        value, ctx.value = _value(ctx), None
    if torch.is_grad_enabled():
        return torch.ops.aten.threshold_backward(head, value, 0)
    return torch.ops.aten.threshold_backward(head, value, 0, grad_input=value)


def can_recompute(data: Tensor) -> bool:
    """Can these data be recomputed in the backward pass?"""
    return isinstance(data.grad_fn, _FusedNorm._backward_cls)  # pyright: ignore[reportAttributeAccessIssue]


def save_or_recompute(ctx: Any, data: Tensor | None, *others: Tensor | None) -> None:
    """Save tensors for the backward pass; data that can be recomputed are not saved, only how to do it."""
    source = None if data is None else data.grad_fn
    if isinstance(source, _FusedNorm._backward_cls):  # pyright: ignore[reportAttributeAccessIssue]
        data = None
    else:
        source = None
    ctx.source = source
    ctx.save_for_backward(data, *others)


def saved(ctx: Any) -> tuple[Any, ...]:
    """What `save_or_recompute` saved, or recomputes now."""
    data, *others = ctx.saved_tensors
    return (data if ctx.source is None else _value(ctx.source), *others)


def _value(source: Any) -> Tensor:
    """Recompute the result of `_FusedNorm`: in the graph if gradients are recorded, else once for all readers."""
    if torch.is_grad_enabled():
        addend, data, gamma, beta, _ = saved(source)
        result = torch.native_batch_norm(data, gamma, beta, None, None, True, 0.0, source.eps)[0]
        return _finish(result, addend, source.relu)
    if not source.relu:  # an addend, which is asked for once
        return _recompute(source)
    if source.value is None:
        source.value = _recompute(source)
    return source.value


def _recompute(source: Any) -> Tensor:
    addend, data, _, _, statistics = saved(source)
    result = _temporary_like(data)
    if passes.recompute_applies(data, addend):
        return passes.recompute(data, addend, statistics, source.relu, result)
    images = max(1, tuning.NORM_RECOMPUTE_ELEMENTS // data[0].numel())
    for first in range(0, len(data), images):
        part = slice(first, first + images)
        piece = _scale_shift(data[part], statistics, result[part])
        _finish(piece, None if addend is None else addend[part], source.relu)
    return result


def _scale_shift(data: Tensor, statistics: Tensor, out: Tensor) -> Tensor:
    shift, factor = statistics[3].view(1, -1, 1, 1), statistics[2].view(1, -1, 1, 1)
    return torch.addcmul(shift, data, factor, out=out)


def _temporary_like(data):
    """Memory for a value like `data` that is freed before others.

    glibc requests slightly more memory than a block needs for alignment, so a block that was freed between blocks in
    use is too small for a new block of the same size. This block is larger, so that the next block fits into its place.
    """
    storage = torch.UntypedStorage(data.numel() * data.element_size() + SLACK)
    return data.new_empty(0).set_(storage, 0, data.shape, data.stride())


def _finish(result, addend, relu):
    if addend is not None:
        result.add_(addend)
    return result.relu_() if relu else result


def _applies(data: Tensor, gamma: Tensor, beta: Tensor, moving: Any, addend: Tensor | None, *options: Any) -> int:
    """The elements of what is recorded, in single precision, channels-last."""
    if not torch.is_grad_enabled() or data.dim() != 4 or data.device.type != "cpu":
        return 0
    if addend is not None and (addend.shape != data.shape or addend.dtype is not data.dtype):
        return 0
    same = data.dtype is gamma.dtype is torch.float32 and gamma.dim() == 1 and len(gamma) == data.shape[1]
    return data.numel() if same and data.is_contiguous(memory_format=LAST) else 0


def _run(data, gamma, beta, moving, addend, relu, eps, momentum):
    return _FusedNorm.apply(addend, data, gamma, beta, tuple(m.data for m in moving), (relu, eps, momentum))


# relu(batch norm(data) + addend) by the batch's statistics; the backward pass updates the moving ones:
# (data, gamma, beta, (moving mean, moving variance), addend or None, relu?, eps, momentum)
fused_norm = Kernel("norm.fused_batch_norm", _applies, _run, tuning.NORM_FUSED_ELEMENTS)
