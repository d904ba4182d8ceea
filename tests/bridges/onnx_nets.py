"""Networks to send through ONNX, and the comparison with ONNX Runtime."""

import numpy as np
import onnxruntime

import mxnet as mx
from mxnet import gluon, nd
from mxnet.gluon import nn


class Tagger(gluon.HybridBlock):
    """Embedded words through recurrent layers to a label for each."""

    def __init__(self, layer):
        super().__init__()
        self.embedding, self.layer, self.dense = nn.Embedding(20, 6), layer, nn.Dense(3, flatten=False)

    def hybrid_forward(self, F, x):
        return self.dense(self.layer(self.embedding(x)))


class EncoderCell(gluon.HybridBlock):
    """Self-attention and a feed-forward part, each with a shortcut and a normalization."""

    def __init__(self, units, heads):
        super().__init__()
        self.units, self.heads = units, heads
        self.qkv, self.out = nn.Dense(3 * units, flatten=False), nn.Dense(units, flatten=False)
        self.first, self.second = nn.LayerNorm(), nn.LayerNorm()
        self.wide, self.gelu, self.narrow = (
            nn.Dense(4 * units, flatten=False),
            nn.GELU(),
            nn.Dense(units, flatten=False),
        )
        self.dropout = nn.Dropout(0.1)

    def hybrid_forward(self, F, x, mask):
        def by_head(t):
            t = F.transpose(F.reshape(t, shape=(0, 0, self.heads, -1)), axes=(0, 2, 1, 3))
            return F.reshape(t, shape=(-3, 0, 0))

        query, key, value = (by_head(t) for t in F.split(self.qkv(x), num_outputs=3, axis=-1))
        scores = F.batch_dot(query, key, transpose_b=True) / float(np.sqrt(self.units // self.heads))
        scores = F.broadcast_add(F.reshape(scores, shape=(-4, -1, self.heads, 0, 0)), (mask - 1) * 1e4)
        weights = self.dropout(F.softmax(scores, axis=-1))
        mixed = F.batch_dot(F.reshape(weights, shape=(-3, 0, 0)), value)
        mixed = F.transpose(F.reshape(mixed, shape=(-4, -1, self.heads, 0, 0)), axes=(0, 2, 1, 3))
        x = self.first(x + self.out(F.reshape(mixed, shape=(0, 0, -3))))
        return self.second(x + self.narrow(self.gelu(self.wide(x))))


class Encoder(gluon.HybridBlock):
    """A small BERT: words, segments and positions, valid lengths, two cells, a pooled output."""

    def __init__(self, length=12, units=16):
        super().__init__()
        self.length = length
        self.words, self.segments = nn.Embedding(20, units), nn.Embedding(2, units)
        with self.name_scope():
            self.position = self.params.get("position", shape=(1, length, units))
        self.one, self.two = EncoderCell(units, 4), EncoderCell(units, 4)
        self.pooler = nn.Dense(units, activation="tanh", flatten=False)

    def hybrid_forward(self, F, words, segments, lengths, position):
        steps = F.reshape(F.arange(self.length), shape=(1, -1))
        mask = F.broadcast_lesser(steps, F.reshape(lengths, shape=(-1, 1)))
        mask = F.expand_dims(F.expand_dims(mask, axis=1), axis=1)
        x = F.broadcast_add(self.words(words) + self.segments(segments), position)
        x = self.two(self.one(x, mask), mask)
        return x, self.pooler(F.reshape(F.slice_axis(x, axis=1, begin=0, end=1), shape=(0, -1)))


def cnn():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, padding=1), nn.BatchNorm(scale=False), nn.LeakyReLU(0.1), nn.MaxPool2D(ceil_mode=True))
    net.add(nn.Conv2DTranspose(4, 2), nn.PReLU(), nn.GlobalAvgPool2D(), nn.Dense(3))
    return net


def graph_of(net, *inputs):
    """(symbol, parameters) of a network after a call with `inputs`."""
    net.hybridize()
    net(*inputs)
    return net._cached_graph[1], {p.name: p._reduce() for p in net.collect_params().values()}


def exported(net, inputs, path, axis=0):
    """The network in a file, its batch axis open."""
    shapes = [x.shape for x in inputs]
    free = [tuple("batch" if i == min(axis, len(s) - 1) else n for i, n in enumerate(s)) for s in shapes]
    types = [x.dtype for x in inputs]
    return mx.onnx.export_model(*graph_of(net, *inputs), shapes, types, str(path), False, True, free)


def assert_same_in_onnx_runtime(path, net, *inputs):
    """ONNX Runtime computes what the network computes, to 1e-4 of the largest value."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    feed = {i.name: x.asnumpy() for i, x in zip(session.get_inputs(), inputs, strict=True)}
    wanted = net(*inputs)
    wanted = wanted if isinstance(wanted, (list, tuple)) else [wanted]
    for want, got in zip(wanted, session.run(None, feed), strict=True):
        want = want.asnumpy()
        assert want.shape == got.shape
        largest = np.abs(want).max()
        assert largest > 0
        assert np.abs(want - got).max() <= 1e-4 * largest


def words(batch, length=12):
    return nd.array(np.random.default_rng(batch).integers(0, 20, (batch, length)))
