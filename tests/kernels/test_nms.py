"""IoU, non-maximum suppression and ranks, in blocks and compiled, compared with the plain rule."""

import numpy as np
import pytest
import torch

import mxnet as mx
from mxnet import nd
from mxnet._kernels.vision import nms
from mxnet._ops.vision import box_overlap as overlap
from mxnet._ops.vision.score_ranking import argsort_descending, best_class


def share(a, b, margin=0):
    """Intersection over union of two boxes."""
    sides = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) + margin, 0)
    areas = [np.prod(box[2:] - box[:2] + margin) for box in (a, b)]
    return np.prod(sides) / (sum(areas) - np.prod(sides))


def greedy(boxes, threshold, kinds, margin):
    kept = []
    for i, box in enumerate(boxes):
        if all((kinds is not None and kinds[i] != kinds[j]) or share(boxes[j], box, margin) <= threshold for j in kept):
            kept.append(i)
    return kept


@pytest.fixture(params=[4, 512, "compiled"])
def block(request, monkeypatch):
    """Boxes in blocks of that size, or by compiled code."""
    if request.param == "compiled":
        pytest.importorskip("numba")
        assert nms._code.get(wait=True) is not None
        monkeypatch.setattr(overlap, "_iou", None)
        yield
    else:
        monkeypatch.setattr(overlap, "BLOCK", request.param)
        with mx.runtime.kernels_off():
            yield


@pytest.mark.parametrize("margin", [0, 1])
@pytest.mark.parametrize("classes", [None, 3])
def test_suppression_is_greedy(block, classes, margin):
    random = np.random.RandomState(0)
    corner = random.randint(0, 20, (60, 2))
    boxes = np.concatenate([corner, corner + random.randint(1, 12, (60, 2))], 1).astype("float32")
    kinds = None if classes is None else random.randint(0, classes, 60)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2] + margin, 1)
    given = torch.tensor(boxes), torch.tensor(areas), 0.3, None if kinds is None else torch.tensor(kinds)
    want = greedy(boxes, 0.3, kinds, margin)
    assert 3 < len(want) < 60
    assert overlap.suppress(*given, margin=margin).tolist() == want
    assert overlap.suppress(*given, margin=margin, limit=3).tolist() == want[:3]


def special_boxes():
    """Some that are the same, or turned around, some with NaN and infinities; their areas."""
    random = np.random.RandomState(4)
    corner = random.randint(0, 8, (300, 2))
    boxes = np.concatenate([corner, corner + random.randint(-1, 9, (300, 2))], 1).astype("float32")
    boxes[::17, 0], boxes[::19, 3], boxes[::23, 2], boxes[::29, 1] = np.nan, np.nan, np.inf, -np.inf
    given = torch.tensor(boxes)
    return given, (given[:, 2] - given[:, 0]) * (given[:, 3] - given[:, 1])


@pytest.mark.parametrize("compare", [np.greater, np.greater_equal])
@pytest.mark.parametrize("threshold", [0.0, 0.25, 0.5])
def test_compiled_suppression_of_special_boxes(compare, threshold, both_ways):
    pytest.importorskip("numba")
    nms._code.get(wait=True)
    given, classes = special_boxes(), torch.arange(300, dtype=torch.int32) % 2

    def suppressed():
        return [overlap.suppress(*given, threshold, each, compare=compare).tolist() for each in (None, classes)]

    wanted, found = both_ways(suppressed, "vision.nms")
    assert found == wanted and 10 < len(found[0]) < 300


def test_nothing_is_suppressed_of_nothing(block):
    assert overlap.suppress(torch.zeros(0, 4), torch.zeros(0), 0.5).tolist() == []
    point = torch.tensor([[1.0, 1, 1, 1]] * 6)  # no area, no overlap
    assert overlap.suppress(point, torch.zeros(6), 0.5).tolist() == list(range(6))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_overlaps_in_parts(dtype, monkeypatch):
    random = np.random.RandomState(1)
    boxes = np.sort(random.rand(9, 2, 2), 1).reshape(9, 4)
    boxes[3] = boxes[3, [2, 3, 0, 1]]  # backwards
    boxes[5] = 0.5  # a point
    boxes = nd.array(boxes, dtype=dtype)
    whole = nd.contrib.box_iou(boxes, boxes[:7]).asnumpy()
    monkeypatch.setattr(overlap, "PAIRS", 15)
    np.testing.assert_array_equal(nd.contrib.box_iou(boxes, boxes[:7]).asnumpy(), whole)
    assert not whole[[3, 5]].any() and not whole[:, [3, 5]].any()
    proper = [i for i in range(7) if i not in (3, 5)]
    want = [[share(boxes[i].asnumpy(), boxes[j].asnumpy()) for j in proper] for i in proper]
    np.testing.assert_allclose(whole[proper][:, proper], want, rtol=1e-5)


def test_falling_scores():
    random = np.random.RandomState(2)
    scores = torch.tensor(random.randint(-3, 4, 50), dtype=torch.float32)
    scores[7], scores[8], scores[30], scores[40] = 0.0, -0.0, torch.inf, -torch.inf
    want = torch.sort(scores, descending=True, stable=True).indices
    assert argsort_descending(scores).tolist() == want.tolist()
    assert argsort_descending(scores.double()).tolist() == want.tolist()
    assert argsort_descending(scores[:0]).tolist() == []


@pytest.mark.parametrize("classes", [1, 5, 127, 128, 300])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_the_best_class_is_the_first_of_equal_ones(classes, dtype):
    scores = torch.tensor(np.random.RandomState(3).randint(0, 9, (2, classes, 7)), dtype=dtype)
    best, kind = best_class(scores)
    want = scores.numpy()
    np.testing.assert_array_equal(best.numpy(), want.max(1))
    np.testing.assert_array_equal(kind.numpy(), want.argmax(1))


def test_scores_that_are_no_numbers_take_no_part():
    scores = nd.array([[[0.1, 0.1], [np.nan, 0.3], [0.8, np.nan]]])
    anchors = nd.array([[[0, 0, 0.1, 0.1], [0.2, 0.2, 0.5, 0.5]]])
    found = nd.contrib.MultiBoxDetection(scores, nd.zeros((1, 8)), anchors).asnumpy()[0, :, :2]
    np.testing.assert_allclose(found, [[1, 0.8], [0, 0.3]])  # class and score, from MXNet
