"""What one process does in the tests of `horovod.mxnet`: `worker.py MODE FILE`."""

import os
import signal
import sys

import horovod.mxnet as hvd
import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

TOTAL, STEPS = 8, 3


def share(array):
    """This process's part of a batch."""
    size = TOTAL // hvd.size()
    return array[hvd.rank() * size : (hvd.rank() + 1) * size]


def data():
    random = np.random.RandomState(5)
    images = random.uniform(-1, 1, (STEPS, TOTAL, 1, 8, 8)).astype("float32")
    return images, random.randint(0, 4, (STEPS, TOTAL)).astype("float32")


def residual_net():
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, padding=1, activation="relu"), nn.MaxPool2D(), nn.Flatten(), nn.Dense(4))
    return net


class Encoder(gluon.HybridBlock):
    """A layer like BERT's: attention, LayerNorm, and a feed-forward part."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.qkv, self.norm = nn.Dense(24, flatten=False), nn.LayerNorm()
            self.ffn, self.out = nn.Dense(16, flatten=False, activation="relu"), nn.Dense(4)

    def hybrid_forward(self, F, x):
        x = F.squeeze(x, axis=1)
        q, k, v = F.split(self.qkv(x), num_outputs=3, axis=-1)
        seen = F.batch_dot(F.softmax(F.batch_dot(q, k, transpose_b=True) / 8**0.5), v)
        return self.out(self.ffn(self.norm(x + seen)))


def start_values(net):
    """Different values in every process, so that only a broadcast makes them equal."""
    mx.random.seed(hvd.rank())
    net.initialize(mx.init.Xavier())


def train_gluon(net, optimizer, settings, **trainer_settings):
    start_values(net)
    net.hybridize()
    params = net.collect_params()
    hvd.broadcast_parameters(params, root_rank=0)  # shapes are not known yet: sent in the first forward pass
    trainer = hvd.DistributedTrainer(params, mx.optimizer.create(optimizer, **settings), **trainer_settings)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for images, labels in zip(*data(), strict=True):
        x, y = nd.array(share(images)), nd.array(share(labels))
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(len(x))
    sent_early = trainer._over_processes.plan is not None and trainer._over_processes.plan.early_sends
    if hvd.size() > 1 and optimizer == "sgd" and not trainer_settings:
        assert sent_early == (STEPS - 1) * len(trainer._over_processes.plan.buckets)
    return {name: p.data().asnumpy() for name, p in params.items()}


def resnet():
    return train_gluon(residual_net(), "sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 1e-3})


def bert():
    # Adam divides by a gradient's size: of gradients near epsilon (1e-8 by default) it would show their rounding.
    settings = {"learning_rate": 0.01, "epsilon": 1e-6}
    return train_gluon(Encoder(prefix="bert_"), "adam", settings, gradient_predivide_factor=2.0)


class Words(gluon.Block):
    """An embedding whose gradient is row_sparse, and a dense layer."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.table, self.out = nn.Embedding(50, 6, sparse_grad=True), nn.Dense(4)

    def forward(self, x):
        return self.out(self.table((x.reshape((len(x), -1))[:, :5] + 1) * 24))


def words():
    return train_gluon(Words(prefix="words_"), "adam", {"learning_rate": 0.01, "epsilon": 1e-6})


def byteps():
    import byteps.mxnet as bps

    net = residual_net()
    start_values(net)
    trainer = bps.DistributedTrainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 1e-3})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for images, labels in zip(*data(), strict=True):
        with autograd.record():
            loss = loss_of(net(nd.array(share(images))), nd.array(share(labels)))
        loss.backward()
        trainer.step(TOTAL // bps.size())
    bps.byteps_declare_tensor("mean")
    assert bps.byteps_push_pull(nd.array([bps.rank()]), name="mean").asscalar() == (bps.size() - 1) / 2
    refused(lambda: bps.DistributedTrainer(net.collect_params(), "sgd", compression_params={"k": 1}), "compressors")
    return {name: p.data().asnumpy() for name, p in net.collect_params().items()}


def halves():
    return train_gluon(residual_net(), "sgd", {"learning_rate": 0.1}, compression=hvd.Compression.fp16)


def module():
    images, labels = data()
    symbol = mx.sym.SoftmaxOutput(residual_net()(mx.sym.var("data")), name="softmax")
    mine = TOTAL // hvd.size()
    batches = mx.io.NDArrayIter(
        np.concatenate([share(x) for x in images]), np.concatenate([share(y) for y in labels]), mine
    )
    model = mx.mod.Module(symbol)
    model.bind(batches.provide_data, batches.provide_label)
    mx.random.seed(hvd.rank())
    model.init_params(mx.init.Xavier())
    arg_params, aux_params = model.get_params()
    hvd.broadcast_parameters(arg_params, root_rank=0)
    hvd.broadcast_parameters(aux_params, root_rank=0)
    model.set_params(arg_params=arg_params, aux_params=aux_params)
    plain = mx.optimizer.create("sgd", learning_rate=0.1, momentum=0.9, rescale_grad=1.0 / mine)
    model.fit(batches, num_epoch=1, kvstore=None, optimizer=hvd.DistributedOptimizer(plain))
    return {name: array.asnumpy() for name, array in model.get_params()[0].items()}


def collectives():
    rank, size = hvd.rank(), hvd.size()
    assert hvd.local_rank() == rank and hvd.local_size() == size and hvd.cross_size() == 1 and hvd.cross_rank() == 0
    ranks = np.arange(size)
    mine = nd.full((2, 3), rank + 1.0)
    assert (hvd.allreduce(mine).asnumpy() == (ranks + 1).mean()).all() and (mine.asnumpy() == rank + 1).all()
    assert (hvd.allreduce(mine, average=False).asnumpy() == (ranks + 1).sum()).all()
    assert (hvd.allreduce(mine, op=hvd.Max, prescale_factor=2).asnumpy() == 2 * size).all()
    assert (hvd.allreduce(mine.astype("int32"), op=hvd.Product).asnumpy() == np.prod(ranks + 1)).all()
    assert (hvd.allreduce(mine.astype("float16"), op=hvd.Sum).asnumpy() == (ranks + 1).sum()).all()
    changed = mine.copy()
    assert hvd.allreduce_(changed, op=hvd.Sum) is changed and (changed.asnumpy() == (ranks + 1).sum()).all()
    two = hvd.grouped_allreduce([mine, nd.array([rank])], op=hvd.Sum)
    assert two[0].shape == (2, 3) and two[1].asscalar() == ranks.sum()
    rows = hvd.allgather(nd.full((rank + 1, 2), rank))
    assert rows.asnumpy()[:, 0].tolist() == [r for r in ranks for _ in range(r + 1)]
    assert (hvd.broadcast(mine, 1).asnumpy() == 2).all() and (mine.asnumpy() == rank + 1).all()
    flags = mx.np.array([rank == 1, True], dtype="bool")
    assert hvd.broadcast_(flags, 1).asnumpy().tolist() == [True, True]
    assert hvd.alltoall(nd.arange(size) + 10 * rank).asnumpy().tolist() == (10 * ranks + rank).tolist()
    uneven, counts = hvd.alltoall(nd.full(size + 1, rank), splits=[2] + [1] * (size - 1))
    assert counts.asnumpy().tolist() == [2 if rank == 0 else 1] * size and len(uneven) == counts.asnumpy().sum()
    part = hvd.reducescatter(nd.arange(size + 1), op=hvd.Sum)
    assert part.asnumpy()[0] == size * (rank + (rank > 0)) and len(part) == (2 if rank == 0 else 1)
    assert hvd.broadcast_object({"from": rank}, 1) == {"from": 1}
    assert hvd.allgather_object("x" * rank) == ["x" * r for r in ranks]
    sparse = nd.sparse.row_sparse_array((np.ones((1, 2)) * (rank + 1), [rank]), shape=(9, 2))
    expected = np.zeros((9, 2))
    expected[:size] = (ranks[:, None] + 1) / size
    np.testing.assert_allclose(hvd.allreduce(sparse).asnumpy(), expected, rtol=1e-6)
    assert len(sparse.indices) == 1
    process_sets()
    refusals()
    return {"ok": np.ones(1)}


def process_sets():
    first, last = (
        hvd.add_process_set([0]),
        hvd.add_process_set(hvd.ProcessSet([0, hvd.size() - 1]) if hvd.size() > 2 else [1]),
    )
    for one in (first, last):
        if one.included():
            found = hvd.allreduce(nd.array([hvd.rank()]), op=hvd.Sum, process_set=one)
            assert found.asscalar() == sum(one.ranks) and one.ranks[one.rank()] == hvd.rank()
        else:
            try:
                hvd.allreduce(nd.ones(1), process_set=one)
            except mx.MXNetError as error:
                assert "is not in ProcessSet" in str(error)
    assert hvd.remove_process_set(last) and not hvd.remove_process_set(hvd.global_process_set)


def refused(call, *words):
    try:
        call()
    except (mx.MXNetError, ValueError) as error:
        assert all(word in str(error) for word in words), error
    else:
        raise AssertionError(f"not refused: {words}")


def refusals():
    refused(lambda: hvd.allreduce(nd.ones(1), op=hvd.Adasum), "Adasum")
    refused(lambda: hvd.allreduce(nd.ones(1), average=True, op=hvd.Sum), "Please provide only one")
    refused(lambda: hvd.allreduce(nd.ones((1, 1)).tostype("row_sparse"), op=hvd.Max), "row_sparse")
    refused(lambda: hvd.allgather(nd.ones((1, 1)).tostype("row_sparse")), "row_sparse")
    refused(lambda: hvd.broadcast(nd.ones(1), 9), "root of a broadcast")
    refused(lambda: hvd.alltoall(nd.ones(hvd.size() + 1)), "evenly", "give splits")
    refused(lambda: hvd.alltoall(nd.ones(1), splits=[1] * hvd.size()), "with the sum 1")
    refused(lambda: hvd.alltoall(nd.ones(hvd.size()), splits=nd.ones(hvd.size())), "must have type int32, not float32")
    for scalar in (hvd.allgather, hvd.alltoall, hvd.reducescatter):
        refused(lambda call=scalar: call(mx.np.array(1.0)), "a scalar array has none")
    different = nd.ones((2, 2 + hvd.rank()))
    refused(lambda: hvd.allreduce(different), "process 0: allreduce Average", "process 1:", "(2, 3)")
    both = [nd.ones(1), nd.ones(1, ctx=mx.gpu(0))]
    for call in (hvd.grouped_allreduce, hvd.grouped_allgather):
        refused(lambda call=call: call(both), "one kind of device, not on cpu and gpu")
    here = both[hvd.rank() % 2]
    for call in (hvd.allreduce, hvd.allgather, hvd.alltoall, lambda one: hvd.broadcast(one, 0)):
        refused(lambda call=call: call(nd.concat(*[here] * hvd.size(), dim=0)), " cpu (", " gpu (")
    assert hvd.allreduce(nd.ones(1)).asscalar() == 1  # all go on afterwards


def elastic():
    net = residual_net()
    start_values(net)
    net(nd.zeros((1, 1, 8, 8)))
    trainer = hvd.DistributedTrainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    loss_of, (images, labels) = gluon.loss.SoftmaxCrossEntropyLoss(), data()

    @hvd.elastic.run
    def train(state):
        if int(os.environ["TORCHELASTIC_RESTART_COUNT"]):
            os.write(1, f"began with step {state.step}\n".encode())  # in one piece: two processes share the pipe
        while state.step < STEPS:
            with autograd.record():
                loss = loss_of(net(nd.array(share(images[state.step]))), nd.array(share(labels[state.step])))
            loss.backward()
            trainer.step(TOTAL // hvd.size())
            state.step += 1
            state.commit()
            hvd.allreduce(nd.ones(1))  # process 0 has written it when this is done
            if dies and state.step == 2 and hvd.rank() == 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
                if slots := os.environ.get("SLOTS"):  # the next start has more processes
                    with open(slots, "w") as file:
                        file.write("localhost:4")
                os.kill(os.getpid(), signal.SIGKILL)

    dies = os.environ.get("DIES") == "1"
    train(hvd.elastic.MXNetState(net.collect_params(), trainer, step=0))
    return {name: p.data().asnumpy() for name, p in net.collect_params().items()}


if __name__ == "__main__":
    hvd.init()
    for mode in sys.argv[1].split(","):
        found = globals()[mode]()
        np.savez(f"{sys.argv[2]}-{mode}-{hvd.size()}-{hvd.rank()}.npz", **found)
    hvd.shutdown()
