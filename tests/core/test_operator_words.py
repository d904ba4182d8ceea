"""The meaning of an operator's parameters is written once, at the operator, and shown by every face and message."""

import re

import pytest

import mxnet as mx
from mxnet._ops.registry import registry, words
from mxnet._ops.registry.signature import names_in_namespace

OPERATORS = {operator.name: operator for operator in registry.load().values()}


def parameters(operator):
    return [*operator.inputs, *([operator.variadic] if operator.variadic else []), *operator.attrs]


def test_every_parameter_of_every_operator_has_a_meaning():
    missing = {
        name: lacking
        for name, operator in OPERATORS.items()
        if (lacking := [n for n in parameters(operator) if not operator.words()[1].get(n)])
    }
    assert missing == {}


def test_every_public_operator_has_an_example():
    spaces = "op contrib linalg image sparse random".split()
    public = {registry.find(name).name for space in spaces for name in names_in_namespace(space).values()}
    assert len(public) > 300
    assert [name for name in sorted(public) if not OPERATORS[name].words()[2]] == []


def test_entries_name_operators_and_parameters_that_exist():
    for chapter in words.FOLDER.glob("*.txt"):
        for name, entry in words.entries(chapter.stem).items():
            if name != "*":
                operator = OPERATORS[name]
                assert operator.module.partition(".")[0] == chapter.stem, name
                assert set(entry.meanings) <= {*parameters(operator), "returns"}, name
                own = re.findall(r"^(\w+)\n    ", operator.doc, re.M)
                assert not set(own) & set(entry.meanings), name  # one meaning in one place


def test_all_faces_show_the_meaning():
    for function in (mx.nd.Convolution, mx.sym.Convolution):
        assert "num_filter : int, required\n    Number of output channels." in function.__doc__
    assert "keepdims : boolean, optional, default=False\n    Whether reduced axes stay" in mx.nd.NDArray.sum.__doc__
    assert "lhs : array\n    The first input." in mx.nd.broadcast_add.__doc__


def test_messages_show_the_meaning_and_the_name_that_was_meant():
    with pytest.raises(mx.MXNetError) as error:
        mx.nd.Convolution(mx.nd.ones((1, 1, 3, 3)), num_filtr=3, kernel=(1, 1))
    said = str(error.value)
    assert "num_filter : int, required\n    Number of output channels." in said
    assert said.endswith("in operator Convolution. Did you mean num_filter?")


def test_the_nearest_meaning_counts():
    assert registry.find("_linalg_makediag").words()[1]["A"] == "The diagonals, in the last axis."
    assert registry.find("_linalg_syrk").words()[1]["A"].startswith("A matrix, or a batch")
    assert registry.find("erf").words()[1]["data"] == "The input, of any shape."


def test_symbols_have_a_name_where_arrays_have_out():
    assert "\nout : NDArray or list" in mx.nd.relu.__doc__ and "\nname : str" not in mx.nd.relu.__doc__
    assert "\nname : str" in mx.sym.relu.__doc__ and "\nout : NDArray" not in mx.sym.relu.__doc__
