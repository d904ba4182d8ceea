"""When a batch norm with `fix_gamma=True` sets the stored gamma to one: as MXNet, where its statistics are needed."""

import itertools

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd

S = mx.sym
REQUESTS = list(itertools.product(["null", "write"], repeat=3))


def _norm(operator, **attrs):
    extra = {"key": "k"} if operator is S.contrib.SyncBatchNorm else {}
    return operator(S.var("data"), name="bn", fix_gamma=True, **attrs, **extra)


def _bound(symbol, **requests):
    executor = symbol.simple_bind(mx.cpu(), data=(2, 3, 4, 4), grad_req=requests)
    executor.arg_dict["bn_gamma"][:] = 2
    executor.aux_dict["bn_moving_var"][:] = 1
    executor.arg_dict["data"][:] = np.random.RandomState(0).normal(size=(2, 3, 4, 4))
    return executor


def _gamma(executor):
    return executor.arg_dict["bn_gamma"].asnumpy().tolist()


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("use_global_stats", [False, True])
@pytest.mark.parametrize(("data", "gamma", "beta"), REQUESTS)
def test_gamma_is_set_where_a_backward_pass_would_visit_the_norm(data, gamma, beta, use_global_stats, train):
    executor = _bound(_norm(S.BatchNorm, use_global_stats=use_global_stats), data=data, bn_gamma=gamma, bn_beta=beta)
    executor.forward(is_train=train)
    frozen = (data, gamma, beta) == ("null", "null", "null")
    assert _gamma(executor) == ([2, 2, 2] if frozen else [1, 1, 1])
    expected = 1 / np.sqrt(1.001) if not train or use_global_stats else None
    if expected:  # the result is that of a gamma of one, whatever is stored
        np.testing.assert_allclose(
            executor.outputs[0].asnumpy(), executor.arg_dict["data"].asnumpy() * expected, rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("operator", [S.BatchNorm_v1, S.contrib.SyncBatchNorm])
def test_the_older_operators_set_it_always(operator):
    executor = _bound(_norm(operator), data="null", bn_gamma="null", bn_beta="null")
    executor.forward()
    assert _gamma(executor) == [1, 1, 1]


@pytest.mark.parametrize(("heads", "expected"), [([0], 2), ([1], 1), ([0, 1, 2], 1)])
def test_gamma_is_set_where_the_mean_is_an_output(heads, expected):
    norm = _norm(S.BatchNorm, output_mean_var=True)
    executor = _bound(S.Group([norm[i] for i in heads]), data="null", bn_gamma="null", bn_beta="null")
    executor.forward()
    assert _gamma(executor) == [expected] * 3


@pytest.mark.parametrize(("request_", "expected"), [("write", 1), ("null", 2)])
def test_a_blocked_gradient_counts(request_, expected):
    symbol = S.make_loss(S.BlockGrad(_norm(S.BatchNorm)))
    executor = _bound(symbol, data=request_, bn_gamma=request_, bn_beta=request_)
    executor.forward(is_train=True)
    assert _gamma(executor) == [expected] * 3


def _network(channels=3):
    norm = S.BatchNorm(S.var("data"), name="bn", fix_gamma=True)
    layer = S.Convolution(norm, kernel=(1, 1), num_filter=4, name="conv")
    return S.SoftmaxOutput(S.FullyConnected(layer, num_hidden=2, name="fc"), name="softmax")


@pytest.mark.parametrize(("fixed", "expected"), [(["bn_gamma", "bn_beta"], 2), (["bn_gamma"], 1), ([], 1)])
def test_a_frozen_first_norm_keeps_its_gamma_through_training_and_checkpoints(fixed, expected, tmp_path):
    module = mx.mod.Module(_network(), fixed_param_names=fixed)
    module.bind([("data", (4, 3, 5, 5))], [("softmax_label", (4,))])
    module.init_params(mx.init.Xavier())
    arguments, states = module.get_params()
    arguments["bn_gamma"][:] = 2
    module.set_params(arguments, states)
    module.init_optimizer()
    batch = mx.io.DataBatch([nd.random.normal(shape=(4, 3, 5, 5))], [nd.zeros((4,))])
    for _ in range(3):
        module.forward_backward(batch)
        module.update()
    module.forward(batch, is_train=False)
    assert module.get_params()[0]["bn_gamma"].asnumpy().tolist() == [expected] * 3
    prefix = str(tmp_path / "net")
    module.save_checkpoint(prefix, 1)
    assert mx.model.load_checkpoint(prefix, 1)[1]["bn_gamma"].asnumpy().tolist() == [expected] * 3


def test_prediction_alone_changes_nothing():
    """Folded into a convolution or not, a stored gamma of two counts as one and stays two."""
    symbol = S.BatchNorm(S.Convolution(S.var("data"), kernel=(3, 3), num_filter=4, name="conv"), name="bn")
    executor = symbol.simple_bind(mx.cpu(), data=(2, 3, 8, 8), grad_req="null")
    for name, array in executor.arg_dict.items():
        array[:] = 2 if name == "bn_gamma" else np.random.RandomState(1).normal(size=array.shape)
    executor.aux_dict["bn_moving_var"][:] = 1
    results = [executor.forward()[0].asnumpy().copy() for _ in range(4)]
    assert executor.arg_dict["bn_gamma"].asnumpy().tolist() == [2] * 4
    executor.arg_dict["bn_gamma"][:] = 1
    expected = executor.forward()[0].asnumpy()
    for result in results:
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("hybrid", "recorded", "expected"), [(True, False, 2), (True, True, 1), (False, False, 1)])
@pytest.mark.parametrize("frozen", [True, False])
def test_blocks(hybrid, recorded, expected, frozen):
    network, norm = gluon.nn.HybridSequential(), gluon.nn.BatchNorm(scale=False, in_channels=3)
    network.add(norm, gluon.nn.Dense(2, in_units=3))
    network.initialize()
    norm.gamma.set_data(nd.ones((3,)) * 2)
    if frozen:
        norm.gamma.grad_req = norm.beta.grad_req = "null"
    if hybrid:
        network.hybridize()
    if recorded:
        with autograd.record():
            network(nd.ones((2, 3))).backward()
    else:
        network(nd.ones((2, 3)))
    assert norm.gamma.data().asnumpy().tolist() == [expected] * 3


def test_a_single_call_sets_it():
    gamma = nd.ones((3,)) * 2
    nd.BatchNorm(nd.ones((2, 3)), gamma, nd.zeros((3,)), nd.zeros((3,)), nd.ones((3,)), fix_gamma=True)
    assert gamma.asnumpy().tolist() == [1, 1, 1]
