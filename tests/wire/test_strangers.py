"""Jobs under attack: what is bound, who gets in, and that training goes on."""

import contextlib
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mxnet as mx

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import job as job_program

JOB = job_program.__file__
LAUNCH = [sys.executable, "-m", "mxnet.tools.launch"]
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


class Job:
    """A job that runs while the test looks at it."""

    def __init__(self, *arguments, workers=2, options=(), **variables):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MXNET_KVSTORE_TIMEOUT": "60", **variables}
        self.process = subprocess.Popen(
            [*LAUNCH, "-n", str(workers), *options, sys.executable, JOB, *map(str, arguments)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.workers, self.said = workers, ""

    def processes(self, words="is process"):
        """{rank: process} as soon as all have said that they train."""
        found = {}
        for line in self.process.stdout:
            self.said += line
            if told := re.search(rf"worker (\d+) .*(?:{words}) (\d+)", line):
                found[int(told[1])] = int(told[2])
            if len(found) == self.workers:
                return found
        raise AssertionError(self.said + self.process.stderr.read())

    def finish(self, timeout=60):
        """(exit code, output, errors)."""
        out, errors = self.process.communicate(timeout=timeout)
        return self.process.returncode, self.said + out, errors

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.communicate(timeout=30)


def listening(process):
    """(address, port) of all TCP ports that a process listens on."""
    inodes = set()
    for name in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(OSError):
            inodes.update(re.findall(r"socket:\[(\d+)\]", os.readlink(f"/proc/{process}/fd/{name}")))
    found = []
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        with open(f"/proc/net/{table}") as file:
            rows = [line.split() for line in file][1:]
        for row in rows:
            if row[3] == "0A" and row[9] in inodes:
                address, port = row[1].split(":")
                words = bytes.fromhex(address)
                packed = b"".join(words[i : i + 4][::-1] for i in range(0, len(words), 4))
                found.append((socket.inet_ntop(family, packed), int(port, 16)))
    return found


def answers(address):
    """Does anybody accept a connection there?"""
    try:
        socket.create_connection(address, timeout=0.5).close()
    except OSError:
        return False
    return True


@linux
def test_a_running_job_listens_on_loopback_only_lets_nobody_in_and_hides_its_secret(tmp_path):
    with Job("train", "dist_async", tmp_path) as job:
        processes = [job.process.pid, *job.processes().values()]
        ports = [port for process in processes for port in listening(process)]
        assert {address for address, _ in ports} <= {"127.0.0.1"}, ports
        assert not [port for port in ports if answers(port)]
        folder = _check_secret(processes)
        (tmp_path / "enough").touch()
        code, said, errors = job.finish()
        assert code == 0 and said.count("ok") == 2, errors
    assert not folder.exists()


def _check_secret(processes):
    """In a file of mode 600, in no command line and in no environment. Its folder."""
    environment = pathlib.Path(f"/proc/{processes[-1]}/environ").read_bytes()
    place = pathlib.Path(re.search(rb"MXNET_KVSTORE_SECRET_FILE=([^\0]+)", environment)[1].decode())
    value = place.read_bytes()
    assert len(value) == 64 and place.stat().st_mode & 0o777 == 0o600
    assert place.parent.stat().st_mode & 0o777 == 0o700
    for process in processes:
        for name in ("environ", "cmdline"):
            assert value not in pathlib.Path(f"/proc/{process}/{name}").read_bytes()
    return place.parent


def attack(port, done, count, enough):
    """Garbage, silence and floods at a port, until told to stop. The file `enough` is made after 50 connections."""
    held = []
    garbage = [b"\x80\x04cposix\nsystem\n(S'true'\ntR.", b"GET / HTTP/1.1\r\n\r\n", os.urandom(200), b"REMX-1\r\n"]
    while not done.is_set():
        with contextlib.suppress(OSError):
            sock = socket.create_connection(("127.0.0.1", port), timeout=0.2)
            count.append(port)
            sock.sendall(garbage[len(count) % 4]) if len(count) % 2 else None
            held.append(sock)
            enough.touch() if len(count) == 50 else None
        if len(held) > 150:
            held.pop(0).close()
        time.sleep(0.002)
    for sock in held:
        sock.close()


def free_port():
    """One below those that the system hands out itself: strangers who knock early cannot meet themselves there."""
    for port in random.sample(range(20000, 30000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("all ports are taken")


def test_a_job_that_is_attacked_while_it_starts_trains_all_the_same(tmp_path):
    port = free_port()
    done, count = threading.Event(), []
    enough = tmp_path / "attacked"
    stranger = threading.Thread(target=attack, args=(port, done, count, enough))
    stranger.start()
    try:
        with Job(
            "resumed", "dist_async", tmp_path, 3, options=["--port", str(port)], LAST_WAITS_FOR=str(enough)
        ) as job:
            code, said, errors = job.finish(timeout=100)
            assert code == 0 and said.count("ok") == 2, errors
    finally:
        done.set()
        stranger.join()
    assert len(count) >= 50  # somebody was there when the strangers came


def until_saved(folder):
    """A checkpoint is there; the workers hold before they are done, however long this process is kept waiting."""
    while not (folder / "checkpoint.params").exists():
        time.sleep(0.01)


@linux
@pytest.mark.parametrize("kind", ["dist_sync", "dist_async"])
def test_a_stopped_worker_is_named_and_all_start_again_from_the_checkpoint(kind, tmp_path):
    options = ["--max-restarts", "1"]
    with Job("resumed", kind, tmp_path, 8, options=options, MXNET_KVSTORE_TIMEOUT="8", HOLD_AT="3") as job:
        processes = job.processes(words="as process")
        until_saved(tmp_path)
        os.kill(processes[0], signal.SIGSTOP)  # the leader, who holds the meeting point
        (tmp_path / "go").touch()
        code, said, errors = job.finish()
        assert code == 0, errors
        assert re.search(r"worker 0 has been silent since \d\d:\d\d:\d\d, for \d+ s; the others were ended", errors)
        assert "all workers start again, restart 1 of 1" in errors and not _runs(processes[0])
        begun = [int(step) for step in re.findall(r"begins with step (\d+)", said)]
        assert begun[:2] == [0, 0] and len(begun) == 4 and begun[2] == begun[3] > 0


def test_a_program_that_hangs_elsewhere_is_named(tmp_path):
    """Its threads answer, and in `dist_async` nobody waits for it."""
    start = time.monotonic()
    with Job("hanging", "dist_async", tmp_path, MXNET_KVSTORE_TIMEOUT="4") as job:
        code, said, errors = job.finish()
        assert code == 1 and "worker 1 hangs" in said
        assert re.search(r"^worker 0 failed .*; worker 1 has not used the store since \d\d:\d\d:\d\d", errors, re.M)
        assert re.search(r"MXNetError: worker 0 lost contact .* \(worker 1 has not used the store since", errors)
    assert time.monotonic() - start < 60


def test_a_worker_that_raises_ends_the_job_at_once():
    start = time.monotonic()
    with Job("raising", "dist_async", MXNET_KVSTORE_TIMEOUT="300") as job:
        code, _, errors = job.finish(timeout=120)
        assert code == 1 and "KeyError: 'a fault of the program'" in errors
        assert "worker 1 failed with exit code 1; the others were ended" in errors
    assert time.monotonic() - start < 100


def expected_weights(workers, steps):
    """What a job of `resumed` ends with, computed by one process in float64."""
    net = job_program.network()
    weight, bias = (param.data().asnumpy().astype("float64") for param in net.collect_params().values())
    for step in range(steps):
        slopes = np.zeros_like(weight), np.zeros_like(bias)
        for rank in range(workers):
            data = np.random.default_rng([rank, step]).normal(size=(8, 6))
            error = 2 * (data @ weight.T + bias - (data[:, :4] + rank))
            slopes[0][:] += error.T @ data
            slopes[1][:] += error.sum(0)
        weight -= 0.05 / 8 * slopes[0]
        bias -= 0.05 / 8 * slopes[1]
    return weight, bias


@linux
def test_four_workers_one_of_them_killed_end_with_the_weights_of_an_undisturbed_run(tmp_path):
    options = ["--max-restarts", "1"]
    with Job("resumed", "dist_sync", tmp_path, 20, workers=4, options=options, HOLD_AT="5") as job:
        processes = job.processes(words="as process")
        until_saved(tmp_path)
        os.kill(processes[2], signal.SIGKILL)
        (tmp_path / "go").touch()
        code, said, errors = job.finish(timeout=120)
        assert code == 0 and "worker 2 failed with exit code -9; the others were ended" in errors, errors
        assert len(re.findall(r"begins with step [1-9]", said)) == 4
    found = mx.nd.load(str(tmp_path / "end.params"))
    for name, expected in zip(("weight", "bias"), expected_weights(4, 20), strict=True):
        np.testing.assert_allclose(found[name].asnumpy(), expected, rtol=1e-4, atol=1e-5)


@linux
def test_workers_end_with_a_launcher_that_was_killed(tmp_path):
    with Job("train", "dist_sync", tmp_path) as job:
        processes = job.processes()
        job.process.kill()
        end = time.monotonic() + 20
        while time.monotonic() < end and any(_runs(process) for process in processes.values()):
            time.sleep(0.05)
        assert not [process for process in processes.values() if _runs(process)]


def _runs(process):
    with contextlib.suppress(OSError):
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    return False


def test_a_signal_ends_launcher_and_workers(tmp_path):
    with Job("train", "dist_async", tmp_path) as job:
        processes = job.processes()
        job.process.send_signal(signal.SIGTERM)
        code, _, errors = job.finish()
        assert code == 128 + signal.SIGTERM and "ended by signal 15, with all workers" in errors
    assert not [process for process in processes.values() if _runs(process)]


def test_a_host_is_told_the_secret_on_its_input_only(tmp_path):
    """And what the user passes by `--env` as well; when the launcher falls silent, the host ends its workers."""
    ssh, log, hosts = tmp_path / "ssh", tmp_path / "log", tmp_path / "hosts"
    ssh.write_text('#!/bin/sh\necho "$@" >> "$SSH_LOG"\nfor command; do :; done\nexec sh -c "$command"\n')
    ssh.chmod(0o755)
    hosts.write_text("127.0.0.1 interface=lo\nlocalhost\n")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    environment |= {"SSH_LOG": str(log), "TOKEN": "hidden-token"}
    options = ["-n", "2", "-H", str(hosts), "--port", "0", "--env", "TOKEN", "--interface", "lo"]
    line = "'{TOKEN} {DMLC_NODE_HOST}\\n'.format(**os.environ).encode()"
    show = [sys.executable, "-c", f"import os; os.write(1, {line})"]  # in one piece
    done = subprocess.run([*LAUNCH, *options, *show], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == "hidden-token 127.0.0.1\n" * 2, done.stderr
    assert "hidden-token" not in log.read_text() and "--show-address lo" in log.read_text()


def test_a_host_whose_launcher_is_gone_ends_its_workers(tmp_path):
    told = json.dumps({"secret": "s" * 64, "environment": {}}) + "\n"
    options = ["-n", "1", "--nodes", "1", "--node-rank", "0", "--address", "127.0.0.1", "--port", "1"]
    command = [*LAUNCH, *options, sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    host = subprocess.Popen(command, text=True, **pipes)
    host.stdin.write(told)
    host.stdin.flush()
    assert host.stdout.readline() == "up\n"
    start = time.monotonic()
    _, errors = host.communicate(timeout=30)  # closes its input
    assert host.returncode == 1 and "the launcher has ended the workers of this host" in errors
    assert time.monotonic() - start < 15
