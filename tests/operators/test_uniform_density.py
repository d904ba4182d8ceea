"""The density of the uniform distribution, as MXNet 1.9.1 computes it: also of samples outside, and of no number."""

import numpy as np
import pytest

from mxnet import autograd, nd


@pytest.mark.parametrize(
    ("is_log", "values", "slopes"),
    [(False, [0.25, 0.5], [0.375, 3.75]), (True, [-1.3862943649291992, -0.6931471824645996], [1.5, 7.5])],
)
def test_the_density_does_not_ask_where_the_sample_lies(is_log, values, slopes):
    sample = nd.array([[float("nan"), float("inf"), 9], [1, 2, 3]])
    low, high = nd.array([0, 1]), nd.array([4, 3])
    for bound in (low, high):
        bound.attach_grad()
    with autograd.record():
        density = nd.random_pdf_uniform(sample, low, high, is_log=is_log)
    density.backward(nd.array([[1, 2, 3], [4, 5, 6]]))
    np.testing.assert_allclose(density.asnumpy(), np.repeat(values, 3).reshape(2, 3), rtol=1e-6)
    np.testing.assert_allclose(low.grad.asnumpy(), slopes, rtol=1e-6)
    np.testing.assert_allclose(high.grad.asnumpy(), np.negative(slopes), rtol=1e-6)
