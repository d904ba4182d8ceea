"""Advice after a failure: when it is given, and what it says."""

import pytest

from mxnet._core.hints import advice, beside, not_opened


@pytest.mark.parametrize(
    "shapes, attrs, words",
    [
        ([(2, 3, 4), (5, 12)], {}, ""),
        ([(2, 3, 4), (5, 4)], {}, "inferred shape=(5,12): the weight was made for rows of 4 numbers, and"),
        ([(2, 3, 4), (5, 4)], {"flatten": False}, ""),
        ([(2, 3, 4), (5, 3)], {"flatten": False}, "Provided = [5,3], inferred shape=(5,4)"),
        ([(2, 3, 4), (5, 4)], {"flatten": True}, "rows of 12"),
        ([None, (5, 4)], {}, ""), ([(2, 3), None], {}, ""), ([(2, 3), (5, 4, 1)], {}, ""), ([(2, 3), (5,)], {}, ""),
    ],
)  # fmt: skip
def test_dense(shapes, attrs, words):
    told = advice("FullyConnected", shapes, attrs)
    assert words in told and bool(told) == bool(words)


@pytest.mark.parametrize(
    "shapes, attrs, words",
    [
        ([(1, 3, 9, 9), (8, 3, 9, 9)], {}, ""),
        ([(1, 4, 9, 9), (8, 3, 3, 3)], {}, "made for 3 channels, and the data has 4; the layout is NC…: (batch,"),
        ([(1, 6, 9, 9), (8, 3, 3, 3)], {"num_group": 2}, ""),
        ([(1, 3, 9, 9), (8, 3, 3, 3)], {"num_group": 2}, "made for 6 channels, and the data has 3"),
        ([(1, 3, 9, 9), (8, 3, 10, 3)], {}, "the picture of (9, 9) is smaller than the kernel of (10, 3)"),
        ([(1, 3, 9, 9), (8, 3, 3, 10)], {"layout": "NCHW"}, "kernel size exceed input"),
        ([(1, 4, 9, 9), (8, 3, 3, 3)], {"layout": "NCHW"}, "the layout is NCHW"),
        ([(1, 9, 9, 3), (8, 3, 3, 3)], {"layout": "NHWC"}, ""), ([(1, 4, 9), (8, 3, 3, 3)], {}, ""),
        ([None, (8, 3, 3, 3)], {}, ""), ([(1, 4, 9, 9), None], {}, ""),
    ],
)  # fmt: skip
def test_convolution(shapes, attrs, words):
    told = advice("Convolution", shapes, attrs)
    assert words in told and bool(told) == bool(words)


@pytest.mark.parametrize(
    "shapes, attrs, words",
    [
        ([(2, 3, 4), (3,)], {}, ""), ([(2, 3, 4), (4,)], {"axis": -1}, ""), ([(2, 3), (4,)], {"axis": 2}, ""),
        ([(2, 3), (4,)], {"axis": -3}, ""), ([None, (4,)], {}, ""), ([(2, 3), None], {}, ""),
        ([(2, 3), (4,)], {}, "made for 4 channels on axis 1, and the data has 3"),
        ([(2, 3), (4,)], {"axis": -2}, "made for 4 channels on axis -2, and the data has 2"),
    ],
)  # fmt: skip
def test_batch_norm(shapes, attrs, words):
    told = advice("BatchNorm", shapes, attrs)
    assert words in told and bool(told) == bool(words)


def test_products_and_others():
    pair = [(2, 3), (4, 5)]
    assert advice("dot", pair, {}).startswith(" (dot shape error: [2,3] X [4,5]: the last axis")
    assert "[2,3] X [4,5] trans_a=0 trans_b=1:" in advice("batch_dot", pair, {"transpose_b": True})
    assert "trans_a=1 trans_b=0:" in advice("batch_dot", pair, {"transpose_a": True, "transpose_b": False})
    assert "along axis 1 must" in advice("Concat", pair, {}) and "along axis 3 " in advice("Concat", pair, {"dim": 3})
    assert advice("broadcast_add", [(2, 3), None], {}).startswith(
        " (operands could not be broadcast together with shapes [2,3] []"
    )
    assert advice("dot", pair[:1], {}) == "" == advice("relu", pair, {}) and advice("dot", pair, {}).endswith(")")


def test_what_is_there_instead_of_a_file(tmp_path):
    for number in range(7):
        (tmp_path / f"{number}.params").touch()
    names = ", ".join(f"{number}.params" for number in range(5))
    assert beside(tmp_path / "a.params") == f" (the folder {tmp_path} has {names})"
    assert beside(tmp_path / "a.json") == f" (the folder {tmp_path} has no .json file)"
    assert beside(tmp_path / "none" / "a.json") == f" (there is no folder {tmp_path / 'none'})"
    assert beside(tmp_path / "3.params") == ""
    empty = tmp_path / "empty"
    empty.mkdir()
    assert beside(empty / "a") == f" (the folder {empty} has no such file)"
    words = str(not_opened(empty / "a", FileNotFoundError(2, "No such file or directory")))
    assert words.startswith(f'Check failed: allow_null: :Open "{empty / "a"}": No such file or directory (the folder')
