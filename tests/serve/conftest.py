"""A saved network with two outputs, and a server of it in this process."""

import pathlib
import sys
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn

import mxnet as mx
from mxnet import nd
from mxnet.serve.app import application
from mxnet.serve.connection import CONFIG
from mxnet.serve.settings import Settings

sys.path.insert(0, str(pathlib.Path(__file__).parent))


def save(folder):
    """A network whose outputs tell rows apart."""
    data = mx.sym.var("data")
    hidden = mx.sym.FullyConnected(data, num_hidden=4, name="fc")
    symbol = mx.sym.Group([mx.sym.softmax(hidden, name="prob"), mx.sym.sum(data, axis=1, name="sum")])
    mx.random.seed(3)
    weights = {"fc_weight": nd.random.normal(shape=(4, 6)), "fc_bias": nd.random.normal(shape=4)}
    mx.model.save_checkpoint(str(folder / "net"), 2, symbol, weights, {})
    return str(folder / "net")


@pytest.fixture(scope="session")
def prefix(tmp_path_factory):
    return save(tmp_path_factory.mktemp("served"))


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


@pytest.fixture(scope="session")
def address(prefix):
    settings = Settings(prefix, 2, "net", {"data": (1, 6)}, max_batch=8, max_body=10000, timeout=20)
    with serving(settings) as found:
        yield found
