"""Blocks under NumPy's rules: what a decorated class makes, and what it may return."""

import pytest

import mxnet as mx
from mxnet import autograd, gluon, np


@mx.util.use_np
class Product(gluon.HybridBlock):
    """A product with a parameter, under NumPy's rules wherever it is used."""

    def __init__(self):
        super().__init__()
        self.w = self.params.get("w", shape=(3, 2))

    @staticmethod
    def twice(x):
        return x * 2

    def hybrid_forward(self, F, x, w):
        return self.twice(F.np.dot(x, w))


@mx.util.use_np
class Mixed(gluon.HybridBlock):
    """Returns a classic array beside one of NumPy's."""

    def hybrid_forward(self, F, x):
        return F.np.multiply(x, x), x.as_nd_ndarray() + 1


@pytest.mark.parametrize("hybridize", [False, True])
def test_a_decorated_class_makes_numpy_parameters(hybridize):
    block = Product()
    block.initialize(mx.init.One())
    block.hybridize(hybridize)
    out = block(mx.nd.ones((1, 3)).as_np_ndarray())
    assert type(out) is np.ndarray and out.tolist() == [[6.0, 6.0]]
    assert all(type(p.data()) is np.ndarray for p in block.collect_params().values())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("hybridize", [False, True])
def test_classic_results_are_refused(hybridize):
    block = Mixed()
    block.hybridize(hybridize)
    with pytest.raises(TypeError, match=r"mxnet\.numpy\.ndarray"):
        block(mx.nd.ones((1, 3)).as_np_ndarray())


def test_a_weight_may_belong_to_a_graph_that_is_used_up():
    net = gluon.nn.Dense(2, in_units=3)
    net.initialize(mx.init.Constant(0.5))
    x, w = mx.nd.ones((1, 3)), net.weight.data()
    x.attach_grad()
    with autograd.record():
        y = net(x)
        slope = autograd.grad(y, x, create_graph=True, retain_graph=True)[0]
        of_weight = autograd.grad(slope, w, create_graph=False)[0]
        again = autograd.grad(y, w, retain_graph=True)[0]
    assert of_weight.asnumpy().tolist() == [[1.0] * 3] * 2 and again.asnumpy().tolist() == [[1.0] * 3] * 2


class Masked(gluon.loss.SoftmaxCELoss):
    """Cross entropy of sequences that end early."""

    def forward(self, pred, label, valid_len):
        weights = np.expand_dims(np.ones_like(label), axis=-1)
        return super().forward(pred, label, mx.npx.sequence_mask(weights, valid_len, True, axis=1))


class Twice(gluon.nn.Dense):
    """A dense layer's result, twice."""

    def hybrid_forward(self, F, x, weight, bias=None):
        return super().hybrid_forward(F, x, weight, bias) * 2


@pytest.mark.parametrize("hybridize", [False, True])
def test_classes_derived_from_layers_give_numpy_arrays(hybridize):
    with mx.util.np_shape(), mx.util.np_array():
        masked, twice = Masked(), Twice(2, in_units=3)
        twice.initialize(mx.init.One())
        twice.hybridize(hybridize)
        loss = masked(np.ones((3, 4, 10)), np.ones((3, 4)), np.array([4, 2, 0]))
        out = twice(np.ones((1, 3)))
    assert type(loss) is type(out) is np.ndarray and out.tolist() == [[6.0, 6.0]]
    assert loss.tolist() == pytest.approx([2.302588, 1.151294, 0], rel=1e-5)
