"""`.params` files of every generation: read exactly, written byte for byte, refused clearly when damaged."""

import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mxnet as mx
from mxnet._formats import params
from mxnet.base import MXNetError
from mxnet.ndarray.utils import array_of

from .corpus import EXPECTED, FOLDER, array, cuts, files


def head(*blobs, count=None):
    return struct.pack("<QQQ", 0x112, 0, len(blobs) if count is None else count) + b"".join(blobs)


def modern(ndim, sizes, device=(1, 0), flag=0, storage=0, data=b"", magic=params.V2_MAGIC):
    shape = struct.pack(f"<i{len(sizes)}q", ndim, *sizes)
    return struct.pack("<Ii", magic, storage) + shape + struct.pack("<iii", *device, flag) + data


@pytest.mark.parametrize("name", files("params"))
def test_recorded_files_hold_what_mxnet_put_there(name):
    names, blobs = params.load(FOLDER / name)
    facts = EXPECTED[name]
    assert names == facts["names"]
    assert len(blobs) == len(facts["arrays"])
    for blob, described in zip(blobs, facts["arrays"], strict=True):
        expected = array(described)
        values = array_of(blob, strict=False).asnumpy()
        assert values.shape == expected.shape and values.dtype == expected.dtype
        np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("name", files("params"))
def test_what_was_read_is_written_again_byte_for_byte(name):
    names, blobs = params.load(FOLDER / name)
    if EXPECTED[name]["rewrites"] or "sparse" in name or "csr" in name:
        written = params.dumps(names, blobs, numpy_shapes=EXPECTED[name]["rewrites"] == "v3")
        assert written == (FOLDER / name).read_bytes()
    else:
        again = params.loads(params.dumps(names, blobs))
        assert again[0] == names
        for a, b in zip(again[1], blobs, strict=True):
            np.testing.assert_array_equal(a.values, b.values)


def test_bfloat16_travels_as_bits():
    blob = params.Blob.dense(np.array([0x3F80, 0x4000], np.uint16), "bfloat16")
    (back,) = params.loads(params.dumps([], [blob]))[1]
    assert back.dtype == "bfloat16" and back.values.tolist() == [0x3F80, 0x4000]


@pytest.mark.parametrize("name", files("params"))
def test_a_file_cut_anywhere_is_refused_by_name_and_byte(name):
    data = (FOLDER / name).read_bytes()
    for cut in cuts(data):
        with pytest.raises(MXNetError, match=r"cut\.params: byte \d+: "):
            params.loads(data[:cut], "cut.params")


ATTACKS = {
    "many arrays": head(count=2**62),
    "more arrays than bytes": head(count=1000) + b"\0" * 100,
    "negative dimensions": head(modern(-3, ())),
    "too many dimensions": head(struct.pack("<Iii", params.V2_MAGIC, 0, 2**31 - 1)),
    "negative size": head(modern(1, (-5,))),
    "largest size": head(modern(1, (2**63 - 1,))),
    "overflowing product": head(modern(4, (2**40, 2**40, 2**40, 2**40))),
    "product that wraps to zero": head(modern(2, (2**32, 2**32))),
    "unknown type": head(modern(1, (1,), flag=99, data=b"\0" * 8)),
    "unknown storage": head(modern(1, (1,), storage=7, data=b"\0" * 8)),
    "legacy with 2**32-1 dimensions": head(struct.pack("<I", 0xFFFFFFFF) + b"\0" * 64),
    "legacy with large sizes": head(struct.pack("<III", 2, 0xFFFFFFFF, 0xFFFFFFFF) + struct.pack("<iii", 1, 0, 0)),
    "V1 with a negative size": head(struct.pack("<IIq", params.V1_MAGIC, 1, -1) + b"\0" * 16),
    "names without arrays": head() + struct.pack("<Q", 5),
    "a long name": head(modern(1, (1,), data=b"\0" * 4)) + struct.pack("<QQ", 1, 2**60),
    "a name that is not text": head(modern(1, (1,), data=b"\0" * 4)) + struct.pack("<QQ", 1, 2) + b"\xff\xfe",
    "another file": b"\x80\x04hello there, I am no list of arrays",
    "empty": b"",
}


@pytest.mark.parametrize("data", ATTACKS.values(), ids=ATTACKS.keys())
def test_lying_files_are_refused_without_being_believed(data):
    tracemalloc.start()
    try:
        with pytest.raises(MXNetError, match="byte"):
            params.loads(data, "bad.params")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "indices",
    [[np.array([9], np.int64)], [np.array([-1], np.int64)]],
)
def test_sparse_indices_outside_the_shape(indices):
    blob = params.Blob(np.ones((1, 2), np.float32), storage=params.ROW_SPARSE, shape=(4, 2), indices=indices)
    with pytest.raises(MXNetError, match="do not fit"):
        array_of(blob)


def test_a_sparse_array_too_large_to_be_dense():
    rows = [np.array([0], np.int64)]
    blob = params.Blob(np.ones((1, 2), np.float32), storage=params.ROW_SPARSE, shape=(2**40, 2), indices=rows)
    with pytest.raises(MXNetError, match="too large to be made dense"):
        array_of(blob).asnumpy()


@given(st.lists(st.tuples(st.text(max_size=5), st.lists(st.integers(0, 3), max_size=4)), max_size=4))
@settings(max_examples=50, deadline=None)
def test_anything_written_comes_back(items):
    blobs = [params.Blob.dense(np.random.default_rng(0).random(shape, np.float32), "float32") for _, shape in items]
    blobs = [b if b.shape else params.Blob.dense(b.values.reshape(1), "float32") for b in blobs]
    names, back = params.loads(params.dumps([n for n, _ in items], blobs))
    assert names == [n for n, _ in items]
    for a, b in zip(back, blobs, strict=True):
        np.testing.assert_array_equal(a.values, b.values)


@given(st.binary(max_size=200), st.integers(0, 10**6), st.sampled_from(files("params")))
@settings(max_examples=150, deadline=None)
def test_damage_gives_an_array_or_a_clear_error(patch, place, name):
    data = bytearray((FOLDER / name).read_bytes())
    place %= len(data)
    data[place : place + len(patch)] = patch
    try:
        for blob in params.loads(bytes(data))[1]:
            array_of(blob)
    except MXNetError:
        pass


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
def test_an_array_without_axes_or_elements_comes_back(shape, tmp_path):
    """Its layout is the one that knows such shapes, whatever the semantics are: else the file could not be read."""
    path = str(tmp_path / "odd.params")
    mx.nd.save(path, {"odd": mx.np.full(shape, 3.0), "next": mx.nd.ones((2,))})
    with pytest.raises(mx.MXNetError, match="array odd: ndarray was saved in np shape semantics"):
        mx.nd.load(path)
    with mx.util.np_shape(True):
        loaded = mx.nd.load(path)
    assert loaded["odd"].shape == shape and loaded["next"].shape == (2,)


def test_classic_arrays_without_elements_are_read_under_classic_shapes(tmp_path):
    path = str(tmp_path / "empty.params")
    mx.nd.save(path, [mx.nd.array(np.zeros((2, 0, 1))), mx.nd.ones((2,))])
    assert [each.shape for each in mx.nd.load(path)] == [(2, 0, 1), (2,)]


def test_shapes_are_mxnets_unless_numpys_are_asked_for():
    blob = params.Blob.dense(np.ones(1, np.float32), "float32")
    for dumps in (lambda *a: params.dumps(["a"], [blob], *a)[24:], lambda *a: params.dumps_blob(blob, *a)):
        assert dumps()[:4] == struct.pack("<I", params.V2_MAGIC) and dumps(True)[:4] == struct.pack(
            "<I", params.V3_MAGIC
        )
