"""The loader: workers of each kind, order, contexts, faults."""

import os
import pathlib
import pickle
import signal
import subprocess
import sys
import time
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon.data import ArrayDataset, DataLoader, Dataset, _workers

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "data_layer")


class Counting(Dataset):
    """Samples (an NDArray, a number); sample 13 can misbehave."""

    def __init__(self, fault=None, count=24):
        self.fault = fault
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index == 13 and self.fault is not None:
            self.fault()
        return mx.nd.full((2, 3), index), index


def kill_me():
    os.kill(os.getpid(), signal.SIGKILL)


def stop_me():
    os.kill(os.getpid(), signal.SIGSTOP)


def leave():
    os._exit(3)


def complain():
    raise KeyError("sample thirteen")


def sleep_long():
    time.sleep(60)


WORKERS = [{"num_workers": 0}, {"num_workers": 2}, {"num_workers": 2, "thread_pool": True}]


@pytest.mark.parametrize("workers", WORKERS)
def test_every_kind_of_worker_gives_the_same_batches(workers):
    loader = DataLoader(Counting(), 5, **workers)
    assert len(loader) == 5
    for _ in range(2):
        batches = list(loader)
        assert [batch[0].shape for batch in batches] == [(5, 2, 3)] * 4 + [(4, 2, 3)]
        np.testing.assert_array_equal(np.concatenate([label.asnumpy() for _, label in batches]), np.arange(24))
        assert (batches[2][0].asnumpy()[1] == 11).all()
        assert batches[0][1].dtype == np.int64 and batches[0][0].dtype == np.float32


@pytest.mark.parametrize("workers", WORKERS)
def test_batches_are_arrays_of_mx_np_where_it_is_active(workers):
    with mx.util.np_shape(), mx.util.np_array():
        data = ArrayDataset(mx.np.arange(6).reshape(3, 2), list(range(3)))
        features, labels = next(iter(DataLoader(data, 3, **workers)))
    assert type(features) is type(labels) is mx.np.ndarray
    assert features.tolist() == [[0, 1], [2, 3], [4, 5]] and labels.tolist() == [0, 1, 2]


def test_arrays_of_mx_np_travel_in_shared_memory():
    with mx.util.np_shape(), mx.util.np_array():
        array = mx.np.ones((1000, 1000))
        _workers._share(array)
        assert len(ForkingPickler.dumps(array)) < 1000
        assert type(pickle.loads(ForkingPickler.dumps(array))) is mx.np.ndarray


@pytest.mark.parametrize("workers", WORKERS)
def test_records_are_read_by_any_worker(workers):
    data = mx.gluon.data.vision.ImageRecordDataset(os.path.join(FOLDER, "images.rec"))
    resize = mx.gluon.data.vision.transforms.Resize((8, 8))
    for _ in range(5):
        labels = [int(label.asnumpy()[0]) for _, label in DataLoader(data.transform_first(resize), 1, **workers)]
        assert labels == list(range(7))


def test_two_iterators_at_once():
    loader = DataLoader(Counting(), 8, num_workers=2)
    first, second = iter(loader), iter(loader)
    starts = [int(next(i)[1].asnumpy()[0]) for i in (first, second, first, second)]
    assert starts == [0, 0, 8, 8]
    assert len(list(first)) == len(list(second)) == 1
    assert len(list(loader)) == 3


def test_a_pass_that_was_given_up_does_not_disturb_the_next():
    class Slow(Counting):
        def __getitem__(self, index):
            time.sleep(0.2)  # so that batches are still in flight
            return index

    loader = DataLoader(Slow(count=4), 2, num_workers=1)
    next(iter(loader))
    assert [batch.asnumpy().tolist() for batch in loader] == [[0, 1], [2, 3]]


def test_a_loader_may_go_while_its_iterator_is_used():
    iterator = iter(DataLoader(list(range(6)), 2, num_workers=1))
    assert next(iterator).asnumpy().tolist() == [0, 1]
    assert [batch.asnumpy().tolist() for batch in iterator] == [[2, 3], [4, 5]]


def test_workers_do_not_repeat_each_others_random_numbers():
    class Noise(Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return np.random.rand()

    values = np.concatenate([batch.asnumpy() for batch in DataLoader(Noise(), 1, num_workers=2)])
    assert len(set(values)) == 8


def test_contexts():
    data = ArrayDataset(np.ones((4, 2)))
    assert next(iter(DataLoader(data, 2))).context == mx.cpu()
    assert next(iter(DataLoader(data, 2, pin_memory=True))).context == mx.Context("cpu_pinned", 0)
    shared = next(iter(DataLoader(data, 2, num_workers=1)))
    assert shared.context == mx.Context("cpu_shared", 0)
    assert (shared.as_in_context(mx.cpu()) + 1).sum().asscalar() == 8


def test_arguments_that_exclude_each_other():
    data = Counting()
    with pytest.raises(ValueError, match="batch_size must be specified"):
        DataLoader(data)
    with pytest.raises(ValueError, match="shuffle must not be specified"):
        DataLoader(data, 2, shuffle=True, sampler=mx.gluon.data.SequentialSampler(3))
    with pytest.raises(ValueError, match="must not be specified if batch_sampler"):
        DataLoader(data, 2, batch_sampler=[[0], [1]])
    with pytest.raises(ValueError, match="on_error must be one of"):
        DataLoader(data, 2, on_error="ignore")
    assert [batch[1].asnumpy().tolist() for batch in DataLoader(data, batch_sampler=[[3, 1], [2]])] == [[3, 1], [2]]


@pytest.mark.parametrize("fault", [kill_me, leave, stop_me])
def test_a_worker_that_dies_is_reported_at_once(fault):
    start = time.time()
    with pytest.raises(mx.MXNetError, match="worker.*in flight.*13"):
        for _ in DataLoader(Counting(fault), 4, num_workers=2):
            pass
    assert time.time() - start < 15


@pytest.mark.parametrize("workers", WORKERS)
def test_an_exception_of_the_dataset_arrives(workers):
    with pytest.raises(KeyError, match="sample thirteen") as caught:
        list(DataLoader(Counting(complain), 4, **workers))
    told = str(caught.value) + str(getattr(caught.value, "__notes__", ""))
    assert "reading sample 13 of Counting" in told or sys.version_info < (3, 11)


@pytest.mark.parametrize("workers", WORKERS)
def test_bad_samples_can_be_left_out(workers):
    loader = DataLoader(Counting(complain), 4, on_error="skip", **workers)
    assert [label.shape[0] for _, label in loader] == [4, 4, 4, 3, 4, 4]
    assert len(list(DataLoader(Counting(complain), 1, on_error="skip", **workers))) == 23


def test_bad_samples_can_be_warned_about():
    with pytest.warns(UserWarning, match="sample 13 left out: KeyError"):
        list(DataLoader(Counting(complain), 4, on_error="warn"))


def test_a_sample_that_takes_too_long():
    with pytest.raises(mx.MXNetError, match="timed out after 1 seconds"):
        list(DataLoader(Counting(sleep_long, 14), 14, num_workers=1, timeout=1))


def test_spawned_workers():
    program = """
import multiprocessing
import mxnet as mx
if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    data = mx.gluon.data.ArrayDataset(mx.nd.arange(12).reshape((6, 2)), list(range(6)))
    loader = mx.gluon.data.DataLoader(data, 2, num_workers=1)
    print([label.asnumpy().tolist() for _ in range(2) for _, label in loader])
"""
    path = pathlib.Path(mx.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(path)},
    )
    assert done.stdout.strip() == str([[0, 1], [2, 3], [4, 5]] * 2), done.stderr


def test_no_processes_remain():
    import multiprocessing

    loader = DataLoader(Counting(), 4, num_workers=2)
    next(iter(loader))
    assert len(multiprocessing.active_children()) >= 2
    del loader
    deadline = time.time() + 10
    while multiprocessing.active_children() and time.time() < deadline:
        time.sleep(0.05)
    assert multiprocessing.active_children() == []


class _WithAHole(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return {0: 0.0, 1: 1.0, 3: 3.0}[index]


@pytest.mark.parametrize("workers", [0, 1])
def test_an_exception_of_a_dataset_keeps_type_and_arguments_and_names_the_sample(workers):
    with pytest.raises(KeyError) as raised:
        list(DataLoader(_WithAHole(), 2, num_workers=workers))
    assert raised.value.args == (2,)
    if hasattr(raised.value, "add_note"):  # before Python 3.11 an exception of a number cannot take words
        assert raised.value.__notes__[0] == "while reading sample 2 of _WithAHole"
    if workers:
        assert "in __getitem__" in str(raised.value.__cause__)
