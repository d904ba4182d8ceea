"""Corners of NDArray as MXNet 1.9.1 answers them: overflowing numbers, indices, shapes without axes, histograms."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, nd
from mxnet.base import MXNetError


def test_numbers_beyond_float32_are_infinite():
    written = nd.ones((2,))
    written[:] = -1e40
    assert nd.full((2,), 1e40).asnumpy().tolist() == [np.inf] * 2
    assert nd._internal._full(shape=(2,), value=1e40).asnumpy().tolist() == [np.inf] * 2
    assert written.asnumpy().tolist() == [-np.inf] * 2


@pytest.mark.parametrize(
    ("key", "kind", "words"),
    [
        ((..., ...), IndexError, r"Cannot use more than one ellipsis \(`...`\) for indexing"),
        ((0, 1, 2), IndexError, r"too many indices \(3\) for array with 2 dimensions"),
        (1.0, ValueError, r"NDArray does not support slicing with key 1.0 of type <class 'float'>"),
        ([1, 5, 6], IndexError, "index 6 is out of bounds for axis 0 with size 3"),
        ([7, -9], IndexError, "index -9 is out of bounds for axis 0 with size 3"),
        (([0, 1, 2], [0, 1]), ValueError, r"\(3,\), \(2,\) do not broadcast"),
        (slice(0.5, 2), TypeError, "'float' object cannot be interpreted as an integer"),
    ],
)
def test_wrong_keys_are_told_in_mxnet_words(key, kind, words):
    with pytest.raises(kind, match=words):
        nd.zeros((3, 4))[key]
    with pytest.raises(kind, match=words):
        nd.zeros((3, 4))[key] = 7


def test_wrong_values_for_places_are_told_and_change_nothing():
    x = nd.zeros((3, 4))
    with pytest.raises(ValueError, match=r"remapped\]: \(2, 5\) and requested shape \(2, 4\)"):
        x[[0, 1]] = nd.ones((2, 5))
    with pytest.raises(TypeError, match="does not support assignment with non-array-like object x of type"):
        x[0] = "x"
    for key in (0, slice(None), [0, 1]):
        with pytest.raises(TypeError, match="non-array-like object 1j of type"):
            x[key] = 1j
    assert not x.asnumpy().any()


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        ((0, slice(None), [0, 1]), (2, 4)),
        ((0, None, [0, 1]), (2, 1, 5)),
        ((0, slice(None), None, [0, 1]), (2, 4, 1)),
        ((None, [0, 1], slice(None), 0), (2, 1, 4)),
        ((slice(None), 0, [0, 1]), (3, 2)),
    ],
)
def test_numbers_beside_index_arrays_are_index_arrays(key, shape):
    numbers = np.arange(60.0).reshape(3, 4, 5)
    array = nd.array(numbers)
    assert array[key].shape == shape and (array[key].asnumpy() == numbers[key]).all()
    array[key] = numbers[key] = -np.arange(numbers[key].size).reshape(shape)
    assert (array.asnumpy() == numbers).all()


def test_one_place_found_backwards_shares_memory():
    array = nd.arange(6).reshape((3, 2))
    array[5:1:-2][:] = -1
    assert array.asnumpy().tolist() == [[0, 1], [2, 3], [-1, -1]]


def test_foreign_memory_that_is_no_array_is_refused():
    with pytest.raises(ValueError, match="complex64 is not supported"):
        nd.from_numpy(np.ones(2, "complex64"))
    capsule = nd.ones(2).to_dlpack_for_read()
    nd.from_dlpack(capsule)
    with pytest.raises(AssertionError, match="Invalid DLPack Tensor"):
        nd.from_dlpack(capsule)


def test_an_element_has_no_axes_under_numpy_shapes():
    x = nd.arange(6).reshape((2, 3))
    x.attach_grad()
    with mx.util.np_shape(True):
        assert x[1, 2].shape == nd.arange(3)[0].shape == x.detach()[0, 0].shape == ()
        with autograd.record():
            y = x[1, 2] * 3
    y.backward()
    assert x.grad.asnumpy().tolist() == [[0, 0, 0], [0, 0, 3]]
    assert x[1, 2].shape == (1,)


def test_reshape_takes_whole_numbers_only():
    x = nd.zeros((2, 3))
    with pytest.raises(AssertionError, match="Shape must be provided."):
        x.reshape()
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        x.reshape(2.0, 3)


def test_histogram_without_a_range_is_numpys():
    with pytest.warns(UserWarning, match="range is not specified, using numpy's result to ensure consistency"):
        counts, edges = nd.histogram(nd.array([1, 2, 1, 5]), bins=3)
    assert counts.dtype == np.float32 and counts.asnumpy().tolist() == [3, 0, 1]
    np.testing.assert_allclose(edges.asnumpy(), [1, 2.3333333, 3.6666667, 5], rtol=1e-6)


def test_results_keep_their_type_whatever_out_is():
    with pytest.raises(MXNetError, match="Incompatible attr in node  at 0-th output: expected float32, got int32"):
        nd.exp(nd.ones((2,)), out=nd.zeros((2,), dtype="int32"))
    with pytest.raises(MXNetError, match="Operator elemwise_add expects 2 inputs, but got 1 instead"):
        nd.elemwise_add(lhs=nd.ones((2,)))


def test_concatenating_nothing_is_refused():
    with pytest.raises(AssertionError):
        nd.concatenate([])
    with pytest.raises(MXNetError, match="Invalid range"):
        nd.arange(5, 1)


@pytest.mark.parametrize("values, some", [([1, 1], True), ([1, 0], True), ([0, 0], False)])
def test_means_and_norms_of_truth_values(values, some):
    """As in MXNet a mean is cast to truth again; moments of `mx.np` are refused."""
    truth = mx.nd.array([values, [0, 0]]).astype("bool")
    assert mx.nd.mean(truth).asnumpy().tolist() == mx.nd.norm(truth).asnumpy().tolist() == [some]
    assert mx.nd.mean(truth, axis=1).asnumpy().tolist() == mx.nd.norm(truth, axis=1).asnumpy().tolist() == [some, False]
    assert float(mx.np.mean(truth.as_np_ndarray())) == sum(values) / 4
    for refused in (mx.np.var, mx.np.std, mx.np.average):
        with pytest.raises(mx.MXNetError, match="Unknown type enum 7"):
            refused(truth.as_np_ndarray())


@pytest.mark.parametrize("wrong", ["foo", "", mx.cpu(), 3, [1], object()])
def test_what_is_no_data_type_is_a_type_error(wrong):
    """NumPy's refusal in MXNet, before an operator sees it; types that only NumPy has are the operator's error.

    Where no operator is asked, MXNet looks in vain for the type's number.
    """
    x = nd.ones((2,))
    weight = nd.ones((3, 2))
    calls = (
        lambda d: nd.zeros((2,), dtype=d),
        lambda d: x.astype(d),
        lambda d: nd.cast(x, dtype=d),
        lambda d: nd.softmax(x, dtype=d),
        lambda d: nd.one_hot(x, 3, dtype=d),
        lambda d: nd.Embedding(x, weight, input_dim=3, output_dim=2, dtype=d),
        lambda d: nd.random.uniform(shape=(2,), dtype=d),
        lambda d: mx.np.random.uniform(size=(2,), dtype=d),
        lambda d: mx.np.arange(3, dtype=d),
        lambda d: mx.np.mean(mx.np.ones(2), dtype=d),
    )
    for call in calls:
        with pytest.raises(TypeError, match="is not a data type"):
            call(wrong)
    for call in (calls[0], *calls[2:7]):
        with pytest.raises(MXNetError):
            call("complex64")
    for call in (calls[1], lambda d: nd.empty((2,), dtype=d), lambda d: mx.np.array([1], dtype=d)):
        with pytest.raises(KeyError, match="data type complex64 is not supported"):
            call("complex64")


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("zeros", [[-0.0, 0.0], [0.0, -0.0], [1, -0.0, 0.0, -1], [0.0, 0.0, -0.0, 0.0, -0.0]])
def test_zeros_below_zero_keep_their_places_among_zeros(zeros, ascending):
    x = nd.array(zeros)
    expected = x.asnumpy()[nd.argsort(x, is_ascend=ascending).asnumpy().astype(int)]
    below = np.signbit(nd.sort(x, is_ascend=ascending).asnumpy()).tolist()
    assert below == np.signbit(expected).tolist()
    assert [b for b, e in zip(below, expected, strict=True) if not e] == [np.signbit(z) for z in zeros if not z]


@pytest.mark.parametrize("function", [nd.argsort, nd.topk])
def test_no_type_for_places_means_float32(function):
    assert function(nd.array([2, 1]), dtype=None).dtype is np.float32


def test_what_is_missing_is_named():
    with pytest.raises(mx.MXNetError, match="Required parameter scale of int.* is not presented"):
        nd.UpSampling(nd.ones((1, 1, 2, 2)))
    with pytest.raises(AssertionError, match="must have NDArray type, but got None"):
        nd.multi_all_finite(None, nd.ones((2,)))
