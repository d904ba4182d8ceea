"""Prediction in 8-bit integers beside float32: medians of processor time a batch, and how far the outputs are apart.

OMP_NUM_THREADS=1 python benchmarks/int8.py [ResNet-18 MobileNetV2 Dense ...]

Without names it measures one network of each family of the zoo, and dense layers.
Processor time of one thread tells the ratio on a busy machine, too.
"""

import statistics
import sys
import time

import mxnet as mx
from mxnet import gluon, nd
from mxnet.contrib import quantization
from mxnet.gluon import nn
from mxnet.gluon.model_zoo import vision

RUNS, SECONDS = 9, 6.0


def dense():
    net = nn.HybridSequential()
    net.add(*[nn.Dense(1024, activation="relu") for _ in range(4)], nn.Dense(10))
    return net


IMAGES = (4, 3, 224, 224)
NETWORKS = {
    "AlexNet": (vision.alexnet, IMAGES),
    "VGG-11": (vision.vgg11, IMAGES),
    "SqueezeNet 1.1": (vision.squeezenet1_1, IMAGES),
    "DenseNet-121": (vision.densenet121, IMAGES),
    "Inception v3": (vision.inception_v3, (4, 3, 299, 299)),
    "MobileNet 1.0": (vision.mobilenet1_0, IMAGES),
    "MobileNetV2": (vision.mobilenet_v2_1_0, IMAGES),
    "ResNet-18": (vision.resnet18_v1, IMAGES),
    "ResNet-50": (vision.resnet50_v1, IMAGES),
    "ResNet-50 v2": (vision.resnet50_v2, IMAGES),
    "Dense": (dense, (64, 1024)),
}


def prepared(name):
    """(network of float32, the same in integers, data)."""
    build, shape = NETWORKS[name]
    mx.random.seed(0)
    data = nd.random.normal(shape=shape)
    net = build()
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    net(data)
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(data), batch_size=shape[0])
    small = quantization.quantize_net_v2(net, "int8", calib_mode="naive", calib_data=loader)
    small.hybridize(static_alloc=True, static_shape=True)
    return net, small, data


def timed(networks, data):
    """Milliseconds of each network, in turns so that both meet the same machine."""
    for net in networks:
        net(data).wait_to_read()
    found, until = [[] for _ in networks], time.process_time() + SECONDS
    while len(found[0]) < RUNS or time.process_time() < until:
        for net, times in zip(networks, found, strict=True):
            start = time.process_time()
            net(data).wait_to_read()
            times.append(1e3 * (time.process_time() - start))
    return [statistics.median(times) for times in found]


def main(names):
    print("| network | float32 | int8 | ratio | difference |\n|---|---|---|---|---|")
    for name in names:
        net, small, data = prepared(name)
        real, integer = timed((net, small), data)
        wanted = net(data)
        apart = (nd.max(nd.abs(small(data) - wanted)) / nd.max(nd.abs(wanted))).asscalar()
        print(f"| {name} | {real:.1f} ms | {integer:.1f} ms | {real / integer:.2f} | {apart:.1%} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(NETWORKS))
