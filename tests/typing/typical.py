"""A program as users write them, read by mypy and pyright: Gluon, autograd, data, Symbol and Module."""

import logging

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, image, init, metric, nd
from mxnet.gluon import nn
from mxnet.gluon.data.vision import transforms
from mxnet.gluon.model_zoo import vision

ctx = mx.gpu(0) if mx.context.num_gpus() else mx.cpu()


class Residual(nn.HybridBlock):
    def __init__(self, channels: int, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.conv = nn.Conv2D(channels, kernel_size=3, padding=1)
            self.norm = nn.BatchNorm()
            self.scale = self.params.get("scale", shape=(1,), init=init.One())

    def hybrid_forward(self, F, x, scale):
        return F.relu(self.norm(self.conv(x)) * scale + x)


class Pairs(gluon.data.Dataset):
    def __init__(self, images: np.ndarray, labels: np.ndarray):
        self._images, self._labels = images, labels

    def __getitem__(self, idx):
        return nd.array(self._images[idx]), self._labels[idx]

    def __len__(self) -> int:
        return len(self._labels)


def arrays() -> nd.NDArray:
    x = nd.arange(12).reshape((3, 4))
    y = nd.ones((3, 4), ctx=ctx, dtype="float32")
    z = nd.dot(x, y.T) + 2 * x.sum(axis=1, keepdims=True) - 1
    z[0, :] = 0
    z += nd.random.normal(0, 1, shape=(3, 3))
    best = nd.concat(x, y, dim=0).argmax(axis=1)
    print(z.shape, z.dtype, z.context, z.asnumpy().mean(), x[1:3, 0], best.asscalar(), nd.stack(x, y).size)
    nd.save("arrays.params", {"x": x})
    return nd.softmax(z, axis=-1).astype("float64").as_in_context(ctx)


def network() -> nn.HybridSequential:
    net = nn.HybridSequential()
    with net.name_scope():
        net.add(nn.Conv2D(8, 3, activation="relu"), Residual(8), nn.MaxPool2D(2), nn.Flatten(), nn.Dropout(0.5))
        net.add(nn.Dense(10))
    net.initialize(init.Xavier(), ctx=ctx)
    net.hybridize(static_alloc=True)
    return net


def train(net: nn.HybridSequential, epochs: int = 2) -> float:
    change = transforms.Compose([transforms.ToTensor(), transforms.Normalize(0.5, 0.5)])
    dataset = Pairs(np.zeros((32, 1, 28, 28)), np.zeros(32)).transform_first(change)
    loader = gluon.data.DataLoader(dataset, batch_size=8, shuffle=True, num_workers=2)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    schedule = mx.lr_scheduler.FactorScheduler(step=100, factor=0.9)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "lr_scheduler": schedule})
    accuracy = metric.Accuracy()
    for epoch in range(epochs):
        accuracy.reset()
        for data, label in loader:
            data, label = data.as_in_context(ctx), label.as_in_context(ctx)
            with autograd.record():
                output = net(data)
                loss = loss_of(output, label)
            loss.backward()
            trainer.step(data.shape[0])
            accuracy.update([label], [output])
        name, value = accuracy.get()
        print(f"epoch {epoch}: {name} {value:.3f}, rate {trainer.learning_rate}")
    trainer.set_learning_rate(0.01)
    net.save_parameters("net.params")
    net.load_parameters("net.params", ctx=ctx)
    net.export("net", epoch=1)
    gluon.SymbolBlock.imports("net-symbol.json", ["data"], "net-0001.params", ctx=ctx)
    return net(nd.zeros((1, 1, 28, 28), ctx=ctx)).max().asscalar()


def fine_tune() -> gluon.Block:
    pretrained = vision.resnet18_v1(pretrained=False)
    net = vision.get_model("resnet18_v1", classes=2)
    net.features = pretrained.features
    net.output.initialize(init.Xavier())
    net.features.collect_params().setattr("lr_mult", 0.1)
    for name, parameter in net.collect_params(".*weight").items():
        print(name, parameter.shape, parameter.data().context, parameter.grad().sum().asscalar())
    return net


def by_hand() -> nd.NDArray:
    w = nd.random.normal(scale=0.01, shape=(2, 1))
    w.attach_grad()
    with autograd.record():
        loss = ((nd.dot(nd.ones((4, 2)), w) - 1) ** 2).mean()
    loss.backward()
    w[:] = w - 0.1 * w.grad
    return w


def symbolic() -> mx.mod.Module:
    data = mx.sym.Variable("data")
    hidden = mx.sym.Activation(mx.sym.FullyConnected(data, num_hidden=16, name="fc1"), act_type="relu")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=3, name="fc2"), name="softmax")
    arguments, outputs, states = net.infer_shape(data=(8, 4))
    batches = mx.io.NDArrayIter(np.zeros((80, 4)), np.zeros(80), batch_size=8, shuffle=True)
    module = mx.mod.Module(net, data_names=["data"], label_names=["softmax_label"], context=ctx)
    module.fit(
        batches,
        eval_data=batches,
        eval_metric="acc",
        optimizer="sgd",
        optimizer_params={"learning_rate": 0.1},
        num_epoch=2,
        batch_end_callback=mx.callback.Speedometer(8, 10),
        epoch_end_callback=mx.callback.do_checkpoint("net"),
    )
    symbol, arg_params, aux_params = mx.model.load_checkpoint("net", 2)
    module.set_params(arg_params, aux_params)
    print(dict(module.score(batches, mx.metric.Accuracy())), len(net.list_arguments()), symbol.name)
    executor = net.simple_bind(ctx, data=(8, 4))
    executor.forward(is_train=False)
    print(executor.outputs[0].shape)
    mx.viz.print_summary(net, shape={"data": (8, 4)})
    return module


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    mx.random.seed(42)
    print(arrays(), train(network()), fine_tune(), by_hand(), symbolic())
    print(image.imread("picture.jpg").shape)
