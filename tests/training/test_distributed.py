"""Several workers on this machine: sums, updates, compression, equal training, and a worker that dies."""

import os
import pathlib
import subprocess
import sys
import time

import pytest

import mxnet as mx
from mxnet.tools import launch

HERE = pathlib.Path(__file__).parent


def run(mode, workers=2):
    command = [sys.executable, "-m", "mxnet.tools.launch", "-n", str(workers), sys.executable]
    return subprocess.run(
        [*command, str(HERE / "distributed_worker.py"), mode],
        env={**os.environ, "OMP_NUM_THREADS": "1", "MXNET_KVSTORE_TIMEOUT": "60"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_two_workers_agree():
    done = run("whole")
    assert done.returncode == 0 and done.stdout.count("ok") == 2, done.stdout + done.stderr


def test_a_dead_worker_is_noticed_and_ends_the_job():
    started = time.time()
    done = run("death")
    assert done.returncode != 0 and time.time() - started < 60
    assert "worker 1 failed" in done.stderr, done.stderr


def test_without_a_launcher_the_way_to_start_is_told(monkeypatch):
    for name in ("RANK", "DMLC_WORKER_ID", "DMLC_TASK_ID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(mx.MXNetError, match="python -m mxnet.tools.launch -n 4 python train.py"):
        mx.kv.create("dist_sync")


def test_workers_spread_over_a_host_file(tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("one slots=2\n# away\ntwo\n\n")
    assert launch.hosts_of(hosts) == ["one", "two"]
    assert launch.spread(4, ["one", "two"]) == [("one", 2), ("two", 2)]
    with pytest.raises(SystemExit, match="do not spread evenly"):
        launch.spread(3, ["one", "two"])
    options = launch.parser().parse_args(["-n", "4", "-H", str(hosts), "--env-worker", "A:1", "python", "t.py", "-x"])
    command = launch.remote_command(options, 1, 2, 2, "one", 29500, "/srv/job")
    assert command.startswith("cd /srv/job && env python3 -m mxnet.tools.launch -n 2 --nodes 2 --node-rank 1")
    assert command.endswith("--env-worker A:1 python t.py -x")
