"""Expressions and small programs on sparse arrays; MXNet's answers to them are in tests/data/sparse.json."""

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd

LINES = """
csr
rows
csr.data
csr.indices
csr.indptr
rows.data
rows.indices
csr[0]
csr[-1]
csr[1:3]
csr[:2]
csr + csr
csr - csr
csr * 2
2 * csr
csr / 2
csr + 1
csr + dense
csr * dense
dense * csr
csr * csr
csr == csr
csr > 0
csr > -1
-csr
csr ** 2
csr.T
csr.sum()
csr.sum(axis=0)
csr.sum(axis=1)
csr.mean(axis=1, keepdims=True)
csr.norm()
csr.abs()
csr.square()
csr.exp()
csr.astype('float64')
csr.copy()
csr.tostype('default')
csr.slice(begin=(0, 1), end=(2, 3))
nd.concat(csr, csr, dim=0)
nd.concat(csr, csr, dim=1)
nd.take(csr, nd.array([2, 0]))
nd.take(csr, nd.array([2, 0, 2, 7, -1]))
nd.take(csr, nd.array([2, 0, 2, 7, -1]), mode='wrap')
nd.take(csr, nd.array([2, 0]), axis=1)
csr.norm(axis=0)
csr.norm(axis=1, keepdims=True)
csr.norm(ord=1)
csr.norm(ord=1, axis=-1)
rows.norm(keepdims=True)
nd.broadcast_mul(csr, nd.array([2]))
nd.broadcast_mul(csr, nd.array([[1], [2], [3]]))
nd.broadcast_mul(csr, dense + 1)
nd._internal._maximum(csr, -csr)
nd._internal._hypot(csr, csr)
nd.dot(left.T, csr)
nd.dot(left, csr, transpose_a=True)
nd.dot(left.T, csr, forward_stype='default')
nd.dot(right, csr, transpose_a=True, transpose_b=True)
nd.dot(csr, left.T, transpose_a=True, transpose_b=True)
nd.dot(csr, right, forward_stype='csr')
nd.dot(dense, csr, transpose_b=True, forward_stype='row_sparse')
nd.broadcast_mul(csr, nd.array([1, 2, 3, 4]))
nd.broadcast_div(csr, nd.array([1, 2, 3, 4]))
nd.clip(csr, 0, 2)
nd.zeros_like(csr)
nd.ones_like(csr)
nd.dot(csr, right)
nd.dot(csr, left, transpose_a=True)
nd.dot(csr, dense, transpose_b=True)
nd.dot(dense, csr, transpose_b=True)
nd.dot(csr, right.tostype('row_sparse'))
nd.dot(csr, left.tostype('row_sparse'), transpose_a=True)
nd.dot(csr, left, transpose_a=True, forward_stype='default')
nd.sparse.csr_matrix(([1, 2, 3], [1, 0, 2], [0, 1, 1, 3]))
nd.sparse.csr_matrix(([1, 2], ([0, 1], [1, 0])), shape=(2, 2))
nd.sparse.csr_matrix(np.array([[0, 1], [2, 0]], dtype='int32'))
nd.sparse.csr_matrix((2, 3))
nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [0, 3]))
nd.sparse.row_sparse_array((3, 2))
nd.sparse.zeros('csr', (2, 2))
nd.zeros((2, 3), stype='row_sparse')
nd.array(csr)
nd.array(csr.asscipy())
nd.cast_storage(dense, stype='csr')
nd.cast_storage(dense, stype='row_sparse')
rows + rows
rows - rows
rows * rows
rows / rows
rows + other
rows * other
rows + tall
rows * tall
tall * rows
rows * 2
rows / 4
rows - 1
rows.sqrt()
rows.norm()
rows.sum(axis=0)
nd.sparse.retain(rows, nd.array([0, 1]))
nd.sparse.retain(rows, nd.array([1, 2, 3], dtype='int32'))
nd.sparse.retain(nd.sparse.zeros('row_sparse', (4, 2)), nd.array([1, 2]))
nd.add_n(rows, other, rows)
nd.maximum(rows, other)
nd._internal._square_sum(rows, axis=1, keepdims=True)
nd._internal._square_sum(rows, axis=1)
nd.sparse.add(rows, other)
nd.sparse.subtract(rows, other)
nd.sparse.multiply(rows, other)
nd.sparse.divide(rows, tall)
nd.Embedding(nd.array([0, 2]), rows, input_dim=4, output_dim=2)
nd.sgd_update(tall, rows, lr=0.5, wd=0.5, out=tall)
nd.sgd_update(tall, rows, lr=0.5, wd=0.5, lazy_update=False, out=tall)
csr[0, 1]
csr[::2]
csr.reshape((12,))
csr.size
csr.tostype('row_sparse')
rows.tostype('csr')
rows[0]
rows[1:2]
nd.ones((2, 2, 2)).tostype('csr')
nd.zeros((2, 2), stype='dense')
nd.sparse.array([[1]])
nd.sparse.row_sparse_array(csr)
nd.sparse.csr_matrix(([1, 2, 3], [1, 0, 5], [0, 1, 1, 3]), shape=(3, 3)).check_format()
nd.sparse.csr_matrix(([1, 2, 3], [1, 2, 0], [0, 1, 1, 2]), shape=(3, 3)).check_format()
nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [1, 5]), shape=(3, 2)).check_format()
""".strip().splitlines()


def names():
    """What the expressions may use, made anew for each."""
    dense = nd.array([[1, 0, 2, 0], [0, 0, 0, 0], [0, -3, 0, 4]])
    tall = nd.array([[1, 2], [3, 4], [5, 6], [7, 8]])
    rows = nd.sparse.row_sparse_array(([[1, 2], [3, 4]], [0, 2]), shape=(4, 2))
    other = nd.sparse.row_sparse_array(([[5, 6], [-3, 8]], [1, 2]), shape=(4, 2))
    return {
        "nd": nd, "np": np, "dense": dense, "csr": dense.tostype("csr"), "tall": tall, "rows": rows, "other": other,
        "right": tall, "left": nd.array([[1, 2], [3, 4], [5, 6]]),
    }  # fmt: skip


def described(value):
    """An array as plain data: its storage, type, values, and the rows it keeps."""
    if not hasattr(value, "stype"):
        return None if value is None else str(value)
    kept = value.indices.asnumpy().tolist() if value.stype == "row_sparse" else []
    values = np.where(np.isnan(value.asnumpy().astype("float64")), 12345.0, value.asnumpy())
    return [value.stype, np.dtype(value.dtype).name, values.tolist(), kept]


def evaluate(line):
    """The described value of an expression, or the class of the error it raises."""
    try:
        return described(eval(line, names()))
    except Exception as error:
        return type(error).__name__


# ---------------------------------------------------------------------- programs
def gradient_of_product():
    scope = names()
    weight = scope["tall"]
    weight.attach_grad(stype="row_sparse")
    with autograd.record():
        loss = (nd.dot(scope["csr"], weight) ** 2).sum()
    loss.backward()
    return [weight.grad, loss]


def gradient_of_embedding():
    weight = names()["tall"]
    weight.attach_grad(stype="row_sparse")
    with autograd.record():
        loss = (nd.Embedding(nd.array([3, 1, 3]), weight, input_dim=4, output_dim=2, sparse_grad=True) ** 2).sum()
    loss.backward()
    return [weight.grad]


def gradient_of_sparse_variable():
    rows = names()["rows"]
    rows.attach_grad()
    with autograd.record():
        result = rows * 3
    result.backward()
    return [rows.grad, result]


def trained_embedding(optimizer):
    """Three steps of a Trainer on an embedding with row-sparse gradients; rows that are not used stay."""
    net = gluon.nn.Embedding(5, 2, sparse_grad=True)
    net.initialize(mx.init.Constant(0.5))
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.1, "wd": 0.1})
    for place in ([0, 1], [1, 3], [3, 3]):
        with autograd.record():
            loss = (net(nd.array(place)) ** 2).sum()
        loss.backward()
        trainer.step(1)
    return [net.weight.data(), net.weight.grad()]


def trained_sgd():
    return trained_embedding("sgd")


def trained_adam():
    return trained_embedding("adam")


def trained_ftrl():
    return trained_embedding("ftrl")


def trained_sparse_embedding():
    net = gluon.contrib.nn.SparseEmbedding(5, 2)
    net.initialize(mx.init.Constant(0.5))
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    for place in ([0, 1], [1, 3]):
        with autograd.record():
            loss = (net(nd.array(place)) ** 2).sum()
        loss.backward()
        trainer.step(1)
    return [net.weight.row_sparse_data(nd.arange(5)), net.weight.grad()]


def store_of_rows():
    store = mx.kv.create("local")
    scope = names()
    store.init("w", scope["tall"].tostype("row_sparse"))
    out = nd.sparse.zeros("row_sparse", (4, 2))
    store.row_sparse_pull("w", out=out, row_ids=nd.array([3, 1, 1]))
    store.push("w", [scope["rows"], scope["other"]])
    after = nd.sparse.zeros("row_sparse", (4, 2))
    store.row_sparse_pull("w", out=after, row_ids=nd.arange(4))
    return [out, after]


def linear_module():
    """A linear model on csr data, trained by Module with a row-sparse weight gradient."""
    data = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable("weight", shape=(4, 2), init=mx.init.Constant(0.1))
    out = mx.sym.SoftmaxOutput(mx.sym.dot(data, weight), mx.sym.Variable("label"), name="softmax")
    scope = names()
    executor = out.simple_bind(mx.cpu(), data=(3, 4), label=(3,), grad_req={"weight": "write"})
    executor.arg_dict["data"][:] = scope["csr"]
    executor.arg_dict["weight"][:] = 0.1
    executor.arg_dict["label"][:] = nd.array([0, 1, 0])
    executor.forward(is_train=True)
    executor.backward()
    return [executor.outputs[0], executor.grad_dict["weight"]]


PROGRAMS = [
    gradient_of_product, gradient_of_embedding, gradient_of_sparse_variable, trained_sgd, trained_adam,
    trained_ftrl, trained_sparse_embedding, store_of_rows, linear_module,
]  # fmt: skip
