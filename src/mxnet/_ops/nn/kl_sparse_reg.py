"""IdentityAttachKLSparseReg: the identity, whose gradient asks activations to be sparse."""

from typing import Any

import torch

from ..._core.attrs import Fraction
from ..._core.writes import wrote_anywhere
from ..registry.fill_rules import assign
from ..registry.registry import op


class _Penalized(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, data, moving_avg, target, penalty, momentum):
        ctx.save_for_backward(data)
        ctx.moving_avg, ctx.attrs = moving_avg, (target, penalty, momentum)
        return data.clone()

    @staticmethod
    def backward(ctx: Any, head):  # pyright: ignore[reportIncompatibleMethodOverride]
        (data,) = ctx.saved_tensors
        target, penalty, momentum = ctx.attrs
        average = data.reshape(-1, data.shape[-1]).mean(0)
        moving = ctx.moving_avg.data.mul_(momentum).add_(average, alpha=1 - momentum)
        wrote_anywhere()
        pull = (1 - target) / (1 - moving) - target / moving
        return head + penalty * pull, None, None, None, None


def _moving_shape(attrs, shapes):
    if shapes[0]:
        assign(shapes, 1, shapes[0][1:2], "IdentityAttachKLSparseReg", "moving_avg")
    return shapes


@op("IdentityAttachKLSparseReg", aux=("moving_avg",), fill=_moving_shape)
def identity_attach_kl_sparse_reg(
    data, moving_avg, *, sparseness_target: Fraction = 0.1, penalty: float = 0.001, momentum: Fraction = 0.9
):
    """The data itself; backward adds the gradient of the divergence of its mean activation from the target."""
    return _Penalized.apply(data, moving_avg, sparseness_target, penalty, momentum)
