"""Where torchvision's and timm's weights for the zoo's networks are, and how a file of them is read.

torchvision names a file by the first eight digits of its SHA-256, which are checked. Hugging Face has no hash in its
addresses; such a file is taken over https only. Files that torch itself has downloaded before are used where they are.
"""

import os
from typing import NamedTuple

import numpy as np

from ...._core.errors import MXNetError
from ...._formats.archives import ALWAYS, RATIO, sha256_of
from ...._formats.fetch import own_mirrors, replace_file
from ...._formats.mirrors import Candidate, first_accepted
from ...._formats.pickle_damage import torch_damage

_PYTORCH = "https://download.pytorch.org/models/"
_TIMM = "https://huggingface.co/timm/{}/resolve/main/model.safetensors"
_MEAN, _DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])  # of ImageNet's colours


class Substitute(NamedTuple):
    """A published file of weights: the zoo's network that they are for, where they are, for which colours.

    `half` says that the colours went from -1 to 1, where the zoo's networks have them normalized by ImageNet's mean
    and deviation; what is loaded then takes the zoo's.
    """

    zoo: str
    url: str
    half: bool = False

    @property
    def file(self):
        """What the file is called when it is here."""
        parts = self.url.split("/")
        return parts[-1] if self.url.startswith(_PYTORCH) else f"{parts[4]}.safetensors"

    @property
    def owner(self):
        """Whose weights they are."""
        return "torchvision" if self.url.startswith(_PYTORCH) else "timm"


_TORCHVISION_FILES = """
alexnet alexnet-owt-7be5be79; densenet121 densenet121-a639ec97; densenet161 densenet161-8d451a50;
densenet169 densenet169-b2777c0a; densenet201 densenet201-c1103571; inceptionv3 inception_v3_google-0cc3c7bd;
mobilenetv2_1.0 mobilenet_v2-b0353104; resnet18_v1 resnet18-f37072fd; resnet34_v1 resnet34-b627a593;
resnet50_v1 resnet50-0676ba61; resnet101_v1 resnet101-63fe2227; resnet152_v1 resnet152-394f9c45;
squeezenet1.0 squeezenet1_0-b66bff10; squeezenet1.1 squeezenet1_1-b8a52dc0; vgg11 vgg11-8a719046;
vgg11_bn vgg11_bn-6002323d; vgg13 vgg13-19584684; vgg13_bn vgg13_bn-abd245e5; vgg16 vgg16-397923af;
vgg16_bn vgg16_bn-6c64b313; vgg19 vgg19-dcbb9e9d; vgg19_bn vgg19_bn-c79401a0
"""
_TIMM_FILES = """
densenet121 densenet121.tv_in1k; densenet161 densenet161.tv_in1k; densenet169 densenet169.tv_in1k;
densenet201 densenet201.tv_in1k; resnet18_v1 resnet18.tv_in1k; resnet34_v1 resnet34.tv_in1k;
resnet50_v1 resnet50.tv_in1k; resnet101_v1 resnet101.tv_in1k; resnet152_v1 resnet152.tv_in1k;
resnet18_v2 resnetv2_18.ra4_e3600_r224_in1k; resnet34_v2 resnetv2_34.ra4_e3600_r224_in1k;
resnet50_v2 resnetv2_50.a1h_in1k; resnet101_v2 resnetv2_101.a1h_in1k; mobilenet1.0 mobilenetv1_100.ra4_e3600_r224_in1k;
vgg11 vgg11.tv_in1k; vgg11_bn vgg11_bn.tv_in1k; vgg13 vgg13.tv_in1k; vgg13_bn vgg13_bn.tv_in1k;
vgg16 vgg16.tv_in1k; vgg16_bn vgg16_bn.tv_in1k; vgg19 vgg19.tv_in1k; vgg19_bn vgg19_bn.tv_in1k
"""


def _pairs(text):
    return [entry.split() for entry in text.split(";")]


_OTHER_COLOURS = ("mobilenet1.0",)  # it pads before its first convolution: see _with_colours
_HALF = ("inceptionv3", "mobilenet1.0", "resnet18_v2", "resnet34_v2", "resnet50_v2", "resnet101_v2")
TORCHVISION = [Substitute(zoo, f"{_PYTORCH}{file}.pth", zoo in _HALF) for zoo, file in _pairs(_TORCHVISION_FILES)]
TIMM = [Substitute(zoo, _TIMM.format(file), zoo in _HALF) for zoo, file in _pairs(_TIMM_FILES)]
SUBSTITUTES = TORCHVISION + TIMM


def _source_name(substitute):
    """resnet50 of resnet50-0676ba61.pth, resnetv2_50 of resnetv2_50.a1h_in1k"""
    stem = substitute.file.rsplit(".", 1)[0]
    name = stem.rpartition("-")[0] if substitute.owner == "torchvision" else stem.partition(".")[0]
    return name.removesuffix("_google").removesuffix("-owt")


def named(owner, name):
    """The file that torchvision or timm publishes for one of its networks, as its own users call it."""
    found = [each for each in SUBSTITUTES if each.owner == owner and name in (_source_name(each), each.file)]
    if not found:
        known = ", ".join(sorted({_source_name(each) for each in SUBSTITUTES if each.owner == owner}))
        raise MXNetError(f"{owner} has no network {name} that the zoo has, too; there are {known}")
    return found[0]


def _caches():
    """Where torch and Hugging Face's client keep what they downloaded."""
    torch_home = os.environ.get("TORCH_HOME") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "torch"
    )
    return [os.path.join(torch_home, "hub", "checkpoints")]


def _for(zoo):
    return [each for each in SUBSTITUTES if each.zoo == zoo and zoo not in _OTHER_COLOURS]


def substitute_in(zoo, folders, substitutes=None):
    """(path, Substitute) of weights for a network of the zoo that are in one of the folders; None if there are none."""
    for substitute in _for(zoo) if substitutes is None else substitutes:
        for folder in folders:
            path = os.path.join(folder, substitute.file)
            if os.path.isfile(path) and _is_right(path, substitute):
                return path, substitute
    return None


def fetch_substitute(zoo, root, substitutes=None):
    """(path, Substitute) of weights for a network of the zoo: those on this machine, else fetched into `root`."""
    substitutes = _for(zoo) if substitutes is None else substitutes
    found = substitute_in(zoo, [root, *_caches()], substitutes)
    if found is not None:
        return found
    if own_mirrors() or not substitutes:
        raise MXNetError(f"no weights of other packages for {zoo} are known and here")
    asked = [Candidate(each.url, _placed(each, root), each.owner == "torchvision", each.file) for each in substitutes]
    url = first_accepted(asked, (os.path.join(root, substitutes[0].file), None), otherwise="")
    return next((os.path.join(root, each.file), each) for each in substitutes if each.url == url)


def _is_right(path, substitute):
    """By the digits in torchvision's names; timm's have none."""
    digits = substitute.file.rsplit(".", 1)[0].rpartition("-")[2]
    return substitute.owner != "torchvision" or sha256_of(path).startswith(digits)


def _placed(substitute, root):
    def accept(fetched):
        if not _is_right(fetched, substitute):
            raise MXNetError(f"its SHA-256 is {sha256_of(fetched)[:8]}…, not what its name says")
        replace_file(fetched, os.path.join(root, substitute.file))

    return accept


def read_state(path, half=False):
    """{name: array} of a state dict in a .pth, .pt or .safetensors file; `half` is what Substitute has."""
    if str(path).endswith(".safetensors"):
        from ....ndarray import load

        state = {name: value.asnumpy() for name, value in load(str(path)).items()}
    else:
        state = {name: tensor.float().numpy() for name, tensor in tensors(path).items()}
    return _with_colours(state) if half else state


def tensors(path, keys=("state_dict_ema", "state_dict", "model")):
    """{name: tensor} of a file that torch has written; `keys` are those that the dict may be found under in another."""
    import torch

    with open(path, "rb"):  # a file that cannot be read is an OSError
        wrong = torch_damage(path)
    if wrong:
        raise MXNetError(f"cannot read {path} as a file of tensors: {wrong}")
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # damaged pickles fail in every way there is
        reason = str(error).strip().split("\n")[0]
        raise MXNetError(f"cannot read {path} as a file of tensors: {reason}; save module.state_dict()") from error
    for key in keys:
        found = found.get(key, found) if isinstance(found, dict) else found
    if not isinstance(found, dict) or not all(isinstance(value, torch.Tensor) for value in found.values()):
        raise MXNetError(f"{path} is not a dict of names and tensors; save module.state_dict()")
    _check_dense(path, found, torch)
    check_sizes(path, found.values())
    return {name: tensor.detach() for name, tensor in found.items()}


def _check_dense(path, found, torch):
    """Names are texts; tensors have their numbers in memory, one after the other."""
    for name, tensor in found.items():
        if not isinstance(name, str):
            raise MXNetError(f"{path}: {str(name)[:40]} is no name of a tensor")
        if tensor.layout != torch.strided or tensor.is_nested or tensor.is_meta or tensor.is_quantized:
            kind = "quantized" if tensor.is_quantized else "meta" if tensor.is_meta else tensor.layout
            raise MXNetError(f"{path}: the tensor {name} is not a dense one ({kind}); save tensor.to_dense()")


def check_sizes(path, tensors):
    """Tensors of a file may share memory, or repeat one number: copies of them are bounded by the file's size."""
    size, allowed = sum(t.numel() * t.element_size() for t in tensors), max(RATIO * os.path.getsize(path), ALWAYS)
    if size > allowed:
        raise MXNetError(f"the tensors of {path} have {size} bytes, a file of its size may hold {allowed}")


def _with_colours(state):
    """The state of a network whose colours went from -1 to 1, for colours normalized as the zoo has them.

    x in the zoo's colours is scale * x + offset in the others. A convolution without padding takes that into its
    weight and the mean of the normalization after it.
    """
    scale, offset = (_DEVIATION / 0.5).astype(np.float32), ((_MEAN - 0.5) / 0.5).astype(np.float32)
    if "stem.conv.weight" in state:  # ResNet V2: the zoo's network begins with a normalization
        return state | {"colours.scale": scale, "colours.offset": offset}
    if "Conv2d_1a_3x3.conv.weight" not in state:
        raise MXNetError("these weights are for colours from -1 to 1, and their first convolution pads with zeros")
    weight = state["Conv2d_1a_3x3.conv.weight"]
    added = (weight.sum(axis=(2, 3)) * offset).sum(axis=1)
    mean = state["Conv2d_1a_3x3.bn.running_mean"] - added
    return state | {
        "Conv2d_1a_3x3.conv.weight": weight * scale[:, np.newaxis, np.newaxis],
        "Conv2d_1a_3x3.bn.running_mean": mean,
    }
