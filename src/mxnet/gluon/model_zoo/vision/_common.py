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


def variant(make, doc, **fixed):
    """A constructor with some arguments fixed: `resnet18_v1` is `get_resnet` with version 1 and 18 layers."""

    def build(**kwargs):
        return make(**fixed, **kwargs)

    build.__doc__ = doc
    return build


__all__ = ["ROOT", "Classifier", "chain", "cpu", "published", "variant"]
