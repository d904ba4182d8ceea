"""What the tests of the server share."""

import os
import subprocess
import sys
import time

import numpy as np
import requests

from mxnet._core.ports import free_port


def tensor(array, **changed):
    """A tensor of the protocol."""
    array = np.asarray(array, "float32")
    item = {"name": "data", "shape": list(array.shape), "datatype": "FP32", **changed}
    if "data" not in item and "parameters" not in changed:
        item["data"] = array.ravel().tolist()
    return item


def ask(address, row, client=requests):
    """The answer to a request in JSON."""
    return client.post(address + "/v2/models/net/infer", json={"inputs": [tensor(row)]}, timeout=600)


def started(prefix, *options):
    """A server of its own that is ready, and its address."""
    port = free_port()
    command = [sys.executable, "-m", "mxnet.cli", "serve", prefix, "--shape", "1,6", "--port", str(port), *options]
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL)
    address, limit = f"http://127.0.0.1:{port}", time.monotonic() + 400  # kernels may have to be compiled
    while time.monotonic() < limit and process.poll() is None:
        try:
            if requests.get(address + "/v2/health/ready", timeout=5).status_code == 200:
                return process, address
        except requests.ConnectionError:
            time.sleep(0.05)
    process.kill()
    raise AssertionError("the server did not start")


def metric(address, name):
    """A number of /metrics."""
    text = requests.get(address + "/metrics", timeout=30).text
    return next(float(line.split()[1]) for line in text.splitlines() if line.startswith(name + " "))


def wait_for(true, seconds=300):
    """Wait until something is so; a busy machine takes long to start a worker."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)
