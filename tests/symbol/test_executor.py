"""Bound symbols: forward, backward, requests, sharing, placement, mirroring, watching."""

import numpy as np
import pytest

import mxnet as mx
from mxnet.base import MXNetError


def product():
    return mx.sym.var("a") * mx.sym.var("b")


def arrays(**values):
    return {name: mx.nd.array(value) for name, value in values.items()}


def test_forward_and_backward():
    grads = arrays(a=[0, 0], b=[0, 0])
    executor = product().bind(mx.cpu(), arrays(a=[1, 2], b=[3, 4]), args_grad=grads)
    assert executor.forward(is_train=True)[0].asnumpy().tolist() == [3, 8]
    executor.backward(mx.nd.array([1, 10]))
    assert grads["a"].asnumpy().tolist() == [3, 40]
    assert executor.grad_dict["b"].asnumpy().tolist() == [1, 20]


def test_backward_after_a_forward_without_training():
    grads = arrays(a=[0, 0])
    executor = product().bind(mx.cpu(), arrays(a=[1, 2], b=[3, 4]), args_grad=grads)
    executor.forward()
    executor.backward([mx.nd.ones(2)])
    executor.backward([mx.nd.ones(2)])
    assert grads["a"].asnumpy().tolist() == [3, 4]


def test_requests_per_argument():
    grads = arrays(a=[5, 5], b=[7, 7])
    executor = product().bind(mx.cpu(), arrays(a=[1, 2], b=[3, 4]), grads, grad_req={"a": "add", "b": "null"})
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward(mx.nd.ones(2))
    assert grads["a"].asnumpy().tolist() == [11, 13]
    assert grads["b"].asnumpy().tolist() == [7, 7]
    with pytest.raises(ValueError, match="grad_req"):
        product().bind(mx.cpu(), arrays(a=[1], b=[1]), grad_req="sometimes")


def test_gradients_never_share_memory():
    total = mx.sym.var("a") + mx.sym.var("b")
    grads, head = arrays(a=[0, 0], b=[0, 0]), mx.nd.array([3, 3])
    executor = total.bind(mx.cpu(), arrays(a=[1, 2], b=[3, 4]), args_grad=grads)
    executor.forward(is_train=True)
    executor.backward(head)
    grads["a"] *= 2
    assert grads["b"].asnumpy().tolist() == head.asnumpy().tolist() == [3, 3]


def test_outputs_are_no_views_of_arguments():
    a = mx.sym.var("a")
    args = arrays(a=[[1, 2]])
    outputs = mx.sym.Group([a, a.reshape((2, 1)), mx.sym.identity(a)]).bind(mx.cpu(), args).forward()
    outputs[1][:] = 9
    assert [o.asnumpy().ravel().tolist() for o in (*outputs, args["a"])] == [[1, 2], [9, 9], [1, 2], [1, 2]]


def test_only_losses_start_by_themselves():
    executor = product().simple_bind(mx.cpu(), a=(2,), b=(2,))
    executor.forward(is_train=True)
    with pytest.raises(MXNetError, match="head_gradient is required"):
        executor.backward()
    executor = mx.sym.MakeLoss(product()).simple_bind(mx.cpu(), a=(2,), b=(2,))
    executor.forward(is_train=True, a=mx.nd.array([2, 3]), b=np.array([4, 5], "float32"))
    executor.backward()
    assert executor.grad_dict["a"].asnumpy().tolist() == [4, 5]


def test_operators_without_gradient_are_refused():
    net = mx.sym.batch_take(mx.sym.var("x"), mx.sym.var("i"))
    with pytest.raises(MXNetError, match="batch_take is non-differentiable"):
        net.simple_bind(mx.cpu(), x=(2, 2), i=(2,), type_dict={"i": "int32"})
    mx.sym.BlockGrad(net).simple_bind(mx.cpu(), x=(2, 2), i=(2,), type_dict={"i": "int32"})


def test_simple_bind_says_what_it_misses():
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    with pytest.raises(RuntimeError, match=r"simple_bind error[\s\S]*data: None, fc_bias: None"):
        net.simple_bind(mx.cpu(), fc_weight=(2, 3))
    with pytest.raises(ValueError, match="key `fc_weight` is missing in `args`"):
        net.bind(mx.cpu(), arrays(data=[[1, 2]]))
    with pytest.raises(MXNetError, match="Error in operator fc"):
        net.bind(mx.cpu(), [mx.nd.ones((2, 3)), mx.nd.ones((2, 4)), mx.nd.ones(2)])
    with pytest.raises(TypeError, match="group2ctx"):
        net.simple_bind([mx.cpu(0), mx.cpu(1)], data=(1, 2))


def test_a_group_of_nodes_runs_on_one_context():
    """The list that a person gave, who then found that `bind` is not for several devices."""
    with pytest.raises(TypeError, match=r"group2ctx\['stage1'\]: bind takes one context, got .*mx.mod.Module"):
        mx.sym.relu(mx.sym.var("data")).simple_bind(mx.cpu(), group2ctx={"stage1": [mx.cpu(0)]}, data=(1, 200))


def test_forward_checks_what_it_is_given():
    executor = product().simple_bind(mx.cpu(), a=(2,), b=(2,))
    with pytest.raises(TypeError, match="Unknown argument"):
        executor.forward(c=mx.nd.ones(2))
    with pytest.raises(ValueError, match="Shape not match"):
        executor.forward(a=mx.nd.ones(3))
    with pytest.raises(ValueError, match="only accept"):
        executor.forward(a=[1, 2])


def test_outputs_stay_the_same_arrays():
    executor = product().simple_bind(mx.cpu(), a=(2,), b=(2,))
    first = executor.outputs[0]
    assert first.shape == (2,)
    held = executor.forward(a=mx.nd.ones(2), b=mx.nd.ones(2))[0]
    executor.forward(a=mx.nd.ones(2) * 5)
    assert held.asnumpy().tolist() == [5, 5]
    assert list(executor.output_dict) == ["_mul0_output"]


def test_copying_parameters_in():
    executor = product().simple_bind(mx.cpu(), a=(2,), b=(2,))
    executor.copy_params_from({"a": mx.nd.array([1, 2])})
    assert executor.arg_dict["a"].asnumpy().tolist() == [1, 2]
    with pytest.raises(ValueError, match="not in the arguments"):
        executor.copy_params_from({"c": mx.nd.ones(2)})
    executor.copy_params_from({"c": mx.nd.ones(2)}, allow_extra_params=True)


def test_arrays_by_name_are_listed_once(monkeypatch):
    executor = mx.sym.BatchNorm(mx.sym.var("x"), name="norm").simple_bind(mx.cpu(), x=(2, 3))
    first = executor.arg_dict, executor.grad_dict, executor.aux_dict
    monkeypatch.setattr(mx.sym.Symbol, "list_arguments", lambda _: pytest.fail("walks the graph again"))
    monkeypatch.setattr(mx.sym.Symbol, "list_auxiliary_states", lambda _: pytest.fail("walks the graph again"))
    again = executor.arg_dict, executor.grad_dict, executor.aux_dict
    assert all(a is b for a, b in zip(first, again, strict=True))


def test_reshape_shares_memory():
    net = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=4, name="fc")
    executor = net.simple_bind(mx.cpu(), x=(5, 4), grad_req="null")
    executor.arg_dict["fc_weight"][:] = 1
    smaller = executor.reshape(x=(3, 4))
    smaller.arg_dict["x"][:] = 1
    assert smaller.forward()[0].asnumpy().tolist() == [[4] * 4] * 3
    assert executor.arg_dict["x"].asnumpy()[:3].tolist() == [[1] * 4] * 3
    with pytest.raises(MXNetError, match="allow_up_sizing"):
        executor.reshape(x=(6, 4))
    larger = executor.reshape(allow_up_sizing=True, x=(6, 4))
    assert larger.arg_dict["fc_weight"] is executor.arg_dict["fc_weight"]
    with pytest.raises(MXNetError, match="partial_shaping"):
        executor.reshape(x=(5, 3))


def test_shared_executors():
    net = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=4, name="fc")
    pool = {}
    first = net.simple_bind(mx.cpu(), x=(5, 4), shared_buffer=pool, shared_arg_names=["fc_weight", "fc_bias"])
    second = net.simple_bind(
        mx.cpu(), x=(2, 4), shared_buffer=pool, shared_arg_names=["fc_weight", "fc_bias"], shared_exec=first
    )
    assert second.arg_dict["fc_weight"] is first.arg_dict["fc_weight"]
    second.arg_dict["x"][:] = 7
    assert first.arg_dict["x"].asnumpy()[:2].tolist() == [[7] * 4] * 2


def test_parts_of_a_network_on_several_contexts():
    with mx.AttrScope(ctx_group="stage1"):
        hidden = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc1")
    with mx.AttrScope(ctx_group="stage2"):
        net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=2, name="fc2"), name="softmax")
    places = {"stage1": mx.cpu(1), "stage2": mx.cpu(2)}
    executor = net.simple_bind(mx.cpu(0), group2ctx=places, data=(1, 3))
    first = set(hidden.list_arguments())
    for name, array in executor.arg_dict.items():
        assert array.context == (places["stage1"] if name in first else places["stage2"])
    assert executor.forward(is_train=True)[0].context == mx.cpu(2)
    executor.backward()
    assert executor.grad_dict["fc1_weight"].context == mx.cpu(1)


def test_arrays_in_another_context_are_refused():
    """MXNet copies nothing to the context of `bind`; auxiliary states may be in another one of the same device."""
    here, there = mx.nd.ones((2, 3), ctx=mx.cpu()), mx.nd.ones((2, 3), ctx=mx.cpu(1))
    wrong = r"Input array is in cpu\(1\) while binding with ctx=cpu\(0\).*as_in_context"
    for args in ({"a": here, "b": there}, [there, here]):
        with pytest.raises(MXNetError, match=wrong):
            product().bind(mx.cpu(0), args)
    with pytest.raises(MXNetError, match=wrong):
        product().eval(a=there, b=there)
    with pytest.raises(MXNetError, match=r"Input array is in cpu_pinned\(0\)"):
        product().bind(mx.cpu(), [here, mx.nd.ones((2, 3), ctx=mx.cpu_pinned())])
    for request in ("write", "null"):
        with pytest.raises(MXNetError, match=r"Gradient array is in cpu\(1\)"):
            product().bind(mx.cpu(0), [here, here], {"a": there}, request)
    numbers, normed = mx.nd.ones((3,), ctx=mx.cpu()), mx.sym.BatchNorm(mx.sym.var("a"), name="n")
    normed.bind(mx.cpu(), [here, numbers, numbers], aux_states=[numbers.copyto(mx.cpu(1)), numbers])


@pytest.mark.parametrize("places", [{"one": 0, "two": 1}, {"one": 0, "two": 0}])
def test_with_groups_arrays_may_be_anywhere(places):
    with mx.AttrScope(ctx_group="one"):
        net = mx.sym.var("a") * 2
    with mx.AttrScope(ctx_group="two"):
        net = net + mx.sym.var("b")
    places = {name: mx.cpu(number) for name, number in places.items()}
    given = {name: mx.nd.ones((2,), ctx=mx.cpu(1)) for name in "ab"}
    output = net.bind(mx.cpu(0), given, group2ctx=places).forward()[0]
    assert output.context == places["two"] and output.asnumpy().tolist() == [3, 3]


def chain(depth):
    x = mx.sym.var("data")
    for i in range(depth):
        x = mx.sym.Activation(mx.sym.FullyConnected(x, num_hidden=8, name=f"fc{i}"), act_type="tanh")
        x = mx.sym.BatchNorm(x, name=f"bn{i}") if i % 5 == 0 else x
    return mx.sym.LinearRegressionOutput(x, name="out")


def step(symbol):
    """Gradients and states after one step, and how many activations were kept for it."""
    import torch

    executor = symbol.simple_bind(mx.cpu(), data=(16, 8))
    random = np.random.RandomState(0)
    for array in (*executor.arg_arrays, *executor.aux_arrays):
        array[:] = random.uniform(0.1, 0.5, array.shape)
    kept = set()

    def pack(tensor):
        if tensor.shape[:1] == (16,):
            kept.add(tensor.data_ptr())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        executor.forward(is_train=True)
    executor.backward()
    return [a.asnumpy() for a in (*executor.grad_arrays, *executor.aux_arrays)], len(kept)


def test_mirroring_keeps_less_and_changes_nothing(monkeypatch):
    plain, many = step(chain(36))
    monkeypatch.setenv("MXNET_BACKWARD_DO_MIRROR", "1")
    mirrored, few = step(chain(36))
    assert few < many / 3
    for a, b in zip(plain, mirrored, strict=True):
        np.testing.assert_array_equal(a, b)


def test_forced_mirroring():
    with mx.AttrScope(force_mirroring="True"):
        net = chain(12)
    plain, many = step(chain(12))
    mirrored, few = step(mx.sym.MakeLoss(net * 1))
    assert few < many / 2
    np.testing.assert_allclose(mirrored[0], plain[0], rtol=1e-5)


def test_equal_expressions_are_computed_once(monkeypatch):
    a, b = mx.sym.var("a"), mx.sym.var("b")
    net = mx.sym.Group([(a + b) * 2, (a + b) * 2, mx.sym.Dropout(a) + mx.sym.Dropout(a)])
    count = lambda: len(net.simple_bind(mx.cpu(), a=(2,), b=(2,)).get_optimized_symbol().get_internals())
    fewer = count()
    monkeypatch.setenv("MXNET_ELIMINATE_COMMON_EXPR", "0")
    assert count() == fewer + 1  # two fewer, and one copy that keeps the outputs apart


def test_errors_name_the_node():
    net = mx.sym.Embedding(mx.sym.var("i"), input_dim=3, output_dim=2, name="table") + mx.sym.var("x")
    with pytest.raises(MXNetError, match="Error in operator"):
        net.bind(mx.cpu(), {"i": mx.nd.ones(2), "table_weight": mx.nd.ones((3, 2)), "x": mx.nd.ones((5, 5))})


def test_eval():
    assert product().eval(**arrays(a=[1, 2], b=[3, 4]))[0].asnumpy().tolist() == [3, 8]


def test_two_losses_on_one_value_add_their_gradients():
    x = mx.sym.var("x")
    scores = mx.sym.elemwise_mul(x, x)
    heads = [mx.sym.LinearRegressionOutput(scores, mx.sym.var(f"l{i}"), grad_scale=2) for i in range(2)]
    executor = mx.sym.Group(heads).simple_bind(mx.cpu(), x=(1, 2), l0=(1, 2), l1=(1, 2))
    executor.arg_dict["x"][:] = mx.nd.array([[1, 3]])
    executor.arg_dict["l0"][:] = mx.nd.array([[0, 8]])
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward()
        assert executor.grad_dict["x"].asnumpy().tolist() == [[4, 60]]
        assert executor.grad_dict["l0"].asnumpy().tolist() == [[0, 0]]


def test_a_loss_that_is_used_further_on_is_a_loss_still():
    p = mx.sym.SoftmaxOutput(mx.sym.var("x"), name="softmax")
    executor = mx.sym.Group([p, mx.sym.MakeLoss(p * 100)]).simple_bind(mx.cpu(), x=(1, 2))
    executor.forward(is_train=True)
    executor.backward()
    assert executor.grad_dict["x"].asnumpy().tolist() == [[-0.5, 0.5]]


def test_arrays_are_shared_only_together_with_a_buffer():
    net = mx.sym.BatchNorm(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc"), name="bn")
    first = net.simple_bind(mx.cpu(), data=(4, 5))
    for buffer, value in ((None, 0), ({}, 5)):
        shared = {"shared_exec": first, "shared_arg_names": ["fc_weight"], "shared_buffer": buffer}
        second = net.simple_bind(mx.cpu(), data=(2, 5), **shared)
        second.arg_dict["fc_weight"][:] = second.grad_dict["fc_weight"][:] = second.aux_dict["bn_moving_mean"][:] = 5
        for array in (first.arg_dict["fc_weight"], first.grad_dict["fc_weight"], first.aux_dict["bn_moving_mean"]):
            assert array.asnumpy().max() == value


@pytest.mark.parametrize("wrong", ["foo", {"x": "foo"}, ["write", "add"]])
def test_a_wrong_request_for_gradients(wrong):
    with pytest.raises(RuntimeError, match="simple_bind error. Arguments:\nx: "):
        (mx.sym.var("x") * 2).simple_bind(mx.cpu(), grad_req=wrong, x=(2,))


def test_two_variables_of_one_name():
    symbol = mx.sym.elemwise_sub(mx.sym.var("d"), mx.sym.var("d"))
    executor = symbol.bind(mx.cpu(), [mx.nd.array([5]), mx.nd.array([1])], [mx.nd.zeros(1), mx.nd.zeros(1)])
    assert executor.forward(is_train=True)[0].asscalar() == 4
    executor.backward(mx.nd.ones(1))
    assert [gradient.asscalar() for gradient in executor.grad_arrays] == [1, -1]
    with pytest.raises(ValueError, match="Duplicate names detected"):
        executor.arg_dict


def test_outputs_may_be_written_before_backward():
    executor = mx.sym.relu(mx.sym.var("x")).simple_bind(mx.cpu(), x=(3,))
    executor.forward(is_train=True, x=mx.nd.array([-1, 1, 2]))
    executor.outputs[0][:] += mx.nd.array([5, 0, -9])
    executor.backward(mx.nd.ones((3,)))
    assert executor.outputs[0].asnumpy().tolist() == [5, 1, -7]
    assert executor.grad_arrays[0].asnumpy().tolist() == [1, 1, 0]  # by the values that stand there now, as in MXNet


def test_gradient_arrays_are_shown_as_they_were_given():
    """None where `bind` was given none at all; a list with holes where some are missing or none is asked for."""
    double, sizes = mx.sym.var("x") * 2 + mx.sym.var("y"), {"x": (2,), "y": (2,)}
    args = {name: mx.nd.ones(shape) for name, shape in sizes.items()}
    for executor in (double.bind(mx.cpu(), args), double.bind(mx.cpu(), args, grad_req="null")):
        assert executor.grad_arrays is None and executor.forward()[0].asnumpy().tolist() == [3, 3]
        executor.backward(mx.nd.ones(2))
        assert executor.reshape(x=(1,), y=(1,)).grad_arrays == [None, None]
    assert double.bind(mx.cpu(), args, args_grad={}).grad_arrays == [None, None]
    assert double.simple_bind(mx.cpu(), grad_req="null", **sizes).grad_arrays == [None, None]
    gradient = mx.nd.zeros(2)
    assert double.bind(mx.cpu(), args, args_grad={"y": gradient}).grad_arrays == [None, gradient]


@pytest.mark.parametrize("name", ["__0", "__1", "forward", "None", "def", "a-b", "1x", "__name__", "_"])
def test_any_name_of_a_variable_and_a_node_will_do(name):
    x, y = mx.sym.Variable(name), mx.sym.Variable(name + "_2")
    total = mx.sym.exp(x) * 2.5 + mx.sym.relu(y, name="__1" if name != "__1" else "__0")
    bound = total.bind(mx.cpu(), {name: mx.nd.zeros((2,)), name + "_2": mx.nd.ones((2,)) * 3})
    assert bound.forward()[0].asnumpy().tolist() == [5.5, 5.5]
