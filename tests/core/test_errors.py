"""Exceptions travel between processes: pools of workers pickle what goes wrong in them."""

import multiprocessing
import pickle

import pytest

import mxnet as mx
from mxnet._core import errors
from mxnet.base import MXNetError, NotImplementedForSymbol

PLAIN = (errors.MXNetError, errors.ValueRefused, errors.NameUnknown, errors.OperatorMissing, errors.ValueFault)


@pytest.mark.parametrize("kind", PLAIN)
def test_errors_are_pickled(kind):
    error = kind("what is wrong")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and str(again) == str(error) == "what is wrong"


def test_errors_with_words_of_their_own_are_pickled():
    with pytest.raises(NotImplementedForSymbol) as found:
        mx.sym.var("x").asnumpy()
    again = pickle.loads(pickle.dumps(found.value))
    assert type(again) is NotImplementedForSymbol and str(again) == str(found.value) and "asnumpy" in str(again)


def work(_):
    return mx.nd.array([1], dtype=object)


def test_a_worker_of_a_pool_tells_its_error():
    with (
        multiprocessing.get_context("spawn").Pool(1) as pool,
        pytest.raises(MXNetError, match="data type object is not supported"),
    ):
        pool.map(work, [0])
