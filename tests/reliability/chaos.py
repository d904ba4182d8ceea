"""A job of four workers, each on a host of its own, that is disturbed: the weights at the end are those of quiet days.

Hosts are network namespaces on a bridge, where `ip netns` works: then links are cut, too. Elsewhere the hosts are this
machine's loopback, and workers are killed and stopped only. ssh is a script that enters the host's namespace.
"""

import contextlib
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import mxnet as mx

JOB = pathlib.Path(__file__).parents[1] / "wire" / "job.py"
HOSTS, STEPS, TIMEOUT = 4, 60, 10
NETWORK = "10.213.77"  # of the bridge between the namespaces
SSH = """#!/bin/sh
for command; do :; done
for word; do case "$word" in {network}.*) exec ip netns exec {name}"${{word##*.}}" sh -c "$command";; esac; done
exec sh -c "$command"
"""


def call(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True)


class Namespaces:
    """Hosts of their own, on a bridge."""

    count = 0

    def __init__(self):
        Namespaces.count += 1  # the kernel takes its time to forget a link of the same name
        self.name = f"rx{os.getpid() % 100000}{'abcdefgh'[Namespaces.count % 8]}"
        self.hosts = [f"{NETWORK}.{i + 1}" for i in range(HOSTS)]

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self):
        call("ip", "link", "add", f"{self.name}b", "type", "bridge")
        call("ip", "link", "set", f"{self.name}b", "up")
        for i, address in enumerate(self.hosts, 1):
            host = f"{self.name}{i}"
            call("ip", "netns", "add", host)
            call("ip", "link", "add", host, "type", "veth", "peer", "name", "eth0", "netns", host)
            call("ip", "link", "set", host, "master", f"{self.name}b", "up")
            call("ip", "-n", host, "addr", "add", f"{address}/24", "dev", "eth0")
            call("ip", "-n", host, "link", "set", "eth0", "up")
            call("ip", "-n", host, "link", "set", "lo", "up")

    def __exit__(self, *_):
        for i in range(1, HOSTS + 1):
            subprocess.run(["ip", "link", "del", f"{self.name}{i}"], capture_output=True)
            subprocess.run(["ip", "netns", "del", f"{self.name}{i}"], capture_output=True)
        subprocess.run(["ip", "link", "del", f"{self.name}b"], capture_output=True)

    def link(self, rank, state):
        """Cut a host off, or connect it again."""
        call("ip", "link", "set", f"{self.name}{rank + 1}", state)

    def limit(self, rank, rate):
        """Slow down what a host receives."""
        shape = ("tbf", "rate", rate, "burst", "2kb", "latency", "2s")
        call("tc", "qdisc", "replace", "dev", f"{self.name}{rank + 1}", "root", *shape)

    def repair(self):
        """All links up and fast again."""
        for rank in range(HOSTS):
            self.link(rank, "up")
            subprocess.run(["tc", "qdisc", "del", "dev", f"{self.name}{rank + 1}", "root"], capture_output=True)


class Loopback:
    """All hosts are this machine."""

    name, hosts = "none", ["127.0.0.1", "localhost"] * (HOSTS // 2)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Nothing was made."""

    repair = __exit__


def hosts():
    """The best that this machine has."""
    try:
        with Namespaces():
            return Namespaces()
    except (OSError, subprocess.CalledProcessError):
        return Loopback()


# ---------------------------------------------------------------------- disturbances of a network and its processes
def nothing(network, processes):
    """No disturbance."""


def kill_worker(network, processes):
    os.kill(processes[random.randrange(1, HOSTS)], signal.SIGKILL)


def kill_leader(network, processes):
    os.kill(processes[0], signal.SIGKILL)


def stop_worker(network, processes):
    os.kill(processes[random.randrange(HOSTS)], signal.SIGSTOP)


def cut_link(network, processes):
    """For longer than workers wait."""
    rank = random.randrange(HOSTS)
    network.link(rank, "down")
    time.sleep(TIMEOUT + 3)
    network.link(rank, "up")


def loose_contact(network, processes):
    """Interruptions that TCP mends: messages come late."""
    for _ in range(5):
        rank = random.randrange(HOSTS)
        network.link(rank, "down")
        time.sleep(0.15)
        network.link(rank, "up")
        time.sleep(0.15)


def slow_link(network, processes):
    """A link that carries 8 KB a second: messages wait in its queue."""
    network.limit(random.randrange(HOSTS), "64kbit")


ANYWHERE = {"killed worker": kill_worker, "killed leader": kill_leader, "stopped worker": stop_worker}
LINKS = {"cut link": cut_link, "loose contact": loose_contact, "slow link": slow_link}


# ---------------------------------------------------------------------- a job
def _start(network, folder):
    ssh, names = folder / "ssh", folder / "hosts"
    ssh.write_text(SSH.format(network=NETWORK, name=network.name))
    ssh.chmod(0o755)
    names.write_text("\n".join(network.hosts))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MXNET_KVSTORE_TIMEOUT": str(TIMEOUT), "PAUSE": "0.02"}
    environment["PATH"] = f"{folder}{os.pathsep}{environment['PATH']}"
    port = str(random.randrange(20000, 30000))
    command = [sys.executable, "-m", "mxnet.tools.launch", "-n", str(HOSTS), "-H", str(names), "--max-restarts", "2"]
    command += [
        "--port",
        port,
        "--env",
        "PAUSE",
        sys.executable,
        str(JOB),
        "resumed",
        "dist_sync",
        str(folder),
        str(STEPS),
    ]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _processes(job, said):
    """{rank: process} of the workers, when all have begun."""
    found = {}
    for line in job.stdout:
        said.append(line)
        if told := re.search(r"worker (\d+) begins with step \d+ as process (\d+)", line):
            found[int(told[1])] = int(told[2])
        if len(found) == HOSTS:
            break
    return found


def run(network, disturb, folder):
    """Weights at the end, restarts, seconds."""
    start, said = time.monotonic(), []
    job = _start(network, folder)
    try:
        processes = _processes(job, said)
        time.sleep(random.uniform(0.3, 1.5))
        with contextlib.suppress(ProcessLookupError):
            disturb(network, processes)
        said.append(job.communicate(timeout=180)[0])
    finally:
        job.terminate()
        job.wait(30)
    text = "".join(said)
    if job.returncode:
        raise RuntimeError(f"the job failed with exit code {job.returncode}:\n{text}")
    weights = {name: array.asnumpy() for name, array in mx.nd.load(str(folder / "end.params")).items()}
    return weights, text.count("all workers start again"), time.monotonic() - start


def campaign(times=1):
    """(name, restarts, seconds, what is wrong or None) for each disturbance."""
    network = hosts()
    disturbances = {**ANYWHERE, **(LINKS if isinstance(network, Namespaces) else {})}
    with network:
        expected = _quiet(network)
        for name, disturb in [item for item in disturbances.items() for _ in range(times)]:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    weights, restarts, seconds = run(network, disturb, pathlib.Path(folder))
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    yield name, 0, 0.0, str(error)
                    continue
                finally:
                    network.repair()
            same = all(np.array_equal(weights[key], expected[key]) for key in expected)
            yield name, restarts, seconds, None if same else "the weights differ from those of an undisturbed run"


def _quiet(network):
    with tempfile.TemporaryDirectory() as folder:
        return run(network, nothing, pathlib.Path(folder))[0]
