"""Custom operators in graphs: attributes of any name, losses, state that lives with an executor."""

import numpy as np
import pytest

import mxnet as mx

MADE = []


class Scaled(mx.operator.CustomOp):
    """Multiplies by a factor that doubles with each run."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * self.scale)
        self.scale *= 2

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        MADE.append(list(req))
        for grad, how in zip(in_grad, req, strict=True):
            self.assign(grad, how, mx.nd.ones_like(grad) * 3)


def declare(name, need_top_grad, inputs=("data",)):
    @mx.operator.register(name)
    class Property(mx.operator.CustomOpProp):
        def __init__(self, scale="1", kind=""):
            super().__init__(need_top_grad=need_top_grad)
            self.scale = scale
            MADE.append((scale, kind))

        def list_arguments(self):
            return list(inputs)

        def create_operator(self, ctx, shapes, dtypes):
            return Scaled(float(self.scale))


declare("tests_scaled", True)
declare("tests_loss", False)
declare("tests_two", True, ("data", "label"))


@pytest.fixture(autouse=True)
def forget():
    MADE.clear()


def bound(op_type, **attrs):
    net = mx.sym.Custom(mx.sym.var("x"), op_type=op_type, name="c", **attrs)
    return net.simple_bind(mx.cpu(), x=(2,))


def test_attributes_of_any_name_reach_the_property_as_text():
    net = mx.sym.Custom(mx.sym.var("x"), op_type="tests_scaled", scale=0.1, kind=(1, 2), name="c")
    assert set(MADE) == {("0.1", "(1, 2)")}
    assert net.attr_dict()["c"] == {"op_type": "tests_scaled", "scale": "0.1", "kind": "(1, 2)"}
    again = mx.sym.load_json(net.tojson())
    assert again.attr_dict() == net.attr_dict()
    outputs = again.bind(mx.cpu(), {"x": mx.nd.array([10, 20])}).forward()
    np.testing.assert_allclose(outputs[0].asnumpy(), [1, 2], rtol=1e-6)


def test_a_loss_starts_backward_by_itself():
    executor = bound("tests_loss")
    executor.forward(is_train=True)
    executor.backward()
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), [3, 3])


def test_others_need_head_gradients():
    executor = bound("tests_scaled")
    executor.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match="head_gradient is required"):
        executor.backward()
    executor.backward(mx.nd.ones((2,)))
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), [3, 3])


def test_an_executor_keeps_its_operator():
    executor, other = bound("tests_scaled"), bound("tests_scaled")
    executor.arg_dict["x"][:] = 1
    other.arg_dict["x"][:] = 1
    values = [executor.forward(is_train=train)[0].asnumpy()[0] for train in (True, True, False, True)]
    assert values == [1, 2, 4, 8]
    assert other.forward()[0].asnumpy()[0] == 1


def test_an_eager_call_makes_its_own():
    x = mx.nd.ones((1,))
    assert [mx.nd.Custom(x, op_type="tests_scaled", scale=5).asscalar() for _ in range(2)] == [5, 5]


def test_gradients_nobody_wants_are_not_requested():
    x, y = mx.nd.ones((2,)), mx.nd.ones((2,))
    x.attach_grad()
    with mx.autograd.record():
        z = mx.nd.Custom(x, y, op_type="tests_two")
    z.backward()
    assert MADE[-1] == ["write", "null"]
    np.testing.assert_array_equal(x.grad.asnumpy(), [3, 3])


def test_a_custom_operator_gets_numbers_of_numpy_as_plain_text():
    seen = []

    @mx.operator.register("scales_for_the_test")
    class Scales(mx.operator.CustomOpProp):
        def __init__(self, scales, stride):
            super().__init__()
            seen.append((scales, stride))

        def create_operator(self, ctx, in_shapes, in_dtypes):
            class Same(mx.operator.CustomOp):
                def forward(self, is_train, req, in_data, out_data, aux):
                    self.assign(out_data[0], req[0], in_data[0])

            return Same()

    attributes = {"scales": (np.float64(8), np.float32(0.1)), "stride": np.int64(16)}
    mx.nd.Custom(mx.nd.ones((1,)), op_type="scales_for_the_test", **attributes)
    mx.sym.Custom(mx.sym.var("x"), op_type="scales_for_the_test", **attributes)
    assert set(seen) == {("(8.0, 0.1)", "16")}


def test_methods_get_their_arguments_by_name():
    """MXNet calls `forward` and `backward` by keyword, so that a program may list the arguments in any order."""

    class Tripling(mx.operator.CustomOp):
        def forward(self, req, in_data, out_data, aux, is_train=False):
            self.assign(out_data[0], req[0], in_data[0] * (3 if is_train else 1))

        def backward(self, in_data, in_grad, out_data, out_grad, req, aux):
            self.assign(in_grad[0], req[0], out_grad[0] * 3)

    @mx.operator.register("test_tripling_by_name")
    class TriplingProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Tripling()

    x = mx.nd.array([1, 2])
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Custom(x, op_type="test_tripling_by_name")
    y.backward()
    assert y.asnumpy().tolist() == [3, 6]
    assert x.grad.asnumpy().tolist() == [3, 3]
    assert mx.nd.Custom(x, op_type="test_tripling_by_name").asnumpy().tolist() == [1, 2]
