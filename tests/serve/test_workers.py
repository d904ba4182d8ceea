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
from serve_support import ask, metric, started, wait_for

KILLS = int(os.environ.get("SERVE_KILLS", "3"))  # how many workers are killed at least
SECONDS = float(os.environ.get("SERVE_SECONDS", "0"))  # how long the load lasts at least


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


@pytest.fixture(scope="module")
def front(prefix):
    """(process, address) of a server with two workers."""
    options = ["--workers", "2", "--max-batch", "8", "--max-body", "10000", "--timeout", "600"]
    process, address = started(prefix, *options)
    yield process, address
    process.kill()
    process.wait()


@pytest.mark.slow
def test_the_front_answers_as_the_server_does(front):
    address = front[1]
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


@pytest.mark.slow
def test_no_request_is_lost_with_a_worker(front):
    process, address = front
    clients, choose = [Client(address, number) for number in range(4)], random.Random(3)
    answered = lambda: sum(client.answered for client in clients)
    killed, until = 0, time.monotonic() + SECONDS
    try:
        for client in clients:
            client.start()
        while killed < KILLS or time.monotonic() < until:
            before, pause = answered(), choose.uniform(0, min(SECONDS, 20))
            wait_for(lambda before=before: answered() > before + 20)
            time.sleep(pause)
            os.kill(choose.choice(workers_of(process)), signal.SIGKILL)  # one that answers or one that still starts
            killed += 1
            wait_for(lambda killed=killed: metric(address, "remx_worker_deaths_total") == killed)
        before = answered()
        wait_for(lambda: answered() > before + 20)
        retries = metric(address, "remx_retried_requests_total")
        print(f"{answered()} answers, {killed} workers killed, {retries:.0f} requests given to another worker")
    finally:
        for client in clients:
            client.stop.set()
        for client in clients:
            client.join() if client.is_alive() else None
    assert not [wrong for client in clients for wrong in client.wrong]


@pytest.mark.slow
def test_workers_do_not_outlive_the_front(front):
    process, _ = front
    wait_for(lambda: len(workers_of(process)) == 2)
    found = workers_of(process)
    process.kill()  # the last test with this server
    wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in found), 20)
