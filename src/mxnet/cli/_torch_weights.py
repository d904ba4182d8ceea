"""torchvision's and timm's weights as networks of the model zoo, for `remx convert`."""

import os
import sys
from pathlib import Path

from .._core.errors import MXNetError

OWNERS = ("torchvision:", "timm:")
_FILES = (".pth", ".pt", ".bin", ".safetensors")


def read(source, target, options):
    """(graph, {arg:name or aux:name: array}) of a network of the zoo with the weights of `source`."""
    from ..gluon.model_zoo import _torch_weights, vision

    owner, _, name = source.rpartition(":")
    if owner + ":" not in OWNERS:
        owner, name = "torchvision", source
    path, zoo, half = _found(owner, name, options.model, target)
    net = vision.get_model(zoo)
    change = _torch_weights.assign(net, _torch_weights.read_state(path, half), zoo)
    if change:
        print(f"{zoo} as {owner} has it: {change}", file=sys.stderr if options.json else sys.stdout)
    return _as_files(net)


def _found(owner, name, model, target):
    """(file, the zoo's name, whether its colours have to be turned)"""
    from ..base import data_dir
    from ..gluon.model_zoo import _torch_weights

    if Path(name).suffix in _FILES:
        if not Path(name).is_file():
            raise MXNetError(f"there is no file {name}")
        return name, _known(model or target, name), False
    published = _torch_weights.named(owner, name)
    path, found = _torch_weights.fetch_substitute(published.zoo, os.path.join(data_dir(), "models"), [published])
    return path, _agreeing(model, published.zoo, name), found.half and owner == "torchvision"


def _known(name, source):
    from ..gluon.model_zoo.vision import _VARIANTS

    if name not in _VARIANTS:
        raise MXNetError(
            f"{source} does not say which network it is of, and {name} is none of the zoo's; give --model, one of "
            f"{', '.join(_VARIANTS)}"
        )
    return name


def _agreeing(model, zoo, name):
    if model not in (None, zoo):
        raise MXNetError(f"{name} is {zoo} in the model zoo, not {model}")
    return zoo


def _as_files(net):
    """The graph and the parameters under the names that `export` gives them."""
    from .. import symbol

    graph = net(symbol.var("data"))
    states = set(graph.list_auxiliary_states())
    arrays = {name: parameter.data() for name, parameter in net.collect_params().items()}
    return graph, {f"{'aux' if name in states else 'arg'}:{name}": value for name, value in arrays.items()}
