"""Schedules, initializers, metrics, stores and modules give what MXNet 1.9.1 gives."""

import pathlib
import re

import numpy as np
import pytest
import training_cases

import mxnet as mx

RECORDED = np.load(pathlib.Path(__file__).resolve().parents[1] / "data" / "training.npz")


NUMBER = r"-?\d+\.\d+"


def same_text(found, expected):
    """Word for word; numbers may differ in their last digit."""
    found, expected = "\n".join(np.atleast_1d(found)), "\n".join(np.atleast_1d(expected))
    assert re.sub(NUMBER, "#", found) == re.sub(NUMBER, "#", expected)
    numbers = [np.array(re.findall(NUMBER, text), dtype=float) for text in (found, expected)]
    np.testing.assert_allclose(*numbers, rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize("section", training_cases.SECTIONS, ids=lambda section: section.__name__)
def test_results_are_mxnets(section):
    found = section(mx)
    expected = {n.split("/")[1]: RECORDED[n] for n in RECORDED.files if n.startswith(section.__name__ + "/")}
    assert found.keys() == expected.keys()
    for name, array in found.items():
        if array.dtype.kind == "U":
            same_text(array, expected[name])
        else:
            assert array.dtype == expected[name].dtype
            np.testing.assert_allclose(array, expected[name], rtol=1e-5, atol=1e-6, err_msg=name)


def same_weights(found):
    for name, array in found.items():
        np.testing.assert_allclose(array, RECORDED[f"modules/one_{name}"], rtol=1e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("options", [{}, {"update_on_kvstore": False}, {"update_on_kvstore": True}], ids=str)
@pytest.mark.parametrize("contexts", [1, 4])
def test_a_trainer_gives_the_modules_weights_on_any_number_of_contexts(contexts, options, monkeypatch):
    monkeypatch.setenv("MXNET_VIRTUAL_GPUS", "4")
    same_weights(training_cases.trained(mx, [mx.gpu(i) for i in range(contexts)], **options))


def test_a_module_gives_the_same_weights_on_four_gpus(monkeypatch):
    monkeypatch.setenv("MXNET_VIRTUAL_GPUS", "4")
    for kvstore in ("local", "device"):
        module, _ = training_cases.fitted(mx, contexts=[mx.gpu(i) for i in range(4)], kvstore=kvstore)
        same_weights({name: array.asnumpy() for name, array in module.get_params()[0].items()})


@pytest.mark.parametrize("mode", [True, False])
def test_an_executor_differentiates_batch_norm_in_the_mode_of_backward(mode):
    symbol = mx.sym.BatchNorm(mx.sym.var("data"), fix_gamma=False, eps=1e-5, name="bn")
    executor = symbol.simple_bind(mx.cpu(), data=(4, 3))
    data, head = (mx.nd.array(np.random.RandomState(seed).randn(4, 3)) for seed in (1, 2))
    executor.copy_params_from(
        {"data": data, "bn_gamma": mx.nd.ones(3), "bn_beta": mx.nd.zeros(3)},
        {"bn_moving_mean": mx.nd.array([0.1, 0.2, 0.3]), "bn_moving_var": mx.nd.array([1, 2, 0.5])},
    )
    executor.forward(is_train=False)
    executor.backward(head, is_train=mode)
    expected = RECORDED[f"norm_gradients/False_{mode}_False_data"]
    np.testing.assert_allclose(executor.grad_dict["data"].asnumpy(), expected, rtol=1e-5, atol=1e-6)
