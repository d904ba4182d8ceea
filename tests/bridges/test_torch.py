"""Gluon blocks as torch modules and torch modules as Gluon blocks: one memory, one gradient."""

import copy
import subprocess
import sys

import ddp_worker
import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.contrib.torch import TorchBlock, to_module
from mxnet.gluon import nn


def conv_net():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3), nn.BatchNorm(), nn.Activation("relu"), nn.Flatten(), nn.Dense(3))
    net.initialize(mx.init.Xavier())
    return net


def images(seed=0):
    return nd.array(np.random.default_rng(seed).normal(size=(6, 3, 8, 8)))


def trained_by_gluon(net, steps, optimizer="sgd"):
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.05, "momentum": 0.9})
    for step in range(steps):
        with autograd.record():
            loss = (net(images(step)) ** 2).sum()
        loss.backward()
        trainer.step(6)


def trained_by_torch(module, steps):
    optimizer = torch.optim.SGD(module.parameters(), lr=0.05, momentum=0.9)
    module.train()
    for step in range(steps):
        optimizer.zero_grad()
        (module(images(step).as_torch()).square().sum() / 6).backward()
        optimizer.step()
    module.eval()


def values(net):
    return {name: p.data().asnumpy() for name, p in net._collect_params_with_prefix().items()}


def close(first, second, tolerance=1e-6):
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_allclose(first[name], second[name], rtol=1e-5, atol=tolerance, err_msg=name)


def test_arrays_and_tensors_share_memory_and_gradients():
    x = nd.array([1.0, 2.0])
    x.as_torch().add_(1)
    assert x.asnumpy().tolist() == [2, 3]
    t = torch.tensor([4.0, 5.0], requires_grad=True)
    x.attach_grad()
    with autograd.record():
        y = nd.from_torch(x.as_torch() * t) * x
    y.backward()
    assert x.grad.asnumpy().tolist() == [16, 30]
    assert t.grad.tolist() == [4, 9]


def test_a_gradient_that_torch_starts_reaches_the_array():
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        (x * x).as_torch().sum().backward()
    assert x.grad.asnumpy().tolist() == [2, 4]


def test_outside_recording_a_tensor_is_a_constant():
    t = torch.ones(2, requires_grad=True)
    assert not nd.from_torch(t * 2)._t.requires_grad


def test_types_without_a_counterpart_are_refused():
    with pytest.raises(mx.MXNetError, match="complex64"):
        nd.from_torch(torch.zeros(2, dtype=torch.complex64))


def test_module_has_the_names_and_the_memory_of_the_block():
    net = conv_net()
    x = images()
    y = net(x)
    module = to_module(net).eval()
    names = ["0.weight", "0.bias", "1.gamma", "1.beta", "1.running_mean", "1.running_var", "4.weight", "4.bias"]
    assert list(module.state_dict()) == names
    assert {name for name, _ in module.named_buffers()} == {"1.running_mean", "1.running_var"}
    np.testing.assert_allclose(module(x.as_torch()).detach().numpy(), y.asnumpy(), atol=1e-6)
    with torch.no_grad():
        module.state_dict()["4.bias"].fill_(7)
    assert net[4].bias.data().asnumpy().tolist() == [7, 7, 7]
    net[4].bias.set_data(nd.zeros(3))
    assert module.state_dict()["4.bias"].tolist() == [0, 0, 0]


def test_training_by_torch_is_training_by_gluon():
    net = conv_net()
    net(images())
    twin = copy.deepcopy(net)
    trained_by_gluon(net, 4)
    trained_by_torch(to_module(twin), 4)
    close(values(net), values(twin))


def test_torch_and_gluon_take_turns():
    net = conv_net()
    net(images())
    twin = copy.deepcopy(net)
    module = to_module(twin)
    for _ in range(2):
        trained_by_gluon(net, 2)
        trained_by_gluon(net, 2)
        trained_by_torch(module, 2)
        trained_by_gluon(twin, 2)
    close(values(net), values(twin))


def test_a_block_that_is_not_hybrid():
    class Doubled(gluon.Block):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2, in_units=3)

        def forward(self, x):
            return self.dense(x) * (2 if x.sum().asscalar() > 0 else 1)

    net = Doubled()
    net.initialize()
    module = to_module(net)
    x = torch.ones(4, 3)
    module(x).sum().backward()
    assert module.dense.weight.grad.tolist() == [[8.0] * 3] * 2
    np.testing.assert_allclose(module(x).detach().numpy(), net(nd.ones((4, 3))).asnumpy(), atol=1e-6)


def test_recurrent_layers_follow_the_batch():
    net = gluon.rnn.LSTM(5, 2, bidirectional=True)
    net.initialize()
    x = nd.random.normal(shape=(7, 3, 4))
    module = to_module(net, x).eval()
    for batch in (3, 8):
        x = nd.random.normal(shape=(6, batch, 4))
        np.testing.assert_allclose(module(x.as_torch()).detach().numpy(), net(x).asnumpy(), atol=1e-6)


def test_unfinished_and_unknown_inputs_are_told():
    net = conv_net()
    with pytest.raises(mx.MXNetError, match="to_module\\(net, x\\)"):
        to_module(net)
    to_module(net, images())
    with pytest.raises(TypeError, match="Gluon block"):
        to_module(torch.nn.Linear(2, 2))


def test_compiled_module_trains():
    net = conv_net()
    net(images())
    twin = copy.deepcopy(net)
    module, compiled = to_module(net), torch.compile(to_module(twin), backend="aot_eager")
    trained_by_torch(module, 2)
    trained_by_torch(compiled, 2)
    close(values(net), values(twin), 1e-5)


def torch_part():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.BatchNorm1d(5), torch.nn.Tanh())


def mixed_net():
    net = nn.Sequential()
    net.add(nn.Dense(6, in_units=4), TorchBlock(torch_part()), nn.Dense(2, in_units=5))
    net.initialize(mx.init.Constant(0.1))
    return net


def test_torch_module_inside_a_gluon_net_is_trained_by_trainer():
    """The same net written in torch alone, trained by torch.optim, ends with the same parameters."""
    net = mixed_net()
    reference = torch.nn.Sequential(torch.nn.Linear(4, 6), torch_part(), torch.nn.Linear(5, 2))
    for layer in (reference[0], reference[2]):
        torch.nn.init.constant_(layer.weight, 0.1)
        torch.nn.init.zeros_(layer.bias)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    optimizer = torch.optim.SGD(reference.parameters(), lr=0.1)
    for step in range(5):
        x = np.random.default_rng(step).normal(size=(8, 4)).astype("float32")
        with autograd.record():
            loss = (net(nd.array(x)) ** 2).sum()
        loss.backward()
        trainer.step(1)
        optimizer.zero_grad()
        reference(torch.from_numpy(x)).square().sum().backward()
        optimizer.step()
    ours, theirs = values(net), {k: v.numpy() for k, v in reference.state_dict().items()}
    for name, value in ours.items():
        np.testing.assert_allclose(value.reshape(theirs[name].shape), theirs[name], rtol=1e-6, atol=1e-6, err_msg=name)
    np.testing.assert_array_equal(net[1].module[0].weight.detach().numpy(), ours["1.0.weight"])


def test_torch_block_is_saved_and_loaded(tmp_path):
    net, other = mixed_net(), mixed_net()
    trained = nd.random.normal(shape=(8, 4))
    with autograd.record():
        net(trained)
    net[1].module[0].weight.data.mul_(2)
    net.save_parameters(str(tmp_path / "mixed.params"))
    other.load_parameters(str(tmp_path / "mixed.params"))
    close(values(net), values(other), 0)
    np.testing.assert_array_equal(net(trained).asnumpy(), other(trained).asnumpy())
    assert other[1].module[0].weight.equal(net[1].module[0].weight)


def test_torch_block_has_names_modes_and_casts():
    net = mixed_net()
    names = [name.split("_", 1)[1] for name in net[1].collect_params()]
    assert names == ["0_weight", "0_bias", "1_weight", "1_bias", "1_running_mean", "1_running_var",
                     "1_num_batches_tracked"]  # fmt: skip
    x = nd.ones((8, 4))
    net(x)
    assert not net[1].module.training
    assert net[1].module[1].num_batches_tracked.item() == 0
    with autograd.record():
        net(x)
    assert net[1].module[1].num_batches_tracked.item() == 1
    net.cast("float64")
    assert net(x.astype("float64")).dtype == np.float64
    assert net[1].module[0].weight.dtype == torch.float64


class Around(gluon.HybridBlock):
    """A torch module between two layers."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.first = nn.Dense(4, activation="tanh")
            self.middle = TorchBlock(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)))
            self.last = nn.Dense(2)

    def hybrid_forward(self, F, x):
        return self.last(F.relu(self.middle(self.first(x))))


def test_networks_around_a_torch_block_hybridize_their_other_parts(tmp_path):
    net, x = Around(), nd.random.normal(shape=(3, 5))
    net.initialize(mx.init.Xavier())
    wanted = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), wanted, atol=1e-6)
    assert net.first._cached_graph and not net._cached_graph
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    with autograd.record():
        loss = (net(x) ** 2).mean()
    loss.backward()
    trainer.step(1)
    assert np.abs(net(x).asnumpy() - wanted).max() > 0
    with pytest.raises(mx.MXNetError, match="torch module.*save_parameters"):
        net.export(str(tmp_path / "net"))
    module = to_module(net).eval()
    np.testing.assert_allclose(module(x.as_torch()).detach().numpy(), net(x).asnumpy(), atol=1e-6)
    with pytest.raises(mx.MXNetError, match="given a symbol"):
        net(mx.sym.var("x"))


def test_torch_blocks_take_arguments_by_name():
    class Scaled(torch.nn.Module):
        def forward(self, x, scale=1.0, shift=None):
            return x * scale + shift

    made = TorchBlock(Scaled())(nd.ones((2,)), scale=3.0, shift=nd.array([1.0, 2.0]))
    assert made.asnumpy().tolist() == [4, 5]


def test_modules_are_copied_and_saved(tmp_path):
    for block, x in ((conv_net(), images()), (gluon.rnn.LSTM(4, input_size=3), nd.random.normal(shape=(5, 2, 3)))):
        block.initialize()
        module, x = to_module(block, x).eval(), x.as_torch()
        wanted = module(x)
        torch.save(module, tmp_path / "module.pt")
        loaded = torch.load(tmp_path / "module.pt", weights_only=False)
        twin = copy.deepcopy(module)
        assert not loaded.training and torch.equal(loaded(x), wanted) and torch.equal(twin(x), wanted)
        with torch.no_grad():
            next(twin.parameters()).add_(1.0)
        assert torch.equal(module(x), wanted) and not torch.equal(twin(x), wanted)
        twin.load_state_dict(module.state_dict())
        assert torch.equal(twin(x), wanted)


def test_modules_change_type_and_refuse_arrays():
    net = conv_net()
    module, x = to_module(net, images()).eval(), images().as_torch()
    wanted = module(x)
    with pytest.raises(TypeError, match="as_torch"):
        module(images())
    assert module.to(torch.bfloat16)(x.bfloat16()).dtype is torch.bfloat16
    # the parameters were rounded to bfloat16 on the way
    np.testing.assert_allclose(module.double()(x.double()).detach().numpy(), wanted.detach().numpy(), atol=0.05)


def test_frozen_and_shared_parameters():
    first = nn.Dense(4, in_units=4)
    net = nn.HybridSequential()
    net.add(first, nn.Dense(4, in_units=4, params=first.params), nn.Dense(1, in_units=4))
    net.initialize()
    net[2].collect_params().setattr("grad_req", "null")
    module = to_module(net)
    assert sorted(n for n, p in module.named_parameters() if p.requires_grad) == ["0.bias", "0.weight"]
    assert set(module.state_dict()) == {f"{i}.{n}" for i in range(3) for n in ("weight", "bias")}
    module(torch.ones(1, 4)).sum().backward()
    assert module.get_parameter("0.weight") is module.get_parameter("1.weight")
    assert module.get_parameter("2.weight").grad is None


def test_running_statistics_and_dropout_follow_the_mode():
    net = nn.HybridSequential()
    net.add(nn.BatchNorm(in_channels=2), nn.Dropout(0.5))
    net.initialize()
    module, x = to_module(net), torch.randn(20, 2) + 3
    module.train()
    assert not torch.equal(module(x), module(x))
    module(x).sum().backward()
    moved = net[0].running_mean.data().asnumpy()
    assert np.abs(moved).max() > 0.1  # in the array, and so in the module
    np.testing.assert_array_equal(module.state_dict()["0.running_mean"].numpy(), moved)
    module.eval()
    np.testing.assert_allclose(module(x).detach().numpy(), net(nd.from_torch(x)).asnumpy(), atol=1e-6)


def test_gradients_of_gradients_go_through_both():
    x = nd.array([2.0])
    x.attach_grad()
    with autograd.record():
        cube = nd.from_torch(x.as_torch() ** 3)
        slope = autograd.grad(cube, [x], create_graph=True, retain_graph=True)[0]
        total = (slope * slope).sum()
    total.backward()
    assert x.grad.asscalar() == 36 * 8
    module = to_module(initialized_tanh())
    a = torch.ones(1, 2, requires_grad=True)
    (slope,) = torch.autograd.grad(module(a).sum(), a, create_graph=True)
    slope.pow(2).sum().backward()
    assert a.grad.abs().sum() > 0


def initialized_tanh():
    net = nn.Dense(1, in_units=2, activation="tanh")
    net.initialize(mx.init.Xavier())
    return net


def test_tensors_of_any_layout_become_arrays():
    tensor = torch.arange(6.0).reshape(2, 3).t()
    array = nd.from_torch(tensor)
    array[0] = 7
    assert tensor[0].tolist() == [7, 7]
    np.testing.assert_array_equal(array.reshape((6,)).asnumpy(), tensor.reshape(6).numpy())
    part = nd.zeros((4, 3))
    part[1:3].as_torch()[0, 0] = 9
    assert part[1, 0].asscalar() == 9


def test_export_to_a_torch_program(tmp_path):
    net = conv_net()
    net.hybridize()
    with pytest.raises(mx.MXNetError, match="example"):
        net.export_torch(str(tmp_path / "none.pt2"))
    y = net(images())
    net.export_torch(str(tmp_path / "net.pt2"))
    program = torch.export.load(str(tmp_path / "net.pt2")).module()
    np.testing.assert_allclose(program(images().as_torch()).detach().numpy(), y.asnumpy(), atol=1e-6)
    assert program(torch.zeros(11, 3, 8, 8)).shape == (11, 3)
    assert [p.name for p in tmp_path.iterdir()] == ["net.pt2"]


def test_programs_made_from_one_row_take_many(tmp_path):
    dense = nn.Dense(3)
    dense.initialize()
    dense.export_torch(tmp_path / "dense.pt2", np.ones((1, 2), "float32"))
    assert torch.export.load(tmp_path / "dense.pt2").module()(torch.zeros(5, 2)).shape == (5, 3)
    layer = gluon.rnn.LSTM(4, input_size=3, layout="NTC")
    layer.initialize()
    layer.hybridize()
    wanted = layer(nd.ones((2, 5, 3)))
    layer.export_torch(tmp_path / "lstm.pt2")
    program = torch.export.load(tmp_path / "lstm.pt2").module()
    np.testing.assert_allclose(program(torch.ones(2, 5, 3)).detach().numpy(), wanted.asnumpy(), atol=1e-6)
    assert program(torch.ones(6, 5, 3)).shape == (6, 5, 4)


def test_two_processes_train_by_ddp_what_one_trains_by_gluon(tmp_path):
    result = str(tmp_path / "trained.params")
    command = [sys.executable, ddp_worker.__file__]
    ends = [str(tmp_path / "meeting"), result]
    workers = [subprocess.Popen([*command, str(rank), "2", *ends]) for rank in range(2)]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    net = ddp_worker.network()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    for step in range(3):
        with autograd.record():
            loss = (net(nd.array(ddp_worker.batch(step))) ** 2).sum()
        loss.backward()
        trainer.step(8)
    other = ddp_worker.network()
    other.load_parameters(result)
    close(values(net), values(other))
