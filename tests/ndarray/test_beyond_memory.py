"""Arrays larger than memory: an MXNetError that says so, whoever tries to make them."""

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd

HUGE, WIDE = 2**50, 2**31
MADE = {
    "zeros": lambda: nd.zeros((WIDE, WIDE)),
    "zeros of no 64 bits": lambda: nd.zeros((2**63,)),
    "ones": lambda: nd.ones((HUGE,)),
    "full": lambda: nd.full((HUGE,), 1),
    "full of another type": lambda: nd.full((HUGE,), 1, dtype="int64"),
    "empty": lambda: nd.empty((HUGE,)),
    "empty, overflowing": lambda: nd.empty((WIDE, WIDE, WIDE)),
    "empty of no 64 bits": lambda: nd.empty((2**63,)),
    "broadcast": lambda: nd.ones((1, 1)).broadcast_to((WIDE, WIDE)),
    "uniform": lambda: nd.random.uniform(shape=(HUGE,)),
    "randint": lambda: nd.random.randint(0, 9, shape=(HUGE,)),
    "exponential": lambda: nd.random.exponential(shape=(HUGE,)),
    "gamma": lambda: nd.random.gamma(shape=(HUGE,)),
    "multinomial": lambda: nd.random.multinomial(nd.ones((2,)) / 2, shape=(HUGE,)),
    "np.zeros": lambda: mx.np.zeros((HUGE,)),
    "np.empty": lambda: mx.np.empty((HUGE,)),
    "np uniform": lambda: mx.np.random.uniform(size=(HUGE,)),
    "np choice": lambda: mx.np.random.choice(5, size=HUGE),
    "csr": lambda: nd.sparse.zeros("csr", (2**62, 4)),
    "row_sparse": lambda: nd.sparse.zeros("row_sparse", (2**62, 4)).tostype("default"),
    "graph sampling": lambda: nd.contrib.dgl_csr_neighbor_uniform_sample(
        nd.sparse.csr_matrix(([1, 2], [1, 0], [0, 1, 2]), shape=(2, 2), dtype="int64"),
        nd.array([0], dtype="int64"),
        num_args=2,
        num_hops=1,
        num_neighbor=2,
        max_num_vertices=HUGE,
    ),  # fmt: skip
    "symbol": lambda: mx.sym.zeros(shape=(HUGE,)).bind(mx.cpu(), {}).forward()[0].asnumpy(),
    "random symbol": lambda: mx.sym.random.uniform(shape=(HUGE,)).bind(mx.cpu(), {}).forward()[0].asnumpy(),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_told_in_mxnets_class(make):
    with pytest.raises(mx.MXNetError, match="memory|dense|2\\^31"):
        make()


def test_casts():
    wide = nd.from_numpy(np.broadcast_to(np.float32(1), (1,)))
    wide._t = wide._t.expand(HUGE)
    with pytest.raises(mx.MXNetError, match="the memory for an array of .* cannot be allocated"):
        wide.astype("float64")
