"""What each worker of the distributed tests runs; prints `ok` at the end."""

import itertools
import os
import signal
import sys
import time

import numpy as np
import pytest
import training_cases

import mxnet as mx
from mxnet.kvstore import group


def say(text):
    """One line in one piece: several workers write to the same pipe."""
    os.write(1, f"{text}\n".encode())


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


def rows(store):
    """Only the rows that somebody has are sent, however long the table is; one worker may have none."""
    long = (1_000_000, 2)
    store.init("long", mx.nd.sparse.zeros("row_sparse", long))
    mine = {0: [3, 999_999], 1: [3]}.get(store.rank, [])
    before = group.Traffic.handed
    store.push("long", mx.nd.sparse.row_sparse_array((np.ones((len(mine), 2)), mine), shape=long))
    assert group.Traffic.handed - before < 200
    out = mx.nd.sparse.zeros("row_sparse", long)
    store.row_sparse_pull("long", out=out, row_ids=mx.nd.array([3, 7, 999_999]))
    found = dict(zip(out.indices.asnumpy().tolist(), out.data.asnumpy()[:, 0].tolist(), strict=True))
    assert {row: value for row, value in found.items() if value} == {3: 2, 999_999: 1}


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


def half(store):
    """This worker's rows: its half of each batch."""
    first = 8 * store.rank
    return [row for start in range(0, 80, 16) for row in range(start + first, start + first + 8)]


def compare(found, recorded):
    for name, array in found.items():
        np.testing.assert_allclose(array, recorded[f"modules/one_{name}"], rtol=1e-5, atol=1e-5, err_msg=name)


def module(store, recorded):
    """Halves of each batch on two workers train as the whole batch on one."""
    data, label = (part[half(store)] for part in training_cases.examples())
    mx.random.seed(2)
    net = mx.mod.Module(training_cases.network(mx))
    net.fit(
        mx.io.NDArrayIter(data, label, batch_size=8),
        optimizer_params={"learning_rate": 0.5, "momentum": 0.9},
        initializer=mx.init.Xavier() if store.rank == 0 else mx.init.Zero(),
        num_epoch=4,
        kvstore=store,
    )
    compare({name: array.asnumpy() for name, array in net.get_params()[0].items()}, recorded)


def trainer(recorded, contexts, **options):
    """The same by a trainer, whose gradients are sent while backward runs."""
    store = mx.kv.create("dist_sync")
    found = training_cases.trained(mx, contexts, store, half(store), **options)
    compare(found, recorded)
    assert store._plan.early_sends == 19 * len(store._plan.buckets)


class Pair:
    """Two weights and a trainer that sums their gradients over the workers."""

    def __init__(self, req="write", kind="dist_sync", optimizer=None):
        self.store = mx.kv.create(kind)
        self.params = [mx.gluon.Parameter(name, shape=(3,), init="ones", grad_req=req) for name in "ab"]
        for param in self.params:
            param.initialize()
        on_store, options = optimizer is not None, optimizer or {"learning_rate": 1.0}
        self.trainer = mx.gluon.Trainer(self.params, "sgd", options, self.store, update_on_kvstore=on_store)

    def backward(self, *heads):
        with mx.autograd.record():
            loss = sum(head * param.data() for head, param in zip(heads, self.params, strict=False))
        loss.backward()

    def sums(self):
        self.trainer.allreduce_grads()
        return [param.grad().asnumpy()[0] for param in self.params]


def gradients_on_their_way():
    """Whatever happens between backward and the step, and wherever it happens, the step sees the right sums."""
    rank, pair = mx.kv.create("dist_sync").rank, Pair()
    for step in range(3):
        pair.backward(rank + 1, 10)
        assert pair.sums() == [3, 20], step
    assert pair.store._plan.early_sends == 2
    pair.backward(rank + 1, 10)
    pair.params[0].grad()[:] = 5  # as clipping does
    assert pair.sums() == [10, 20]
    if rank == 0:  # one worker differentiates more often than the other
        pair.backward(100, 100)
    pair.store.barrier()
    pair.backward(rank + 1, 10)
    assert pair.sums() == [3, 20]
    pair.backward(rank + 1)  # the other gradient is old
    assert pair.sums() == [3, 40]
    with pytest.raises(UserWarning, match="has not been updated by backward since last `step`"):
        pair.trainer.update(1)
        pair.backward(rank + 1)
        pair.trainer.step(1)
    assert pair.store._plan.eager
    for step in range(5):
        pair.backward(rank + 1, 10)
        pair.params[1].grad()[:] = 1
        assert pair.sums() == [3, 2], step
    assert not pair.store._plan.eager  # in vain every time
    pair.backward(rank + 1, 10)
    assert pair.sums() == [3, 20]


def gradients_that_add_up():
    rank, pair = mx.kv.create("dist_sync").rank, Pair("add")
    for step in range(3):
        for _ in range(4):
            pair.backward(rank + 1, 10)
        assert pair.sums() == [12, 80], step
        for param in pair.params:
            param.zero_grad()
    assert pair.store._plan.early_sends == 0


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
    asynchronous_rows(store)
    store.barrier()


def own_optimizer():
    """A class of the program's own is found by its name, where only one worker has imported it; code never travels."""
    store = mx.kv.create("dist_async")
    if store.rank == 0:
        from own_optimizer import Halving

        chosen = Halving(share=0.25)
    else:
        chosen = mx.optimizer.create("sgd")
    store.set_optimizer(chosen)
    keys = [f"own{i}" for i in range(6)]  # some live with each worker
    store.init(keys, [mx.nd.zeros((2,))] * 6)
    store.push(keys, [mx.nd.ones((2,))] * 6)
    store.barrier()
    outs = [mx.nd.zeros((2,)) for _ in keys]
    store.pull(keys, out=outs)
    for out in outs:
        check(out, -0.25 * store.num_workers)
    store.barrier()
    if store.rank == 0:
        chosen.callback = lambda: None
        with pytest.raises(mx.MXNetError, match="cannot be saved without code"):
            store.set_optimizer(chosen)


def asynchronous_rows(store):
    """Row-sparse values, and only the rows that are asked for."""
    store.init("rows", mx.nd.ones((6, 2)).tostype("row_sparse"))
    grad = mx.nd.sparse.row_sparse_array((np.ones((1, 2)), [store.rank]), shape=(6, 2))
    store.push("rows", grad)
    out = mx.nd.sparse.zeros("row_sparse", (6, 2))
    store.row_sparse_pull("rows", out=out, row_ids=mx.nd.array([store.rank, 5]))
    expected = np.zeros((6, 2))
    expected[5] = 1
    check(out.tostype("default"), expected)


def states(kind, folder):
    """Optimizer states go to a file and come back: two steps, or one, a file, and one in new stores."""
    path = os.path.join(folder, f"{kind}.states")

    def store_with(value):
        store = mx.kv.create(kind)
        store.set_optimizer(mx.optimizer.create("sgd", learning_rate=0.1, momentum=0.9))
        store.init([f"s{i}" for i in range(5)], [mx.nd.full((2,), value)] * 5)
        return store

    def step(store):
        keys = [f"s{i}" for i in range(5)]
        store.push(keys, [mx.nd.ones((2,))] * 5)
        store.barrier()
        outs = [mx.nd.zeros((2,)) for _ in keys]
        store.pull(keys, out=outs)
        store.barrier()
        return outs

    store = store_with(0.0)
    middle = step(store)[0].asnumpy()[0]
    if store.rank == 0:
        store.save_optimizer_states(path)
    store.barrier()
    end = step(store)
    after = saved_momenta(store, f"{path}.2")
    again = store_with(middle)
    if kind == "dist_sync" or store.rank == 0:
        again.load_optimizer_states(path)
    again.barrier()
    for found, expected in zip(step(again), end, strict=True):
        check(found, expected.asnumpy())
    found = saved_momenta(again, f"{path}.3")
    assert {f"s{i}" for i in range(5)} <= set(found)
    for key in (f"s{i}" for i in range(5)):
        check(found[key], after[key].asnumpy())
    refused_states(again, found, f"{path}.4")


def saved_momenta(store, path):
    """{key: momentum} as the first worker writes them."""
    if store.rank == 0:
        store.save_optimizer_states(path)
    store.barrier()
    with open(path, "rb") as file:
        return mx.optimizer.state_files.loads(file.read())


def refused_states(store, states, path):
    """States that do not fit are refused when they are loaded, wherever their key lives, and change nothing."""
    keys, wrong = ("s0", "s1", "s2"), mx.nd.zeros((3,))
    words = {key: rf"parameter '{key}' .* does not fit SGD.* of shape \(2,\)" for key in keys}
    for key, told in {**words, "other": "there are states for 'other'"}.items():
        if store.rank == 0:
            with open(path, "wb") as file:
                file.write(mx.optimizer.state_files.dumps({**states, key: wrong}))
            with pytest.raises(mx.MXNetError, match=told):
                store.load_optimizer_states(path, keys=states)
        store.barrier()
    kept = saved_momenta(store, path)
    for key in keys:
        check(kept[key], states[key].asnumpy())


def trainer_states(kind, folder):
    """A trainer's states come back with their optimizer, whose learning rate goes on."""
    path = os.path.join(folder, f"{kind}.trainer")

    def pair():
        return Pair(kind=kind, optimizer={"learning_rate": 0.5, "momentum": 0.9})

    def step(one):
        one.backward(1, 2)
        one.trainer.step(1)
        one.store.barrier()

    first = pair()
    step(first)
    if first.store.rank == 0:
        first.trainer.save_states(path)
    first.store.barrier()
    second = pair()
    step(second)
    second.trainer.load_states(path)
    second.store.barrier()
    assert second.trainer.learning_rate == 0.5
    step(second)
    states = saved_momenta(second.store, f"{path}.2")
    assert set(states) >= {0, 1}, states


def whole(folder):
    recorded = np.load(os.path.join(os.path.dirname(__file__), "..", "data", "training.npz"))
    store = mx.kv.create("dist_sync")
    sums(store)
    rows(store)
    updates(mx.kv.create("dist_device_sync"))
    compression()
    module(mx.kv.create("dist_sync"), recorded)
    trainer(recorded, [mx.cpu()])
    trainer(recorded, [mx.cpu(0), mx.cpu(1)], update_on_kvstore=False)
    gradients_on_their_way()
    gradients_that_add_up()
    asynchronous()
    own_optimizer()
    for kind in ("dist_sync", "dist_async"):
        states(kind, folder)
        trainer_states(kind, folder)


def train_until_death(kind):
    """Train for ever; says how far it is, and when another worker is gone."""
    store = mx.kv.create(kind)
    net = training_cases.dense_pair(mx, training_cases.first_weights(mx), [mx.cpu()])
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, kvstore=store)
    data = mx.nd.array(training_cases.examples()[0])
    for step in itertools.count():
        with mx.autograd.record():
            loss = net(data).square().mean()
        try:
            loss.backward()
            trainer.step(1)
        except mx.MXNetError as error:
            say(f"noticed: {error}")
            raise
        if step == 5:
            say("training")
        time.sleep(0.01)


def restarted(folder):
    """The recorded training with a checkpoint after each epoch, in which the second worker dies once."""
    recorded = np.load(os.path.join(os.path.dirname(__file__), "..", "data", "training.npz"))
    store = mx.kv.create("dist_sync")
    prefix, died = os.path.join(folder, "net"), os.path.join(folder, "died")
    done = sorted(int(name[4:8]) for name in os.listdir(folder) if name.startswith("net-") and name.endswith(".states"))
    begin = done[-1] if done else 0
    mx.random.seed(2)
    options = {"load_optimizer_states": True} if begin else {}
    net = mx.mod.Module.load(prefix, begin, **options) if begin else mx.mod.Module(training_cases.network(mx))

    def epoch_end(epoch, *_):
        if store.rank == 0:
            net.save_checkpoint(prefix, epoch + 1, save_optimizer_states=True)
        store.barrier()
        if epoch == 1 and store.rank == 1 and not os.path.exists(died):
            open(died, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)

    data, label = (part[half(store)] for part in training_cases.examples())
    net.fit(
        mx.io.NDArrayIter(data, label, batch_size=8),
        optimizer_params={"learning_rate": 0.5, "momentum": 0.9},
        initializer=mx.init.Xavier(),
        begin_epoch=begin,
        num_epoch=4,
        kvstore=store,
        epoch_end_callback=epoch_end,
    )
    compare({name: array.asnumpy() for name, array in net.get_params()[0].items()}, recorded)
    say(f"began with epoch {begin}")


def greet(text):
    store = mx.kv.create("dist_sync")
    store.init("w", mx.nd.zeros((1,)))
    store.push("w", mx.nd.ones((1,)))
    say(f"{text} {os.environ['GREETING']} {store.rank} {store.num_workers} {os.getcwd()}")


if __name__ == "__main__":
    modes = {"whole": whole, "death": train_until_death, "restarted": restarted, "greet": greet}
    modes[sys.argv[1]](*sys.argv[2:])
    say("ok")
