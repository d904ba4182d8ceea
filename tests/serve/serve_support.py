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
    return client.post(address + "/v2/models/net/infer", json={"inputs": [tensor(row)]}, timeout=300)


def started(prefix, *options):
    """A server of its own that is ready, and its address."""
    port = free_port()
    command = [sys.executable, "-m", "mxnet.cli", "serve", prefix, "--shape", "1,6", "--port", str(port), *options]
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL)
    address, limit = f"http://127.0.0.1:{port}", time.monotonic() + 120
    while time.monotonic() < limit and process.poll() is None:
        try:
            if requests.get(address + "/v2/health/ready", timeout=5).status_code == 200:
                return process, address
        except requests.ConnectionError:
            time.sleep(0.05)
    process.kill()
    raise AssertionError("the server did not start")
