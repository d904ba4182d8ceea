"""Process groups: who is in them is checked over their own connections; torchrun's workers meet behind its store."""

import os
import pathlib
import subprocess
import sys

from mxnet.kvstore import gloo
from mxnet.tools.launch import free_port

HERE = pathlib.Path(__file__).parent
SURROUNDINGS = {**os.environ, "OMP_NUM_THREADS": "1", "MXNET_KVSTORE_TIMEOUT": "60"}


def test_who_is_in_a_group_without_the_secret_is_found(tmp_path):
    workers = [
        subprocess.Popen(
            [sys.executable, str(HERE / "impostor.py"), str(rank), str(tmp_path / "meeting"), secret],
            env=SURROUNDINGS,
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank, secret in enumerate(["s" * 64, "t" * 64])
    ]
    said = [worker.communicate(timeout=90)[0].strip() for worker in workers]
    words = "who has connected as worker {} does not know the secret of this job"
    assert said == [words.format(1), words.format(0)]


def test_workers_of_torchrun_meet_and_train(tmp_path):
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node",
        "2",
        "--master-port",
        str(free_port()),
    ]
    job = [str(HERE / "job.py"), "resumed", "dist_async", str(tmp_path), "3"]
    home = {"MXNET_HOME": str(tmp_path / "home")}
    done = subprocess.run([*command, *job], env={**SURROUNDINGS, **home}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.count("ok") == 2, done.stderr
    assert (tmp_path / "home" / "kvstore.key").stat().st_mode & 0o777 == 0o600


def test_looking_for_listening_sockets_leaves_no_descriptor_open(tmp_path):
    with open(tmp_path / "file", "w"):
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            list(gloo._listeners())
        assert len(os.listdir("/proc/self/fd")) == before
