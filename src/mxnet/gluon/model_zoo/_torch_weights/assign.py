"""Puts a state dict of torchvision or timm into a network of the zoo, changed where the two architectures differ.

What differs, and what is done about it:

- torchvision's ResNet of 50 layers and more halves the image in the 3x3 convolution of a block, MXNet's V1 in the
  1x1 convolution before it: the strides change places.
- timm's MobileNet V1 stops rectification at six: the zoo's activations become ReLU6.
- MobileNetV2's classifier has a bias: the zoo's last convolution gets one.
- timm's ResNet V2 has no normalization and rectification after the first convolution: see `_shift_stem`.
"""

import re

import numpy as np

from ...._core.errors import MXNetError
from ... import nn
from ..vision import (
    VGG,
    AlexNet,
    BottleneckV1,
    DenseNet,
    Inception3,
    MobileNet,
    MobileNetV2,
    ResNetV1,
    ResNetV2,
    SqueezeNet,
)
from ..vision.mobilenet import RELU6
from . import layers

_UNUSED = re.compile(r"(num_batches_tracked|total_ops|total_params)$|^AuxLogits\.")
_OLD_DENSENET = re.compile(r"(denselayer\d+\.(?:norm|relu|conv))\.(?=[12]\.)")
LARGEST_INPUT = 8.0  # of a picture with normalized colours; see _shift_stem


def _layers_of(net):
    """The blocks with parameters of their own, in the order they were made."""
    own = [net] if net._reg_params else []
    return own + [layer for child in net._children.values() for layer in _layers_of(child)]


def assign(net, state, name, ctx=None):
    """Change `net`, the zoo's network `name`, so that it computes what the owner of `state` computes.

    Parameters
    ----------
    net : HybridBlock
        A network of the zoo.
    state : dict of str to numpy.ndarray
        The state dict.
    name : str
        The network's name in messages.
    ctx : Context or list of Context
        Where its parameters are to be.

    Returns
    -------
    str
        How the network differs from the zoo's; empty if it does not.
    """
    state = {_OLD_DENSENET.sub(r"\1", key.removeprefix("module.")): value for key, value in state.items()}
    state = {key: value for key, value in state.items() if not _UNUSED.search(key)}
    colours = {key: state.pop(f"colours.{key}", None) for key in ("scale", "offset")}
    order, change = _FAMILIES[type(net)]
    change_made = change(net, state)
    source, target = list(order(state.keys())), _layers_of(net)
    if len(source) != len(target) or not _named(source) <= _prefixes(state):
        raise MXNetError(_misfit(name, state, source, target))
    left = _prefixes(state) - _named(source)
    if left:
        raise MXNetError(f"the weights are not of {name}: it has no place for {', '.join(sorted(left)[:5])}")
    values = _values(source, target, state, name)
    if colours["scale"] is not None:
        values |= _colour_norm(target[0], **colours)
    _set(values, net, ctx)
    return change_made


def _named(source):
    return set(source) - {layers.IDENTITY, layers.SHIFT}


def _prefixes(state):
    return {key.rpartition(".")[0] for key in state}


def _misfit(name, state, source, target):
    missing = sorted(_named(source) - _prefixes(state))[:3]
    what = f"they have no {', '.join(missing)}" if missing else f"they are of {len(source)} layers, not {len(target)}"
    return (
        f"the weights are not of {name}, by the names of torchvision or timm: {what}; the first names in them are "
        f"{', '.join(list(state)[:3])}"
    )


def _values(source, target, state, name):
    """{Parameter: array}"""
    values, grouped = {}, {}
    for key, value in state.items():
        grouped.setdefault(key.rpartition(".")[0], {})[key.rpartition(".")[2]] = value
    width = 3  # channels of what comes before
    for prefix, layer in zip(source, target, strict=True):
        if prefix in (layers.IDENTITY, layers.SHIFT):
            values |= _norm_identity(layer, width) if isinstance(layer, nn.BatchNorm) else _identity(layer, width)
        else:
            values |= _of_layer(layer, prefix, grouped[prefix], name)
            width = len(grouped[prefix]["weight"])
    if layers.SHIFT in source:
        _shift_stem(source, target, values)
    return values


def _of_layer(layer, prefix, arrays, name):
    wanted = {"gamma": "weight", "beta": "bias"} if isinstance(layer, nn.BatchNorm) else {}
    found = {}
    for key, parameter in layer._reg_params.items():
        value = arrays.get(wanted.get(key, key))
        if value is None and key == "bias":  # the zoo's 1x1 convolutions have one without use
            value = np.zeros(len(arrays["weight"]), np.float32)
        found[parameter] = _fitting(value, parameter, f"{prefix}.{wanted.get(key, key)}", name)
    unused = set(arrays) - {wanted.get(key, key) for key in layer._reg_params}
    if unused:
        raise MXNetError(f"the weights are not of {name}: it has no place for {prefix}.{unused.pop()}")
    return found


def _fitting(value, parameter, key, name):
    """The array in the parameter's shape; a dense layer may be written as a convolution, and the other way round."""
    if value is None:
        raise MXNetError(f"the weights are not of {name}: {key} is missing")
    shape = tuple(parameter.shape or value.shape)
    if value.ndim == 4 and len(shape) == 2:
        value = value.reshape(len(value), -1)
    if value.ndim == 2 and len(shape) == 4:
        value = value[:, :, np.newaxis, np.newaxis]
    if len(shape) != value.ndim or any(
        size not in (0, -1, have) for size, have in zip(shape, value.shape, strict=True)
    ):
        raise MXNetError(f"the weights are not of {name}: {key} is {value.shape}, and {parameter.name} is {shape}")
    return np.asarray(value, np.float32)


def _identity(conv, width):
    """A 1x1 convolution that changes nothing."""
    return {conv._reg_params["weight"]: np.eye(width, dtype=np.float32)[:, :, np.newaxis, np.newaxis]}


def _norm_identity(norm, width):
    """A normalization that changes nothing."""
    values = {"gamma": 1, "beta": 0, "running_mean": 0, "running_var": 1 - norm._kwargs["eps"]}
    return {norm._reg_params[key]: np.full(width, value, np.float32) for key, value in values.items()}


def _colour_norm(norm, scale, offset):
    """The normalization before the first convolution as scale * x + offset."""
    mean, variance = -offset / scale, 1 / scale**2 - norm._kwargs["eps"]
    return {norm._reg_params["running_mean"]: mean, norm._reg_params["running_var"]: variance}


def _shift_stem(source, target, values):
    """Make rectification after the first convolution pass everything.

    A constant for each channel, larger than the convolution can yield for inputs up to LARGEST_INPUT, is added before
    the rectification. Pooling by maxima keeps it, and it goes along all shortcuts until the first projection, which
    comes after a normalization. So each normalization up to there subtracts it: the results are those without it.
    """
    at = source.index(layers.SHIFT)
    weight = values[target[at - 1]._reg_params["weight"]]
    shift = LARGEST_INPUT * np.abs(weight).sum(axis=(1, 2, 3))
    values[target[at]._reg_params["beta"]] = shift.astype(np.float32)
    for prefix, layer in zip(source[at + 1 :], target[at + 1 :], strict=True):
        if prefix.endswith(".norm1"):
            mean = layer._reg_params["running_mean"]
            values[mean] = (values[mean] + shift).astype(np.float32)
        if ".downsample." in prefix:
            break


def _set(values, net, ctx):
    from .... import ndarray

    for parameter, value in values.items():
        parameter._load_init(ndarray.array(value, dtype="float32"), ctx)
    left = [parameter.name for parameter in net.collect_params().values() if parameter not in values]
    if left:
        raise MXNetError(f"nothing was loaded into {', '.join(left[:5])}")


# -- what has to differ in the network ---------------------------------------------------------------------------------


def _same(net, state):
    return ""


def _stride_in_3x3(net, state):
    blocks = [block for block in _walk(net) if isinstance(block, BottleneckV1)]
    for block in blocks:
        first, second = block.body[0]._kwargs, block.body[3]._kwargs
        first["stride"], second["stride"] = second["stride"], first["stride"]
    return "the 3x3 convolution of a block has the stride" if blocks else ""


def _walk(block):
    yield block
    for child in block._children.values():
        yield from _walk(child)


def _relu6(net, state):
    if "conv_stem.weight" not in state:
        return ""
    for key, child in list(net.features._children.items()):
        if isinstance(child, nn.Activation):
            net.features._children[key] = RELU6()
    return "rectification stops at 6"


def _biased_output(net, state):
    classes = len(state.get("classifier.1.bias", state.get("classifier.bias", ())))
    if not classes:
        return ""
    with net.name_scope():
        output = nn.HybridSequential(prefix="output_")
        with output.name_scope():
            output.add(nn.Conv2D(classes, 1, prefix="pred_"), nn.Flatten())
    net.output = output
    return "the classifier has a bias"


_FAMILIES = {
    ResNetV1: (layers.resnet_v1, _stride_in_3x3),
    ResNetV2: (layers.resnet_v2, _same),
    VGG: (layers.sequence, _same),
    AlexNet: (layers.sequence, _same),
    DenseNet: (layers.densenet, _same),
    SqueezeNet: (layers.squeezenet, _same),
    Inception3: (layers.inception, _same),
    MobileNet: (layers.mobilenet_v1, _relu6),
    MobileNetV2: (layers.mobilenet_v2, _biased_output),
}
