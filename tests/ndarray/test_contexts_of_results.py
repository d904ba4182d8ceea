"""Pinned and shared memory does not pass on: results of operators are on the plain CPU, as in MXNet."""

import pytest

import mxnet as mx

RESULTS = {
    "sum": lambda x: x + 1,
    "mixed": lambda x: mx.nd.ones((3, 2)) + x,
    "negation": lambda x: -x,
    "comparison": lambda x: x > 0,
    "function": mx.nd.exp,
    "several": lambda x: mx.nd.split(x, 2)[0],
    "joined": lambda x: mx.nd.concat(x, x),
    "transpose": lambda x: x.T,
    "flat": lambda x: x.flatten(),
    "steps": lambda x: x[::2],
    "chosen": lambda x: x[mx.nd.array([0, 2])],
    "sparse": lambda x: x.tostype("row_sparse"),
    "norm": lambda x: x.norm(),
    "numpy": lambda x: x.as_np_ndarray() * 2,
    "numpy chosen": lambda x: x.as_np_ndarray()[mx.np.array([0, 1])],
}
STAYING = {
    "row": lambda x: x[0],
    "rows": lambda x: x[1:2],
    "element": lambda x: x[0, 1],
    "shape": lambda x: x.reshape((1, -1)),
    "constant": lambda x: x.detach(),
    "numpy": lambda x: x.as_np_ndarray()[0],
    "copy": lambda x: x.copy(),
    "type": lambda x: x.astype("float64"),
    "in place": lambda x: x.__iadd__(1),
}


@pytest.fixture(params=["cpu_pinned", "cpu_shared"])
def array(request):
    return mx.nd.ones((3, 2), ctx=mx.Context(request.param, 1))


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_on_the_cpu(array, name):
    assert RESULTS[name](array).context == mx.cpu(1 if name != "mixed" else 0)


@pytest.mark.parametrize("name", STAYING)
def test_parts_and_copies_stay(array, name):
    assert STAYING[name](array).context == array.context


def test_gradients(array):
    array.attach_grad()
    with mx.autograd.record():
        result = array * 2
    result.backward()
    assert [x.context for x in (array, array.grad, result)] == [array.context, mx.cpu(1), mx.cpu(1)]
