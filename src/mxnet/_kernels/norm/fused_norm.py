"""Batch norm, a sum and `relu` as one step of training, whose result is computed again instead of kept.

What follows, a convolution for example, needs that result for its gradient. It follows from what batch norm keeps
anyway, its input and its statistics, in a pass over memory. Functions that save it with `keep` and read it with `kept`
get it when the backward pass reaches them; until then it takes no room.
"""

from typing import Any

import torch

from ..._core.writes import wrote_anywhere
from . import batch_norm_passes as norm_passes
from .moving_statistics import move, share_of_batch

LAST = torch.channels_last
FEWEST = 1 << 17  # elements; with less, there is little to gain
SLACK = 256  # bytes
AT_ONCE = 1 << 18  # elements that stay in the cache from one call to the next


class _Normed(torch.autograd.Function):
    """relu(batch norm(data) + addend); addend and relu may be missing."""

    @staticmethod
    def forward(ctx: Any, addend, data, gamma, beta, moving, options):
        ctx.moving, ctx.value = moving, None
        ctx.active, ctx.eps, ctx.momentum = options
        ctx.summed = addend is not None
        if norm_passes.suits(data, addend) and _plain(gamma, beta):
            result = _passing(data)
            found = norm_passes.normal(data, addend, gamma, beta, ctx.eps, ctx.active, result)
        else:
            mean, invstd = torch.empty_like(gamma), torch.empty_like(gamma)
            result = torch.ops.aten.native_batch_norm.out(
                data, gamma, beta, None, None, True, 0.0, ctx.eps,
                out=_passing(data), save_mean=mean, save_invstd=invstd,
            )[0]  # fmt: skip
            result = _finish(result, addend, ctx.active)
            factors = gamma * invstd
            found = torch.stack((mean, invstd, factors, torch.addcmul(beta, mean, factors, value=-1)))
        keep(ctx, addend, data, gamma, beta, found)
        return result

    @staticmethod
    def backward(ctx: Any, *heads):
        head = heads[0].contiguous(memory_format=LAST)
        _, data, gamma, _, found = ctx.saved_tensors
        if not torch.is_grad_enabled() and norm_passes.suits(data) and _plain(*ctx.moving):
            return *_by_passes(ctx, head, data, found), None, None
        mean, invstd = found[0], found[1]
        move(ctx.moving, mean, invstd, ctx.momentum, ctx.eps)
        if ctx.active:
            head = _stopped(head, ctx)
        statistics = (None, None, mean, invstd, True, ctx.eps)
        wanted = list(ctx.needs_input_grad[1:4])
        grads = torch.ops.aten.native_batch_norm_backward(head, data, gamma, *statistics, wanted)
        return head if ctx.needs_input_grad[0] else None, *grads, None, None


def _plain(*vectors: torch.Tensor) -> bool:
    """Are these what kernels take for a number of each channel?"""
    return all(v.dtype is torch.float32 and v.is_contiguous() for v in vectors)


def _by_passes(ctx: Any, head, data, found):
    """Gradients by compiled kernels. What `relu` stopped is seen from the data, or, with an addend, from the result, in
    whose memory the addend's gradient is left; without one it has room for the gradient of the data.
    """
    value = _value(ctx) if ctx.active and ctx.summed else None
    room, ctx.value = None if ctx.summed else ctx.value, None
    room = _passing(data) if room is None else room
    options = ctx.active, ctx.eps, share_of_batch(ctx.momentum)
    grads = norm_passes.slopes(head, data, value, found, ctx.moving, options, room)
    wrote_anywhere()
    by_addend = head if value is None else value
    return by_addend if ctx.needs_input_grad[0] else None, *grads


def _stopped(head, ctx):
    """The gradient where `relu` let its input through; in the memory of the result, which nobody needs any more."""
    with torch.no_grad():
        value, ctx.value = _value(ctx), None
    if torch.is_grad_enabled():
        return torch.ops.aten.threshold_backward(head, value, 0)
    return torch.ops.aten.threshold_backward(head, value, 0, grad_input=value)


def computable(data: torch.Tensor) -> bool:
    """Can these data be computed again?"""
    return isinstance(data.grad_fn, _Normed._backward_cls)  # pyright: ignore[reportAttributeAccessIssue]


def keep(ctx: Any, data: torch.Tensor | None, *others: torch.Tensor | None) -> None:
    """Save tensors for the backward pass; of data that can be computed again, only how."""
    ctx.maker = data.grad_fn if data is not None and computable(data) else None
    ctx.save_for_backward(data if ctx.maker is None else None, *others)


def kept(ctx: Any) -> tuple[Any, ...]:
    """What `keep` saved."""
    data, *others = ctx.saved_tensors
    return (data if ctx.maker is None else _value(ctx.maker), *others)


def _value(maker: Any) -> torch.Tensor:
    """The result of `_Normed` again: part of the graph where gradients are recorded, else once for all who ask."""
    if torch.is_grad_enabled():
        addend, data, gamma, beta, _ = kept(maker)
        result = torch.native_batch_norm(data, gamma, beta, None, None, True, 0.0, maker.eps)[0]
        return _finish(result, addend, maker.active)
    if not maker.active:  # an addend, which is asked for once
        return _computed(maker)
    if maker.value is None:
        maker.value = _computed(maker)
    return maker.value


def _computed(maker: Any) -> torch.Tensor:
    addend, data, _, _, found = kept(maker)
    result = _passing(data)
    if norm_passes.suits_again(data, addend):
        return norm_passes.again(data, addend, found, maker.active, result)
    factors = found[3].view(1, -1, 1, 1), found[2].view(1, -1, 1, 1)
    images = max(1, AT_ONCE // data[0].numel())
    for first in range(0, len(data), images):
        part = slice(first, first + images)
        piece = torch.addcmul(factors[0], data[part], factors[1], out=result[part])
        _finish(piece, None if addend is None else addend[part], maker.active)
    return result


def _passing(data):
    """Memory for a value like `data` that others will outlive.

    glibc asks for a little more than it needs to align a block: one that was freed between others in use fits no block
    of the same size. This one is larger, and leaves a place that the next one, which stays, fits into.
    """
    storage = torch.UntypedStorage(data.numel() * data.element_size() + SLACK)
    return data.new_empty(0).set_(storage, 0, data.shape, data.stride())


def _finish(result, addend, active):
    if addend is not None:
        result.add_(addend)
    return result.relu_() if active else result


def suits(data: torch.Tensor, gamma: torch.Tensor, addend: torch.Tensor | None) -> bool:
    """Is this recorded, in single precision, with channels last in memory, and large enough?"""
    if not torch.is_grad_enabled() or data.dim() != 4 or data.numel() < FEWEST or data.device.type != "cpu":
        return False
    if addend is not None and (addend.shape != data.shape or addend.dtype is not data.dtype):
        return False
    same = data.dtype is gamma.dtype is torch.float32
    return same and gamma.dim() == 1 and len(gamma) == data.shape[1] and data.is_contiguous(memory_format=LAST)


def normed(data, gamma, beta, moving_mean, moving_var, addend, *, active, eps, momentum):
    """relu(batch norm(data) + addend) by the batch's statistics; the backward pass updates the moving ones."""
    moving = (moving_mean.data, moving_var.data)
    return _Normed.apply(addend, data, gamma, beta, moving, (active, eps, momentum))
