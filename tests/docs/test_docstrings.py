"""Every public name has parameters and an example in its docstring; the examples run and print what they show."""

import inspect
import os

import pytest
from public_names import (
    FACES,
    METHODS_WITHOUT,
    MODULES,
    WITHOUT,
    classes,
    is_described,
    module_of,
    public,
    undescribed_methods,
)
from running_examples import Examples, words_of

import mxnet as mx
from mxnet._core.advice.entries import entries


@pytest.mark.parametrize("name", [*FACES, *MODULES])
@pytest.mark.filterwarnings("ignore")
def test_public_names_have_parameters_and_an_example(name):
    missing = [each for each, value in public(name) if not is_described(value)]
    assert missing == sorted(WITHOUT.get(name, "").split())


def test_the_names_are_counted():
    assert sum(len(list(public(name))) for name in [*FACES, *MODULES]) > 1900


@pytest.mark.parametrize("name", [*FACES, *MODULES])
@pytest.mark.filterwarnings("ignore")
def test_each_namespace_shows_something(name):
    assert list(public(name))


CALLED = {"forward", "hybrid_forward"}  # of a block, which is called; the docstring of its class says with what


@pytest.mark.filterwarnings("ignore")
def test_methods_of_public_classes_have_parameters_and_an_example():
    """An override may leave it to the method of its base."""
    missing = {}
    for kind in classes():
        called = CALLED if issubclass(kind, mx.gluon.Block) else set()
        known = set(METHODS_WITHOUT.get(kind.__name__, "").split()) | called
        names = [name for name in undescribed_methods(kind) if name not in known]
        if names:
            missing[kind.__name__] = names
    assert missing == {}


def test_methods_are_counted():
    assert sum(len([name for name in dir(kind) if not name.startswith("_")]) for kind in classes()) > 3000


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _members(value):
    """The docstrings of a class's own members."""
    for name, member in vars(value).items():
        if not name.startswith("_"):
            yield name, member


SHOWN = set()  # examples that ran under another name


def _run(examples, name, value):
    words = words_of(value)
    if ">>> " in words and words not in SHOWN:
        SHOWN.add(words)
        examples.run(name, words)


@pytest.mark.parametrize("name", [n for n in [*FACES, *MODULES] if not n.startswith(("ndarray.op", "symbol.op"))])
@pytest.mark.filterwarnings("ignore")
def test_examples_run(name, folder):
    """Those of operators run in test_operator_examples."""
    examples = Examples()
    for each, value in public(name):
        if name in FACES and "mxnet._ops" not in str(value) and _is_operator(value):
            continue
        _run(examples, f"{name}.{each}", value)
        if inspect.isclass(value):
            for method, member in _members(value):
                _run(examples, f"{name}.{each}.{method}", member)
    examples.check()


def _is_operator(value):
    """Is it a function that was generated from an operator?"""
    return "OP" in getattr(value, "__globals__", {}) or "_op" in getattr(value, "__globals__", {})


# Classes that are put together from private parts, whose examples no module above shows as its own.
PUT_TOGETHER = [mx.nd.NDArray, mx.np.ndarray, mx.sym.Symbol, mx.nd.sparse.CSRNDArray, mx.nd.sparse.RowSparseNDArray]
PUT_TOGETHER += [mx.gluon.Block, mx.gluon.HybridBlock, mx.gluon.ParameterDict, mx.gluon.SymbolBlock, mx.gluon.Parameter]
PUT_TOGETHER += [mx.mod.Module, mx.gluon.nn.Sequential, mx.gluon.rnn.SequentialRNNCell, mx.gluon.rnn.LSTM]
PUT_TOGETHER += [mx.contrib.text.embedding.CustomEmbedding, mx.gluon.contrib.estimator.BatchEnd, mx.profiler.Task]
PUT_TOGETHER += [
    mx.model.FeedForward,
    mx.checkpoint.Run,
    mx.image.ImageDetIter,
    mx.rnn.SequentialRNNCell,
    mx.executor.Executor,
]


@pytest.mark.parametrize("kind", PUT_TOGETHER)
@pytest.mark.filterwarnings("ignore")
def test_examples_of_methods_run(kind, folder):
    examples = Examples()
    for base in kind.__mro__:
        if base.__module__.startswith("mxnet"):
            for method, member in _members(base):
                if not _is_operator(member):
                    _run(examples, f"{base.__name__}.{method}", getattr(member, "__func__", member))
    examples.check()


@pytest.mark.filterwarnings("ignore")
def test_examples_of_notebook_callbacks_run(folder):
    pytest.importorskip("pandas")
    examples = Examples()
    for name, value in vars(module_of("notebook.callback")).items():
        if inspect.isclass(value) and value.__module__ == "mxnet.notebook.callback":
            _run(examples, name, value)
            for method, member in _members(value):
                _run(examples, f"{name}.{method}", member)
    examples.check()


def test_notebook_callbacks_describe_their_parameters():
    """Examples of charts would need Bokeh and a notebook; tests/test_notebook.py draws them."""
    for kind in (mx.notebook.callback.PandasLogger, mx.notebook.callback.LiveBokehChart):
        for name, member in _members(kind):
            if inspect.isfunction(member) and set(inspect.signature(member).parameters) - {"self", "_"}:
                assert "Parameters\n---" in inspect.getdoc(member), name


def test_entries_of_fallback_functions_are_used():
    known = entries(mx.np.fallback._FILE)
    assert set(known) - {"*"} >= set(mx.np.fallback.FUNCTIONS)
    assert os.path.basename(mx.np.fallback._FILE) == "fallback_words.txt"
