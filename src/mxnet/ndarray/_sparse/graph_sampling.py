"""Graph sampling for graph neural networks: graphs are CSR adjacency matrices whose elements are edge numbers.

Row `i` lists the neighbours of vertex `i`; the element for a neighbour is the number of the edge. Everything runs on
the host, as in MXNet; samples are those that MXNet draws with one thread.
"""

import functools
import logging

import numpy as np
import torch

from ..._core import samplers
from ..._core.engines import Bank
from ..._core.errors import MXNetError
from ..._core.streams import stream
from ..._device.errors import tells_exhaustion
from ..functions import array
from .array import CSRNDArray

__all__ = [
    "dgl_adjacency", "dgl_csr_neighbor_non_uniform_sample", "dgl_csr_neighbor_uniform_sample", "dgl_graph_compact",
    "dgl_subgraph", "edge_id",
]  # fmt: skip
_LIMIT = (
    "The sampling is truncated because we have reached the max number of vertices\n"
    "Please use a smaller number of seeds or a small neighborhood"
)


# ---------------------------------------------------------------------- what is given, what is returned
def _need(condition, name, message):
    if not condition:
        raise MXNetError(f"Error in operator _contrib_{name}: {message}")


def _parts(name, graph, numbered=True):
    """The data, columns and row starts of a graph as NumPy arrays."""
    _need(isinstance(graph, CSRNDArray), name, f"a graph is a csr array, got storage {graph.stype}")
    _need(not numbered or graph.dtype is np.int64, name, f"edge numbers must be int64, got {np.dtype(graph.dtype)}")
    return tuple(p.numpy(force=True) for p in graph._parts)


def _vector(name, what, given, dtype="int64"):
    _need(given.ndim == 1, name, f"{what} must be a vector, got shape {given.shape}")
    _need(np.dtype(given.dtype) == dtype, name, f"{what} must be {dtype}, got {np.dtype(given.dtype)}")
    return given.asnumpy()


def _matrix(parts, shape, like):
    device = like._parts[0].device
    return CSRNDArray._made([torch.from_numpy(p).to(device) for p in parts], shape, like._ctx)


def _dense(values, like):
    return array(values, like._ctx, values.dtype)


def _write_out(results, out):
    if out is not None:
        for target, result in zip(out if isinstance(out, (list, tuple)) else [out], results, strict=True):
            result.copyto(target)
        return out
    return results[0] if len(results) == 1 else results


def _counted(name, arrays, num_args):
    _need(num_args in (None, len(arrays)), name, f"num_args={num_args}, but {len(arrays)} arrays were given")


def _starts(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _elements(starts, rows):
    """For every element of the given rows, in order: which of the rows it is in, and its position in the matrix."""
    counts = starts[rows + 1] - starts[rows]
    owner = np.repeat(np.arange(len(rows)), counts)
    return owner, np.arange(len(owner)) + np.repeat(starts[rows] - _starts(counts)[:-1], counts)


# ---------------------------------------------------------------------- lookups
def edge_id(data, u, v, out=None, name=None):
    """The number of the edge from each `u` to its `v`, -1 where there is none.

    Parameters
    ----------
    data : CSRNDArray
        The graph: the values are the numbers of the edges.
    u : NDArray
        The first vertex of each edge.
    v : NDArray
        The second vertex of each edge.
    out : CSRNDArray, optional
        Where to write the result.
    name : str, optional
        Ignored here.

    Returns
    -------
    NDArray
        The numbers of the edges, -1 where there is none.

    Examples
    --------
    >>> graph = mx.nd.sparse.csr_matrix(([1, 2], [1, 0], [0, 1, 2]), shape=(2, 2))
    >>> mx.nd.contrib.edge_id(graph, mx.nd.array([0, 0]), mx.nd.array([1, 0])).asnumpy()
    array([ 1., -1.], dtype=float32)
    """
    edges, columns, starts = _parts("edge_id", data, numbered=False)
    _need(u.ndim == 1 and u.shape == v.shape, "edge_id", f"u and v must be vectors alike, got {u.shape} and {v.shape}")
    rows, wanted = u.asnumpy().astype(np.int64), v.asnumpy().astype(np.int64)
    _need(((rows >= 0) & (rows < len(starts) - 1)).all(), "edge_id", f"u must be below {len(starts) - 1}")
    owner, position = _elements(starts, rows)
    hit = np.flatnonzero(columns[position] == wanted[owner])[::-1]  # reversed: of several edges the first one wins
    found = np.full(len(rows), -1, edges.dtype)
    found[owner[hit]] = edges[position[hit]]
    return _write_out([_dense(found, data)], out)


def dgl_adjacency(data, out=None, name=None):
    """The adjacency matrix in float32: ones in place of the edge numbers.

    Parameters
    ----------
    data : CSRNDArray
        The graph: the values are the numbers of the edges.
    out : CSRNDArray, optional
        Where to write the result.
    name : str, optional
        Ignored here.

    Returns
    -------
    CSRNDArray
        Ones where the graph has edges.

    Examples
    --------
    >>> graph = mx.nd.sparse.csr_matrix(([1, 2], [1, 0], [0, 1, 2]), shape=(2, 2), dtype="int64")
    >>> mx.nd.contrib.dgl_adjacency(graph).asnumpy()
    array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    edges, columns, starts = _parts("dgl_adjacency", data)
    parts = np.ones(len(edges), np.float32), columns.copy(), starts.copy()
    return _write_out([_matrix(parts, data.shape, data)], out)


# ---------------------------------------------------------------------- parts of a graph
def dgl_subgraph(graph, *data, num_args=None, return_mapping=None, out=None, name=None):
    """The subgraph induced by each list of vertices, with new edge numbers.

    With `return_mapping`, a second matrix for each has the old edge numbers.

    Parameters
    ----------
    graph : CSRNDArray
        The graph: the values are the numbers of the edges, int64.
    *data : NDArray
        Lists of vertices, int64; each makes a subgraph.
    num_args : int, optional
        The number of inputs, which is counted.
    return_mapping : bool, optional
        Whether the numbers of the edges in the original graph are returned as well.
    out : CSRNDArray, optional
        Where to write the result.
    name : str, optional
        Ignored here.

    Returns
    -------
    list of CSRNDArrays
        The subgraphs, then with `return_mapping` those with the original edge numbers.

    Examples
    --------
    >>> graph = mx.nd.sparse.csr_matrix(([1, 2], [1, 0], [0, 1, 2]), shape=(2, 2), dtype="int64")
    >>> vertices = mx.nd.array([0, 1], dtype="int64")
    >>> new, original = mx.nd.contrib.dgl_subgraph(graph, vertices, num_args=2, return_mapping=True)
    >>> new.asnumpy(), original.asnumpy()
    (array([[0, 0],
           [1, 0]]), array([[0, 1],
           [2, 0]]))
    """
    _counted("dgl_subgraph", (graph, *data), num_args)
    if return_mapping is None:
        raise MXNetError("Required parameter return_mapping of boolean is not presented, in operator dgl_subgraph")
    parts = _parts("dgl_subgraph", graph)
    found = [_induced(*parts, _vector("dgl_subgraph", "vertices", v)) for v in data]
    new = [(np.arange(len(edges)), columns, starts) for edges, columns, starts in found]
    matrices = new + ([(e, c.copy(), s.copy()) for e, c, s in found] if return_mapping else [])
    return _write_out([_matrix(p, (len(p[2]) - 1,) * 2, graph) for p in matrices], out)


def _induced(edges, columns, starts, vertices):
    _need((np.diff(vertices) >= 0).all(), "dgl_subgraph", "The input vertex list has to be sorted")
    inside = (vertices >= 0) & (vertices < len(starts) - 1)
    _need(
        inside.all(), "dgl_subgraph", f"vertices {vertices[~inside]} are not in a graph of {len(starts) - 1} vertices"
    )
    owner, position = _elements(starts, vertices)
    new = np.searchsorted(vertices, columns[position], side="right") - 1
    selected = (new >= 0) & (vertices[np.maximum(new, 0)] == columns[position])
    counts = np.bincount(owner[selected], minlength=len(vertices))
    return edges[position[selected]], new[selected], _starts(counts)


def dgl_graph_compact(*graph_data, num_args=None, return_mapping=None, graph_sizes=None, out=None, name=None):
    """Sampled graphs without their empty rows and columns; the vertex lists that came with the samples follow them.

    With `return_mapping` a second matrix for each keeps the edges' old numbers.

    Parameters
    ----------
    *graph_data : CSRNDArray and NDArray
        Sampled graphs, then the vertex list of each.
    num_args : int, optional
        The number of inputs, which is counted.
    return_mapping : bool, optional
        Whether the numbers of the edges in the original graph are returned as well.
    graph_sizes : int or tuple of int, optional
        The number of vertices of each graph.
    out : CSRNDArray, optional
        Where to write the result.
    name : str, optional
        Ignored here.

    Returns
    -------
    list of CSRNDArrays
        The smaller graphs, then with `return_mapping` those with the original edge numbers.

    Examples
    --------
    >>> mx.random.seed(0)
    >>> graph = mx.nd.sparse.csr_matrix(([1, 2], [1, 0], [0, 1, 2]), shape=(2, 2), dtype="int64")
    >>> vertices, sample, distance = mx.nd.contrib.dgl_csr_neighbor_uniform_sample(
    ...     graph, mx.nd.array([0], dtype="int64"), num_args=2, num_hops=1, num_neighbor=1, max_num_vertices=3
    ... )
    >>> size = int(vertices[-1].asscalar())
    >>> mx.nd.contrib.dgl_graph_compact(
    ...     sample, vertices, num_args=2, return_mapping=False, graph_sizes=size
    ... ).shape
    (2, 2)
    """
    op = "dgl_graph_compact"
    _counted(op, graph_data, num_args)
    _need(graph_data and len(graph_data) % 2 == 0, op, "as many vertex lists as graphs are needed")
    _need(return_mapping is not None and graph_sizes is not None, op, "return_mapping and graph_sizes are required")
    number = len(graph_data) // 2
    sizes = np.asarray(graph_sizes, np.int64).reshape(-1)
    _need(len(sizes) == number, op, f"{number} graphs need as many graph_sizes, got {graph_sizes}")
    found = [_compact(*given) for given in zip(graph_data[:number], graph_data[number:], sizes, strict=True)]
    new = [(np.arange(len(edges)), columns, starts) for edges, columns, starts in found]
    old = [tuple(p.copy() for p in parts) for parts in found] if return_mapping else []
    return _write_out([_matrix(p, (len(p[2]) - 1,) * 2, graph_data[0]) for p in new + old], out)


def _compact(graph, vertices, size):
    op = "dgl_graph_compact"
    edges, columns, starts = _parts(op, graph)
    listed = _vector(op, "vertices", vertices)
    _need(len(listed) == len(starts) and listed[-1] == size, op, f"the list of vertices does not end with {size}")
    selected = listed[:size]
    order = np.argsort(selected, kind="stable")
    position = np.minimum(np.searchsorted(selected[order], columns), max(size - 1, 0))
    _need((selected[order][position] == columns).all(), op, "an edge leads to a vertex that is not in the list")
    return edges, order[position], starts[: size + 1].copy()


# ---------------------------------------------------------------------- samples
def dgl_csr_neighbor_uniform_sample(
    csr_matrix, *seed_arrays, num_args=None, num_hops=1, num_neighbor=2, max_num_vertices=100, out=None, name=None
):
    """Subgraphs around seeds: at most `num_neighbor` edges of each vertex, up to `num_hops` steps away.

    For each list of seeds the vertices (their number last), then for each the edges, then for each the steps.

    Parameters
    ----------
    csr_matrix : CSRNDArray
        The graph: the values are the numbers of the edges, int64.
    *seed_arrays : NDArray
        Lists of vertices to start from, int64.
    num_args : int, optional
        The number of inputs, which is counted.
    num_hops : int, default 1
        How many steps to go.
    num_neighbor : int, default 2
        The greatest number of edges to follow from a vertex.
    max_num_vertices : int, default 100
        The greatest number of vertices of a sample.
    out : CSRNDArray, optional
        Where to write the result.
    name : str, optional
        Ignored here.

    Returns
    -------
    list of arrays
        The vertices of each sample (their count comes last), the graphs, and how far each vertex is.

    Examples
    --------
    >>> mx.random.seed(0)
    >>> graph = mx.nd.sparse.csr_matrix(([1, 2], [1, 0], [0, 1, 2]), shape=(2, 2), dtype="int64")
    >>> vertices, sample, distance = mx.nd.contrib.dgl_csr_neighbor_uniform_sample(
    ...     graph, mx.nd.array([0], dtype="int64"), num_args=2, num_hops=1, num_neighbor=1, max_num_vertices=3
    ... )
    >>> vertices.asnumpy(), sample.shape
    (array([0, 1, 0, 2]), (3, 2))
    """
    op = "dgl_csr_neighbor_uniform_sample"
    _counted(op, (csr_matrix, *seed_arrays), num_args)
    choose = _uniform_choice(_seed(csr_matrix), num_neighbor)
    results = _samples(op, csr_matrix, seed_arrays, choose, num_hops, num_neighbor, max_num_vertices)
    return _write_out([r for group in results for r in group], out)


def dgl_csr_neighbor_non_uniform_sample(
    csr_matrix, probability, *seed_arrays, num_args=None, num_hops=1, num_neighbor=2, max_num_vertices=100, out=None,
    name=None,
):  # fmt: skip
    """The same with neighbours chosen by weight; the chosen vertices' weights come third, the steps fourth.

    Parameters
    ----------
    csr_matrix : CSRNDArray
        The graph: the values are the numbers of the edges, int64.
    probability : NDArray
        The weight of each vertex, float32.
    *seed_arrays : NDArray
        Lists of vertices to start from, int64.
    num_args : int, optional
        The number of inputs, which is counted.
    num_hops : int, default 1
        How many steps to go.
    num_neighbor : int, default 2
        The greatest number of edges to follow from a vertex.
    max_num_vertices : int, default 100
        The greatest number of vertices of a sample.
    out : CSRNDArray, optional
        Where to write the result.
    name : str, optional
        Ignored here.

    Returns
    -------
    list of arrays
        The vertices of each sample (their count comes last), the graphs, the weights of the vertices, and how far each
        is.

    Examples
    --------
    >>> mx.random.seed(0)
    >>> graph = mx.nd.sparse.csr_matrix(([1, 2], [1, 0], [0, 1, 2]), shape=(2, 2), dtype="int64")
    >>> vertices, sample, weights, distance = mx.nd.contrib.dgl_csr_neighbor_non_uniform_sample(
    ...     graph, mx.nd.array([0.5, 0.5]), mx.nd.array([0], dtype="int64"),
    ...     num_args=3, num_hops=1, num_neighbor=1, max_num_vertices=3,
    ... )
    >>> vertices.asnumpy(), sample.shape
    (array([0, 1, 0, 2]), (3, 2))
    """
    op = "dgl_csr_neighbor_non_uniform_sample"
    _counted(op, (csr_matrix, probability, *seed_arrays), num_args)
    weights = _vector(op, "probability", probability, "float32")
    choose = _weighted_choice(_seed(csr_matrix), num_neighbor, weights)
    ids, graphs, layers = _samples(op, csr_matrix, seed_arrays, choose, num_hops, num_neighbor, max_num_vertices)
    chances = [_dense(_padded(weights[i.asnumpy()[: int(i[-1].asscalar())]], max_num_vertices), i) for i in ids]
    return _write_out([*ids, *graphs, *chances, *layers], out)


def _seed(graph):
    rng = stream(graph._ctx.device_typeid, graph._ctx.device_id)
    with rng.lock:
        return int(rng.serial.take(0, 1, 1)[0, 0])


def _uniform_choice(seed, number):
    """A function that samples neighbours uniformly. Each vertex uses the same seed, so only their number matters."""

    @functools.cache
    def positions(length):
        excluding = length <= 2 * number  # then the neighbours to leave out are drawn
        bank, drawn = Bank(1, seed), set()
        while len(drawn) < (length - number if excluding else number):
            drawn.add(int(samplers.below(bank, np.array([length]))[0]))
        return np.array([i for i in range(length) if (i in drawn) != excluding])

    return lambda edges, columns: (columns[positions(len(columns))], edges[positions(len(columns))])


def _weighted_choice(seed, number, weights):
    unit = np.empty((1, number), np.float32)
    samplers.uniform(Bank(1, seed), 0, 1, unit)

    def choose(edges, columns):
        tree, positions = _SumTree(weights[columns]), []
        for draw in unit[0]:
            positions.append(tree.find(draw))
            tree.remove(positions[-1])
        return np.sort(columns[positions]), np.sort(edges[positions])

    return choose


class _SumTree:
    """A binary tree of partial sums of weights, in single precision, for weighted sampling without replacement."""

    def __init__(self, weights):
        self.depth = int(np.ceil(np.log2(len(weights))))
        self.leaves = 1 << self.depth
        self.sums = np.zeros(2 * self.leaves, np.float32)
        self.sums[self.leaves : self.leaves + len(weights)] = weights
        for i in range(self.leaves - 1, 0, -1):
            self.sums[i] = self.sums[2 * i] + self.sums[2 * i + 1]

    def find(self, unit):
        left, i = self.sums[1] * unit, 1
        while i < self.leaves:
            i *= 2
            if left >= self.sums[i]:
                left, i = left - self.sums[i], i + 1
        return i - self.leaves

    def remove(self, index):
        i = index + self.leaves
        weight = self.sums[i]
        while i:
            self.sums[i] -= weight
            i //= 2


def _samples(op, graph, seed_arrays, choose, hops, number, most):
    """(vertices, graphs, layers), each with one array for each list of seeds."""
    edges, columns, starts = _parts(op, graph)
    _need(graph.shape[0] == graph.shape[1], op, f"a graph is square, got shape {graph.shape}")
    results = []
    for array_of_seeds in seed_arrays:
        seeds = _vector(op, "seeds", array_of_seeds)
        _need(len(seeds) <= most, op, f"{len(seeds)} seeds are more than max_num_vertices={most}")
        inside = (seeds >= 0) & (seeds < graph.shape[0])
        _need(inside.all(), op, f"seeds {seeds[~inside]} are not in a graph of {graph.shape[0]} vertices")
        layers, taken = _breadth_first_sample(edges, columns, starts, seeds, choose, hops, number, most)
        results.append(_sampled(layers, taken, graph, most))
    return tuple(list(group) for group in zip(*results, strict=True))


def _breadth_first_sample(edges, columns, starts, seeds, choose, hops, number, most):
    """Breadth-first search: the distance of each vertex, and the sampled neighbours and edges of inner vertices."""
    layers, taken = dict.fromkeys(seeds.tolist(), 0), {}
    queue = list(layers)
    for vertex in queue:
        if len(layers) >= most:
            break
        if layers[vertex] >= hops:
            taken[vertex] = None
            continue
        row = slice(starts[vertex], starts[vertex + 1])
        near = columns[row], edges[row]
        taken[vertex] = near = choose(edges[row], columns[row]) if len(near[0]) > number else near
        for neighbour in near[0].tolist():
            if neighbour not in layers and len(layers) < most:
                layers[neighbour] = layers[vertex] + 1
                queue.append(neighbour)
    if any(layers[v] < hops for v in queue if v not in taken):
        logging.getLogger(__name__).warning(_LIMIT)
    return layers, {v: near for v, near in taken.items() if near is not None}


@tells_exhaustion
def _sampled(layers, taken, graph, most):
    vertices = sorted(layers)
    rows = [taken.get(v, ((), ())) for v in vertices]
    counts = _padded(np.array([len(near) for near, _ in rows], np.int64), most)
    columns, edges = (np.concatenate([np.asarray(r[k], np.int64) for r in rows] or [[]]) for k in (0, 1))
    ids = _padded(np.array(vertices, np.int64), most + 1)
    ids[-1] = len(vertices)
    steps = _padded(np.array([layers[v] for v in vertices], np.int64), most)
    parts = edges.astype(np.int64), columns.astype(np.int64), _starts(counts)
    return _dense(ids, graph), _matrix(parts, (most, graph.shape[1]), graph), _dense(steps, graph)


def _padded(values, length):
    return np.concatenate([values, np.zeros(length - len(values), values.dtype)])
