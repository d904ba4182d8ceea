"""Batch normalization, with MXNet's moving statistics: auxiliary states that the backward pass updates."""

from functools import partial
from typing import Any

import torch

from ..._core.errors import MXNetError
from ..._device.backward import is_training
from ..._kernels.norm import batch_statistics
from ..._kernels.norm.moving_statistics import move
from ..registry.fill_rules import assign
from ..registry.registry import op


def normalize_batch(
    data, gamma, beta, moving_mean, moving_var, *,
    eps, momentum, fix_gamma, training, axis=1, set_gamma=True, global_stats=False,
):  # fmt: skip
    """Normalized data, and the mean and the reciprocal standard deviation that did it.

    `training` takes the batch's own statistics, and has the backward pass update the moving ones: MXNet does it there,
    hence a forward pass alone, even a recorded one, changes nothing. Otherwise the moving statistics are used, and the
    last result is None. `fix_gamma` takes gamma for one (see `fixed`). `global_stats` tells that moving statistics are
    constants in training, too.
    """
    if axis != 1:
        axis = _channel_axis(axis, data.dim())
        data = data.movedim(axis, 1) if data.dim() > 1 else data
    if fix_gamma:
        gamma = fixed(gamma, set_gamma)
    if training:
        if not (data.is_contiguous() or data.is_contiguous(memory_format=torch.channels_last)):
            data = data.contiguous()  # torch's loop over other strides is slower and sums with less care
        if batch_statistics.applies(data):
            result, mean, invstd = _ByBatchStatistics.apply(data, gamma, beta, eps)
        else:
            result, mean, invstd = torch.native_batch_norm(data, gamma, beta, None, None, True, 0.0, eps)
        if result.requires_grad:
            moving = (moving_mean.data, moving_var.data)
            result.register_hook(partial(_move, moving, mean, invstd, momentum, eps))
    else:
        mean, invstd = moving_mean.detach(), None
        moving = mean, moving_var.detach()
        if not global_stats and torch.is_grad_enabled() and (data.requires_grad or gamma.requires_grad):
            result = _ByMovingStatistics.apply(data, gamma, beta, *moving, eps)
        else:
            result = torch.batch_norm(data, gamma, beta, *moving, False, 0.0, eps, True)
    return (result.movedim(1, axis) if axis != 1 and result.dim() > 1 else result), mean, invstd


class _ByBatchStatistics(torch.autograd.Function):
    """torch's batch norm of channels-last images, by statistics that are summed with care."""

    @staticmethod
    def forward(ctx: Any, data, gamma, beta, eps):  # pyright: ignore[reportIncompatibleMethodOverride]
        mean, variance = batch_statistics.batch_statistics(data)
        invstd = (variance + eps).rsqrt_()
        ctx.save_for_backward(data, gamma, mean, invstd)
        ctx.eps = eps
        ctx.mark_non_differentiable(mean, invstd)
        return torch.batch_norm(data, gamma, beta, mean, variance, False, 0.0, eps, True), mean, invstd

    @staticmethod
    def backward(ctx: Any, head, *_):  # pyright: ignore[reportIncompatibleMethodOverride]
        data, gamma, *statistics = ctx.saved_tensors
        wanted = list(ctx.needs_input_grad[:3])
        found = torch.ops.aten.native_batch_norm_backward(
            head, data, gamma, None, None, *statistics, True, ctx.eps, wanted
        )
        return *found, None


class _ByMovingStatistics(torch.autograd.Function):
    """Normalization by moving statistics, differentiated in the mode of the backward pass.

    `autograd.backward` runs in training mode unless it is told otherwise, and there MXNet takes the statistics that the
    forward pass used for the batch's own: the gradient of the data has the terms that come from mean and variance.
    """

    @staticmethod
    def forward(ctx: Any, data, gamma, beta, mean, variance, eps):  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx.save_for_backward(data, gamma)
        ctx.statistics, ctx.eps = (mean.clone(), variance.clone()), eps
        return torch.batch_norm(data, gamma, beta, mean, variance, False, 0.0, eps, True)

    @staticmethod
    def backward(ctx: Any, head):  # pyright: ignore[reportIncompatibleMethodOverride]
        data, gamma = ctx.saved_tensors
        mean, variance = ctx.statistics
        training = is_training()
        saved = (mean, (variance + ctx.eps).rsqrt()) if training else (None, None)
        wanted = list(ctx.needs_input_grad[:3])
        found = torch.ops.aten.native_batch_norm_backward(
            head, data, gamma, mean, variance, *saved, training, ctx.eps, wanted
        )
        return (*(g if asked else None for g, asked in zip(found, wanted, strict=True)), None, None, None)


def fixed(gamma: torch.Tensor, set_gamma: bool | None = True) -> torch.Tensor:
    """Ones in the place of gamma, whose gradient is zero.

    MXNet sets gamma itself to one, for good, wherever it computes the statistics that the backward pass reads. That is
    always so in a single call; in a graph `set_gamma` tells, None meaning: while it is recorded.
    """
    if set_gamma is False or (set_gamma is None and not torch.is_grad_enabled()):
        return torch.ones_like(gamma)
    gamma.data.fill_(1)
    if gamma.requires_grad and torch.is_grad_enabled():
        gamma = gamma.view_as(gamma)
        gamma.register_hook(torch.zeros_like)
    return gamma


def _move(moving, mean, invstd, momentum, eps, gradient):
    move(moving, mean, invstd, momentum, eps)


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


def _shapes(attrs, shapes):
    """The data's shape, and one element a channel for the statistics."""
    channels = shapes[1] if len(shapes) > 1 else None
    return [shapes[0], channels, channels]


BATCH_NORM: dict[str, Any] = {
    "outputs": ("output", "mean", "var"),
    "shape": _shapes,
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
    _set_gamma: bool | None = True,
):
    """(data - mean) / sqrt(var + eps) * gamma + beta, statistics taken over all axes but `axis`.

    Training uses the batch's statistics, else (and under `use_global_stats`) the moving ones are used. Its third
    output is the reciprocal standard deviation.

    Parameters
    ----------
    data
        The input, of any shape; its axis `axis` holds the channels.
    gamma
        The scale of each channel, (channels,). It counts as 1 while `fix_gamma` is True, which is the default.
    beta
        The shift of each channel, (channels,).
    moving_mean
        The moving mean of each channel, (channels,). The backward pass in training updates it in place.
    moving_var
        The moving variance of each channel, (channels,). The backward pass in training updates it in place.
    eps
        Added to the variance before the square root, which keeps channels of constant value finite.
    momentum
        The share of the old moving statistics that is kept: moving = momentum * moving + (1 - momentum) * batch.
    fix_gamma
        Whether gamma is 1 and is not trained. Pass False to learn a scale.
    use_global_stats
        Whether the moving statistics are used in training, too; they are then not updated.
    output_mean_var
        Whether the mean and the reciprocal standard deviation, (channels,) each, are returned after the result.
    axis
        The axis of the channels; negative axes count from the end. Use -1 or 3 for NHWC images.
    cudnn_off
        Accepted for old programs and ignored.
    min_calib_range
        The least value seen in calibration, for quantization.
    max_calib_range
        The greatest value seen in calibration, for quantization.
    """
    training = _train and not use_global_stats
    attrs: dict[str, Any] = {
        "eps": eps,
        "momentum": momentum,
        "fix_gamma": fix_gamma,
        "training": training,
        "axis": axis,
        "set_gamma": _set_gamma,
        "global_stats": use_global_stats,
    }
    result, mean, invstd = normalize_batch(data, gamma, beta, moving_mean, moving_var, **attrs)
    if invstd is None:
        invstd = (moving_var.detach() + eps).rsqrt() if output_mean_var else moving_var.detach()
    return result, mean, invstd


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
    attrs: dict[str, Any] = {"eps": eps, "momentum": momentum, "fix_gamma": fix_gamma, "training": training}
    attrs["global_stats"] = use_global_stats
    result, mean, invstd = normalize_batch(data, gamma, beta, moving_mean, moving_var, **attrs)
    variance = moving_var.detach() if invstd is None else invstd.square().reciprocal() - eps
    return result, mean, variance
