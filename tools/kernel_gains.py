"""What each kernel gains on whole networks: python tools/kernel_gains.py [--only TEXT] [--kernel TEXT] [--turns N]

For each network, inference or a training step, every kernel that computes a part of it is switched off alone, and the
two forms of the program take turns. Prints a row of a Markdown table for each: the time with the kernel, without it,
and their ratio; the best of all turns. One thread is measured in processor time, so that other programs disturb little.
`OMP_NUM_THREADS=2` measures two threads, in wall time, which needs an idle machine.
"""

import argparse
import os
import time
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MXNET_KERNELS", "wait")  # also on a machine that has to compile them

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._kernels import registry
from mxnet._kernels.conv import choose
from mxnet.gluon import nn, rnn
from mxnet.gluon.model_zoo import vision

NEVER = 1 << 62  # work
BATCH = 8  # what gradients are divided by
WARM = 16  # runs before the first that counts: the optimizers' kernel starts after some steps
CLOCK = time.process_time if os.environ["OMP_NUM_THREADS"] == "1" else time.perf_counter


def lenet():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(20, 5, activation="relu"), nn.MaxPool2D(2, 2), nn.Conv2D(50, 5, activation="relu"))
    net.add(nn.MaxPool2D(2, 2), nn.Flatten(), nn.Dense(500, activation="relu"), nn.Dense(10))
    return net, (64, 1, 28, 28)


def old_alexnet():
    """The first layers of the AlexNet of 2012, with local response normalization."""

    class Normalized(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.LRN(x, nsize=5)

    net = nn.HybridSequential()
    for channels, size, stride, pad in ((96, 11, 4, 2), (256, 5, 1, 2)):
        net.add(nn.Conv2D(channels, size, stride, pad, activation="relu"), Normalized(), nn.MaxPool2D(3, 2))
    net.add(nn.Conv2D(384, 3, padding=1, activation="relu"), nn.GlobalAvgPool2D(), nn.Dense(1000))
    return net, (8, 3, 224, 224)


def old_lenet():
    """LeNet-5 as textbooks have it: sigmoid and average pooling."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(6, 5, padding=2, activation="sigmoid"), nn.AvgPool2D(2, 2))
    net.add(nn.Conv2D(16, 5, activation="sigmoid"), nn.AvgPool2D(2, 2))
    net.add(nn.Dense(120, activation="sigmoid"), nn.Dense(84, activation="sigmoid"), nn.Dense(10))
    return net, (256, 1, 28, 28)


def image_decoder():
    """The last layers of CycleGAN's generator, which enlarge 64 x 64 pixels four times."""
    net = nn.HybridSequential()
    for channels in (128, 64):
        net.add(nn.Conv2DTranspose(channels, 3, 2, 1, 1), nn.InstanceNorm(), nn.Activation("relu"))
    net.add(nn.Conv2D(3, 7, padding=3), nn.Activation("tanh"))
    return net, (1, 256, 64, 64)


def generator():
    """DCGAN's."""
    net = nn.HybridSequential()
    for channels, stride, pad in ((512, 1, 0), (256, 2, 1), (128, 2, 1), (64, 2, 1)):
        net.add(nn.Conv2DTranspose(channels, 4, stride, pad, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    net.add(nn.Conv2DTranspose(3, 4, 2, 1, use_bias=False), nn.Activation("tanh"))
    return net, (8, 100, 1, 1)


def elu_network():
    net = nn.HybridSequential()
    for channels in (32, 64, 128):
        net.add(nn.Conv2D(channels, 3, padding=1), nn.ELU(), nn.MaxPool2D(2, 2))
    net.add(nn.Dense(10))
    return net, (16, 3, 64, 64)


class ClassHead(gluon.HybridBlock):
    """SSD's class predictor on a feature map: a convolution whose result is transposed and flattened."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.trunk = nn.Conv2D(128, 3, padding=1, activation="relu")
            self.classes = nn.Conv2D(84, 3, padding=1)

    def hybrid_forward(self, F, x):
        return F.flatten(F.transpose(self.classes(self.trunk(x)), (0, 2, 3, 1)))


def feed_forward():
    """The feed-forward part of two encoder layers: large weights, few positions."""
    net = nn.HybridSequential()
    for units in (3072, 768, 3072, 768):
        net.add(nn.Dense(units, flatten=False, activation="relu"))
    return net, (8, 16, 768)


def zoo(name, size=64, batch=8):
    return lambda: (vision.get_model(name), (batch, 3, size, size))


NETWORKS = {
    "LeNet, batch 64": lenet,
    "AlexNet at 224, batch 8": zoo("alexnet", 224),
    "VGG-11 at 64, batch 8": zoo("vgg11", 64),
    "ResNet-18 at 64, batch 8": zoo("resnet18_v1"),
    "ResNet-18 at 224, batch 1": zoo("resnet18_v1", 224, 1),
    "ResNet-50 at 64, batch 8": zoo("resnet50_v1"),
    "DenseNet-121 at 224, batch 1": zoo("densenet121", 224, 1),
    "SqueezeNet 1.1 at 224, batch 1": zoo("squeezenet1.1", 224, 1),
    "Inception v3 at 299, batch 1": zoo("inceptionv3", 299, 1),
    "MobileNet 1.0 at 64, batch 8": zoo("mobilenet1.0"),
    "MobileNetV2 at 224, batch 1": zoo("mobilenetv2_1.0", 224, 1),
    "LeNet-5 with average pooling, batch 256": old_lenet,
    "AlexNet of 2012 (first layers), batch 8": old_alexnet,
    "DCGAN's generator, batch 8": generator,
    "CycleGAN's decoder at 64, batch 1": image_decoder,
    "convolutional network with ELU, batch 16": elu_network,
    "SSD's class head at 38, batch 8": lambda: (ClassHead(), (8, 128, 38, 38)),
    "feed-forward layers of 768 and 3072": feed_forward,
    "LSTM of 256 units, 2 layers": lambda: (rnn.LSTM(256, 2), (35, 32, 256)),
    "GRU of 256 units, 2 layers": lambda: (rnn.GRU(256, 2), (35, 32, 256)),
}


class Mode(NamedTuple):
    """How a network is run."""

    training: bool
    optimizer: str = "sgd"
    eager: bool = False


def program(make, mode):
    """One run of the network, with parameters and graphs of its own."""
    mx.random.seed(0)
    net, shape = make()
    net.initialize(mx.init.Xavier())
    if not mode.eager:
        net.hybridize()
    data = nd.random.normal(shape=shape)
    if not mode.training:
        return lambda: net(data).wait_to_read()
    net(data)
    options = {"learning_rate": 1e-4, **({"momentum": 0.9} if mode.optimizer == "sgd" else {})}
    trainer = gluon.Trainer(net.collect_params(), mode.optimizer, options)

    def step():
        with autograd.record():
            loss = net(data).square().mean()
        loss.backward()
        trainer.step(BATCH)
        nd.waitall()

    return step


class Without:
    """Within it, one kernel computes nothing."""

    def __init__(self, name):
        self._kernel = registry.KERNELS[name]

    def __enter__(self):
        self._before, self._kernel.minimum_work = self._kernel.minimum_work, NEVER
        choose.forget()

    def __exit__(self, *_):
        self._kernel.minimum_work = self._before
        choose.forget()


def used(make, mode):
    """Kernels that compute a part of a program, but for those that draw its parameters."""
    with registry.traced() as log:
        run = program(make, mode)
        for _ in range(WARM):
            run()
    names = {decision.kernel for decision in log if decision.used and decision.kernel in registry.KERNELS}
    return sorted(name for name in names if not name.startswith("random."))


def seconds(run):
    start = CLOCK()
    run()
    return CLOCK() - start


def gain(make, mode, name, turns):
    """(time with the kernel, without it): the best of some turns."""
    with_it = program(make, mode)
    with Without(name):
        without_it = program(make, mode)
        for _ in range(WARM):
            without_it()
    for _ in range(WARM):
        with_it()
    best = [float("inf"), float("inf")]
    for _ in range(turns):
        best[0] = min(best[0], seconds(with_it))
        with Without(name):
            without_it()  # choices are made anew
            best[1] = min(best[1], seconds(without_it))
        with_it()
    return best


def chosen(name, texts):
    return not texts or any(text in name for text in texts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[], help="networks whose names contain this")
    parser.add_argument("--kernel", action="append", default=[], help="kernels whose names contain this")
    parser.add_argument("--optimizer", default="sgd", help="of the training steps; sgd has momentum")
    parser.add_argument("--eager", action="store_true", help="networks that are not hybridized")
    parser.add_argument("--turns", type=int, default=6)
    options = parser.parse_args()
    print("| kernel | network | with (ms) | without (ms) | ratio |\n|---|---|---|---|---|")
    for title, make in NETWORKS.items():
        if not chosen(title, options.only):
            continue
        for training in (False, True):
            mode = Mode(training, options.optimizer, options.eager)
            for name in used(make, mode):
                if not chosen(name, options.kernel):
                    continue
                with_it, without_it = gain(make, mode, name, options.turns)
                kind, ratio = "training" if training else "inference", without_it / with_it
                print(
                    f"| `{name}` | {title}, {kind} | {with_it * 1e3:.2f} | {without_it * 1e3:.2f} | {ratio:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
