"""MobileNet of both versions: depthwise convolutions, and inverted residuals with linear bottlenecks."""

from ... import nn
from ...block import HybridBlock
from ._common import ROOT, Classifier, cpu, published, variant

__all__ = [
    "MobileNet", "MobileNetV2", "get_mobilenet", "get_mobilenet_v2",
    "mobilenet0_25", "mobilenet0_5", "mobilenet0_75", "mobilenet1_0",
    "mobilenet_v2_0_25", "mobilenet_v2_0_5", "mobilenet_v2_0_75", "mobilenet_v2_1_0",
]  # fmt: skip


class RELU6(HybridBlock):
    """Rectification that stops at six."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def hybrid_forward(self, F, x):
        """Between 0 and 6."""
        return F.clip(x, 0, 6, name="relu6")


def _add_conv(out, channels, kernel=1, stride=1, pad=0, groups=1, activation=None):
    """Convolution, normalization and, unless None, an activation."""
    out.add(nn.Conv2D(channels, kernel, stride, pad, groups=groups, use_bias=False), nn.BatchNorm(scale=True))
    if activation is not None:
        out.add(activation())


def _relu():
    return nn.Activation("relu")


class LinearBottleneck(HybridBlock):
    """Widen `t` times, filter each channel, narrow again; a shortcut where the shape stays."""

    def __init__(self, in_channels, channels, t, stride, **kwargs):
        super().__init__(**kwargs)
        self.use_shortcut = stride == 1 and in_channels == channels
        wide = in_channels * t
        with self.name_scope():
            self.out = nn.HybridSequential()
            _add_conv(self.out, wide, activation=RELU6)
            _add_conv(self.out, wide, kernel=3, stride=stride, pad=1, groups=wide, activation=RELU6)
            _add_conv(self.out, channels)

    def hybrid_forward(self, F, x):
        """The block's output."""
        out = self.out(x)
        return F.elemwise_add(out, x) if self.use_shortcut else out


class MobileNet(Classifier):
    """MobileNet: depthwise separable convolutions.

    Parameters
    ----------
    multiplier : float, default 1.0
        The factor of all channels.
    classes : int, default 1000
        The number of classes.
    **kwargs
        `prefix` and `params` of the block.

    Examples
    --------
    >>> mx.gluon.model_zoo.vision.MobileNet(0.25, classes=10).output
    Dense(None -> 10, linear)
    """

    def __init__(self, multiplier=1.0, classes=1000, **kwargs):
        super().__init__(**kwargs)
        widths = [int(w * multiplier) for w in (32, 64, 128, 128, 256, 256, *[512] * 6, 1024, 1024)]
        strides = [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1]
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            with self.features.name_scope():
                _add_conv(self.features, widths[0], kernel=3, stride=2, pad=1, activation=_relu)
                for before, after, stride in zip(widths[:-1], widths[1:], strides, strict=True):
                    _add_conv(self.features, before, 3, stride, 1, groups=before, activation=_relu)
                    _add_conv(self.features, after, activation=_relu)
                self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
            self.output = nn.Dense(classes)


# expansion, channels, how many, stride of the first
_V2_STAGES = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
)  # fmt: skip


class MobileNetV2(Classifier):
    """MobileNet v2: inverted residuals.

    Parameters
    ----------
    multiplier : float, default 1.0
        The factor of all channels.
    classes : int, default 1000
        The number of classes.
    **kwargs
        `prefix` and `params` of the block.

    Examples
    --------
    >>> len(mx.gluon.model_zoo.vision.MobileNetV2(0.25, classes=10).features)
    24
    """

    def __init__(self, multiplier=1.0, classes=1000, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="features_")
            with self.features.name_scope():
                before = int(32 * multiplier)
                _add_conv(self.features, before, kernel=3, stride=2, pad=1, activation=RELU6)
                for expansion, width, count, first in _V2_STAGES:
                    after = int(width * multiplier)
                    for i in range(count):
                        stride = first if i == 0 else 1
                        self.features.add(LinearBottleneck(before, after, expansion, stride))
                        before = after
                _add_conv(self.features, max(1280, int(1280 * multiplier)), activation=RELU6)
                self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.HybridSequential(prefix="output_")
            with self.output.name_scope():
                self.output.add(nn.Conv2D(classes, 1, use_bias=False, prefix="pred_"), nn.Flatten())


def _text(multiplier):
    """The multiplier as file names have it: 1.0, 0.75, 0.5, 0.25."""
    text = f"{multiplier:.2f}"
    return text[:-1] if text in ("1.00", "0.50") else text


def get_mobilenet(multiplier, pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """MobileNet of a width.

    Parameters
    ----------
    multiplier : float
        The factor of all channels: 1.0, 0.75, 0.5 or 0.25.
    pretrained : bool, default False
        Whether to load the published weights.
    ctx : Context, default cpu()
        The device of the parameters.
    root : str, default ROOT
        The folder of the published weights.
    **kwargs
        `classes`, the number of classes, and further arguments of the network's class.

    Returns
    -------
    HybridBlock

    Examples
    --------
    >>> mx.gluon.model_zoo.vision.get_mobilenet(0.25, classes=10).output
    Dense(None -> 10, linear)
    """
    return published(MobileNet(multiplier, **kwargs), f"mobilenet{_text(multiplier)}", pretrained, ctx, root)


def get_mobilenet_v2(multiplier, pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """MobileNet v2 of a width.

    Parameters
    ----------
    multiplier : float
        The factor of all channels: 1.0, 0.75, 0.5 or 0.25.
    pretrained : bool, default False
        Whether to load the published weights.
    ctx : Context, default cpu()
        The device of the parameters.
    root : str, default ROOT
        The folder of the published weights.
    **kwargs
        `classes`, the number of classes, and further arguments of the network's class.

    Returns
    -------
    HybridBlock

    Examples
    --------
    >>> len(mx.gluon.model_zoo.vision.get_mobilenet_v2(0.25, classes=10).features)
    24
    """
    return published(MobileNetV2(multiplier, **kwargs), f"mobilenetv2_{_text(multiplier)}", pretrained, ctx, root)


def _family(make, stem, kind):
    for m in (1.0, 0.75, 0.5, 0.25):
        yield variant(make, f"{stem}{_text(m).replace('.', '_')}", f"{kind} of width {m}.", kind, multiplier=m)


mobilenet1_0, mobilenet0_75, mobilenet0_5, mobilenet0_25 = _family(get_mobilenet, "mobilenet", "MobileNet")
mobilenet_v2_1_0, mobilenet_v2_0_75, mobilenet_v2_0_5, mobilenet_v2_0_25 = _family(
    get_mobilenet_v2, "mobilenet_v2_", "MobileNetV2"
)
