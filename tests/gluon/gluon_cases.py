"""What Gluon must do, as functions that run on MXNet and on ReMX alike and return plain data to compare.

`tools/record_gluon.py` runs them on real MXNet 1.9.1 and keeps the answers in `tests/data/gluon.json`.
"""

import contextlib
import io
import warnings

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import loss, nn

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def numbers(array):
    return [float(f"{v:.7g}") for v in array.asnumpy().astype("float64").ravel()]


def ramp(*shape, low=-1.0, high=1.0):
    """Fixed numbers in no simple order."""
    size = int(np.prod(shape))
    return nd.array((np.sin(np.arange(size) * 1.7) * (high - low) / 2 + (high + low) / 2).reshape(shape))


LAYERS = {
    "dense": (lambda: nn.Dense(4), (3, 5)),
    "dense_relu_nobias": (lambda: nn.Dense(4, activation="relu", use_bias=False, in_units=5), (3, 5)),
    "dense_unflattened": (lambda: nn.Dense(4, flatten=False), (2, 3, 5)),
    "dropout": (lambda: nn.Dropout(0.5), (3, 4)),
    "dropout_none": (lambda: nn.Dropout(0), (3, 4)),
    "batch_norm": (lambda: nn.BatchNorm(), (4, 3, 2)),
    "batch_norm_last": (lambda: nn.BatchNorm(axis=-1, scale=False, center=False, momentum=0.5), (4, 2, 3)),
    "batch_norm_global": (lambda: nn.BatchNorm(use_global_stats=True, in_channels=3), (4, 3)),
    "instance_norm": (lambda: nn.InstanceNorm(), (2, 3, 4)),
    "instance_norm_last": (lambda: nn.InstanceNorm(axis=2, scale=True), (2, 4, 3)),
    "layer_norm": (lambda: nn.LayerNorm(), (2, 3, 4)),
    "layer_norm_first": (lambda: nn.LayerNorm(axis=1, in_channels=3), (2, 3, 4)),
    "group_norm": (lambda: nn.GroupNorm(num_groups=2), (2, 4, 3)),
    "flatten": (lambda: nn.Flatten(), (2, 3, 4)),
    "lambda_name": (lambda: nn.HybridLambda("tanh"), (2, 3)),
    "lambda_function": (lambda: nn.HybridLambda(twice), (2, 3)),
    "activation": (lambda: nn.Activation("sigmoid"), (2, 3)),
    "leaky": (lambda: nn.LeakyReLU(0.1), (2, 3)),
    "prelu": (lambda: nn.PReLU(), (2, 3)),
    "prelu_channels": (lambda: nn.PReLU(in_channels=3), (2, 3, 2)),
    "elu": (lambda: nn.ELU(0.5), (2, 3)),
    "selu": (lambda: nn.SELU(), (2, 3)),
    "gelu": (lambda: nn.GELU(), (2, 3)),
    "swish": (lambda: nn.Swish(1.5), (2, 3)),
    "conv1d": (lambda: nn.Conv1D(3, 2, strides=2, padding=1), (2, 2, 5)),
    "conv2d": (lambda: nn.Conv2D(4, 3, padding=1, activation="relu"), (2, 2, 4, 4)),
    "conv2d_groups": (
        lambda: nn.Conv2D(4, (3, 2), groups=2, dilation=(1, 2), in_channels=2, use_bias=False),
        (1, 2, 5, 5),
    ),
    "conv3d": (lambda: nn.Conv3D(2, 2), (1, 1, 3, 3, 3)),
    "conv1d_transpose": (lambda: nn.Conv1DTranspose(3, 3, strides=2, output_padding=1), (1, 2, 4)),
    "conv2d_transpose": (lambda: nn.Conv2DTranspose(3, 3, strides=2, padding=1, in_channels=2), (1, 2, 3, 3)),
    "conv3d_transpose": (lambda: nn.Conv3DTranspose(2, 2), (1, 1, 2, 2, 2)),
    "max_pool1d": (lambda: nn.MaxPool1D(), (1, 2, 6)),
    "max_pool2d": (lambda: nn.MaxPool2D(3, 2, 1, ceil_mode=True), (1, 2, 6, 6)),
    "max_pool3d": (lambda: nn.MaxPool3D(), (1, 1, 4, 4, 4)),
    "avg_pool1d": (lambda: nn.AvgPool1D(3, strides=1, padding=1), (1, 2, 6)),
    "avg_pool2d": (lambda: nn.AvgPool2D((2, 3), count_include_pad=False, padding=1), (1, 2, 6, 6)),
    "avg_pool3d": (lambda: nn.AvgPool3D(), (1, 1, 4, 4, 4)),
    "global_max_pool1d": (lambda: nn.GlobalMaxPool1D(), (1, 2, 6)),
    "global_max_pool2d": (lambda: nn.GlobalMaxPool2D(), (1, 2, 3, 3)),
    "global_max_pool3d": (lambda: nn.GlobalMaxPool3D(), (1, 2, 3, 3, 3)),
    "global_avg_pool1d": (lambda: nn.GlobalAvgPool1D(), (1, 2, 6)),
    "global_avg_pool2d": (lambda: nn.GlobalAvgPool2D(), (1, 2, 3, 3)),
    "global_avg_pool3d": (lambda: nn.GlobalAvgPool3D(), (1, 2, 3, 3, 3)),
    "reflection_pad": (lambda: nn.ReflectionPad2D(1), (1, 1, 3, 3)),
    "sequential": (
        lambda: chain(nn.HybridSequential, nn.Dense(3, activation="tanh"), nn.BatchNorm(), nn.Dense(2)),
        (4, 3),
    ),
}


def twice(F, x):
    return F.broadcast_add(x, x)


def chain(container, *layers):
    net = container()
    net.add(*layers)
    return net


def short_name(name, block):
    """Automatic numbers depend on what ran before, and are left out."""
    return name[len(block.prefix) :] if name.startswith(block.prefix) else name.split("_", 1)[1]


def layer(name, hybrid=False):
    """A layer's text, parameters, output and gradients, in prediction and in training."""
    build, shape = LAYERS[name]
    block = build()
    answer = {"repr": repr(block)}
    mx.random.seed(7)
    block.initialize(mx.init.Xavier())
    if hybrid:
        block.hybridize()
    x = ramp(*shape)
    answer["predicted"] = numbers(block(x))
    answer["params"] = [
        [short_name(name, block), list(p.shape), str(np.dtype(p.dtype)), p.grad_req]
        for name, p in block.collect_params().items()
    ]
    answer["repr after"] = repr(block)
    if name != "dropout":  # its mask is random
        x.attach_grad()
        with autograd.record():
            out = block(x)
            (out * ramp(*out.shape, low=0.5)).sum().backward()
        answer["shape"] = list(out.shape)
        answer["trained"] = numbers(out)
        answer["gradient"] = numbers(x.grad)
        answer["gradients"] = [numbers(p.grad()) for p in block.collect_params().values() if p.grad_req != "null"]
        answer["states"] = [numbers(p.data()) for p in block.collect_params().values() if p.grad_req == "null"]
    return answer


LOSSES = {
    "l2": (lambda: loss.L2Loss(), "real"),
    "l2_weighted": (lambda: loss.L2Loss(weight=0.3, batch_axis=1), "real"),
    "l1": (lambda: loss.L1Loss(), "real"),
    "huber": (lambda: loss.HuberLoss(rho=0.4), "real"),
    "hinge": (lambda: loss.HingeLoss(margin=0.5), "sign"),
    "squared_hinge": (lambda: loss.SquaredHingeLoss(), "sign"),
    "logistic": (lambda: loss.LogisticLoss(), "sign"),
    "logistic_binary": (lambda: loss.LogisticLoss(label_format="binary"), "binary"),
    "bce": (lambda: loss.SigmoidBCELoss(), "binary"),
    "softmax": (lambda: loss.SoftmaxCELoss(), "class"),
    "softmax_axis": (lambda: loss.SoftmaxCELoss(axis=0, batch_axis=1, weight=2), "class0"),
    "softmax_dense": (lambda: loss.SoftmaxCELoss(sparse_label=False), "positive"),
    "kl": (lambda: loss.KLDivLoss(from_logits=False), "positive"),
    "poisson": (lambda: loss.PoissonNLLLoss(), "positive"),
}


def labels(kind, rows=4, columns=3):
    pattern = np.arange(rows * columns).reshape(rows, columns)
    return nd.array(
        {
            "real": np.cos(pattern),
            "sign": np.where(pattern % 3 == 0, 1, -1),
            "binary": pattern % 2,
            "class": pattern[:, 0] % columns,
            "class0": pattern[0] % rows,
            "positive": np.abs(np.cos(pattern)) / 3,
            "count": pattern % 5 + 2,
        }[kind]
    )


def loss_of(name, hybrid=False):
    """A loss's value and gradient, without and with weights of the samples."""
    build, kind = LOSSES[name]
    block = build()
    if hybrid:
        block.hybridize()
    pred = ramp(4, 3)
    pred.attach_grad()
    with autograd.record():
        value = block(pred, labels(kind))
    value.backward()
    answer = {"repr": repr(block), "shape": list(value.shape), "value": numbers(value), "gradient": numbers(pred.grad)}
    if name != "softmax_axis":
        weights = nd.array([[0.1], [1], [0], [2]])
        answer["weighted"] = numbers(build()(pred, labels(kind), weights))
    return answer


@case
def other_losses():
    a, b, c = ramp(4, 3), ramp(4, 3, low=0), ramp(4, 3, low=-3)
    sign = nd.array([1, -1, 1, -1])
    bce = loss.SigmoidBCELoss(from_sigmoid=True)
    seen = labels("binary")
    return {
        "triplet": numbers(loss.TripletLoss()(a, b, c)),
        "cosine": numbers(loss.CosineEmbeddingLoss(margin=0.1)(a, b, sign)),
        "sdml": numbers(loss.SDMLLoss()(a, b)),
        "probabilities": numbers(bce(b / 2, seen)),
        "probabilities, positives": numbers(bce(b / 2, seen, None, nd.array([[1, 2, 3]]))),
        "logits, positives": numbers(loss.SigmoidBCELoss()(a, seen, None, nd.array([[1, 2, 3]]))),
        "poisson rates": numbers(loss.PoissonNLLLoss(from_logits=False)(b + 1.5, labels("count"))),
        "poisson full": numbers(loss.PoissonNLLLoss(compute_full=True, weight=0.5)(a, labels("count"))),
        "ctc": numbers(loss.CTCLoss()(ramp(2, 6, 4), nd.array([[1, 0, -1], [2, 1, 1]]))),
        "ctc, lengths": numbers(
            loss.CTCLoss(layout="TNC", label_layout="TN")(
                ramp(6, 2, 4), nd.array([[1, 2], [0, 1], [0, 1]]), nd.array([5, 6]), nd.array([2, 3])
            )
        ),
    }


class Model(gluon.HybridBlock):
    """A network with a scope, a block outside it, a nested container and parameters of its own."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.first = nn.Dense(4, activation="relu")
            self.inner = nn.HybridSequential()
            with self.inner.name_scope():
                self.inner.add(nn.Dense(3), nn.Dense(3, activation="tanh"))
            self.norm = nn.LayerNorm()
            self.scale = self.params.get("scale", shape=(1, 3), init="ones")
            self.fixed = self.params.get_constant("fixed", nd.array([[1, 2, 3]]))
        self.last = nn.Dense(2)

    def hybrid_forward(self, F, x, scale, fixed):
        x = F.broadcast_mul(self.norm(self.inner(self.first(x))), scale)
        return self.last(F.broadcast_add(x, fixed))


def quiet(function, *args):
    """What a function prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        function(*args)
    return text.getvalue()


@case
def names_in_a_tree():
    with mx.name.NameManager():
        a, b = Model(), Model(prefix="net_")
        shared = nn.Dense(4, params=b.first.params)
        return {
            "names": [list(net.collect_params().keys()) for net in (a, b)],
            "selected": list(b.collect_params(".*weight|.*scale").keys()),
            "structure": sorted(a._collect_params_with_prefix()),
            "repr": repr(a),
            "dictionary": repr(b.first.params),
            "prefixes": [a.prefix, b.prefix, b.inner[1].name, shared.prefix, b.inner[1].act.prefix],
            "shared": shared.weight is b.first.weight,
        }


@case
def summary():
    mx.random.seed(3)
    net = Model()
    net.initialize()
    return {"text": quiet(net.summary, ramp(2, 5)), "repr": repr(net)}


@case
def symbol_of_a_block():
    with mx.name.NameManager():
        net = Model(prefix="net_")
        out = net(mx.sym.var("data"))
        return {"arguments": out.list_arguments(), "outputs": out.get_internals().list_outputs()}


def message(function, *args, **kwargs):
    """(class, text) of the error; MXNet adds nothing machine-dependent to those of Gluon."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args, **kwargs)
        except Exception as error:  # whatever it is, it is compared
            return [type(error).__name__, str(error)]
    return ["nothing", ""]


@case
def messages():
    dense = nn.Dense(2, prefix="d_")
    dense.initialize()
    raw = nn.Dense(2, in_units=2, prefix="raw_")
    frozen = nn.Dense(2, in_units=2, prefix="f_")
    frozen.initialize()
    frozen.collect_params().setattr("grad_req", "null")
    trained = nn.Dense(2, in_units=2, prefix="t_")
    trained.initialize()
    trainer = gluon.Trainer(trained.collect_params(), "sgd")
    hybrid = nn.HybridSequential()
    return {
        "deferred": message(dense.weight.data),
        "not initialized": message(raw.weight.data),
        "no gradient": message(frozen.weight.grad),
        "other context": message(frozen.weight.data, mx.cpu(3)),
        "stale": message(trainer.step, 1),
        "not hybrid": message(hybrid.add, nn.Sequential(prefix="s_")),
        "open shape": message(gluon.Parameter("p", shape=(0, 2)).initialize),
        "bad request": message(gluon.Parameter, "p", grad_req="maybe"),
        "bad storage": message(gluon.Parameter, "p", stype="dense"),
        "type of attribute": message(setattr, dense, "weight", 3),
        "uneven": message(gluon.utils.split_data, nd.zeros((5, 2)), 2),
        "trainer of nothing": message(gluon.Trainer, 3, "sgd"),
        "trainer of numbers": message(gluon.Trainer, [3], "sgd"),
        "export": message(nn.Dense(2).export, "nowhere"),
        "no constant": message(dense.params.get_constant, "c"),
        "mixed": message(nn.Dense(2), [nd.zeros((1, 2)), mx.sym.var("x")]),
        "neither": message(nn.Dense(2), 3),
    }


def network(kind, hybrid):
    nets = {
        "mlp": lambda: [nn.Flatten(), nn.Dense(16, activation="relu"), nn.Dense(10)],
        "lenet": lambda: [
            nn.Conv2D(channels=6, kernel_size=5, activation="relu"),
            nn.MaxPool2D(pool_size=2, strides=2),
            nn.Conv2D(channels=8, kernel_size=3, activation="relu"),
            nn.MaxPool2D(pool_size=2, strides=2),
            nn.Flatten(),
            nn.Dense(20, activation="relu"),
            nn.Dense(10),
        ],
        "normalized": lambda: [
            nn.Conv2D(6, kernel_size=5),
            nn.BatchNorm(axis=1),
            nn.Activation("relu"),
            nn.GlobalAvgPool2D(),
            nn.Dense(10),
        ],
    }
    net = nn.HybridSequential() if hybrid else nn.Sequential()
    with net.name_scope():
        net.add(*nets[kind]())
    return net


OPTIMIZERS = {
    "sgd": {"learning_rate": 0.05},
    "momentum": {"learning_rate": 0.02, "momentum": 0.9, "wd": 0.001},
    "adam": {"learning_rate": 0.01},
}


def training(kind, optimizer, hybrid=False, ctx=None):
    """The losses of the first steps after seeding."""
    mx.random.seed(11)
    net = network(kind, hybrid)
    contexts = ctx or [mx.cpu()]
    net.initialize(mx.init.Xavier(), ctx=contexts)
    if hybrid:
        net.hybridize()
    objective = loss.SoftmaxCrossEntropyLoss()
    name = "sgd" if optimizer == "momentum" else optimizer
    trainer = gluon.Trainer(net.collect_params(), name, dict(OPTIMIZERS[optimizer]))
    images, classes = ramp(8, 1, 20, 20), nd.array(np.arange(8) % 5)
    losses = []
    for _ in range(6):
        parts = []
        with autograd.record():
            halves = (gluon.utils.split_and_load(batch, contexts) for batch in (images, classes))
            for x, y in zip(*halves, strict=True):
                parts.append(objective(net(x), y))
        for part in parts:
            part.backward()
        trainer.step(8)
        losses.append(float(np.mean([part.asnumpy() for part in parts])))
    return losses


def record():
    """All answers."""
    return {
        "layers": {name: layer(name) for name in LAYERS},
        "losses": {name: loss_of(name) for name in LOSSES},
        "training": {
            f"{kind} {name}": training(kind, name) for kind in ("mlp", "lenet", "normalized") for name in OPTIMIZERS
        },
        **{name: function() for name, function in CASES.items()},
    }
