"""Several worker processes behind one front: they are killed under load, and no request that was accepted is lost."""

import os
import random
import signal
import subprocess
import threading
import time

import numpy as np
import pytest
import requests
from serve_support import ask, started

DEADLY = float(os.environ.get("SERVE_SECONDS", "8"))  # how long workers are killed


def workers_of(process):
    """The process ids of a server's workers."""
    find = ["pgrep", "-P", str(process.pid), "-f", "mxnet.serve.worker"]
    return [int(pid) for pid in subprocess.run(find, capture_output=True, text=True).stdout.split()]


class Client(threading.Thread):
    """Asks without pause until told to stop; every request must get the right answer, whatever it takes."""

    def __init__(self, address, number):
        super().__init__()
        self._address, self._random = address, np.random.RandomState(number)
        self.stop, self.answered, self.wrong = threading.Event(), 0, []

    def run(self):
        with requests.Session() as session:
            while not self.stop.is_set():
                row = self._random.randint(-50, 50, (1, 6)).astype("float32")
                try:
                    answer = ask(self._address, row, session)
                    if answer.status_code != 200 or answer.json()["outputs"][1]["data"] != [float(row.sum())]:
                        self.wrong.append((answer.status_code, answer.text[:200]))
                except requests.RequestException as error:
                    self.wrong.append(repr(error))
                self.answered += 1


def metric(address, name):
    text = requests.get(address + "/metrics", timeout=30).text
    return next(float(line.split()[1]) for line in text.splitlines() if line.startswith(name + " "))


@pytest.mark.slow
def test_no_request_is_lost_with_a_worker(prefix):
    begin = time.monotonic()
    process, address = started(prefix, "--workers", "2", "--max-batch", "8", "--timeout", "300")
    start = time.monotonic() - begin  # on a busy machine workers take long to start: then they are killed less often
    clients, choose, killed = [Client(address, number) for number in range(4)], random.Random(3), 0
    try:
        for client in clients:
            client.start()
        until = time.monotonic() + DEADLY
        while time.monotonic() < until:
            time.sleep(choose.uniform(0.1, 0.8) * start)
            ready = requests.get(address + "/v2/health/ready", timeout=60).status_code == 200
            if ready and (found := workers_of(process)):  # one that answers or one that still starts
                os.kill(choose.choice(found), signal.SIGKILL)
                killed += 1
        answered, deaths = sum(client.answered for client in clients), metric(address, "remx_worker_deaths_total")
        print(f"{answered} answers, {killed} workers killed, {metric(address, 'remx_retried_requests_total')} retries")
    finally:
        for client in clients:
            client.stop.set()
        for client in clients:
            client.join() if client.is_alive() else None
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    assert not [wrong for client in clients for wrong in client.wrong]
    assert killed >= 2 and deaths >= killed - 1 and answered > 20


@pytest.mark.slow
def test_the_front_answers_as_the_server_does(prefix):
    process, address = started(prefix, "--workers", "2", "--max-body", "10000", "--timeout", "20")
    try:
        infer = address + "/v2/models/net/infer"
        assert ask(address, np.ones((2, 6))).json()["outputs"][1]["data"] == [6.0, 6.0]
        assert requests.post(infer, b"{").status_code == 400
        assert requests.post(infer, b" " * 10001).status_code == 413
        assert requests.post(infer, (b" " * 6000 for _ in range(2))).status_code == 413
        assert requests.get(infer).status_code == 405 and requests.get(address + "/nothing").status_code == 404
        wrong = requests.post(address + "/predictions/other", json=[])
        assert wrong.status_code == 404 and wrong.json()["type"] == "ModelNotFoundException"
        assert requests.get(address + "/v2/health/live").json() == {"live": True}
        assert requests.get(address + "/v2/models/net").json()["inputs"][0]["shape"] == [-1, 6]
        assert "remx_requests_total" in requests.get(address + "/metrics").text
        found = workers_of(process)
        process.kill()  # the workers do not outlive the front
        until = time.monotonic() + 20
        while any(os.path.exists(f"/proc/{pid}") for pid in found) and time.monotonic() < until:
            time.sleep(0.1)
        assert len(found) == 2 and not any(os.path.exists(f"/proc/{pid}") for pid in found)
    finally:
        process.kill()
        process.wait()
