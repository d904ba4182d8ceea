"""The examples in docstrings run and print what they show."""

import doctest
import importlib
import inspect

import numpy as np
import pytest

import mxnet as mx

MODULES = """
_feed_forward autograd callback
gluon.block gluon.contrib.estimator.gradient_update gluon.contrib.estimator.history
gluon.contrib.estimator.learning_rate
gluon.contrib.estimator.weight_handlers gluon.data.dataset gluon.data.sampler gluon.loss
gluon.nn.activations gluon.nn.basic_layers gluon.nn.conv_layers gluon.parameter gluon.rnn.rnn_cell gluon.rnn.rnn_layer
gluon.trainer image.augment initializer io._base kvstore.base kvstore.kvstore lr_scheduler metric module.base_module
module.bucketing_module module.module module.python_module module.sequential_module optimizer.optimizer
optimizer.updater recordio rnn._stacks visualization
""".split()


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.filterwarnings("ignore")
def test_examples_run(name):
    module = importlib.import_module(f"mxnet.{name}")
    result = doctest.testmod(module, extraglobs={"mx": mx, "np": np}, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted and not result.failed


@pytest.mark.filterwarnings("ignore")
def test_examples_of_notebook_callbacks_run():
    pytest.importorskip("pandas")
    module = importlib.import_module("mxnet.notebook.callback")
    result = doctest.testmod(module, extraglobs={"mx": mx, "np": np})
    assert result.attempted and not result.failed


# Public names of a module whose docstring lacks parameters or an example. The lists may only shrink.
WITHOUT = {
    "gluon": "DeferredInitializationError",  # raised, never made by a user
    "gluon.loss": "",
    "gluon.nn": "",
    "gluon.rnn": "",
    "autograd": "Skipped SparseVariable Variable record_function",  # internals that other modules import
    "callback": "LogValidationMetricsCallback",
    "initializer": "",
    "io": "CSVIter ImageDetRecordIter ImageRecordInt8Iter ImageRecordIter ImageRecordIter_v1 ImageRecordUInt8Iter "
    "ImageRecordUInt8Iter_v1 LibSVMIter MNISTIter MXDataIter NDArrayIter",
    "kvstore": "KVStoreServer",  # runs in a process of its own
    "lr_scheduler": "",
    "metric": "",
    "optimizer": "Test ccSGD",  # a helper of MXNet's tests, and an alias of SGD
    "recordio": "",
}


def public(module):
    """The functions and classes that a module shows as its own."""
    names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
    for name in (n for n in names if not n.startswith("_")):
        value = getattr(module, name)
        home = getattr(value, "__module__", None) or ""
        if callable(value) and home.startswith(module.__name__):
            yield name, inspect.getdoc(value) or ""


@pytest.mark.parametrize("name", WITHOUT)
def test_public_names_have_parameters_and_an_example(name):
    module = importlib.import_module(f"mxnet.{name}")
    missing = [n for n, words in public(module) if "Parameters\n---" not in words or ">>> " not in words]
    assert sorted(missing) == WITHOUT[name].split()


def test_examples_of_numpy_functions_run():
    """The functions are made at run time, so they are looked up by name; how many have no example may only shrink."""
    finder, runner = (
        doctest.DocTestFinder(recurse=False),
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE),
    )
    functions = {n: f for n, f in vars(mx.np).items() if inspect.isfunction(f) and not n.startswith("_")}
    without = [n for n, f in functions.items() if "Parameters\n" not in (f.__doc__ or "") or ">>> " not in f.__doc__]
    for name, function in functions.items():
        for example in finder.find(function, name, globs={"mx": mx}):
            runner.run(example)
    assert not runner.failures and len(without) <= 115
