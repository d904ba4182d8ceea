"""Whole models on simulated GPUs learn what they learn on the CPU."""

import numpy as np
import pytest
import simulated
from comparing import CPU, GPU, GPUS, assert_same, no_races, values  # noqa: F401 - a fixture

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

LONG = [pytest.param(False, marks=pytest.mark.slow), True]


def trained(make, contexts, shape, steps=2, optimizer="sgd", rule=None, hybrid=True, kvstore="device", **more):
    """Parameters and losses after some steps with the same seeds."""
    mx.random.seed(3)
    np.random.seed(3)
    net = make()
    net.initialize(mx.init.Xavier(), ctx=contexts)
    if hybrid:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), optimizer, rule or {"learning_rate": 0.05}, kvstore=kvstore, **more)
    loss, found = gluon.loss.SoftmaxCrossEntropyLoss(), []
    random = np.random.RandomState(5)
    for _ in range(steps):
        data = nd.array(random.uniform(0, 4, (8, *shape)))
        label = nd.array(random.randint(0, 4, 8))
        parts = [gluon.utils.split_and_load(a, contexts) for a in (data, label)]
        with autograd.record():
            losses = [loss(net(x), y) for x, y in zip(*parts, strict=True)]
        autograd.backward(losses)
        trainer.step(8)
        found.append(np.concatenate([part.asnumpy() for part in losses]))
    return values(net), {str(i): part for i, part in enumerate(found)}


def compare(make, shape, contexts=None, **more):
    want, found = trained(make, [CPU], shape, **more), trained(make, contexts or [GPU], shape, **more)
    assert_same(want[1], found[1])
    assert_same(want[0], found[0])


def mlp():
    net = nn.HybridSequential()
    net.add(nn.Dense(12, activation="relu"), nn.Dense(4))
    return net


def normed():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(6, 3), nn.BatchNorm(), nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Dense(4))
    return net


def words():
    net = nn.HybridSequential()
    net.add(nn.Embedding(10, 5), nn.Flatten(), nn.Dense(4))
    return net


class Sequence(gluon.HybridBlock):
    def __init__(self, layer):
        super().__init__()
        self.layer, self.out = layer, nn.Dense(4)

    def hybrid_forward(self, F, x):
        return self.out(self.layer(F.transpose(x, axes=(1, 0, 2))))


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("gpus", [1, 2])
def test_mlp(gpus, hybrid):
    compare(mlp, (6,), GPUS[:gpus], hybrid=hybrid, steps=3)


def test_deferred_weights_are_those_of_the_cpu():
    """The same seed gives the same weights on any device: they are drawn from the CPU's stream."""
    found = []
    for ctx in (CPU, GPU):
        for scope in (CPU, ctx):
            with scope:
                mx.random.seed(11)
                net = mlp()
                net.initialize(mx.init.Normal(0.5), ctx=ctx)
                net(nd.ones((2, 5), ctx=ctx))
                found.append(values(net))
    for other in found[1:]:
        assert_same(found[0], other, 0, 0)


def test_out_decides_the_context():
    target = nd.zeros((3,), ctx=CPU)
    with GPU:
        nd.random.normal(0, 1, shape=(3,), out=target)
        mx.random.seed(1)
        nd.random.uniform(0, 1, shape=(3,), out=target)
    mx.random.seed(1)
    assert target.context == CPU
    np.testing.assert_array_equal(target.asnumpy(), nd.random.uniform(0, 1, shape=(3,), ctx=CPU).asnumpy())
    on_device = nd.zeros((3,), ctx=GPU)
    nd.random.uniform(0, 1, shape=(3,), out=on_device, ctx="cpu(0)")
    nd.ones((3,), ctx=CPU, out=on_device)
    assert on_device._t.device.type == "cuda" and on_device.asnumpy().tolist() == [1, 1, 1]


@pytest.mark.slow
def test_resnet():
    def make():
        return gluon.model_zoo.vision.get_resnet(2, 18, classes=4, thumbnail=True)

    want, found = (trained(make, [ctx], (3, 16, 16), steps=1) for ctx in (CPU, GPU))
    assert_same(want[1], found[1], 1e-2, 1e-3)
    assert_same(want[0], found[0], 2e-2, 2e-3)


@pytest.mark.parametrize("layer", [gluon.rnn.LSTM, gluon.rnn.GRU, gluon.rnn.RNN])
@pytest.mark.parametrize("hybrid", LONG)
def test_recurrent_layers(layer, hybrid):
    class Net(Sequence):
        def hybrid_forward(self, F, x):
            return self.out(F.SequenceLast(self.layer(F.transpose(x, axes=(1, 0, 2)))))

    compare(lambda: Net(layer(6, 2, bidirectional=True)), (5, 3), hybrid=hybrid)


@pytest.mark.parametrize("cell", [gluon.rnn.LSTMCell, gluon.rnn.GRUCell, gluon.rnn.RNNCell])
def test_recurrent_cells(cell):
    class Net(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.cell, self.out = cell(5), nn.Dense(4)

        def hybrid_forward(self, F, x):
            outputs, _ = self.cell.unroll(4, x, layout="NTC", merge_outputs=True)
            return self.out(outputs)

    compare(Net, (4, 3))


OPTIMIZERS = sorted(set(mx.optimizer.Optimizer.opt_registry) - {"test", "ccsgd", "custom"})


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name):
    rule = {} if name in ("adadelta",) else {"learning_rate": 0.01}
    if name == "sgld":  # adds noise of the device's own stream
        trained(mlp, [GPU], (6,), optimizer=name, rule=rule)
    elif name == "groupadagrad":  # for matrices
        compare(lambda: nn.Dense(4, use_bias=False), (6,), optimizer=name, rule=rule, steps=3)
    else:
        compare(mlp, (6,), optimizer=name, rule=rule, steps=3)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer_steps_do_not_wait(name):
    rule = {} if name == "adadelta" else {"learning_rate": 0.01}
    weight = nd.array(np.random.RandomState(0).normal(size=(6, 4)), ctx=GPU)
    gradient = nd.array(np.random.RandomState(1).normal(size=(6, 4)), ctx=GPU)
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, **rule))
    updater(0, gradient, weight)
    with simulated.watched() as events:
        updater(0, gradient, weight)
    assert not simulated.of_kind(events, "sync"), events


STORES = ["local", "local_update_cpu", "local_allreduce_cpu", "local_allreduce_device", "device", "nccl", None]


@pytest.mark.parametrize("kvstore", STORES)
@pytest.mark.parametrize("update", LONG)
def test_two_gpus_of_a_trainer(kvstore, update):
    if kvstore is None:  # every device learns by itself
        trained(mlp, GPUS, (6,), kvstore=None)
        return
    update = None if kvstore == "nccl" else update
    compare(mlp, (6,), GPUS, kvstore=kvstore, update_on_kvstore=update, steps=3)


@pytest.mark.parametrize("kvstore", STORES[:-1])
def test_two_gpus_of_a_module(kvstore):
    found = []
    for contexts in ([CPU], GPUS):
        mx.random.seed(3)
        net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="one")
        net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="tanh"), num_hidden=4, name="two")
        module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"), context=contexts)
        random = np.random.RandomState(2)
        data = mx.io.NDArrayIter(random.normal(size=(16, 6)), random.randint(0, 4, 16), 8)
        module.fit(
            data, kvstore=kvstore, num_epoch=2, initializer=mx.init.Xavier(), optimizer_params={"learning_rate": 0.1}
        )
        found.append({name: array.asnumpy() for name, array in module.get_params()[0].items()})
    assert_same(*found)


def test_a_store_on_the_gpu_takes_gradients_of_the_cpu():
    store = mx.kv.create("device")
    store.init("w", nd.ones((3,), ctx=GPU))
    store.push("w", nd.ones((3,), ctx=CPU) * 5)
    out = [nd.zeros((3,), ctx=ctx) for ctx in (CPU, *GPUS)]
    store.pull("w", out=out)
    assert [o.asnumpy().tolist() for o in out] == [[5, 5, 5]] * 3
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1.0))
    store.push("w", [nd.ones((3,), ctx=CPU), nd.ones((3,), ctx=GPUS[1])])
    store.pull("w", out=out)
    assert [o.asnumpy().tolist() for o in out] == [[3, 3, 3]] * 3
    store.pushpull("w", nd.ones((3,), ctx=CPU), out=out[0])


def test_group2ctx():
    with mx.AttrScope(ctx_group="first"):
        net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="one")
    with mx.AttrScope(ctx_group="second"):
        net = mx.sym.FullyConnected(net, num_hidden=4, name="two")
        net = mx.sym.SoftmaxOutput(net, name="softmax")
    results = []
    for contexts in ((CPU, CPU), tuple(GPUS)):
        executor = net.simple_bind(
            contexts[0], group2ctx={"first": contexts[0], "second": contexts[1]}, data=(4, 6), softmax_label=(4,)
        )
        random = np.random.RandomState(1)
        for name in sorted(executor.arg_dict):
            array = executor.arg_dict[name]
            array[:] = random.uniform(-1, 1, array.shape) if name != "softmax_label" else 1
        executor.forward(is_train=True)
        executor.backward()
        results.append({n: g.asnumpy() for n, g in executor.grad_dict.items() if g is not None})
        results[-1]["output"] = executor.outputs[0].asnumpy()
    assert executor.arg_dict["two_weight"].context == GPUS[1]
    assert_same(*results)


def test_arrays_bound_elsewhere_are_copied_to_their_groups():
    with mx.AttrScope(ctx_group="first"):
        net = mx.sym.var("x") * 2
    with mx.AttrScope(ctx_group="second"):
        net = net + mx.sym.var("y")
    places = {"first": GPUS[0], "second": GPUS[1]}
    for contexts in ((GPUS[0], GPUS[1]), (GPUS[1], GPUS[0]), (CPU, CPU)):
        arrays, grads = ({n: nd.ones((2,), ctx=c) for n, c in zip("xy", contexts, strict=True)} for _ in range(2))
        executor = net.bind(GPUS[0], arrays, grads, group2ctx=places)
        output = executor.forward(is_train=True)[0]
        executor.backward(nd.ones((2,), ctx=GPUS[1]))
        assert output.context == GPUS[1] and output.asnumpy().tolist() == [3, 3]
        assert [grads[n].asnumpy().tolist() for n in "xy"] == [[2, 2], [1, 1]]
        assert [grads[n].context for n in "xy"] == list(contexts)


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "lamb"])
def test_a_module_whose_parts_are_on_two_gpus(optimizer):
    """Its weights are updated together, those of each GPU by calls of their own."""
    found = []
    for contexts in ((CPU, CPU), tuple(GPUS)):
        with mx.AttrScope(ctx_group="first"):
            net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=8, name="one")
        with mx.AttrScope(ctx_group="second"):
            net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="tanh"), num_hidden=4, name="two")
            net = mx.sym.SoftmaxOutput(net, name="softmax")
        groups = dict(zip(("first", "second"), contexts, strict=True))
        module = mx.mod.Module(net, context=[contexts[0]], group2ctxs=[groups])
        random = np.random.RandomState(2)
        data = mx.io.NDArrayIter(random.normal(size=(16, 6)), random.randint(0, 4, 16), 8)
        mx.random.seed(3)
        module.fit(data, num_epoch=2, optimizer=optimizer, initializer=mx.init.Xavier())
        found.append({name: array.asnumpy() for name, array in module.get_params()[0].items()})
    assert_same(*found)


@pytest.mark.parametrize(("data", "message"), [
    (CPU, r"Input array is in cpu\(0\) while binding with ctx=gpu\(0\)"),
    (GPUS[1], r"Input array is in gpu\(1\) while binding with ctx=gpu\(0\)"),
])  # fmt: skip
def test_arrays_of_another_device_are_not_bound(data, message):
    symbol = mx.sym.var("x") * 2
    with pytest.raises(mx.MXNetError, match=message):
        symbol.bind(GPU, {"x": nd.ones((2,), ctx=data)})
    with pytest.raises(mx.MXNetError, match=r"Gradient array is in"):
        symbol.bind(GPU, {"x": nd.ones((2,), ctx=GPU)}, {"x": nd.ones((2,), ctx=data)})
    normed, shapes = mx.sym.BatchNorm(mx.sym.var("x"), name="n"), [(2, 3), (3,), (3,)]
    with pytest.raises(mx.MXNetError, match="Auxiliary array 'n_moving_mean' is in"):
        normed.bind(GPU, [nd.ones(s, ctx=GPU) for s in shapes], aux_states=[nd.ones((3,), ctx=data)] * 2)


def test_gradients_and_labels_of_another_device_are_told():
    x = nd.ones((2, 3), ctx=GPU)
    x.attach_grad()
    with autograd.record():
        y = x * 2
    with pytest.raises(mx.MXNetError, match=r"head gradient is in gpu\(1\), its head in gpu\(0\); move it"):
        y.backward(nd.ones((2, 3), ctx=GPUS[1]))
    with pytest.raises(mx.MXNetError, match=r"in one context, got gpu\(0\), cpu\(0\); move them.*as_in_context$"):
        gluon.loss.SoftmaxCrossEntropyLoss()(x, nd.ones((2,)))


def test_amp():
    from mxnet.contrib import amp

    net = normed()
    net.initialize(ctx=GPU)
    net.hybridize()
    net(nd.ones((2, 3, 8, 8), ctx=GPU))
    converted = amp.convert_hybrid_block(net, target_dtype="float16", ctx=GPU)
    out = converted(nd.ones((2, 3, 8, 8), ctx=GPU))
    assert out.context == GPU
    np.testing.assert_allclose(out.asnumpy(), net(nd.ones((2, 3, 8, 8), ctx=GPU)).asnumpy(), rtol=2e-2, atol=2e-2)


def test_training_in_mixed_precision():
    from mxnet.contrib import amp

    amp.init("float16")
    try:
        net, loss_of = normed(), gluon.loss.SoftmaxCrossEntropyLoss()
        net.initialize(mx.init.Xavier(), ctx=GPUS)
        net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.3}, update_on_kvstore=False)
        amp.init_trainer(trainer)
        data = gluon.utils.split_and_load(nd.array(np.random.RandomState(0).normal(size=(8, 3, 6, 6))), GPUS)
        label, losses = gluon.utils.split_and_load(nd.array(np.arange(8) % 4), GPUS), []
        for _ in range(6):
            with autograd.record():
                outputs = [net(x) for x in data]
                found = [loss_of(out, y) for out, y in zip(outputs, label, strict=True)]
                with amp.scale_loss(found, trainer) as scaled:
                    autograd.backward(scaled)
            trainer.step(8)
            losses.append(sum(float(part.mean().asscalar()) for part in found))
        assert outputs[1].dtype == np.float16 and net[0].weight.data(GPUS[1]).dtype == np.float32
        assert losses[-1] < losses[0]
    finally:
        amp.amp._switch_off()


def test_half_precision_training():
    net = mlp()
    net.initialize(ctx=GPU)
    net.cast("float16")
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1, "multi_precision": True})
    data, label = nd.array(np.eye(4, 6), ctx=GPU, dtype="float16"), nd.array([0, 1, 2, 3], ctx=GPU)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    found = []
    for _ in range(8):
        with autograd.record():
            value = loss(net(data), label)
        value.backward()
        trainer.step(4)
        found.append(float(value.mean().asscalar()))
    assert found[-1] < found[0]


def test_export_and_import(tmp_path):
    net = normed()
    net.initialize(ctx=GPU)
    net.hybridize()
    data = nd.array(np.random.RandomState(0).normal(size=(2, 3, 8, 8)), ctx=GPU)
    want = net(data).asnumpy()
    net.export(str(tmp_path / "net"))
    net.save_parameters(str(tmp_path / "net.params"))
    for ctx in (GPUS[1], CPU):
        again = gluon.SymbolBlock.imports(
            str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params"), ctx=ctx
        )
        out = again(data.as_in_context(ctx))
        assert out.context == ctx
        np.testing.assert_allclose(out.asnumpy(), want, rtol=1e-4, atol=1e-5)
    other = normed()
    other.load_parameters(str(tmp_path / "net.params"), ctx=GPUS)
    np.testing.assert_allclose(other(data.as_in_context(GPUS[1])).asnumpy(), want, rtol=1e-4, atol=1e-5)
    loaded = mx.nd.load(str(tmp_path / "net.params"))
    assert all(a.context == CPU for a in loaded.values())


def test_custom_operators():
    class Scaled(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            assert in_data[0].context == GPU
            self.assign(out_data[0], req[0], in_data[0] * 3)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], out_grad[0] * 3)

    @mx.operator.register("scaled_on_gpu")
    class ScaledProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            assert str(ctx) == str(GPU)
            return Scaled()

    x = nd.array([1.0, 2.0], ctx=GPU)
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="scaled_on_gpu")
    y.backward()
    assert y.context == GPU and x.grad.context == GPU
    assert y.asnumpy().tolist() == [3, 6] and x.grad.asnumpy().tolist() == [3, 3]

    class Squared(autograd.Function):
        def forward(self, x):
            self.save_for_backward(x)
            return x * x

        def backward(self, head):
            (x,) = self.saved_tensors
            return 2 * x * head

    with autograd.record():
        y = Squared()(x)
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 4]


def test_sparse_embedding():
    def make():
        net = nn.HybridSequential()
        net.add(nn.Embedding(10, 5, sparse_grad=True), nn.Flatten(), nn.Dense(4))
        return net

    def contributed():
        net = nn.Sequential()
        net.add(gluon.contrib.nn.SparseEmbedding(10, 5), nn.Flatten(), nn.Dense(4))
        return net

    compare(make, (3,), hybrid=False)
    compare(make, (3,), GPUS, hybrid=False)
    compare(contributed, (3,), hybrid=False, update_on_kvstore=True)


def test_global_norm():
    found = []
    for contexts in ([CPU, CPU], GPUS):
        arrays = [nd.array([3.0, 4.0], ctx=contexts[0]), nd.array([12.0], ctx=contexts[1])]
        norm = gluon.utils.clip_global_norm(arrays, 1.0)
        found.append({"norm": np.array(norm), **{str(i): a.asnumpy() for i, a in enumerate(arrays)}})
    assert_same(*found)
