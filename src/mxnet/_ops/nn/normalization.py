"""Normalization of each example by itself: LayerNorm, GroupNorm, InstanceNorm, L2Normalization, LRN."""

from typing import Literal

import torch

from ..._core.errors import MXNetError
from ..._kernels.norm.lrn import lrn as lrn_kernel
from ..registry.fill_rules import assign
from ..registry.gradient import with_gradient
from ..registry.registry import op

_ROWS = 512


def _axis(axis, dims, operator):
    if not -dims <= axis < dims:
        raise MXNetError(f"Channel axis out of range: axis={axis}, for data of {dims} dimensions, in {operator}")
    return axis % dims


def _statistics_too(attrs):
    return 3 if attrs["output_mean_var"] else 1


def _layer_parameters(attrs, shapes):
    if shapes[0]:
        width = (shapes[0][_axis(attrs["axis"], len(shapes[0]), "LayerNorm")],)
        assign(shapes, 1, width, "LayerNorm", "gamma")
        assign(shapes, 2, width, "LayerNorm", "beta")
    return shapes


def _layer_shapes(attrs, shapes):
    data, axis = shapes[0], attrs["axis"]
    if not data:
        return None
    axis %= len(data)
    before, after = data[:axis], data[axis + 1 :]
    statistics = (*before, 1, *after) if attrs["output_mean_var"] else (*before, *after, 1)
    return [data, statistics, statistics]


def _shape_of_data(least, most):
    """The result has the data's shape, which has at least and at most so many axes."""
    return lambda attrs, shapes: [shapes[0]] if shapes[0] and least <= len(shapes[0]) <= most else None


MANY_AXES = 32


@op(
    "LayerNorm",
    outputs=("output", "mean", "std"),
    visible=_statistics_too,
    fill=_layer_parameters,
    shape=_layer_shapes,
)
def layer_norm(data, gamma, beta, *, axis: int = -1, eps: float = 1e-5, output_mean_var: bool = False):
    """(data - mean) / sqrt(var + eps) * gamma + beta, statistics taken along `axis`.

    Parameters
    ----------
    data
        The input, of any shape.
    gamma
        The scale of each element along `axis`, (length,).
    beta
        The shift of each element along `axis`, (length,).
    axis
        The axis over which mean and variance are taken; the last by default.
    eps
        Added to the variance before the square root.
    output_mean_var
        Whether the mean and the standard deviation along `axis` are returned after the result.
    """
    axis = _axis(axis, data.dim(), "LayerNorm")
    moved = data if axis == data.dim() - 1 else data.movedim(axis, -1)
    many = gamma.requires_grad and moved.numel() > _ROWS * gamma.numel()
    normalize = _in_blocks if many else _at_once
    result, mean, reciprocal = normalize(moved, gamma, beta, eps)
    if moved is not data:
        result = result.movedim(-1, axis)
    if not output_mean_var:
        return result, mean, reciprocal
    statistics = (mean.detach(), reciprocal.detach().reciprocal())
    return result, *(s.movedim(-1, axis).to(data.dtype) for s in statistics)


def _at_once(data, gamma, beta, eps):
    return torch.native_layer_norm(data, gamma.shape, gamma, beta, eps)


def _in_blocks(data, gamma, beta, eps):
    """Layer normalization of many rows: torch adds up the gradients of gamma and beta row by row, which loses digits,

    so the backward pass goes block by block and adds the blocks.
    """

    def backward(inputs, outputs, heads):
        data, gamma, beta = inputs
        width = gamma.numel()
        wide = [t.reshape(-1, width).split(_ROWS) for t in (heads[0], data)]
        narrow = [t.reshape(-1, 1).split(_ROWS) for t in outputs[1:]]
        parts = [
            torch.ops.aten.native_layer_norm_backward(h, d, gamma.shape, m, r, gamma, beta, [True, True, True])
            for h, d, m, r in zip(*wide, *narrow, strict=True)
        ]
        by_data, by_gamma, by_beta = zip(*parts, strict=True)
        return torch.cat(by_data).view(data.shape), torch.stack(by_gamma).sum(0), torch.stack(by_beta).sum(0)

    return with_gradient(lambda data, gamma, beta: _at_once(data, gamma, beta, eps), backward, data, gamma, beta)


def _group_parameters(attrs, shapes):
    if shapes[0]:
        assign(shapes, 1, (attrs["num_groups"],), "GroupNorm", "gamma")
        assign(shapes, 2, (attrs["num_groups"],), "GroupNorm", "beta")
    return shapes


@op("GroupNorm", outputs=("output", "mean", "std"), visible=_statistics_too, fill=_group_parameters)
def group_norm(data, gamma, beta, *, num_groups: int = 1, eps: float = 1e-5, output_mean_var: bool = False):
    """Each group of channels normalized over its channels and positions; gamma and beta have one element a group."""
    if data.dim() < 3 or data.shape[1] % num_groups:
        raise MXNetError(f"GroupNorm: {num_groups} groups do not divide the channels of shape {tuple(data.shape)}")
    groups = data.reshape(data.shape[0], num_groups, -1)
    result, mean, reciprocal = torch.native_layer_norm(groups, groups.shape[2:], None, None, eps)
    result = torch.addcmul(beta.unsqueeze(1), result, gamma.unsqueeze(1)).view(data.shape)
    if not output_mean_var:
        return result, mean, reciprocal
    statistics = (mean.detach(), reciprocal.detach().reciprocal())
    return result, *(s.squeeze(2).to(data.dtype) for s in statistics)


def _instance_parameters(attrs, shapes):
    if shapes[0]:
        assign(shapes, 1, shapes[0][1:2], "InstanceNorm", "gamma")
        assign(shapes, 2, shapes[0][1:2], "InstanceNorm", "beta")
    return shapes


@op("InstanceNorm", fill=_instance_parameters, shape=_shape_of_data(3, MANY_AXES))
def instance_norm(data, gamma, beta, *, eps: float = 1e-3):
    """Each channel of each example normalized over its positions.

    Parameters
    ----------
    data
        The input, (batch, channels, sizes…). Mean and variance are taken over the spatial axes of each channel of each
        example.
    gamma
        The scale of each channel, (channels,).
    beta
        The shift of each channel, (channels,).
    eps
        Added to the variance before the square root.
    """
    if data.dim() < 3:
        raise MXNetError(f"InstanceNorm only supports input tensors of rank >= 3, got shape {tuple(data.shape)}")
    channels = (-1,) + (1,) * (data.dim() - 2)
    result = torch.native_layer_norm(data, data.shape[2:], None, None, eps)[0]
    return torch.addcmul(beta.view(channels), result, gamma.view(channels))


@op("L2Normalization", shape=_shape_of_data(3, MANY_AXES))
def l2_normalization(data, *, eps: float = 1e-10, mode: Literal["channel", "instance", "spatial"] = "instance"):
    """data / sqrt(sum of squares + eps), summed over an instance, over the channels, or over the positions.

    Parameters
    ----------
    data
        The input, (batch, channels, …).
    eps
        Added to the sum of squares before the square root, which keeps vectors of zeros finite.
    mode
        What is divided by its length: instance, each example as a whole; channel, the vector of all channels at each
        position; spatial, each channel over its positions.
    """
    if mode != "instance" and data.dim() < 3:
        raise MXNetError(f"At lease 3 dimensions required in {mode} mode, got shape {tuple(data.shape)}")
    first = {"instance": 1, "channel": 1, "spatial": 2}[mode]
    axes = [1] if mode == "channel" else list(range(first, data.dim()))

    def forward(data):
        squares = data.square()
        length = (squares.sum(axes, keepdim=True) if axes else squares).add_(eps).sqrt_()
        return data / length, length

    def backward(inputs, outputs, heads):
        """The part of the head that is not along the result; the second head is that of the lengths."""
        (result, length), (head, of_length) = outputs, heads
        along = head * result
        along = (along.sum(axes, keepdim=True) if axes else along) / length
        return torch.addcmul(head / length, result, of_length - along)

    return with_gradient(forward, backward, data)[0]


@op("LRN", shape=_shape_of_data(4, 4))
def lrn(data, *, alpha: float = 1e-4, beta: float = 0.75, knorm: float = 2.0, nsize: int):
    """data / (knorm + alpha / nsize * sum of squares over `nsize` neighbouring channels) ** beta."""
    if data.dim() != 4:
        raise MXNetError(f"LRN needs data of 4 dimensions, got shape {tuple(data.shape)}")
    side, share = (nsize - 1) // 2, alpha / nsize

    def scale(data):
        return _with_neighbours(torch.full_like(data, knorm), data, data, side, share)

    def backward(inputs, outputs, heads):
        data, scales = inputs[0], scale(inputs[0])
        pulls = (heads[0] * outputs[0]).div_(scales)
        near = _with_neighbours(torch.zeros_like(data), pulls, data.new_ones(()), side, 1.0)
        return torch.addcmul(_power(scales, beta).mul_(heads[0]), near, data, value=-2 * share * beta)

    use_kernel = lrn_kernel.ready(data, side, share, knorm, beta)  # asked outside of `forward`, which is not recorded

    def forward(data):
        if use_kernel:
            return lrn_kernel.run(data, side, share, knorm, beta)
        return _power(scale(data), beta).mul_(data)

    return with_gradient(forward, backward, data)


def _with_neighbours(total, left, right, side, share):
    """Add to `total` the products of `side` channels before and after each one, times `share`."""
    channels = total.shape[1]
    for shift in range(-min(side, channels - 1), min(side, channels - 1) + 1):
        to, source = max(0, -shift), max(0, shift)
        number = channels - abs(shift)
        parts = [part.narrow(1, source, number) if part.dim() else part for part in (left, right)]
        total.narrow(1, to, number).addcmul_(*parts, value=share)
    return total


def _power(scale, beta):
    """The scale to the power of `-beta`; for the default of three quarters, roots take a fifth of the time."""
    if beta != 0.75:
        return scale.pow(-beta)
    root = scale.rsqrt()
    fourth = root.sqrt()
    return fourth * root if fourth.requires_grad else fourth.mul_(root)  # the former where it is differentiated twice
