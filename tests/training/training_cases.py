"""Uses of the training stack whose results are recorded from MXNet: each function returns named arrays."""

import logging
import re

import numpy as np

SCHEDULES = {
    "factor": ("FactorScheduler", {"step": 4, "factor": 0.5, "base_lr": 0.1, "stop_factor_lr": 0.01}),
    "factor_warm": ("FactorScheduler", {"step": 4, "factor": 0.5, "base_lr": 0.1, "warmup_steps": 5}),
    "multifactor": ("MultiFactorScheduler", {"step": [3, 9, 14], "factor": 0.1, "base_lr": 1.0}),
    "poly": ("PolyScheduler", {"max_update": 20, "base_lr": 0.1, "pwr": 3, "final_lr": 0.01, "warmup_steps": 4}),
    "cosine": ("CosineScheduler", {"max_update": 20, "base_lr": 0.1, "final_lr": 0.02, "warmup_steps": 4}),
    "constant": (
        "CosineScheduler",
        {"max_update": 20, "base_lr": 0.1, "warmup_steps": 6, "warmup_mode": "constant", "warmup_begin_lr": 0.03},
    ),
}


def schedules(mx):
    found = {}
    for name, (kind, arguments) in SCHEDULES.items():
        schedule = getattr(mx.lr_scheduler, kind)(**arguments)
        found[name] = np.array([schedule(n) for n in range(1, 26)])
    return found


INITIALIZERS = {
    "zero": ("Zero", {}),
    "one": ("One", {}),
    "constant": ("Constant", {"value": 0.25}),
    "uniform": ("Uniform", {"scale": 0.3}),
    "normal": ("Normal", {"sigma": 0.2}),
    "orthogonal": ("Orthogonal", {}),
    "orthogonal_normal": ("Orthogonal", {"scale": 1.0, "rand_type": "normal"}),
    "xavier": ("Xavier", {}),
    "xavier_in": ("Xavier", {"factor_type": "in", "magnitude": 2.34}),
    "xavier_gaussian": ("Xavier", {"rnd_type": "gaussian", "factor_type": "out"}),
    "msra": ("MSRAPrelu", {"slope": 0.1}),
    "bilinear": ("Bilinear", {}),
}


def initializers(mx):
    found = {}
    for name, (kind, arguments) in INITIALIZERS.items():
        mx.random.seed(3)
        initializer = getattr(mx.init, kind)(**arguments)
        array = mx.nd.empty((4, 3, 5, 5))
        initializer(mx.init.InitDesc("conv_weight"), array)
        values = array.asnumpy()
        if kind == "Orthogonal":  # singular vectors are unique up to their sign
            values = values * np.sign(values[:, :1, :1, :1])
        found[name] = values
        found[name + "_json"] = np.array(initializer.dumps())
    for name in ("fc_bias", "bn_gamma", "bn_beta", "range_min", "range_max"):
        array = mx.nd.empty((6,))
        mx.init.Uniform()(mx.init.InitDesc(name), array)
        found[name] = array.asnumpy()
    array = mx.nd.empty((8,))
    mx.init.Xavier()(mx.init.InitDesc("lstm_bias", {"__init__": mx.init.LSTMBias(2.0).dumps()}), array)
    found["lstm_bias"] = array.asnumpy()
    return found


METRICS = {
    "acc": ({}, "classes"),
    "accuracy": ({"axis": 1}, "classes"),
    "top_k_accuracy": ({"top_k": 2}, "classes"),
    "ce": ({}, "classes"),
    "nll_loss": ({"eps": 1e-6}, "classes"),
    "perplexity": ({"ignore_label": None}, "classes"),
    "Perplexity": ({"ignore_label": 1}, "classes"),
    "pcc": ({}, "classes"),
    "f1": ({}, "binary"),
    "F1": ({"average": "micro"}, "binary"),
    "mcc": ({}, "binary"),
    "MCC": ({"average": "micro"}, "binary"),
    "mae": ({}, "values"),
    "mse": ({}, "values"),
    "rmse": ({}, "values"),
    "pearsonr": ({}, "values"),
    "PearsonCorrelation": ({"average": "micro"}, "values"),
    "loss": ({}, "values"),
    "torch": ({}, "values"),
    "caffe": ({}, "values"),
}


def batches(kind):
    random = np.random.RandomState(11)
    for _ in range(4):
        if kind == "values":
            yield random.normal(size=(7,)).astype("float32"), random.normal(size=(7,)).astype("float32")
        else:
            classes = 2 if kind == "binary" else 4
            scores = random.uniform(0.05, 1, (9, classes)).astype("float32")
            yield random.randint(0, classes, 9).astype("float32"), scores / scores.sum(1, keepdims=True)


def metrics(mx):
    found = {}
    for name, (arguments, kind) in METRICS.items():
        metric = mx.metric.create(name, **arguments)
        for number, (label, pred) in enumerate(batches(kind)):
            metric.update([mx.nd.array(label)], [mx.nd.array(pred)])
            if number == 1:
                metric.reset_local()
        found[name] = np.array([metric.get()[1], metric.get_global()[1]])
        found[name + "_name"] = np.array(metric.get()[0])
        found[name + "_config"] = np.array(str(sorted(metric.get_config().items(), key=str)))
    return found


def compression(mx):
    """What a device store with two-bit compression gives, push after push."""
    store = mx.kv.create("device")
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    store.init("w", mx.nd.zeros((40,)))
    random, out, pulled = np.random.RandomState(5), mx.nd.zeros((40,)), []
    for _ in range(6):
        grads = [mx.nd.array(random.normal(0, 0.6, 40), ctx=mx.cpu(i)) for i in range(3)]
        store.push("w", grads)
        store.pull("w", out=out)
        pulled.append(out.asnumpy())
    return {"two_bit": np.stack(pulled)}


def store_updates(mx):
    """Weights in a store that updates them, gradients from four devices."""
    found = {}
    for kind in ("local", "device"):
        store = mx.kv.create(kind)
        store.set_optimizer(mx.optimizer.create("adam", learning_rate=0.1, wd=0.01, rescale_grad=0.25))
        random = np.random.RandomState(9)
        outs = [mx.nd.zeros((3, 4), ctx=mx.cpu(i)) for i in range(4)]
        store.init(3, mx.nd.array(random.uniform(-1, 1, (3, 4))))
        for _ in range(5):
            store.push(3, [mx.nd.array(random.normal(size=(3, 4)), ctx=mx.cpu(i)) for i in range(4)])
        store.pull(3, out=outs)
        found[kind] = np.stack([o.asnumpy() for o in outs])
    return found


def network(mx):
    data = mx.sym.Variable("data")
    net = mx.sym.FullyConnected(data, num_hidden=8, name="fc1")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    net = mx.sym.FullyConnected(net, num_hidden=3, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def examples():
    random = np.random.RandomState(1)
    data = random.uniform(-1, 1, (80, 5)).astype("float32")
    return data, (data @ random.uniform(-1, 1, (5, 3))).argmax(1).astype("float32")


class Lines(logging.Handler):
    """Collects what is logged."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def fitted(mx, contexts=1, optimizer="sgd", kvstore="local", callbacks=(), epochs=4):
    """A module trained for 20 steps, and the lines it logged."""
    mx.random.seed(2)
    lines = Lines()
    logger = logging.getLogger("fit")
    logger.setLevel(logging.INFO)
    logger.handlers, logger.propagate = [lines], False
    data, label = examples()
    batches = mx.io.NDArrayIter(data, label, batch_size=16)
    contexts = [mx.cpu(i) for i in range(contexts)] if isinstance(contexts, int) else contexts
    module = mx.mod.Module(network(mx), context=contexts, logger=logger)
    options = {"learning_rate": 0.5, "momentum": 0.9} if optimizer == "sgd" else {"learning_rate": 0.05}
    module.fit(
        batches,
        eval_data=mx.io.NDArrayIter(data, label, batch_size=16),
        optimizer=optimizer,
        optimizer_params=options,
        initializer=mx.init.Xavier(),
        eval_metric=["acc", "ce"],
        num_epoch=epochs,
        kvstore=kvstore,
        batch_end_callback=list(callbacks),
    )
    return module, [line for line in lines.lines if "Time cost" not in line]


def first_weights(mx):
    """What `fitted` starts from."""
    mx.random.seed(2)
    module = mx.mod.Module(network(mx))
    module.bind([("data", (16, 5))], [("softmax_label", (16,))])
    module.init_params(mx.init.Xavier())
    return {name: array.copy() for name, array in module.get_params()[0].items()}


def dense_pair(mx, weights, contexts):
    """The network of `network` as a block with these weights."""
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(8, activation="relu", in_units=5), mx.gluon.nn.Dense(3, in_units=8))
    net.initialize(ctx=contexts)
    for layer, name in zip(net, ("fc1", "fc2"), strict=True):
        layer.weight.set_data(weights[name + "_weight"])
        layer.bias.set_data(weights[name + "_bias"])
    net.hybridize()
    return net


def trained(mx, contexts, kvstore="device", rows=range(80), batch=16, weights=None, **options):
    """The same 20 steps as `fitted` by a Trainer; `rows` are this process's share of the examples."""
    net = dense_pair(mx, weights or first_weights(mx), contexts)
    settings = {"learning_rate": 0.5, "momentum": 0.9}
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", settings, kvstore=kvstore, **options)
    data, label = (part[list(rows)] for part in examples())
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    share = batch * len(data) // 80
    for start in list(range(0, len(data), share)) * 4:
        chosen = slice(start, start + share)
        with mx.autograd.record():
            parts = zip(*(mx.gluon.utils.split_and_load(a[chosen], contexts) for a in (data, label)), strict=True)
            losses = [loss_of(net(x), y) for x, y in parts]
        mx.autograd.backward(losses)
        trainer.step(batch)
    found = {}
    for layer, name in zip(net, ("fc1", "fc2"), strict=True):
        found[name + "_weight"], found[name + "_bias"] = layer.weight.data(contexts[0]), layer.bias.data(contexts[0])
    return {name: array.asnumpy() for name, array in found.items()}


def write_digits(mx, folder, images, labels, train=200):
    """train.rec and val.rec, lossless."""
    for name, chosen in (("train.rec", slice(0, train)), ("val.rec", slice(train, None))):
        record = mx.recordio.MXRecordIO(str(folder / name), "w")
        for number, (image, label) in enumerate(zip(images[chosen], labels[chosen], strict=True)):
            header = mx.recordio.IRHeader(0, float(label), number, 0)
            record.write(mx.recordio.pack_img(header, image, quality=9, img_fmt=".png"))
        record.close()


def without_times(lines, folder):
    """What a run logged, but for speeds, times and places."""
    found = [re.sub(r"Speed: \S+", "Speed:", line.replace(folder, "")) for line in lines]
    return [line for line in found if "Time cost" not in line]


def modules(mx):
    found = {}
    for name, options in {"one": {}, "four": {"contexts": 4}, "adam": {"optimizer": "adam", "contexts": 2}}.items():
        module, lines = fitted(mx, **options)
        for param, array in module.get_params()[0].items():
            found[f"{name}_{param}"] = array.asnumpy()
        found[name + "_lines"] = np.array(lines)
    return found


def norm_gradients(mx):
    """Gradients of a batch norm whose forward and backward pass run in different modes."""
    found = {}
    for recorded, derived in ((True, True), (False, True), (False, False)):
        for stats in (False, True):
            net = mx.gluon.nn.BatchNorm(in_channels=3, use_global_stats=stats)
            net.initialize()
            net.running_mean.set_data(mx.nd.array([0.1, 0.2, 0.3]))
            net.running_var.set_data(mx.nd.array([1, 2, 0.5]))
            x, head = (mx.nd.array(np.random.RandomState(seed).randn(4, 3)) for seed in (1, 2))
            x.attach_grad()
            with mx.autograd.record(train_mode=recorded):
                y = net(x)
            y.backward(head, train_mode=derived)
            name = f"{recorded}_{derived}_{stats}"
            found.update({f"{name}_data": x.grad.asnumpy(), f"{name}_gamma": net.gamma.grad().asnumpy()})
            found[f"{name}_mean"] = net.running_mean.data().asnumpy()
    return found


SECTIONS = (schedules, initializers, metrics, compression, store_updates, modules, norm_gradients)
