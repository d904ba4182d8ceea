"""DenseNet-BC: every layer sees all before it, from "Densely Connected Convolutional Networks"."""

from ... import nn
from ...block import HybridBlock  # noqa: F401
from ...contrib.nn import HybridConcurrent, Identity
from ._common import ROOT, Classifier, chain, cpu, published, variant

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201", "get_densenet"]


def _norm_conv(channels, **kwargs):
    """Normalize, rectify, convolve."""
    return nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(channels, use_bias=False, **kwargs)


def _dense_layer(growth_rate, bn_size, dropout):
    fresh = chain(
        *_norm_conv(bn_size * growth_rate, kernel_size=1),
        *_norm_conv(growth_rate, kernel_size=3, padding=1),
        nn.Dropout(dropout) if dropout else None,
    )
    out = HybridConcurrent(axis=1, prefix="")
    out.add(Identity(), fresh)
    return out


def _dense_block(num_layers, bn_size, growth_rate, dropout, stage_index):
    out = nn.HybridSequential(prefix=f"stage{stage_index}_")
    with out.name_scope():
        for _ in range(num_layers):
            out.add(_dense_layer(growth_rate, bn_size, dropout))
    return out


class DenseNet(Classifier):
    """DenseNet: each layer sees the outputs of all layers before it.

    Parameters
    ----------
    num_init_features : int
        The number of channels of the first convolution.
    growth_rate : int
        The number of channels that each layer adds.
    block_config : list of int
        The number of layers in each block.
    bn_size : int, default 4
        The channels of a bottleneck, in growth rates.
    dropout : float, default 0
        The probability that an element is dropped.
    classes : int, default 1000
        The number of classes.
    **kwargs
        `prefix` and `params` of the block.

    Examples
    --------
    >>> mx.gluon.model_zoo.vision.DenseNet(8, 4, [2, 2], classes=10).output
    Dense(None -> 10, linear)
    """

    def __init__(self, num_init_features, growth_rate, block_config, bn_size=4, dropout=0, classes=1000, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = chain(
                nn.Conv2D(num_init_features, kernel_size=7, strides=2, padding=3, use_bias=False),
                nn.BatchNorm(),
                nn.Activation("relu"),
                nn.MaxPool2D(pool_size=3, strides=2, padding=1),
            )
            channels = num_init_features
            for i, count in enumerate(block_config):
                self.features.add(_dense_block(count, bn_size, growth_rate, dropout, i + 1))
                channels += count * growth_rate
                if i != len(block_config) - 1:
                    channels //= 2
                    self.features.add(chain(*_norm_conv(channels, kernel_size=1), nn.AvgPool2D(pool_size=2, strides=2)))
            self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.AvgPool2D(pool_size=7), nn.Flatten())
            self.output = nn.Dense(classes)


# depth: first channels, growth rate, layers in each block
densenet_spec = {
    121: (64, 32, [6, 12, 24, 16]),
    161: (96, 48, [6, 12, 36, 24]),
    169: (64, 32, [6, 12, 32, 32]),
    201: (64, 32, [6, 12, 48, 32]),
}


def get_densenet(num_layers, pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """A DenseNet of 121, 161, 169 or 201 layers.

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
        `classes`, the number of classes, and further arguments of the network's class.

    Returns
    -------
    HybridBlock

    Examples
    --------
    >>> mx.gluon.model_zoo.vision.get_densenet(121, classes=10).output
    Dense(None -> 10, linear)
    """
    net = DenseNet(*densenet_spec[num_layers], **kwargs)
    return published(net, f"densenet{num_layers}", pretrained, ctx, root)


densenet121, densenet161, densenet169, densenet201 = (
    variant(get_densenet, f"densenet{d}", f"DenseNet of {d} layers.", "DenseNet", num_layers=d) for d in densenet_spec
)
