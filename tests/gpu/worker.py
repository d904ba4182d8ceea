"""One of several workers with two simulated GPUs each: `python worker.py FILE RANK SIZE`; it prints what it found."""

import json
import os
import sys

import simulated

simulated.start()

from simulated import nccl  # noqa: E402

nccl.join(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

import numpy as np  # noqa: E402

import mxnet as mx  # noqa: E402
from mxnet import autograd, gluon, nd  # noqa: E402

GPUS = [mx.gpu(0), mx.gpu(1)]
STEPS, PART = 5, 8


def network(contexts):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(6, activation="relu", in_units=5), gluon.nn.Dense(3, in_units=6))
    mx.random.seed(1)
    net.initialize(mx.init.Xavier(), ctx=contexts)
    return net


def batch(step, workers):
    random = np.random.RandomState(step)
    return random.normal(size=(workers * PART, 5)), random.randint(0, 3, workers * PART)


def trained(kvstore, contexts, part, workers, **more):
    """Parameters after some steps on a part of each batch; what the last step cost."""
    net, loss_of = network(contexts), gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.2}, kvstore=kvstore, **more)
    for step in range(STEPS):
        data, label = (nd.array(a[part]) for a in batch(step, workers))
        with simulated.watched() as events:
            parts = [gluon.utils.split_and_load(a, contexts) for a in (data, label)]
            with autograd.record():
                losses = [loss_of(net(x), y) for x, y in zip(*parts, strict=True)]
            nccl.TRAFFIC.clear()
            autograd.backward(losses)
            trainer.step(PART * workers)
    cost = {
        "sync": [(e.what, *e.lines) for e in simulated.of_kind(events, "sync")],
        "race": [(e.what, *e.lines) for e in simulated.of_kind(events, "race", "assert")],
        "bytes": sum(int(e.what.split()[0]) for e in simulated.of_kind(events, "h2d")),
        "batch": data._t.nbytes + label._t.nbytes,
        "traffic": list(nccl.TRAFFIC),
    }
    return {name: p.data(p.list_ctx()[0]).asnumpy().tolist() for name, p in sorted_parameters(net)}, cost


def sorted_parameters(net):
    return sorted(net._collect_params_with_prefix().items())


def fitted(kvstore, contexts, part, workers):
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="dense")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"), context=contexts)
    mx.random.seed(2)
    data, label = (a[part] for a in batch(0, workers))
    rule = {"learning_rate": 0.1, "rescale_grad": 1 / (workers * PART)}
    module.fit(mx.io.NDArrayIter(data, label, len(data)), kvstore=kvstore, num_epoch=3, optimizer_params=rule,
               initializer=mx.init.Xavier())  # fmt: skip
    return {name: array.asnumpy().tolist() for name, array in module.get_params()[0].items()}


def packed():
    """The sum of gradients of ones, two bits for each element."""
    store, pulled = mx.kv.create("dist_device_sync"), nd.zeros((4,), ctx=GPUS[1])
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    store.init("w", nd.zeros((4,), ctx=GPUS[0]))
    store.push("w", [nd.ones((4,), ctx=ctx) for ctx in GPUS])
    store.pull("w", out=pulled)
    return pulled.asnumpy().tolist()


def parameter_server(workers):
    """Weights of a server that adds each gradient when it comes: all of them, after a barrier."""
    store, pulled = mx.kv.create("dist_async"), [nd.zeros((3,), ctx=ctx) for ctx in GPUS]
    store.init("w", nd.ones((3,), ctx=GPUS[0]))
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1.0))
    store.push("w", [nd.ones((3,), ctx=ctx) for ctx in GPUS])
    store._barrier()
    store.pull("w", out=pulled)
    assert [p.context for p in pulled] == GPUS
    return [p.asnumpy().tolist() for p in pulled]


def rows(rank):
    """The sum of gradients that have one row each: row `rank` is 1 + rank, on both GPUs."""
    store = mx.kv.create("dist_device_sync")
    store.init("w", nd.sparse.zeros("row_sparse", (3, 1), ctx=GPUS[0]))
    made = [nd.sparse.row_sparse_array(([[1.0 + rank]], [rank]), shape=(3, 1), ctx=ctx) for ctx in GPUS]
    store.push("w", made)
    pulled = nd.sparse.zeros("row_sparse", (3, 1), ctx=GPUS[1])
    store.row_sparse_pull("w", out=pulled, row_ids=nd.array([0, 1, 2], ctx=GPUS[1]))
    return pulled.asnumpy().ravel().tolist()


if __name__ == "__main__":
    rank, size = int(sys.argv[2]), int(sys.argv[3])
    mine, store = slice(rank * PART, (rank + 1) * PART), mx.kv.create("dist_device_sync")
    gluon_found, cost = trained(store, GPUS, mine, size)
    os.environ["MXNET_KVSTORE_OVERLAP"] = "0"
    apart, cost_apart = trained("dist_device_sync", GPUS, mine, size, update_on_kvstore=False)
    print(
        json.dumps(
            {
                "whole": trained(None, [mx.cpu()], slice(None), size)[0],
                "gluon": gluon_found,
                "apart": apart,
                "cost": cost,
                "cost_apart": cost_apart,
                "whole_module": fitted("local", [mx.cpu()], slice(None), size),
                "module": fitted("dist_device_sync", GPUS, mine, size),
                "host": trained("dist_sync", GPUS, mine, size)[0],
                "packed": packed(),
                "server": parameter_server(size),
                "rows": rows(rank),
            }
        )
    )
