"""Softmax and its relatives that differentiate as written."""

from typing import Literal

import torch

from ..._core.environment import is_on
from ..._core.errors import MXNetError
from ..elementwise.masks import kept, marks
from ..registry.fill_rules import assign
from ..registry.gradient import with_gradient
from ..registry.registry import op
from ..registry.torch_dtypes import require_floating, torch_dtype

Precision = Literal["float16", "float32", "float64"]


def _length_input(attrs):
    return ("data", "length") if attrs["use_length"] else ("data",)


def _length_shape(attrs, shapes):
    if len(shapes) > 1 and shapes[0]:
        axis = _axis(attrs["axis"], len(shapes[0]))
        assign(shapes, 1, shapes[0][:axis] + shapes[0][axis + 1 :] or (1,), "softmax", "length")
    return shapes


def _axis(axis, dims):
    """The axis, counted from the front; an array without axes is its own only element, along axis 0 or -1."""
    if dims == 0 and axis in (0, -1):
        return 0
    if not -dims <= axis < dims:
        raise MXNetError(f"axis {axis} exceeds the input dimension of {dims}")
    return axis % dims


def _prepared(data, axis, temperature, operator):
    require_floating(data, operator)
    if not -data.dim() <= axis < data.dim():
        _axis(axis, data.dim())
    return data if temperature is None or temperature == 1 else data / temperature


def _in_type(function, data, axis, dtype):
    """A result of another type is computed in the wider one of both; the gradient is that of what was rounded."""
    kind = data.dtype if dtype is None else torch_dtype(dtype)
    if kind.itemsize >= data.dtype.itemsize:
        return function(data, axis, None if kind is data.dtype else kind)

    def slope(inputs, outputs, heads):
        out, head = outputs[0].to(inputs[0].dtype), heads[0].to(inputs[0].dtype)
        if function is torch.softmax:
            return out * (head - (head * out).sum(axis, keepdim=True))
        return head - out.exp() * head.sum(axis, keepdim=True)

    return with_gradient(lambda x: function(x, axis).to(kind), slope, data)


def _data_shape(attrs, shapes):
    return [shapes[0]]


def _length_type(attrs, dtypes):
    return [dtypes[0], *(d or "int32" for d in dtypes[1:])]


def _quick(function):
    """Without lengths, temperature and another type it is torch's own function."""

    def quick(axis, temperature, dtype, use_length):
        if use_length or dtype is not None or temperature not in (None, 1):
            return None
        return lambda data, length=None: function(data, axis) if length is None and data.is_floating_point() else None

    return quick


@op(
    "softmax",
    quick=_quick(torch.softmax),
    inputs=_length_input,
    fill=_length_shape,
    fill_types=_length_type,
    shape=_data_shape,
    dtype="any",
)
def softmax(
    data,
    length=None,
    *,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Precision | None = None,
    use_length: bool | None = False,
):
    """exp(x) along `axis`, divided by its sum; positions from `length` on get probability 0.

    Parameters
    ----------
    data
        The input, of any shape.
    length
        The number of leading elements along `axis` that count, for each position of the other axes. The others get
        probability 0. It is an input only if `use_length` is True.
    axis
        The axis whose elements add up to 1.
    temperature
        A positive number that divides the input before the exponential: above 1 flattens the distribution, below 1
        sharpens it; None means 1.
    dtype
        The data type of the result; None keeps that of `data`.
    use_length
        Whether `length` is given as the second input.
    """
    if length is None and _in_halves(data, axis, dtype):
        return _half_softmax(data, axis, temperature, torch_dtype(dtype))
    data = _prepared(data, axis, temperature, "softmax")
    if length is None:
        return _in_type(torch.softmax, data, axis, dtype)
    return _masked_softmax(data, length, axis, dtype)


def _in_halves(data, axis, dtype):
    """Does MXNet compute in half precision, though the result has more digits? Only short sums are worth the steps."""
    if data.dtype is not torch.float16 or dtype in (None, "float16") or data.device.type != "cpu":
        return False
    if is_on("MXNET_SAFE_ACCUMULATION"):
        return False
    return -data.dim() <= axis < data.dim() and data.shape[axis] <= 1024 and not torch.compiler.is_compiling()


def _half_powers(data, axis, temperature):
    """Distances from the maximum, their powers, and the sum of these, rounded to half precision at each step."""
    distances = data - data.amax(axis, keepdim=True)
    if temperature is not None and temperature != 1:
        distances = distances / torch.tensor(temperature).half().item()
    powers = distances.float().exp()
    total = torch.zeros_like(powers.select(axis, 0))
    for power in powers.unbind(axis):
        total = (total + power).half().float()
    return distances.float(), powers, total.unsqueeze(axis)


def _half_softmax(data, axis, temperature, kind):
    def forward(x):
        _, powers, total = _half_powers(x, axis, temperature)
        return (powers / total).half().to(kind)

    def slope(inputs, outputs, heads):
        grad = outputs[0] * (heads[0] - (heads[0] * outputs[0]).sum(axis, keepdim=True))
        return (grad / (temperature or 1)).to(torch.float16)

    return with_gradient(forward, slope, data)


def _half_log_softmax(data, axis, temperature, kind):
    def forward(x):
        distances, _, total = _half_powers(x, axis, temperature)
        return (distances - total.log()).half().to(kind)

    def slope(inputs, outputs, heads):
        grad = heads[0] - outputs[0].exp() * heads[0].sum(axis, keepdim=True)
        return (grad / (temperature or 1)).to(torch.float16)

    return with_gradient(forward, slope, data)


def _masked_softmax(data, length, axis, dtype):
    if length.is_floating_point():
        name = str(length.dtype).removeprefix("torch.")
        raise MXNetError(f"This operation only support integer types, not {name}: the length of operator softmax")
    if not data.dim():
        return _masked_softmax(data.reshape(1), length, 0, dtype).reshape(())
    axis = axis % data.dim()
    steps = torch.arange(data.shape[axis], device=data.device).view([-1] + [1] * (data.dim() - axis - 1))
    ends = length if data.dim() == 1 else length.unsqueeze(axis)
    wide = torch.float32 if len(steps) <= 1 << 24 else torch.float64  # so that every step is a number of its own
    inside = marks(torch.lt, steps.to(wide), ends.to(wide)).to(data.dtype)
    beyond = 1 - inside.reciprocal()  # 0 within the length, minus infinity beyond it
    result = _in_type(torch.softmax, kept(data, inside) + beyond, axis, dtype)
    return kept(result, inside.to(result.dtype))  # a length of zero leaves only minus infinities: their softmax is NaN


@op("softmin", shape="same")
def softmin(
    data,
    *,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Precision | None = None,
    use_length: bool | None = False,
):
    """Softmax of the negated input."""
    if _in_halves(data, axis, dtype):
        return _half_softmax(-data, axis, temperature, torch_dtype(dtype))
    return _in_type(torch.softmax, -_prepared(data, axis, temperature, "softmin"), axis, dtype)


@op("log_softmax", shape="same", quick=_quick(torch.log_softmax))
def log_softmax(
    data,
    *,
    axis: int = -1,
    temperature: float | None = None,
    dtype: Precision | None = None,
    use_length: bool | None = False,
):
    """Logarithm of the softmax, computed without forming the softmax.

    Parameters
    ----------
    data
        The input, of any shape.
    axis
        The axis along which the exponentials of the result add up to 1.
    temperature
        A positive number that divides the input first; None means 1.
    dtype
        The data type of the result; None keeps that of `data`.
    use_length
        Accepted for old programs; this operator has no input `length`.
    """
    if _in_halves(data, axis, dtype):
        return _half_log_softmax(data, axis, temperature, torch_dtype(dtype))
    return _in_type(torch.log_softmax, _prepared(data, axis, temperature, "log_softmax"), axis, dtype)


@op("SoftmaxActivation", shape="same")
def softmax_activation(data, *, mode: Literal["channel", "instance"] = "instance"):
    """Softmax of each instance (over its last axis), or over the channels at each position."""
    require_floating(data, "SoftmaxActivation")
    if mode == "channel" and data.dim() < 3:
        raise MXNetError("Input need to have a least 3 dimensions when mode=channel, in operator SoftmaxActivation")
    axis = 1 if mode == "channel" else -1
    return with_gradient(lambda data: torch.softmax(data, axis), _channel_gradient, data)


def _channel_gradient(inputs, outputs, heads):
    """MXNet differentiates both modes as if they were `channel`; for matrices that is the same."""
    output, head = outputs[0], heads[0]
    return output * (head - (head * output).sum(min(1, output.dim() - 1), keepdim=True))
