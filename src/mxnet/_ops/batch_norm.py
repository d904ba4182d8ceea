"""Batch normalization, with MXNet's moving statistics: auxiliary states that the backward pass updates."""

from typing import Any

import torch
import torch.nn.functional as F

from .._core.errors import MXNetError
from .filling import assign
from .registry import op


class _Normalize(torch.autograd.Function):
    """Normalization with one gradient for both modes. Its backward pass in training updates the moving statistics:

    MXNet does so, hence a forward pass alone, even a recorded one, changes nothing.
    """

    @staticmethod
    def forward(ctx: Any, data, gamma, beta, moving_mean, moving_var, fix_gamma, training, momentum, eps):
        weight = None if fix_gamma else gamma
        running = (None, None) if training else (moving_mean, moving_var)
        result, mean, invstd = torch.native_batch_norm(data, weight, beta, *running, training, 0.0, eps)
        # The statistics are no part of the graph, and change between forward and backward when a layer is used twice
        ctx.moving, ctx.gamma = (moving_mean, moving_var), gamma
        ctx.training, ctx.momentum, ctx.eps = training, momentum, eps
        ctx.save_for_backward(data, weight, mean, invstd)
        ctx.mark_non_differentiable(mean, invstd)
        return result, mean, invstd

    @staticmethod
    def backward(ctx: Any, head, _mean, _invstd):
        data, weight, mean, invstd = ctx.saved_tensors
        running = (None, None) if ctx.training else ctx.moving
        mask = [ctx.needs_input_grad[0], weight is not None, ctx.needs_input_grad[2]]
        grads = torch.ops.aten.native_batch_norm_backward(
            head, data, weight, *running, mean, invstd, ctx.training, ctx.eps, mask
        )
        if ctx.training:
            _move(ctx.moving, mean, invstd, ctx.momentum, ctx.eps)
        gamma_grad = torch.zeros_like(ctx.gamma) if weight is None else grads[1]
        return grads[0], gamma_grad, grads[2], *[None] * 6


def _move(moving, mean, invstd, momentum, eps):
    """moving = momentum * moving + (1 - momentum) * statistic, the variance being that of the batch (not unbiased)."""
    moving[0].data.lerp_(mean, 1 - momentum)
    moving[1].data.lerp_(invstd.square().reciprocal_().sub_(eps), 1 - momentum)


def normalize_batch(data, gamma, beta, moving_mean, moving_var, *, eps, momentum, fix_gamma, training, axis=1):
    """Normalized data, and the mean and the reciprocal standard deviation that did it.

    `training` takes the batch's own statistics (and updates the moving ones in the backward pass), else the moving
    ones are used. `fix_gamma` sets gamma to one, for good.
    """
    axis = _channel_axis(axis, data.dim())
    if axis != 1 and data.dim() > 1:
        data = data.movedim(axis, 1)
    if fix_gamma:
        gamma.data.fill_(1)
    inputs = (data, gamma, beta, moving_mean, moving_var)
    if training or (torch.is_grad_enabled() and any(t.requires_grad for t in inputs[:3])):
        result, mean, invstd = _Normalize.apply(*inputs, fix_gamma, training, momentum, eps)
    else:
        weight = None if fix_gamma else gamma
        result = F.batch_norm(data, moving_mean, moving_var, weight, beta, False, 0.0, eps)
    if not training:
        mean, invstd = moving_mean, None
    return (result.movedim(1, axis) if axis != 1 and result.dim() > 1 else result), mean, invstd


def _channel_axis(axis, dims):
    if not -dims <= axis < dims:
        raise MXNetError(f"Channel axis out of range: {axis}, for data of {dims} dimensions")
    return axis % dims


def channel_parameters(attrs, shapes):
    """gamma, beta and the moving statistics have one element a channel."""
    if shapes[0]:
        channels = (shapes[0][_channel_axis(attrs.get("axis", 1), len(shapes[0]))],)
        for index, name in enumerate(("gamma", "beta", "moving_mean", "moving_var"), 1):
            assign(shapes, index, channels, "BatchNorm", name)
    return shapes


def parameter_types(attrs, dtypes):
    """Half precision data have single precision parameters; else all share one dtype."""
    data = dtypes[0]
    if data is None:
        return dtypes
    parameter = "float32" if data in ("float16", "bfloat16") else data
    return [data] + [d or parameter for d in dtypes[1:]]


def mean_and_variance_too(attrs):
    """Statistics are visible under `output_mean_var` only."""
    return 3 if attrs["output_mean_var"] else 1


BATCH_NORM = {
    "outputs": ("output", "mean", "var"),
    "visible": mean_and_variance_too,
    "aux": ("moving_mean", "moving_var"),
    "fill": channel_parameters,
    "fill_types": parameter_types,
    "dtype": "any",
}


@op("BatchNorm", **BATCH_NORM)
def batch_norm(
    data,
    gamma,
    beta,
    moving_mean,
    moving_var,
    *,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    _train: bool = False,
):
    """(data - mean) / sqrt(var + eps) * gamma + beta, statistics taken over all axes but `axis`.

    Training uses the batch's statistics, else (and under `use_global_stats`) the moving ones are used. Its third
    output is the reciprocal standard deviation.
    """
    training = _train and not use_global_stats
    attrs = {"eps": eps, "momentum": momentum, "fix_gamma": fix_gamma, "training": training, "axis": axis}
    result, mean, invstd = normalize_batch(data, gamma, beta, moving_mean, moving_var, **attrs)
    if invstd is None:
        invstd = (moving_var.detach() + eps).rsqrt() if output_mean_var else moving_var
    return result, mean.detach(), invstd.detach()


@op("BatchNorm_v1", **BATCH_NORM)
def batch_norm_v1(
    data,
    gamma,
    beta,
    moving_mean,
    moving_var,
    *,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    _train: bool = False,
):
    """The older BatchNorm, over axis 1; its third output is the variance itself."""
    training = _train and not use_global_stats
    attrs = {"eps": eps, "momentum": momentum, "fix_gamma": fix_gamma, "training": training}
    result, mean, invstd = normalize_batch(data, gamma, beta, moving_mean, moving_var, **attrs)
    variance = moving_var if invstd is None else invstd.square().reciprocal() - eps
    return result, mean.detach(), variance.detach()
