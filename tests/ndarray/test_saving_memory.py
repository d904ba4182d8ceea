"""Parameters are saved from their own memory, into room reserved at once; the file holds what it should, no more."""

import os
import threading

import numpy as np
import pytest

import mxnet as mx
from mxnet import nd
from mxnet._formats import atomic, params
from mxnet.gluon import nn


def test_a_large_file_is_exactly_its_arrays(tmp_path):
    values = np.random.RandomState(0).rand(700, 900).astype("float32")
    path = tmp_path / "big.params"
    nd.save(str(path), {"w": nd.array(values), "t": nd.array(values).T})
    blobs = [params.Blob.dense(v, "float32") for v in (values, values.T)]
    assert path.stat().st_size >= params.LARGE
    assert path.read_bytes() == params.dumps(["w", "t"], blobs)


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="needs advice to the system")
def test_a_large_file_goes_to_the_disk_while_it_is_written(tmp_path, monkeypatch):
    told = []
    advise = os.posix_fadvise

    def listen(handle, begin, length, advice):
        assert os.fstat(handle).st_size >= begin + length and advice == os.POSIX_FADV_DONTNEED
        told.append((begin, begin + length))
        advise(handle, begin, length, advice)

    monkeypatch.setattr(os, "posix_fadvise", listen)
    nd.save(str(tmp_path / "big.params"), [nd.ones((600, 1000)), nd.ones((600, 1000)), nd.ones((3,))])
    assert [begin for begin, _ in told] == [0, *(end for _, end in told[:-1])]
    assert told[-1][1] > 2 * 600 * 1000 * 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_takes_large_arrays(tmp_path):
    path, values = tmp_path / "pipe", nd.ones((600, 1000))
    os.mkfifo(path)
    received = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()))
    reader.start()
    nd.save(str(path), [values])
    reader.join()
    assert received == [params.dumps([], [params.Blob.dense(values.asnumpy(), "float32")])]


def test_saving_copies_nothing_and_changes_nothing(tmp_path):
    net = nn.Dense(3, in_units=4)
    net.initialize()
    weight = net.weight.data()
    assert net.weight._saved() is weight
    assert net.weight._reduce() is not weight
    net.save_parameters(str(tmp_path / "n.params"))
    np.testing.assert_array_equal(nd.load(str(tmp_path / "n.params"))["weight"].asnumpy(), weight.asnumpy())
    assert net.weight.grad() is not None


def test_several_contexts_are_saved_as_their_mean_on_the_first_cpu(tmp_path):
    net = nn.Dense(1, in_units=2, use_bias=False)
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    for i, array in enumerate(net.weight.list_data()):
        array[:] = i
    net.save_parameters(str(tmp_path / "n.params"))
    loaded = nd.load(str(tmp_path / "n.params"))["weight"]
    assert loaded.context == mx.cpu(0)
    np.testing.assert_array_equal(loaded.asnumpy(), [[0.5, 0.5]])


def test_nobody_waits_while_a_large_old_file_is_freed(tmp_path, monkeypatch):
    """The old file is closed by a thread; while a handle on it is open, its name has the new content already."""
    monkeypatch.setattr(atomic, "LARGE", 1000)
    path, go = tmp_path / "n.params", threading.Event()
    close = os.close

    def patient(handle):
        if threading.current_thread().name == "mxnet-files":
            assert go.wait(10)
        close(handle)

    nd.save(str(path), [nd.ones((500,))])
    monkeypatch.setattr(os, "close", patient)
    nd.save(str(path), [nd.zeros((500,))])
    (waiting,) = (t for t in threading.enumerate() if t.name == "mxnet-files")
    assert nd.load(str(path))[0].sum().asscalar() == 0
    go.set()
    waiting.join(10)
    assert not waiting.is_alive()
