"""Convolutions and transposed convolutions in one, two and three dimensions; MXNet shows the poolings here, too."""

from typing import Any

from ...base import MXNetError, numeric_types  # noqa: F401 - MXNet shows it here
from ...util import is_np_array  # noqa: F401 - MXNet shows it here
from ..block import HybridBlock
from ._pooling_layers import (
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    GlobalAvgPool1D,
    GlobalAvgPool2D,
    GlobalAvgPool3D,
    GlobalMaxPool1D,
    GlobalMaxPool2D,
    GlobalMaxPool3D,
    MaxPool1D,
    MaxPool2D,
    MaxPool3D,
    ReflectionPad2D,
    _Pooling,  # noqa: F401 - programs subclass it
)
from ._windows import LENGTH, describe, layouts, repeated, sized
from .activations import Activation

__all__ = [
    "Conv1D",
    "Conv2D",
    "Conv3D",
    "Conv1DTranspose",
    "Conv2DTranspose",
    "Conv3DTranspose",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "GlobalMaxPool1D",
    "GlobalMaxPool2D",
    "GlobalMaxPool3D",
    "GlobalAvgPool1D",
    "GlobalAvgPool2D",
    "GlobalAvgPool3D",
    "ReflectionPad2D",
]


class _Conv(HybridBlock):
    """A convolution of any number of dimensions, transposed if `op_name` is "Deconvolution"."""

    def __init__(
        self,
        channels,
        kernel_size,
        strides,
        padding,
        dilation,
        groups,
        layout,
        in_channels=0,
        activation=None,
        use_bias=True,
        weight_initializer=None,
        bias_initializer="zeros",
        op_name="Convolution",
        adj=None,
        prefix=None,
        params=None,
    ):
        super().__init__(prefix=prefix, params=params)
        self._channels = channels
        self._in_channels = in_channels
        self._op_name = op_name
        dimensions = len(kernel_size)
        self._kwargs = {
            "kernel": kernel_size,
            "stride": repeated(strides, dimensions),
            "dilate": repeated(dilation, dimensions),
            "pad": repeated(padding, dimensions),
            "num_filter": channels,
            "num_group": groups,
            "no_bias": not use_bias,
            "layout": layout,
        }
        if adj is not None:
            self._kwargs["adj"] = adj
        with self.name_scope():
            self.weight = self.params.get(
                "weight", shape=self._weight_shape(), init=weight_initializer, allow_deferred_init=True
            )
            self.bias: Any = None
            if use_bias:
                self.bias = self.params.get("bias", shape=(channels,), init=bias_initializer, allow_deferred_init=True)
            self.act = None if activation is None else Activation(activation, prefix=activation + "_")

    def _weight_shape(self):
        """Output channels, input channels (0 if open), kernel; the kernel comes before the input in channel-last."""
        kernel, groups = tuple(self._kwargs["kernel"]), self._kwargs["num_group"]
        for side, number in (("input", self._in_channels), ("output", self._channels)):
            if groups < 1 or number % groups:
                raise MXNetError(f"{side} num_filter must divide group size: {number} channels, {groups} groups")
        sides = (self._channels, self._in_channels // groups)
        if self._op_name == "Deconvolution":
            sides = (self._in_channels, self._channels // groups)
        channel_last = self._kwargs["layout"].endswith("C")
        return (sides[0], *kernel, sides[1]) if channel_last else (*sides, *kernel)

    def hybrid_forward(self, F, x, weight, bias=None):
        operator = getattr(F, self._op_name)
        inputs = (x, weight) if bias is None else (x, weight, bias)
        out = operator(*inputs, name="fwd", **self._kwargs)
        return out if self.act is None else self.act(out)

    def _alias(self):
        return "conv"

    def __repr__(self):
        shape, given = self.weight.shape, self._kwargs
        ones, zeros = ((number,) * len(given["kernel"]) for number in (1, 0))
        parts = [f"{shape[1] or None} -> {shape[0]}", f"kernel_size={given['kernel']}", f"stride={given['stride']}"]
        if given["pad"] != zeros:
            parts.append(f"padding={given['pad']}")
        if given["dilate"] != ones:
            parts.append(f"dilation={given['dilate']}")
        if getattr(self, "out_pad", zeros) != zeros:
            parts.append(f"output_padding={self.out_pad}")
        if given["num_group"] != 1:
            parts.append(f"groups={given['num_group']}")
        if self.bias is None:
            parts.append("bias=False")
        if self.act:
            parts.append(str(self.act))
        return f"{type(self).__name__}({', '.join(parts)})"


def _check_layout(layout, dimensions):
    first, last = layouts(dimensions)
    if dimensions == 1:
        assert layout == first, f"Only supports '{first}' layout for now"
    assert layout in (first, last), f"Only supports '{first}' and '{last}' layout for now"


class _Constructor:
    """A constructor that names itself after the class it is put into, as messages and `help` tell it."""

    def __init__(self, construct):
        self.construct = construct

    def __set_name__(self, owner, name):
        self.construct.__name__, self.construct.__qualname__ = name, f"{owner.__qualname__}.{name}"
        setattr(owner, name, self.construct)


def _convolution(dimensions) -> Any:
    """The constructor of a convolution: the same for each number of dimensions but for its defaults."""
    one, zero = (number if dimensions == 1 else (number,) * dimensions for number in (1, 0))
    usual_layout = layouts(dimensions)[0]

    def construct(
        self,
        channels,
        kernel_size,
        strides=one,
        padding=zero,
        dilation=one,
        groups=1,
        layout=usual_layout,
        activation=None,
        use_bias=True,
        weight_initializer=None,
        bias_initializer="zeros",
        in_channels=0,
        **kwargs,
    ):
        _check_layout(layout, dimensions)
        kernel_size = sized(kernel_size, dimensions, "kernel_size")
        window = (channels, kernel_size, strides, padding, dilation, groups, layout, in_channels)
        _Conv.__init__(self, *window, activation, use_bias, weight_initializer, bias_initializer, **kwargs)

    return _Constructor(construct)


def _transposed_convolution(dimensions) -> Any:
    """The constructor of a transposed convolution."""
    one, zero = (number if dimensions == 1 else (number,) * dimensions for number in (1, 0))
    usual_layout = layouts(dimensions)[0]

    def construct(
        self,
        channels,
        kernel_size,
        strides=one,
        padding=zero,
        output_padding=zero,
        dilation=one,
        groups=1,
        layout=usual_layout,
        activation=None,
        use_bias=True,
        weight_initializer=None,
        bias_initializer="zeros",
        in_channels=0,
        **kwargs,
    ):
        _check_layout(layout, dimensions)
        kernel_size = sized(kernel_size, dimensions, "kernel_size")
        output_padding = sized(output_padding, dimensions, "output_padding")
        kwargs.setdefault("op_name", "Deconvolution")
        window = (channels, kernel_size, strides, padding, dilation, groups, layout, in_channels)
        rest = (activation, use_bias, weight_initializer, bias_initializer)
        _Conv.__init__(self, *window, *rest, adj=output_padding, **kwargs)
        self.outpad = output_padding

    return _Constructor(construct)


class Conv1D(_Conv):
    """Convolution over sequences of shape (N, C, W): y[n, c] = activation(bias[c] + Σ_k weight[c, k] ⋆ x[n, k]).

    The length of each spatial axis becomes floor((x + 2 · padding - dilation · (kernel_size - 1) - 1) / strides) + 1.

    Parameters
    ----------
    channels : int
        Number of output channels.
    kernel_size : int or tuple of int
        Size of the window.
    strides : int or tuple of int, default 1
        Step of the window.
    padding : int or tuple of int, default 0
        Number of zeros added at both ends of each spatial axis.
    dilation : int or tuple of int, default 1
        Distance between the elements of the window.
    groups : int, default 1
        Number of groups of channels that are convolved separately; as many as channels gives a depthwise convolution.
    layout : str
        The order of the axes: N samples, C channels, D depth, H height, W width.
    activation : str, optional
        The function applied to the result, as in `Activation`.
    use_bias : bool, default True
        Whether the layer has a bias.
    weight_initializer : Initializer or str, optional
        How the weight is initialized; None takes the one given to `initialize()`.
    bias_initializer : Initializer or str, default 'zeros'
        How the bias is initialized.
    in_channels : int, default 0
        Number of input channels; 0 means that the first batch decides.

    Examples
    --------
    >>> layer = mx.gluon.nn.Conv1D(4, kernel_size=3, strides=2)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 3, 11))).shape
    (2, 4, 5)
    """

    __init__: Any = _convolution(1)


class Conv2D(_Conv):
    """Convolution over images of shape (N, C, H, W): y[n, c] = activation(bias[c] + Σ_k weight[c, k] ⋆ x[n, k]).

    The length of each spatial axis becomes floor((x + 2 · padding - dilation · (kernel_size - 1) - 1) / strides) + 1.

    Parameters
    ----------
    channels : int
        Number of output channels.
    kernel_size : int or tuple of int
        Size of the window.
    strides : int or tuple of int, default 1
        Step of the window.
    padding : int or tuple of int, default 0
        Number of zeros added at both ends of each spatial axis.
    dilation : int or tuple of int, default 1
        Distance between the elements of the window.
    groups : int, default 1
        Number of groups of channels that are convolved separately; as many as channels gives a depthwise convolution.
    layout : str
        The order of the axes: N samples, C channels, D depth, H height, W width.
    activation : str, optional
        The function applied to the result, as in `Activation`.
    use_bias : bool, default True
        Whether the layer has a bias.
    weight_initializer : Initializer or str, optional
        How the weight is initialized; None takes the one given to `initialize()`.
    bias_initializer : Initializer or str, default 'zeros'
        How the bias is initialized.
    in_channels : int, default 0
        Number of input channels; 0 means that the first batch decides.

    Examples
    --------
    >>> layer = mx.gluon.nn.Conv2D(8, kernel_size=3, padding=1, activation="relu")
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 3, 28, 28))).shape
    (2, 8, 28, 28)
    >>> layer.weight.shape
    (8, 3, 3, 3)
    """

    __init__: Any = _convolution(2)


class Conv3D(_Conv):
    """Convolution over volumes of shape (N, C, D, H, W): y[n, c] = activation(bias[c] + Σ_k weight[c, k] ⋆ x[n, k]).

    The length of each spatial axis becomes floor((x + 2 · padding - dilation · (kernel_size - 1) - 1) / strides) + 1.

    Parameters
    ----------
    channels : int
        Number of output channels.
    kernel_size : int or tuple of int
        Size of the window.
    strides : int or tuple of int, default 1
        Step of the window.
    padding : int or tuple of int, default 0
        Number of zeros added at both ends of each spatial axis.
    dilation : int or tuple of int, default 1
        Distance between the elements of the window.
    groups : int, default 1
        Number of groups of channels that are convolved separately; as many as channels gives a depthwise convolution.
    layout : str
        The order of the axes: N samples, C channels, D depth, H height, W width.
    activation : str, optional
        The function applied to the result, as in `Activation`.
    use_bias : bool, default True
        Whether the layer has a bias.
    weight_initializer : Initializer or str, optional
        How the weight is initialized; None takes the one given to `initialize()`.
    bias_initializer : Initializer or str, default 'zeros'
        How the bias is initialized.
    in_channels : int, default 0
        Number of input channels; 0 means that the first batch decides.

    Examples
    --------
    >>> layer = mx.gluon.nn.Conv3D(4, kernel_size=(1, 3, 3))
    >>> layer.initialize()
    >>> layer(mx.nd.ones((1, 2, 4, 8, 8))).shape
    (1, 4, 4, 6, 6)
    """

    __init__: Any = _convolution(3)


class Conv1DTranspose(_Conv):
    """Transposed convolution over sequences of shape (N, C, W): the gradient of a convolution by its input.

    The length of each spatial axis becomes
    (x - 1) · strides - 2 · padding + dilation · (kernel_size - 1) + output_padding + 1.

    Parameters
    ----------
    channels : int
        Number of output channels.
    kernel_size : int or tuple of int
        Size of the window.
    strides : int or tuple of int, default 1
        Step of the window.
    padding : int or tuple of int, default 0
        Number of zeros added at both ends of each spatial axis.
    output_padding : int or tuple of int, default 0
        Added to one end of each axis of the result, to choose between the sizes that a stride allows.
    dilation : int or tuple of int, default 1
        Distance between the elements of the window.
    groups : int, default 1
        Number of groups of channels that are convolved separately; as many as channels gives a depthwise convolution.
    layout : str
        The order of the axes: N samples, C channels, D depth, H height, W width.
    activation : str, optional
        The function applied to the result, as in `Activation`.
    use_bias : bool, default True
        Whether the layer has a bias.
    weight_initializer : Initializer or str, optional
        How the weight is initialized; None takes the one given to `initialize()`.
    bias_initializer : Initializer or str, default 'zeros'
        How the bias is initialized.
    in_channels : int, default 0
        Number of input channels; 0 means that the first batch decides.

    Examples
    --------
    >>> layer = mx.gluon.nn.Conv1DTranspose(4, kernel_size=4, strides=2, padding=1)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 3, 8))).shape
    (2, 4, 16)
    """

    __init__: Any = _transposed_convolution(1)


class Conv2DTranspose(_Conv):
    """Transposed convolution over images of shape (N, C, H, W): the gradient of a convolution by its input.

    The length of each spatial axis becomes
    (x - 1) · strides - 2 · padding + dilation · (kernel_size - 1) + output_padding + 1.

    Parameters
    ----------
    channels : int
        Number of output channels.
    kernel_size : int or tuple of int
        Size of the window.
    strides : int or tuple of int, default 1
        Step of the window.
    padding : int or tuple of int, default 0
        Number of zeros added at both ends of each spatial axis.
    output_padding : int or tuple of int, default 0
        Added to one end of each axis of the result, to choose between the sizes that a stride allows.
    dilation : int or tuple of int, default 1
        Distance between the elements of the window.
    groups : int, default 1
        Number of groups of channels that are convolved separately; as many as channels gives a depthwise convolution.
    layout : str
        The order of the axes: N samples, C channels, D depth, H height, W width.
    activation : str, optional
        The function applied to the result, as in `Activation`.
    use_bias : bool, default True
        Whether the layer has a bias.
    weight_initializer : Initializer or str, optional
        How the weight is initialized; None takes the one given to `initialize()`.
    bias_initializer : Initializer or str, default 'zeros'
        How the bias is initialized.
    in_channels : int, default 0
        Number of input channels; 0 means that the first batch decides.

    Examples
    --------
    >>> layer = mx.gluon.nn.Conv2DTranspose(4, kernel_size=4, strides=2, padding=1)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((2, 3, 8, 8))).shape
    (2, 4, 16, 16)
    """

    __init__: Any = _transposed_convolution(2)


class Conv3DTranspose(_Conv):
    """Transposed convolution over volumes of shape (N, C, D, H, W): the gradient of a convolution by its input.

    The length of each spatial axis becomes
    (x - 1) · strides - 2 · padding + dilation · (kernel_size - 1) + output_padding + 1.

    Parameters
    ----------
    channels : int
        Number of output channels.
    kernel_size : int or tuple of int
        Size of the window.
    strides : int or tuple of int, default 1
        Step of the window.
    padding : int or tuple of int, default 0
        Number of zeros added at both ends of each spatial axis.
    output_padding : int or tuple of int, default 0
        Added to one end of each axis of the result, to choose between the sizes that a stride allows.
    dilation : int or tuple of int, default 1
        Distance between the elements of the window.
    groups : int, default 1
        Number of groups of channels that are convolved separately; as many as channels gives a depthwise convolution.
    layout : str
        The order of the axes: N samples, C channels, D depth, H height, W width.
    activation : str, optional
        The function applied to the result, as in `Activation`.
    use_bias : bool, default True
        Whether the layer has a bias.
    weight_initializer : Initializer or str, optional
        How the weight is initialized; None takes the one given to `initialize()`.
    bias_initializer : Initializer or str, default 'zeros'
        How the bias is initialized.
    in_channels : int, default 0
        Number of input channels; 0 means that the first batch decides.

    Examples
    --------
    >>> layer = mx.gluon.nn.Conv3DTranspose(2, kernel_size=2, strides=2)
    >>> layer.initialize()
    >>> layer(mx.nd.ones((1, 3, 4, 4, 4))).shape
    (1, 2, 8, 8, 8)
    """

    __init__: Any = _transposed_convolution(3)


_CONVOLUTIONS = """
    Notes
    -----
    Input: an array of shape (N, in_channels, size…), one size for each spatial axis, in the order that `layout` says.
    Output: (N, channels, new size…) with new size = {size}.

    `kernel_size`, `strides`, `padding` and `dilation` are one number for all spatial axes, or one for each. With
    `groups` the channels are divided into as many groups, and each filter sees the input channels of its own group.
    If `in_channels` is 0, the first batch determines it.

"""


describe((Conv1D, Conv2D, Conv3D), _CONVOLUTIONS.format(size=LENGTH.format("dilation * (kernel - 1) - 1")))
describe(
    (Conv1DTranspose, Conv2DTranspose, Conv3DTranspose),
    _CONVOLUTIONS.format(size="(size - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1 + output_padding"),
)
