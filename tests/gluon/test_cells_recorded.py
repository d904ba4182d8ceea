"""Recurrent cells of Gluon and `mx.rnn`, and layers of `gluon.contrib`, equal those recorded from MXNet 1.9.1."""

import json
import pathlib

import cell_cases as cases
import pytest
from test_gluon_recorded import check

import mxnet as mx

RECORDED = json.loads((pathlib.Path(__file__).parent.parent / "data" / "cells.json").read_text())
both = pytest.mark.parametrize("hybrid", [False, True], ids=["eager", "hybrid"])


@both
@pytest.mark.parametrize("name", cases.CELLS)
def test_a_cell_called_once(name, hybrid):
    check(cases.step(name, hybrid), RECORDED["steps"][name])


@both
@pytest.mark.parametrize("name", RECORDED["unrolled"])
def test_a_cell_over_a_sequence(name, hybrid):
    check(cases.unrolled(name, hybrid), RECORDED["unrolled"][name])


@pytest.mark.parametrize("name", RECORDED["unmerged"])
def test_a_list_of_outputs(name):
    check(cases.unrolled(name, layout="TNC", merge=False), RECORDED["unmerged"][name])


@pytest.mark.parametrize("name", RECORDED["lengths"])
def test_sequences_of_different_lengths(name):
    check(cases.unrolled(name, lengths=[2, 3]), RECORDED["lengths"][name])


@pytest.mark.parametrize("name", cases.CONVOLVED)
def test_cells_that_convolve(name):
    check(cases.convolved(name), RECORDED["convolved"][name])


@pytest.mark.parametrize("name", cases.CLASSIC)
def test_cells_of_symbols(name):
    check(cases.classic(name), RECORDED["classic"][name])


@both
@pytest.mark.parametrize("name", cases.LAYERS)
def test_layers_of_contrib(name, hybrid):
    check(cases.layer(name, hybrid), RECORDED["layers"][name])


def test_an_lstm_of_symbols_has_the_graph_that_mxnet_writes():
    """Its files name no axis for the slices, which is the operator's default; recorded from MXNet 1.9.1."""
    outputs, _ = mx.rnn.LSTMCell(4, prefix="a_").unroll(1, inputs=[mx.sym.var("x")])
    nodes = {node["name"]: node.get("attrs") for node in json.loads(mx.sym.Group(outputs).tojson())["nodes"]}
    assert nodes["a_t0_slice"] == {"num_outputs": "4"}


def test_stacks_take_parameters_for_themselves_or_for_their_cells():
    def stack():
        return mx.rnn.SequentialRNNCell(params=mx.rnn.RNNParams("all_"))

    with pytest.raises(AssertionError, match="not to both"):
        stack().add(mx.rnn.RNNCell(4, prefix="a_", params=mx.rnn.RNNParams("own_")))
    residual = stack()
    residual.add(mx.rnn.ResidualCell(mx.rnn.RNNCell(4, prefix="a_")))
    assert sorted(residual.params._params) == [
        f"a_{part}" for part in ("h2h_bias", "h2h_weight", "i2h_bias", "i2h_weight")
    ]
