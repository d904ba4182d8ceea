"""Image classifiers with MXNet's parameter names and shapes, so that the published files load."""

from difflib import get_close_matches as _get_close_matches

from .alexnet import *
from .densenet import *
from .inception import *
from .mobilenet import *
from .resnet import *
from .squeezenet import *
from .vgg import *

_VARIANTS = {
    **{f"resnet{d}_v{v}": f"resnet{d}_v{v}" for v in (1, 2) for d in (18, 34, 50, 101, 152)},
    **{f"vgg{d}{n}": f"vgg{d}{n}" for d in (11, 13, 16, 19) for n in ("", "_bn")},
    "alexnet": "alexnet",
    **{f"densenet{d}": f"densenet{d}" for d in (121, 161, 169, 201)},
    "squeezenet1.0": "squeezenet1_0",
    "squeezenet1.1": "squeezenet1_1",
    "inceptionv3": "inception_v3",
    **{f"mobilenet{w}": f"mobilenet{w.replace('.', '_')}" for w in ("1.0", "0.75", "0.5", "0.25")},
    **{f"mobilenetv2_{w}": f"mobilenet_v2_{w.replace('.', '_')}" for w in ("1.0", "0.75", "0.5", "0.25")},
}


def get_model(name, **kwargs):
    """A network by its name.

    Parameters
    ----------
    name : str
        The name, such as "resnet50_v1", "vgg16_bn", "mobilenet1.0" or "densenet121".
    **kwargs
        `pretrained`, `ctx`, `root`, `classes` and further arguments of the network.

    Returns
    -------
    HybridBlock

    Examples
    --------
    >>> net = mx.gluon.model_zoo.vision.get_model("resnet18_v1", classes=10)
    >>> net.initialize()
    >>> net(mx.nd.zeros((1, 3, 32, 32))).shape
    (1, 10)
    """
    name = name.lower()
    if name not in _VARIANTS:
        options = "\n\t".join(sorted(_VARIANTS))
        near = _get_close_matches(name, _VARIANTS)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise ValueError(f"Model {name} is not supported.{hint} Available options are\n\t{options}")
    return globals()[_VARIANTS[name]](**kwargs)
