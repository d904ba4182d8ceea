"""Named access to the arguments of calls in fx graphs, which rewriting passes rely on."""

import operator

import pytest
from torch import fx

from mxnet._graph.lower.fx_calls import argument, arguments_from, calls, pick, selected_output, sole_user
from mxnet._ops.registry.registry import find

SOFTMAX, CONCAT = find("softmax").fn, find("_rnn_param_concat").fn


@pytest.fixture
def graph():
    return fx.Graph()


def test_arguments_by_name(graph):
    data, length = graph.placeholder("data"), graph.placeholder("length")
    node = graph.call_function(SOFTMAX, (data, length), {"axis": 1})
    assert argument(node, "data") is data and argument(node, "length") is length
    assert argument(node, "axis") == 1
    assert argument(node, "temperature") is None and argument(node, "use_length") is False  # the function's defaults
    with pytest.raises(KeyError):
        argument(node, "axes")


def test_arguments_that_are_not_given(graph):
    node = graph.call_function(SOFTMAX, (graph.placeholder("data"),))
    assert argument(node, "length") is None and argument(node, "axis") == -1
    assert arguments_from(node, "length") == ()


def test_arguments_of_variadic_functions(graph):
    parts = tuple(graph.placeholder(f"part{i}") for i in range(3))
    assert arguments_from(graph.call_function(CONCAT, parts, {"dim": 0}), "data") == parts


def test_selected_outputs_and_users(graph):
    node = graph.call_function(SOFTMAX, (graph.placeholder("data"),))
    assert sole_user(node) is None and selected_output(node) is None
    first = graph.call_function(pick, (node, 0))
    assert sole_user(node) is first and selected_output(first) == (node, 0)
    assert calls(first, SOFTMAX, pick) and not calls(node, pick) and not calls("no node", pick)
    assert selected_output(graph.call_function(operator.getitem, (node, 1))) == (node, 1)
    assert sole_user(node) is None  # it has two users now
