"""Operators on 8-bit integers that have no parameters: activations, pooling, joining, sums, products."""

from functools import reduce
from typing import Literal

import torch
from torch import Tensor

from ..._core.errors import MXNetError
from ..nn.pooling import pooling
from ..registry.registry import Attrs, op
from ..registry.torch_dtypes import NAME
from .quantize import HALF, INT32, reach, rounded, scalar
from .ranges import (
    OUTPUTS,
    Shapes,
    check_eight_bits,
    check_signed,
    data_and_ranges,
    handed_on,
    like_data,
    like_reals,
    one_each,
    product_range,
    units_of,
)


def _fill_data(attrs: Attrs, shapes: Shapes) -> Shapes:
    return one_each(shapes, 1)


def _fill_pair(attrs: Attrs, shapes: Shapes) -> Shapes:
    both = shapes[0] or shapes[1]
    return one_each([both, both, *shapes[2:]], 2)


@op("_contrib_quantized_act", outputs=OUTPUTS, fill=_fill_data, fill_types=data_and_ranges, shape=like_data,
    dtype="any", differentiable=False)  # fmt: skip
def quantized_act(data, min_data, max_data, *, act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"]):
    """Rectified 8-bit integers; the range stays."""
    if act_type != "relu":
        raise MXNetError(f"_contrib_quantized_act only supports act_type=relu for now, got {act_type}")
    check_eight_bits("_contrib_quantized_act", data=data)
    return data.clamp_min(0), *handed_on(min_data, max_data)


@op("_contrib_quantized_flatten", outputs=OUTPUTS, fill=_fill_data, fill_types=data_and_ranges,
    shape=like_reals("Flatten", lambda attrs: 1), dtype="any", differentiable=False)  # fmt: skip
def quantized_flatten(data, min_data, max_data):
    """One row of each element of the first axis; the range stays."""
    return data.reshape(data.shape[0], -1).clone(), *handed_on(min_data, max_data)


def _largest(data: Tensor, kernel: tuple[int, ...], stride: tuple[int, ...], pad: tuple[int, ...]) -> Tensor:
    """The maximum of windows, an axis at a time: whole vectors of channels, where torch's kernel takes single bytes."""
    data = data.contiguous(memory_format=torch.channels_last)
    if any(pad):
        margins = (pad[1], pad[1], pad[0], pad[0])
        data = torch.constant_pad_nd(data, margins, torch.iinfo(data.dtype).min)
    for axis, width, step in ((2, kernel[0], stride[0]), (3, kernel[1], stride[1])):
        starts = data.shape[axis] - width + 1
        shifted = [data.narrow(axis, i, starts) for i in range(width)]
        data = reduce(torch.maximum, [x[:, :, ::step] if axis == 2 else x[..., ::step] for x in shifted])
    return data


@op("_contrib_quantized_pooling", outputs=OUTPUTS, fill=_fill_data, fill_types=data_and_ranges,
    shape=like_reals("Pooling", lambda attrs: 1), dtype="any", differentiable=False)  # fmt: skip
def quantized_pooling(
    data,
    min_data,
    max_data,
    *,
    kernel: tuple = (),
    pool_type: Literal["avg", "lp", "max", "sum"] = "max",
    global_pool: bool = False,
    cudnn_off: bool = False,
    pooling_convention: Literal["full", "same", "valid"] = "valid",
    stride: tuple = (),
    pad: tuple = (),
    p_value: int | None = None,
    count_include_pad: bool | None = None,
    layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"] | None = None,
):
    """The maximum or the rounded mean of windows of 8-bit integers; the range stays."""
    if pool_type not in ("max", "avg"):
        raise MXNetError(f"QuantizedPoolingOp only supports pool_type=max/avg for now, got {pool_type}")
    check_eight_bits("quantized_pooling", data=data)
    plain = pool_type == "max" and not global_pool and layout in (None, "NCHW") and pooling_convention == "valid"
    if plain and data.dim() == 4 and not any(2 * p > k for p, k in zip(pad, kernel, strict=False)):
        return _largest(data, kernel, stride or (1, 1), pad or (0, 0)), *handed_on(min_data, max_data)
    result = pooling(data.float(), kernel=kernel, pool_type=pool_type, global_pool=global_pool, stride=stride, pad=pad,
                     pooling_convention=pooling_convention, count_include_pad=count_include_pad,
                     layout=layout)  # fmt: skip
    return rounded(result, NAME[data.dtype]), *handed_on(min_data, max_data)


def _concat_names(attrs: Attrs) -> tuple[str, ...]:
    names = [f"arg{i}" for i in range(attrs["num_args"])]
    return (*names, *(f"{name}_{end}" for name in names for end in ("min", "max")))


def _concat_types(attrs: Attrs, dtypes: list[str | None]) -> list[str | None]:
    return [*dtypes[: attrs["num_args"]], *["float32"] * (2 * attrs["num_args"])]


def _fill_concat(attrs: Attrs, shapes: Shapes) -> Shapes:
    return one_each(shapes, attrs["num_args"])


@op("_contrib_quantized_concat", inputs=_concat_names, outputs=OUTPUTS, fill=_fill_concat, fill_types=_concat_types,
    shape=like_reals("Concat", lambda attrs: attrs["num_args"]), dtype="any", differentiable=False)  # fmt: skip
def quantized_concat(*data, num_args: int, dim: int = 1):
    """Arrays joined along an axis, in the widest of their ranges; unsigned only if all of them are."""
    arrays, lows, highs = data[:num_args], data[num_args::2], data[num_args + 1 :: 2]
    check_eight_bits("quantized_concat", **{f"arg{i}": array for i, array in enumerate(arrays)})
    kind = "uint8" if all(array.dtype == torch.uint8 for array in arrays) else "int8"
    low = torch.cat(handed_on(*lows)).min().clamp_max(0).reshape(1)
    high = torch.cat(handed_on(*highs)).max().clamp_min(0).reshape(1)
    scale = HALF[kind] / reach(low, high)
    ranges = zip(arrays, lows, highs, strict=True)
    return torch.cat([rounded(a * (scale / units_of(a, *ends)), kind) for a, *ends in ranges], dim), low, high


def _both_signed(attrs: Attrs, dtypes: list[str | None]) -> list[str | None]:
    return [*dtypes[:2], *["float32"] * 4]


@op("_contrib_quantized_elemwise_add", outputs=OUTPUTS, fill=_fill_pair, fill_types=_both_signed, shape=like_data,
    dtype="any", differentiable=False)  # fmt: skip
def quantized_elemwise_add(
    lhs,
    rhs,
    lhs_min,
    lhs_max,
    rhs_min,
    rhs_max,
    *,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
):
    """The sum of 8-bit arrays: 8 bits of a calibrated range, else 32 bits that span both ranges."""
    check_eight_bits("quantized_elemwise_add", lhs=lhs, rhs=rhs)
    if min_calib_range is None or max_calib_range is None:
        ends = reach(lhs_min, lhs_max), reach(rhs_min, rhs_max)
        top = ends[0] + ends[1]
        units = [end * INT32 / (top * HALF[NAME[x.dtype]]) for end, x in zip(ends, (lhs, rhs), strict=True)]
        sums = lhs * units[0] + rhs * units[1]
        return rounded(sums.double().clamp(-INT32, INT32), "int32"), -top, top
    scales = units_of(lhs, lhs_min, lhs_max), units_of(rhs, rhs_min, rhs_max)
    kind = NAME[lhs.dtype] if lhs.dtype == rhs.dtype else "int8"
    unit = HALF[kind] / max(abs(min_calib_range), abs(max_calib_range))
    parts = [x * (unit / scale) for x, scale in zip((lhs, rhs), scales, strict=True)]
    if lhs.dtype != rhs.dtype:  # MXNet rounds the unsigned one to a signed one first
        parts = [rounded(p, kind) if x.dtype == torch.uint8 else p for p, x in zip(parts, (lhs, rhs), strict=True)]
    return rounded(parts[0] + parts[1], kind), scalar(min_calib_range, lhs), scalar(max_calib_range, lhs)


def _product_shapes(attrs: Attrs, shapes: Shapes) -> Shapes:
    return [shapes[0]] if attrs["enable_float_output"] else like_data(attrs, shapes)


def _product_outputs(attrs: Attrs) -> tuple[str, ...]:
    return ("output",) if attrs["enable_float_output"] else OUTPUTS


@op("_contrib_quantized_elemwise_mul", outputs=_product_outputs, fill=_fill_pair, fill_types=_both_signed,
    shape=_product_shapes, dtype="any", differentiable=False)  # fmt: skip
def quantized_elemwise_mul(
    lhs,
    rhs,
    lhs_min,
    lhs_max,
    rhs_min,
    rhs_max,
    *,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    enable_float_output: bool = False,
):
    """The product of int8 arrays: reals, 8 bits of a calibrated range, or the 32-bit products."""
    check_signed("quantized_elemwise_mul", lhs=lhs, rhs=rhs)
    if lhs.shape != rhs.shape:
        raise MXNetError(f"Currently, quantized elemwise multiply doesn't support broadcast: "
                         f"{tuple(lhs.shape)} vs. {tuple(rhs.shape)}")  # fmt: skip
    products = lhs.to(torch.int32) * rhs
    scales = units_of(lhs, lhs_min, lhs_max) * units_of(rhs, rhs_min, rhs_max)
    if enable_float_output:
        return products / scales
    if min_calib_range is None or max_calib_range is None:
        return products, *product_range(lhs, (lhs_min, lhs_max, rhs_min, rhs_max))
    unit = HALF["int8"] / max(abs(min_calib_range), abs(max_calib_range))
    steps = (products * (unit / scales)).trunc().clamp(-128, 127).to(torch.int8)
    return steps, scalar(min_calib_range, lhs), scalar(max_calib_range, lhs)
