"""The C library's logarithm of float32."""

import numpy as np

from mxnet._core.log32 import log32, log32_of


def test_it_is_the_logarithm_within_an_ulp():
    values = np.random.default_rng(1).uniform(1e-6, 3, 20000).astype(np.float32)
    exact = np.log(values.astype(np.float64))
    error = np.abs(log32(values) - exact) / np.spacing(np.abs(exact).astype(np.float32))
    assert error.max() < 0.85
    assert (log32(values) != exact.astype(np.float32)).any()  # it is not the rounded one


def test_one_number_has_the_logarithm_of_an_array():
    edges = [0.69921875 * 2.0**k for k in range(-20, 3)] + [1.0, 2.0, 0.5, 0.98046875]
    near = [np.nextafter(np.float32(edge), np.float32(way)) for edge in edges for way in (0, 9)]
    values = np.array([*edges, *near, *np.linspace(1e-4, 2, 501)], np.float32)
    np.testing.assert_array_equal([log32_of(value) for value in values], log32(values))


def test_glibcs_bits():
    """Values of glibc 2.36 that are not the rounded logarithms."""
    recorded = {
        "0x1.28b4f8p+0": "0x1.2e37ccp-3",
        "0x1.74d0c6p-1": "-0x1.44daccp-2",
        "0x1.04b802p+0": "0x1.2b409ap-6",
        "0x1.063f0cp+0": "0x1.8af670p-6",
        "0x1.272db0p+0": "0x1.23a406p-3",
    }
    values = np.array([float.fromhex(text) for text in recorded], np.float32)
    assert log32(values).tolist() == [float.fromhex(text) for text in recorded.values()]
