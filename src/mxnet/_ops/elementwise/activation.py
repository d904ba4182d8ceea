"""Activation functions with a name as attribute: Activation and LeakyReLU."""

from typing import Literal

import torch
import torch.nn.functional as F

from ..._core.errors import MXNetError
from ..._core.rounding import single
from ..._kernels.elementwise.elu import elu
from ..registry.fill_rules import assign
from ..registry.gradient import with_gradient
from ..registry.registry import op
from ..registry.torch_dtypes import require_floating
from .unary import softsign


def _softrelu(data):
    result = elu("softrelu", data, F.softplus)
    return F.softplus(data) if result is None else result


def _tanh(data):
    result = elu("tanh", data, torch.tanh)
    return torch.tanh(data) if result is None else result


_ACTIVATIONS = {
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "softrelu": _softrelu,
    "softsign": softsign,
    "tanh": _tanh,
}
_SELU_ALPHA = 1.6732632423543772
_SELU_LAMBDA = 1.0507009873554805
_DOUBLE = torch.float64


def _named(act_type):
    function = _ACTIVATIONS[act_type]
    return lambda data: function(data) if data.is_floating_point() else None


@op("Activation", shape="same", quick=_named)
def activation(data, *, act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"]):
    """The function named by `act_type`, element by element; `softrelu` is log(1 + exp(x)).

    Parameters
    ----------
    data
        The input, of any shape and a floating point type.
    act_type
        relu: max(0, x); sigmoid: 1 / (1 + exp(-x)); softrelu: log(1 + exp(x)); softsign: x / (1 + |x|); tanh.
    """
    if not data.is_floating_point():
        require_floating(data, "Activation")
    return _ACTIVATIONS[act_type](data)


def _slope_input(attrs):
    return ("data", "gamma") if attrs["act_type"] == "prelu" else ("data",)


def _outputs(attrs):
    return ("output", "mask") if attrs["act_type"] == "rrelu" else ("output",)


def _slope_shape(attrs, shapes):
    if len(shapes) > 1 and shapes[0] and not shapes[1]:
        assign(shapes, 1, shapes[0][1:2] or shapes[0][:1], "LeakyReLU", "gamma")
    return shapes


def _as_data(attrs, shapes):
    return [shapes[0] for _ in _outputs(attrs)]


@op("LeakyReLU", inputs=_slope_input, outputs=_outputs, fill=_slope_shape, shape=_as_data)
def leaky_relu(
    data,
    gamma=None,
    *,
    act_type: Literal["elu", "gelu", "leaky", "prelu", "rrelu", "selu"] = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
    _train: bool = False,
):
    """Rectifiers that keep a part of the negative side; `act_type` says which part.

    `leaky`: slope * x, `prelu`: a learned slope `gamma`, `rrelu`: a slope drawn anew for each element in training,
    `elu`, `selu`, `gelu`: the exponential, the self-normalizing, and the Gaussian error linear unit.

    Parameters
    ----------
    data
        The input, of any shape and a floating point type; prelu reads axis 1 as the channels.
    gamma
        The learned slope of prelu, (channels,) or (1,). The other functions do not have this input.
    act_type
        The function for x below 0; above, x stays (times 1.0507 for selu). leaky: slope * x; prelu: gamma * x; rrelu: r
        * x with r drawn from [lower_bound, upper_bound) for each element in training, and their mean in prediction;
        elu: slope * (exp(x) - 1); selu: 1.7581 * (exp(x) - 1); gelu, for all x: x * Φ(x), with the normal distribution
        function Φ.
    slope
        The slope of leaky, or the factor of elu, for x below 0.
    lower_bound
        The least random slope of rrelu.
    upper_bound
        The greatest random slope of rrelu.
    """
    require_floating(data, "LeakyReLU")
    if act_type == "leaky":
        return _leaky(data, slope)
    if act_type == "elu":
        if data.dtype is torch.float32:
            result = elu("elu", data, lambda x: F.elu(x, slope), slope)
            return F.elu(data, slope) if result is None else result
        return _elu(data, single(slope))
    if act_type == "selu":
        return with_gradient(_selu, _selu_backward, data)
    if act_type == "gelu":
        return F.gelu(data.float()).double() if data.dtype is _DOUBLE else F.gelu(data)
    if act_type == "prelu":
        return _prelu(data, gamma)
    return _rrelu(data, lower_bound, upper_bound, _train)


def _leaky(data, slope):
    """Of float64, MXNet multiplies the negative side in single precision; the slope of its gradient is single, too.

    Outside float32, where a library has it, that slope is chosen by the output.
    """
    if data.dtype is torch.float32:
        return F.leaky_relu(data, slope)

    def forward(x):
        return torch.where(x > 0, x, (x.float() * slope).double()) if x.dtype is _DOUBLE else F.leaky_relu(x, slope)

    def backward(inputs, outputs, heads):
        return torch.where(outputs[0] > 0, heads[0], heads[0] * single(slope))

    return with_gradient(forward, backward, data)


def _elu(data, slope):
    """Outside float32, where a library has it, MXNet takes the slope from the output: at NaN it is no number."""

    def backward(inputs, outputs, heads):
        return torch.where(outputs[0] > 0, heads[0], heads[0] * (outputs[0] + slope))

    return with_gradient(lambda x: F.elu(x, slope), backward, data)


def _selu(data):
    """MXNet's two constants are of single precision, which float64 shows."""
    if data.dtype is not _DOUBLE:
        return F.selu(data)
    return torch.where(data > 0, data, torch.expm1(data) * single(_SELU_ALPHA)) * single(_SELU_LAMBDA)


def _selu_backward(inputs, outputs, heads):
    """MXNet adds the scaled output to the unscaled alpha, so its slope is not quite the derivative."""
    slope = torch.where(outputs[0] > 0, 1, outputs[0] + single(_SELU_ALPHA))
    return heads[0] * slope * single(_SELU_LAMBDA)


def _prelu(data, gamma):
    return with_gradient(_prelu_forward, _prelu_backward, data, gamma)


def _prelu_forward(data, gamma):
    slope = _beside_channels(gamma, data)
    below = (data.float() * slope.float()).double() if data.dtype is _DOUBLE else data * slope
    return torch.where(data > 0, data, below)


def _prelu_backward(inputs, outputs, heads):
    data, gamma = inputs
    positive = data > 0
    slope = _beside_channels(gamma, data)
    data_grad = torch.where(positive, heads[0], heads[0] * slope)
    gamma_grad = torch.where(positive, torch.zeros_like(data), data * heads[0])
    return data_grad, gamma_grad.sum_to_size(slope.shape).reshape(gamma.shape)


def _beside_channels(gamma, data):
    """`gamma` viewed so that it broadcasts over everything after the batch and channel axes."""
    if gamma.shape == data.shape and data.dim() < 3:
        return gamma
    lead = tuple(gamma.shape) if gamma.dim() == 2 else (1, gamma.shape[0])
    if data.dim() == 1 and gamma.dim() == 1:
        return gamma
    view = lead + (1,) * (data.dim() - 2)
    if gamma.dim() > 2 or any(g not in (1, d) for g, d in zip(view, data.shape, strict=True)):
        raise MXNetError(f"Cannot broadcast gamma to data. gamma: {list(gamma.shape)}, data: {list(data.shape)}")
    return gamma.reshape(view)


def _rrelu(data, lower, upper, train):
    if not train:
        return _leaky(data, (lower + upper) / 2), torch.zeros_like(data)
    mask = torch.empty_like(data).uniform_(lower, upper)
    return torch.where(data > 0, data, data * mask), mask
