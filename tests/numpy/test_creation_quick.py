"""Functions of `mx.np` without inputs by the generated code: the same as by the long way."""

import pytest

import mxnet as mx
from mxnet import np
from mxnet._ops.registry import observe

CALLS = [
    lambda: np.random.uniform(0, 2, size=(3, 2)),
    lambda: np.random.uniform(-0.0, 1, size=4, dtype="float64"),
    lambda: np.random.normal(1.5, 2, size=5),
    lambda: np.random.normal(0.0, 1.0),
    lambda: np.random.exponential(2.0, size=(2,)),
    lambda: np.random.gamma(0.5, 1, size=(3,)),
    lambda: np.random.randint(2, 9, size=(4,), dtype="int32"),
    lambda: np.zeros((2, 3)),
    lambda: np.arange(5),
    lambda: np.eye(3),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_the_same_watched_or_not(number):
    seen = []

    def wrapper(op):
        seen.append(op.name)
        return op.fn

    def made():
        mx.random.seed(6)
        return [CALLS[number](), CALLS[number]()]

    quick = made()
    observe.watch(wrapper)
    try:
        slow = made()
    finally:
        observe.unwatch(wrapper)
    assert seen
    for found, wanted in zip(quick, slow, strict=True):
        assert type(found) is type(wanted) is np.ndarray and found.context == wanted.context
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        assert (found.asnumpy() == wanted.asnumpy()).all()


def test_where_it_is_made():
    assert np.random.uniform(size=2, ctx=mx.cpu(1)).context == mx.cpu(1)
    with mx.cpu(2):
        assert np.random.normal(size=2).context == mx.cpu(2)


def test_what_is_wrong_is_said_as_before():
    with pytest.raises(ValueError, match="scale < 0"):
        np.random.normal(0, -1, size=2)
    with pytest.raises(mx.MXNetError, match="valid values are"):
        np.random.uniform(size=2, dtype="int32")
