"""Layers on 8-bit integers: what a quantized network computes between `quantize` and `dequantize`.

Integers travel with the range of reals they stand for, one array of one element for each end. Sums of products are
exact: 32-bit integers, whatever the processor does with 16-bit intermediate sums. Where MXNet's CPU kernels lose
data (a bias added without its scale, the range of an unsigned input taken for a signed one, 16-bit sums that
overflow, unsigned values handed on as signed), these operators compute what MXNet documents.
"""

from math import prod
from typing import Literal

import torch
from torch import Tensor

from ..._core.attrs import Dtype, Long
from ..._core.errors import MXNetError
from ..array.indexing import embedding
from ..nn.convolution import Layout, Tuning, convolution
from ..nn.fully_connected import bias_unless_no_bias, fully_connected
from ..nn.recurrent import parameter_count, rnn
from ..registry.fill_rules import assign
from ..registry.layout import channels_last, shape_first, shape_last
from ..registry.registry import Attrs, op
from ..registry.torch_dtypes import NAME
from .quantize import HALF, reach, require_float32, rounded, scalar
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

EXACT = 1 << 24  # integers up to here are exact in float32


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
    scales = units_of(data, low_data, high_data) * (HALF["int8"] / reach(low_weight, high_weight).max())
    return (bias * (scales * reach(low_bias, high_bias) / HALF["int8"])).to(torch.int32)


def _separated(attrs: Attrs, tensors: tuple[Tensor, ...]) -> tuple[Tensor | None, tuple[Tensor, ...]]:
    """The bias, if there is one, and the ends of the ranges."""
    bias, ends = (None, tensors) if attrs["no_bias"] else (tensors[0], tensors[1:])
    require_float32(*ends)
    return bias, ends


def _integer_sums(compute, data: Tensor, weight: Tensor, axes: tuple[int, int], area: int) -> Tensor:
    """`compute(data, weight)` in integers: in floats, over as many channels at a time as stay exact."""
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


def _layer_ranges(attrs: Attrs, shapes: Shapes) -> Shapes:
    """Ranges of one element each, but the weight's may have one for each channel."""
    own = _own_inputs(attrs)
    filled = one_each(shapes, own)
    ends = [shapes[i] or (1,) for i in (own + 2, own + 3)]
    return [*filled[: own + 2], *ends, *filled[own + 4 :]]


def _layer_types(attrs: Attrs, dtypes: list[str | None]) -> list[str | None]:
    own = _own_inputs(attrs)
    return [dtypes[0], *["int8"] * (own - 1), *["float32"] * (len(dtypes) - own)]


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
        features = prod(shapes[0][1:]) if attrs["flatten"] else shapes[0][-1]
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
    shape=like_reals("Convolution", _own_inputs),
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
    workspace: Long = 1024,
    no_bias: bool = False,
    cudnn_tune: Tuning | None = None,
    cudnn_off: bool = False,
    layout: Layout | None = None,
):
    """Convolution of 8-bit data with an 8-bit weight: 32-bit sums, and the range that they represent."""
    bias, ends = _separated({"no_bias": no_bias}, rest)
    check_eight_bits("quantized_conv", data=data)
    check_signed("quantized_conv", weight=weight, bias=bias)
    last = layout is not None and channels_last(layout, len(kernel), "quantized_conv")
    axis = data.dim() - 1 if last else 1

    def compute(some_data: Tensor, some_weight: Tensor) -> Tensor:
        return convolution(some_data, some_weight, kernel=kernel, stride=stride, dilate=dilate, pad=pad,
                           num_filter=num_filter, num_group=num_group, layout=layout)  # fmt: skip

    if num_group == 1:
        sums = _integer_sums(compute, data, weight, (axis, axis), prod(kernel))
    else:  # the channels of a group lie together, so they cannot be taken apart by a slice
        kind = torch.float32 if prod(weight.shape[1:]) * 255 * 128 <= EXACT else torch.float64
        sums = compute(data.to(kind), weight.to(kind)).to(torch.int32)
    sums = _one_scale(sums, ends, axis)
    if bias is not None:
        shape = (-1,) if last else (-1, *[1] * len(kernel))
        sums = sums + bias_in_sums(data, bias, ends).reshape(shape)
    return sums, *product_range(data, ends[:4])


@op(
    "_contrib_quantized_fully_connected",
    inputs=_with_ranges,
    outputs=OUTPUTS,
    fill=_fill_dense,
    fill_types=_layer_types,
    shape=like_reals("FullyConnected", _own_inputs),
    dtype="any",
    differentiable=False,
)
def quantized_fully_connected(data, weight, *rest, num_hidden: int, no_bias: bool = False, flatten: bool = True):
    """Rows of 8-bit data times an 8-bit weight: 32-bit sums, and the range that they represent."""
    bias, ends = _separated({"no_bias": no_bias}, rest)
    check_eight_bits("quantized_fully_connected", data=data)
    check_signed("quantized_fully_connected", weight=weight, bias=bias)
    rows = data.reshape(data.shape[0], -1) if flatten else data

    def compute(some_data: Tensor, some_weight: Tensor) -> Tensor:
        return fully_connected(some_data, some_weight, num_hidden=num_hidden, no_bias=True, flatten=False)

    sums = _one_scale(_integer_sums(compute, rows, weight, (rows.dim() - 1, 1), 1), ends, -1)
    if bias is not None:
        sums = sums + bias_in_sums(data, bias, ends)
    return sums, *product_range(data, ends[:4])


def _fill_norm(attrs: Attrs, shapes: Shapes) -> Shapes:
    if shapes[0]:
        channels = (shapes[0][attrs["axis"]],)
        for i, name in enumerate(("gamma", "beta", "moving_mean", "moving_var"), 1):
            assign(shapes, i, channels, "quantized_batch_norm", name)
    return one_each(shapes, 5)


@op("_contrib_quantized_batch_norm", outputs=OUTPUTS, aux=("moving_mean", "moving_var"), fill=_fill_norm,
    fill_types=data_and_ranges, shape=like_data, dtype="any", differentiable=False)  # fmt: skip
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
    check_eight_bits("quantized_batch_norm", data=data)
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
    shape=like_reals("Embedding", lambda attrs: 2), dtype="any", differentiable=False)  # fmt: skip
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
    check_signed("quantized_embedding", weight=weight)
    rows = embedding(data, weight, input_dim=input_dim, output_dim=output_dim)
    return rows, *handed_on(min_weight, max_weight)


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
    return one_each(shapes, 4)


def _recurrent_shapes(attrs: Attrs, shapes: Shapes) -> Shapes:
    return like_reals("RNN", lambda attrs: 4)(attrs, shapes)[:-2]


@op("_contrib_quantized_rnn", inputs=_recurrent_names, outputs=_recurrent_outputs, fill=_fill_recurrent,
    fill_types=data_and_ranges, shape=_recurrent_shapes, dtype="any", differentiable=False)  # fmt: skip
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
