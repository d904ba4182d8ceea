"""Operators whose work depends on values of the device: they compute what the CPU does, and never wait."""

import numpy as np
import pytest
import simulated

import mxnet as mx
from mxnet import autograd, nd
from mxnet.base import MXNetError

GPU = mx.gpu(0)


def compare(call, inputs, grads=(0,), rtol=1e-4, atol=1e-5):
    """The same results and gradients on both devices, without a synchronization on the GPU."""
    found = []
    for ctx in (mx.cpu(), GPU):
        arrays = [nd.array(a, ctx=ctx) for a in inputs]
        for i in grads:
            arrays[i].attach_grad()
        with simulated.watched() as events:
            with autograd.record():
                results = call(*arrays)
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            if grads:
                heads = [nd.arange(1, r.size + 1, ctx=ctx).reshape(r.shape) / r.size for r in results]
                autograd.backward(results, heads)
        assert not simulated.of_kind(events, "sync", "race", "assert"), events
        found.append([r.asnumpy() for r in [*results, *(arrays[i].grad for i in grads)]])
    for want, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


# ---------------------------------------------------------------- CTC
@pytest.mark.parametrize("blank", ["first", "last"])
@pytest.mark.parametrize("lengths", ["", "data", "label", "data label"])
@pytest.mark.parametrize(("steps", "classes", "longest"), [(12, 6, 4), (5, 4, 5), (1, 3, 1)])
def test_ctc(steps, classes, longest, lengths, blank):
    random, batch = np.random.RandomState(3), 6
    label = random.randint(0, classes, (batch, longest))  # blanks and repetitions among them
    label[0] = 0 if blank == "first" else -1  # nothing to say
    inputs = [random.normal(size=(steps, batch, classes)) * 3, label]
    inputs += [random.randint(1, steps + 1, batch)] if "data" in lengths else []
    inputs += [random.randint(1, longest + 1, batch)] if "label" in lengths else []
    more = {f"use_{name}_lengths": True for name in lengths.split()}
    compare(lambda *a: nd.CTCLoss(*a, blank_label=blank, **more), inputs, atol=1e-4)


def test_padding_of_ctc_may_be_anything():
    random = np.random.RandomState(3)
    data = random.normal(size=(6, 2, 4))
    data[4:, 0] = np.nan
    compare(lambda *a: nd.CTCLoss(*a, use_data_lengths=True), [data, [[1, 2], [3, 0]], [4, 6]], grads=(0,), atol=1e-4)


def test_wrong_lengths_of_ctc_are_told_late():
    data, label = nd.ones((4, 1, 3), ctx=GPU), nd.array([[1, 2]], ctx=GPU)
    with simulated.watched() as events:
        loss = nd.CTCLoss(data, label, nd.array([9], ctx=GPU), use_data_lengths=True)
    assert not simulated.of_kind(events, "sync")
    with pytest.raises(MXNetError, match="CTCLoss: data_lengths: index 9 is out of bounds"):
        loss.asnumpy()


# ---------------------------------------------------------------- recurrent layers with lengths
MODES = [("lstm", None), ("lstm", 2), ("gru", None), ("rnn_tanh", None), ("rnn_relu", None)]


@pytest.mark.parametrize(("mode", "projection"), MODES)
@pytest.mark.parametrize("bidirectional", [False, True])
def test_sequence_lengths(mode, projection, bidirectional):
    from mxnet._ops.nn.recurrent import parameter_count

    random, rows = np.random.RandomState(0), 4 if bidirectional else 2
    attrs = {"mode": mode, "state_size": 5, "num_layers": 2, "bidirectional": bidirectional}
    attrs["projection_size"] = projection
    data = random.normal(size=(6, 4, 3))
    data[5, 0] = np.nan  # padding
    inputs = [data, random.normal(size=parameter_count(attrs, 3)) * 0.5, random.normal(size=(rows, 4, projection or 5))]
    inputs += [random.normal(size=(rows, 4, 5))] if mode == "lstm" else []
    grads = range(len(inputs))
    inputs.append([3, 6, 1, 5])
    compare(lambda *a: nd.RNN(*a, **attrs, state_outputs=True, use_sequence_length=True), inputs, grads)


def test_a_layer_with_lengths_in_half_precision():
    layer = mx.gluon.rnn.LSTM(4, bidirectional=True, use_sequence_length=True, input_size=3, dtype="float16")
    layer.initialize(mx.init.Uniform(0.5), ctx=GPU)
    data = nd.array(np.random.RandomState(1).normal(size=(5, 2, 3)), ctx=GPU, dtype="float16")
    with simulated.watched() as events:
        short = layer(data, sequence_length=nd.array([2, 5], ctx=GPU))
    assert not simulated.of_kind(events, "sync")
    alone = layer(data[:2, :1], sequence_length=nd.array([2], ctx=GPU))
    np.testing.assert_allclose(short[:2, :1].asnumpy(), alone.asnumpy(), rtol=1e-2, atol=1e-2)
    assert not short[2:, 0].asnumpy().any()


@pytest.mark.parametrize("length", [0, 7])
def test_wrong_lengths_of_sequences_are_told_late(length):
    layer = mx.gluon.rnn.GRU(4, use_sequence_length=True, input_size=3)
    layer.initialize(ctx=GPU)
    result = layer(nd.ones((5, 2, 3), ctx=GPU), sequence_length=nd.array([2, length], ctx=GPU))
    with pytest.raises(MXNetError, match="sequence_length must be at least 1 and at most 5"):
        result.asnumpy()


# ---------------------------------------------------------------- regions and boxes
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("position_sensitive", [False, True])
def test_regions_sampled_once_a_pixel(seed, position_sensitive):
    random = np.random.RandomState(seed)
    height, width, *pooled = (*random.randint(4, 20, 2), *map(int, random.randint(1, 5, 2)))
    channels = 2 * pooled[0] * pooled[1] if position_sensitive else 3
    corner = random.uniform(-5, 30, (12, 2))
    rois = np.concatenate([random.randint(-1, 3, (12, 1)), corner, corner + random.uniform(0.1, 40, (12, 2))], 1)
    rois[:3] = [[0, -4, -4, 0, 0], [1, 0, 0, 2 * width, 2 * height], [2, 1, 1, 1.01, 1.01]]
    attrs = {"pooled_size": pooled, "spatial_scale": (0.5, 1.0, 0.25)[seed % 3], "aligned": seed % 2 == 0}
    compare(
        lambda *a: nd.contrib.ROIAlign(*a, **attrs, sample_ratio=-1, position_sensitive=position_sensitive),
        [random.normal(size=(3, channels, height, width)), rois],
        atol=1e-4,
    )


def test_regions_in_parts_and_regions_of_no_image(monkeypatch):
    from mxnet._ops.vision import roi_means

    monkeypatch.setattr(roi_means, "_AT_A_TIME", 100)
    data, rois = np.random.RandomState(1).normal(size=(2, 3, 5, 5)), [[1, 0, 0, 4, 4], [0, 1, 1, 3, 2], [1, 2, 0, 4, 3]]
    compare(lambda *a: nd.contrib.ROIAlign(*a, pooled_size=(2, 2), spatial_scale=1.0), [data, rois])
    out = nd.contrib.ROIAlign(nd.array(data, ctx=GPU), nd.array([[5, 0, 0, 4, 4]], ctx=GPU), (2, 2), 1.0)
    with pytest.raises(MXNetError, match="an image that is not there; the batch has 2"):
        out.asnumpy()
    out = nd.contrib.ROIAlign(nd.array(data, ctx=GPU), nd.array([[0, 0, 0, np.nan, 4]], ctx=GPU), (2, 2), 1.0)
    with pytest.raises(MXNetError, match="its coordinates are no numbers"):
        out.asnumpy()


ATTRIBUTES = [
    {},
    {"id_index": 0},
    {"topk": 7},
    {"force_suppress": True, "id_index": 0, "background_id": 1},
    {"in_format": "center"},
]


@pytest.mark.parametrize("number", [1, 11, pytest.param(500, marks=pytest.mark.slow), 1503])
@pytest.mark.parametrize("attrs", ATTRIBUTES)
def test_non_maximum_suppression(number, attrs):
    random, images = np.random.RandomState(number), 2
    corner = random.uniform(0, number**0.5 * 1.2, (images, number, 2))
    columns = [random.randint(0, 3, (images, number, 1)), random.uniform(-0.1, 1, (images, number, 1)), corner]
    boxes = np.concatenate([*columns, corner + random.uniform(1, 3, corner.shape)], 2)
    compare(lambda a: nd.contrib.box_nms(a, overlap_thresh=0.3, **attrs), [boxes])


def test_a_chain_in_which_each_box_suppresses_the_next():
    """Whether a box stays depends on all boxes before it: every second one does."""
    left = np.arange(1200.0)[:, None]
    boxes = np.concatenate([left * 0 + 1, 1 - left / 2000, left, left * 0, left + 2.2, left * 0 + 1], 1)[None]
    kept = nd.contrib.box_nms(nd.array(boxes, ctx=GPU), overlap_thresh=0.3)[0, :, 1].asnumpy()
    np.testing.assert_allclose(kept[:600], 1 - np.arange(0, 1200, 2) / 2000, rtol=1e-6)
    assert (kept[600:] == -1).all()


def test_detections_of_many_anchors():
    random, number = np.random.RandomState(2), 1203
    corner = random.uniform(0, 0.9, (1, number, 2))
    anchors = np.concatenate([corner, corner + random.uniform(0.02, 0.1, corner.shape)], 2)
    inputs = [
        random.dirichlet(np.ones(4), (2, number)).transpose(0, 2, 1),
        random.normal(size=(2, number * 4)),
        anchors,
    ]
    compare(nd.contrib.MultiBoxDetection, inputs, grads=())


PROPOSALS = [
    {},
    {"rpn_pre_nms_top_n": 700, "rpn_post_nms_top_n": 50},
    {"iou_loss": True},
    {"threshold": 0.1, "rpn_post_nms_top_n": 900},
]


@pytest.mark.parametrize("attrs", PROPOSALS)
@pytest.mark.parametrize("images", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_proposals(images, attrs):
    random, number, cells = np.random.RandomState(4), 12, (10, 12)
    information = np.array([[150, 180, 1.0], [160, 192, 1.5], [100, 90, 0.8]])[:images]
    inputs = [random.uniform(size=(images, 2 * number, *cells)), random.normal(size=(images, 4 * number, *cells)) * 0.2]
    call = nd.contrib.Proposal if images == 1 else nd.contrib.MultiProposal
    compare(lambda *a: call(*a, output_score=True, **attrs), [*inputs, information], grads=())


def test_an_image_larger_than_its_cells_is_told_late():
    inputs = [nd.zeros((1, size, 4, 4), ctx=GPU) for size in (24, 48)]
    rois = nd.contrib.Proposal(*inputs, nd.array([[65, 64, 1]], ctx=GPU))
    rois.wait_to_read()
    rois = nd.contrib.Proposal(*inputs, nd.array([[81, 64, 1]], ctx=GPU))
    with pytest.raises(MXNetError, match="does not fit on 4 x 4 cells of 16 pixels"):
        rois.wait_to_read()


# ---------------------------------------------------------------- mx.np
MASKS = {  # a key of an array (2, 3, 4), and what is written there
    "a number": (lambda a: a % 5 < 2, 1.5),
    "one item": (lambda a: a % 5 < 2, [7.0]),
    "an item each": (lambda a: a % 5 < 2, np.arange(10.0)),
    "rows": (lambda a: a[:, :, 0] % 3 < 1, np.arange(8.0).reshape(2, 4)),
    "one row": (lambda a: a[:, :, 0] % 3 < 1, np.arange(4.0)),
    "behind a slice": (lambda a: (slice(None), a[0] % 5 < 2), np.arange(12.0).reshape(2, 6)),
    "nothing": (lambda a: a < 0, np.zeros(0)),
}


@pytest.fixture
def numpy_semantics():
    mx.npx.set_np()
    yield
    mx.npx.reset_np()


@pytest.mark.parametrize("case", MASKS)
def test_writing_where_a_mask_holds(numpy_semantics, case):
    key, value = MASKS[case]
    want = np.arange(24.0).reshape(2, 3, 4)
    x = mx.np.array(want, ctx=GPU)
    want[key(want)] = value
    value = value if isinstance(value, float) else mx.np.array(value, ctx=GPU)
    with simulated.watched() as events:
        x[key(x)] = value
    assert not simulated.of_kind(events, "sync", "race", "assert"), events
    np.testing.assert_array_equal(x.asnumpy(), want)


def _written(x):
    x[x > 1] = mx.np.ones((2,), ctx=GPU)
    return x


TOLD_LATE = {
    "a matrix is singular": [
        lambda x: mx.np.linalg.solve(x * 0, x),
        lambda x: mx.np.linalg.tensorsolve(x * 0, x[0]),
        lambda x: mx.np.linalg.tensorinv(x * 0, ind=1),
    ],
    "a matrix is not positive definite": [lambda x: mx.np.linalg.cholesky(-x)],
    "percentiles must be in the range": [lambda x: mx.np.percentile(x, x[0] + 100)],
    "insert: index 9 is out of bounds": [
        lambda x: mx.np.insert(x, mx.np.array([1, 9], dtype="int64", ctx=GPU), 5.0, axis=0),
        lambda x: mx.np.insert(x, mx.np.array([9], dtype="int64", ctx=GPU), 5.0, axis=0),
    ],
    "too small": [lambda x: mx.npx.constraint_check(x > 5, "too small")],
    "> 1.0": [lambda x: mx.np.random.multinomial(3, x[0])],
    "expect shape > 0": [lambda x: mx.np.random.gamma(-x, 1.0)],
    r"cannot assign \(2,\) input values to the 3 output values": [_written],
}


@pytest.mark.parametrize("text", TOLD_LATE)
def test_what_is_wrong_with_values_is_told_late(numpy_semantics, text):
    for call in TOLD_LATE[text]:
        x = mx.np.array([[2.0, 1.5], [0.5, 3.0]], ctx=GPU)
        with simulated.watched() as events:
            result = call(x)
        assert not simulated.of_kind(events, "sync", "race", "assert"), events
        with pytest.raises((MXNetError, ValueError), match=text):
            result.asnumpy()
        result.asnumpy()  # it is told once
