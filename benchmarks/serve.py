"""Requests a second and p99 of `remx serve` at 1, 8 and 64 connections, beside the bare Predictor and ONNX Runtime.

OMP_NUM_THREADS=1 python benchmarks/serve.py [--seconds 5] [--network resnet18_v1] [--size 64]

The server is a process of its own; clients are threads of this one, with connections that they keep and tensors in
bytes. ONNX Runtime is served by the same application, queue and batches.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import mxnet as mx
from mxnet import nd
from mxnet._core.ports import free_port
from mxnet._kernels.runtime.loader import load_used
from mxnet.gluon.model_zoo import vision

CONNECTIONS = (1, 8, 64)
MAX_BATCH = 16


def save(name, size, folder):
    """The network as a checkpoint and as ONNX."""
    mx.random.seed(0)
    net = vision.get_model(name, classes=10)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    net(nd.zeros((1, 3, size, size)))
    prefix = os.path.join(folder, "net")
    net.export(prefix)
    dynamic = {"dynamic": True, "dynamic_input_shapes": [("batch", 3, size, size)]}
    path, shape = f"{prefix}.onnx", [(1, 3, size, size)]
    mx.onnx.export_model(f"{prefix}-symbol.json", f"{prefix}-0000.params", shape, onnx_file_path=path, **dynamic)
    return prefix


# ---------------------------------------------------------------------- servers
def serve(engine, prefix, size, port):
    """Serve until this process is ended."""
    import uvicorn

    from mxnet.serve.app import application
    from mxnet.serve.model import Model
    from mxnet.serve.settings import Settings

    settings = Settings(prefix, 0, "net", {"data": (1, 3, size, size)}, max_batch=MAX_BATCH)
    model = Model(settings)
    if engine == "onnxruntime":
        model._compute = onnx_session(prefix, model.outputs)
    uvicorn.run(application(settings, model), port=port, log_level="warning")


def onnx_session(prefix, names):
    """What computes the outputs by ONNX Runtime, with as many threads as torch has."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", "0"))
    session = onnxruntime.InferenceSession(f"{prefix}.onnx", options, providers=["CPUExecutionProvider"])
    return lambda arrays: dict(zip(names, session.run(None, arrays), strict=True))


def started(engine, prefix, size):
    """A server process that is ready, and its port."""
    port = free_port()
    command = [
        sys.executable,
        __file__,
        "--serve",
        engine,
        "--prefix",
        prefix,
        "--size",
        str(size),
        "--port",
        str(port),
    ]
    process = subprocess.Popen(command)
    while process.poll() is None:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("GET", "/v2/health/ready")
            if connection.getresponse().status == 200:
                return process, port
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"the server of {engine} has ended")


# ---------------------------------------------------------------------- clients
def request_of(size):
    """(body, headers) of a request with one row."""
    data = np.random.RandomState(0).uniform(size=(1, 3, size, size)).astype("float32")
    item = {"name": "data", "datatype": "FP32", "shape": list(data.shape)}
    item["parameters"] = {"binary_data_size": data.nbytes}
    head = json.dumps({"inputs": [item], "parameters": {"binary_data_output": True}}).encode()
    return head + data.tobytes(), {"Inference-Header-Content-Length": str(len(head))}


def client(port, body, headers, until, times):
    """One connection: request after request."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    while time.perf_counter() < until:
        start = time.perf_counter()
        connection.request("POST", "/v2/models/net/infer", body, headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise SystemExit(f"status {answer.status}")
        times.append(time.perf_counter() - start)


def load(port, size, connections, seconds):
    """(requests a second, median and p99 in ms)."""
    body, headers = request_of(size)
    times, start = [], time.perf_counter()
    threads = [
        threading.Thread(target=client, args=(port, body, headers, start + seconds, times)) for _ in range(connections)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - start
    return len(times) / took, *np.percentile(times, [50, 99]) * 1e3


def bare(prefix, size, seconds):
    """The same for a Predictor in a loop."""
    predictor = mx.deploy.Predictor(prefix, 0, {"data": (1, 3, size, size)})
    data, times = np.zeros((1, 3, size, size), "float32"), []
    for _ in range(3):  # as the server does before it is ready
        predictor.forward(data=data).get_output(0)
        load_used()
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        start = time.perf_counter()
        predictor.forward(data=data).get_output(0)
        times.append(time.perf_counter() - start)
    return len(times) / sum(times), *np.percentile(times, [50, 99]) * 1e3


def row(what, connections, found):
    print(f"| {what} | {connections} | {found[0]:.0f} | {found[1]:.1f} | {found[2]:.1f} |", flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=float, default=5.0)
    options.add_argument("--network", default="resnet18_v1")
    options.add_argument("--size", type=int, default=64)
    options.add_argument("--serve", help=argparse.SUPPRESS)
    options.add_argument("--prefix", help=argparse.SUPPRESS)
    options.add_argument("--port", type=int, help=argparse.SUPPRESS)
    told = options.parse_args()
    if told.serve:
        return serve(told.serve, told.prefix, told.size, told.port)
    with tempfile.TemporaryDirectory() as folder:
        prefix = save(told.network, told.size, folder)
        print(f"{told.network}, 3x{told.size}x{told.size}, batches of up to {MAX_BATCH} rows")
        print("| what | connections | requests/s | median ms | p99 ms |\n|---|---|---|---|---|")
        row("bare Predictor", "-", bare(prefix, told.size, told.seconds))
        for engine in ("remx", "onnxruntime"):
            process, port = started(engine, prefix, told.size)
            try:
                load(port, told.size, 8, 1.0)  # kernels are chosen and compiled for each number of rows
                for connections in CONNECTIONS:
                    row(f"served, {engine}", connections, load(port, told.size, connections, told.seconds))
            finally:
                process.terminate()
                process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
