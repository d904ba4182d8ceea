"""`tools/compare_calls.py`: calls are drawn alike everywhere, and every kind of difference is found."""

import importlib.util
import pathlib

import numpy as np
import pytest

import mxnet as mx

PATH = pathlib.Path(__file__).parents[2] / "tools" / "compare_calls.py"
SPEC = importlib.util.spec_from_file_location("compare_calls", PATH)
tool = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(tool)

ONES = ("default", np.ones(3, np.float32))


def answer(*outputs, grads=()):
    return "answer", list(outputs), list(grads)


@pytest.mark.parametrize(
    ("own", "kind"),
    [
        (answer(ONES), None),
        (answer(("default", np.ones(3, np.float32) * np.float32(1.00001))), None),
        (answer(("default", np.ones(3))), "dtype"),
        (answer(("default", np.full(3, 1.1, np.float32))), "value"),
        (answer(("default", np.ones((3, 1), np.float32))), "shape"),
        (answer(("csr", np.ones(3, np.float32))), "storage"),
        (answer(ONES, ONES), "number of results"),
        (("refusal", "MXNetError", ["no"]), "refusal"),
        (("crash", "", []), "crash"),
    ],
)
def test_kinds_of_difference(own, kind):
    found = tool.difference(answer(ONES), own)
    assert (found and found[0]) == kind


def test_gradients_are_compared():
    zeros = ("default", np.zeros(3, np.float32))
    assert tool.difference(answer(ONES, grads=[ONES]), answer(ONES, grads=[zeros]))[0] == "gradient value"


def test_what_the_reference_refuses_is_no_difference():
    assert tool.difference(("refusal", "MXNetError", []), answer(ONES)) is None


def test_calls_are_the_same_each_time_and_can_be_made():
    for number in range(200):
        draw, again = tool.Draw(5, number), tool.Draw(5, number)
        assert draw.text == again.text
        for letter, values in draw.arrays.items():
            np.testing.assert_array_equal(values, again.arrays[letter])
    groups = {tool.Draw(5, number).group for number in range(200)}
    assert groups == {"nd", "np", "npx", "sparse", "contrib"}


def test_most_calls_have_an_answer():
    try:
        kinds = [tool.answer(tool.Draw(1, number))[0] for number in range(60)]
    finally:
        mx.npx.reset_np()
    assert kinds.count("answer") > 30
