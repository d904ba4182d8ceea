"""Graphs of which only some shapes are known; MXNet's deductions about the rest are recorded."""


def _v(mx, *names):
    return [mx.sym.var(n) for n in names]


def addition(mx):
    a, b = _v(mx, "a", "b")
    return a + b


def dense(mx):
    return mx.sym.FullyConnected(mx.sym.var("a"), num_hidden=3, name="fc") + mx.sym.var("b")


def convolution(mx):
    hidden = mx.sym.Convolution(mx.sym.var("a"), num_filter=21, kernel=(3, 3), pad=(1, 1), name="c")
    return hidden + mx.sym.var("b")


def joined(mx):
    a, b, c = _v(mx, "a", "b", "c")
    return mx.sym.concat(a, b, dim=1) + c


def parts(mx):
    return mx.sym.SliceChannel(mx.sym.var("a"), num_outputs=10, axis=1, squeeze_axis=True)[1] + mx.sym.var("b")


def reshaped(mx):
    return mx.sym.Reshape(mx.sym.var("a"), shape=(-1, 5)) + mx.sym.var("b")


def transposed(mx):
    return mx.sym.transpose(mx.sym.var("a"), axes=(1, 0)) + mx.sym.var("b")


def pooled(mx):
    return mx.sym.Pooling(mx.sym.var("a"), kernel=(2, 2))


def summed(mx):
    return mx.sym.sum(mx.sym.var("a"), axis=0)


def open_zeros(mx):
    return mx.sym.zeros((0, 3)) + mx.sym.var("a")


def products(mx):
    return mx.sym.dot(*_v(mx, "a", "b"))


def batch_products(mx):
    return mx.sym.batch_dot(*_v(mx, "a", "b"))


def broadcast(mx):
    return mx.sym.broadcast_add(*_v(mx, "a", "b"))


def chosen(mx):
    return mx.sym.where(*_v(mx, "a", "b", "c"))


def softmax_label(mx):
    return mx.sym.SoftmaxOutput(mx.sym.var("a"), name="s")


CASES = {
    "nothing known": (addition, {}),
    "half known": (addition, {"a": (2, 0)}),
    "two halves": (addition, {"a": (2, 0), "b": (0, 3)}),
    "dense, batch from the other side": (dense, {"a": (0, 10), "b": (5, 0)}),
    "convolution, backwards": (convolution, {"a": (0, 10, 0, 0), "b": (5, 21, 32, 32)}),
    "concat, backwards": (joined, {"a": (0, 10), "b": (0, 5), "c": (2, 0)}),
    "split, backwards": (parts, {"a": (0, 10), "b": (5,)}),
    "reshape, backwards": (reshaped, {"a": (0, 2), "b": (4, 5)}),
    "transpose, backwards": (transposed, {"a": (0, 3), "b": (0, 7)}),
    "pooling of an open batch": (pooled, {"a": (0, 3, 4, 4)}),
    "sum over an open axis": (summed, {"a": (0, 3)}),
    "zeros of open size": (open_zeros, {"a": (2, 3)}),
    "dot of an open batch": (products, {"a": (0, 3, 4), "b": (4, 5)}),
    "dot of nothing": (products, {"a": (2, 3)}),
    "batch_dot of open batches": (batch_products, {"a": (0, 3, 4), "b": (0, 4, 5)}),
    "broadcast of open sizes": (broadcast, {"a": (0, 3), "b": (1, 3)}),
    "where with a known condition": (chosen, {"a": (2, 2), "b": (2, 2)}),
    "label from the scores": (softmax_label, {"a": (4, 10)}),
}
