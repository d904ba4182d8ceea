"""What each worker of the distributed tests runs; prints `ok` at the end."""

import os
import signal
import sys
import time

import numpy as np
import training_cases

import mxnet as mx


def check(found, expected):
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5, atol=1e-6)


def sums(store):
    rank, workers = store.rank, store.num_workers
    store.init(["a", "b"], [mx.nd.full((2, 3), rank + 5.0), mx.nd.ones((4,))])
    out = mx.nd.zeros((2, 3))
    store.pull("a", out=out)
    check(out, 5)  # the first worker's
    grads = [mx.nd.full((2, 3), rank + 1.0), mx.nd.full((2, 3), 10.0, ctx=mx.cpu(1))]
    store.push("a", grads)
    check(grads[0], rank + 1)
    store.pull("a", out=out)
    check(out, workers * (workers + 1) / 2 + 10 * workers)
    half = mx.nd.ones((3,), dtype="float16")
    store.init("half", half)
    store.pushpull(["half", "b"], [[half], [mx.nd.ones((4,))]])
    check(half.astype("float32"), workers)


def updates(store):
    store.set_optimizer(mx.optimizer.create("test", rescale_grad=2.0))
    store.init("u", mx.nd.ones((5,)))
    out = mx.nd.zeros((5,))
    for step in range(1, 4):
        store.push("u", mx.nd.full((5,), store.rank + 1.0))
        store.pull("u", out=out)
        check(out, 1 + step * 2 * store.num_workers * (store.num_workers + 1) / 2)


def compression():
    store = mx.kv.create("dist_sync")
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    store.init("c", mx.nd.zeros((7,)))
    out = mx.nd.zeros((7,))
    for pushed, seen in ((0.4, 0), (0.1, 0.5), (0.2, 0), (-0.9, -0.5)):
        store.push("c", mx.nd.full((7,), pushed))
        store.pull("c", out=out)
        check(out, seen * store.num_workers)


def module(store, recorded):
    """Halves of each batch on two workers train as the whole batch on one."""
    data, label = training_cases.examples()
    rows = np.concatenate([np.arange(s + 8 * store.rank, s + 8 * store.rank + 8) for s in range(0, 80, 16)])
    mx.random.seed(2)
    net = mx.mod.Module(training_cases.network(mx))
    net.fit(
        mx.io.NDArrayIter(data[rows], label[rows], batch_size=8),
        optimizer_params={"learning_rate": 0.5, "momentum": 0.9},
        initializer=mx.init.Xavier() if store.rank == 0 else mx.init.Zero(),
        num_epoch=4,
        kvstore=store,
    )
    for name, array in net.get_params()[0].items():
        check(array, recorded[f"modules/one_{name}"])


def asynchronous():
    store = mx.kv.create("dist_async")
    store.set_optimizer(mx.optimizer.create("sgd", learning_rate=1.0))
    keys = [str(i) for i in range(6)]
    store.init(keys, [mx.nd.zeros((3,))] * 6)
    for key in keys:
        store.push(key, mx.nd.full((3,), store.rank + 1.0))
    out = mx.nd.zeros((3,))
    for key in keys:
        store.pull(key, out=out)
    store.barrier()
    store.pull(keys[0], out=out)
    check(out, -store.num_workers * (store.num_workers + 1) / 2)


def whole():
    recorded = np.load(os.path.join(os.path.dirname(__file__), "..", "data", "training.npz"))
    store = mx.kv.create("dist_sync")
    sums(store)
    updates(mx.kv.create("dist_device_sync"))
    compression()
    module(mx.kv.create("dist_sync"), recorded)
    asynchronous()


def death():
    """The second worker dies; the first one must notice."""
    store = mx.kv.create("dist_sync")
    store.init("w", mx.nd.ones((3,)))
    if store.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(1)
    try:
        store.push("w", mx.nd.ones((3,)))
    except mx.MXNetError as error:
        assert "lost contact with the other workers" in str(error)
        print("noticed", flush=True)


if __name__ == "__main__":
    {"whole": whole, "death": death}[sys.argv[1]]()
    print("ok", flush=True)
