"""Layers as MXNet's oneDNN backend fuses them: a convolution, a dense layer or the products of attention, as one node.

The node carries its operators as a graph (see `_graph/ir/onednn_nodes.py`). In floats that graph runs as it is. In 8
bits the functions here compute what MXNet's kernels do: weights and bias become integers by their own ranges
(batch norm folded into them first), sums of products are scaled, the other operators follow, and the result is rounded
once. Where MXNet's kernels lose data (weights of 7 bits and sums of 16 on processors without 8-bit dot products, sums
with signed data cut at 127, scales of channels mixed up in groups), these compute what the graph says.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..._core.errors import MXNetError
from ..quantized.quantize import HALF, INT32, quotient, rounded, scalar
from ..registry.layout import channels_last
from ..registry.registry import Attrs, find, op
from ..registry.torch_dtypes import NAME
from .attention import interleaved_matmul_selfatt_qk, interleaved_matmul_selfatt_valatt
from .convolution import convolution
from .fully_connected import fully_connected

POSITIVE = {"abs", "exp", "sqrt", "square"}
Scales = tuple[Tensor, Tensor | None, Tensor]  # weight and bias in steps, and how many steps of sums a real unit has


class Parts(NamedTuple):
    """What a fused node is made of, and a place to keep what was made of its parameters.

    `keep(key, parameters, make)` gives `make()`, or what it gave before if neither key nor parameters have changed.
    """

    operators: tuple[tuple[str, Attrs], ...]
    keep: Callable[[Any, Sequence[Tensor], Callable[[], Any]], Any]

    def find(self, name: str) -> Attrs | None:
        return next((attrs for known, attrs in self.operators if known == name), None)

    @property
    def layer(self) -> Attrs:
        return self.operators[0][1]

    @property
    def own(self) -> int:
        """How many parameters the layer itself has."""
        return 1 if self.layer["no_bias"] else 2


def unsigned(parts: Sequence[tuple[str, Attrs]], dense: bool) -> bool:
    """Is a calibrated result uint8? So it is behind functions without negative values, as MXNet lists them."""
    name, attrs = parts[-1]
    if name == "Activation":
        return attrs["act_type"] in ("relu", "sigmoid", "softrelu")
    if name == "LeakyReLU":
        return attrs["act_type"] == "leaky" and (dense or attrs["slope"] == 0)
    return name == "clip" or (dense and name in POSITIVE)


def calibrated(attrs: Attrs) -> tuple[float, float] | None:
    """The range that calibration found."""
    low, high = attrs["min_calib_range"], attrs["max_calib_range"]
    return None if low is None or high is None else (low, high)


def result_type(name: str, attrs: Attrs, parts: Sequence[tuple[str, Attrs]]) -> str:
    """The dtype that a quantized node gives."""
    if attrs.get("enable_float_output"):
        return "float32"
    if calibrated(attrs) is None:
        return "int32"
    return "uint8" if unsigned(parts, name != "_sg_mkldnn_conv") else "int8"


def _made(graphs: Sequence[Parts], name: str) -> Parts:
    if not graphs:
        raise MXNetError(f"Operator {name} stands for operators that a backend fused, inside a graph read from a file")
    return graphs[0]


def _scale(kind: str, low: float, high: float) -> float:
    end = max(abs(low), abs(high))
    return HALF[kind] / end if end else INT32


def _range_scale(tensor: Tensor, low: Tensor, high: Tensor) -> float:
    return _scale(NAME[tensor.dtype], float(low), float(high))


def _require_bytes(name: str, data: Tensor, low: Tensor) -> None:
    if data.dtype not in (torch.int8, torch.uint8):
        raise MXNetError(f"{name} is quantized, it takes int8 or uint8 data, got {NAME[data.dtype]}")
    if data.dtype == torch.uint8 and float(low) < 0:
        raise MXNetError(f"{name}: Expect int8 when data_min < 0.0, consider quantize model with int8.")


def _folded(weight: Tensor, bias: Tensor | None, norm: Sequence[Tensor], attrs: Attrs) -> tuple[Tensor, Tensor]:
    """Weight and bias of a convolution that includes its batch norm."""
    gamma, beta, mean, variance = norm
    alpha = (variance.double() + attrs["eps"]).sqrt()
    alpha = ((1.0 if attrs["fix_gamma"] else gamma) / alpha).float()
    shift = mean if bias is None else mean - bias
    return weight * alpha.reshape(-1, *[1] * (weight.dim() - 1)), beta - alpha * shift


def _largest_scale(bias: Tensor, data_scale: float) -> Tensor:
    """More steps than this, and the bias would leave 31 bits."""
    limit = torch.where(bias > 0, INT32, -INT32 - 1) / 2 / bias / data_scale
    return torch.where(bias == 0, torch.inf, limit)


def _in_steps(weight: Tensor, bias: Tensor | None, data_scale: float, each: bool) -> Scales:
    """Quantized weight and bias; with `each` every channel of the weight has a scale of its own."""
    ends = weight.flatten(1).abs().amax(1) if each else weight.abs().amax().reshape(1)
    scales = torch.where(ends > 0, quotient(HALF["int8"], ends), INT32)
    if bias is not None and each:
        scales = torch.minimum(scales, _largest_scale(bias, data_scale))
    steps = rounded(weight * scales.reshape(-1, *[1] * (weight.dim() - 1)), "int8").float()
    return steps, None if bias is None else (bias * (scales * data_scale)).round(), scales * data_scale


def _sum_range(data: Tensor, ends: Sequence[float]) -> tuple[float, float]:
    """The reals that the ends of 32-bit sums stand for."""
    low, high, weight = ends
    steps = 255.0 if data.dtype == torch.uint8 else 127.0
    top = max(abs(low), abs(high)) / 127.0 * (weight / steps) * INT32
    return -top, top


def _apply(sums: Tensor, operators: Sequence[tuple[str, Attrs]], added: Tensor | None = None) -> Tensor:
    for name, attrs in operators:
        if name == "elemwise_add":
            assert added is not None
            sums = sums + added
        elif name != "BatchNorm":
            sums = find(name).fn(sums, **attrs)
    return sums


def _finish(reals: Tensor, kind: str) -> Tensor:
    return reals if kind == "float32" else rounded(reals.double() if kind == "int32" else reals, kind)


def _convolution_outputs(attrs: Attrs) -> tuple[str, ...]:
    return ("output", "output_min", "output_max") if attrs["quantized"] else ("output",)


@op("_sg_mkldnn_conv", outputs=_convolution_outputs, dtype="any", differentiable=False)
def fused_convolution(
    *data,
    with_bn: bool = False,
    with_act: bool = False,
    with_sum: bool = False,
    with_postsum_act: bool = False,
    quantized: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    with_relu: bool = False,
    with_postsum_relu: bool = False,
    _graphs=(),
):
    """A convolution of 8-bit data, its batch norm, a sum with other 8-bit data and an activation, as one node."""
    parts = _made(_graphs, "_sg_mkldnn_conv")
    attrs = {"min_calib_range": min_calib_range, "max_calib_range": max_calib_range}
    norm, first = parts.find("BatchNorm"), 1 + parts.own
    source, weight, bias = data[0], data[1], data[2] if parts.own == 2 else None
    last = first + (4 if norm is not None else 0)
    added = data[last] if with_sum else None
    ends = data[last + (1 if with_sum else 0) :]
    _require_bytes("_sg_mkldnn_conv", source, ends[0])
    data_scale = _range_scale(source, *ends[:2])
    known = calibrated(attrs)
    each = known is not None

    def make() -> tuple[Scales, float]:
        given = (weight, bias) if norm is None else _folded(weight, bias, data[first:last], norm)
        return _in_steps(*given, data_scale, each), float(given[0].abs().max())

    (steps, shift, scales), reach = parts.keep((data_scale, each), data[1:last], make)
    kind = result_type("_sg_mkldnn_conv", attrs, parts.operators)
    span = known or _sum_range(source, (*map(float, ends[:2]), reach))
    unit = _scale(kind, *span) if each else float(scales)
    sums = _convolve(source, steps, shift, parts.layer, unit / scales if each else None)
    if added is not None:
        added = added * (unit / _range_scale(added, *ends[2:]))
    # A bound needs no step of its own: the calibrated range ends there.
    following = [part for part in parts.operators[1:] if part[0] != "clip"]
    result = _finish(_apply(sums, following, added), kind)
    return result, *(scalar(end, source) for end in span)


def _convolve(data: Tensor, steps: Tensor, shift: Tensor | None, layer: Attrs, factor: Tensor | None) -> Tensor:
    """Sums of products, each channel times a factor; integers, in floats as long as these are exact enough."""
    attrs = {**layer, "no_bias": shift is None}
    sums = convolution(data.float(), steps, *(() if shift is None else (shift,)), **attrs)
    if factor is None:
        return sums
    last = channels_last(layer["layout"], len(layer["kernel"]), "_sg_mkldnn_conv")
    return sums * (factor if last else factor.reshape(-1, *[1] * len(layer["kernel"])))


def _dense_outputs(attrs: Attrs) -> tuple[str, ...]:
    as_integers = attrs["quantized"] and not attrs["enable_float_output"]
    return ("output", "min_output", "max_output") if as_integers else ("output",)


@op("_sg_mkldnn_fully_connected", outputs=_dense_outputs, dtype="any", differentiable=False)
def fused_dense(
    *data,
    quantized: bool = False,
    enable_float_output: bool = False,
    with_eltwise: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    channel_wise_quantize: bool | None = None,
    with_relu: bool = False,
    _graphs=(),
):
    """A dense layer of 8-bit data and the function that follows it, as one node."""
    parts = _made(_graphs, "_sg_mkldnn_fully_connected")
    attrs = {"min_calib_range": min_calib_range, "max_calib_range": max_calib_range,
             "enable_float_output": enable_float_output}  # fmt: skip
    source, weight, bias = data[0], data[1], data[2] if parts.own == 2 else None
    ends = data[1 + parts.own :]
    _require_bytes("_sg_mkldnn_fully_connected", source, ends[0])
    data_scale = _range_scale(source, *ends[:2])

    def make() -> Scales:
        if channel_wise_quantize:
            return _in_steps(weight, bias, data_scale, True)
        return _given_steps(weight, bias, ends[2:], data_scale)

    steps, shift, scales = parts.keep(data_scale, (*data[1 : 1 + parts.own], *ends[2:]), make)
    kind, known = result_type("_sg_mkldnn_fully_connected", attrs, parts.operators), calibrated(attrs)
    layer = {**parts.layer, "no_bias": shift is None}
    sums = fully_connected(source.float(), steps, *(() if shift is None else (shift,)), **layer)
    if kind == "int32":
        if channel_wise_quantize:
            raise MXNetError("Currently, channel-wise quantization requires fuse requantize or dequantize. Please make "
                             "sure that the layer's outputs were calibrated")  # fmt: skip
        reach = max(abs(float(ends[2])), abs(float(ends[3])))
        span = _sum_range(source, (*map(float, ends[:2]), reach))
        return _finish(_apply(sums, parts.operators[1:]), kind), *(scalar(end, source) for end in span)
    reals = _apply(sums / scales, parts.operators[1:])
    if kind == "float32":
        return reals
    assert known is not None
    return _finish(reals * _scale(kind, *known), kind), *(scalar(end, source) for end in known)


def _given_steps(weight: Tensor, bias: Tensor | None, ends: Sequence[Tensor], data_scale: float) -> Scales:
    """Weight and bias that are integers already: the bias moves to the steps of the sums."""
    scale = _range_scale(weight, *ends[:2])
    steps = weight.float()
    if bias is None:
        return steps, None, scalar(scale * data_scale, weight)
    own = _range_scale(bias, *ends[2:4])
    end = max(abs(float(ends[2])), abs(float(ends[3])))
    factor, most = data_scale * scale / own, INT32 // 2 / end / own if end else torch.inf
    if factor > most:  # fewer steps, so that the bias stays within 31 bits
        steps = torch.round(steps * (most * own / data_scale / scale))
        scale, factor = most * own / data_scale, most
    return steps, (bias * factor).round(), scalar(scale * data_scale, weight)


def _attention(name: str, sums: Tensor, arrays: Sequence[Tensor], ends: Sequence[Tensor], attrs: Attrs) -> Any:
    """What a node of attention makes of its sums of products; each of its arrays has two ends of a range."""
    kind, span = result_type(name, attrs, [(name, attrs)]), calibrated(attrs)
    if kind == "int32":
        reach = max(abs(float(ends[-2])), abs(float(ends[-1])))
        span = _sum_range(arrays[-1], (*map(float, ends[:2]), reach))
        return _finish(sums, kind), *(scalar(end, sums) for end in span)
    first = _range_scale(arrays[0], *ends[:2])
    scale = first * _range_scale(arrays[-1], *ends[-2:])
    if kind == "float32" or span is None:
        return sums / scale
    return _finish(sums * (_scale(kind, *span) / scale), kind), *(scalar(end, sums) for end in span)


def _declare_attention(name: str, dtypes: Sequence[str], products: Callable[..., Tensor], doc: str) -> None:
    """Register a node of attention: its arrays have the dtypes, and `products` takes them as floats."""

    def fused(
        *data,
        heads: int,
        quantized: bool = False,
        enable_float_output: bool = False,
        min_calib_range: float | None = None,
        max_calib_range: float | None = None,
        _graphs=(),
    ):
        _made(_graphs, name)
        arrays, ends = data[: len(dtypes)], data[len(dtypes) :]
        if [NAME[array.dtype] for array in arrays] != [*dtypes]:
            given = " and ".join(NAME[array.dtype] for array in arrays)
            raise MXNetError(f"{name} is quantized, it takes {' and '.join(dtypes)} data, got {given}")
        attrs = {"min_calib_range": min_calib_range, "max_calib_range": max_calib_range,
                 "enable_float_output": enable_float_output}  # fmt: skip
        return _attention(name, products(*(array.float() for array in arrays), heads=heads), arrays, ends, attrs)

    fused.__doc__ = doc
    op(name, outputs=_dense_outputs, dtype="any", differentiable=False)(fused)


_declare_attention(
    "_sg_mkldnn_selfatt_qk", ("int8",), interleaved_matmul_selfatt_qk,
    "Scaled products of queries and keys of 8 bits, which lie side by side.",
)  # fmt: skip
_declare_attention(
    "_sg_mkldnn_selfatt_valatt", ("int8", "uint8"), interleaved_matmul_selfatt_valatt,
    "Values of 8 bits weighted by attention of 8 bits.",
)  # fmt: skip
