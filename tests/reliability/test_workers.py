"""Data workers that fail are reported soon, with the samples in flight, and leave no process and no shared memory."""

import multiprocessing
import os
import subprocess
import sys
import warnings

import pytest

import mxnet as mx
from mxnet.gluon.data import DataLoader

from . import workers


@pytest.mark.parametrize("name", workers.FAULTS)
def test_a_fault_is_reported_and_leaves_nothing(name):
    assert workers.once(name)[2] == []


def test_busy_workers_go_when_their_parent_is_killed(tmp_path):
    assert workers.parent_killed(tmp_path) is not None


def test_shared_memory_that_is_really_full():
    words = workers.full_shared_memory()
    if words is None:
        pytest.skip("needs the right to mount")
    assert "DataLoaderWorkerError" in words and "out of shared memory" in words and "in flight" in words


def test_a_loader_works_again_after_a_fault(tmp_path):
    data = workers.Faulty(workers.kill, tmp_path / "when")
    loader = DataLoader(data, 4, num_workers=2)
    with pytest.raises(Exception, match="in flight"):
        list(loader)
    data.fault = lambda: None
    loader = DataLoader(data, 4, num_workers=2)
    assert [len(batch) for batch in loader] == [4] * 6


def test_warnings_of_workers_arrive_in_the_program(tmp_path):
    with pytest.warns(UserWarning, match="sample 13 left out: KeyError: 'sample thirteen'"):
        list(DataLoader(workers.Faulty(workers.complain, tmp_path / "w"), 4, num_workers=2, on_error="warn"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = list(DataLoader(workers.Faulty(workers.complain, tmp_path / "w"), 4, num_workers=2, on_error="skip"))
    assert [len(batch) for batch in kept] == [4, 4, 4, 3, 4, 4]


def test_a_death_is_told_at_the_loader_not_in_the_middle_of_the_program():
    """torch alone would raise from a signal handler, wherever the program is."""
    batches = iter(DataLoader([float(i) for i in range(200)], 2, num_workers=1, prefetch=1))
    next(batches)
    (worker,) = multiprocessing.active_children()
    worker.kill()
    worker.join()
    sum(range(1_000_000))
    with pytest.raises(mx.MXNetError, match=r"died: pid \d+ was ended by SIGKILL .*in flight: \[\["):
        list(batches)


_KEPT_UNTIL_THE_END = """
from mxnet.gluon.data import DataLoader
loader = DataLoader([float(i) for i in range(20)], 2, num_workers=2)
print(sum(batch.sum().asscalar() for batch in loader))
"""


def test_a_loader_that_lives_to_the_end_leaves_no_files(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", _KEPT_UNTIL_THE_END], env=environment, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr, list(tmp_path.iterdir())) == ("190.0\n", "", [])
