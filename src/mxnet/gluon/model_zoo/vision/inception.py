"""Inception V3, from "Rethinking the Inception Architecture for Computer Vision"."""

from ... import nn
from ...block import HybridBlock  # noqa: F401
from ...contrib.nn import HybridConcurrent
from ._common import ROOT, Classifier, chain, cpu, published

__all__ = ["Inception3", "inception_v3"]

_WIDE, _TALL = dict(kernel_size=(1, 7), padding=(0, 3)), dict(kernel_size=(7, 1), padding=(3, 0))
_WIDE3, _TALL3 = dict(kernel_size=(1, 3), padding=(0, 1)), dict(kernel_size=(3, 1), padding=(1, 0))


def _conv(channels, kernel_size=1, **kwargs):
    """Convolution, normalization, rectification."""
    return chain(
        nn.Conv2D(channels=channels, kernel_size=kernel_size, use_bias=False, **kwargs),
        nn.BatchNorm(epsilon=0.001),
        nn.Activation("relu"),
    )


def _average():
    return nn.AvgPool2D(pool_size=3, strides=1, padding=1)


def _beside(branches, prefix):
    """Branches joined along the channels; they are made inside the scope, so that it names them."""
    out = HybridConcurrent(axis=1, prefix=prefix)
    with out.name_scope():
        for layers in branches():
            out.add(layers)
    return out


def _block_a(pooled, prefix):
    def branches():
        yield chain(_conv(64))
        yield chain(_conv(48), _conv(64, 5, padding=2))
        yield chain(_conv(64), _conv(96, 3, padding=1), _conv(96, 3, padding=1))
        yield chain(_average(), _conv(pooled))

    return _beside(branches, prefix)


def _block_b(prefix):
    def branches():
        yield chain(_conv(384, 3, strides=2))
        yield chain(_conv(64), _conv(96, 3, padding=1), _conv(96, 3, strides=2))
        yield chain(nn.MaxPool2D(pool_size=3, strides=2))

    return _beside(branches, prefix)


def _block_c(width, prefix):
    def branches():
        yield chain(_conv(192))
        yield chain(_conv(width), _conv(width, **_WIDE), _conv(192, **_TALL))
        yield chain(
            _conv(width), _conv(width, **_TALL), _conv(width, **_WIDE), _conv(width, **_TALL), _conv(192, **_WIDE)
        )
        yield chain(_average(), _conv(192))

    return _beside(branches, prefix)


def _block_d(prefix):
    def branches():
        yield chain(_conv(192), _conv(320, 3, strides=2))
        yield chain(_conv(192), _conv(192, **_WIDE), _conv(192, **_TALL), _conv(192, 3, strides=2))
        yield chain(nn.MaxPool2D(pool_size=3, strides=2))

    return _beside(branches, prefix)


def _split():
    out = HybridConcurrent(axis=1, prefix="")
    out.add(chain(_conv(384, **_WIDE3)), chain(_conv(384, **_TALL3)))
    return out


def _block_e(prefix):
    def branches():
        yield chain(_conv(320))
        yield chain(chain(_conv(384)), _split())
        yield chain(chain(_conv(448), _conv(384, 3, padding=1)), _split())
        yield chain(_average(), _conv(192))

    return _beside(branches, prefix)


def make_aux(classes):
    """The auxiliary classifier of the paper."""
    return chain(nn.AvgPool2D(pool_size=5, strides=3), _conv(128), _conv(768, 5), nn.Flatten(), nn.Dense(classes))


class Inception3(Classifier):
    """Inception v3, for images of 299 x 299.

    Parameters
    ----------
    classes : int, default 1000
        The number of classes.
    **kwargs
        `prefix` and `params` of the block.

    Examples
    --------
    >>> mx.gluon.model_zoo.vision.Inception3(classes=10).output
    Dense(None -> 10, linear)
    """

    def __init__(self, classes=1000, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = chain(
                _conv(32, 3, strides=2),
                _conv(32, 3),
                _conv(64, 3, padding=1),
                nn.MaxPool2D(pool_size=3, strides=2),
                _conv(80),
                _conv(192, 3),
                nn.MaxPool2D(pool_size=3, strides=2),
                *[_block_a(p, f"A{i}_") for i, p in enumerate((32, 64, 64), 1)],
                _block_b("B_"),
                *[_block_c(w, f"C{i}_") for i, w in enumerate((128, 160, 160, 192), 1)],
                _block_d("D_"),
                _block_e("E1_"),
                _block_e("E2_"),
                nn.AvgPool2D(pool_size=8),
                nn.Dropout(0.5),
            )
            self.output = nn.Dense(classes)


def inception_v3(pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """Inception v3, for images of 299 x 299.

    Parameters
    ----------
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
    >>> mx.gluon.model_zoo.vision.inception_v3(classes=10).output
    Dense(None -> 10, linear)
    """
    return published(Inception3(**kwargs), "inceptionv3", pretrained, ctx, root)
