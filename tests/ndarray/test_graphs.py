"""Graphs in csr arrays: edges by their ends, subgraphs, and neighbours as MXNet samples them."""

import numpy as np
import pytest

import mxnet as mx

contrib = mx.nd.contrib


def complete(n=5):
    """Every vertex is a neighbour of every other; edges are numbered from one."""
    columns = np.array([j for i in range(n) for j in range(n) if i != j], "int64")
    starts = np.arange(0, n * (n - 1) + 1, n - 1, dtype="int64")
    return mx.nd.sparse.csr_matrix((np.arange(1, len(columns) + 1, dtype="int64"), columns, starts), shape=(n, n))


def ids(*numbers):
    return mx.nd.array(numbers, dtype="int64")


def parts(csr):
    return [p.asnumpy().tolist() for p in (csr.data, csr.indices, csr.indptr)]


def test_edges_are_found_by_their_ends():
    found = contrib.edge_id(complete(), ids(0, 0, 1), ids(1, 0, 4))
    assert found.asnumpy().tolist() == [1, -1, 8] and found.dtype is np.int64
    ones = contrib.dgl_adjacency(complete())
    assert ones.dtype is np.float32 and ones.asnumpy().tolist() == (1 - np.eye(5)).tolist()


def test_subgraph_of_some_vertices():
    new, small, old, small_old = contrib.dgl_subgraph(complete(), ids(0, 2, 3), ids(1, 2), return_mapping=True)
    assert parts(new) == [[0, 1, 2, 3, 4, 5], [1, 2, 0, 2, 0, 1], [0, 2, 4, 6]]
    assert parts(old) == [[2, 3, 9, 11, 13, 15], [1, 2, 0, 2, 0, 1], [0, 2, 4, 6]]
    assert parts(small) == [[0, 1], [1, 0], [0, 1, 2]] and parts(small_old)[0] == [6, 10]


def test_neighbours_are_the_ones_mxnet_samples():
    mx.random.seed(7)
    vertices, edges, layers = contrib.dgl_csr_neighbor_uniform_sample(
        complete(), ids(0, 4), num_hops=2, num_neighbor=2, max_num_vertices=5
    )
    assert vertices.asnumpy()[[0, 1, 2, 3, 5]].tolist() == [0, 1, 2, 4, 4]
    assert parts(edges) == [[1, 2, 5, 6, 9, 10, 17, 18], [1, 2, 0, 2, 0, 1, 0, 1], [0, 2, 4, 6, 8, 8]]
    assert layers.asnumpy()[:4].tolist() == [0, 1, 1, 0]


def test_neighbours_by_weight_are_the_ones_mxnet_samples():
    mx.random.seed(2)
    weights = mx.nd.array([0.9, 0.8, 0.2, 0.4, 0.1])
    sample = contrib.dgl_csr_neighbor_uniform_sample
    for seeds in (ids(0, 4), ids(3)):
        sample(complete(), seeds, num_neighbor=1, max_num_vertices=5)  # two draws before, as when this was recorded
    vertices, edges, chances, layers = contrib.dgl_csr_neighbor_non_uniform_sample(
        complete(), weights, ids(0, 4), num_hops=2, num_neighbor=2, max_num_vertices=5
    )
    assert vertices.asnumpy()[[0, 1, 2, 3, 5]].tolist() == [0, 1, 3, 4, 4]
    assert parts(edges)[:2] == [[1, 3, 5, 7, 13, 14, 17, 18], [1, 3, 0, 3, 0, 1, 0, 1]]
    np.testing.assert_allclose(chances.asnumpy()[:4], [0.9, 0.8, 0.4, 0.1])
    assert layers.asnumpy()[:4].tolist() == [0, 1, 1, 0]


def test_a_sample_without_its_empty_rows():
    mx.random.seed(7)
    vertices, edges, _ = contrib.dgl_csr_neighbor_uniform_sample(
        complete(), ids(0, 4), num_hops=2, num_neighbor=2, max_num_vertices=5
    )
    small = contrib.dgl_graph_compact(edges, vertices, graph_sizes=4, return_mapping=False)
    assert small.shape == (4, 4)
    assert parts(small) == [list(range(8)), [1, 2, 0, 2, 0, 1, 0, 1], [0, 2, 4, 6, 8]]


def test_what_is_not_such_a_graph_is_refused():
    with pytest.raises(mx.MXNetError, match="sorted"):
        contrib.dgl_subgraph(complete(), ids(2, 0), return_mapping=False)
    with pytest.raises(mx.MXNetError, match="not in a graph of 5 vertices"):
        contrib.dgl_csr_neighbor_uniform_sample(complete(), ids(9))
    with pytest.raises(mx.MXNetError, match="storage default"):
        contrib.edge_id(mx.nd.ones((2, 2)), ids(0), ids(1))
