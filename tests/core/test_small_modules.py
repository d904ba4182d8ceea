"""The smallest modules: libinfo, log, engine, and how the environment is read."""

import numpy as np
import pytest

import mxnet as mx
from mxnet._core.dtypes import FLAGS, NAMES, bfloat16, dtype_name
from mxnet._core.environment import choice, is_on, whole_number


def test_the_version_is_where_mxnet_has_it():
    assert mx.libinfo.__version__ == mx.base.__version__ == mx.__version__ == "1.9.1"
    with pytest.raises(RuntimeError, match="Cannot find the MXNet library"):
        mx.libinfo.find_lib_path()


def test_log_files_hold_bare_messages(tmp_path):
    logger = mx.log.get_logger("bare", str(tmp_path / "log"), level=mx.log.INFO)
    logger.info("hi")
    assert (tmp_path / "log").read_text() == "hi\n"


@pytest.mark.parametrize(
    "text, on, on_by_default",
    [("1", True, True), ("true", True, True), ("0", False, False), ("False", False, False), ("", False, True)],
)
def test_switches_in_the_environment_are_turned_by_numbers_and_words(monkeypatch, text, on, on_by_default):
    monkeypatch.setenv("MXNET_CHECK_NAN", text)
    assert (is_on("MXNET_CHECK_NAN"), is_on("MXNET_CHECK_NAN", default=True)) == (on, on_by_default)


def test_a_number_in_the_environment_that_is_none_is_named(monkeypatch):
    monkeypatch.setenv("MXNET_VIRTUAL_GPUS", "two")
    with pytest.raises(mx.MXNetError, match="MXNET_VIRTUAL_GPUS must be how many GPUs .*, got 'two'"):
        mx.num_gpus()
    monkeypatch.setenv("MXNET_OPTIMIZER_AGGREGATION_SIZE", "-1")
    with pytest.raises(ValueError, match="MXNET_OPTIMIZER_AGGREGATION_SIZE must be a whole number, got '-1'"):
        mx.optimizer.SGD()


def test_a_number_that_is_not_set_or_empty_is_the_default(monkeypatch):
    monkeypatch.delenv("MXNET_KEPT_MEMORY", raising=False)
    assert whole_number("MXNET_KEPT_MEMORY", 7) == 7
    monkeypatch.setenv("MXNET_KEPT_MEMORY", "")
    assert whole_number("MXNET_KEPT_MEMORY", 7) == 7


def test_element_types_have_mxnets_numbers():
    """Files and `-symbol.json` hold them."""
    names = "float32 float64 float16 uint8 int32 int8 int64 bool int16 uint16 uint32 uint64 bfloat16".split()
    assert list(FLAGS.items()) == list(zip(names, range(13), strict=True))
    assert {flag: NAMES[flag] for flag in range(13)} == dict(enumerate(names))


@pytest.mark.parametrize(
    "given, name",
    [("float32", "float32"), (None, "float32"), (float, "float64"), (np.int8, "int8"), ("<f2", "float16"),
     (bfloat16, "bfloat16"), ("bfloat16", "bfloat16"), (bfloat16.dtype, "bfloat16"), (np.dtype("int64"), "int64"),
     (mx.nd.ones(1, dtype="uint8"), "uint8")],
)  # fmt: skip
def test_names_of_element_types(given, name):
    assert dtype_name(given) == name == dtype_name(given)


def test_what_is_no_element_type():
    for given in ("float33", "(2,", [1], np.ones(2)):
        with pytest.raises(TypeError, match="is not a data type; (use one of|did you mean) float32"):
            dtype_name(given)
    with pytest.raises(mx.MXNetError, match="data type complex64 is not supported; use one of float32"):
        dtype_name("complex64")


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("1", 1), ("9", 9)])
def test_numbers_in_the_environment_have_bounds(monkeypatch, text, number):
    monkeypatch.setenv("MXNET_SOME_NUMBER", text)
    assert whole_number("MXNET_SOME_NUMBER", 7, below=10) == number
    for bounds in ({"below": number}, {"below": 10, "least": number + 1}):
        with pytest.raises(mx.MXNetError, match=f"MXNET_SOME_NUMBER must be .*, got '{number}'"):
            whole_number("MXNET_SOME_NUMBER", 7, "a small number", **bounds)
    assert whole_number("MXNET_SOME_NUMBER", 7, below=10, least=number) == number


def test_words_in_the_environment(monkeypatch):
    monkeypatch.setenv("MXNET_SOME_WORD", " Two ")
    assert choice("MXNET_SOME_WORD", ("one", "two"), "one") == "two"
    monkeypatch.setenv("MXNET_SOME_WORD", "")
    assert choice("MXNET_SOME_WORD", ("one", "two"), "one") == "one"
    monkeypatch.setenv("MXNET_SOME_WORD", "three")
    with pytest.raises(mx.MXNetError, match="MXNET_SOME_WORD must be one of one, two, got 'three'"):
        choice("MXNET_SOME_WORD", ("one", "two"), "one")


def test_classes_that_carry_a_metaclass_for_python_2_and_3():
    class Ordered(type):
        @classmethod
        def __prepare__(cls, name, bases):
            return {"bases_seen": bases}

    class Parent:
        pass

    class Child(mx.base.with_metaclass(Ordered, Parent)):
        number = 3

    assert type(Child) is Ordered and Child.__mro__ == (Child, Parent, object)
    assert Child.bases_seen == (Parent,) and Child.number == 3
