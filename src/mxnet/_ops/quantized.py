"""Layers on 8-bit integers: what a quantized network computes between `quantize` and `dequantize`.

Integers travel with the range of reals they stand for, one array of one element for each end. Sums of products are
exact: 32-bit integers, whatever the processor does with 16-bit intermediate sums. Where MXNet's CPU kernels lose
data (a bias added without its scale, the range of an unsigned input taken for a signed one, 16-bit sums that
overflow, unsigned values handed on as signed), these operators compute what MXNet documents.
"""

from collections.abc import Callable
from functools import reduce
from typing import Literal

import torch
from torch import Tensor

from .._core.attrs import Dtype
from .._core.errors import MXNetError
from .convolution import Layout, Tuning, convolution
from .dense import bias_unless_no_bias, fully_connected
from .dtypes import NAME
from .filling import assign, size
from .indexing import embedding
from .infer import infer_shape
from .layout import channels_last, shape_first, shape_last
from .pooling import pooling
from .quantization import HALF, INT32, reach, require_float32, rounded, scalar
from .recurrent import parameter_count, rnn
from .registry import Attrs, find, op

OUTPUTS = ("output", "min_output", "max_output")
EXACT = 1 << 24  # whole numbers up to here are exact in float32
Shapes = list


def _eight_bits(operator: str, **inputs: Tensor | None) -> None:
    for name, tensor in inputs.items():
        if tensor is not None and tensor.dtype not in (torch.int8, torch.uint8):
            raise MXNetError(f"{operator} only supports int8 and uint8 as input type, got {NAME[tensor.dtype]} {name}")


def _signed(operator: str, **inputs: Tensor | None) -> None:
    for name, tensor in inputs.items():
        if tensor is not None and tensor.dtype != torch.int8:
            raise MXNetError(f"{operator}: Type inconsistent, Provided = {NAME[tensor.dtype]}, "
                             f"inferred type = int8: input {name}; quantize it with out_type='int8'")  # fmt: skip


def _scale(tensor: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Steps of the integer type for one real unit."""
    return HALF[NAME[tensor.dtype]] / reach(low, high)


def _product_range(data: Tensor, ends: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
    """The reals that the ends of the 32-bit sums stand for; `ends` are those of the data and of the weight.

    Ranges have no gradient.
    """
    low_data, high_data, low_weight, high_weight = (end.detach() for end in ends)
    steps = 255.0 if data.dtype == torch.uint8 else 127.0
    top = reach(low_data, high_data) / 127.0 * (reach(low_weight, high_weight).max() / steps) * INT32
    return -top.reshape(1), top.reshape(1)


def _one_scale(sums: Tensor, ends: tuple[Tensor, ...], axis: int) -> Tensor:
    """Sums in the steps of the widest channel, where each channel of the weight came with a range of its own."""
    reaches = reach(*ends[2:4])
    if reaches.numel() == 1:
        return sums
    shape = [-1 if i == axis % sums.dim() else 1 for i in range(sums.dim())]
    return (sums * (reaches / reaches.max()).double().reshape(shape)).round().to(torch.int32)


def bias_in_sums(data: Tensor, bias: Tensor, ends: tuple[Tensor, ...]) -> Tensor:
    """The bias in steps of the sums of products, those of the widest channel."""
    low_data, high_data, low_weight, high_weight, low_bias, high_bias = ends
    scales = _scale(data, low_data, high_data) * (HALF["int8"] / reach(low_weight, high_weight).max())
    return (bias * (scales * reach(low_bias, high_bias) / HALF["int8"])).to(torch.int32)


def _separated(attrs: Attrs, tensors: tuple[Tensor, ...]) -> tuple[Tensor | None, tuple[Tensor, ...]]:
    """The bias, if there is one, and the ends of the ranges."""
    bias, ends = (None, tensors) if attrs["no_bias"] else (tensors[0], tensors[1:])
    require_float32(*ends)
    return bias, ends


def _whole_sums(compute, data: Tensor, weight: Tensor, axes: tuple[int, int], area: int) -> Tensor:
    """`compute(data, weight)` in whole numbers: in floats, over as many channels at a time as stay exact."""
    worst = (255 if data.dtype == torch.uint8 else 128) * 128 * area
    channels, step = weight.shape[axes[1]], EXACT // worst
    if step == 0:
        return compute(data.double(), weight.double()).to(torch.int32)
    if channels <= step:
        return compute(data.float(), weight.float()).to(torch.int32)
    parts = zip(data.split(step, axes[0]), weight.split(step, axes[1]), strict=True)
    total = None
    for some_data, some_weight in parts:
        part = compute(some_data.float(), some_weight.float()).to(torch.int32)
        total = part if total is None else total.add_(part)
    assert total is not None
    return total


def _with_ranges(attrs: Attrs) -> tuple[str, ...]:
    names = bias_unless_no_bias(attrs)
    return (*names, *(f"{end}_{name}" for name in names for end in ("min", "max")))


def _ranges(shapes: Shapes, first: int) -> Shapes:
    return [*shapes[:first], *[(1,)] * (len(shapes) - first)]


def _layer_ranges(attrs: Attrs, shapes: Shapes) -> Shapes:
    """Ranges of one element each, but the weight's may have one for each channel."""
    own = _own_inputs(attrs)
    filled = _ranges(shapes, own)
    ends = [shapes[i] or (1,) for i in (own + 2, own + 3)]
    return [*filled[: own + 2], *ends, *filled[own + 4 :]]


def _layer_types(attrs: Attrs, dtypes: list[str | None]) -> list[str | None]:
    own = _own_inputs(attrs)
    return [dtypes[0], *["int8"] * (own - 1), *["float32"] * (len(dtypes) - own)]


def _data_and_ranges(attrs: Attrs, dtypes: list[str | None]) -> list[str | None]:
    return [dtypes[0], *["float32"] * (len(dtypes) - 1)]


def _fill_data(attrs: Attrs, shapes: Shapes) -> Shapes:
    return _ranges(shapes, 1)


def _fill_pair(attrs: Attrs, shapes: Shapes) -> Shapes:
    both = shapes[0] or shapes[1]
    return _ranges([both, both, *shapes[2:]], 2)


def _like_data(attrs: Attrs, shapes: Shapes) -> Shapes:
    return [shapes[0], (1,), (1,)]


def _like_reals(name: str, count: Callable[[Attrs], int]) -> Callable[[Attrs, Shapes], Shapes]:
    """The rule of an operator whose output has the shape that the one on reals gives its first inputs."""

    def rule(attrs: Attrs, shapes: Shapes) -> Shapes:
        real = find(name)
        own = {key: value for key, value in attrs.items() if key in real.attrs}
        return [*infer_shape(real, own, shapes[: count(attrs)])[1], (1,), (1,)]

    return rule


def _own_inputs(attrs: Attrs) -> int:
    return 2 if attrs["no_bias"] else 3


def _fill_convolution(attrs: Attrs, shapes: Shapes) -> Shapes:
    if shapes[0]:
        last = channels_last(attrs["layout"], len(attrs["kernel"]), "quantized_conv")
        channels = shape_first(shapes[0], last)[1]
        weight = (attrs["num_filter"], channels // attrs["num_group"], *attrs["kernel"])
        assign(shapes, 1, shape_last(weight, last), "quantized_conv", "weight")
        if not attrs["no_bias"]:
            assign(shapes, 2, (attrs["num_filter"],), "quantized_conv", "bias")
    return _layer_ranges(attrs, shapes)


def _fill_dense(attrs: Attrs, shapes: Shapes) -> Shapes:
    if shapes[0]:
        features = size(shapes[0][1:]) if attrs["flatten"] else shapes[0][-1]
        assign(shapes, 1, (attrs["num_hidden"], features), "quantized_fully_connected", "weight")
        if not attrs["no_bias"]:
            assign(shapes, 2, (attrs["num_hidden"],), "quantized_fully_connected", "bias")
    return _layer_ranges(attrs, shapes)


@op(
    "_contrib_quantized_conv",
    inputs=_with_ranges,
    outputs=OUTPUTS,
    fill=_fill_convolution,
    fill_types=_layer_types,
    shape=_like_reals("Convolution", _own_inputs),
    dtype="any",
    differentiable=False,
)
def quantized_conv(
    data,
    weight,
    *rest,
    kernel: tuple,
    stride: tuple = (),
    dilate: tuple = (),
    pad: tuple = (),
    num_filter: int,
    num_group: int = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    cudnn_tune: Tuning | None = None,
    cudnn_off: bool = False,
    layout: Layout | None = None,
):
    """Convolution of 8-bit data with an 8-bit weight: 32-bit sums, and the range that their type stands for."""
    bias, ends = _separated({"no_bias": no_bias}, rest)
    _eight_bits("quantized_conv", data=data)
    _signed("quantized_conv", weight=weight, bias=bias)
    last = layout is not None and channels_last(layout, len(kernel), "quantized_conv")
    axis = data.dim() - 1 if last else 1

    def compute(some_data: Tensor, some_weight: Tensor) -> Tensor:
        return convolution(some_data, some_weight, kernel=kernel, stride=stride, dilate=dilate, pad=pad,
                           num_filter=num_filter, num_group=num_group, layout=layout)  # fmt: skip

    if num_group == 1:
        sums = _whole_sums(compute, data, weight, (axis, axis), size(kernel))
    else:  # the channels of a group lie together, so they cannot be taken apart by a slice
        kind = torch.float32 if size(weight.shape[1:]) * 255 * 128 <= EXACT else torch.float64
        sums = compute(data.to(kind), weight.to(kind)).to(torch.int32)
    sums = _one_scale(sums, ends, axis)
    if bias is not None:
        shape = (-1,) if last else (-1, *[1] * len(kernel))
        sums = sums + bias_in_sums(data, bias, ends).reshape(shape)
    return sums, *_product_range(data, ends[:4])


@op(
    "_contrib_quantized_fully_connected",
    inputs=_with_ranges,
    outputs=OUTPUTS,
    fill=_fill_dense,
    fill_types=_layer_types,
    shape=_like_reals("FullyConnected", _own_inputs),
    dtype="any",
    differentiable=False,
)
def quantized_fully_connected(data, weight, *rest, num_hidden: int, no_bias: bool = False, flatten: bool = True):
    """Rows of 8-bit data times an 8-bit weight: 32-bit sums, and the range that their type stands for."""
    bias, ends = _separated({"no_bias": no_bias}, rest)
    _eight_bits("quantized_fully_connected", data=data)
    _signed("quantized_fully_connected", weight=weight, bias=bias)
    rows = data.reshape(data.shape[0], -1) if flatten else data

    def compute(some_data: Tensor, some_weight: Tensor) -> Tensor:
        return fully_connected(some_data, some_weight, num_hidden=num_hidden, no_bias=True, flatten=False)

    sums = _one_scale(_whole_sums(compute, rows, weight, (rows.dim() - 1, 1), 1), ends, -1)
    if bias is not None:
        sums = sums + bias_in_sums(data, bias, ends)
    return sums, *_product_range(data, ends[:4])


def _handed_on(*ends: Tensor) -> tuple[Tensor, ...]:
    """The ends of a range as an output: copies, without a gradient."""
    return tuple(end.detach().clone() for end in ends)


@op("_contrib_quantized_act", outputs=OUTPUTS, fill=_fill_data, fill_types=_data_and_ranges, shape=_like_data,
    dtype="any", differentiable=False)  # fmt: skip
def quantized_act(data, min_data, max_data, *, act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"]):
    """Rectified 8-bit integers; the range stays."""
    if act_type != "relu":
        raise MXNetError(f"_contrib_quantized_act only supports act_type=relu for now, got {act_type}")
    _eight_bits("_contrib_quantized_act", data=data)
    return data.clamp_min(0), *_handed_on(min_data, max_data)


@op("_contrib_quantized_flatten", outputs=OUTPUTS, fill=_fill_data, fill_types=_data_and_ranges,
    shape=_like_reals("Flatten", lambda attrs: 1), dtype="any", differentiable=False)  # fmt: skip
def quantized_flatten(data, min_data, max_data):
    """One row of each element of the first axis; the range stays."""
    return data.reshape(data.shape[0], -1).clone(), *_handed_on(min_data, max_data)


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


@op("_contrib_quantized_pooling", outputs=OUTPUTS, fill=_fill_data, fill_types=_data_and_ranges,
    shape=_like_reals("Pooling", lambda attrs: 1), dtype="any", differentiable=False)  # fmt: skip
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
    _eight_bits("quantized_pooling", data=data)
    plain = pool_type == "max" and not global_pool and layout in (None, "NCHW") and pooling_convention == "valid"
    if plain and data.dim() == 4 and not any(2 * p > k for p, k in zip(pad, kernel, strict=False)):
        return _largest(data, kernel, stride or (1, 1), pad or (0, 0)), *_handed_on(min_data, max_data)
    result = pooling(data.float(), kernel=kernel, pool_type=pool_type, global_pool=global_pool, stride=stride, pad=pad,
                     pooling_convention=pooling_convention, count_include_pad=count_include_pad,
                     layout=layout)  # fmt: skip
    return rounded(result, NAME[data.dtype]), *_handed_on(min_data, max_data)


def _concat_names(attrs: Attrs) -> tuple[str, ...]:
    names = [f"arg{i}" for i in range(attrs["num_args"])]
    return (*names, *(f"{name}_{end}" for name in names for end in ("min", "max")))


def _concat_types(attrs: Attrs, dtypes: list[str | None]) -> list[str | None]:
    return [*dtypes[: attrs["num_args"]], *["float32"] * (2 * attrs["num_args"])]


def _fill_concat(attrs: Attrs, shapes: Shapes) -> Shapes:
    return _ranges(shapes, attrs["num_args"])


@op("_contrib_quantized_concat", inputs=_concat_names, outputs=OUTPUTS, fill=_fill_concat, fill_types=_concat_types,
    shape=_like_reals("Concat", lambda attrs: attrs["num_args"]), dtype="any", differentiable=False)  # fmt: skip
def quantized_concat(*data, num_args: int, dim: int = 1):
    """Arrays joined along an axis, in the widest of their ranges; unsigned only if all of them are."""
    arrays, lows, highs = data[:num_args], data[num_args::2], data[num_args + 1 :: 2]
    _eight_bits("quantized_concat", **{f"arg{i}": array for i, array in enumerate(arrays)})
    kind = "uint8" if all(array.dtype == torch.uint8 for array in arrays) else "int8"
    low = torch.cat(_handed_on(*lows)).min().clamp_max(0).reshape(1)
    high = torch.cat(_handed_on(*highs)).max().clamp_min(0).reshape(1)
    scale = HALF[kind] / reach(low, high)
    ranges = zip(arrays, lows, highs, strict=True)
    return torch.cat([rounded(a * (scale / _scale(a, *ends)), kind) for a, *ends in ranges], dim), low, high


def _both_signed(attrs: Attrs, dtypes: list[str | None]) -> list[str | None]:
    return [*dtypes[:2], *["float32"] * 4]


@op("_contrib_quantized_elemwise_add", outputs=OUTPUTS, fill=_fill_pair, fill_types=_both_signed, shape=_like_data,
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
    _eight_bits("quantized_elemwise_add", lhs=lhs, rhs=rhs)
    if min_calib_range is None or max_calib_range is None:
        ends = reach(lhs_min, lhs_max), reach(rhs_min, rhs_max)
        top = ends[0] + ends[1]
        units = [end * INT32 / (top * HALF[NAME[x.dtype]]) for end, x in zip(ends, (lhs, rhs), strict=True)]
        sums = lhs * units[0] + rhs * units[1]
        return rounded(sums.double().clamp(-INT32, INT32), "int32"), -top, top
    scales = _scale(lhs, lhs_min, lhs_max), _scale(rhs, rhs_min, rhs_max)
    kind = NAME[lhs.dtype] if lhs.dtype == rhs.dtype else "int8"
    unit = HALF[kind] / max(abs(min_calib_range), abs(max_calib_range))
    parts = [x * (unit / scale) for x, scale in zip((lhs, rhs), scales, strict=True)]
    if lhs.dtype != rhs.dtype:  # MXNet rounds the unsigned one to a signed one first
        parts = [rounded(p, kind) if x.dtype == torch.uint8 else p for p, x in zip(parts, (lhs, rhs), strict=True)]
    return rounded(parts[0] + parts[1], kind), scalar(min_calib_range, lhs), scalar(max_calib_range, lhs)


def _product_shapes(attrs: Attrs, shapes: Shapes) -> Shapes:
    return [shapes[0]] if attrs["enable_float_output"] else _like_data(attrs, shapes)


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
    _signed("quantized_elemwise_mul", lhs=lhs, rhs=rhs)
    if lhs.shape != rhs.shape:
        raise MXNetError(f"Currently, quantized elemwise multiply doesn't support broadcast: "
                         f"{tuple(lhs.shape)} vs. {tuple(rhs.shape)}")  # fmt: skip
    products = lhs.to(torch.int32) * rhs
    scales = _scale(lhs, lhs_min, lhs_max) * _scale(rhs, rhs_min, rhs_max)
    if enable_float_output:
        return products / scales
    if min_calib_range is None or max_calib_range is None:
        return products, *_product_range(lhs, (lhs_min, lhs_max, rhs_min, rhs_max))
    unit = HALF["int8"] / max(abs(min_calib_range), abs(max_calib_range))
    steps = (products * (unit / scales)).trunc().clamp(-128, 127).to(torch.int8)
    return steps, scalar(min_calib_range, lhs), scalar(max_calib_range, lhs)


def _fill_norm(attrs: Attrs, shapes: Shapes) -> Shapes:
    if shapes[0]:
        channels = (shapes[0][attrs["axis"]],)
        for i, name in enumerate(("gamma", "beta", "moving_mean", "moving_var"), 1):
            assign(shapes, i, channels, "quantized_batch_norm", name)
    return _ranges(shapes, 5)


@op("_contrib_quantized_batch_norm", outputs=OUTPUTS, aux=("moving_mean", "moving_var"), fill=_fill_norm,
    fill_types=_data_and_ranges, shape=_like_data, dtype="any", differentiable=False)  # fmt: skip
def quantized_batch_norm(
    data,
    gamma,
    beta,
    moving_mean,
    moving_var,
    min_data,
    max_data,
    *,
    eps: float = 0.0010000000474974513,
    momentum: float = 0.899999976,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
):
    """Batch norm by the moving statistics, from 8 bits to int8 of the calibrated range; `gamma` counts as it is."""
    _eight_bits("quantized_batch_norm", data=data)
    if min_calib_range is None or max_calib_range is None:
        raise MXNetError(
            "min_calib_range or max_calib_range is not available. Quantized BN currently don't support "
            "calib_mode=None: calibrate with calib_mode='naive' or 'entropy', or exclude this layer"
        )
    steps = data.float()
    if data.dtype == torch.uint8:
        steps = rounded(steps * (HALF["int8"] / HALF["uint8"]), "int8").float()
    top = max(abs(min_calib_range), abs(max_calib_range))
    slope = gamma / torch.sqrt(moving_var + eps)
    # MXNet leaves the rest to a kernel that divides by the deviation of a variance of one.
    shape = [1] * data.dim()
    shape[axis] = -1
    weight = (slope * reach(min_data, max_data) / top / (1 + eps) ** 0.5).reshape(shape)
    shift = ((beta - moving_mean * slope) * HALF["int8"] / top).reshape(shape)
    result = rounded(steps * weight + shift, "int8")
    return result, scalar(min_calib_range, data), scalar(max_calib_range, data)


def _fill_rows(attrs: Attrs, shapes: Shapes) -> Shapes:
    return [shapes[0], (attrs["input_dim"], attrs["output_dim"]), (1,), (1,)]


def _row_types(attrs: Attrs, dtypes: list[str | None]) -> list[str | None]:
    return [dtypes[0], "int8", "float32", "float32"]


@op("_contrib_quantized_embedding", outputs=OUTPUTS, fill=_fill_rows, fill_types=_row_types,
    shape=_like_reals("Embedding", lambda attrs: 2), dtype="any", differentiable=False)  # fmt: skip
def quantized_embedding(
    data,
    weight,
    min_weight,
    max_weight,
    *,
    input_dim: int,
    output_dim: int,
    dtype: Dtype = "float32",
    sparse_grad: bool = False,
):
    """Rows of an 8-bit weight; the range stays."""
    _signed("quantized_embedding", weight=weight)
    rows = embedding(data, weight, input_dim=input_dim, output_dim=output_dim)
    return rows, *_handed_on(min_weight, max_weight)


def _recurrent_names(attrs: Attrs) -> tuple[str, ...]:
    if attrs["mode"] != "lstm":
        raise MXNetError(
            f"Quantized recurrent neural network only supports LSTM operator on CPU, got mode={attrs['mode']}"
        )
    return ("data", "parameters", "state", "state_cell", "data_scale", "data_shift")


def _recurrent_outputs(attrs: Attrs) -> tuple[str, ...]:
    return ("output", "state_output", "statecell_ouput") if attrs["state_outputs"] else ("output",)  # MXNet's spelling


def _fill_recurrent(attrs: Attrs, shapes: Shapes) -> Shapes:
    if shapes[0]:
        rows = attrs["num_layers"] * (2 if attrs["bidirectional"] else 1)
        assign(shapes, 1, (parameter_count(attrs, shapes[0][2]),), "quantized_rnn", "parameters")
        for i, name in ((2, "state"), (3, "state_cell")):
            assign(shapes, i, (rows, shapes[0][1], attrs["state_size"]), "quantized_rnn", name)
    return _ranges(shapes, 4)


def _recurrent_shapes(attrs: Attrs, shapes: Shapes) -> Shapes:
    return _like_reals("RNN", lambda attrs: 4)(attrs, shapes)[:-2]


@op("_contrib_quantized_rnn", inputs=_recurrent_names, outputs=_recurrent_outputs, fill=_fill_recurrent,
    fill_types=_data_and_ranges, shape=_recurrent_shapes, dtype="any", differentiable=False)  # fmt: skip
def quantized_rnn(
    data,
    parameters,
    state,
    state_cell,
    data_scale,
    data_shift,
    *,
    state_size: int,
    num_layers: int,
    bidirectional: bool = False,
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"],
    p: float = 0.0,
    state_outputs: bool = False,
    projection_size: int | None = None,
    lstm_state_clip_min: float | None = None,
    lstm_state_clip_max: float | None = None,
    lstm_state_clip_nan: bool = False,
    use_sequence_length: bool = False,
):
    """An LSTM over uint8 data of a scale and a shift, its parameters taken to 8 bits; states and output are reals."""
    if data.dtype != torch.uint8:
        raise MXNetError(f"Quantized RNN operator only supports uint8 input, while {NAME[data.dtype]} is given.")
    step = parameters.abs().max() / 127.0
    steps = (parameters / torch.where(step > 0, step, 1)).round() * step
    return rnn((data.float() - data_shift) / data_scale, steps, state, state_cell, state_size=state_size,
               num_layers=num_layers, bidirectional=bidirectional, mode=mode, state_outputs=state_outputs,
               projection_size=projection_size)  # fmt: skip
