"""State dicts of torchvision and timm in the zoo's networks: the outputs are the source network's."""

import numpy as np
import pytest
import torch
from torch_networks import NETWORKS, Inception, ResNet, trained

import mxnet as mx
from mxnet.gluon.model_zoo import _torch_weights, vision

QUICK = [("resnet18_v1", "torchvision"), ("mobilenet1.0", "timm"), ("mobilenet1.0", "plain"),
         ("mobilenetv2_1.0", "torchvision"), ("mobilenetv2_1.0", "timm"), ("squeezenet1.1", "torchvision")]  # fmt: skip
CASES = [pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow) for case in NETWORKS]


def arrays(net):
    return {name: tensor.numpy() for name, tensor in net.state_dict().items()}


def pictures(name, count=1):
    size = 299 if name == "inceptionv3" else 224
    return np.random.RandomState(1).uniform(-2.2, 2.7, (count, 3, size, size)).astype(np.float32)


def output_of(net, x):
    with torch.no_grad():
        return net(torch.tensor(x)).numpy()


def close(found, wanted):
    """To 1e-4 of the largest score."""
    np.testing.assert_allclose(found / np.abs(wanted).max(), wanted / np.abs(wanted).max(), rtol=0, atol=1e-4)


@pytest.mark.parametrize("name,owner", CASES)
def test_outputs_are_those_of_the_source(name, owner):
    source = trained(NETWORKS[name, owner])
    net, x = vision.get_model(name), pictures(name)
    _torch_weights.assign(net, arrays(source), name)
    close(net(mx.nd.array(x)).asnumpy(), output_of(source, x))


def test_differences_of_the_architecture_are_told():
    told = {}
    for name, owner in [("resnet18_v1", "torchvision"), ("mobilenet1.0", "timm"), ("mobilenetv2_1.0", "torchvision")]:
        told[name] = _torch_weights.assign(vision.get_model(name), arrays(NETWORKS[name, owner]()), name)
    assert told == {
        "resnet18_v1": "",
        "mobilenet1.0": "rectification stops at 6",
        "mobilenetv2_1.0": "the classifier has a bias",
    }
    small = ResNet((1, 1, 1, 1), True)
    net = mx.gluon.model_zoo.vision.ResNetV1(vision.BottleneckV1, [1, 1, 1, 1], [64, 256, 512, 1024, 2048])
    assert "3x3" in _torch_weights.assign(net, arrays(small), "small")
    close(net(mx.nd.array(pictures("small"))).asnumpy(), output_of(small.eval(), pictures("small")))


def test_weights_of_another_network_are_refused():
    state = arrays(ResNet((2, 2, 2, 2), False))
    with pytest.raises(mx.MXNetError, match=r"not of resnet34_v1, .* of 62 layers, not 110|of \d+ layers"):
        _torch_weights.assign(vision.resnet34_v1(), state, "resnet34_v1")
    with pytest.raises(mx.MXNetError, match="not of vgg11.*they have no features|not of vgg11"):
        _torch_weights.assign(vision.vgg11(), state, "vgg11")
    with pytest.raises(mx.MXNetError, match=r"fc.weight is \(1000, 512\), and .* is \(10, 512\)"):
        _torch_weights.assign(vision.resnet18_v1(classes=10), state, "resnet18_v1")
    with pytest.raises(mx.MXNetError, match="has no place for extra"):
        _torch_weights.assign(vision.resnet18_v1(), state | {"extra.weight": np.ones(3)}, "resnet18_v1")
    del state["layer1.0.bn1.running_var"]
    with pytest.raises(mx.MXNetError, match="layer1.0.bn1.running_var is missing"):
        _torch_weights.assign(vision.resnet18_v1(), state, "resnet18_v1")


def test_names_of_older_files():
    """DataParallel puts `module.` before names, old DenseNets have a dot inside them."""
    state = {f"module.{name}": value for name, value in arrays(ResNet((2, 2, 2, 2), False)).items()}
    _torch_weights.assign(vision.resnet18_v1(), state, "resnet18_v1")
    modern = arrays(NETWORKS["densenet121", "torchvision"]())
    old = {}
    for name, value in modern.items():
        layer, dot, rest = name.rpartition("denselayer")[2].partition(".")
        old[name.replace(f".{rest}", f".{rest[:4]}.{rest[4:]}") if "denselayer" in name else name] = value
    assert any(".norm.1." in name for name in old)
    _torch_weights.assign(vision.densenet121(), old, "densenet121")


@pytest.mark.slow
def test_published_inception_takes_the_zoos_colours(tmp_path):
    """torchvision turns the colours before the first convolution if its published weights are loaded."""
    source = trained(lambda: Inception(transform_input=True))
    torch.save(source.state_dict(), tmp_path / "inception.pth")
    net = vision.inception_v3()
    _torch_weights.assign(net, _torch_weights.read_state(tmp_path / "inception.pth", half=True), "inceptionv3")
    close(net(mx.nd.array(pictures("inceptionv3"))).asnumpy(), output_of(source, pictures("inceptionv3")))


def test_published_resnet_v2_takes_the_zoos_colours(tmp_path):
    source = trained(NETWORKS["resnet18_v2", "timm"])
    torch.save({"state_dict": source.state_dict()}, tmp_path / "net.pth")
    net, x = vision.resnet18_v2(), pictures("resnet18_v2")
    _torch_weights.assign(net, _torch_weights.read_state(tmp_path / "net.pth", half=True), "resnet18_v2")
    mean, deviation = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
    colours = (x * deviation.reshape(3, 1, 1) + mean.reshape(3, 1, 1) - 0.5) / 0.5
    close(net(mx.nd.array(x)).asnumpy(), output_of(source, colours))
