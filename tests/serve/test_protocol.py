"""The KServe v2 protocol and the prediction calls, as clients use them."""

import json
import re
import socket

import numpy as np
import pytest
import requests
from serve_support import tensor

import mxnet as mx
from mxnet.serve.settings import Settings

INFER = "/v2/models/net/infer"
X = np.random.RandomState(0).normal(size=(3, 6)).astype("float32")


@pytest.fixture(scope="module")
def expected(prefix):
    predictor = mx.deploy.Predictor(prefix, 2, {"data": X.shape}).forward(data=X)
    return [predictor.get_output(i) for i in range(2)]


def test_an_answer_in_json(address, expected):
    for data in (X.ravel().tolist(), X.tolist()):
        answer = requests.post(address + INFER, json={"id": "a7", "inputs": [tensor(X, data=data)]})
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert body["id"] == "a7" and body["model_name"] == "net" and body["model_version"] == "2"
        for output, value, name in zip(body["outputs"], expected, ("prob_output", "sum_output"), strict=True):
            assert output["name"] == name and output["datatype"] == "FP32" and output["shape"] == list(value.shape)
            np.testing.assert_allclose(np.reshape(output["data"], output["shape"]), value, rtol=1e-6)


def test_tensors_in_bytes(address, expected):
    head = json.dumps(
        {
            "inputs": [tensor(X, parameters={"binary_data_size": X.nbytes})],
            "outputs": [{"name": "prob_output", "parameters": {"binary_data": True}}, {"name": "sum_output"}],
        }
    ).encode()
    headers = {"Inference-Header-Content-Length": str(len(head))}
    answer = requests.post(address + INFER, head + X.tobytes(), headers=headers)
    assert answer.status_code == 200, answer.text
    length = int(answer.headers["Inference-Header-Content-Length"])
    first, second = json.loads(answer.content[:length])["outputs"]
    assert first["parameters"] == {"binary_data_size": expected[0].nbytes} and "data" not in first
    found = np.frombuffer(answer.content[length:], "float32").reshape(first["shape"])
    np.testing.assert_allclose(found, expected[0], rtol=1e-6)
    np.testing.assert_allclose(second["data"], expected[1], rtol=1e-6)


def test_health_and_metadata(address):
    get = lambda path: requests.get(address + path)
    assert get("/v2/health/live").status_code == get("/v2/health/ready").status_code == 200
    assert get("/v2/models/net/ready").json() == {"name": "net", "ready": True}
    assert get("/v2").json()["extensions"] == ["binary_tensor_data"]
    for path in ("/v2/models/net", "/v2/models/net/versions/2"):
        body = get(path).json()
        assert body["inputs"] == [{"name": "data", "datatype": "FP32", "shape": [-1, 6]}]
        assert body["outputs"][1] == {"name": "sum_output", "datatype": "FP32", "shape": [-1]}
    assert get("/ping").json() == {"status": "Healthy"}
    assert get("/models").json()["models"][0]["modelName"] == "net"
    assert get("/models/net").json()[0]["modelVersion"] == get("/models/net/2").json()[0]["modelVersion"] == "2"
    assert get("/models/net/7").status_code == 404 and get("/models/x").json()["type"] == "ModelNotFoundException"
    for body in (None, {"ready": True}):  # the model repository extension, as tritonclient asks for it
        [found] = requests.post(address + "/v2/repository/index", json=body).json()
        assert found == {"name": "net", "version": "2", "state": "READY", "reason": ""}


def test_predictions_of_the_older_servers(address, expected):
    post = lambda **body: requests.post(address + "/predictions/net", **body)
    bodies = [{"json": X.tolist()}, {"json": {"data": X.tolist()}}]
    bodies.append({"data": X.tobytes(), "headers": {"content-type": "application/octet-stream"}})
    for body in bodies:
        answer = post(**body)
        assert answer.status_code == 200, answer.text
        np.testing.assert_allclose(answer.json()["prob_output"], expected[0], rtol=1e-6)
    one = post(json=X[1].tolist()).json()  # one row, without its axis
    np.testing.assert_allclose(one["prob_output"], expected[0][1], rtol=1e-6)
    np.testing.assert_allclose(one["sum_output"], expected[1][1], rtol=1e-5)
    wrong = requests.post(address + "/predictions/other", json=[])
    assert wrong.status_code == 404 and wrong.json()["type"] == "ModelNotFoundException"
    picture = post(data=b"x", headers={"content-type": "image/jpeg"})
    assert picture.status_code == 415 and "application/octet-stream" in picture.json()["message"]


BAD = [
    (b"{", "is not JSON"),
    (b"[" * 100 + b"]" * 100, "must be a JSON object"),
    (b"[" * 4000, "is not JSON"),
    (b"\xff\xfe", "is not JSON"),
    ({}, "inputs must be a list"),
    ({"inputs": [3]}, "needs a name"),
    ({"inputs": [tensor(X), tensor(X)]}, "needs a name of its own"),
    ({"inputs": [tensor(X, name="other")]}, "the inputs of net are data, got other"),
    ({"inputs": [tensor(X, shape=[3, 7])]}, "needs 21 numbers, got 18"),
    ({"inputs": [tensor(X[:, :5])]}, "input data has shape [-1, 6], got [3, 5]"),
    ({"inputs": [tensor(X, shape=[3, -6])]}, "shape must be a list of numbers"),
    ({"inputs": [tensor(X, shape=[True, 6])]}, "shape must be a list of numbers"),
    ({"inputs": [tensor(np.zeros((9, 6)))]}, "a request has 1 to 8 rows, got 9"),
    ({"inputs": [tensor(np.zeros((0, 6)))]}, "a request has 1 to 8 rows, got 0"),
    ({"inputs": [tensor(X, datatype="FP31")]}, "unknown datatype 'FP31'"),
    ({"inputs": [tensor(X, datatype=["FP32"])]}, "unknown datatype"),
    ({"inputs": [tensor(X.astype("float64"), datatype="FP64")]}, "input data has type float32, got float64"),
    ({"inputs": [tensor(X, data=["a"] * 18)]}, "not of type float32"),
    ({"inputs": [tensor(X, data=[None] * 18)]}, "not of type float32"),
    ({"inputs": [tensor(X, data=[[1, 2], [3]])]}, "input data"),
    ({"inputs": [tensor(X, datatype="INT8", data=[300] * 18)]}, "input data"),
    ({"inputs": [tensor(X, datatype="INT32", data=[1.5] * 18)]}, "not of type int32"),
    ({"inputs": [tensor(X, parameters={"binary_data_size": 72})]}, "72 bytes are needed"),
    ({"inputs": [tensor(X, parameters=[])]}, "parameters must be a JSON object"),
    ({"inputs": [tensor(X)], "outputs": [{"name": "nothing"}]}, "there is no output 'nothing'"),
    (
        {"inputs": [tensor(X)], "outputs": [{"name": "prob_output", "parameters": {"classification": 2}}]},
        "the extension classification is not available",
    ),
    ({"inputs": [tensor(X)], "id": 7}, "id must be a text"),
    ({"inputs": [tensor(X, data=[float("nan")] * 18)]}, "NaN is not a number of JSON"),
    ({"inputs": [tensor(X, data=[-float("inf")] * 18)]}, "-Infinity is not a number of JSON"),
    ({"inputs": [tensor(X, data=[1e39] * 18)]}, "a number is too large for float32"),
    (json.dumps({"inputs": [tensor(X, data=[7] * 18)]}).replace("[7", "[1e400", 1).encode(), "a number is too large"),
]


@pytest.mark.parametrize(("body", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_has_the_status_of_the_protocol(address, body, words):
    answer = requests.post(address + INFER, body if isinstance(body, bytes) else json.dumps(body))
    assert answer.status_code == 400 and words in answer.json()["error"], answer.text
    assert requests.post(address + INFER, json={"inputs": [tensor(X)]}).status_code == 200


def test_other_refusals(address):
    for path in ("/v2/models/other/infer", "/v2/models/net/versions/7/infer", "/nothing"):
        answer = requests.post(address + path, json={"inputs": [tensor(X)]})
        assert answer.status_code == 404 and answer.json()["error"]
    assert requests.get(address + INFER).status_code == 405
    assert requests.post(address + INFER, b" " * 10001).status_code == 413
    pieces = (b" " * 6000 for _ in range(2))  # without a length
    assert requests.post(address + INFER, pieces).status_code == 413
    header = {"Inference-Header-Content-Length": "99999"}
    answer = requests.post(address + INFER, json={"inputs": [tensor(X)]}, headers=header)
    assert answer.status_code == 400 and "does not fit a body" in answer.json()["error"]
    more = json.dumps({"inputs": [tensor(X)]}).encode()
    answer = requests.post(address + INFER, more + b"1234", headers={**header, next(iter(header)): str(len(more))})
    assert answer.status_code == 400 and "4 bytes stand behind the inputs" in answer.json()["error"]


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_compressed_bodies_are_refused(address, coding):
    for path, told in ((INFER, "error"), ("/predictions/net", "message")):
        answer = requests.post(address + path, b"\x1f\x8b", headers={"content-encoding": coding})
        assert answer.status_code == 415 and f"this one is {coding}" in answer.json()[told]


def test_json_has_null_where_an_output_is_no_number(address):
    """Bytes can hold NaN and infinity, JSON cannot."""
    row = np.array([[np.inf, -np.inf, 0, 0, 0, 0], [1, 2, 3, 4, 5, 6]], "float32")
    head = json.dumps({"inputs": [tensor(row, parameters={"binary_data_size": row.nbytes})]}).encode()
    header = {"Inference-Header-Content-Length": str(len(head))}
    answer = requests.post(address + INFER, head + row.tobytes(), headers=header)
    assert b"NaN" not in answer.content and answer.json()["outputs"][1]["data"] == [None, 21.0]
    octets = {"content-type": "application/octet-stream"}
    older = requests.post(address + "/predictions/net", row.tobytes(), headers=octets)
    assert older.json()["sum_output"] == [None, 21.0]


def test_requests_one_behind_the_other_are_answered_in_order(address):
    """HTTP pipelining: a bad request between two good ones changes neither of them."""
    rows = [json.dumps({"inputs": [tensor(np.full((1, 6), n))]}).encode() for n in (1, 2)]
    bodies = [rows[0], b"{", rows[1]]
    with socket.create_connection(address.removeprefix("http://").split(":"), timeout=60) as client:
        for body in bodies:
            client.sendall(f"POST {INFER} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        file, found = client.makefile("rb"), []
        for _ in bodies:
            status, length = file.readline().split()[1], 0
            while (line := file.readline().strip().lower()) != b"":
                length = int(line.split()[1]) if line.startswith(b"content-length") else length
            found.append((status, json.loads(file.read(length))))
    assert [status for status, _ in found] == [b"200", b"400", b"200"]
    assert [found[n][1]["outputs"][1]["data"] for n in (0, 2)] == [[6.0], [12.0]]


def test_metrics_count_answers(address):
    count = lambda: float(re.search(r'remx_requests_total{path="infer",status="200"} (\S+)', text()).group(1))
    text = lambda: requests.get(address + "/metrics").text
    requests.post(address + INFER, json={"inputs": [tensor(X)]})
    before = count()
    requests.post(address + INFER, json={"inputs": [tensor(X)]})
    assert count() == before + 1
    for name in ("remx_request_seconds_bucket", "remx_batch_rows_bucket", "remx_queue_length 0.0"):
        assert name in text()


def test_settings_travel_to_worker_processes(monkeypatch):
    monkeypatch.setenv("MXNET_SERVE_SETTINGS", "")
    made = Settings("p", 1, "n", {"data": [1, 6]}, max_batch=4)
    made.publish()
    assert Settings.told() == made
