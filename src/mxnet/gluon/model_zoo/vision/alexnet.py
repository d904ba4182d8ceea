"""AlexNet, in the form of "One weird trick for parallelizing convolutional neural networks"."""

from ... import nn
from ...block import HybridBlock  # noqa: F401
from ._common import ROOT, Classifier, cpu, published

__all__ = ["AlexNet", "alexnet"]


class AlexNet(Classifier):
    """AlexNet.

    Parameters
    ----------
    classes : int, default 1000
        The number of classes.
    **kwargs
        `prefix` and `params` of the block.

    Examples
    --------
    >>> mx.gluon.model_zoo.vision.AlexNet(classes=10).output
    Dense(None -> 10, linear)
    """

    def __init__(self, classes=1000, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            with self.features.name_scope():
                self.features.add(
                    nn.Conv2D(64, kernel_size=11, strides=4, padding=2, activation="relu"),
                    nn.MaxPool2D(pool_size=3, strides=2),
                    nn.Conv2D(192, kernel_size=5, padding=2, activation="relu"),
                    nn.MaxPool2D(pool_size=3, strides=2),
                    *[nn.Conv2D(c, kernel_size=3, padding=1, activation="relu") for c in (384, 256, 256)],
                    nn.MaxPool2D(pool_size=3, strides=2),
                    nn.Flatten(),
                )
                for _ in range(2):
                    self.features.add(nn.Dense(4096, activation="relu"), nn.Dropout(0.5))
            self.output = nn.Dense(classes)


def alexnet(pretrained=False, ctx=cpu(), root=ROOT, **kwargs):
    """AlexNet.

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
    >>> mx.gluon.model_zoo.vision.alexnet(classes=10).output
    Dense(None -> 10, linear)
    """
    return published(AlexNet(**kwargs), "alexnet", pretrained, ctx, root)
