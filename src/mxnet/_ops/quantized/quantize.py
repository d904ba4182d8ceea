"""Conversion between floats and 8-bit integers with a range."""

from typing import Literal

import torch
from torch import Tensor

from ..._core.errors import MXNetError
from ..._device.copies import number
from ..registry.gradient import without_gradient
from ..registry.registry import op
from ..registry.torch_dtypes import NAME, TORCH

INT32 = float(0x7FFFFFFF)
# How many steps a range has. `quantize` and `requantize` keep to integers, the others spend half a step more.
WHOLE = {"int8": 127.0, "uint8": 255.0}
HALF = {"int8": 127.5, "uint8": 255.5}


def reach(low: Tensor, high: Tensor) -> Tensor:
    """How far from zero a range goes: it alone sets the scale."""
    return torch.maximum(low.abs(), high.abs())


def rounded(steps: Tensor, kind: str) -> Tensor:
    """Halves go to the even number; what does not fit takes the nearest that does."""
    limits = torch.iinfo(TORCH[kind])
    return steps.round().clamp(limits.min, limits.max).to(TORCH[kind])


def _quantized(
    data: Tensor, low: Tensor, high: Tensor, kind: str, steps: dict[str, float]
) -> tuple[Tensor, Tensor, Tensor]:
    """Zero stays zero in both types: only the larger end of the range sets the scale. Nothing has a gradient."""
    low, high = low.detach(), high.detach()
    end = reach(low, high)
    span = (-end, end) if kind == "int8" else (low.clone(), high.clone())
    return rounded(data * quotient(steps[kind], end), kind), *span


def quotient(number: float, of: Tensor) -> Tensor:
    """Rounded once; torch divides a number by a tensor by way of its reciprocal, whose error moves halves."""
    return scalar(number, of) / of


def scalar(value: float, like: Tensor) -> Tensor:
    """One end of a range, as the operators hand it on."""
    return number(value, torch.float32, like.device).reshape(1)


def _calibrated(data: Tensor, low: float | None, high: float | None) -> tuple[Tensor, Tensor]:
    """The range found by calibration, else the data's own."""
    if low is not None and high is not None:
        return scalar(low, data), scalar(high, data)
    return data.min().reshape(1), data.max().reshape(1)


def _chosen(out_type: str, low: float | None, high: float | None) -> str:
    if out_type != "auto":
        return out_type
    return "uint8" if low is not None and high is not None and low >= 0 else "int8"


def _fill(attrs: dict, shapes: list) -> list:
    return [shapes[0], (1,), (1,)]


def _shape(attrs: dict, shapes: list) -> list:
    return [shapes[0], (1,), (1,)]


def require_float32(*tensors: Tensor) -> None:
    """Refuse ranges of another type, as MXNet does."""
    for tensor in tensors:
        if tensor.dtype != torch.float32:
            given = str(tensor.dtype).removeprefix("torch.")
            raise MXNetError(f"Type inconsistent, Provided = {given}, inferred type = float32")


@op("_contrib_quantize", outputs=3, fill=_fill, shape=_shape, dtype="any", differentiable=False)
def quantize(data, min_range, max_range, *, out_type: Literal["int8", "uint8"] = "uint8"):
    """Quantize floats of a given range; returns the integers and the range they span."""
    require_float32(data, min_range, max_range)
    return _quantized(data, min_range.reshape(1), max_range.reshape(1), out_type, WHOLE)


@op("_contrib_quantize_v2", outputs=3, shape=_shape, dtype="any", differentiable=False)
def quantize_v2(
    data,
    *,
    out_type: Literal["auto", "int8", "uint8"] = "int8",
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
):
    """Quantize floats by their own or a calibrated range; integers pass through."""
    if data.dtype in (torch.int8, torch.uint8):
        low, high = (0.0, HALF["uint8"]) if data.dtype == torch.uint8 else (-HALF["int8"], HALF["int8"])
        if min_calib_range is not None and max_calib_range is not None:
            low, high = min_calib_range, max_calib_range
        return data.clone(), scalar(low, data), scalar(high, data)
    require_float32(data)
    kind = _chosen(out_type, min_calib_range, max_calib_range)
    return _quantized(data, *_calibrated(data, min_calib_range, max_calib_range), kind, HALF)


@op("_contrib_quantize_asym", outputs=("output", "scale", "shift"), shape=_shape, dtype="any", differentiable=False)
def quantize_asym(data, *, min_calib_range: float | None = None, max_calib_range: float | None = None):
    """Quantize to uint8 with a scale and a shift: `data * scale + shift`."""
    if data.dtype == torch.uint8:
        return data.clone(), scalar(1, data), scalar(0, data)
    if data.dtype == torch.int8:
        return (data.to(torch.int16) + 128).to(torch.uint8), scalar(1, data), scalar(128, data)
    if data.dtype != torch.float32:
        raise MXNetError("Asymmetric quantizaiton only supports int8, uint8 and float inputs")
    data = data.detach()
    low, high = _calibrated(data, min_calib_range, max_calib_range)
    scale = quotient(255, high - low)
    shift = 255 - high * scale
    return rounded(data * scale + shift, "uint8"), scale, shift


@op("_contrib_dequantize", fill=_fill, shape=lambda attrs, shapes: [shapes[0]], dtype="any")
def dequantize(data, min_range, max_range, *, out_type: Literal["float32"] = "float32"):
    """Floats out of 8-bit integers and the range they span."""
    if data.dtype not in (torch.uint8, torch.int8):
        raise MXNetError("the input data type of dequantize op must be provided, either uint8 or int8")
    require_float32(min_range, max_range)
    steps = HALF[NAME[data.dtype]]
    return without_gradient(lambda x, low, high: x.float() * (reach(low, high) / steps), data, min_range, max_range)


@op("_contrib_requantize", outputs=3, fill=_fill, shape=_shape, dtype="any", differentiable=False)
def requantize(
    data,
    min_range,
    max_range,
    *,
    out_type: Literal["auto", "int8", "uint8"] = "int8",
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
):
    """32-bit sums of products back to 8 bits, by their own or a calibrated range."""
    if data.dtype != torch.int32:
        given = str(data.dtype).removeprefix("torch.")
        raise MXNetError(f"Type inconsistent, Provided = {given}, inferred type = int32")
    require_float32(min_range, max_range)
    reals = data.float() * (reach(min_range, max_range) / INT32)
    kind = _chosen(out_type, min_calib_range, max_calib_range)
    end = reach(*_calibrated(reals, min_calib_range, max_calib_range))
    low = -end if kind == "int8" else torch.zeros_like(end)
    return _quantized(reals, low, end, kind, WHOLE)
