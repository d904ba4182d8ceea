"""Bound graphs of sparse arrays; MXNet's outputs and gradients are in tests/data/sparse_graphs.json.

`x` is a csr batch, `w` and `v` are row-sparse tables that store some of their rows, the others are dense. A case is a
symbol and the variables whose gradients are wanted.
"""

import numpy as np

import mxnet as mx

S = mx.sym
ROWS, COLUMNS = 5, 12


def _matrix(shape, seed, rows=None):
    random = np.random.RandomState(seed)
    values = random.randint(-4, 5, shape).astype("float32") / 2
    if rows is not None:
        values[[i for i in range(shape[0]) if i not in rows]] = 0
    return values


def _batch():
    values = _matrix((ROWS, COLUMNS), 0) * (np.random.RandomState(1).rand(ROWS, COLUMNS) < 0.3)
    values[2] = 0
    return mx.nd.array(values).tostype("csr")


def _rows(shape, seed, stored=(1, 2, 5, 6, 9)):
    data = _matrix((len(stored), *shape[1:]), seed)
    return mx.nd.sparse.row_sparse_array((data, list(stored)), shape=shape)


def arrays():
    """The arrays that variables are bound to, by name."""
    return {
        "x": _batch(),
        "w": _rows((COLUMNS, 3), 2),
        "v": _rows((COLUMNS, 2), 3, np.unique(_batch().indices.asnumpy())),  # those that MXNet's `_square_sum` needs
        "d": mx.nd.array(_matrix((COLUMNS, 3), 4)),
        "left": mx.nd.array(_matrix((4, ROWS), 5)),
        "batch": mx.nd.array(_matrix((ROWS, 3), 6)),
        "row": mx.nd.array(_matrix((1, COLUMNS), 7) + 3),
        "column": mx.nd.array(_matrix((ROWS, 1), 8) + 3),
        "full": mx.nd.array(_matrix((ROWS, COLUMNS), 10)),
        "ids": mx.nd.array([[1, 5, 3], [9, 1, 11]]),
        "label": mx.nd.array([[1], [0], [1], [1], [0]]),
    }


def _machine(x, w, v):
    pairs = S.sum(S.square(S.dot(x, v)), axis=1, keepdims=True)
    alone = S.dot(x.square(), S._internal._square_sum(v, axis=1, keepdims=True))
    linear = S.sum(S.dot(x, w), axis=1, keepdims=True)
    return S.LogisticRegressionOutput(linear + 0.5 * pairs - 0.5 * alone, S.var("label"))


def _cases():
    x, w, v = S.var("x", stype="csr"), S.var("w", stype="row_sparse"), S.var("v", stype="row_sparse")
    d, row, column = S.var("d"), S.var("row"), S.var("column")
    return {
        "csr times rows": (S.dot(x, w), "w"),
        "csr times dense": (S.dot(x, d), "d"),
        "csr times a transposed matrix": (S.dot(x, S.transpose(d), transpose_b=True), "d"),
        "transposed csr times dense": (S.dot(x, S.var("batch"), transpose_a=True), "batch"),
        "dense times csr": (S.dot(S.var("left"), x), "left"),
        "dense times transposed csr": (S.dot(S.transpose(d), x, transpose_b=True), "d"),
        "transposed dense times csr": (S.dot(S.var("batch"), x, transpose_a=True), "batch"),
        "two uses of a table": (S.dot(x, w) + S.dot(S.square(x), w), "w"),
        "squares of a table": (S.dot(x, S.square(w)), "w"),
        "a scaled table": (S.dot(x, w * 2), "w"),
        "a table used twice": (S.Group([S.dot(x, w), S.sum(w * w)]), "w"),
        "square and sum": (S.sum(S.square(x), axis=1), ""),
        "sums of columns": (S.sum(x, axis=0, keepdims=True), ""),
        "sum of everything": (S.sum(x), ""),
        "means": (S.mean(x, axis=1, keepdims=True), ""),
        "a row of factors": (S.dot(S.broadcast_mul(x, row), d), "row d"),
        "a column of factors": (S.dot(S.broadcast_mul(x, column), w), "w"),  # MXNet leaves that of `column` unset
        "divided by a row": (S.sum(S.broadcast_div(x, row), axis=1), "row"),
        "elementwise product": (S.dot(x * S.var("full"), d), "full d"),
        "a fallback": (S.dot(S.exp(x), d), "d"),
        "sparse and dense uses": (S.dot(x, d) + S.dot(S.relu(x - 0.5), d), "d"),
        "embedding": (S.Embedding(S.var("ids"), w, input_dim=COLUMNS, output_dim=3, sparse_grad=True), "w"),
        "factorization machine": (_machine(x, w, v), "w v"),
    }  # fmt: skip


CASES = _cases()


def answers(name):
    """What a case gives: outputs, then gradients by name, as nested lists; of row-sparse ones with their rows."""
    symbol, wanted = CASES[name]
    given = {key: array for key, array in arrays().items() if key in symbol.list_arguments()}
    gradients = {
        key: mx.nd.sparse.zeros("row_sparse", array.shape) if array.stype == "row_sparse" else mx.nd.zeros(array.shape)
        for key, array in given.items()
        if key in wanted.split()
    }
    executor = symbol.bind(mx.cpu(), given, gradients, {key: "write" if key in gradients else "null" for key in given})
    outputs = executor.forward(is_train=bool(gradients))
    if gradients:
        seeds = [mx.nd.array(_matrix(o.shape, 20 + i)) for i, o in enumerate(outputs)]
        executor.backward(None if "label" in given else seeds)
    return {
        "outputs": [_described(o) for o in outputs],
        **{key: _described(gradients[key]) for key in sorted(gradients)},
    }


def _described(array):
    stored = {} if array.stype != "row_sparse" else {"rows": array.indices.asnumpy().tolist()}
    return {"stype": array.stype, "values": array.asnumpy().tolist(), **stored}
