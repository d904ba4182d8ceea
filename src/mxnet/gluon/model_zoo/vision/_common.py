"""What the networks share: a body with a classifier on top, chains of layers, loading published weights."""

import os

from .... import base
from ....context import cpu
from ... import nn
from ...block import HybridBlock

ROOT = os.path.join(base.data_dir(), "models")


class Classifier(HybridBlock):
    """`features`, then `output`."""

    def hybrid_forward(self, F, x):
        """From images to scores."""
        return self.output(self.features(x))


def chain(*layers, prefix=""):
    """A HybridSequential of the layers; None is left out."""
    out = nn.HybridSequential(prefix=prefix)
    for layer in layers:
        if layer is not None:
            out.add(layer)
    return out


def published(net, name, pretrained, ctx, root):
    """`net`, with the published weights if asked for."""
    if pretrained:
        from ..model_store import load

        load(net, name, ctx, root)
    return net


_WORDS = """{about}

Parameters
----------
pretrained : bool, default False
    Whether to load the published weights.
ctx : Context, default cpu(0)
    The device of the parameters.
root : str
    The folder of the published weights.
**kwargs
    `classes`, the number of classes, and further arguments of the network's class.

Returns
-------
HybridBlock

Examples
--------
>>> net = mx.gluon.model_zoo.vision.{name}(classes=10)
>>> type(net).__name__
'{kind}'
"""


def described(build, name, about, kind):
    """The constructor with its name and docstring; `kind` is the class of the network."""
    build.__name__ = build.__qualname__ = name
    build.__doc__ = _WORDS.format(name=name, about=about, kind=kind)
    return build


def variant(make, name, about, kind, **fixed):
    """A constructor with some arguments fixed: `resnet18_v1` is `get_resnet` with version 1 and 18 layers."""

    def build(**kwargs):
        return make(**fixed, **kwargs)

    return described(build, name, about, kind)


__all__ = ["ROOT", "Classifier", "chain", "cpu", "described", "published", "variant"]
