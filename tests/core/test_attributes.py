"""Attributes of operators: how each kind is read from Python's values and a file's text; what the registry does."""

import typing

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet._core import attrs
from mxnet._core.attrs import Count, Dtype, Factor, Floats, Fraction, Long, Shapes, Sizes, attribute
from mxnet._ops.registry import registry

READ = [
    (int, 3, 3), (int, "3", 3), (int, "-2147483648", -(2**31)), (int, 2.0, 2), (int, np.int64(4), 4), (int, "2.0", 2),
    (int, np.array([5]), 5), (int, True, 1), (Long, 2**40, 2**40), (Long, str(-(2**63)), -(2**63)),
    (float, "1e-5", 1e-5), (float, 3, 3.0), (float, "inf", float("inf")), (float, np.float32(0.5), 0.5),
    (float, np.array([1.5]), 1.5), (bool, "True", True), (bool, "false", False), (bool, 1, True), (bool, "0", False),
    (bool, np.bool_(True), True), (str, "x", "x"), (str, 3, "3"), (tuple, 3, (3,)), (tuple, "(1, 2)", (1, 2)),
    (tuple, "(1L, 2L)", (1, 2)), (tuple, [1, 2.0], (1, 2)), (tuple, "[]", ()), (tuple, "(None, 2)", (None, 2)),
    (tuple, np.array([1, 2]), (1, 2)), (Floats, "(1, 2.5)", (1.0, 2.5)), (Floats, 0.5, (0.5,)),
    (Shapes, "((1, 2), (3,))", ((1, 2), (3,))), (Dtype, "float32", "float32"), (Dtype, np.float16, "float16"),
    (Count, 1, 1), (Factor, 0.0, 0.0), (Fraction, 1.0, 1.0), (Fraction, 0.0, 0.0), (Sizes, (1, 2), (1, 2)),
    (int | None, "None", None), (int | None, 3, 3), (tuple | None, None, None),
    (typing.Literal["a", "b"], "b", "b"), (typing.Optional[int], "None", None),  # noqa: UP045
]  # fmt: skip
REFUSED = [
    (int, "x"), (int, 1.5), (int, None), (int, "nan"), (int, np.array([1, 2])), (int, 2**31), (int, -(2**31) - 1),
    (Long, 2**63), (Long, -(2**63) - 1), (float, "x"), (float, None), (bool, 2), (bool, "maybe"), (tuple, "(1, x)"),
    (tuple, (1, 2**63, None)), (Floats, "(1, inf)"), (Count, 0), (Factor, -0.5), (Fraction, 1.5), (Fraction, -0.1),
    (Sizes, (1, 0)), (typing.Literal["a", "b"], "c"), (Dtype, "nonsense"), (Shapes, 3.5),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value", "wanted"), READ)
def test_read(kind, value, wanted):
    found = attribute("a", kind, None, False).parse(value, "Op")
    assert found == wanted and type(found) is type(wanted)


@pytest.mark.parametrize(("kind", "value"), REFUSED)
def test_refused(kind, value):
    with pytest.raises(mx.MXNetError, match=r"in operator Op\(name=\"\", a="):
        attribute("a", kind, None, False).parse(value, "Op")


def test_words_of_bounds():
    with pytest.raises(mx.MXNetError, match=r"value 0 for Parameter a should be greater equal to 1"):
        attribute("a", Count, None, False).parse(0, "Op")
    with pytest.raises(mx.MXNetError, match=r"value 1.5 for Parameter a exceed bound \[0,1\]"):
        attribute("a", Fraction, None, False).parse(1.5, "Op")
    with pytest.raises(mx.MXNetError, match="the input shape must be nonzero in all dimensions"):
        attribute("a", Sizes, None, False).parse((0,), "Op")
    with pytest.raises(mx.MXNetError, match=r"Invalid Input: 'c', valid values are: \{'a', 'b'\}"):
        attribute("a", typing.Literal["a", "b"], None, False).parse("c", "Op")


def test_descriptions():
    assert attribute("a", int, 3, False).describe() == "a : int, optional, default=3"
    assert attribute("a", tuple | None, None, True).describe() == "a : Shape(tuple) or None, required"
    assert attribute("dtype", typing.Literal["float32"], "float32", False).parse(None, "Op") == "float32"


def test_texts():
    assert attrs.text((1, "a")) == "(1, 'a')" and attrs.text((1,)) == "(1,)" and attrs.text([1, 2]) == "[1, 2]"
    assert attrs.text(np.float32(0.1)) == "0.1" and attrs.text(np.int64(3)) == "3" and attrs.text(None) == "None"
    assert attrs.text("x") == "x" and attrs.text(()) == "()"


def test_literals():
    assert attrs.literal(" true ") is True and attrs.literal("None") is None
    assert attrs.literal("(1, true)") == (1, True)
    with pytest.raises(ValueError):
        attrs.literal("nonsense")


def test_numbers_of_control_flow():
    assert attrs.python_number(nd.array([3]), int, "x") == 3
    with pytest.raises(ValueError, match="Cannot convert x to python int"):
        attrs.python_number("x", int, "x")


def test_the_mark_of_what_was_not_given():
    import pickle

    assert not attrs.NULL and repr(attrs.NULL) == "_Null" and pickle.loads(pickle.dumps(attrs.NULL)) is attrs.NULL


# -- the registry ------------------------------------------------------------------------------------------------------


def test_what_a_signature_says():
    conv = registry.find("Convolution")
    assert conv.inputs == ("data", "weight", "bias") and conv.attrs["kernel"].required
    assert conv.input_names({"no_bias": True}) == ("data", "weight")
    assert conv.defaults["num_group"] == 1 and "kernel" not in conv.defaults
    assert conv.full({"num_group": 2})["num_group"] == 2 and conv.full({})["num_group"] == 1


def test_inputs_of_variadic_operators():
    concat = registry.find("Concat")
    assert concat.input_names({}, 2) == ("arg0", "arg1")
    assert concat.input_names({"num_args": 3}) == ("arg0", "arg1", "arg2")


def test_outputs():
    split, norm = registry.find("SliceChannel"), registry.find("BatchNorm")
    assert split.output_names({"num_outputs": 3}) == ("output0", "output1", "output2")
    assert split.output_names({"num_outputs": 1}) == ("output",)
    assert split.visible_outputs({"num_outputs": 3}) == 3
    assert len(norm.output_names({})) == 3 and norm.visible_outputs({}) == 1
    assert norm.visible_outputs({"output_mean_var": True}) == 3
    assert set(norm.aux_names({})) == {"moving_mean", "moving_var"}


def test_what_is_unknown_or_missing():
    with pytest.raises(
        mx.MXNetError, match="Cannot find argument 'nonsense', Possible Arguments:(.|\n)*kernel : Shape"
    ):
        registry.find("Convolution").parse({"nonsense": 1, "kernel": (1, 1), "num_filter": 1})
    with pytest.raises(mx.MXNetError, match="Required parameter num_filter of int .*is not presented"):
        registry.find("Convolution").parse({"kernel": (1, 1)})
    assert registry.find("Convolution").parse({"kernel": (1, 1), "num_filter": 1, "__x__": 1})["num_filter"] == 1
    with pytest.raises(mx.MXNetError, match="Operator nonsense is not registered"):
        registry.find("nonsense")
    assert registry.lookup("nonsense") is None and not registry.known("nonsense") and registry.known("Convolution")
    assert "Convolution" in registry.names() and registry.names() == sorted(set(registry.names()))
    assert repr(registry.find("Convolution")) == "<operator Convolution>" and registry.find("Convolution").doc


def test_a_name_is_given_once():
    with pytest.raises(ValueError, match="operator Convolution is registered twice"):
        registry.find("Convolution")

        @registry.op("Convolution")
        def again(data):
            return data


def test_attributes_of_any_name():
    custom = registry.find("Custom")
    assert custom.free and custom.parse({"op_type": "x", "other": 3})["other"] == "3"
