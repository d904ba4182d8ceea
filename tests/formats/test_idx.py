"""IDX files: the sizes of the header are compared with the values that are there."""

import struct

import numpy as np
import pytest

from mxnet._formats import idx
from mxnet.base import MXNetError


def made(*shape, values=b"", kind=b"\0\0\x08", count=None):
    return kind + bytes([len(shape) if count is None else count]) + struct.pack(f">{len(shape)}I", *shape) + values


def test_values_in_their_shape():
    found = idx.array(made(2, 3, values=b"abcdef"), "a")
    np.testing.assert_array_equal(found, np.frombuffer(b"abcdef", np.uint8).reshape(2, 3))
    assert idx.array(made(2, 3, values=b"abcdef"), "a", 2).shape == (2, 3) and found.dtype == np.uint8
    assert idx.array(made(0, 28, 28), "a").shape == (0, 28, 28) and idx.array(made(values=b"x"), "a").shape == ()


@pytest.mark.parametrize(
    "shape, values", [((2, 3), b"abcde"), ((2, 3), b"abcdefg"), ((2,), b""), ((0,), b"a"), ((2**32 - 1,) * 3, b"a")]
)
def test_other_numbers_of_values(shape, values):
    with pytest.raises(MXNetError, match=rf"a.gz says it holds .* values, but holds {len(values)}"):
        idx.array(made(*shape, values=values), "a.gz")


def test_no_values_in_a_shape_that_no_array_can_have():
    with pytest.raises(MXNetError, match="but holds 0"):
        idx.array(made(0, 2**32 - 1, 2**32 - 1), "a")


@pytest.mark.parametrize("data", [b"", b"\0\0\x08", made(2, kind=b"\0\0\x09"), made(2, 3, count=3), made(2, 3)[:-1]])
def test_other_files(data):
    with pytest.raises(MXNetError, match="a is not an IDX file of bytes"):
        idx.array(data, "a")


def test_another_number_of_dimensions():
    with pytest.raises(MXNetError, match="a is not an IDX file of 3 dimensions"):
        idx.array(made(2, 3, values=b"abcdef"), "a", 3)
