"""The examples in docstrings run and print what they show."""

import doctest
import importlib

import numpy as np
import pytest

import mxnet as mx

MODULES = [
    "mxnet._feed_forward",
    "mxnet.callback",
    "mxnet.gluon.contrib.estimator.gradient_update",
    "mxnet.gluon.contrib.estimator.learning_rate",
    "mxnet.gluon.contrib.estimator.weight_handlers",
    "mxnet.gluon.data.dataset",
    "mxnet.gluon.data.sampler",
    "mxnet.gluon.parameter",
    "mxnet.image.augment",
    "mxnet.initializer",
    "mxnet.io._base",
    "mxnet.lr_scheduler",
    "mxnet.metric",
    "mxnet.module.base_module",
    "mxnet.module.bucketing_module",
    "mxnet.module.module",
    "mxnet.module.python_module",
    "mxnet.module.sequential_module",
    "mxnet.rnn._stacks",
]


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.filterwarnings("ignore")
def test_examples_run(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, extraglobs={"mx": mx, "np": np}, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted and not result.failed


@pytest.mark.filterwarnings("ignore")
def test_examples_of_notebook_callbacks_run():
    pytest.importorskip("pandas")
    module = importlib.import_module("mxnet.notebook.callback")
    result = doctest.testmod(module, extraglobs={"mx": mx, "np": np})
    assert result.attempted and not result.failed
