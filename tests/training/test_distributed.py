"""Several workers on this machine: sums, updates, compression, equal training, and a worker that dies."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import mxnet as mx
from mxnet.tools import agent, hosts, launch

HERE = pathlib.Path(__file__).parent


WORKER = [sys.executable, str(HERE / "distributed_worker.py")]
LAUNCH = [sys.executable, "-m", "mxnet.tools.launch"]
SURROUNDINGS = {**os.environ, "OMP_NUM_THREADS": "1", "MXNET_KVSTORE_TIMEOUT": "60"}


def run(mode, *arguments, options=(), workers=2, **variables):
    return subprocess.run(
        [*LAUNCH, "-n", str(workers), *options, *WORKER, mode, *map(str, arguments)],
        env={**SURROUNDINGS, **variables},
        capture_output=True,
        text=True,
        timeout=180,
    )


def test_two_workers_agree(tmp_path):
    done = run("whole", tmp_path)
    assert done.returncode == 0 and done.stdout.count("ok") == 2, done.stdout + done.stderr


@pytest.mark.parametrize("kind", ["dist_sync", "dist_async"])
def test_a_killed_worker_is_noticed_by_the_others(kind):
    where = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(launch.free_port())}
    survivor, victim = (
        subprocess.Popen(
            [*WORKER, "death", kind],
            env={**SURROUNDINGS, **where, "RANK": rank},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # torch's own complaints would fall into the middle of a line
            text=True,
        )
        for rank in "01"
    )
    try:
        assert any(line == "training\n" for line in victim.stdout)
        victim.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        said = survivor.communicate(timeout=60)[0]
        assert time.monotonic() - killed < 30 and survivor.returncode == 1
        assert "noticed: worker 0 lost contact with the other workers: one of them has died" in said, said
    finally:
        for process in (survivor, victim):
            process.kill()
            process.communicate()


def test_a_killed_worker_ends_the_job(tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = run("restarted", tmp_path, TMPDIR=str(temporary))
    assert done.returncode == 1
    assert "worker 1 failed with exit code -9; the others were ended" in done.stderr, done.stderr
    assert not list(temporary.iterdir())


def test_all_start_again_from_the_last_checkpoint(tmp_path):
    done = run("restarted", tmp_path, options=["--max-restarts", "1"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("began with epoch 2") == 2, done.stdout + done.stderr


FAKE_SSH = """#!/bin/sh
echo "$@" >> "$SSH_LOG"
for command; do :; done
exec sh -c "$command"
"""


def test_a_host_file_starts_workers_over_ssh(tmp_path):
    ssh, log, names = tmp_path / "ssh", tmp_path / "log", tmp_path / "hosts"
    ssh.write_text(FAKE_SSH)
    ssh.chmod(0o755)
    names.write_text("me@127.0.0.1:2222 slots=1\nlocalhost\n")
    options = ["-H", str(names), "--port", str(launch.free_port()), "--env-worker", "GREETING:good morning"]
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = run("greet", "hello $HOME;", options=options, PATH=path, SSH_LOG=str(log))
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in range(2):
        assert f"hello $HOME; good morning {rank} 2 {os.getcwd()}\n" in done.stdout
    started = sorted(log.read_text().splitlines())
    assert any("-p 2222 -- me@127.0.0.1 cd " in line for line in started)
    assert all("--nodes 2" in line and "--master 127.0.0.1" in line for line in started)


@pytest.mark.parametrize(
    ("ends", "rank"),
    [
        ({0: (1, 50), 1: (2, 40)}, 1),  # nobody was killed: who failed first
        ({0: (1, 40), 1: (-9, 50)}, 1),  # one was, and the other missed it before the launcher saw why
        ({0: (-9, 60), 1: (-11, 50), 2: (1, 40)}, 1),  # two were: the first of them
        ({0: (-15, 40), 1: (1, 50)}, 0),  # the launcher itself ends workers by SIGTERM, which tells nothing
        ({0: (-15, 40), 1: (-6, 50)}, 1),
    ],
)
def test_the_launcher_names_the_first_cause(ends, rank):
    assert agent.first_cause([(worker, code, second) for worker, (code, second) in ends.items()]) == rank


def test_who_failed_for_want_of_another_worker_is_not_named():
    ends = [(0, 1, 40.0), (1, 1, 41.0), (2, 1, 39.0)]
    assert agent.first_cause(ends, lost=[0, 2]) == 1
    assert agent.first_cause(ends, lost=[0, 1, 2]) == 2


def test_without_a_launcher_the_way_to_start_is_told(monkeypatch):
    for name in ("RANK", "DMLC_WORKER_ID", "DMLC_TASK_ID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(mx.MXNetError, match="python -m mxnet.tools.launch -n 4 python train.py"):
        mx.kv.create("dist_sync")


@pytest.mark.parametrize("seconds", ["abc", "0", "-5", "1.5"])
def test_a_wrong_time_to_wait_is_named(monkeypatch, seconds):
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    monkeypatch.setenv("MXNET_KVSTORE_TIMEOUT", seconds)
    with pytest.raises(
        mx.MXNetError, match=f"MXNET_KVSTORE_TIMEOUT must be a whole number of seconds.*got '{seconds}'"
    ):
        mx.kv.create("dist_sync")


def test_workers_spread_over_a_host_file(tmp_path):
    path = tmp_path / "hosts"
    path.write_text("me@one:22 slots=2\n# away\ntwo interface=eth1\n\n")
    found = hosts.hosts_of(path)
    assert found == [("me@one:22", ""), ("two", "eth1")] and [host.address for host in found] == ["one", "two"]
    assert hosts.spread(4, ["one", "two"]) == [("one", 2), ("two", 2)]
    with pytest.raises(SystemExit, match="do not spread evenly"):
        hosts.spread(3, ["one", "two"])
    options = launch.parser().parse_args(["-n", "4", "-H", str(path), "--env-worker", "A:1", "python", "t.py", "-x"])
    command = hosts.remote_command(options, 1, 2, 2, "one", 29500, "/srv/job")
    assert command.startswith("cd /srv/job && env ")
    assert " python -m mxnet.tools.launch -n 2 --nodes 2 --node-rank 1 --master one --port 29500" in command
    assert command.endswith("--env-worker A:1 python t.py -x")


def test_a_step_sends_the_parameters_size_or_a_sixteenth_of_it(tmp_path):
    benchmark, path = HERE.parents[1] / "benchmarks" / "distributed.py", tmp_path / "rows.json"
    ways = ["dist_sync", "dist_sync, 2 bits"]
    command = [sys.executable, str(benchmark), "--quick", "--ways", *ways, "--json", str(path)]
    patient = {**SURROUNDINGS, "MXNET_KVSTORE_TIMEOUT": "600"}  # on a busy machine a worker may be late
    done = subprocess.run(command, env=patient, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0 and "| dist_sync, 2 bits |" in done.stdout, done.stderr
    rows = {row["way"]: row for row in json.loads(path.read_text())}
    for way, share in zip(ways, (1, 1 / 16), strict=True):
        assert rows[way]["handed_share"] == pytest.approx(share, rel=0.05)
        if rows[way]["tcp_share"] is not None:  # what the kernel has sent
            assert rows[way]["tcp_share"] == pytest.approx(share, rel=0.05)


def test_signals_go_back_to_who_had_them():
    before = [signal.getsignal(number) for number in agent.TAKEN]
    with pytest.raises(agent.Ended, match=f"ended by signal {int(signal.SIGTERM)}, with all workers"):
        with agent.signals_end_the_job():
            signal.raise_signal(signal.SIGTERM)
    assert [signal.getsignal(number) for number in agent.TAKEN] == before


def test_a_signal_while_a_process_is_looked_at_ends_the_job(monkeypatch):
    """`Popen.poll` takes a lock; an exception out of a handler in there would leave it taken."""
    poll, looked = subprocess.Popen.poll, []

    def interrupted(self):
        looked.append(self)
        if len(looked) == 3:
            with self._waitpid_lock:
                signal.raise_signal(signal.SIGTERM)
        return poll(self)

    monkeypatch.setattr(subprocess.Popen, "poll", interrupted)
    assert launch.main(["-n", "1", sys.executable, "-c", "import time; time.sleep(60)"]) == 128 + signal.SIGTERM
