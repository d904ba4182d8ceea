"""Workers come and go while a job runs: it goes on from the last step that all had, and ends with the same weights."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mxnet as mx
from mxnet._core.ports import free_port
from mxnet.tools import elastic, launch

HERE = pathlib.Path(__file__).parent
STEPS = 40
PROGRAM = [sys.executable, str(HERE / "elastic_worker.py")]
SURROUNDINGS = {**os.environ, "OMP_NUM_THREADS": "1", "MXNET_KVSTORE_TIMEOUT": "60"}
BEGINS = re.compile(r"worker (\d) of (\d) begins with step (\d+) as process (\d+)")


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The weights of one worker that nothing happens to."""
    folder = tmp_path_factory.mktemp("alone")
    done = subprocess.run([*launch_with("1"), *PROGRAM, folder, str(STEPS)], env=SURROUNDINGS, timeout=120)
    assert done.returncode == 0
    return weights(folder)


def launch_with(workers, *options):
    return [sys.executable, "-m", "mxnet.tools.launch", "-n", workers, *options]


def weights(folder):
    return {name: array.asnumpy() for name, array in mx.nd.load(str(folder / "end.params")).items()}


class Job:
    """A running job, and what its workers have said."""

    def __init__(self, command, **variables):
        self.process = subprocess.Popen(
            command, env={**SURROUNDINGS, "PAUSE": "0.1", **variables}, stdout=subprocess.PIPE, text=True
        )
        self.lines = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def starts(self, world):
        """[(rank, first step, process)] of the workers that have begun in a job of so many."""
        found = [m.groups() for m in map(BEGINS.match, list(self.lines)) if m]
        return [(int(rank), int(step), int(pid)) for rank, size, step, pid in found if int(size) == world]

    def wait_for(self, condition, seconds=90):
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until and self.process.poll() is None, "".join(self.lines)
            time.sleep(0.05)

    def end(self):
        code = self.process.wait(120)
        self._reader.join()
        return code


def steps_made(folder):
    found = sorted(pathlib.Path(folder).glob("run-*.progress"))
    return len(found) > 0


def same(folder, expected):
    for name, array in weights(folder).items():
        np.testing.assert_allclose(array, expected[name], rtol=0, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("kind", ["plain", pytest.param("shards", marks=pytest.mark.minutes)])
def test_workers_go_and_come(kind, tmp_path, expected):
    slots = tmp_path / "slots"
    slots.write_text("localhost:2\n")
    command = [*launch_with("1:4", "--discovery", f"cat {slots}"), *PROGRAM, str(tmp_path), str(STEPS), kind]
    job = Job(command, PAUSE="1")  # until all has happened; they could be done before on a busy machine
    try:
        job.wait_for(lambda: len(job.starts(2)) == 2 and steps_made(tmp_path))
        victim = next(pid for rank, _, pid in job.starts(2) if rank == 1)
        slots.write_text("localhost:1\n")
        os.kill(victim, signal.SIGKILL)
        job.wait_for(lambda: len(job.starts(1)) == 1)
        [first] = {step for _, step, _ in job.starts(1)}
        slots.write_text("localhost:3\n")
        job.wait_for(lambda: len(job.starts(3)) == 3)
        (tmp_path / "fast").touch()
        [second] = {step for _, step, _ in job.starts(3)}
        assert job.end() == 0 and 0 < first <= second <= STEPS, job.lines
        same(tmp_path, expected)
    finally:
        job.process.kill()
        job.process.wait()


@pytest.mark.minutes
def test_torchruns_agents_go_and_come(tmp_path):
    """`torchrun --nnodes 1:4` on three hosts, played by three agents; one is killed, another one joins."""
    place = ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{free_port()}", "--rdzv-id", "elastic"]
    timing = ["--rdzv-conf", "last_call_timeout=5,join_timeout=120,keep_alive_interval=1,keep_alive_max_attempt=5"]
    command = [sys.executable, "-m", "torch.distributed.run", "--nnodes", "1:4", "--nproc-per-node", "1"]
    command += ["--max-restarts", "20", "--monitor-interval", "0.2", "--local-addr", "127.0.0.1", *place, *timing]
    command += [PROGRAM[1], str(tmp_path), str(20 * STEPS)]
    settings = {"PAUSE": "0.2", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}  # torch 2.13 forgets to tell who joins later
    jobs = [Job(command, **settings)]
    try:
        jobs[0].wait_for(lambda: jobs[0].lines)  # it holds the meeting point
        jobs.append(Job(command, **settings))
        jobs[1].wait_for(lambda: jobs[1].starts(2))
        worker = jobs[1].starts(2)[0][2]
        jobs[1].process.kill()
        os.kill(worker, signal.SIGKILL)
        before = len(jobs[0].starts(1))
        jobs[0].wait_for(lambda: len(jobs[0].starts(1)) > before)
        assert jobs[0].starts(1)[-1][1] > 0
        jobs.append(Job(command, **settings))
        jobs[2].wait_for(lambda: jobs[2].starts(2))
        assert jobs[2].starts(2)[0][1] >= jobs[0].starts(1)[-1][1]
        (tmp_path / "fast").touch()
        assert jobs[0].end() == 0 and jobs[2].end() == 0
    finally:
        for job in jobs:
            job.process.kill()
            job.process.wait()


@pytest.mark.parametrize(
    ("hosts", "most", "found"),
    [
        ([("localhost", 4)], 3, [("localhost", 3)]),
        ([("localhost", 2), ("127.0.0.1", 2)], 8, [("localhost", 4)]),
        ([("a", 4), ("b", 2)], 8, [("a", 2), ("b", 2)]),
        ([("a", 4), ("b", 4)], 6, [("a", 3), ("b", 3)]),
        ([], 4, []),
    ],
)
def test_which_hosts_run_how_many(hosts, most, found):
    assert elastic.shares(hosts, most) == found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-n", "1:4", "true"], "-n 1:4 needs --discovery COMMAND"),
        (["-n", "4:1", "--discovery", "true", "true"], "'4:1' is no number of workers"),
        (["-n", "x", "true"], "'x' is no number of workers"),
        (["-n", "99999999", "true"], "'99999999' is no number of workers"),
        (["-n", "0", "true"], "'0' is no number of workers"),
        (["-n", "1:2", "--discovery", "true", "-H", "hosts", "true"], "leave -H out"),
        (["-n", "2", "-H", "/nothing/there", "true"], "the host file /nothing/there cannot be read"),
        (["-n", "2", "--port", "99999", "true"], "'99999' is no port"),
        (["-n", "2", "/nothing/there"], "/nothing/there cannot be started"),
        (["-n", "1:2", "--discovery", "false", "true"], "the discovery command failed with exit code 1"),
        (["-n", "1:2", "--discovery", "/nothing/there", "true"], "/nothing/there failed"),
        (["-n", "1:2", "--discovery", "echo a:b", "true"], "lines such as host1:4, not 'a:b'"),
    ],
)
def test_what_the_launcher_refuses(arguments, said, capsys):
    try:
        code = launch.main(arguments)
    except SystemExit as ended:
        code = ended.code
    assert code in (1, 2) and said in capsys.readouterr().err
