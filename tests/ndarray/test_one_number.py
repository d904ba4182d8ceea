"""What `asnumpy` returns for one element is NumPy's array in all that a program does with it, and a number too."""

import copy
import json
import operator
import pickle

import numpy as np
import pytest

import mxnet as mx

METHODS = "sum mean max min std var prod argmax any all cumsum ravel copy squeeze round tolist item argsort".split()
UFUNCS = [np.exp, np.sqrt, np.isnan, np.negative, np.sign]
FUNCTIONS = [
    np.sum, np.mean, np.median, np.average, np.squeeze, np.array, np.asarray, np.atleast_2d, np.unique, np.sort,
    np.linalg.norm, np.array_str, np.ndim, np.zeros_like, np.add.reduce, np.add.accumulate, np.float32, abs, bool, list,
    str, repr, copy.copy, copy.deepcopy, operator.neg,
    lambda a: a[0], lambda a: a[:], lambda a: a[None], lambda a: a[a > 0], lambda a: 1 + a, lambda a: np.ones(2) + a,
    lambda a: a @ a, lambda a: a > 0, lambda a: a.reshape(()), lambda a: np.dot(a, a), lambda a: np.stack([a, a]),
    lambda a: np.concatenate([a, a]), lambda a: np.broadcast_to(a, (3,)), lambda a: np.einsum("i->", a),
    lambda a: pickle.dumps(a, 2), lambda a: pickle.dumps(a, 5), lambda a: json.dumps(a.astype("float64").mean()),
    lambda a: repr(type(a)), lambda a: type(a).__name__, lambda a: type(a) == np.ndarray,  # noqa: E721
    lambda a: np.ndarray == type(a), lambda a: {np.ndarray: 1}[type(a)], lambda a: type(a) in (list, np.ndarray),  # noqa: E721
]  # fmt: skip


def seen(function, array):
    """What comes out, with its kind."""
    result = function(array)
    return type(result).__name__, getattr(result, "dtype", None), repr(result)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("function", [*map(operator.methodcaller, METHODS), *UFUNCS, *FUNCTIONS])
def test_it_differs_in_nothing_from_an_array(function, dtype):
    ours, plain = mx.nd.array([2], dtype=dtype).asnumpy(), np.array([2], dtype=dtype)
    assert seen(function, ours) == seen(function, plain)


def test_json_names_the_type_that_it_cannot_write():
    with pytest.raises(TypeError, match="Object of type ndarray is not JSON serializable"):
        json.dumps(mx.nd.ones(1).asnumpy())


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 1, 1)])
def test_it_is_a_number_of_any_shape(shape):
    one = mx.nd.full(shape, 2.5).asnumpy()
    assert (float(one), int(one), complex(one), "%.2f %d" % (one, one)) == (2.5, 2, 2.5 + 0j, "2.50 2")  # noqa: UP031 - what programs write
    assert float(one * 2) == 5.0 and float(one.astype("float64")) == 2.5


def test_computing_in_place_keeps_the_array():
    one = other = mx.nd.ones(1).asnumpy()
    one += 2
    assert one is other and float(other) == 3.0


def test_more_elements_are_no_number():
    with pytest.raises(TypeError):
        float(mx.nd.ones(1).asnumpy().repeat(2))
