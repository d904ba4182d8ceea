"""Custom operators on sparse arrays: they see and give the storage that their class infers, as recorded from MXNet."""

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon import HybridBlock

DENSE, ROWS, CSR = KINDS = "default", "row_sparse", "csr"
VALUES = np.array([[1, 0, 2], [0, 0, 3.0]])
SEEN = []


class Doubled(mx.operator.CustomOp):
    """Twice the input; the gradient is three times the head's, or a row of zeros."""

    def __init__(self, of_zeros):
        super().__init__()
        self.of_zeros = of_zeros

    def forward(self, is_train, req, in_data, out_data, aux):
        SEEN.append([[a.stype for a in arrays] for arrays in (in_data, out_data)])
        doubled = in_data[0] * 2
        for out, how in zip(out_data, req, strict=True):
            self.assign(out, how, doubled if out.stype == doubled.stype else doubled.tostype(DENSE).tostype(out.stype))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        SEEN.append([[a.stype for a in arrays] for arrays in (out_grad, in_data, out_data, in_grad)])
        gradient = out_grad[0].tostype(DENSE) * 3
        if self.of_zeros:
            gradient = mx.nd.sparse.row_sparse_array((gradient[0:1] * 0, [0]), shape=gradient.shape)
        self.assign(in_grad[0], req[0], gradient.tostype(in_grad[0].stype))


def declare(name, forward=None, backward=None, outputs=("output",), of_zeros=False):
    @mx.operator.register(f"tests_{name}")
    class Property(mx.operator.CustomOpProp):
        def list_outputs(self):
            return list(outputs)

        def create_operator(self, ctx, shapes, dtypes):
            return Doubled(of_zeros)

        if forward is not None:

            def infer_storage_type(self, in_stype):
                return forward(in_stype)

        if backward is not None:

            def infer_storage_type_backward(self, *stypes):
                return backward(*stypes)


def alike(in_stype):
    return in_stype, [in_stype[0]], []


def by_rows(ograd, inputs, outputs, igrad, aux):
    return ograd, inputs, outputs, [ROWS if kind == "undefined" else kind for kind in igrad], aux


declare("alike", alike, by_rows)
declare("of_zeros", alike, by_rows, of_zeros=True)
declare("plain")
declare("to_csr", lambda kinds: (kinds, [CSR], []), by_rows)
declare("wants_csr", lambda kinds: ([CSR], [CSR], []), by_rows)
declare("both", lambda kinds: (kinds, [DENSE, ROWS], []), by_rows, ("a", "b"))
declare("short", lambda kinds: (kinds, [], []))
declare("unknown", lambda kinds: (kinds, ["dense"], []))
declare("raises", lambda kinds: {}["kinds"])
declare("backward_raises", alike, lambda *kinds: {}["kinds"])


@pytest.fixture(autouse=True)
def forget():
    SEEN.clear()


def array(kind, values=VALUES):
    dense = mx.nd.array(values)
    return dense if kind == DENSE else dense.tostype(kind)


def custom(x, name):
    return mx.nd.Custom(x, op_type=f"tests_{name}")


class Block(HybridBlock):
    """One custom operator."""

    def __init__(self, name):
        super().__init__()
        self._op_type = f"tests_{name}"

    def hybrid_forward(self, F, x):
        return F.Custom(x, op_type=self._op_type)


def hybridized(x, name):
    block = Block(name)
    block.hybridize()
    return block(x)


@pytest.mark.parametrize("gradient", [DENSE, ROWS])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", [custom, hybridized])
def test_arrays_come_as_they_are(call, kind, gradient):
    x = array(kind)
    x.attach_grad(stype=gradient)
    with mx.autograd.record():
        y = call(x, "alike")
    y.backward()
    assert SEEN == [[[kind], [kind]], [[DENSE], [kind], [kind], [gradient]]]
    assert (y.stype, y.asnumpy().tolist()) == (kind, (2 * VALUES).tolist())
    assert (x.grad.stype, x.grad.asnumpy().tolist()) == (gradient, [[3] * 3] * 2)


@pytest.mark.parametrize("gradient", [DENSE, ROWS])
@pytest.mark.parametrize("kind", KINDS)
def test_bound_graphs(kind, gradient):
    net = mx.sym.Custom(mx.sym.var("x", stype=kind), op_type="tests_alike")
    grads = {"x": mx.nd.zeros((2, 3)) if gradient == DENSE else mx.nd.sparse.zeros(gradient, (2, 3))}
    executor = net.bind(mx.cpu(), {"x": array(kind)}, grads)
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones((2, 3))])
    assert SEEN == [[[kind], [kind]], [[kind], [kind], [kind], [gradient]]]  # a head's gradient is stored as the head
    assert executor.outputs[0].stype == kind
    assert grads["x"].stype == gradient and grads["x"].asnumpy().tolist() == [[3] * 3] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_simple_bind_asks_for_the_storage_of_gradients(kind):
    executor = mx.sym.Custom(mx.sym.var("x", stype=kind), op_type="tests_alike").simple_bind(mx.cpu(), x=(2, 3))
    assert (executor.arg_dict["x"].stype, executor.grad_dict["x"].stype) == (kind, ROWS)


@pytest.mark.parametrize("call", [custom, hybridized])
def test_rows_of_a_gradient_stay_though_they_are_zero(call):
    x = array(DENSE)
    x.attach_grad(stype=ROWS)
    with mx.autograd.record():
        y = call(x, "of_zeros")
    y.backward()
    assert x.grad.indices.asnumpy().tolist() == [0]


@pytest.mark.parametrize("call", [custom, hybridized])
def test_dense_arrays_may_become_sparse(call):
    assert call(array(DENSE), "to_csr").stype == CSR
    assert [y.stype for y in call(array(CSR), "both")] == [DENSE, ROWS]


def test_gradients_between_operators():
    x = array(ROWS)
    x.attach_grad(stype=ROWS)
    with mx.autograd.record():
        y = custom(custom(x, "alike"), "alike")
    y.backward()
    assert SEEN[2:] == [[[DENSE], [ROWS], [ROWS], [ROWS]], [[ROWS]] * 4]
    assert x.grad.asnumpy().tolist() == [[9] * 3] * 2


def test_a_sparse_head_gradient_is_handed_on():
    x = array(ROWS)
    x.attach_grad(stype=ROWS)
    with mx.autograd.record():
        y = custom(x, "alike")
    y.backward(array(CSR, VALUES + 1))
    assert SEEN[1][0] == [CSR]
    assert x.grad.asnumpy().tolist() == (3 * (VALUES + 1)).tolist()


def test_out_must_have_the_storage_that_was_inferred():
    out = array(CSR)
    mx.nd.Custom(array(CSR, VALUES * 2), op_type="tests_alike", out=out)
    assert out.asnumpy().tolist() == (VALUES * 4).tolist()
    with pytest.raises(mx.MXNetError, match="Provided = default, inferred storage type = csr"):
        mx.nd.Custom(array(CSR), op_type="tests_alike", out=mx.nd.zeros((2, 3)))


@pytest.mark.parametrize(
    "name, kind, message",
    [
        ("plain", CSR, "doesnt allow non default stypes: found non default stype 'csr' for in_stype.0."),
        ("wants_csr", ROWS, "Storage type inconsistent, Provided = row_sparse, inferred storage type = csr"),
        ("short", DENSE, "expecting lists of 1, 1, 0 storage types"),
        ("unknown", DENSE, "each one of default, row_sparse, csr"),
        ("raises", DENSE, "KeyError: 'kinds'"),
    ],
)
@pytest.mark.parametrize("call", [custom, hybridized])
def test_refused(call, name, kind, message):
    with pytest.raises(mx.MXNetError, match=message):
        call(array(kind), name)


@pytest.mark.parametrize("name, message", [("plain", "igrad_stype.0."), ("backward_raises", "KeyError: 'kinds'")])
def test_refused_backward(name, message):
    x = array(DENSE)
    x.attach_grad(stype=ROWS)
    with mx.autograd.record():
        y = custom(x, name)
    with pytest.raises(mx.MXNetError, match=message):
        y.backward()


def test_other_operators_of_hybridized_blocks_give_sparse_results_too():
    class Cast(HybridBlock):
        def hybrid_forward(self, F, x):
            return F.cast_storage(F.relu(x), "csr")

    block = Cast()
    block.hybridize()
    assert block(array(DENSE)).stype == block(array(CSR)).stype == CSR
    with pytest.raises(mx.MXNetError, match="Operator not implemented"):
        block(array(ROWS))
