"""VGG: stacks of small convolutions, from "Very Deep Convolutional Networks for Large-Scale Image Recognition"."""

from ....initializer import Xavier
from ... import nn
from ...block import HybridBlock  # noqa: F401
from ._common import ROOT, Classifier, cpu, described, published, variant

__all__ = ["VGG", "get_vgg", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn"]

# depth: convolutions in each of the five stages
vgg_spec = {
    depth: (layers, [64, 128, 256, 512, 512])
    for depth, layers in {11: [1, 1, 2, 2, 2], 13: [2] * 5, 16: [2, 2, 3, 3, 3], 19: [2, 2, 4, 4, 4]}.items()
}


class VGG(Classifier):
    """VGG.

    Parameters
    ----------
    layers : list of int
        The number of convolutions in each stage.
    filters : list of int
        The number of channels of each stage.
    classes : int, default 1000
        The number of classes.
    batch_norm : bool, default False
        Whether normalization follows each convolution.
    **kwargs
        `prefix` and `params` of the block.

    Examples
    --------
    >>> mx.gluon.model_zoo.vision.VGG([1, 1], [8, 16], classes=10).output
    Dense(None -> 10, linear)
    """

    def __init__(self, layers, filters, classes=1000, batch_norm=False, **kwargs):
        super().__init__(**kwargs)
        assert len(layers) == len(filters)
        plain = {"weight_initializer": "normal", "bias_initializer": "zeros"}
        with self.name_scope():
            self.features = self._make_features(layers, filters, batch_norm)
            for _ in range(2):
                self.features.add(nn.Dense(4096, activation="relu", **plain), nn.Dropout(rate=0.5))
            self.output = nn.Dense(classes, **plain)

    def _make_features(self, layers, filters, batch_norm):
        out = nn.HybridSequential(prefix="")
        for count, channels in zip(layers, filters, strict=True):
            for _ in range(count):
                init = Xavier(rnd_type="gaussian", factor_type="out", magnitude=2)
                out.add(
                    nn.Conv2D(channels, kernel_size=3, padding=1, weight_initializer=init, bias_initializer="zeros")
                )
                if batch_norm:
                    out.add(nn.BatchNorm())
                out.add(nn.Activation("relu"))
            out.add(nn.MaxPool2D(strides=2))
        return out


def get_vgg(num_layers, pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """A VGG of 11, 13, 16 or 19 layers.

    Parameters
    ----------
    num_layers : int
        The number of layers.
    pretrained : bool, default False
        Whether to load the published weights.
    ctx : Context, default cpu()
        The device of the parameters.
    root : str, default ROOT
        The folder of the published weights.
    **kwargs
        `batch_norm`, `classes` and further arguments of VGG.

    Returns
    -------
    HybridBlock

    Examples
    --------
    >>> mx.gluon.model_zoo.vision.get_vgg(11, classes=10).output
    Dense(None -> 10, linear)
    """
    layers, filters = vgg_spec[num_layers]
    name = f"vgg{num_layers}" + ("_bn" if kwargs.get("batch_norm") else "")
    return published(VGG(layers, filters, **kwargs), name, pretrained, ctx, root)


def _with_norm(depth):
    def build(**kwargs):
        return get_vgg(depth, **{**kwargs, "batch_norm": True})

    return described(build, f"vgg{depth}_bn", f"VGG of {depth} layers with batch normalization.", "VGG")


vgg11, vgg13, vgg16, vgg19 = (variant(get_vgg, f"vgg{d}", f"VGG of {d} layers.", "VGG", num_layers=d) for d in vgg_spec)
vgg11_bn, vgg13_bn, vgg16_bn, vgg19_bn = (_with_norm(d) for d in vgg_spec)
