"""SqueezeNet: few parameters by squeezing channels before each expansion."""

from ... import nn
from ...block import HybridBlock  # noqa: F401
from ...contrib.nn import HybridConcurrent
from ._common import ROOT, Classifier, chain, cpu, published, variant

__all__ = ["SqueezeNet", "get_squeezenet", "squeezenet1_0", "squeezenet1_1"]

# version: first convolution (channels, size), then fire modules by their squeezed channels, P for a pooling
_PLANS = {
    "1.0": ((96, 7), ["P", 16, 16, 32, "P", 32, 48, 48, 64, "P", 64]),
    "1.1": ((64, 3), ["P", 16, 16, "P", 32, 32, "P", 48, 48, 64, 64]),
}


def _convolution(channels, kernel_size, padding=0):
    return chain(nn.Conv2D(channels, kernel_size, padding=padding), nn.Activation("relu"))


def _fire(squeezed):
    """Squeeze with 1×1, then expand with 1×1 and 3×3 side by side to four times the channels each."""
    squeeze = _convolution(squeezed, 1)
    paths = HybridConcurrent(axis=1, prefix="")
    paths.add(_convolution(4 * squeezed, 1), _convolution(4 * squeezed, 3, 1))
    return chain(squeeze, paths)


class SqueezeNet(Classifier):
    """SqueezeNet.

    Parameters
    ----------
    version : str
        "1.0" or "1.1".
    classes : int, default 1000
        The number of classes.
    **kwargs
        `prefix` and `params` of the block.

    Examples
    --------
    >>> len(mx.gluon.model_zoo.vision.SqueezeNet("1.1", classes=10).features)
    14
    """

    def __init__(self, version, classes=1000, **kwargs):
        super().__init__(**kwargs)
        assert version in _PLANS, f"Unsupported SqueezeNet version {version}:1.0 or 1.1 expected"
        (channels, size), plan = _PLANS[version]
        with self.name_scope():
            self.features = chain(nn.Conv2D(channels, kernel_size=size, strides=2), nn.Activation("relu"))
            for item in plan:
                pool = item == "P"
                self.features.add(nn.MaxPool2D(pool_size=3, strides=2, ceil_mode=True) if pool else _fire(item))
            self.features.add(nn.Dropout(0.5))
            self.output = chain(
                nn.Conv2D(classes, kernel_size=1), nn.Activation("relu"), nn.AvgPool2D(13), nn.Flatten()
            )


def get_squeezenet(version, pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """SqueezeNet 1.0 or 1.1.

    Parameters
    ----------
    version : str
        "1.0" or "1.1".
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
    >>> len(mx.gluon.model_zoo.vision.get_squeezenet("1.1", classes=10).features)
    14
    """
    return published(SqueezeNet(version, **kwargs), f"squeezenet{version}", pretrained, ctx, root)


squeezenet1_0, squeezenet1_1 = (
    variant(get_squeezenet, f"squeezenet{v.replace('.', '_')}", f"SqueezeNet {v}.", "SqueezeNet", version=v)
    for v in _PLANS
)
