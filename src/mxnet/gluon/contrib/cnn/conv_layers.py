"""Deformable convolutions: sampling places that the network learns, with or without weights of their own."""

from ... import nn
from ...block import HybridBlock
from ...nn import Activation  # noqa: F401 - MXNet's module shows it

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]


class _Deformable(HybridBlock):
    """A plain convolution gives offsets, a deformable one uses them."""

    _per_point = 2  # numbers the first convolution gives for each kernel point
    _order = 1  # the offsets' parameters come first

    def _build(
        self, channels, kernel_size, strides, padding, dilation, groups, num_deformable_group, layout, use_bias,
        in_channels, activation, weight_initializer, bias_initializer, offset_weight_initializer,
        offset_bias_initializer, offset_use_bias, op_name, adj,
    ):  # fmt: skip
        pair = [(v,) * 2 if isinstance(v, int) else tuple(v) for v in (kernel_size, strides, padding, dilation)]
        kernel, stride, pad, dilate = pair
        assert layout in ("NCHW", "NHWC"), f"layout must be NCHW or NHWC, got {layout}"
        self._channels, self._in_channels, self._op_name = channels, in_channels, op_name
        offsets = self._per_point * kernel[0] * kernel[1] * num_deformable_group
        self._split = 2 * kernel[0] * kernel[1] * num_deformable_group
        shared = {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad, "layout": layout}
        self._kwargs_offset = {**shared, "num_filter": offsets, "num_group": groups, "no_bias": not offset_use_bias}
        self._kwargs_conv = {
            **shared,
            "num_filter": channels,
            "num_group": groups,
            "num_deformable_group": num_deformable_group,
            "no_bias": not use_bias,
        }
        if adj is not None:
            self._kwargs_offset["adj"] = self._kwargs_conv["adj"] = adj

        def weight(rows):
            inner = in_channels // groups if in_channels else 0
            return (rows, inner, *kernel) if layout == "NCHW" else (rows, *kernel, inner)

        def parameter(name, shape, init):
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

        wanted = [
            ("offset", offsets, offset_weight_initializer, offset_bias_initializer if offset_use_bias else None),
            ("deformable_conv", channels, weight_initializer, bias_initializer if use_bias else None),
        ]
        for name, rows, start, bias in wanted[:: self._order]:
            parameter(f"{name}_weight", weight(rows), start)
            if bias is not None:
                parameter(f"{name}_bias", (rows,), bias)
        self.act = nn.Activation(activation, prefix=f"{activation}_") if activation else None

    def hybrid_forward(self, F, x, offset_weight, deformable_conv_weight, offset_bias=None, deformable_conv_bias=None):
        """The convolution at the places the offsets name."""
        extra = (offset_bias,) if offset_bias is not None else ()
        offset = F.Convolution(x, offset_weight, *extra, cudnn_off=True, **self._kwargs_offset)
        bias = (deformable_conv_bias,) if deformable_conv_bias is not None else ()
        out = self._convolve(F, x, offset, deformable_conv_weight, bias)
        return self.act(out) if self.act else out

    def __repr__(self):
        k = self._kwargs_conv
        shape = self.deformable_conv_weight.shape
        parts = [f"{shape[1] or None} -> {shape[0]}", f"kernel_size={k['kernel']}", f"stride={k['stride']}"]
        if any(k["pad"]):
            parts.append(f"padding={k['pad']}")
        if any(d != 1 for d in k["dilate"]):
            parts.append(f"dilation={k['dilate']}")
        if k["num_group"] != 1:
            parts.append(f"groups={k['num_group']}")
        if k["no_bias"]:
            parts.append("bias=False")
        if self.act:
            parts.append(str(self.act))
        return f"{type(self).__name__}({', '.join(parts)})"


class DeformableConvolution(_Deformable):
    """A convolution whose taps move by offsets that a second convolution computes.

    Parameters
    ----------
    channels : int
        The number of output channels.
    kernel_size : int or tuple of two ints, default (1, 1)
        The size of the window.
    strides : int or tuple of two ints, default (1, 1)
        The distance of two windows.
    padding : int or tuple of two ints, default (0, 0)
        The number of zeros on both sides of each axis.
    dilation : int or tuple of two ints, default (1, 1)
        The distance of two elements of a window.
    groups : int, default 1
        The number of groups into which the channels are divided.
    num_deformable_group : int, default 1
        The number of groups of channels that have offsets of their own.
    layout : str, default 'NCHW'
        The order of the axes; NCHW only.
    use_bias : bool, default True
        Whether the convolution has a bias.
    in_channels : int, default 0
        The number of input channels; 0: it is taken from the first batch.
    activation : str, optional
        An activation that follows.
    weight_initializer : Initializer, optional
        How the weight is initialized.
    bias_initializer : str or Initializer, default 'zeros'
        How the bias is initialized.
    offset_weight_initializer : str or Initializer, default 'zeros'
        How the weight of the layer that computes offsets is initialized.
    offset_bias_initializer : str or Initializer, default 'zeros'
        How its bias is initialized.
    offset_use_bias : bool, default True
        Whether it has a bias.
    op_name : str, default 'DeformableConvolution'
        The operator; leave it.
    adj : tuple of int, optional
        Not used; leave it None.
    prefix : str, optional
        The prefix of the block's name and parameters.
    params : ParameterDict, optional
        Parameters to share.

    Examples
    --------
    >>> layer = mx.gluon.contrib.cnn.DeformableConvolution(4, kernel_size=(3, 3), padding=(1, 1))
    >>> layer.initialize()
    >>> layer(mx.nd.ones((1, 3, 8, 8))).shape
    (1, 4, 8, 8)
    """

    def __init__(
        self, channels, kernel_size=(1, 1), strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1,
        num_deformable_group=1, layout="NCHW", use_bias=True, in_channels=0, activation=None, weight_initializer=None,
        bias_initializer="zeros", offset_weight_initializer="zeros", offset_bias_initializer="zeros",
        offset_use_bias=True, op_name="DeformableConvolution", adj=None, prefix=None, params=None,
    ):  # fmt: skip
        super().__init__(prefix=prefix, params=params)
        with self.name_scope():
            self._build(
                channels, kernel_size, strides, padding, dilation, groups, num_deformable_group, layout, use_bias,
                in_channels, activation, weight_initializer, bias_initializer, offset_weight_initializer,
                offset_bias_initializer, offset_use_bias, op_name, adj,
            )  # fmt: skip

    def _alias(self):
        return "deformable_conv"

    def _convolve(self, F, x, offset, weight, bias):
        return getattr(F.contrib, self._op_name)(x, offset, weight, *bias, name="fwd", **self._kwargs_conv)


class ModulatedDeformableConvolution(_Deformable):
    """A deformable convolution that also computes a weight for each tap.

    Parameters
    ----------
    channels : int
        The number of output channels.
    kernel_size : int or tuple of two ints, default (1, 1)
        The size of the window.
    strides : int or tuple of two ints, default (1, 1)
        The distance of two windows.
    padding : int or tuple of two ints, default (0, 0)
        The number of zeros on both sides of each axis.
    dilation : int or tuple of two ints, default (1, 1)
        The distance of two elements of a window.
    groups : int, default 1
        The number of groups into which the channels are divided.
    num_deformable_group : int, default 1
        The number of groups of channels that have offsets of their own.
    layout : str, default 'NCHW'
        The order of the axes; NCHW only.
    use_bias : bool, default True
        Whether the convolution has a bias.
    in_channels : int, default 0
        The number of input channels; 0: it is taken from the first batch.
    activation : str, optional
        An activation that follows.
    weight_initializer : Initializer, optional
        How the weight is initialized.
    bias_initializer : str or Initializer, default 'zeros'
        How the bias is initialized.
    offset_weight_initializer : str or Initializer, default 'zeros'
        How the weight of the layer that computes offsets is initialized.
    offset_bias_initializer : str or Initializer, default 'zeros'
        How its bias is initialized.
    offset_use_bias : bool, default True
        Whether it has a bias.
    op_name : str, default 'ModulatedDeformableConvolution'
        The operator; leave it.
    adj : tuple of int, optional
        Not used; leave it None.
    prefix : str, optional
        The prefix of the block's name and parameters.
    params : ParameterDict, optional
        Parameters to share.

    Examples
    --------
    >>> layer = mx.gluon.contrib.cnn.ModulatedDeformableConvolution(4, kernel_size=(3, 3), padding=(1, 1))
    >>> layer.initialize()
    >>> layer(mx.nd.ones((1, 3, 8, 8))).shape
    (1, 4, 8, 8)
    """

    _per_point = 3
    _order = -1
    __repr__ = HybridBlock.__repr__

    def __init__(
        self, channels, kernel_size=(1, 1), strides=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1,
        num_deformable_group=1, layout="NCHW", use_bias=True, in_channels=0, activation=None, weight_initializer=None,
        bias_initializer="zeros", offset_weight_initializer="zeros", offset_bias_initializer="zeros",
        offset_use_bias=True, op_name="ModulatedDeformableConvolution", adj=None, prefix=None, params=None,
    ):  # fmt: skip
        super().__init__(prefix=prefix, params=params)
        with self.name_scope():
            self._build(
                channels, kernel_size, strides, padding, dilation, groups, num_deformable_group, layout, use_bias,
                in_channels, activation, weight_initializer, bias_initializer, offset_weight_initializer,
                offset_bias_initializer, offset_use_bias, op_name, adj,
            )  # fmt: skip

    def _alias(self):
        return "modulated_deformable_conv"

    def _convolve(self, F, x, offset, weight, bias):
        places = F.slice_axis(offset, axis=1, begin=0, end=self._split)
        mask = F.sigmoid(F.slice_axis(offset, axis=1, begin=self._split, end=None)) * 2
        return getattr(F.contrib, self._op_name)(x, places, mask, weight, *bias, name="fwd", **self._kwargs_conv)
