"""NDArray: creation, indexing, sharing, writing, printing, conversion."""

import pickle

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import nd


def test_array_is_float32_unless_told_otherwise():
    assert nd.array([1, 2]).dtype is np.float32
    assert nd.array(np.arange(3)).dtype is np.float32
    assert nd.array([1], dtype="int32").dtype is np.int32
    assert nd.array(nd.ones((1,), dtype="float64")).dtype is np.float64
    with pytest.raises(TypeError, match="array like"):
        nd.array({"a": 1})


def test_full_reductions_have_shape_one():
    assert nd.ones((2, 3)).sum().shape == (1,) and nd.arange(4)[2].shape == (1,)


def test_printing():
    assert repr(nd.arange(6).reshape((2, 3))) == "\n[[0. 1. 2.]\n [3. 4. 5.]]\n<NDArray 2x3 @cpu(0)>"
    assert repr(nd.ones((2,), dtype="int32", ctx=mx.cpu(1))) == "\n[1 1]\n<NDArray 2 @cpu(1)>"


def test_basic_slices_share_memory_where_mxnet_shares():
    x = nd.zeros((4, 3))
    x[1][:] = 1
    x[2:4][:] = 2
    x.reshape((12,))[0] = 9
    assert x.asnumpy().tolist() == [[9, 0, 0], [1, 1, 1], [2, 2, 2], [2, 2, 2]]
    column = x[:, 1]  # not one run of memory: a copy
    column[:] = 7
    assert x[0, 1].asscalar() == 0


def test_slices_of_every_element():
    x = nd.arange(24).reshape((4, 6))
    assert nd.slice(x, begin=(None, 1), end=(2, None), step=None).shape == (2, 5)
    assert nd.slice_like(x, nd.ones((3, 2)), axes=None).shape == (3, 2)


@pytest.mark.parametrize(
    "operation",
    [lambda x: x.T, lambda x: x.transpose((1, 0)), lambda x: nd.identity(x), lambda x: nd.expand_dims(x, axis=0),
     lambda x: nd.flatten(x), lambda x: x.broadcast_to((2, 3)), lambda x: nd.split(x, num_outputs=3, axis=1)[0],
     lambda x: nd.slice_axis(x, axis=0, begin=0, end=1), lambda x: x.astype("float32"), lambda x: x.copy()],
)  # fmt: skip
def test_operators_never_alias_their_input(operation):
    x = nd.ones((2, 3))
    y = operation(x)
    y[:] = 5
    assert (x.asnumpy() == 1).all()


KEYS = [
    1, -1, slice(None), slice(1, 3), slice(None, None, 2), slice(None, None, -1), slice(3, 0, -2), Ellipsis, None,
    (1, 2), (slice(0, 2), 1), (Ellipsis, 1), (None, 1), (slice(None), None, 1), [0, 2], [[0, 1], [2, 3]],
    ([0, 2], [1, 2]), ([0, 2], slice(1, 3)), (slice(None), [0, 2]), (1, [0, 2]), np.array([1, 1]),
    (slice(None, None, -1), [0, 1]),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indexing_reads_and_writes_like_numpy(key):
    reference = np.arange(48, dtype="float32").reshape(4, 4, 3)
    x = nd.array(reference)
    want = reference[key]
    assert x[key].asnumpy().tolist() == want.reshape(want.shape or (1,)).tolist()
    reference[key] = -1
    x[key] = -1
    assert x.asnumpy().tolist() == reference.tolist()
    value = np.arange(want.size, dtype="float32").reshape(want.shape)
    reference[key] = value
    x[key] = nd.array(value)
    assert x.asnumpy().tolist() == reference.tolist()


def test_arrays_index_arrays_even_as_floats():
    x = nd.arange(10)
    assert x[nd.array([1, 3])].asnumpy().tolist() == [1, 3]
    assert x[x > 7].asnumpy().tolist() != []


def test_out_of_bounds():
    x = nd.ones((2, 3))
    for key in (2, (0, 3), [5], (0, 0, 0)):
        with pytest.raises(IndexError):
            x[key]
        with pytest.raises(IndexError):
            x[key] = 1
    assert (x.asnumpy() == 1).all()


def test_assigning_a_wrong_shape_changes_nothing():
    x = nd.zeros((2, 3))
    with pytest.raises(ValueError, match=r"remapped\]: \(4,\) and requested shape \(2, 3\)"):
        x[:] = nd.ones((4,))
    assert (x.asnumpy() == 0).all()


def test_numbers_keep_the_arrays_type():
    x = nd.array([1, 2], dtype="uint8")
    assert (x + 1.5).asnumpy().tolist() == [2, 3] and (x + 1.5).dtype is np.uint8
    assert (nd.array([3], dtype="int32") / 2).asnumpy().tolist() == [1]


def test_comparisons_give_the_inputs_dtype():
    assert (nd.array([1, 2]) > 1).dtype is np.float32
    assert (nd.array([1, 2], dtype="int32") == 2).dtype is np.int32
    assert (nd.ones((1,)) == None) is False and (nd.ones((1,)) != None) is True  # noqa: E711


def test_truth():
    assert nd.array([1]) and not nd.array([0])
    with pytest.raises(ValueError, match="ambiguous"):
        bool(nd.ones((2,)))


def test_scalars():
    assert isinstance(nd.array([1.5]).asscalar(), np.float32)
    with pytest.raises(ValueError, match="not a scalar"):
        nd.ones((2,)).asscalar()


def test_pickle_dlpack_torch_and_numpy_round_trips():
    x = nd.arange(6).reshape((2, 3))
    assert (pickle.loads(pickle.dumps(x)).asnumpy() == x.asnumpy()).all()
    assert (nd.from_dlpack(x.to_dlpack_for_read()).asnumpy() == x.asnumpy()).all()
    shared = torch.from_dlpack(x)
    shared[0, 0] = 9
    assert x[0, 0].asscalar() == 9
    assert (np.asarray(x) == x.asnumpy()).all()
    assert float(np.sum(x)) == x.asnumpy().sum() == 24
    columns = nd.from_torch(torch.arange(6.0).reshape(2, 3).T)
    for pack in (columns.to_dlpack_for_read, columns.to_dlpack_for_write):
        assert torch.utils.dlpack.from_dlpack(pack()).is_contiguous()
    torch.utils.dlpack.from_dlpack(columns.to_dlpack_for_write())[2, 1] = 9
    assert columns.asnumpy().tolist() == [[0, 3], [1, 4], [2, 9]]
    y = nd.from_numpy(np.ones((2, 2), dtype="float32"))
    assert y.asnumpy().sum() == 4


def test_bad_calls_name_the_operator_its_shapes_and_what_to_do():
    a, b = nd.ones((2, 3)), nd.ones((2, 3))
    with pytest.raises(mx.MXNetError, match=r"dot.*\[2,3\] X \[2,3\]|dot.*\(2, 3\)"):
        nd.dot(a, b)
    with pytest.raises(mx.MXNetError, match="Cannot find argument 'foo', Possible Arguments"):
        nd.FullyConnected(a, b, num_hidden=2, no_bias=True, foo=1)
    with pytest.raises(mx.MXNetError, match="Required parameter num_hidden of int is not presented"):
        nd.FullyConnected(a, b, no_bias=True)
    with pytest.raises(mx.MXNetError, match="Invalid Parameter format for num_hidden expect int but value='x'"):
        nd.FullyConnected(a, b, num_hidden="x", no_bias=True)
    with pytest.raises(AssertionError, match="Argument data must have NDArray type, but got 3"):
        nd.exp(3)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_operator'"):
        nd.no_such_operator
    with pytest.raises(mx.MXNetError, match="a shape is an integer or a tuple of integers"):
        nd.zeros(float("nan"))


def test_generated_functions_have_signatures_and_docs():
    import inspect

    assert str(inspect.signature(nd.FullyConnected)) == (
        "(data=None, weight=None, bias=None, num_hidden=_Null, no_bias=_Null, flatten=_Null, "
        "out=None, name=None, **kwargs)"
    )
    assert "num_hidden : int, required" in nd.FullyConnected.__doc__
    assert "FullyConnected" in dir(nd) and "exp" in dir(nd)


def test_an_array_without_axes_is_written_whole():
    x = nd.array(np.float32(3))
    x[:] = 5
    assert x.shape == () and x.asnumpy() == 5


def test_numbers_beyond_a_type_wrap_around():  # as MXNet's do, on every NumPy
    assert mx.nd.array([-3, 300], dtype="uint8").asnumpy().tolist() == [253, 44]
    x = mx.nd.array([1, 2, 250], dtype="uint8")
    x[:2] = -300
    assert x.asnumpy().tolist() == [212, 212, 250]
    assert mx.nd.maximum(x, 300).asnumpy().tolist() == [212, 212, 250]
    x[[0, 2]] = 300
    assert x.asnumpy().tolist() == [44, 212, 44]


def test_tables_of_several_kinds():
    table = np.array([[1.5, True], ["2", False]], dtype=object)
    assert mx.nd.array(table).asnumpy().tolist() == [[1.5, 1], [2, 0]]
    with pytest.raises(ValueError, match="could not convert"):
        mx.nd.array(np.array(["x"], dtype=object))


def test_the_index_of_a_single_number_has_no_coordinates():
    with mx.util.np_shape(True):
        assert mx.nd.contrib.index_array(mx.nd.ones(())).shape == (0,)


def test_empty_samples_under_numpys_rules():
    with mx.util.np_shape(True):
        assert mx.nd.random.uniform(shape=(0, 3)).shape == (0, 3)
        assert mx.nd.random.normal(shape=()).shape == ()
    with pytest.raises(mx.MXNetError, match="is not known"):
        mx.nd.random.uniform(shape=(0, 3))


def test_an_array_written_over_itself_is_read_first():
    a = nd.arange(6)
    a[1:] = a[:-1]
    assert a.asnumpy().tolist() == [0, 0, 1, 2, 3, 4]
    a[:-1] = a[1:]
    assert a.asnumpy().tolist() == [0, 1, 2, 3, 4, 4]


def test_functions_are_also_where_mxnet_defines_them():
    from mxnet.ndarray.ndarray import array, concatenate, waitall, zeros

    assert (array, concatenate, waitall, zeros) == (mx.nd.array, mx.nd.concatenate, mx.nd.waitall, mx.nd.zeros)
