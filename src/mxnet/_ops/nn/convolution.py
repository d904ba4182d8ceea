"""Convolution and Deconvolution over one, two or three spatial axes."""

from typing import Literal

import torch

from ..._core.attrs import Count, Long
from ..._core.errors import MXNetError
from ..._device.settings import under
from ..._kernels.conv.choose import conv2d, deconv
from ..registry.fill_rules import assign
from ..registry.layout import channels_last, shape_first, shape_last, to_first, to_last
from ..registry.registry import op
from .fully_connected import bias_unless_no_bias

Tuning = Literal["fastest", "limited_workspace", "off"]
Layout = Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"]
_CONVOLVE = {1: torch.conv1d, 2: torch.conv2d, 3: torch.conv3d}
_TRANSPOSED = {1: torch.conv_transpose1d, 2: torch.conv_transpose2d, 3: torch.conv_transpose3d}


def _parameters(attrs, shapes):
    """Weight (filters, channels per group, kernel) and bias, from the data's channels."""
    return _fill(attrs, shapes, lambda channels, filters, groups: (filters, channels // groups))


def _transposed_parameters(attrs, shapes):
    """Weight (channels, filters per group, kernel) and bias, from the data's channels."""
    return _fill(attrs, shapes, lambda channels, filters, groups: (channels, filters // groups))


def _fill(attrs, shapes, leading):
    if shapes[0]:
        last = channels_last(attrs["layout"], len(attrs["kernel"]), "Convolution")
        channels, filters, groups = shape_first(shapes[0], last)[1], attrs["num_filter"], attrs["num_group"]
        if groups < 1 or channels % groups or filters % groups:
            raise MXNetError(f"{channels} channels and {filters} filters cannot be shared out among {groups} groups")
        weight = (*leading(channels, filters, groups), *attrs["kernel"])
        assign(shapes, 1, shape_last(weight, last), "Convolution", "weight")
        assign(shapes, 2, (attrs["num_filter"],), "Convolution", "bias")
    return shapes


def _check(operator, data, weight, kernel, filters, found, pairs):
    """What MXNet refuses and torch would compute: wrong dimensions, and a weight that contradicts the attributes."""
    if data.dim() != len(kernel) + 2:
        raise MXNetError(
            f"Input data should be {len(kernel) + 2}D for a kernel of {len(kernel)} axes, got shape "
            f"{tuple(data.shape)}, in operator {operator}"
        )
    if found != filters or weight.shape[2:] != kernel:
        raise MXNetError(
            f"Shape inconsistent, Provided weight {list(weight.shape)}, but num_filter={filters} and kernel={kernel}, "
            f"in operator {operator}"
        )
    _fits_kernel(operator, kernel, pairs)


def _fits_kernel(operator, kernel, pairs):
    for name, value in pairs:
        if value and len(value) != len(kernel):
            raise MXNetError(
                f"{name.capitalize()} must have the same number of dimensions with kernel_size, but kernel_size is set "
                f"to {kernel} while {name} is {value}, in operator {operator}"
            )


def _convolved(attrs, shapes):
    """The output's shape by the formula: a dry run on torch's meta device would load its compiler first."""
    data, kernel = shapes[0], attrs["kernel"]
    if not data:
        return [None]
    if len(data) != len(kernel) + 2:
        raise MXNetError(
            f"Input data should be {len(kernel) + 2}D for a kernel of {len(kernel)} axes, got shape {data}, in "
            "operator Convolution"
        )
    last = channels_last(attrs["layout"], len(kernel), "Convolution")
    _fits_kernel("Convolution", kernel, [(name, attrs[name]) for name in ("stride", "dilate", "pad")])
    ones = (1,) * len(kernel)
    stride, dilate, pad = attrs["stride"] or ones, attrs["dilate"] or ones, attrs["pad"] or (0,) * len(kernel)
    batch, _, *space = shape_first(data, last)
    sizes = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1 if n else 0
        for n, k, s, d, p in zip(space, kernel, stride, dilate, pad, strict=False)
    ]
    if any(n and size < 1 for n, size in zip(space, sizes, strict=True)):
        raise MXNetError(f"kernel size {kernel} exceeds input {tuple(space)} padded by {pad}, in operator Convolution")
    return [shape_last((batch, attrs["num_filter"], *sizes), last)]


@op("Convolution", inputs=bias_unless_no_bias, fill=_parameters, shape=_convolved)
def convolution(
    data,
    weight,
    bias=None,
    *,
    kernel: tuple,
    stride: tuple = (),
    dilate: tuple = (),
    pad: tuple = (),
    num_filter: Count,
    num_group: int = 1,
    workspace: Long = 1024,
    no_bias: bool = False,
    cudnn_tune: Tuning | None = None,
    cudnn_off: bool = False,
    layout: Layout | None = None,
):
    """Cross-correlation of `data` with `weight`, plus `bias`; `layout` says where the channels are.

    `data` is (batch, channels, sizes…), `weight` (num_filter, channels / num_group, kernel…), the result (batch,
    num_filter, floor((size + 2 * pad - dilate * (kernel - 1) - 1) / stride) + 1…).

    Parameters
    ----------
    data
        The input, (batch, channels, sizes…). There are one, two or three spatial axes; with a channels-last `layout` it
        is (batch, sizes…, channels).
    weight
        The filters, (num_filter, channels / num_group, kernel…). With a channels-last `layout` they are (num_filter,
        kernel…, channels / num_group).
    bias
        The number that is added to each output channel, (num_filter,). It is left out if `no_bias` is True.
    kernel
        Size of the window along each spatial axis: (width,), (height, width) or (depth, height, width).
    stride
        Distance between two windows along each spatial axis; empty means 1.
    dilate
        Distance between two neighbouring elements of a window; empty means 1, a window without gaps.
    pad
        Number of zeros that are added at both ends of each spatial axis; empty means 0.
    num_filter
        Number of output channels. It must be a multiple of `num_group`.
    num_group
        Number of groups of channels that are convolved separately; the number of input channels makes a depthwise
        convolution.
    workspace
        Accepted for old programs and ignored.
    no_bias
        Whether the layer has no bias; `bias` is then not an input.
    cudnn_tune
        On a GPU: whether cuDNN tries its algorithms for each new shape ('fastest', 'limited_workspace') or not ('off');
        by default as `MXNET_CUDNN_AUTOTUNE_DEFAULT` says.
    cudnn_off
        On a GPU: whether cuDNN is not used.
    layout
        The order of the axes: N batch, C channels, D depth, H height, W width.
    """
    last = layout is not None and channels_last(layout, len(kernel), "Convolution")
    if last:
        data, weight = to_first(data), to_first(weight)
    pairs = (("stride", stride), ("dilate", dilate), ("pad", pad))
    _check("Convolution", data, weight, kernel, num_filter, weight.shape[0], pairs)
    result = conv2d(data, weight, bias, stride, pad, dilate, num_group) if len(kernel) == 2 else None
    if result is None:
        convolve = _CONVOLVE[len(kernel)]
        arguments = data, weight, bias, stride or 1, pad or 0, dilate or 1, num_group
        result = convolve(*arguments) if data.is_cpu else under(convolve, arguments, cudnn_tune, cudnn_off)
    return to_last(result) if last else result


@op("Convolution_v1", inputs=bias_unless_no_bias, fill=_parameters, shape=_convolved)
def convolution_v1(
    data,
    weight,
    bias=None,
    *,
    kernel: tuple,
    stride: tuple = (),
    dilate: tuple = (),
    pad: tuple = (),
    num_filter: Count,
    num_group: int = 1,
    workspace: Long = 1024,
    no_bias: bool = False,
    cudnn_tune: Tuning | None = None,
    cudnn_off: bool = False,
    layout: Literal["NCDHW", "NCHW", "NDHWC", "NHWC"] | None = None,
):
    """The older registration of Convolution, which old symbol files name."""
    attrs = {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad, "num_group": num_group}
    library = {"cudnn_tune": cudnn_tune, "cudnn_off": cudnn_off}
    return convolution(data, weight, bias, num_filter=num_filter, layout=layout, **attrs, **library)


def _deconvolved(attrs, shapes):
    """The output's shape by the formula, for the same reason; None for inputs that the operator itself must judge."""
    data, kernel = shapes[0], attrs["kernel"]
    fits = all(len(attrs[name]) in (0, len(kernel)) for name in ("stride", "dilate", "pad", "adj", "target_shape"))
    if not data or not all(data) or len(data) != len(kernel) + 2 or not fits:
        return None
    last = attrs["layout"] is not None and channels_last(attrs["layout"], len(kernel), "Deconvolution")
    ones, zeros = (1,) * len(kernel), (0,) * len(kernel)
    stride, dilate = attrs["stride"] or ones, attrs["dilate"] or ones
    batch, _, *space = shape_first(data, last)
    pad, adj = attrs["pad"] or zeros, attrs["adj"] or zeros
    if any(attrs["target_shape"]):
        pad, adj = _reaching(attrs["target_shape"], space, kernel, stride, dilate)
    axes = zip(space, kernel, stride, dilate, pad, adj, strict=True)
    sizes = [s * (n - 1) + d * (k - 1) + 1 - 2 * p + a for n, k, s, d, p, a in axes]
    return [shape_last((batch, attrs["num_filter"], *sizes), last)] if min(sizes) > 0 else None


@op("Deconvolution", inputs=bias_unless_no_bias, fill=_transposed_parameters, shape=_deconvolved)
def deconvolution(
    data,
    weight,
    bias=None,
    *,
    kernel: tuple,
    stride: tuple = (),
    dilate: tuple = (),
    pad: tuple = (),
    adj: tuple = (),
    target_shape: tuple = (),
    num_filter: Count,
    num_group: int = 1,
    workspace: Long = 512,
    no_bias: bool = True,
    cudnn_tune: Tuning | None = None,
    cudnn_off: bool = False,
    layout: Layout | None = None,
):
    """The transpose of Convolution: it computes what Convolution's gradient of `data` does, and enlarges by `stride`.

    Parameters
    ----------
    data
        The input, (batch, channels, sizes…). There are one, two or three spatial axes.
    weight
        The filters, (channels, num_filter / num_group, kernel…). The first two axes are exchanged compared with
        Convolution.
    bias
        The number that is added to each output channel, (num_filter,). It is used only if `no_bias` is False, which is
        not the default.
    kernel
        Size of the window along each spatial axis: (width,), (height, width) or (depth, height, width).
    stride
        Distance between two windows in the result, hence the factor of upsampling; empty means 1.
    dilate
        Distance between two neighbouring elements of a window; empty means 1, a window without gaps.
    pad
        Number of elements that are removed at both ends of each spatial axis of the result; empty means 0.
    adj
        Number of elements that are added at the far end of each spatial axis of the result; each must be less than its
        stride.
    target_shape
        Spatial sizes of the result. If it is given, `pad` and `adj` are computed from it, and those that were passed
        are ignored.
    num_filter
        Number of output channels.
    num_group
        Number of groups of channels that are convolved separately.
    workspace
        Accepted for old programs and ignored.
    no_bias
        Whether the layer has no bias; `bias` is then not an input. The default is True, unlike Convolution's.
    cudnn_tune
        On a GPU: whether cuDNN tries its algorithms for each new shape ('fastest', 'limited_workspace') or not ('off');
        by default as `MXNET_CUDNN_AUTOTUNE_DEFAULT` says.
    cudnn_off
        On a GPU: whether cuDNN is not used.
    layout
        The order of the axes: N batch, C channels, D depth, H height, W width.
    """
    last = layout is not None and channels_last(layout, len(kernel), "Deconvolution")
    if last:
        data, weight = to_first(data), to_first(weight)
    pairs = (("stride", stride), ("dilate", dilate), ("pad", pad), ("adj", adj))
    _check("Deconvolution", data, weight, kernel, num_filter, weight.shape[1] * num_group, pairs)
    if any(target_shape):
        pad, adj = _reaching(target_shape, data.shape[2:], kernel, stride, dilate)  # pyright: ignore[reportAssignmentType]
    result = deconv(data, weight, bias, stride, pad, adj, dilate, num_group)
    if result is None:
        transposed = _TRANSPOSED[len(kernel)]
        arguments = data, weight, bias, stride or 1, pad or 0, adj or 0, num_group, dilate or 1
        result = transposed(*arguments) if data.is_cpu else under(transposed, arguments, cudnn_tune, cudnn_off)
    return to_last(result) if last else result


def _reaching(target, sizes, kernel, stride, dilate):
    """The padding and adjustment with which the output has the target's sizes."""
    ones = (1,) * len(kernel)
    axes = zip(target, sizes, kernel, stride or ones, dilate or ones, strict=True)
    excess = [s * (n - 1) + d * (k - 1) + 1 - t for t, n, k, s, d in axes]
    if min(excess) < 0:
        raise MXNetError(f"too big target shape {tuple(target)}, in operator Deconvolution")
    return [(e + 1) // 2 for e in excess], [e % 2 for e in excess]
