"""Clients that are silent, send heads without end, do not read, or ask for more than their bytes are worth."""

import json
import os
import random
import socket
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
import requests
from serve_support import ask, serving, tensor

from mxnet.serve import connection
from mxnet.serve.settings import Settings

INFER = "/v2/models/net/infer"
X = np.ones((1, 6), "float32")
ONE = {"inputs": [tensor(X)]}
ROUNDS = int(os.environ.get("SERVE_ROUNDS", "60"))  # requests of each client between bad ones


@pytest.fixture
def impatient(prefix, monkeypatch):
    """A server that waits for half a second."""
    monkeypatch.setattr(connection, "SECONDS", 0.5)
    settings = Settings(prefix, 2, "net", {"data": (1, 6)}, max_batch=80_000, timeout=20)
    with serving(settings) as found:
        yield found


@contextmanager
def connected(address, sent=b""):
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=20) as sock:
        sock.sendall(sent)
        yield sock


def received(sock):
    """All that comes before the server ends the connection."""
    found = b""
    try:
        while part := sock.recv(1 << 16):
            found += part
    except ConnectionResetError:
        pass
    return found


HEAD = b"POST /predictions/net HTTP/1.1\r\nhost: here\r\n"


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"", b""),
        (HEAD, b""),
        (b"\r\n\r\n", b""),
        (HEAD + b"content-length: 99999999999\r\n\r\n[", b"413"),  # answered before its body is there
    ],
    ids=["nothing", "half a head", "empty lines", "a body that never comes"],
)
def test_who_is_silent_is_cut_off(impatient, sent, answer):
    with connected(impatient, sent) as sock:
        assert answer in received(sock)
    assert ask(impatient, X).status_code == 200


def test_who_is_silent_after_an_answer_is_cut_off(impatient):
    """An empty line ends uvicorn's own wait for the next request."""
    with connected(impatient, b"GET /ping HTTP/1.1\r\nhost: here\r\n\r\n") as sock:
        assert b"200 OK" in sock.recv(1 << 16)
        sock.sendall(b"\r\n")
        assert b"200 OK" not in received(sock)


def test_a_byte_now_and_then_does_not_prolong_the_time(impatient):
    with connected(impatient, HEAD) as sock, pytest.raises(OSError):
        for _ in range(100):
            time.sleep(0.1)
            sock.sendall(b"x")
    assert ask(impatient, X).status_code == 200


@pytest.mark.parametrize(
    "begin", [HEAD + b"a: ", HEAD + b"transfer-encoding: chunked\r\n\r\n1\r\n[\r\n0\r\na: "], ids=["head", "trailer"]
)
def test_a_head_without_end_is_cut_off(address, begin):
    with connected(address, begin) as sock, pytest.raises(OSError):
        for _ in range(2000):
            sock.sendall(b"x" * 10000)
    assert ask(address, X).status_code == 200


def test_who_does_not_read_is_cut_off(impatient):
    body = np.ones((80_000, 6), "float32").tobytes()  # its answer is longer than all buffers of the kernel
    head = HEAD + b"content-type: application/octet-stream\r\ncontent-length: %d\r\n\r\n" % len(body)
    with connected(impatient) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.sendall(head + body)
        until = time.monotonic() + 20
        while connections_of(impatient) and time.monotonic() < until:
            time.sleep(0.1)
        assert not connections_of(impatient)
    assert ask(impatient, X).status_code == 200


def connections_of(address):
    """How many connections the server has."""
    port = f":{int(address.rpartition(':')[2]):04X}"
    with open("/proc/net/tcp") as file:
        rows = [line.split() for line in file][1:]
    return sum(row[1].endswith(port) and row[3] == "01" for row in rows)


@pytest.mark.parametrize("path", [INFER, "/predictions/net"])
def test_many_texts_take_no_memory(address, path):
    """NumPy would give each of them the room of the longest: 28 MB for 9 KB."""
    data = ["a" * 3000] + [""] * 2000
    body = {"inputs": [tensor(X, data=data)]} if path == INFER else data
    tracemalloc.start()
    try:
        answer = requests.post(address + path, json.dumps(body, separators=(",", ":")), timeout=60)
        assert answer.status_code == 400 and "not of type float32" in answer.text
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


WRONG = [
    ({"inputs": [tensor(X, shape=[0] * 100, data=[])]}, "a shape may have 32 numbers"),
    ({"inputs": [tensor(X, shape=[1 << 61, 1 << 61, 0], data=[])]}, "input data"),
    ({"inputs": [tensor(X, shape=[1 << 61, 8, 0], parameters={"binary_data_size": 0})]}, "input data"),
    ({"inputs": [tensor(X, shape=[1 << 63, 0], data=[])]}, "shape must be a list of numbers"),
    ({"inputs": [tensor(X, name="\ud800")]}, r"got \ud800"),
    ({"inputs": [tensor(X)], "outputs": [{"name": "\ud800"}]}, "there is no output"),
    ({"inputs": [tensor(X)], "outputs": [{"name": "prob_output"}] * 3}, "there are 2 outputs, 3 were asked for"),
    ({"inputs": [tensor(X, data=[[[1], 2]])]}, "input data"),
]


@pytest.mark.parametrize(("body", "words"), WRONG, ids=[words for _, words in WRONG])
def test_what_no_array_can_be_is_refused_in_words(address, body, words):
    answer = requests.post(address + INFER, json.dumps(body), timeout=60)
    assert answer.status_code == 400 and words in answer.json()["error"], answer.text
    assert requests.post(address + INFER, json=ONE, timeout=60).status_code == 200


def test_a_length_of_many_digits(address):
    headers = {"Inference-Header-Content-Length": "9" * 5000}
    answer = requests.post(address + INFER, b"{}", headers=headers, timeout=60)
    assert answer.status_code == 400 and len(answer.text) < 1100


def request_in_bytes(row, binary_output):
    """(body, headers) of a good request."""
    item = tensor(row, parameters={"binary_data_size": row.nbytes})
    head = json.dumps({"inputs": [item], "parameters": {"binary_data_output": binary_output}}).encode()
    return head + row.tobytes(), {"Inference-Header-Content-Length": str(len(head))}


def damaged(choose, body, headers):
    """A request with bytes that were changed, cut off, repeated or added, or with another length."""
    body, kind = bytearray(body), choose.randrange(5)
    if kind == 0:
        for _ in range(choose.randint(1, 8)):
            body[choose.randrange(len(body))] = choose.randrange(256)
    elif kind == 1:
        del body[choose.randrange(len(body)) :]
    elif kind == 2:
        body += body[: choose.randrange(len(body))]
    elif kind == 3:
        begin = choose.randrange(len(body))
        del body[begin : begin + choose.randint(1, 20)]
    else:
        headers = {name: str(choose.choice([0, 1, len(body), len(body) + 1, -1, "x"])) for name in headers}
    return bytes(body), headers


def sum_in(answer):
    """The second output of an answer to `request_in_bytes`."""
    length = answer.headers.get("Inference-Header-Content-Length")
    head = json.loads(answer.content[: int(length)] if length else answer.content)
    sizes = [item.get("parameters", {}).get("binary_data_size", 0) for item in head["outputs"]]
    if not length:
        return head["outputs"][1]["data"]
    return np.frombuffer(answer.content[int(length) + sizes[0] :], "float32").tolist()


def test_bad_requests_beside_good_ones_change_no_answer(address):
    """Clients with numbers of their own, each with damaged requests between the good ones; some hang up."""

    def client(number):
        choose, wrong = random.Random(number), []
        with requests.Session() as session:
            for n in range(ROUNDS):
                rows = np.full((choose.randint(1, 3), 6), 1000 * number + n, "float32")
                request = request_in_bytes(rows, choose.random() < 0.5)
                body, headers = damaged(choose, *request)
                bad = session.post(address + INFER, body, headers=headers, timeout=60)
                if bad.status_code not in (200, 400):  # damage may leave a request that means something
                    wrong.append((bad.status_code, bad.text))
                if choose.random() < 0.2:
                    with connected(address, HEAD + b"content-length: 100\r\n\r\n" + body[:50]):
                        pass
                good = session.post(address + INFER, request[0], headers=request[1], timeout=60)
                if good.status_code != 200 or sum_in(good) != [6.0 * (1000 * number + n)] * len(rows):
                    wrong.append((good.status_code, good.content))
        return wrong

    with ThreadPoolExecutor(6) as clients:
        assert not [wrong for found in clients.map(client, range(1, 7)) for wrong in found]
