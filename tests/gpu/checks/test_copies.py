"""Pinned memory, copies beside the computation, and who must wait for them."""

import numpy as np
import pytest
import simulated
import torch

import mxnet as mx
from mxnet import gluon, nd
from mxnet._device import copies
from mxnet.base import MXNetError

GPU, PINNED = mx.gpu(0), mx.cpu_pinned()


@pytest.mark.parametrize(
    "make",
    [
        lambda: nd.zeros((2, 3), ctx=PINNED),
        lambda: nd.ones((2, 3), ctx=PINNED),
        lambda: nd.full((2, 3), 2.0, ctx=PINNED),
        lambda: nd.empty((2, 3), ctx=PINNED),
        lambda: nd.array([[1, 2, 3]], ctx=PINNED),
        lambda: nd.array(np.ones((70, 80)), ctx=PINNED, dtype="float64"),
        lambda: nd.array(nd.ones((2, 3)), ctx=PINNED),
        lambda: nd.random.uniform(shape=(2, 3), ctx=PINNED),
        lambda: nd.ones((2, 3)).as_in_context(PINNED),
        lambda: nd.ones((2, 3), ctx=GPU).as_in_context(PINNED),
        lambda: nd.ones((2, 3)).copyto(PINNED),
        lambda: nd.ones((4, 3), ctx=PINNED)[1:3],
    ],
)
def test_pinned_arrays_are_pinned(make):
    array = make()
    assert array.context == PINNED and array._t.is_pinned() and array._t.device.type == "cpu"


def test_results_of_operators_are_not_pinned():
    assert (nd.ones((2,), ctx=PINNED) + 1).context == mx.cpu()


def test_pinned_memory_is_copied_on_a_stream_of_its_own():
    source = nd.array(np.arange(6.0), ctx=PINNED)
    with simulated.watched() as events:
        copy = source.as_in_context(GPU)
        result = copy * 2 + 1
        del copy
    assert not simulated.of_kind(events, "sync", "race"), events
    assert result.asnumpy().tolist() == [1, 3, 5, 7, 9, 11]


def written_by_slice(array):
    array[:] = 7


def written_by_index(array):
    array[nd.array([0, 1])] = 7


def written_by_arithmetic(array):
    array += 7


def written_by_copy(array):
    nd.ones(array.shape).copyto(array)


def written_by_operator(array):
    nd.square(array, out=array)


def written_by_numpy(array):
    array._sync_copyfrom(np.ones(array.shape))


def written_by_update(array):
    nd.sgd_update(array, nd.ones(array.shape, ctx=PINNED), lr=1.0, out=array)


@pytest.mark.parametrize(
    "write",
    [written_by_slice, written_by_index, written_by_arithmetic, written_by_copy, written_by_operator, written_by_numpy,
     written_by_update],
)  # fmt: skip
@pytest.mark.parametrize("into", [True, False])
def test_a_write_waits_for_the_copy_that_reads(write, into):
    source = nd.array(np.arange(2.0, 8.0), ctx=PINNED)
    target = nd.zeros((6,), ctx=GPU)
    with simulated.watched() as events:
        if into:
            source.copyto(target)
        else:
            target = source.as_in_context(GPU)
        write(source)
    assert not simulated.of_kind(events, "race"), events
    assert target.asnumpy().tolist() == [2, 3, 4, 5, 6, 7]


def test_the_simulation_would_see_a_write_that_does_not_wait():
    source = nd.array(np.arange(6.0), ctx=PINNED)
    with simulated.watched() as events:
        source.as_in_context(GPU)
        source._t.fill_(9)
    assert simulated.of_kind(events, "race")


def test_split_and_load_of_a_pinned_batch():
    batch = nd.array(np.arange(8.0).reshape(4, 2), ctx=PINNED)
    with simulated.watched() as events:
        parts = gluon.utils.split_and_load(batch, [mx.gpu(0), mx.gpu(1)])
    assert not simulated.of_kind(events, "sync", "race")
    assert [p.asnumpy().tolist() for p in parts] == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


@pytest.mark.parametrize("workers", [0, 2])
def test_loader(workers):
    data = gluon.data.ArrayDataset(np.arange(12.0, dtype="float32").reshape(6, 2), np.arange(6, dtype="float32"))
    loader = gluon.data.DataLoader(data, 2, pin_memory=True, num_workers=workers, thread_pool=True)
    rows = []
    with simulated.watched() as events:
        for x, y in loader:
            assert x.context == PINNED and x._t.is_pinned() and y._t.is_pinned()
            rows.append(x.as_in_context(GPU) + 1)
    assert not simulated.of_kind(events, "sync", "race")
    np.testing.assert_array_equal(np.concatenate([r.asnumpy() for r in rows]), np.arange(12.0).reshape(6, 2) + 1)


def test_record_iterator(tmp_path):
    path = str(tmp_path / "images.rec")
    record = mx.recordio.MXRecordIO(path, "w")
    for i in range(4):
        image = np.full((8, 8, 3), 40 * i, np.uint8)
        record.write(mx.recordio.pack_img(mx.recordio.IRHeader(0, float(i), i, 0), image, img_fmt=".png"))
    record.close()
    more = {"path_imgrec": path, "data_shape": (3, 8, 8), "batch_size": 2}
    for iterator, context in (
        (mx.io.ImageRecordIter(**more), PINNED),
        (mx.io.PrefetchingIter(mx.io.ImageRecordIter(**more)), PINNED),
        (mx.io.ImageRecordIter(**more, ctx="cpu"), mx.cpu()),
        (mx.io.ImageRecordIter(**more, device_id=-1), mx.cpu()),
    ):
        with simulated.watched() as events:
            batches = [b.data[0] for b in iterator]
            copies = [b.as_in_context(GPU) for b in batches]
        assert [b.context for b in batches] == [context] * 2
        assert not simulated.of_kind(events, "sync", "race")
        np.testing.assert_array_equal(copies[1].asnumpy(), batches[1].asnumpy())


def test_arrays_reach_the_gpu_without_waiting():
    with simulated.watched() as events:
        nd.array([1.0, 2.0], ctx=GPU)
        nd.array(np.ones((100, 100)), ctx=GPU)
        nd.array(nd.ones((3,)), ctx=GPU)
        x = nd.zeros((4,), ctx=GPU)
        x[:] = np.ones(4)
        x[1:3] = nd.ones((2,))
        x[:] = 3
        nd.arange(5, ctx=GPU)
        y = x.as_in_context(mx.gpu(1))
        y.copyto(x)
    assert not simulated.of_kind(events, "sync", "race"), events


def test_indexing_does_not_wait():
    x = nd.array(np.arange(12.0).reshape(4, 3), ctx=GPU)
    rows = nd.array([0, 2], ctx=GPU)
    with simulated.watched() as events:
        parts = [x[rows], x[1], x[1:3], x[:, 1], x[rows, 1], x[[0, 3]], nd.take(x, rows, mode="raise")]
        x[rows] = 5
        parts.append(nd.gather_nd(x, nd.array([[0, 1], [2, 2]], ctx=GPU)))
    assert not simulated.of_kind(events, "sync", "race"), events
    assert parts[0].asnumpy().tolist() == [[0, 1, 2], [6, 7, 8]]
    assert parts[-1].asnumpy().tolist() == [5, 5]


def test_a_forked_process_has_no_pinned_memory(monkeypatch):
    """CUDA does not survive a fork: workers of a DataLoader that take a part of a pinned array get ordinary memory."""
    x = nd.arange(6, ctx=mx.cpu_pinned())
    monkeypatch.setattr(torch.cuda, "_is_in_bad_fork", lambda: True)
    assert x[2:4].copy().asnumpy().tolist() == [2, 3]
    assert not copies.can_pin() and not copies.pinned(torch.ones(2)).is_pinned()


@pytest.mark.parametrize(
    "text",
    [
        "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, use the 'spawn' method",
        "CUDA error: initialization error",
    ],
)
def test_a_forked_process_is_told_what_to_do(monkeypatch, text):
    def refuse(*args, **kwargs):
        raise RuntimeError(text)

    monkeypatch.setattr(torch.cuda, "_is_in_bad_fork", lambda: True)
    x = nd.ones((2,), ctx=mx.gpu(0))
    monkeypatch.setattr(torch.Tensor, "cpu", refuse)
    with pytest.raises(MXNetError, match="a forked process.* cannot use a GPU.*as_in_context"):
        x.asnumpy()
