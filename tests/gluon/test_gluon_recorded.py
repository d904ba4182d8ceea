"""Layers, losses, names, texts and first losses of training equal those recorded from MXNet 1.9.1."""

import json
import pathlib
import warnings

import gluon_cases as cases
import numpy as np
import pytest

RECORDED = json.loads((pathlib.Path(__file__).parent.parent / "data" / "gluon.json").read_text())


def check(found, expected, where=""):
    """Equal but for rounding; an error's text may go on after MXNet's words."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in expected:
            check(found[key], expected[key], f"{where} {key}")
    elif isinstance(expected, list) and expected and isinstance(expected[0], float):
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-6, err_msg=where)
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for i, (f, e) in enumerate(zip(found, expected, strict=True)):
            check(f, e, f"{where} {i}")
    else:
        assert found == expected, where


@pytest.mark.parametrize("hybrid", [False, True], ids=["eager", "hybrid"])
@pytest.mark.parametrize("name", cases.LAYERS)
def test_layer(name, hybrid):
    check(cases.layer(name, hybrid), RECORDED["layers"][name])


@pytest.mark.parametrize("hybrid", [False, True], ids=["eager", "hybrid"])
@pytest.mark.parametrize("name", cases.LOSSES)
def test_loss(name, hybrid):
    check(cases.loss_of(name, hybrid), RECORDED["losses"][name])


@pytest.mark.parametrize("hybrid", [False, True], ids=["eager", "hybrid"])
@pytest.mark.parametrize("name", RECORDED["training"])
def test_training(name, hybrid):
    np.testing.assert_allclose(cases.training(*name.split(), hybrid), RECORDED["training"][name], rtol=1e-4)


def test_training_on_two_contexts():
    expected = RECORDED["training"]["mlp momentum"]
    found = cases.training("mlp", "momentum", ctx=[cases.mx.cpu(0), cases.mx.cpu(1)])
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize("name", sorted(set(cases.CASES) - {"messages"}))
def test_case(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(cases.CASES[name](), RECORDED[name])


def test_messages_begin_with_mxnets_words():
    found = cases.messages()
    for name, (kind, text) in RECORDED["messages"].items():
        assert found[name][0] == kind, name
        assert found[name][1].startswith(text), (name, found[name][1])
