"""What the tests of the server share."""

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import requests
import uvicorn

import mxnet as mx
from mxnet import nd
from mxnet._core.ports import free_port
from mxnet.serve.app import application
from mxnet.serve.connection import CONFIG


def save(folder):
    """A network whose outputs tell rows apart."""
    data = mx.sym.var("data")
    hidden = mx.sym.FullyConnected(data, num_hidden=4, name="fc")
    symbol = mx.sym.Group([mx.sym.softmax(hidden, name="prob"), mx.sym.sum(data, axis=1, name="sum")])
    mx.random.seed(3)
    weights = {"fc_weight": nd.random.normal(shape=(4, 6)), "fc_bias": nd.random.normal(shape=4)}
    mx.model.save_checkpoint(str(folder / "net"), 2, symbol, weights, {})
    return str(folder / "net")


@contextmanager
def serving(settings):
    """The address of a server that runs in a thread."""
    server = uvicorn.Server(uvicorn.Config(application(settings), port=0, log_level="error", **CONFIG))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


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
