"""Max, average, sum and Lp pooling over one, two or three spatial axes, in MXNet's conventions for the last window."""

from typing import Any, Literal

import torch
import torch.nn.functional as F

from ..._core.attrs import Sizes
from ..._core.errors import MXNetError
from ..._kernels.norm.fused_norm import can_recompute, save_or_recompute, saved
from ..._kernels.pool import nchw
from ..._kernels.pool.windows import Windows, windows_of
from ..registry.gradient import with_gradient, without_gradient
from ..registry.layout import channels_last, to_first, to_last
from ..registry.registry import Attrs, op
from ..registry.shape_rules import Shapes
from ..registry.torch_dtypes import require_floating

_MAX = {2: torch.max_pool2d, 3: torch.max_pool3d}
_GLOBAL_MAX = {2: F.adaptive_max_pool2d, 3: F.adaptive_max_pool3d}


def _average_3d(data, *window, **options):
    """torch's avg_pool3d has no float16 kernel on the CPU."""
    if data.dtype == torch.float16 and data.device.type == "cpu":
        return F.avg_pool3d(data.float(), *window, **options).half()
    return F.avg_pool3d(data, *window, **options)


_AVERAGE = {2: F.avg_pool2d, 3: _average_3d}


def _pooled_shape(attrs: Attrs, shapes: Shapes) -> Shapes:
    """An axis of unknown size (0) has an unknown number of windows."""
    data = shapes[0]
    if data is None:
        return [None]
    kernel, layout = attrs["kernel"], attrs["layout"]
    _check_type(data, kernel, attrs["pool_type"], attrs["p_value"], attrs["global_pool"])
    last = layout is not None and channels_last(layout, len(data) - 2, "Pooling")
    before, sizes, behind = (data[:1], data[1:-1], data[-1:]) if last else (data[:2], data[2:], ())
    if attrs["global_pool"]:
        return [(*before, *(1 for _ in sizes), *behind)]
    fitting = tuple(size or window for size, window in zip(sizes, kernel, strict=True))
    count = windows_of(fitting, kernel, attrs["stride"], attrs["pad"], attrs["pooling_convention"]).count
    return [(*before, *(number if size else 0 for number, size in zip(count, sizes, strict=True)), *behind)]


@op("Pooling", shape=_pooled_shape)
def pooling(
    data,
    *,
    kernel: Sizes = (),
    pool_type: Literal["avg", "lp", "max", "sum"] = "max",
    global_pool: bool = False,
    cudnn_off: bool = False,
    pooling_convention: Literal["full", "same", "valid"] = "valid",
    stride: Sizes = (),
    pad: tuple = (),
    p_value: int | None = None,
    count_include_pad: bool | None = None,
    layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"] | None = None,
):
    """The maximum, mean, sum or p-norm of windows. `valid` drops a last window that does not fit, `full` keeps it.

    Parameters
    ----------
    data
        The input, (batch, channels, sizes…), of a floating point type. There are one, two or three spatial axes; with a
        channels-last `layout` it is (batch, sizes…, channels).
    kernel
        Size of the window along each spatial axis: (width,), (height, width) or (depth, height, width). It is required
        unless `global_pool` is True.
    pool_type
        max: the largest element; avg: the mean; sum: the sum; lp: the p-th root of the sum of p-th powers, with p of
        `p_value`.
    global_pool
        Whether one window covers the whole image, so that each spatial axis of the result has length 1; `kernel`,
        `stride` and `pad` are then ignored.
    cudnn_off
        Accepted for old programs and ignored.
    pooling_convention
        How many windows an axis has, with span = size + 2 * pad - kernel: valid, 1 + floor(span / stride); full, 1 +
        ceil(span / stride), where the last window may extend beyond the border; same, ceil(size / stride), for one
        spatial axis and without `pad`.
    stride
        Distance between two windows along each spatial axis; empty means 1, not the size of the window.
    pad
        Number of elements that are added at both ends of each spatial axis; empty means 0. Maxima ignore them, other
        pool types read zeros.
    p_value
        The power p of lp pooling: 1, 2 or 3. It is required for `lp` and unused otherwise.
    count_include_pad
        Whether padded elements count in the divisor of a mean; None means True.
    layout
        The order of the axes: N batch, C channels, D depth, H height, W width.
    """
    if not data.is_floating_point():
        require_floating(data, "Pooling")
    _check_type(data.shape, kernel, pool_type, p_value, global_pool)
    last = layout is not None and channels_last(layout, data.dim() - 2, "Pooling")
    if last:
        data = to_first(data)
    if global_pool:
        result = _global(data, pool_type, p_value)
    else:
        windows = windows_of(data.shape[2:], kernel, stride, pad, pooling_convention)
        result = _pool(data, windows, pool_type, p_value, count_include_pad is None or count_include_pad)
    return to_last(result) if last else result


def _check_type(shape, kernel, pool_type, p_value, global_pool):
    space = len(shape) - 2
    if not 0 < space < 4:
        raise MXNetError(
            "Pooling: Input data should be 3D in (batch, channel, x) Or 4D in (batch, channel, y, x) "
            f"Or 5D in (batch, channel, d, y, x), got shape {tuple(shape)}"
        )
    if not global_pool and len(kernel) != space:
        raise MXNetError(f"Pooling: kernel {kernel} does not fit input data of shape {tuple(shape)}")
    if pool_type == "lp" and p_value not in (1, 2, 3):
        raise MXNetError(f"Pooling: p value of {p_value} is not supported yet; p_value must be 1, 2 or 3")


def _pool(data, windows, pool_type, p_value, include_pad):
    if not data.shape[1]:  # torch refuses images without channels
        return without_gradient(lambda data: data.new_zeros((*data.shape[:2], *windows.count)), data)
    if len(windows.kernel) == 1:
        axes = ((1, *windows.sizes), (1, *windows.kernel), (1, *windows.stride), (0, *windows.pad))
        return _pool(data.unsqueeze(2), windows_of(*axes, windows.convention), pool_type, p_value, include_pad).squeeze(
            2
        )
    if pool_type == "max":
        return _max(data, windows)
    if pool_type == "avg":
        return _average(data, windows, include_pad)
    if pool_type == "sum":
        return _sum(data, windows)
    return _root(_sum(data**p_value, windows), p_value)


def _max(data, windows):
    pool, space = _MAX[len(windows.kernel)], len(windows.kernel)
    if not windows.native:
        data = F.pad(data, _padding(windows), value=torch.finfo(data.dtype).min)
        return pool(data, windows.kernel, windows.stride)
    result = nchw.max_pool(data, windows) if space == 2 else None
    if result is not None:
        return result
    result = pool(data, windows.kernel, windows.stride, windows.pad, 1, windows.convention == "full")
    return _completed(result, windows, torch.finfo(data.dtype).min, space)


class _MaxPoolRecompute(torch.autograd.Function):
    """torch's two-dimensional max pooling; inputs that can be recomputed are not saved for the gradient."""

    @staticmethod
    def forward(ctx: Any, data, *window):
        result, indices = torch.ops.aten.max_pool2d_with_indices(data, *window)
        ctx.window = window
        save_or_recompute(ctx, data, indices)
        return result

    @staticmethod
    def backward(ctx: Any, *heads):
        data, indices = saved(ctx)
        gradient = torch.ops.aten.max_pool2d_with_indices_backward(heads[0], data, *ctx.window, indices)
        return gradient, *[None] * len(ctx.window)


def max_pooling_recompute(data, *, kernel=(), stride=(), pad=(), pooling_convention="valid", layout=None, **attrs):
    """The operator Pooling with `pool_type="max"`; an input that can be recomputed is not saved for the gradient."""
    given = {"kernel": kernel, "stride": stride, "pad": pad, "pooling_convention": pooling_convention, "layout": layout}
    if can_recompute(data) and len(kernel) == 2 and not attrs.get("global_pool") and layout in (None, "NCHW"):
        windows = windows_of(data.shape[2:], kernel, stride, pad, pooling_convention)
        if windows.native:
            window = windows.kernel, windows.stride, windows.pad, (1, 1), pooling_convention == "full"
            return _completed(_MaxPoolRecompute.apply(data, *window), windows, torch.finfo(data.dtype).min, 2)
    return pooling(data, **given, **attrs)


def _average(data, windows, include_pad):
    def plain(data):
        return _plain_average(data, windows, include_pad)

    result = nchw.average(data, windows, include_pad, plain)
    return plain(data) if result is None else result


def _plain_average(data, windows, include_pad):
    if not windows.native:
        return _plain_sum(data, windows) / _window_sizes(data, windows, include_pad)
    pool, full = _AVERAGE[len(windows.kernel)], windows.convention == "full"
    result = pool(data, windows.kernel, windows.stride, windows.pad, full, include_pad)
    return _completed(result, windows, 0, len(windows.kernel))


def _sum(data, windows):
    result = nchw.average(data, windows, None, lambda data: _plain_sum(data, windows))
    return _plain_sum(data, windows) if result is None else result


def _plain_sum(data, windows):
    pool, full = _AVERAGE[len(windows.kernel)], windows.convention == "full"
    if not windows.native:
        data = F.pad(data, _padding(windows))
        return pool(data, windows.kernel, windows.stride, divisor_override=1)
    result = pool(data, windows.kernel, windows.stride, windows.pad, full, divisor_override=1)
    return _completed(result, windows, 0, len(windows.kernel))


def _completed(result, windows, value, space):
    """torch drops a last window that lies completely in the padding; MXNet keeps it, empty."""
    if windows.convention != "full":
        return result
    missing = [c - n for c, n in zip(windows.count, result.shape[-space:], strict=True)]
    return F.pad(result, [x for m in reversed(missing) for x in (0, m)], value=value) if any(missing) else result


def _padding(windows):
    pairs = [(p, p + o) for p, o in zip(windows.pad, windows.overhang(), strict=True)]
    return [x for pair in reversed(pairs) for x in pair]


def _window_sizes(data, windows, include_pad):
    """The number of elements of each window: padding counts if `include_pad`, what lies beyond it never does."""
    ones = torch.ones((1, 1, *windows.sizes), dtype=data.dtype, device=data.device)
    if include_pad:
        ones = F.pad(ones, [x for p in reversed(windows.pad) for x in (p, p)], value=1)
        over = [x for o in reversed(windows.overhang()) for x in (0, o)]
    else:
        over = _padding(windows)
    pool = _AVERAGE[len(windows.kernel)]
    return pool(F.pad(ones, over), windows.kernel, windows.stride, divisor_override=1).clamp_min(1)


def _root(total, p):
    """The p-th root, also of negative sums; the gradient is zero where the sum is zero."""
    if p == 1:
        return total
    if p == 2:
        return with_gradient(torch.sqrt, _root_backward, total)
    return _plain_root(total, p)


def _root_backward(inputs, outputs, heads):
    if torch.is_grad_enabled():  # a gradient to be differentiated again
        return torch.autograd.grad(_plain_root(inputs[0], 2), inputs[0], heads[0], create_graph=True)
    return (heads[0] * 0.5).div_(outputs[0]).masked_fill_(inputs[0] == 0, 0)


def _plain_root(total, p):
    zero = total == 0
    base = torch.where(zero, 1, total)
    return torch.where(zero, 0, base.abs() ** (1 / p) * base.sign())


def _global(data, pool_type, p_value):
    axes = list(range(2, data.dim()))
    if pool_type == "avg":
        return data.mean(axes, keepdim=True)
    if pool_type == "sum":
        return data.sum(axes, keepdim=True)
    if pool_type == "lp":
        return _root((data**p_value).sum(axes, keepdim=True), p_value)
    if not (data.requires_grad and torch.is_grad_enabled()):
        return data.amax(axes, keepdim=True)
    if data.dim() == 3:
        return F.adaptive_max_pool1d(data, 1)
    return _GLOBAL_MAX[data.dim() - 2](data, 1)


@op("Pooling_v1")
def pooling_v1(
    data,
    *,
    kernel: Sizes = (),
    pool_type: Literal["avg", "max", "sum"] = "max",
    global_pool: bool = False,
    pooling_convention: Literal["full", "valid"] = "valid",
    stride: Sizes = (),
    pad: tuple = (),
):
    """The older Pooling: padding counts as zeros in the maximum and the average; all tied maxima get the gradient."""
    space = data.dim() - 2
    if global_pool:
        kernel, stride, pad = tuple(data.shape[2:]), (), ()
    _check_type(data.shape, kernel, pool_type, None, global_pool)
    windows = Windows(data.shape[2:], kernel, stride, pad, pooling_convention)
    over = [x for o in reversed(windows.overhang()) for x in (0, o)]
    data = F.pad(data, [x for p in reversed(windows.pad) for x in (p, p)]) if any(windows.pad) else data
    if any(over):
        data = F.pad(data, over, value=-torch.inf if pool_type == "max" else 0)
    for axis, (k, s) in enumerate(zip(windows.kernel, windows.stride, strict=True), 2):
        data = data.unfold(axis, k, s)
    patches = data.flatten(-space)
    if pool_type == "max":
        return with_gradient(_window_max, _tied_gradient, patches)
    return patches.mean(-1) if pool_type == "avg" else patches.sum(-1)


def _window_max(patches):
    return patches.amax(-1)


def _tied_gradient(inputs, outputs, heads):
    return (inputs[0] == outputs[0].unsqueeze(-1)) * heads[0].unsqueeze(-1)
