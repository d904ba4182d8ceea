"""Splitting batches, clipping gradients, downloads."""

import hashlib

import numpy as np
import pytest
import requests

import mxnet as mx
from mxnet import gluon, nd


def test_split_data():
    x = nd.arange(10).reshape((5, 2))
    assert [p.shape for p in gluon.utils.split_data(x, 5)] == [(1, 2)] * 5
    assert [p.shape[0] for p in gluon.utils.split_data(x, 2, even_split=False)] == [3, 2]
    assert [p.shape for p in gluon.utils.split_data(x, 2, batch_axis=1)] == [(5, 1)] * 2
    with pytest.raises(ValueError, match="cannot be evenly split into 2 slices along axis 0"):
        gluon.utils.split_data(x, 2)


def test_split_and_load():
    contexts = [mx.cpu(0), mx.cpu(1)]
    parts = gluon.utils.split_and_load(np.arange(8).reshape(4, 2), contexts)
    assert [p.context for p in parts] == contexts
    np.testing.assert_array_equal(parts[1].asnumpy(), [[4, 5], [6, 7]])
    assert len(gluon.utils.split_and_load(nd.ones((3, 1)), [mx.cpu(1)])) == 1


def test_clip_global_norm():
    arrays = [nd.ones((2, 2)), nd.ones((4,), ctx=mx.cpu(1))]
    norm = gluon.utils.clip_global_norm(arrays, 1.0)
    assert isinstance(float(norm), float) and norm == pytest.approx(np.sqrt(8))
    np.testing.assert_allclose(arrays[1].asnumpy(), 1 / np.sqrt(8), rtol=1e-6)
    assert gluon.utils.clip_global_norm(arrays, 5.0, check_isfinite=False).shape == (1,)
    np.testing.assert_allclose(arrays[0].asnumpy(), 1 / np.sqrt(8), rtol=1e-6)
    with pytest.warns(UserWarning, match="nan or inf is detected"):
        gluon.utils.clip_global_norm([nd.array([np.nan])], 1.0)


class Answer:
    status_code = 200

    def __init__(self, content):
        self.content = content

    def iter_content(self, chunk_size):
        yield self.content


@pytest.fixture
def server(monkeypatch):
    """Answers one request after another, with bytes or an error."""
    answers, asked = [], []

    def get(url, **kwargs):
        asked.append(url)
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Answer(answer)

    monkeypatch.setattr(requests, "get", get)
    return answers, asked


def test_download_retries_and_checks(tmp_path, server, capsys):
    answers, asked = server
    good = hashlib.sha1(b"good").hexdigest()
    answers += [requests.exceptions.ConnectionError("down"), b"bad", b"good"]
    name = gluon.utils.download("http://host/file.bin", path=str(tmp_path), sha1_hash=good)
    assert name == str(tmp_path / "file.bin") and (tmp_path / "file.bin").read_bytes() == b"good"
    assert len(asked) == 3 and "retrying, 4 attempts left" in capsys.readouterr().out
    assert [p.name for p in tmp_path.iterdir()] == ["file.bin"]
    gluon.utils.download("http://host/file.bin", path=str(tmp_path), sha1_hash=good)
    assert len(asked) == 3
    assert gluon.utils.check_sha1(name, good) and not gluon.utils.check_sha1(name, "0" * 40)


def test_download_gives_up(tmp_path, server):
    answers, asked = server
    answers += [requests.exceptions.ConnectionError("down")] * 9
    with pytest.raises(requests.exceptions.ConnectionError):
        gluon.utils.download("http://host/file.bin", path=str(tmp_path / "x"), retries=2)
    assert len(asked) == 2 and not list(tmp_path.iterdir())


def test_download_overwrites_when_told(tmp_path, server):
    answers, _ = server
    target = tmp_path / "deep" / "file"
    answers += [b"one", b"two"]
    for _ in range(2):
        gluon.utils.download("http://host/file.bin", path=str(target), overwrite=True)
    assert target.read_bytes() == b"two"


def test_unverified_downloads_are_warned_about(tmp_path, server):
    server[0].append(b"x")
    with pytest.warns(UserWarning, match="Unverified HTTPS request"):
        gluon.utils.download("http://host/f", path=str(tmp_path), verify_ssl=False)
