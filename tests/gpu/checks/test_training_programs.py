"""Steps of the training programs people write: what makes the host wait in them is in a table, with the reason."""

import numpy as np
import pytest
import simulated
from comparing import GPU, GPUS, no_races  # noqa: F401 - a fixture
from synchronizing import STEPS

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn, rnn

BATCH = 4
LOSS = gluon.loss.SoftmaxCrossEntropyLoss()
NUMBERS = np.random.RandomState(0)
IMAGES, CLASSES = nd.array(NUMBERS.uniform(size=(BATCH, 3, 16, 16))), nd.array(NUMBERS.randint(0, 4, BATCH))
WORDS, NEXT = (nd.array(NUMBERS.randint(0, 20, (BATCH, 6))) for _ in range(2))


def waits(step, steps=3):
    """How often the host waited in the steps after the second, for what and where."""
    for _ in range(2):
        step()
    with simulated.watched() as events:
        for _ in range(steps):
            step()
    assert not simulated.of_kind(events, "race", "assert"), events
    return [(e.what, " ".join(e.lines)) for e in simulated.of_kind(events, "sync")]


def assert_only(found, *names, steps=3):
    """Only the waits of the table's rows `names`, each as often as it says."""
    rest = list(found)
    for name in names:
        number, what, where, reason = STEPS[name]
        mine = [event for event in rest if event[0].startswith(what) and where in event[1]]
        assert len(mine) == steps * number and reason, (name, found)
        rest = [event for event in rest if event not in mine]
    assert not rest


def stacked(*layers):
    net = nn.HybridSequential()
    net.add(*layers)
    return net


def mlp():
    return stacked(nn.Dense(8, activation="relu"), nn.BatchNorm(), nn.Dropout(0.5), nn.Dense(4))


class Encoder(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.norm, self.mixed, self.out = nn.LayerNorm(), nn.Dense(48, flatten=False), nn.Dense(16, flatten=False)
        self.drop = nn.Dropout(0.1)

    def hybrid_forward(self, F, x):
        parts = F.transpose(self.mixed(self.norm(x)), (1, 0, 2))
        weights = F.softmax(F.contrib.interleaved_matmul_selfatt_qk(parts, heads=4))
        values = F.contrib.interleaved_matmul_selfatt_valatt(parts, self.drop(weights), heads=4)
        return x + F.LeakyReLU(self.out(F.transpose(values, (1, 0, 2))), act_type="gelu")


def transformer():
    return stacked(nn.Embedding(20, 16), Encoder(), Encoder(), nn.Dense(20, flatten=False))


def recurrent():
    layers = rnn.LSTM(8, 2, dropout=0.2, bidirectional=True, layout="NTC"), rnn.GRU(5, layout="NTC")
    return stacked(nn.Embedding(20, 8), *layers, nn.Dense(20, flatten=False))


def stepping(net, data, label, contexts=(GPU,), optimizer="adam", rule=None, after=None, hybrid=True, metric=None):
    net.initialize(mx.init.Xavier(), ctx=list(contexts))
    if hybrid:
        net.hybridize()
    more = {"update_on_kvstore": False} if after else {}
    trainer = gluon.Trainer(net.collect_params(), optimizer, rule or {"learning_rate": 0.01}, **more)

    def step():
        parts = [gluon.utils.split_and_load(a, list(contexts)) for a in (data, label)]
        with autograd.record():
            outputs = [net(x) for x in parts[0]]
            losses = [LOSS(out, y) for out, y in zip(outputs, parts[1], strict=True)]
        autograd.backward(losses)
        if after:
            after(net, contexts)
        trainer.step(BATCH)
        if metric:
            metric.update(parts[1], outputs)

    return step


def gradients(net, ctx):
    return [p.grad(ctx) for p in net.collect_params().values() if p.grad_req != "null"]


NETS = {
    "resnet": (lambda: gluon.model_zoo.vision.get_resnet(2, 18, classes=4, thumbnail=True), IMAGES, CLASSES),
    "transformer": (transformer, WORDS, NEXT),
    "recurrent": (recurrent, WORDS, NEXT),
}


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("name", [pytest.param("resnet", marks=pytest.mark.slow), "transformer", "recurrent"])
def test_networks(name, hybrid):
    make, data, label = NETS[name]
    assert_only(waits(stepping(make(), data, label, hybrid=hybrid)))


SCHEDULERS = [
    lambda: mx.lr_scheduler.CosineScheduler(100, 0.1, warmup_steps=3),
    lambda: mx.lr_scheduler.FactorScheduler(2, 0.9, base_lr=0.1),
    lambda: mx.lr_scheduler.MultiFactorScheduler([2, 4], 0.9, base_lr=0.1),
    lambda: mx.lr_scheduler.PolyScheduler(50, 0.1),
]


@pytest.mark.parametrize("optimizer", ["nag", "adam"])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_schedulers(scheduler, optimizer):
    rule = {"learning_rate": 0.1, "lr_scheduler": scheduler()}
    assert_only(waits(stepping(mlp(), IMAGES, CLASSES, optimizer=optimizer, rule=rule)))


@pytest.mark.parametrize("metric", ["acc", "ce", "nll_loss", "f1", "mcc", "pcc"])
def test_metrics(metric):
    step = stepping(mlp() if metric == "acc" else nn.Dense(2), IMAGES, CLASSES > 1, metric=mx.metric.create(metric))
    assert_only(waits(step), *(["PCC"] if metric == "pcc" else []))


def test_norms_of_gradients():
    def clip(**more):
        def after(net, contexts):
            for ctx in contexts:
                gluon.utils.clip_global_norm(gradients(net, ctx), 1.0, **more)

        return after

    assert_only(waits(stepping(mlp(), IMAGES, CLASSES, after=clip())), "clip_global_norm")
    for contexts in ([GPU], GPUS):
        step = stepping(mlp(), IMAGES, CLASSES, contexts, after=clip(check_isfinite=False))
        assert_only(waits(step))


@pytest.mark.parametrize("contexts", [[GPU], GPUS])
def test_mixed_precision(contexts):
    from mxnet.contrib import amp

    amp.init("float16")
    try:
        net = mlp()
        net.initialize(ctx=contexts)
        net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, update_on_kvstore=False)
        amp.init_trainer(trainer)

        def step():
            parts = [gluon.utils.split_and_load(a, contexts) for a in (IMAGES, CLASSES)]
            with autograd.record():
                losses = [LOSS(net(x), y) for x, y in zip(*parts, strict=True)]
                with amp.scale_loss(losses, trainer) as scaled:
                    autograd.backward(scaled)
            trainer.step(BATCH)

        assert_only(waits(step), "mixed precision")
    finally:
        amp.amp._switch_off()


def test_a_language_model_that_carries_its_state():
    embedding, lstm, out = nn.Embedding(20, 8), rnn.LSTM(8, 2, dropout=0.2), nn.Dense(20, flatten=False)
    net = stacked(embedding, lstm, out)
    net.initialize(ctx=GPU)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1.0})
    states, total = [lstm.begin_state(BATCH, ctx=GPU)], [nd.zeros((1,), ctx=GPU)]

    def step():
        data, label = WORDS.T.as_in_context(GPU), NEXT.T.as_in_context(GPU)
        states[0] = [state.detach() for state in states[0]]
        with autograd.record():
            output, states[0] = lstm(embedding(data), states[0])
            loss = LOSS(out(output), label).mean()
        loss.backward()
        gluon.utils.clip_global_norm(gradients(net, GPU), 0.25, check_isfinite=False)
        trainer.step(1)
        total[0] += loss

    assert_only(waits(step))


def test_a_detector():
    class Detector(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.body, self.classes = nn.Conv2D(8, 3, strides=4, activation="relu"), nn.Conv2D(12, 3, padding=1)
            self.offsets = nn.Conv2D(16, 3, padding=1)

        def hybrid_forward(self, F, x):
            x = self.body(x)
            anchors = F.contrib.MultiBoxPrior(x, sizes=[0.2, 0.3], ratios=[1, 2, 0.5])
            scores = F.transpose(self.classes(x), (0, 2, 3, 1)).reshape((0, -1, 3))
            return anchors, scores, F.flatten(F.transpose(self.offsets(x), (0, 2, 3, 1)))

    net, boxes = Detector(), NUMBERS.uniform(size=(BATCH, 2, 5))
    net.initialize(ctx=GPU)
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    boxes[..., 0], boxes[..., 3:] = 1, boxes[..., 1:3] + 0.3
    truth, accuracy = nd.array(boxes), mx.metric.Accuracy()

    def step():
        data, label = IMAGES.as_in_context(GPU), truth.as_in_context(GPU)
        with autograd.record():
            anchors, scores, offsets = net(data)
            with autograd.pause():
                by_class = scores.transpose((0, 2, 1))
                target, mask, wanted = nd.contrib.MultiBoxTarget(anchors, label, by_class, negative_mining_ratio=3)
            loss = LOSS(scores, nd.maximum(wanted, 0)) + gluon.loss.HuberLoss()(offsets * mask, target * mask)
        loss.backward()
        trainer.step(BATCH)
        accuracy.update([wanted], [by_class])
        nd.contrib.MultiBoxDetection(nd.softmax(scores).transpose((0, 2, 1)), offsets, anchors)

    assert_only(waits(step))


@pytest.mark.parametrize("sparse", [False, True])
def test_sampled_softmax(sparse):
    embedding = nn.Embedding(50, 8, sparse_grad=sparse)
    embedding = gluon.contrib.nn.SparseEmbedding(50, 8) if sparse else embedding
    weight, bias = (gluon.Parameter(name, shape=(50, size)) for name, size in (("weight", 8), ("bias", 1)))
    parameters = {**embedding.collect_params(), "weight": weight, "bias": bias}
    for parameter in parameters.values():
        parameter.initialize(mx.init.Uniform(0.1), ctx=GPU)
    trainer = gluon.Trainer(parameters, "adagrad", {"learning_rate": 0.1})

    def step():
        data, label = (nd.array(NUMBERS.randint(0, 50, 6), ctx=GPU) for _ in range(2))
        with autograd.record():
            hidden = embedding(data)
            samples, often, rarely = nd.contrib.rand_zipfian(label, 10, 50, ctx=GPU)
            rows = nd.concat(label, samples.astype("float32"), dim=0)
            weights = nd.Embedding(rows, weight.data(), input_dim=50, output_dim=8)
            biases = nd.Embedding(rows, bias.data(), input_dim=50, output_dim=1)
            often, rarely = (count.astype("float32").log() for count in (often, rarely))
            right = (hidden * weights[:6]).sum(1, keepdims=True) + biases[:6] - often.reshape((-1, 1))
            wrong = nd.dot(hidden, weights[6:], transpose_b=True) + biases[6:].T - rarely.reshape((1, -1))
            loss = LOSS(nd.concat(right, wrong, dim=1), nd.zeros((6,), ctx=GPU))
        loss.backward()
        trainer.step(6)

    assert_only(waits(step), *(["sparse embedding", "sparse embedding, gradient"] if sparse else []))


def test_every_row_of_the_table_is_met():
    assert STEPS.keys() == {
        "clip_global_norm", "mixed precision", "PCC", "sparse embedding", "sparse embedding, gradient"
    }  # fmt: skip


def test_rows_of_a_store_that_are_not_there_are_told_late():
    store = mx.kv.create("device")
    store.init("w", nd.sparse.row_sparse_array(([[1.0], [2.0]], [0, 2]), shape=(4, 1), ctx=GPU))
    out = nd.sparse.zeros("row_sparse", (4, 1), ctx=GPU)
    store.row_sparse_pull("w", out=out, row_ids=nd.array([3, 2, 2, 1], ctx=GPU))
    assert out.indices.asnumpy().tolist() == [1, 2, 3] and out.data.asnumpy().ravel().tolist() == [0, 2, 0]
    store.row_sparse_pull("w", out=out, row_ids=nd.array([9], ctx=GPU))
    with pytest.raises(mx.MXNetError, match="row_sparse_pull of key w: index 9 is out of bounds for size 4"):
        out.asnumpy()
    kept = nd.sparse.retain(nd.sparse.row_sparse_array(([[1.0]], [1]), shape=(3, 1), ctx=GPU), nd.array([7], ctx=GPU))
    with pytest.raises(mx.MXNetError, match="sparse_retain: index 7 is out of bounds for size 3"):
        kept.asnumpy()
