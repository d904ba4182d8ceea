"""Published weights: which file a model's parameters are in, where it is kept, how it is fetched and checked."""

import logging
import os
import warnings

from ... import base
from ..._core.errors import MXNetError
from ..._formats.archives import extract
from ..._formats.fetch import check_sha1, download, replace_file  # noqa: F401 - MXNet's module shows it
from ..._formats.mirrors import Candidate, addresses, first_accepted

__all__ = ["get_model_file", "purge"]

# The SHA-1 of each `.params` file; its first eight digits are part of the file's name.
_SHA1 = {
    "alexnet": "44335d1f0046b328243b32a26a4fbd62d9057b45",
    "densenet121": "f27dbf2dbd5ce9a80b102d89c7483342cd33cb31",
    "densenet161": "b6c8a95717e3e761bd88d145f4d0a214aaa515dc",
    "densenet169": "2603f878403c6aa5a71a124c4a3307143d6820e9",
    "densenet201": "1cdbc116bc3a1b65832b18cf53e1cb8e7da017eb",
    "inceptionv3": "ed47ec45a937b656fcc94dabde85495bbef5ba1f",
    "mobilenet0.25": "9f83e440996887baf91a6aff1cccc1c903a64274",
    "mobilenet0.5": "8e9d539cc66aa5efa71c4b6af983b936ab8701c3",
    "mobilenet0.75": "529b2c7f4934e6cb851155b22c96c9ab0a7c4dc2",
    "mobilenet1.0": "6b8c5106c730e8750bcd82ceb75220a3351157cd",
    "mobilenetv2_1.0": "36da4ff1867abccd32b29592d79fc753bca5a215",
    "mobilenetv2_0.75": "e2be7b72a79fe4a750d1dd415afedf01c3ea818d",
    "mobilenetv2_0.5": "aabd26cd335379fcb72ae6c8fac45a70eab11785",
    "mobilenetv2_0.25": "ae8f9392789b04822cbb1d98c27283fc5f8aa0a7",
    "resnet18_v1": "a0666292f0a30ff61f857b0b66efc0228eb6a54b",
    "resnet34_v1": "48216ba99a8b1005d75c0f3a0c422301a0473233",
    "resnet50_v1": "0aee57f96768c0a2d5b23a6ec91eb08dfb0a45ce",
    "resnet101_v1": "d988c13d6159779e907140a638c56f229634cb02",
    "resnet152_v1": "671c637a14387ab9e2654eafd0d493d86b1c8579",
    "resnet18_v2": "a81db45fd7b7a2d12ab97cd88ef0a5ac48b8f657",
    "resnet34_v2": "9d6b80bbc35169de6b6edecffdd6047c56fdd322",
    "resnet50_v2": "ecdde35339c1aadbec4f547857078e734a76fb49",
    "resnet101_v2": "18e93e4f48947e002547f50eabbcc9c83e516aa6",
    "resnet152_v2": "f2695542de38cf7e71ed58f02893d82bb409415e",
    "squeezenet1.0": "264ba4970a0cc87a4f15c96e25246a1307caf523",
    "squeezenet1.1": "33ba0f93753c83d86e1eb397f38a667eaf2e9376",
    "vgg11": "dd221b160977f36a53f464cb54648d227c707a05",
    "vgg11_bn": "ee79a8098a91fbe05b7a973fed2017a6117723a8",
    "vgg13": "6bc5de58a05a5e2e7f493e2d75a580d83efde38c",
    "vgg13_bn": "7d97a06c3c7a1aecc88b6e7385c2b373a249e95e",
    "vgg16": "e660d4569ccb679ec68f1fd3cce07a387252a90a",
    "vgg16_bn": "7f01cf050d357127a73826045c245041b0df7363",
    "vgg19": "ad2f660d101905472b83590b59708b71ea22b2e5",
    "vgg19_bn": "f360b758e856f1074a85abd5fd873ed1d98297c3",
}
_model_sha1 = _SHA1  # the name that other zoos add their own entries to
LARGEST = 1 << 30  # no published file is larger than this


def short_hash(name):
    """The eight digits that stand in the file's name."""
    if name not in _SHA1:
        raise ValueError(f"Pretrained model for {name} is not available.")
    return _SHA1[name][:8]


def get_model_file(name, root=os.path.join(base.data_dir(), "models")):
    """The path of a model's parameters, fetched and checked if they are not there."""
    stem = f"{name}-{short_hash(name)}"
    root = os.path.expanduser(root)
    path = os.path.join(root, f"{stem}.params")
    if not os.path.exists(path):
        logging.info("Model file not found. Downloading to %s.", path)
    elif check_sha1(path, _SHA1[name]):
        return path
    else:
        logging.warning("Mismatch in the content of model file detected. Downloading again.")

    def accept(archive):
        extract(archive, {f"{stem}.params": _SHA1[name]}, root, largest=LARGEST)

    urls = addresses("gluon/models", f"{stem}.zip")
    first_accepted([Candidate(url, accept) for url in urls], (path, _SHA1[name]))
    return path


def _is_here(name, root):
    return os.path.exists(os.path.join(root, f"{name}-{short_hash(name)}.params"))


def _substitute(name, root, gone):
    from . import _torch_weights

    try:
        return _torch_weights.fetch_substitute(name, root)
    except MXNetError as error:
        raise MXNetError(f"{gone} As to weights of torchvision or timm for {name}: {error}") from None


def load(net, name, ctx=None, root=os.path.join(base.data_dir(), "models")):
    """Put the published parameters into a network of the zoo; whose they are.

    Where MXNet's file is at no mirror any more, torchvision's or timm's weights for the same architecture take its
    place, with a warning. The network computes what theirs computes, and takes the colours that MXNet's takes.
    """
    from . import _torch_weights

    root = os.path.expanduser(root)
    found = None if _is_here(name, root) else _torch_weights.substitute_in(name, [root])
    if found is None:
        try:
            path = get_model_file(name, root=root)
        except MXNetError as gone:
            found = _substitute(name, root, gone)
        else:
            net.load_parameters(path, ctx=ctx)
            return "MXNet"
    path, substitute = found
    change = _torch_weights.assign(net, _torch_weights.read_state(path, substitute.half), name, ctx)
    warnings.warn(
        f"MXNet's weights of {name} could not be fetched: these are {substitute.owner}'s, {path}"
        + (f" (in its architecture: {change})" if change else ""), stacklevel=4,
    )  # fmt: skip
    return substitute.owner


def purge(root=os.path.join(base.data_dir(), "models")):
    """Remove every fetched model."""
    root = os.path.expanduser(root)
    for name in os.listdir(root):
        if name.endswith(".params"):
            os.remove(os.path.join(root, name))
