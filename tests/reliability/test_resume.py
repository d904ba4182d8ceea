"""Killed and resumed equals uninterrupted, bit for bit; SIGTERM saves; nothing of the user's is lost."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet._training.progress import write_tree
from mxnet._training.termination import Termination

from . import resume_runs


@pytest.fixture(scope="module")
def server():
    with resume_runs.Server() as running:
        yield running


@pytest.mark.parametrize("name", ["Gluon loop", "Module", "Estimator", "BucketingModule"])
def test_killed_and_resumed(name, server):
    kills, terms, wrong = resume_runs.kill_and_resume(server, name, random.Random(name), interruptions=2)
    assert wrong is None


# -- plain loops -------------------------------------------------------------------------------------------------------


class Stop(Exception):
    """Stands for a crash, inside one process."""


def network(**options):
    net = gluon.nn.Dense(1, in_units=2, **options)
    net.initialize(mx.init.Xavier())
    return net


def train(folder, batches, stop=None, epochs=3, extra=(), options=None):
    """A loop over whatever gives batches; [(epoch, batch, sum of data)] and the weights at the end."""
    net = network()
    trainer = gluon.Trainer(net.collect_params(), "adam", options)
    run = mx.checkpoint.Run(str(folder / "net"), net, trainer, *extra, every=1)
    seen = []
    for epoch in run.epochs(epochs):
        for batch in run.batches(batches):
            x = batch.data[0] if isinstance(batch, mx.io.DataBatch) else batch
            x = x.reshape((len(x), -1))[:, :2] / 100
            with autograd.record():
                loss = gluon.loss.L2Loss()(net(x), nd.ones((len(x), 1)))
            loss.backward()
            trainer.step(len(x))
            seen.append((epoch, run.batch, x.asnumpy().sum()))
            if len(seen) == stop:
                raise Stop
    return seen, net.weight.data().asnumpy()


def assert_resumes(tmp_path, make, stops=(2, 3, 4)):
    """Crashed after some batches, several times, in new iterators each time: the same as without."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    seed()
    expected = train(whole, make())
    for stop in stops:
        seed()
        source = make()
        if parts.exists():  # whatever a program draws before it resumes is forgotten
            nd.random.uniform(shape=1000), np.random.rand(3), random.random()
        with pytest.raises(Stop):
            train(parts, source, stop)
    seed()
    seen, weights = train(parts, make())
    assert seen and seen == expected[0][-len(seen) :]
    np.testing.assert_array_equal(weights, expected[1])


def seed():
    mx.random.seed(1)
    np.random.seed(2)
    random.seed(3)


ROWS = np.arange(44, dtype="float32").reshape(22, 2)


@pytest.mark.parametrize("handle", ["pad", "discard", "roll_over"])
def test_array_iterators(handle, tmp_path):
    assert_resumes(tmp_path, lambda: mx.io.NDArrayIter(ROWS, None, 4, shuffle=True, last_batch_handle=handle))


def test_iterators_around_iterators(tmp_path):
    assert_resumes(
        tmp_path, lambda: mx.io.ResizeIter(mx.io.NDArrayIter(ROWS, None, 4, shuffle=True), 5, reset_internal=False)
    )


def test_prefetching_iterators(tmp_path):
    assert_resumes(tmp_path, lambda: mx.io.PrefetchingIter(mx.io.NDArrayIter(ROWS, None, 4)))


def test_table_iterators(tmp_path):
    np.savetxt(tmp_path / "a.csv", ROWS, delimiter=",")
    assert_resumes(
        tmp_path, lambda: mx.io.CSVIter(data_csv=str(tmp_path / "a.csv"), data_shape=(2,), batch_size=4)
    )  # fmt: skip


@pytest.fixture
def images(tmp_path):
    cv2 = pytest.importorskip("cv2")
    rng = np.random.RandomState(0)
    prefix = str(tmp_path / "images")
    writer = mx.recordio.MXIndexedRecordIO(f"{prefix}.idx", f"{prefix}.rec", "w")
    for number in range(22):
        picture = cv2.imencode(".png", rng.randint(0, 255, (10, 10, 3)).astype("uint8"))[1].tobytes()
        writer.write_idx(number, mx.recordio.pack(mx.recordio.IRHeader(0, number, number, 0), picture))
    writer.close()
    return prefix


@pytest.mark.parametrize("processors", [1, 8])
@pytest.mark.parametrize("index", [".idx", ""])
@pytest.mark.parametrize("round_batch", [True, False])
def test_record_iterators(round_batch, index, processors, images, tmp_path, monkeypatch):
    """One thread draws all random numbers from one stream, which goes on where it was; several have one an image."""
    monkeypatch.setattr("mxnet.io._images.processors", lambda: processors)

    def make():
        return mx.io.ImageRecordIter(
            path_imgrec=f"{images}.rec", path_imgidx=index and images + index, data_shape=(3, 8, 8), batch_size=4,
            shuffle=True, rand_crop=True, rand_mirror=True, round_batch=round_batch, preprocess_threads=2,
        )  # fmt: skip

    assert_resumes(tmp_path, make)


@pytest.mark.parametrize("handle", ["pad", "roll_over"])
def test_image_iterators(handle, images, tmp_path):
    def make():
        return mx.image.ImageIter(
            4, (3, 8, 8), path_imgrec=f"{images}.rec", path_imgidx=f"{images}.idx", shuffle=True, rand_crop=True,
            rand_mirror=True, brightness=0.2, last_batch_handle=handle,
        )  # fmt: skip

    assert_resumes(tmp_path, make)


class Plain(mx.io.DataIter):
    """An iterator that says nothing about where it is; its order is drawn where an epoch begins."""

    def __init__(self):
        super().__init__(4)
        self.reset()

    def reset(self):
        self.left = list(np.random.permutation(5))

    def next(self):
        if not self.left:
            raise StopIteration
        return mx.io.DataBatch([nd.full((4, 2), float(self.left.pop())) + nd.array(np.random.rand(4, 2))])


def test_iterators_that_cannot_say_where_they_are(tmp_path):
    assert_resumes(tmp_path, Plain)


def test_any_iterable(tmp_path):
    assert_resumes(tmp_path, lambda: [nd.array(ROWS[i : i + 4]) for i in range(0, 20, 4)])


def test_two_networks_gradient_sums_and_generators(tmp_path):
    """A GAN has two of everything; gradients that are added up are half done between batches."""

    def run(folder, stop=None):
        seed()
        nets, rng = [network(), network()], np.random.default_rng(7)
        for net in nets:
            net.collect_params().setattr("grad_req", "add")
        trainers = [gluon.Trainer(net.collect_params(), "sgd", {"momentum": 0.9}) for net in nets]
        progress = mx.checkpoint.Run(str(folder / "gan"), *nets, *trainers, rng, every=1)
        for _ in progress.epochs(2):
            for number, x in enumerate(progress.batches([nd.ones((2, 2))] * 5)):
                for net in nets:
                    with autograd.record():
                        loss = net(x * float(rng.random())).sum()
                    loss.backward()
                if progress.batch % 2:
                    for net, trainer in zip(nets, trainers, strict=True):
                        trainer.step(2)
                        net.collect_params().zero_grad()
                if number == stop:
                    raise Stop
        return [p.data().asnumpy() for net in nets for p in net.collect_params().values()]

    expected = run(tmp_path / "whole")
    for stop in (2, 1):
        with pytest.raises(Stop):
            run(tmp_path / "parts", stop)
    for found, wanted in zip(run(tmp_path / "parts"), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_values_of_the_caller_are_kept(tmp_path):
    run = mx.checkpoint.Run(str(tmp_path / "a"))
    run.values.update(text="x", hidden=nd.array([[1, 2]], dtype="float16"), rows=np.arange(3), nested=[1, (2.5, None)])
    run.save()
    again = mx.checkpoint.Run(str(tmp_path / "a"))
    assert again.resume() and again.values["text"] == "x" and again.values["nested"] == [1, (2.5, None)]
    assert again.values["hidden"].dtype == np.float16 and again.values["hidden"].asnumpy().tolist() == [[1, 2]]
    np.testing.assert_array_equal(again.values["rows"], np.arange(3))


def test_parts_are_what_can_be_saved():
    with pytest.raises(TypeError, match="a int cannot be part of a checkpoint: parts are blocks, trainers"):
        mx.checkpoint.Run("a", 3)


def test_a_damaged_set_gives_way_to_the_one_before(tmp_path):
    net = network()
    run = mx.checkpoint.Run(str(tmp_path / "a"), net)
    for run.epoch in (1, 2):
        run.save()
    with open(tmp_path / "a-0002-000000.params", "r+b") as file:
        file.write(b"damaged")
    with pytest.warns(UserWarning, match=r"SHA-256.*an older checkpoint is used"):
        assert run.resume()
    assert run.epoch == 1


def test_other_parts_than_those_saved(tmp_path):
    mx.checkpoint.Run(str(tmp_path / "a"), network()).save()
    with pytest.raises(mx.MXNetError, match="not saved with these 2 parts"):
        mx.checkpoint.Run(str(tmp_path / "a"), network(), mx.metric.Accuracy()).resume()


# -- Module and Estimator ----------------------------------------------------------------------------------------------


def fit(folder, **options):
    out = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="f")
    module = mx.mod.Module(mx.sym.LinearRegressionOutput(out, name="softmax"))
    batches = mx.io.NDArrayIter(ROWS / 50, ROWS[:, :1], 4)
    module.fit(batches, num_epoch=3, eval_metric="mse", **options)
    return module


def test_module_goes_on_from_mxnets_checkpoints_too(tmp_path):
    prefix = str(tmp_path / "net")
    first = fit(tmp_path, epoch_end_callback=mx.callback.do_checkpoint(prefix))
    epochs = []
    again = fit(tmp_path, resume="auto", resume_prefix=prefix, batch_end_callback=lambda p: epochs.append(p.epoch))
    assert not epochs  # all three were done
    assert (again.get_params()[0]["f_weight"] == first.get_params()[0]["f_weight"]).min()


def test_module_needs_a_prefix(tmp_path):
    with pytest.raises(ValueError, match="needs resume_prefix"):
        fit(tmp_path, resume="auto")
    with pytest.raises(ValueError, match='"auto" or None'):
        fit(tmp_path, resume=True)


def estimated(folder, handlers=(), **options):
    from mxnet.gluon.contrib.estimator import Estimator

    seed()
    net = network()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})
    fitting = Estimator(net, gluon.loss.L2Loss(), trainer=trainer)
    fitting.logger.disabled = True
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(ROWS / 50, ROWS[:, :1]), 4, shuffle=True)
    fitting.fit(loader, event_handlers=list(handlers), **options)
    return fitting


def saver(folder, **options):
    from mxnet.gluon.contrib.estimator import CheckpointHandler

    return CheckpointHandler(str(folder), **options)


def test_more_epochs_later(tmp_path):
    """A training that is over does not begin again; with more epochs it goes on."""
    estimated(tmp_path, [saver(tmp_path)], epochs=2)
    before = sorted(os.listdir(tmp_path))
    estimated(tmp_path, [saver(tmp_path)], epochs=2, resume="auto")
    assert sorted(os.listdir(tmp_path)) == before
    longer = estimated(tmp_path, [saver(tmp_path)], epochs=4, resume="auto")
    whole = estimated(tmp_path, epochs=4)
    assert (longer.net.weight.data() == whole.net.weight.data()).min()


def test_mxnets_own_resuming_passes_over_half_a_checkpoint(tmp_path):
    """A kill between `.params` and `.states` must not end all later trainings."""
    estimated(tmp_path, [saver(tmp_path)], epochs=2)
    os.remove(tmp_path / "model-epoch1batch12.states")
    os.remove(tmp_path / "model-epoch1batch12.manifest.json")
    handler = saver(tmp_path, resume_from_checkpoint=True)
    estimated(tmp_path, [handler], epochs=3)
    assert handler.trained_epoch == 0 and (tmp_path / "model-epoch2batch18.params").exists()


def test_a_new_training_ends_the_checkpoints_of_the_old(tmp_path):
    estimated(tmp_path, [saver(tmp_path)], epochs=4)
    estimated(tmp_path, [saver(tmp_path)], epochs=1)
    assert (tmp_path / "model-epoch3batch24.params").exists()
    handler = saver(tmp_path)
    assert [numbers for numbers, _ in handler.sealed()] == [(0, 6)]


def test_resume_is_auto_or_nothing(tmp_path):
    with pytest.raises(ValueError, match='resume must be "auto" or None'):
        estimated(tmp_path, epochs=1, resume="yes")


# -- SIGTERM -----------------------------------------------------------------------------------------------------------


def terminate(*ignored):
    os.kill(os.getpid(), signal.SIGTERM)


def test_sigterm_saves_the_batch_and_ends(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as end:
        fit(tmp_path, resume_prefix=str(tmp_path / "net"), batch_end_callback=lambda p: p.nbatch == 2 and terminate())
    assert end.value.code == 143 and signal.getsignal(signal.SIGTERM) is before
    assert (tmp_path / "net-run-0000-000003.manifest.json").exists()


def test_sigterm_in_an_estimator(tmp_path):
    from mxnet.gluon.contrib.estimator import event_handler

    class Once(event_handler.BatchEnd):
        def batch_end(self, estimator, *args, **kwargs):
            terminate()

    with pytest.raises(SystemExit):
        estimated(tmp_path, [Once(), saver(tmp_path)], epochs=2)
    assert [numbers for numbers, _ in saver(tmp_path).sealed()] == [(0, 0)]
    resumed = estimated(tmp_path, [saver(tmp_path)], epochs=2, resume="auto")
    assert (resumed.net.weight.data() == estimated(tmp_path, epochs=2).net.weight.data()).min()


def test_the_users_own_handler_is_called_and_kept(tmp_path):
    called = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: called.append(number))
    try:
        handler = signal.getsignal(signal.SIGTERM)
        fit(tmp_path, resume_prefix=str(tmp_path / "net"), batch_end_callback=lambda p: p.nbatch == 2 and terminate())
        assert called == [signal.SIGTERM] * 3  # it returned, so training went on for all three epochs
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_without_checkpoints_sigterm_is_nobodys_business(tmp_path):
    before, during = signal.getsignal(signal.SIGTERM), []
    fit(tmp_path, batch_end_callback=lambda p: during.append(signal.getsignal(signal.SIGTERM)))
    assert set(during) == {before}


def test_other_threads_and_ignored_signals_are_left_alone():
    before = signal.getsignal(signal.SIGTERM)
    found = []

    def other():
        with Termination():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert found == [before]
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with Termination() as termination:
            terminate()
        assert not termination.requested
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_forked_child_dies_of_it():
    reading, writing = os.pipe()
    with Termination():
        child = os.fork()
        if child == 0:
            os.write(writing, b"x")  # Python forgets signals that come while a process is being forked
            for _ in range(1000):
                time.sleep(0.01)
            os._exit(0)
        os.read(reading, 1)
        os.kill(child, signal.SIGTERM)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
    os.close(reading)
    os.close(writing)


# -- by hand -----------------------------------------------------------------------------------------------------------


def test_random_streams_and_values_saved_by_hand(tmp_path):
    file = str(tmp_path / "progress")
    mx.random.seed(3)
    mx.model.save_progress(file, epoch=2, best=nd.array([1, 2], dtype="int32"))
    first = nd.random.uniform(shape=(3,)).asnumpy(), np.random.rand(), random.random()
    values = mx.model.load_progress(file)
    again = nd.random.uniform(shape=(3,)).asnumpy(), np.random.rand(), random.random()
    assert (first[0] == again[0]).all() and first[1:] == again[1:]
    assert values["epoch"] == 2 and values["best"].dtype == np.int32 and values["best"].asnumpy().tolist() == [1, 2]


def test_a_progress_file_with_an_array_on_no_device_is_named(tmp_path):
    file = str(tmp_path / "progress")
    write_tree(file, {"values": ("NDArray", "nowhere", "float32", np.zeros(1))})
    with pytest.raises(mx.MXNetError, match="progress: this is no file of .*nowhere"):
        mx.model.load_progress(file)
