"""Many requests at once, limits of time and of the queue, and the end of a server."""

import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import requests
from serve_support import ask, metric, save, serving, started, wait_for

import mxnet as mx
from mxnet.cli import main
from mxnet.serve.app import Server
from mxnet.serve.model import Model
from mxnet.serve.settings import Settings


def settings(prefix, **changed):
    return Settings(prefix, 2, "net", {"data": (1, 6)}, **changed)


def test_requests_are_computed_together_and_answers_not_mixed_up(prefix, monkeypatch):
    batches, run = [], Server.__init__

    def watched(self, told, model):
        run(self, told, model)
        compute = self.model.run
        self.model.run = lambda requests: batches.append(len(requests)) or compute(requests)

    monkeypatch.setattr(Server, "__init__", watched)
    rows = np.random.RandomState(1).normal(size=(40, 2, 6)).astype("float32")
    with serving(settings(prefix, max_batch=8, max_delay=0.1)) as address, ThreadPoolExecutor(16) as clients:
        answers = list(clients.map(lambda row: ask(address, row).json(), rows))
    for row, answer in zip(rows, answers, strict=True):
        np.testing.assert_allclose(answer["outputs"][1]["data"], row.sum(1), rtol=1e-4, atol=1e-5)
    assert sum(batches) == 40 and max(batches) == 4  # 4 requests of 2 rows fill a batch of 8


@pytest.fixture
def slow(monkeypatch):
    """A network that waits: events that tell that it was asked, and that let it answer."""
    asked, go_on, run = threading.Event(), threading.Event(), Server.__init__

    def changed(self, told, model):
        run(self, told, model)
        compute = self.model.run
        self.model.run = lambda requests: asked.set() or (go_on.wait(30) and compute(requests))

    monkeypatch.setattr(Server, "__init__", changed)
    return asked, go_on


def test_limits_of_time_and_of_the_queue(prefix, slow):
    asked, go_on = slow
    row = np.ones((1, 6))
    with serving(settings(prefix, max_batch=1, queue=2, timeout=3)) as address, ThreadPoolExecutor(8) as clients:
        first = clients.submit(ask, address, row)
        assert asked.wait(30)
        others = [clients.submit(ask, address, row) for _ in range(5)]
        statuses = [one.result().status_code for one in [first, *others]]
        assert sorted(statuses) == [503] * 3 + [504] * 3, statuses  # one computes and two wait: too long for all three
        go_on.set()
        assert ask(address, row).status_code == 200


@pytest.mark.parametrize(("limit", "statuses"), [(20000, [200, 200, 503]), (1 << 20, [200] * 3)])
def test_bytes_of_waiting_bodies_are_limited(prefix, slow, limit, statuses):
    """Three bodies of 10,000 bytes wait for a slow network; what was answered counts no longer."""
    asked, go_on = slow
    rows = np.ones((300, 6))
    told = settings(prefix, max_batch=300, timeout=20, max_bodies=limit)
    with serving(told) as address, ThreadPoolExecutor(8) as clients:
        first = clients.submit(ask, address, rows)
        assert asked.wait(30)
        waiting = [first, *(clients.submit(ask, address, rows) for _ in range(2))]
        wait_for(lambda: metric(address, "remx_queue_length") == statuses.count(200) - 1)
        wait_for(lambda: sum(one.done() for one in waiting) == statuses.count(503))
        go_on.set()
        assert sorted(one.result().status_code for one in waiting) == statuses
        assert ask(address, rows).status_code == 200


def test_a_network_that_fails_answers_500_and_goes_on(prefix, monkeypatch):
    run = Server.__init__

    def broken(self, told, model):
        run(self, told, model)
        compute = self.model.run
        self.model.run = lambda requests: compute(requests) if requests[0]["data"][0, 0] else 1 / 0

    monkeypatch.setattr(Server, "__init__", broken)
    with serving(settings(prefix)) as address:
        answer = ask(address, np.zeros((1, 6)))
        assert answer.status_code == 500 and "division" not in answer.text
        assert ask(address, np.ones((1, 6))).status_code == 200


def test_a_request_that_fails_does_not_fail_others_of_its_batch(prefix, monkeypatch):
    run = Server.__init__

    def broken(self, told, model):
        run(self, told, model)
        compute = self.model.run
        self.model.run = lambda requests: compute(requests) if all(one["data"][0, 0] for one in requests) else 1 / 0

    monkeypatch.setattr(Server, "__init__", broken)
    rows = [np.full((1, 6), i % 4) for i in range(12)]
    with serving(settings(prefix, max_batch=8, max_delay=0.2)) as address, ThreadPoolExecutor(12) as clients:
        answers = list(clients.map(lambda row: ask(address, row), rows))
    assert [answer.status_code for answer in answers] == [500 if i % 4 == 0 else 200 for i in range(12)]
    assert [answer.json()["outputs"][1]["data"] for answer in answers if answer.ok] == [
        [6.0 * (i % 4)] for i in range(12) if i % 4
    ]


def saved_network(folder, symbol, *shape):
    """A checkpoint of a symbol with random parameters."""
    mx.random.seed(4)
    shapes, _, _ = symbol.infer_shape(data=shape)
    drawn = {n: mx.nd.random.normal(shape=s) for n, s in zip(symbol.list_arguments(), shapes, strict=True)}
    del drawn["data"]
    mx.model.save_checkpoint(str(folder / "net"), 2, symbol, drawn, {})
    return str(folder / "net")


def over_time(data):
    """A recurrent network of MXNet's default layout: the first axis is time, the second the batch."""
    states = {"state": mx.sym.zeros((1, 1, 4)), "state_cell": mx.sym.zeros((1, 1, 4))}
    return mx.sym.RNN(data, mx.sym.var("weights"), **states, mode="lstm", state_size=4, num_layers=1)


@pytest.mark.parametrize("network", [over_time, lambda data: mx.sym.softmax(data, axis=0)])
def test_requests_whose_first_axis_is_no_batch_are_not_computed_together(network, tmp_path):
    prefix = saved_network(tmp_path, network(mx.sym.var("data")), 5, 1, 3)
    rows = np.random.RandomState(1).normal(size=(12, 5, 1, 3)).astype("float32")
    alone = mx.deploy.Predictor(prefix, 2, {"data": (5, 1, 3)})
    expected = [alone.forward(data=one).get_output(0).ravel() for one in rows]
    told = Settings(prefix, 2, "net", {"data": (5, 1, 3)}, max_delay=0.2)
    with serving(told) as address, ThreadPoolExecutor(12) as clients:
        answers = list(clients.map(lambda one: ask(address, one), rows))
        shape = requests.get(address + "/v2/models/net").json()["inputs"][0]["shape"]
    for answer, wanted in zip(answers, expected, strict=True):
        np.testing.assert_allclose(answer.json()["outputs"][0]["data"], wanted, rtol=0, atol=1e-6)
    assert shape == [5, 1, 3]


@pytest.mark.parametrize("network", [lambda data: mx.sym.argmax(data, axis=1), mx.sym.BlockGrad])
def test_requests_of_networks_with_a_batch_are_computed_together(network, tmp_path):
    model = Model(Settings(saved_network(tmp_path, network(mx.sym.var("data")), 1, 3), 2, "net", {"data": (1, 3)}))
    assert model.has_rows and model.max_batch == 32


def test_what_was_accepted_is_answered_before_the_end(prefix):
    process, address = started(prefix, "--max-delay", "1")
    try:
        with ThreadPoolExecutor(1) as clients:
            answer = clients.submit(ask, address, np.ones((1, 6)))
            wait_for(lambda: answer.done() or metric(address, "remx_queue_length") == 1)
            process.send_signal(signal.SIGTERM)
            assert answer.result().status_code == 200
        assert process.wait(30) in (0, -signal.SIGTERM)  # uvicorn raises the signal again when it is done
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--port", "70000", "'70000' is no port"),
        ("--timeout", "inf", "'inf' is not a number of seconds"),
        ("--max-delay", "nan", "'nan' is not a number of seconds"),
        ("--name", "a/b", "a name has no slash"),
    ],
)
def test_options_that_mean_nothing(prefix, capsys, option, value, said):
    with pytest.raises(SystemExit):
        main(["serve", prefix, "--shape", "1,6", option, value])
    assert said in capsys.readouterr().err


def test_packages_that_are_missing(prefix, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["serve", prefix, "--shape", "1,6"]) == 1
    assert "pip install 'remx[serve]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{folder}/other", "--shape", "1,6"], "there is no file"),
        (["{folder}/net"], "give the shape of every input"),
        (["{folder}/net", "--shape", "x=1,6"], "the network has no input x"),
        (["{folder}/net", "--shape", "1,6", "--epoch", "7"], "net-0007.params; there are epochs 2"),
        (["{folder}/net", "--shape", "1,6", "--type", "x=int8"], "--type: the network has no input x; it has data"),
        (["{folder}/net", "--shape", "1,7"], "Provided = [4,6], inferred shape=[4,7]"),
        (["{folder}/net", "--shape", "1,6", "--host", "203.0.113.9"], "cannot listen on 203.0.113.9, port 8080"),
        (["{folder}/net", "--shape", "1,6", "--host", "no.such.host.invalid"], "cannot listen on no.such.host"),
    ],
)
def test_what_the_command_refuses(arguments, said, tmp_path, capsys):
    save(tmp_path)
    code = main(["serve", *[argument.format(folder=tmp_path) for argument in arguments]])
    told = capsys.readouterr()
    assert code == 1 and said in told.err and not told.out


def answers(address):
    """Whether anybody listens; before the server is ready connections are refused, not left to wait."""
    try:
        return requests.get(address + "/v2/health/ready", timeout=60).ok
    except requests.ConnectionError:
        return False


def test_a_port_that_the_system_chooses_is_told(prefix):
    command = [sys.executable, "-m", "mxnet.cli", "serve", prefix, "--shape", "1,6", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = re.search(r"http://127\.0\.0\.1:[1-9]\d*", process.stdout.readline())[0]
        taken = main(["serve", prefix, "--shape", "1,6", "--port", address.rpartition(":")[2]])
        wait_for(lambda: answers(address))
        assert ask(address, np.ones((1, 6))).status_code == 200 and taken == 1
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        process.stdout.close()
