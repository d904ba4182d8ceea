"""`nd.save` and `nd.load`: MXNet's bytes, every generation, clear words for what cannot be read; pickles."""

import pathlib
import pickle

import numpy as np
import pytest

import mxnet as mx

DATA = pathlib.Path(__file__).parents[1] / "data" / "files"


def test_saved_bytes_are_mxnets(tmp_path):
    for name in ("dict.params", "float64_named.params", "int8.params", "empty.params"):
        mx.nd.save(str(tmp_path / "x"), mx.nd.load(str(DATA / name)))
        assert (tmp_path / "x").read_bytes() == (DATA / name).read_bytes()


def test_old_and_sparse_files_load():
    for name in ("legacy_dict.params", "v1_dict.params"):
        loaded = mx.nd.load(str(DATA / name))
        np.testing.assert_array_equal(loaded["a"].asnumpy(), [[0, 1, 2], [3, 4, 5]])
        assert loaded["b"].dtype == np.int32
    dense = [[0, 0], [1.5, 2], [0, 0], [3, -4]]
    for name in ("row_sparse.params", "csr.params"):
        np.testing.assert_array_equal(mx.nd.load(str(DATA / name))["s"].asnumpy(), dense)


def test_arrays_from_a_file_can_be_written_and_trained(tmp_path):
    (x,) = mx.nd.load(str(DATA / "float32.params"))
    x[:] = 2
    x.attach_grad()
    with mx.autograd.record():
        y = (x * x).sum()
    y.backward()
    assert (x.grad.asnumpy() == 4).all()


def test_bfloat16_round_trip(tmp_path):
    x = mx.nd.array([1.5, -2.0]).astype("bfloat16")
    mx.nd.save(str(tmp_path / "x"), {"x": x})
    back = mx.nd.load(str(tmp_path / "x"))["x"]
    assert back.dtype == x.dtype and back.astype("float32").asnumpy().tolist() == [1.5, -2.0]


def test_buffers():
    data = (DATA / "dict.params").read_bytes()
    assert list(mx.nd.load_frombuffer(data)) == list(mx.nd.load(str(DATA / "dict.params")))
    with pytest.raises(TypeError):
        mx.nd.load_frombuffer(3)


def test_numpy_shapes_are_a_matter_of_the_file():
    with pytest.raises(mx.MXNetError, match="was saved in np shape semantics"):
        mx.nd.load(str(DATA / "v3.params"))
    with mx.np_shape(True):
        scalar, empty = mx.nd.load(str(DATA / "v3.params"))
        assert scalar.shape == () and empty.shape == (0, 3)
        with pytest.raises(mx.MXNetError, match="was not saved in np shape semantics"):
            mx.nd.load(str(DATA / "float32.params"))


@pytest.mark.parametrize("data", [3, (mx.nd.ones(1),), "x"])
def test_what_cannot_be_saved(data, tmp_path):
    with pytest.raises(ValueError, match="data needs to either be"):
        mx.nd.save(str(tmp_path / "x"), data)


@pytest.mark.parametrize("data", [[1], {"a": 1}, {1: mx.nd.ones(1)}])
def test_what_is_no_array(data, tmp_path):
    with pytest.raises(TypeError, match="save only accept"):
        mx.nd.save(str(tmp_path / "x"), data)
    assert not (tmp_path / "x").exists()


def test_missing_files(tmp_path):
    with pytest.raises(mx.MXNetError, match="No such file"):
        mx.nd.load(str(tmp_path / "none"))
    with pytest.raises(mx.MXNetError, match="No such file"):
        mx.nd.save(str(tmp_path / "none" / "x"), mx.nd.ones(1))
    with pytest.raises(TypeError):
        mx.nd.load(3)


def test_pickles_are_mxnets():
    recorded = (
        b"\x80\x04\x95{\x00\x00\x00\x00\x00\x00\x00\x8c\x15mxnet.ndarray.ndarray\x94\x8c\x07NDArray\x94\x93\x94N\x85\x94R"
        b"\x94}\x94\x8c\x06handle\x94\x8c\x08builtins\x94\x8c\tbytearray\x94\x93\x94C$\xc9\xfa\x93\xf9\x00\x00\x00\x00\x01"
        b"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80?\x94"
        b"\x85\x94R\x94sb."
    )
    assert pickle.dumps(mx.nd.ones((1,)), 4) == recorded
    assert pickle.loads(recorded).asnumpy().tolist() == [1.0]
    half = mx.nd.ones((2, 2), dtype="bfloat16")
    assert pickle.loads(pickle.dumps(half)).dtype == half.dtype
