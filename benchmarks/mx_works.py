"""The works of the suite, written for MXNet's API: the same file runs on ReMX and on real MXNet 1.9.1."""

import os
import tempfile
from unittest import mock

import program_works
import small_works

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn, rnn
from mxnet.gluon.model_zoo import vision


def mlp():
    net = nn.HybridSequential()
    net.add(nn.Dense(256, activation="relu"), nn.Dense(256, activation="relu"), nn.Dense(10))
    return net


def lenet():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(20, 5, activation="relu"), nn.MaxPool2D(2, 2), nn.Conv2D(50, 5, activation="relu"))
    net.add(nn.MaxPool2D(2, 2), nn.Flatten(), nn.Dense(500, activation="relu"), nn.Dense(10))
    return net


class EncoderLayer(gluon.HybridBlock):
    """A layer as GluonNLP's BERT has it: interleaved projections, fused self-attention products."""

    def __init__(self, units=768, hidden=3072, heads=12):
        super().__init__()
        self._heads = heads
        with self.name_scope():
            self.qkv = nn.Dense(3 * units, flatten=False, in_units=units)
            self.proj = nn.Dense(units, flatten=False, in_units=units)
            self.ffn1 = nn.Dense(hidden, flatten=False, in_units=units)
            self.ffn2 = nn.Dense(units, flatten=False, in_units=hidden)
            self.gelu = nn.GELU()
            self.ln1 = nn.LayerNorm(in_channels=units)
            self.ln2 = nn.LayerNorm(in_channels=units)

    def hybrid_forward(self, F, x):
        qkv = self.qkv(x)
        scores = F.softmax(F.contrib.interleaved_matmul_selfatt_qk(qkv, heads=self._heads))
        x = self.ln1(x + self.proj(F.contrib.interleaved_matmul_selfatt_valatt(qkv, scores, heads=self._heads)))
        return self.ln2(x + self.ffn2(self.gelu(self.ffn1(x))))


def encoder(layers):
    net = nn.HybridSequential()
    for _ in range(layers):
        net.add(EncoderLayer())
    return net


def ready(net, data, hybrid=True):
    mx.random.seed(1)
    net.initialize(mx.init.Xavier())
    if hybrid:
        net.hybridize(static_alloc=True, static_shape=True)
    net(data).wait_to_read()
    return net


def training(net, data, label, optimizer, options, hybrid):
    """One step as the tutorials write it."""
    ready(net, data, hybrid)
    trainer = gluon.Trainer(net.collect_params(), optimizer, options)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    if hybrid:
        loss_of.hybridize()

    def step():
        with autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(data.shape[0])
        nd.waitall()

    return step


def labels(count):
    return nd.array([i % 10 for i in range(count)])


def mlp_training(hybrid):
    data = nd.random.normal(shape=(64, 784))
    return training(mlp(), data, labels(64), "adam", {"learning_rate": 1e-3}, hybrid)


def lenet_training(hybrid):
    data = nd.random.normal(shape=(256, 1, 28, 28))
    return training(lenet(), data, labels(256), "sgd", {"learning_rate": 0.01, "momentum": 0.9}, hybrid)


def inference(net, data):
    ready(net, data)
    return lambda: net(data).wait_to_read()


def lstm():
    net = rnn.LSTM(256, num_layers=2, input_size=256)
    data = nd.random.normal(shape=(35, 32, 256))
    ready(net, data)

    def step():
        with autograd.record():
            loss = net(data).sum()
        loss.backward()
        nd.waitall()

    return step


def bert(layers, train):
    data = nd.random.normal(shape=(128, 4, 768))
    if not train:
        return inference(encoder(layers), data)
    net = ready(encoder(layers), data)

    def step():
        with autograd.record():
            loss = net(data).sum()
        loss.backward()
        nd.waitall()

    return step


def trainer_step(optimizer, options):
    """The update alone: 200 small parameters with fixed gradients."""
    params = gluon.ParameterDict()
    for i in range(200):
        params.get("p%d" % i, shape=(64, 64) if i % 2 else (64,))  # noqa: UP031 - MXNet's own interpreter is old
    params.initialize()
    trainer = gluon.Trainer(params, optimizer, options)
    with autograd.record():
        loss = sum((p.data() * 0.5).sum() for p in params.values())
    loss.backward()

    def renew():
        """Backward's mark on the gradients, which is no part of the update."""
        for p in params.values():
            p.list_data()[0]._fresh_grad = True

    def step():
        trainer.step(1)
        nd.waitall()

    step.before = renew
    return step


def save_and_load(which):
    net = ready(vision.resnet50_v1(), nd.zeros((1, 3, 64, 64)), hybrid=False)
    path = os.path.join(tempfile.mkdtemp(), "net.params")
    net.save_parameters(path)
    if which == "save":
        return lambda: net.save_parameters(path)
    if which == "save, no sync":
        return lambda: unsynced(net, path)

    def load():
        net.load_parameters(path)
        nd.waitall()

    return load


def unsynced(net, path):
    """Saving without the wait for the disk, which MXNet does not have either."""
    with mock.patch("os.fsync", lambda handle: None):
        net.save_parameters(path)


def bind():
    """simple_bind of ResNet-152: shapes, arrays and code, without a run."""
    sym = vision.resnet152_v1()(mx.sym.var("data"))
    return lambda: sym.simple_bind(mx.cpu(), data=(1, 3, 224, 224), grad_req="null")


def first_call():
    """Making and calling a hybridized ResNet-50, less a later call: what tracing and lowering cost."""
    data = nd.zeros((1, 3, 64, 64))
    net = vision.resnet50_v1()
    net.initialize()
    net(data).wait_to_read()

    def step():
        net.hybridize()
        net(data).wait_to_read()

    return step


# title -> name in the zoo, side of the images
ZOO = {
    "AlexNet": ("alexnet", 224),
    "VGG-11": ("vgg11", 224),
    "SqueezeNet 1.1": ("squeezenet1_1", 224),
    "DenseNet-121": ("densenet121", 224),
    "Inception v3": ("inception_v3", 299),
    "MobileNet 1.0": ("mobilenet1_0", 224),
    "MobileNetV2": ("mobilenet_v2_1_0", 224),
    "ResNet-18": ("resnet18_v1", 224),
    "ResNet-50": ("resnet50_v1", 224),
    "ResNet-50 v2": ("resnet50_v2", 224),
}


def zoo_training(title):
    name, side = ZOO[title]
    data, options = nd.random.normal(shape=(8, 3, side, side)), {"learning_rate": 0.01, "momentum": 0.9}
    return training(getattr(vision, name)(), data, labels(8), "sgd", options, True)


def images(title, batch):
    name, side = ZOO[title]
    return inference(getattr(vision, name)(), nd.random.normal(shape=(batch, 3, side, side)))


def works(layers):
    """name -> a function that prepares the work and returns one run of it: networks that learn and predict."""
    table = {
        "MLP train step, eager": lambda: mlp_training(False),
        "MLP train step, hybridized": lambda: mlp_training(True),
        "LeNet train step, eager": lambda: lenet_training(False),
        "LeNet train step, hybridized": lambda: lenet_training(True),
        "LSTM forward+backward": lstm,
        "BERT encoder inference": lambda: bert(layers, False),
        "BERT encoder forward+backward": lambda: bert(layers, True),
        "DCGAN train step": program_works.gan,
        "SSD train step": program_works.tiny_ssd,
        "LSTM language model train step": lambda: program_works.language_model("LSTM", num_layers=2),
        "transformer train step": lambda: program_works.transformer(True),
        "factorization machine train step": program_works.factorization_machine,
    }
    for title in ZOO:
        table["%s train step, batch 8" % title] = lambda t=title: zoo_training(t)  # noqa: UP031 - MXNet's Python is old
    for title in ZOO:
        for batch in (1, 8):
            table["%s inference, batch %d" % (title, batch)] = lambda t=title, b=batch: images(t, b)  # noqa: UP031
    return table


def small_parts():
    """The same of parts: updates, files, the first call, single calls."""
    table = {
        "Trainer.step, SGD momentum": lambda: trainer_step("sgd", {"learning_rate": 0.01, "momentum": 0.9}),
        "Trainer.step, Adam": lambda: trainer_step("adam", {"learning_rate": 1e-3}),
        "Trainer.step, LAMB": lambda: trainer_step("lamb", {"learning_rate": 1e-3}),
        "save ResNet-50 .params": lambda: save_and_load("save"),
        "load ResNet-50 .params": lambda: save_and_load("load"),
        "save ResNet-50 .params, fsync off": lambda: save_and_load("save, no sync"),
        "first hybridized call, ResNet-50 at 64": first_call,
        "simple_bind ResNet-152": bind,
    }
    table.update(small_works.mx_works())
    return table


def compiled(net, data):
    net.initialize(mx.init.Xavier())
    net.hybridize(backend="inductor")
    net(data).wait_to_read()
    return lambda: net(data).wait_to_read()


def inductor_works(layers):
    """Inference with `hybridize(backend="inductor")`, which MXNet does not have."""
    table = {
        f"{title} inference, batch {batch}": lambda n=ZOO[title], b=batch: compiled(
            getattr(vision, n[0])(), nd.random.normal(shape=(b, 3, n[1], n[1]))
        )
        for title in ("ResNet-18", "ResNet-50", "MobileNetV2")
        for batch in (1, 8)
    }
    table["BERT encoder inference"] = lambda: compiled(encoder(layers), nd.random.normal(shape=(128, 4, 768)))
    return table
