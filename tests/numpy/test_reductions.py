"""Sums and means of mx.np in other types; the numbers were printed by MXNet 1.9.1."""

import pytest

import mxnet as mx
from mxnet import autograd, np

HALVES = [0.1, -0.7, 0.33, 1.7, -2.9, 0.01, 3.3, -1.1]


def recorded(function, x):
    """What a function gives, and the gradient of its argument."""
    x.attach_grad()
    with autograd.record():
        y = function(x)
    y.backward()
    return y.asnumpy().tolist(), x.grad.asnumpy().tolist()


@pytest.mark.parametrize("cumsum", [np.cumsum, lambda x: mx.nd.cumsum(x.as_nd_ndarray(), axis=0)])
def test_running_sums_of_halves_are_rounded_at_every_step(cumsum):
    expected = [0.0999755859375, -0.60009765625, -0.27001953125, 1.4296875]
    expected += [-1.470703125, -1.4609375, 1.83984375, 0.740234375]
    assert cumsum(np.array(HALVES, dtype="float16")).asnumpy().tolist() == expected


def test_so_are_their_gradients():
    factors = np.array(HALVES, dtype="float16")
    expected = [0.74072265625, 0.640625, 1.3408203125, 1.0107421875]
    expected += [-0.689453125, 2.2109375, 2.201171875, -1.099609375]
    assert recorded(lambda x: np.cumsum(x) * factors, np.array(HALVES, dtype="float16"))[1] == expected


def test_a_sum_of_small_integers_may_run_over_before_it_is_divided():
    x = np.array([[100, 100, -100, 3], [100, 27, -100, 4]], dtype="int8")
    assert np.mean(x, axis=0, dtype="int8").asnumpy().tolist() == [-28, 63, 28, 3]


def test_results_that_are_integers_have_a_gradient():
    rows = [[1, 2, 3.5], [4, 5, 6]]
    assert recorded(lambda x: x.mean(axis=1, dtype="int32") * 3, np.array(rows)) == ([6, 15], [[1] * 3] * 2)
    assert recorded(lambda x: x.sum(axis=0, dtype="int64") * 2, np.array(rows)) == ([10, 14, 18], [[2] * 3] * 2)


def test_means_in_double_precision_are_computed_in_it():
    assert np.mean(np.array([0.1, 0.2, 0.4]), dtype="float64").item() == 0.23333333681027094


@pytest.mark.parametrize("size", range(1, 7))
def test_matrices_for_tests_have_real_eigenvalues(size):
    matrices = mx.test_utils.new_matrix_with_real_eigvals_nd((3, size, size))
    values, vectors = np.linalg.eig(np.array(matrices, dtype="float64"))
    again = vectors.asnumpy() * values.asnumpy()[:, None, :]
    assert abs(matrices @ vectors.asnumpy() - again).max() < 1e-8


@pytest.mark.parametrize("function", [np.prod, np.mean, np.sum])
@pytest.mark.parametrize(
    ("axis", "keepdims", "expected"), [(1, False, [0, 0]), (1, True, [[0], [0]]), (None, False, 0)]
)
def test_reductions_of_nothing_are_zero(function, axis, keepdims, expected):
    for dtype in ("float32", "int32", "bool"):
        x = np.zeros((2, 0), dtype=dtype)
        assert function(x, axis=axis, keepdims=keepdims).asnumpy().tolist() == expected


def test_the_number_to_divide_by_may_run_over_as_the_sum_does():
    for dtype in ("int8", "bool", "int32"):
        assert np.mean(np.ones((300, 2), dtype=dtype), axis=0, dtype="int8").asnumpy().tolist() == [1, 1]


@pytest.mark.parametrize("function", [np.linalg.eig, np.linalg.eigvals])
def test_complex_eigenvalues_are_refused(function):
    """As in MXNet; their real parts alone would be a wrong answer."""
    with pytest.raises(mx.MXNetError, match="Complex eigvals"):
        function(np.array([[0, 1], [-1, 0]]))
