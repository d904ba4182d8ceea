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


def exported(net, inputs, path):
    """The network, which has its parameters already, in a file; sizes that follow the batch are open."""
    given, others = inputs(2), inputs(3)
    free = [
        tuple("batch" if n != m else n for n, m in zip(a.shape, b.shape, strict=True))
        for a, b in zip(given, others, strict=True)
    ]
    shapes, types = [x.shape for x in given], [x.dtype for x in given]
    return mx.onnx.export_model(net, None, shapes, types, str(path), False, True, free)


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


class InterleavedEncoder(gluon.HybridBlock):
    """GluonNLP's way of attention: one projection for queries, keys and values, time first, valid lengths."""

    def __init__(self, units=16, heads=4):
        super().__init__()
        self.heads = heads
        self.words, self.norm = nn.Embedding(20, units), nn.LayerNorm()
        self.qkv, self.out = nn.Dense(3 * units, flatten=False), nn.Dense(units, flatten=False)

    def hybrid_forward(self, F, words, lengths):
        x = F.transpose(self.words(words), axes=(1, 0, 2))
        qkv = self.qkv(x)
        scores = F.contrib.interleaved_matmul_selfatt_qk(qkv, heads=self.heads)
        steps = F.contrib.arange_like(words, axis=1)
        alive = F.broadcast_lesser(F.reshape(steps, shape=(1, -1)), F.reshape(lengths, shape=(-1, 1)))
        alive = F.repeat(F.expand_dims(alive, axis=1), repeats=self.heads, axis=0)
        scores = F.where(F.broadcast_like(alive, scores), scores, F.ones_like(scores) * -1e4)
        mixed = F.contrib.interleaved_matmul_selfatt_valatt(qkv, F.softmax(scores, axis=-1), heads=self.heads)
        x = self.norm(x + self.out(mixed))
        return F.SequenceMask(x, lengths, use_sequence_length=True)


class Detector(gluon.HybridBlock):
    """A small SSD: boxes around anchors, decoded and thinned out by either of MXNet's two ways."""

    def __init__(self, classes=2, modern=True):
        super().__init__()
        self.classes, self.modern = classes, modern
        self.body, self.where = nn.Conv2D(8, 3, padding=1, strides=2, activation="relu"), nn.Conv2D(8, 3, padding=1)
        self.what = nn.Conv2D(2 * (classes + 1), 3, padding=1)

    def hybrid_forward(self, F, x):
        x = self.body(x)
        flat = lambda y, n: F.reshape(F.transpose(y, axes=(0, 2, 3, 1)), shape=(0, -1, n))
        kinds = F.softmax(flat(self.what(x), self.classes + 1), axis=-1)
        places, anchors = flat(self.where(x), 4), F.contrib.MultiBoxPrior(x, sizes=(0.3, 0.6))
        if not self.modern:
            kinds, places = F.transpose(kinds, axes=(0, 2, 1)), F.reshape(places, shape=(0, -1))
            return F.contrib.MultiBoxDetection(kinds, places, anchors, nms_threshold=0.3, nms_topk=20)
        boxes = F.contrib.box_decode(places, anchors, 0.1, 0.1, 0.2, 0.2, format="corner")
        best = F.slice_axis(kinds, axis=-1, begin=1, end=None)
        rows = F.concat(F.argmax(best, axis=-1, keepdims=True), F.max(best, axis=-1, keepdims=True), boxes, dim=-1)
        return F.contrib.box_nms(rows, overlap_thresh=0.3, valid_thresh=0.05, topk=20, id_index=0)


class TextCNN(gluon.HybridBlock):
    """Kim's sentence classifier: convolutions of several widths, the largest answer of each."""

    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(20, 8), nn.Dense(2)
        self.convs = nn.HybridSequential()
        self.convs.add(*(nn.Conv1D(5, width, activation="relu") for width in (2, 3, 4)))

    def hybrid_forward(self, F, x):
        x = F.transpose(self.words(x), axes=(0, 2, 1))
        return self.out(F.concat(*(F.max(conv(x), axis=2) for conv in self.convs), dim=1))


class Decoder(gluon.HybridBlock):
    """One step of translation: a word and the states go in, scores of the next word and new states come out."""

    def __init__(self, layers=2, size=6):
        super().__init__()
        self.words, self.layer = nn.Embedding(20, 5), gluon.rnn.LSTM(size, layers, input_size=5)
        self.out = nn.Dense(20, flatten=False)

    def hybrid_forward(self, F, word, memory, state, cell):
        x = F.expand_dims(self.words(word), axis=0)
        x, (state, cell) = self.layer(x, [state, cell])
        scores = F.batch_dot(F.transpose(x, axes=(1, 0, 2)), memory, transpose_b=True)
        mixed = F.batch_dot(F.softmax(scores, axis=-1), memory)
        out = self.out(F.concat(F.transpose(x, axes=(1, 0, 2)), mixed, dim=-1))
        return F.reshape(out, shape=(-3, 0)), state, cell


def generator():
    """A DCGAN's generator."""
    net = nn.HybridSequential()
    net.add(nn.Conv2DTranspose(8, 4, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    net.add(nn.Conv2DTranspose(4, 4, strides=2, padding=1, use_bias=False), nn.BatchNorm(), nn.LeakyReLU(0.2))
    net.add(nn.Conv2DTranspose(1, 3, strides=2, padding=1, output_padding=1), nn.Activation("tanh"))
    return net
