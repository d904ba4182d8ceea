"""Nested lists: flattened, and put together again."""

import pytest

from mxnet._core.nest import flatten, regroup


class Outputs(list):
    """Something that has several outputs, as a symbol has."""


def test_what_was_flattened_comes_back():
    nested = ["a", ["b", ("c",)], "d"]
    flat, form = flatten(nested, str, "NDArray", "inputs")
    assert (flat, form) == (["a", "b", "c", "d"], [0, [0, [0]], 0])
    assert regroup([1, 2, 3, 4], form) == [1, [2, [3]], 4] and regroup([7], 0) == 7
    with pytest.raises(AssertionError):
        regroup([1, 2], 0)


def test_a_symbol_of_several_outputs_counts_them():
    one, three = Outputs("a"), Outputs("abc")
    assert flatten([one, three], Outputs, "Symbol", "inputs") == ([one, three], [0, 3])
    assert flatten([one, three], Outputs, "NDArray", "inputs") == ([one, three], [0, 0])
    assert regroup([1, 2, 3, 4], [0, 3]) == [1, [2, 3, 4]] and regroup([1, 2, 3], [1, 2]) == [[1], [2, 3]]


def test_other_things_are_named():
    with pytest.raises(AssertionError, match=r"inputs must be \(nested\) list of NDArray, but got 3 of type"):
        flatten([3], str, "NDArray", "inputs")
