"""Residual networks of both versions: normalization after the convolutions (V1) or before them (V2)."""

from ....util import is_np_array
from ... import nn
from ...block import HybridBlock
from ._common import ROOT, Classifier, chain, cpu, published, variant

__all__ = [
    "BasicBlockV1", "BasicBlockV2", "BottleneckV1", "BottleneckV2", "ResNetV1", "ResNetV2", "get_resnet",
    "resnet18_v1", "resnet34_v1", "resnet50_v1", "resnet101_v1", "resnet152_v1",
    "resnet18_v2", "resnet34_v2", "resnet50_v2", "resnet101_v2", "resnet152_v2",
]  # fmt: skip


def _conv3x3(channels, stride, in_channels):
    return nn.Conv2D(channels, kernel_size=3, strides=stride, padding=1, use_bias=False, in_channels=in_channels)


def _conv1x1(channels, stride, in_channels=0):
    return nn.Conv2D(channels, kernel_size=1, strides=stride, use_bias=False, in_channels=in_channels)


def _relu(F, x):
    return F.npx.activation(x, act_type="relu") if is_np_array() else F.Activation(x, act_type="relu")


class _BlockV1(HybridBlock):
    """`body` beside a shortcut, which is projected when the shape changes; the sum is rectified."""

    def __init__(self, channels, stride, downsample=False, in_channels=0, **kwargs):
        super().__init__(**kwargs)
        self.body = chain(*self._layers(channels, stride, in_channels))
        self.downsample = chain(_conv1x1(channels, stride, in_channels), nn.BatchNorm()) if downsample else None

    def hybrid_forward(self, F, x):
        """The block's output."""
        shortcut = self.downsample(x) if self.downsample else x
        return _relu(F, self._join(shortcut, self.body(x)))


class BasicBlockV1(_BlockV1):
    """The block of ResNet v1 of 18 and 34 layers: two convolutions and a shortcut.

    Parameters
    ----------
    channels : int
        The number of output channels.
    stride : int
        The stride of the block.
    downsample : bool, default False
        Whether the shortcut is a convolution, which changes size and channels.
    in_channels : int, default 0
        The number of input channels; 0: it is taken from the first batch.

    Examples
    --------
    >>> block = mx.gluon.model_zoo.vision.BasicBlockV1(8, 2, downsample=True)
    >>> block.initialize()
    >>> block(mx.nd.ones((1, 4, 8, 8))).shape
    (1, 8, 4, 4)
    """

    def _layers(self, channels, stride, in_channels):
        yield _conv3x3(channels, stride, in_channels)
        yield nn.BatchNorm()
        yield nn.Activation("relu")
        yield _conv3x3(channels, 1, channels)
        yield nn.BatchNorm()

    def _join(self, shortcut, out):
        return shortcut + out


class BottleneckV1(_BlockV1):
    """The block of ResNet v1 of 50 and more layers: three convolutions and a shortcut.

    Parameters
    ----------
    channels : int
        The number of output channels.
    stride : int
        The stride of the block.
    downsample : bool, default False
        Whether the shortcut is a convolution, which changes size and channels.
    in_channels : int, default 0
        The number of input channels; 0: it is taken from the first batch.

    Examples
    --------
    >>> block = mx.gluon.model_zoo.vision.BottleneckV1(8, 2, downsample=True)
    >>> block.initialize()
    >>> block(mx.nd.ones((1, 4, 8, 8))).shape
    (1, 8, 4, 4)
    """

    def _layers(self, channels, stride, in_channels):
        yield nn.Conv2D(channels // 4, kernel_size=1, strides=stride)
        yield nn.BatchNorm()
        yield nn.Activation("relu")
        yield _conv3x3(channels // 4, 1, channels // 4)
        yield nn.BatchNorm()
        yield nn.Activation("relu")
        yield nn.Conv2D(channels, kernel_size=1, strides=1)
        yield nn.BatchNorm()

    def _join(self, shortcut, out):
        return out + shortcut


class _BlockV2(HybridBlock):
    """Convolutions, each after normalization and rectification; the shortcut leaves after the first of these."""

    def __init__(self, channels, stride, downsample=False, in_channels=0, **kwargs):
        super().__init__(**kwargs)
        self._steps = 0
        for conv in self._convolutions(channels, stride, in_channels):
            self._steps += 1
            setattr(self, f"bn{self._steps}", nn.BatchNorm())
            setattr(self, f"conv{self._steps}", conv())
        self.downsample = _conv1x1(channels, stride, in_channels) if downsample else None

    def hybrid_forward(self, F, x):
        """The block's output."""
        shortcut = x
        for step in range(1, self._steps + 1):
            x = _relu(F, getattr(self, f"bn{step}")(x))
            if step == 1 and self.downsample:
                shortcut = self.downsample(x)
            x = getattr(self, f"conv{step}")(x)
        return x + shortcut


class BasicBlockV2(_BlockV2):
    """The block of ResNet v2 of 18 and 34 layers: normalization comes before the convolutions.

    Parameters
    ----------
    channels : int
        The number of output channels.
    stride : int
        The stride of the block.
    downsample : bool, default False
        Whether the shortcut is a convolution, which changes size and channels.
    in_channels : int, default 0
        The number of input channels; 0: it is taken from the first batch.

    Examples
    --------
    >>> block = mx.gluon.model_zoo.vision.BasicBlockV2(8, 2, downsample=True)
    >>> block.initialize()
    >>> block(mx.nd.ones((1, 4, 8, 8))).shape
    (1, 8, 4, 4)
    """

    def _convolutions(self, channels, stride, in_channels):
        yield lambda: _conv3x3(channels, stride, in_channels)
        yield lambda: _conv3x3(channels, 1, channels)


class BottleneckV2(_BlockV2):
    """The block of ResNet v2 of 50 and more layers: normalization comes before the convolutions.

    Parameters
    ----------
    channels : int
        The number of output channels.
    stride : int
        The stride of the block.
    downsample : bool, default False
        Whether the shortcut is a convolution, which changes size and channels.
    in_channels : int, default 0
        The number of input channels; 0: it is taken from the first batch.

    Examples
    --------
    >>> block = mx.gluon.model_zoo.vision.BottleneckV2(8, 2, downsample=True)
    >>> block.initialize()
    >>> block(mx.nd.ones((1, 4, 8, 8))).shape
    (1, 8, 4, 4)
    """

    def _convolutions(self, channels, stride, in_channels):
        yield lambda: _conv1x1(channels // 4, 1)
        yield lambda: _conv3x3(channels // 4, stride, channels // 4)
        yield lambda: _conv1x1(channels, 1)


class _ResNet(Classifier):
    def _add_stem(self, channels, thumbnail):
        if thumbnail:
            self.features.add(_conv3x3(channels, 1, 0))
        else:
            self.features.add(
                nn.Conv2D(channels, 7, 2, 3, use_bias=False),
                nn.BatchNorm(),
                nn.Activation("relu"),
                nn.MaxPool2D(3, 2, 1),
            )

    def _add_stages(self, block, layers, channels):
        for i, count in enumerate(layers):
            self.features.add(
                self._make_layer(block, count, channels[i + 1], 1 if i == 0 else 2, i + 1, in_channels=channels[i])
            )

    def _make_layer(self, block, layers, channels, stride, stage_index, in_channels=0):
        layer = nn.HybridSequential(prefix=f"stage{stage_index}_")
        with layer.name_scope():
            layer.add(block(channels, stride, channels != in_channels, in_channels=in_channels, prefix=""))
            for _ in range(layers - 1):
                layer.add(block(channels, 1, False, in_channels=channels, prefix=""))
        return layer


class ResNetV1(_ResNet):
    """ResNet v1.

    Parameters
    ----------
    block : class
        The class of the blocks.
    layers : list of int
        The number of blocks in each stage.
    channels : list of int
        The number of channels: of the first convolution, then of each stage.
    classes : int, default 1000
        The number of classes.
    thumbnail : bool, default False
        Whether images are small, such as those of CIFAR: the stem is one convolution without pooling.
    **kwargs
        `prefix` and `params` of the block.

    Examples
    --------
    >>> from mxnet.gluon.model_zoo import vision
    >>> net = vision.ResNetV1(vision.BasicBlockV1, [1, 1], [8, 8, 16], classes=10, thumbnail=True)
    >>> net.initialize()
    >>> net(mx.nd.ones((1, 3, 32, 32))).shape
    (1, 10)
    """

    def __init__(self, block, layers, channels, classes=1000, thumbnail=False, **kwargs):
        super().__init__(**kwargs)
        assert len(layers) == len(channels) - 1
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self._add_stem(channels[0], thumbnail)
            self._add_stages(block, layers, channels)
            self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.Dense(classes, in_units=channels[-1])


class ResNetV2(_ResNet):
    """ResNet v2: normalization and activation come before the convolutions.

    Parameters
    ----------
    block : class
        The class of the blocks.
    layers : list of int
        The number of blocks in each stage.
    channels : list of int
        The number of channels: of the first convolution, then of each stage.
    classes : int, default 1000
        The number of classes.
    thumbnail : bool, default False
        Whether images are small, such as those of CIFAR: the stem is one convolution without pooling.
    **kwargs
        `prefix` and `params` of the block.

    Examples
    --------
    >>> from mxnet.gluon.model_zoo import vision
    >>> net = vision.ResNetV2(vision.BasicBlockV2, [1, 1], [8, 8, 16], classes=10, thumbnail=True)
    >>> net.initialize()
    >>> net(mx.nd.ones((1, 3, 32, 32))).shape
    (1, 10)
    """

    def __init__(self, block, layers, channels, classes=1000, thumbnail=False, **kwargs):
        super().__init__(**kwargs)
        assert len(layers) == len(channels) - 1
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(nn.BatchNorm(scale=False, center=False))
            self._add_stem(channels[0], thumbnail)
            self._add_stages(block, layers, channels)
            self.features.add(nn.BatchNorm(), nn.Activation("relu"))
            self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
            self.output = nn.Dense(classes, in_units=channels[-1])


_NARROW, _WIDE = [64, 64, 128, 256, 512], [64, 256, 512, 1024, 2048]
resnet_spec = {
    18: ("basic_block", [2, 2, 2, 2], _NARROW),
    34: ("basic_block", [3, 4, 6, 3], _NARROW),
    50: ("bottle_neck", [3, 4, 6, 3], _WIDE),
    101: ("bottle_neck", [3, 4, 23, 3], _WIDE),
    152: ("bottle_neck", [3, 8, 36, 3], _WIDE),
}
resnet_net_versions = [ResNetV1, ResNetV2]
resnet_block_versions = [
    {"basic_block": BasicBlockV1, "bottle_neck": BottleneckV1},
    {"basic_block": BasicBlockV2, "bottle_neck": BottleneckV2},
]


def get_resnet(version, num_layers, pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """A ResNet of 18, 34, 50, 101 or 152 layers.

    Parameters
    ----------
    version : int
        1 or 2.
    num_layers : int
        The number of layers.
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
    >>> mx.gluon.model_zoo.vision.get_resnet(1, 18, classes=10).output
    Dense(512 -> 10, linear)
    """
    assert num_layers in resnet_spec, f"Invalid number of layers: {num_layers}. Options are {list(resnet_spec)}"
    assert version in (1, 2), f"Invalid resnet version: {version}. Options are 1 and 2."
    kind, layers, channels = resnet_spec[num_layers]
    net = resnet_net_versions[version - 1](resnet_block_versions[version - 1][kind], layers, channels, **kwargs)
    return published(net, f"resnet{num_layers}_v{version}", pretrained, ctx, root)


def _family(version):
    for d in resnet_spec:
        name, about, kind = f"resnet{d}_v{version}", f"ResNet of version {version}, {d} layers.", f"ResNetV{version}"
        yield variant(get_resnet, name, about, kind, version=version, num_layers=d)


resnet18_v1, resnet34_v1, resnet50_v1, resnet101_v1, resnet152_v1 = _family(1)
resnet18_v2, resnet34_v2, resnet50_v2, resnet101_v2, resnet152_v2 = _family(2)
