"""Comparing optimizers and Gluon networks, and an iterator that repeats one batch."""

import numpy as np

from .. import autograd, gluon
from ..io import DataIter
from .comparison import assert_almost_equal, compare_ndarray_tuple
from .generation import rand_ndarray


class DummyIter(DataIter):
    """Gives the first batch of another iterator again and again, to measure everything but the loading."""

    def __init__(self, real_iter):
        super().__init__()
        self.real_iter = real_iter
        self.provide_data, self.provide_label = real_iter.provide_data, real_iter.provide_label
        self.batch_size = real_iter.batch_size
        self.the_batch = next(real_iter)

    def __iter__(self):
        return self

    def next(self):
        """The same batch."""
        return self.the_batch


def compare_optimizer(
    opt1,
    opt2,
    shape,
    dtype,
    w_stype="default",
    g_stype="default",
    rtol=1e-4,
    atol=1e-5,
    compare_states=True,
    ntensors=1,
):
    """One update with two optimizers from equal weights and gradients: states and weights must agree.

    The first is the reference: it gets dense arrays, one at a time; a list of shapes goes to the second in one call.
    """
    shapes = shape if isinstance(shape, list) else [shape]
    assert len(shapes) == ntensors
    weights = [rand_ndarray(s, w_stype, density=1, dtype=dtype) for s in shapes]
    grads = [rand_ndarray(s, g_stype, density=0.5, dtype=dtype) for s in shapes]
    dense = [w.copyto(w.context).tostype("default") for w in weights]
    states1 = [opt1.create_state_multi_precision(i, w) for i, w in enumerate(dense)]
    states2 = [opt2.create_state_multi_precision(i, w) for i, w in enumerate(weights)]
    for i, (weight, grad) in enumerate(zip(dense, grads, strict=True)):
        opt1.update_multi_precision(i, weight, grad.copyto(grad.context).tostype("default"), states1[i])
    if isinstance(shape, list):
        opt2.update_multi_precision(list(range(ntensors)), weights, grads, states2)
    else:
        opt2.update_multi_precision(0, weights[0], grads[0], states2[0])
    if compare_states:
        compare_ndarray_tuple(tuple(states1), tuple(states2), rtol=rtol, atol=atol)
    for first, second in zip(dense, weights, strict=True):
        assert_almost_equal(first, second, rtol=rtol, atol=atol)


def check_gluon_hybridize_consistency(net_builder, data_l, numpy_func=None, test_grad=True, rtol=1e-4, atol=1e-4):
    """A network must give the same outputs and gradients hybridized and not, and NumPy's outputs if given."""
    plain = net_builder(prefix="net_")
    assert isinstance(plain, gluon.HybridBlock)
    plain.initialize()
    outputs, gradients = _run(plain, data_l, test_grad)
    hybrid = net_builder(prefix="net_")
    hybrid.initialize()
    for name, parameter in plain.collect_params().items():
        hybrid.collect_params()[name].set_data(parameter.data())
    hybrid.hybridize()
    hybrid_outputs, hybrid_gradients = _run(hybrid, data_l, test_grad)
    assert_almost_equal(outputs, hybrid_outputs, rtol=rtol, atol=atol)
    for name, gradient in gradients.items():
        assert_almost_equal(gradient, hybrid_gradients[name], rtol=rtol, atol=atol)
    if numpy_func is not None:
        assert_almost_equal(outputs, numpy_func(*[np.asarray(x.asnumpy()) for x in data_l]), rtol=rtol, atol=atol)


def _run(net, inputs, test_grad):
    """A network's outputs, and the gradients of its inputs, by their places, and of its parameters, by their names."""
    inputs = [x.copy() for x in inputs]
    if not test_grad:
        return net(*inputs).asnumpy(), {}
    for x in inputs:
        x.attach_grad()
    with autograd.record():
        out = net(*inputs)
    out.backward()
    gradients = {k: p.grad().asnumpy() for k, p in net.collect_params().items() if p.grad_req != "null"}
    return out.asnumpy(), {**gradients, **{place: x.grad.asnumpy() for place, x in enumerate(inputs)}}


__all__ = [n for n, v in list(globals().items()) if getattr(v, "__module__", None) == __name__ and n[0] != "_"]
