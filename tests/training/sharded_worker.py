"""What each worker of the tests of `Trainer(shard_optimizer=True)` runs; prints `ok` at the end."""

import os
import sys

import numpy as np

import mxnet as mx
from mxnet.gluon import nn
from mxnet.ndarray import NDArray

STEPS, TABLE, WIDTH = 4, 400, 32
OPTIMIZERS = {
    "sgd": {"learning_rate": 0.1, "momentum": 0.9, "wd": 1e-3},
    "adam": {"learning_rate": 0.01},
    "lamb": {"learning_rate": 0.01},
    "groupadagrad": {"learning_rate": 0.1},
}


def network(sparse, bias):
    mx.random.seed(4)
    net = nn.Sequential(prefix="net_")
    table = mx.gluon.contrib.nn.SparseEmbedding if sparse == "weights" else nn.Embedding
    options = {"sparse_grad": True} if sparse == "gradients" else {}
    with net.name_scope():
        net.add(
            table(TABLE, WIDTH, **options), nn.Dense(64, activation="relu", use_bias=bias), nn.Dense(3, use_bias=bias)
        )
    net.initialize(mx.init.Xavier())
    return net


def trained(store, optimizer, steps=STEPS, load=None, sparse="", settings=None, **options):
    """(weights, trainer, memory of states) after some steps."""
    net = network(sparse, bias=optimizer != "groupadagrad")  # which takes matrices only
    settings = dict(OPTIMIZERS[optimizer] if settings is None else settings)
    settings["lr_scheduler"] = mx.lr_scheduler.FactorScheduler(2, 0.5)
    batch = 4 * store.num_workers
    if sparse == "weights":  # they are in the store before the first step: it cannot tell the batch size any more
        settings["rescale_grad"], batch = 1 / batch, 1
    trainer = mx.gluon.Trainer(net.collect_params(), optimizer, settings, kvstore="dist_sync", **options)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    for step in range(steps):
        random = np.random.RandomState([store.rank, step])
        words, labels = mx.nd.array(random.randint(0, TABLE, (4, 5))), mx.nd.array(random.randint(0, 3, 4))
        with mx.autograd.record():
            loss = loss_of(net(words), labels)
        if step == 0 and load:
            trainer.load_states(load)
        loss.backward()
        if options.get("update_on_kvstore") is False:
            trainer.allreduce_grads()
            trainer.update(batch)
        else:
            trainer.step(batch)
    return {name: p._reduce().asnumpy() for name, p in net.collect_params().items()}, trainer


def arrays_of(state):
    if isinstance(state, (tuple, list)):
        return [array for part in state for array in arrays_of(part)]
    return [state] if isinstance(state, NDArray) else []


def bytes_of(trainer):
    """Memory of the optimizer's states in this worker."""
    updater = trainer._kvstore._updater if trainer._update_on_kvstore else trainer._updaters[0]
    arrays = [array for state in updater.states.values() for array in arrays_of(state)]
    tensors = [part for a in arrays for part in ([a._t] if a.stype == "default" else [a.data._t, a.indices._t])]
    return sum(t.untyped_storage().nbytes() for t in tensors)


def equal(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


def compared(store, optimizer, **options):
    """A plain run and one in shards: the same weights, and 1/n of the memory."""
    plain, whole = trained(store, optimizer, **options)
    found, sharded = trained(store, optimizer, shard_optimizer=True, **options)
    equal(found, plain)
    share = bytes_of(sharded) / bytes_of(whole)
    bound = 1 / store.num_workers
    if optimizer != "lamb":  # whole parameters, which are not all of one size
        assert abs(share - bound) < 0.06, (optimizer, options, share)
    return whole, sharded


def files(store, folder):
    """A file of states is that of a plain run, and either kind of trainer goes on with it."""
    whole, sharded = compared(store, "adam", update_on_kvstore=False)
    mine, name = os.path.join(folder, f"plain-{store.rank}"), os.path.join(folder, "shards")
    whole.save_states(mine)
    sharded.save_states(name)
    with open(mine, "rb") as one, open(name, "rb") as other:
        assert one.read() == other.read()
    options = {"steps": 2, "load": name, "update_on_kvstore": False}
    equal(trained(store, "adam", shard_optimizer=True, **options)[0], trained(store, "adam", **options)[0])
    wrong = os.path.join(folder, "wrong")
    trained(store, "lamb", shard_optimizer=True)[1].save_states(wrong)
    refused(lambda: trained(store, "adam", shard_optimizer=True, load=wrong), "the states are of LAMB")


def refused(call, words):
    try:
        call()
    except (mx.MXNetError, ValueError) as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"not refused: {words}")


def refusals(store):
    for optimizer, words in (("nadam", "momentum schedule"), ("sgld", "noise")):
        refused(lambda one=optimizer: trained(store, one, settings={}, shard_optimizer=True), words)
    refused(lambda: trained(store, "lamb", sparse="weights", shard_optimizer=True), "needs whole parameters")


def main(folder):
    store = mx.kv.create("dist_sync")
    for optimizer in OPTIMIZERS:
        compared(store, optimizer)
    compared(store, "sgd", update_on_kvstore=True)
    compared(store, "sgd", sparse="gradients")
    _, sharded = compared(store, "adam", sparse="weights")
    [rows] = [held.shape[0] for held in sharded._kvstore._stored.values() if held.stype == "row_sparse"]
    assert abs(rows - TABLE / store.num_workers) < 1
    files(store, folder)
    refusals(store)


if __name__ == "__main__":
    main(sys.argv[1])
    os.write(1, b"ok\n")
