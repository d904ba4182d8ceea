"""Functions of `mx.np` beside MXNet 1.9.1: values on arrays, graphs that it wrote, graphs of our own."""

import gzip
import json
from pathlib import Path

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np, npx

RECORDED = json.loads(gzip.decompress((Path(__file__).parents[1] / "data" / "np_graphs.json.gz").read_bytes()))
DATA = onp.array(RECORDED["data"], "float32")
GRAPHS = {graph["text"]: graph for graph in RECORDED["graphs"]}


@pytest.fixture(autouse=True)
def manners():
    npx.set_np()
    yield
    npx.reset_np()


def check(found, recorded):
    assert [(str(f.dtype), list(f.shape)) for f in found] == [(dtype, shape) for dtype, shape, _ in recorded]
    for array, (_, _, values) in zip(found, recorded, strict=True):
        onp.testing.assert_allclose(array.reshape(-1).astype("float64"), values, rtol=1e-4, atol=2e-5)


def numpy_arrays(result):
    return [r.asnumpy() for r in (result if isinstance(result, (list, tuple)) else [result])]


def run(symbol):
    given = {"a": np.array(DATA)} if "a" in symbol.list_arguments() else {}
    return numpy_arrays(symbol.bind(mx.cpu(), {k: v.as_nd_ndarray() for k, v in given.items()}).forward())


@pytest.mark.parametrize("text", GRAPHS)
def test_arrays_give_what_mxnet_gives(text):
    check(numpy_arrays(eval(text, {"F": mx.nd, "a": np.array(DATA)})), GRAPHS[text]["outputs"])


@pytest.mark.parametrize("text", GRAPHS)
def test_a_graph_that_mxnet_wrote_runs(text):
    check(run(mx.sym.load_json(json.dumps(GRAPHS[text]["graph"]))), GRAPHS[text]["outputs"])


@pytest.mark.parametrize("text", GRAPHS)
def test_a_graph_of_ours_computes_the_same(text):
    made = eval(text, {"F": mx.sym, "a": mx.sym.var("a").as_np_ndarray()})
    made = mx.sym.Group(list(made)) if isinstance(made, (list, tuple)) else made
    check(run(mx.sym.load_json(made.tojson())), GRAPHS[text]["outputs"])
