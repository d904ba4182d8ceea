"""Record the parameter names and shapes of MXNet's model zoo, as one digest a network (run with real MXNet)."""

import hashlib
import json
import sys

from mxnet.gluon.model_zoo import vision

NAMES = """resnet18_v1 resnet34_v1 resnet50_v1 resnet101_v1 resnet152_v1 resnet18_v2 resnet34_v2 resnet50_v2
resnet101_v2 resnet152_v2 vgg11 vgg13 vgg16 vgg19 vgg11_bn vgg13_bn vgg16_bn vgg19_bn alexnet densenet121
densenet161 densenet169 densenet201 squeezenet1.0 squeezenet1.1 inceptionv3 mobilenet1.0 mobilenet0.75 mobilenet0.5
mobilenet0.25 mobilenetv2_1.0 mobilenetv2_0.75 mobilenetv2_0.5 mobilenetv2_0.25""".split()


def describe(name):
    """Everything that a parameter file depends on: names, shapes, structural keys, and how the network prints."""
    net = vision.get_model(name, prefix="net_")
    return {
        "parameters": [(k, list(v.shape)) for k, v in net.collect_params().items()],
        "structure": sorted(net._collect_params_with_prefix()),
        "print": repr(net),
    }


def digest(name):
    return hashlib.sha256(json.dumps(describe(name)).encode()).hexdigest()


if __name__ == "__main__":
    with open(sys.argv[1], "w") as out:
        json.dump({name: digest(name) for name in NAMES}, out, indent=1)
