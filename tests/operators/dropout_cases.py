"""Programs with dropout, whose numbers must be MXNet's; `tools/record_dropout.py` keeps those in `tests/data`.

Each returns its results and, behind them, the next numbers of both resources of the stream.
"""

import zlib

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd, sym

DTYPES = ("float32", "float64", "float16")
SHAPES = ((3, 8), (40, 50), (70, 1000), (300, 700))
RATES = (0.5, 0.3, 0.999, 1.0, 0.0, 1e-9)
AXES = ((0,), (1,), (0, 2), (0, 1, 2))


def numbers(arrays):
    return [a.asnumpy() for a in arrays]


def following():
    return [nd.random.uniform(shape=(3,)), mx.np.random.uniform(size=(2,))]


def kept(values):
    """All of few numbers; some of many, and their CRC."""
    flat = np.ascontiguousarray(values).reshape(-1)
    if flat.size <= 64:
        return [flat]
    return [flat[:: flat.size // 61], np.array([zlib.crc32(flat.tobytes())], np.uint32)]


def mask(dtype, shape, p):
    ones = nd.ones(shape, dtype=dtype)
    mx.random.seed(7)
    with autograd.train_mode():
        first = nd.Dropout(ones, p=p)
    return numbers([first, *following(), nd.Dropout(ones * 3, p=p, mode="always"), *following()])


def shared(dtype, axes):
    ones = nd.ones((4, 50, 6), dtype=dtype)
    mx.random.seed(3)
    with autograd.train_mode():
        return numbers([nd.Dropout(ones, p=p, axes=axes) for p in (0.4, 0.5)] + following())


def extended():
    with mx.util.np_shape(True), mx.util.np_array(True):
        mx.random.seed(8)
        ones, dropout = mx.np.ones, mx.npx.dropout
        with autograd.train_mode():
            found = [dropout(ones((3, 4)), p=0.5), dropout(ones((30, 40)), p=0.5, axes=(1,))]
            found += [dropout(ones((3, 0)), p=0.5), dropout(ones(()), p=0.5)]
        return numbers(found + following())


MASKS = {
    **{f"{t} {s} {p}": lambda t=t, s=s, p=p: mask(t, s, p) for t in DTYPES for s in SHAPES for p in RATES},
    **{f"{t} axes {a}": lambda t=t, a=a: shared(t, a) for t in DTYPES for a in AXES},
    "npx": extended,
}


def layers(**hybrid):
    mx.random.seed(11)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(50, activation="relu"), gluon.nn.Dropout(0.3), gluon.nn.Dense(30))
    net.add(gluon.nn.Dropout(0.6, axes=(0,)), gluon.nn.Dense(10), gluon.nn.Dropout(0.2))
    net.initialize(mx.init.Uniform(0.5))
    if hybrid:
        net.hybridize(**hybrid)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
    x, found = nd.random.uniform(shape=(20, 12)), []
    for _ in range(4):
        with autograd.record():
            y = net(x)
            loss = (y * y).mean()
        loss.backward()
        trainer.step(1)
        found += [y, loss]
    return numbers([*found, net(x), *following()])


class Branches(gluon.HybridBlock):
    """The order of draws: those of a branch, and of other operators between them."""

    def hybrid_forward(self, F, x):
        a, b = F.Dropout(x * 2, p=0.5), F.Dropout(x * 3, p=0.4)
        c, r = F.Dropout(b + 1, p=0.3), F.random.uniform(shape=(4, 6))
        return F.concat(c, a, r, F.Dropout(r, p=0.25, mode="always"), dim=0)


def branches(**hybrid):
    mx.random.seed(4)
    net, x, found = Branches(), nd.ones((5, 6)), []
    if hybrid:
        net.hybridize(**hybrid)
    x.attach_grad()
    for _ in range(2):
        with autograd.record():
            y = net(x)
        y.backward()
        found += [y, x.grad.copy()]
    return numbers([*found, net(x), *following()])


def executor():
    data = sym.var("data")
    dense = sym.FullyConnected(sym.Dropout(data * 1.5, p=0.2), num_hidden=3, name="fc")
    bound = sym.Group([sym.Dropout(data, p=0.5), dense]).simple_bind(mx.cpu(), data=(70, 8))
    bound.arg_dict["data"][:], bound.arg_dict["fc_weight"][:], found = 1, 0.1, []
    mx.random.seed(2)
    for train in (True, False, True):
        outputs = bound.forward(is_train=train)
        found += numbers(outputs)  # at once: MXNet's next call changes the mode of one that waits to be computed
        if train:
            bound.backward([nd.ones(o.shape) for o in outputs])
            found += numbers(bound.grad_dict[name] for name in ("data", "fc_weight"))
    return found + numbers(following())


def module():
    mx.random.seed(9)
    network = sym.FullyConnected(sym.Dropout(sym.var("data"), p=0.5), num_hidden=4)
    fitted = mx.mod.Module(sym.SoftmaxOutput(network, name="softmax"))
    rows = np.arange(200, dtype="float32").reshape(40, 5) / 100
    batches = mx.io.NDArrayIter(rows, np.arange(40) % 4, batch_size=8)
    fitted.fit(batches, num_epoch=2, initializer=mx.init.Uniform(0.1))
    weights = fitted.get_params()[0]
    return numbers([weights[name] for name in sorted(weights)] + following())


LSTM, GRU = gluon.rnn.LSTMCell, gluon.rnn.GRUCell
CELLS = {
    "dropout": lambda: gluon.rnn.DropoutCell(0.4),
    "dropout axes": lambda: gluon.rnn.DropoutCell(0.4, axes=(1,)),
    "zoneout": lambda: gluon.rnn.ZoneoutCell(LSTM(6, input_size=5), 0.5, 0.3),
    "zoneout states": lambda: gluon.rnn.ZoneoutCell(GRU(6, input_size=5), 0.0, 0.3),
    "variational": lambda: gluon.contrib.rnn.VariationalDropoutCell(LSTM(6, input_size=5), 0.3, 0.4, 0.5),
    "variational edges": lambda: gluon.contrib.rnn.VariationalDropoutCell(LSTM(6, input_size=5), 0.3, 0.0, 0.5),
    "variational states": lambda: gluon.contrib.rnn.VariationalDropoutCell(LSTM(6, input_size=5), 0.0, 0.4),
}


def cell(name, hybrid):
    made, x = CELLS[name](), nd.arange(60).reshape((3, 4, 5)) / 60
    made.initialize(mx.init.Constant(0.2))
    if hybrid:
        made.hybridize()
    x.attach_grad()
    mx.random.seed(6)
    with autograd.record():
        outputs, states = made.unroll(3, x, layout="TNC", merge_outputs=False)
        total = sum(o.sum() for o in outputs)
    total.backward()
    return numbers([*outputs, *states, x.grad, *following()])


def recurrent(kind, dtype, both):
    """What lies between the layers of a recurrent network; the gradients are those of MXNet for LSTM only."""
    net = getattr(gluon.rnn, kind)(4, 3, dropout=0.4, bidirectional=both, input_size=5)
    net.cast(dtype)
    net.initialize(mx.init.Constant(0.25))
    x = nd.arange(60, dtype=dtype).reshape((6, 2, 5)) / 64
    x.attach_grad()
    mx.random.seed(5)
    with autograd.record():
        y = net(x)
    y.backward()
    with autograd.record(train_mode=False):
        again = net(x)
    return numbers([y, again] + ([x.grad] if kind == "LSTM" else []) + following())


PROGRAMS = {
    "layers": layers,
    "layers hybrid": lambda: layers(active=True),
    "layers static": lambda: layers(static_alloc=True, static_shape=True),
    "branches": branches,
    "branches hybrid": lambda: branches(active=True),
    "executor": executor,
    "module": module,
    **{f"{n} {h}": lambda n=n, h=h: cell(n, h) for n in CELLS for h in (False, True)},
    **{
        f"{k} {t} {b}": lambda k=k, t=t, b=b: recurrent(k, t, b)
        for k in ("LSTM", "GRU", "RNN")
        for t in ("float32", "float64")
        for b in (False, True)
    },
}


def record():
    found = {}
    for name, case in MASKS.items():
        for i, values in enumerate(case()):
            found.update({f"{name}|{i}|{j}": part for j, part in enumerate(kept(values))})
    for name, case in PROGRAMS.items():
        found.update({f"{name}|{i}": values for i, values in enumerate(case())})
    return found
