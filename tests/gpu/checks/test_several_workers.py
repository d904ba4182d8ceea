"""`dist_device_sync`: two processes with two simulated GPUs each, whose gradients a simulated NCCL sums."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mxnet.kvstore import group

HERE = Path(__file__).resolve().parents[1]
WORKERS = 2


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What each worker has printed."""
    meeting = tmp_path_factory.mktemp("workers") / "meeting"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
    running = [
        subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), str(meeting), str(rank), str(WORKERS)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        for rank in range(WORKERS)
    ]
    said = [process.communicate(timeout=300) for process in running]
    assert not any(process.returncode for process in running), said[0][1][-3000:] + said[1][1][-3000:]
    return [json.loads(out.strip().splitlines()[-1]) for out, _ in said]


@pytest.mark.parametrize(
    ("name", "whole"), [("gluon", "whole"), ("apart", "whole"), ("host", "whole"), ("module", "whole_module")]
)
def test_workers_learn_what_one_learns_from_all_batches(found, name, whole):
    for worker in found:
        for parameter, value in worker[whole].items():
            np.testing.assert_allclose(worker[name][parameter], value, rtol=1e-4, atol=1e-6, err_msg=parameter)
    assert found[0][name] == found[1][name]


def test_gradients_do_not_pass_through_the_host(found):
    for worker in found:
        cost = worker["cost"]
        assert not cost["race"] and cost["bytes"] == cost["batch"]
        sums = [device for name, device in cost["traffic"] if name == "allreduce"]
        assert sums.count("cuda:0") == 1 and len(sums) == 2  # the gradients; a word on the CPU that none was changed


def test_a_step_waits_once(found):
    """Gradients that were sent while backward ran are compared with what they are now."""
    for worker in found:
        assert [lines[1].split()[-1] for lines in worker["cost"]["sync"]] == ["_repeat_stale"]
        assert not worker["cost_apart"]["sync"]  # nothing was sent early: there is nothing to compare


def test_compressed_and_sparse_gradients(found):
    for worker in found:
        assert worker["packed"] == [1.0] * 4  # half a one from each worker
        assert worker["rows"] == [2.0, 4.0, 0.0]


def test_a_parameter_server_takes_gradients_of_gpus(found):
    assert [worker["server"] for worker in found] == [[[-3.0] * 3] * 2] * 2


def test_nccl_carries_the_tensors_of_gpus():
    assert group.backend() == "cpu:gloo,cuda:nccl"
