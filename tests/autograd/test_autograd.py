"""Automatic differentiation: modes, variables, delivery of gradients, graphs that are used up, higher orders."""

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import autograd, nd


def variable(values, req="write"):
    x = nd.array(values)
    x.attach_grad(req)
    return x


def test_modes_nest_and_are_restored():
    assert not autograd.is_recording() and not autograd.is_training()
    with autograd.record():
        assert autograd.is_recording() and autograd.is_training()
        with autograd.pause():
            assert not autograd.is_recording() and not autograd.is_training()
        with autograd.predict_mode():
            assert autograd.is_recording() and not autograd.is_training()
    with autograd.train_mode():
        assert autograd.is_training() and not autograd.is_recording()


def test_outside_record_no_graph_is_built_whatever_torch_says():
    x = variable([1.0, 2.0])
    with torch.enable_grad():
        y = x * 2
    with pytest.raises(mx.MXNetError, match="not in a computational graph"):
        y.backward()
    with torch.no_grad(), autograd.record():
        y = x * 3
    y.backward()
    assert x.grad.asnumpy().tolist() == [3, 3]


def test_what_follows_record_is_not_recorded():
    x = variable([1.0])
    with autograd.record():
        y = x * 2
    z = y * 3
    with pytest.raises(mx.MXNetError):
        z.backward()


def test_write_add_and_null():
    for req, want in (("write", [2]), ("add", [4])):
        x = variable([3.0], req)
        for _ in range(2):
            with autograd.record():
                y = x * 2
            y.backward()
        assert x.grad.asnumpy().tolist() == want
    x = variable([3.0], "null")
    assert x.grad.asnumpy().tolist() == [0]


def test_the_gradient_object_stays_the_same():
    x = variable([1.0, 2.0])
    held = x.grad
    with autograd.record():
        y = x * x
    y.backward()
    assert held is x.grad and held.asnumpy().tolist() == [2, 4]


def test_head_gradients_and_non_scalar_heads():
    x = variable([1.0, 2.0])
    with autograd.record():
        y = x * x
    y.backward(nd.array([10, 100]))
    assert x.grad.asnumpy().tolist() == [20, 400]


def test_a_used_up_graph_counts_as_constant():
    """The hidden state of the batch before, carried on without detach, as MXNet allows."""
    w = variable([2.0])
    h = nd.array([1.0])
    for _ in range(3):
        with autograd.record():
            h = h * w
        h.backward()
        before = h
    assert h.asscalar() == 8 and w.grad.asscalar() == 4 and before is h


def test_writing_a_variable_between_forward_and_backward_is_allowed():
    x = variable([3.0])
    with autograd.record():
        y = x * x
    x[:] = 5  # MXNet's backward reads what is there now
    y.backward()
    assert x.grad.asscalar() == 10


@pytest.mark.parametrize("key", [slice(None), slice(0, 2), Ellipsis, None, (slice(-2, None),)], ids=str)
def test_recorded_assignment_into_a_plain_array(key):
    x = variable([1.0, 2.0])
    out = nd.zeros((2,))
    with autograd.record():
        out[key] = x * 3
    out.backward()
    assert out.asnumpy().tolist() == [3, 6] and x.grad.asnumpy().tolist() == [3, 3]


@pytest.mark.parametrize("key", [0, slice(0, 1), slice(None, None, 2), [0]], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_recorded_values_do_not_become_parts(key, dtype):
    x = variable([1.0])
    out = nd.zeros((2,), dtype=dtype)
    with autograd.record(), pytest.raises(mx.MXNetError, match=r"Inplace operations \(\+=, -=, x\[:\]=, etc\)"):
        out[key] = x * 3


def test_second_derivative():
    x = variable([1.0, 2.0, 3.0])
    with autograd.record():
        y = x * x * x
        (dx,) = autograd.grad(y, x, create_graph=True, retain_graph=True)
    dx.backward()
    assert np.allclose(x.grad.asnumpy(), 6 * x.asnumpy())


def test_detach_and_stop_gradient():
    x = variable([2.0])
    with autograd.record():
        y = (x * x).detach() * x + nd.BlockGrad(x) * x
    y.backward()
    assert x.grad.asscalar() == 4 + 2


def test_function_of_the_notes():
    class sigmoid(autograd.Function):
        def forward(self, x):
            y = 1 / (1 + nd.exp(-x))
            self.save_for_backward(y)
            return y

        def backward(self, dy):
            (y,) = self.saved_tensors
            return dy * y * (1 - y)

    x = variable([0.0, 1.0])
    with autograd.record():
        m = sigmoid()(x)
        m.backward()
    y = 1 / (1 + np.exp(-x.asnumpy()))
    assert np.allclose(x.grad.asnumpy(), y * (1 - y))


def test_heads_of_a_function_of_ones_own_lie_in_one_piece_and_take_writes():
    class Twice(autograd.Function):
        def forward(self, x):
            return 2 * x

        def backward(self, dy):
            seen.append(torch.utils.dlpack.from_dlpack(dy.to_dlpack_for_read()).is_contiguous())
            dy[:] = 2 * dy  # what torch has expanded from one number is not written into
            return dy

    seen, x = [], nd.ones((2, 3))
    x.attach_grad()
    for after in (lambda y: y.sum(axis=1), lambda y: y.T * 3):
        with autograd.record():
            y = after(Twice()(x))
        y.backward()
    assert seen == [True, True] and (x.grad.asnumpy() == 6).all()


@pytest.mark.parametrize("kind", [tuple, list])
def test_a_function_returns_what_its_forward_returns(kind):
    class Parts(autograd.Function):
        def forward(self, x):
            return kind([2 * x, 3 * x])

        def backward(self, *heads):
            return 2 * heads[0] + 3 * heads[1]

    x = variable([1.0])
    assert type(Parts()(x)) is kind
    with autograd.record():
        parts = Parts()(x)
        y = parts[0] + parts[1]
    y.backward()
    assert type(parts) is kind and x.grad.asscalar() == 5


def test_a_function_of_a_symbol_makes_a_graph_but_cannot_be_recorded():
    class Doubled(autograd.Function):
        def forward(self, x):
            return 2 * x

        def backward(self, head):
            return 2 * head

    graph = Doubled()(mx.sym.Variable("x")) + 1
    assert graph.eval(x=mx.nd.ones((1,)))[0].asscalar() == 3
    with autograd.record(), pytest.raises(mx.MXNetError, match="without hybridize"):
        Doubled()(mx.sym.Variable("x"))


def test_a_function_that_returns_too_few_gradients_says_so():
    class Two(autograd.Function):
        def forward(self, a, b):
            return a + b

        def backward(self, dy):
            return dy

    a, b = variable([1.0]), variable([2.0])
    with autograd.record():
        y = Two()(a, b)
    with pytest.raises(mx.MXNetError, match="one gradient for each of the 2 inputs, got 1"):
        y.backward()


def test_custom_operator():
    class Square(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * in_data[0])

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])

    @mx.operator.register("square_for_the_test")
    class SquareProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Square()

    x = variable([1.0, 2.0])
    with autograd.record():
        y = nd.Custom(x, op_type="square_for_the_test")
    y.backward()
    assert y.asnumpy().tolist() == [1, 4] and x.grad.asnumpy().tolist() == [2, 4]
    with pytest.raises(mx.MXNetError, match="Cannot find custom operator nothing"):
        nd.Custom(x, op_type="nothing")


def test_memory_does_not_grow():
    import gc

    x = variable(np.ones((100, 100)))

    def step():
        with autograd.record():
            y = nd.relu(nd.dot(x, x)).sum()
        y.backward()

    for _ in range(5):
        step()
    gc.collect()
    before = sum(1 for o in gc.get_objects() if type(o) is torch.Tensor)
    for _ in range(20):
        step()
    gc.collect()
    assert sum(1 for o in gc.get_objects() if type(o) is torch.Tensor) <= before + 1
