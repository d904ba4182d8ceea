"""Four hosts in network namespaces: the launcher starts workers there, and the speed of the links decides theirs."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
BENCHMARKS = HERE.parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
import host_network  # noqa: E402
import scaling_model  # noqa: E402

REASON = host_network.why_not() if "PYTEST_XDIST_WORKER" not in os.environ else ""
needs_hosts = pytest.mark.skipif(bool(REASON), reason=REASON)

SSH = """#!/bin/sh
for command; do host=$place; place=$command; done
number=$(( ${host##*.} - 1 ))
exec ip netns exec PREFIX-$number sh -c "$command"
"""


@pytest.fixture(scope="module")
def hosts():
    with host_network.Hosts(4) as made:
        yield made


@pytest.fixture
def ssh(tmp_path, monkeypatch):
    """An `ssh` that enters the namespace of the host."""
    path = tmp_path / "ssh"
    path.write_text(SSH.replace("PREFIX", host_network.PREFIX))
    path.chmod(0o755)
    names = tmp_path / "hosts"
    names.write_text("".join(f"{host_network.address(number)}\n" for number in range(4)))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return names


@needs_hosts
@pytest.mark.slow
def test_workers_on_four_hosts_train_together(hosts, ssh, tmp_path):
    hosts.shape(1000, 0)
    launch = [sys.executable, "-m", "mxnet.tools.launch", "-n", "4", "-H", str(ssh)]
    program = [sys.executable, str(HERE / "job.py"), "resumed", "dist_sync", str(tmp_path), "3"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MXNET_KVSTORE_TIMEOUT": "60"}
    done = subprocess.run([*launch, *program], env=environment, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0 and done.stdout.count("ok\n") == 4, done.stdout + done.stderr


@needs_hosts
@pytest.mark.slow
def test_a_host_that_does_not_answer_is_told(hosts, ssh, tmp_path):
    ssh.write_text(f"{host_network.address(0)}\n{host_network.SUBNET}.200\n")
    launch = [sys.executable, "-m", "mxnet.tools.launch", "-n", "2", "-H", str(ssh)]
    program = [sys.executable, str(HERE / "job.py"), "resumed", "dist_sync", str(tmp_path), "3"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MXNET_KVSTORE_TIMEOUT": "20"}
    done = subprocess.run([*launch, *program], env=environment, capture_output=True, text=True, timeout=180)
    assert done.returncode == 255  # ssh's own
    assert f"the workers on {host_network.SUBNET}.200 failed with exit code" in done.stderr, done.stderr


@needs_hosts
@pytest.mark.minutes
def test_a_slow_link_is_slow_and_two_bits_help(hosts, tmp_path):
    path = tmp_path / "rows.json"
    command = [sys.executable, str(BENCHMARKS / "hosts.py"), "--hosts", "4", "--quick", "--json", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    fast, slow = (row["seconds"] for row in json.loads(path.read_text()))
    assert slow["at the step"] > 1.3 * fast["at the step"]
    assert slow["2 bits"] < slow["at the step"]


def rows_of(model):
    """What a cluster that follows the model exactly would give."""
    for hosts in (2, 4):
        for megabits, milliseconds in ((25, 0), (100, 0), (100, 5), (200, 0)):
            row = {"hosts": hosts, "megabits": megabits, "milliseconds": milliseconds, "bytes": 2e6}
            seconds = {"apart": 0.05}
            for way in ("at the step", "overlapped", "2 bits"):
                facts = hosts, 0.05, 2e6, megabits * 125000, milliseconds / 1e3
                seconds[way] = model.step(way, *facts)
            yield {**row, "seconds": seconds}


def test_the_model_finds_its_own_constants():
    made = scaling_model.Model(payload=0.85, message=0.004, unpack=3e-9, pack=1e-8, hidden=0.4)
    rows = list(rows_of(made))
    fitted = scaling_model.fit([row for row in rows if row["hosts"] == 2])
    assert all(abs(error) < 0.02 for _, _, _, error in scaling_model.compare(fitted, rows))
    assert (fitted.payload, fitted.message, fitted.hidden) == (made.payload, made.message, made.hidden)


def test_the_ring_is_bounded_and_two_bits_are_not():
    model = scaling_model.Model(payload=1.0, message=0.0, unpack=0.0, pack=0.0, hidden=0.0)
    dense, bits = ([model.exchange(way, n, 1e8, 1e9, 0) for n in (2, 32, 64)] for way in ("at the step", "2 bits"))
    assert dense[2] < 2 * 1e8 / 1e9 and abs(bits[1] - dense[1]) < 1e-9 and bits[2] > dense[2]


def test_a_name_that_looks_like_an_option_is_none():
    """ssh would take `-oProxyCommand=…` as an order to run a command."""
    from mxnet.tools import hosts as launching

    for name in ("-oProxyCommand=touch x", "-oProxyCommand=touch x:22"):
        line = launching.ssh(name, "true")
        assert line[-2:] == ["-oProxyCommand=touch x", "true"] and line[-3] == "--"
        assert "ConnectTimeout=20" in line  # else a host that does not answer is waited for for minutes
