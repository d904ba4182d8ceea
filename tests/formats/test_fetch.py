"""Files from the network: https or a hash, no redirects to less, mirrors in their order, and what a person can do."""

import hashlib
import http.server
import threading
import warnings

import pytest
import requests

from mxnet._formats import fetch, mirrors
from mxnet.base import MXNetError

GOOD = hashlib.sha1(b"good").hexdigest()


class Answer:
    def __init__(self, url, content, history=()):
        self.url, self.content, self.status_code = url, content, 200 if content is not None else 404
        self.history = [Answer(address, b"") for address in history]
        self.closed = False

    def iter_content(self, chunk_size):
        yield self.content

    def close(self):
        self.closed = True


@pytest.fixture
def web(monkeypatch):
    """What each address answers; which were asked."""
    pages, asked = {}, []

    def get(url, **options):
        assert all(0 < seconds <= 60 for seconds in options["timeout"])
        asked.append(url)
        return pages.get(url) or Answer(url, None)

    monkeypatch.setattr(requests, "get", get)
    monkeypatch.delenv("MXNET_GLUON_REPO", raising=False)
    monkeypatch.delenv("MXNET_ALLOW_HTTP", raising=False)
    return pages, asked


def put(web, url, content=b"good", **options):
    web[0][url] = Answer(url, content, **options)


def test_http_without_a_hash_is_asked_over_https(web, tmp_path):
    put(web, "https://host/a")
    put(web, "http://host/a", b"from the man in the middle")
    fetch.download("http://host/a", str(tmp_path))
    assert web[1] == ["https://host/a"] and (tmp_path / "a").read_bytes() == b"good"


def test_http_with_a_hash_is_verified(web, tmp_path):
    put(web, "http://host/a")
    fetch.download("http://host/a", str(tmp_path), sha1_hash=GOOD)
    assert web[1] == ["http://host/a"]
    put(web, "http://host/b", b"bad")
    with pytest.warns(UserWarning, match=f"b could not be fetched .*Put the file b .SHA-1 {GOOD}. into {tmp_path}"):
        with pytest.raises(UserWarning, match="hash does not match"):
            fetch.download("http://host/b", str(tmp_path), sha1_hash=GOOD, retries=1)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_http_that_was_allowed(web, tmp_path, monkeypatch):
    monkeypatch.setenv("MXNET_ALLOW_HTTP", "1")
    put(web, "http://host/a")
    fetch.download("http://host/a", str(tmp_path))
    assert web[1] == ["http://host/a"]


@pytest.mark.parametrize("url", ["ftp://host/a", "file:///etc/passwd", "/etc/passwd"])
@pytest.mark.filterwarnings("ignore:.* could not be fetched")
def test_other_schemes(web, tmp_path, url):
    with pytest.raises(MXNetError, match="over https"):
        fetch.download(url, str(tmp_path))
    assert not web[1]


@pytest.mark.filterwarnings("ignore:.* could not be fetched")
def test_a_redirect_must_not_leave_https(web, tmp_path):
    web[0]["https://host/a"] = Answer("http://other/a", b"good", history=["https://host/a"])
    with pytest.raises(MXNetError, match="http://other/a: the server leads to an address without https"):
        fetch.download("https://host/a", str(tmp_path))
    assert not list(tmp_path.iterdir())
    fetch.download("https://host/a", str(tmp_path), sha1_hash=GOOD)
    web[0]["https://host/b"] = Answer("https://host/b", b"good", history=["http://between/b"])
    with pytest.raises(MXNetError, match="between"):
        fetch.download("https://host/b", str(tmp_path))


@pytest.mark.filterwarnings("ignore:.* could not be fetched")
def test_answers_are_closed_whatever_became_of_them(web, tmp_path):
    put(web, "https://host/a")
    put(web, "https://host/missing", None)
    web[0]["https://host/led"] = Answer("http://other/led", b"good")
    fetch.download("https://host/a", str(tmp_path))
    for name in ("missing", "led"):
        with pytest.raises(RuntimeError):
            fetch.download(f"https://host/{name}", str(tmp_path), retries=1)
    assert len(web[0]) == 3 and all(answer.closed for answer in web[0].values())


def from_mirrors(path, filename, sha1=None, wanted=None):
    accept = mirrors.placed(str(path), sha1)
    candidates = [mirrors.Candidate(url, accept, sha1 is not None) for url in mirrors.addresses("models", filename)]
    return mirrors.first_accepted(candidates, wanted or (str(path), sha1))


def test_mirrors_in_their_order(web, tmp_path, monkeypatch):
    monkeypatch.setenv("MXNET_GLUON_REPO", "https://one, http://two/deep/")
    put(web, "http://two/deep/models/a")
    assert from_mirrors(tmp_path / "a", "a") == "http://two/deep/models/a"
    assert web[1] == ["https://one/models/a", "http://two/deep/models/a"]


def test_mirrors_are_all_named(web, tmp_path, monkeypatch):
    monkeypatch.setenv("MXNET_GLUON_REPO", "https://one.example, https://two.example/x/")
    with pytest.raises(MXNetError, match=r"a\.zip .*SHA-1 1234.* into .*https mirrors"):
        from_mirrors(tmp_path / "a.zip", "a.zip", "1234")
    assert set(web[1]) == {"https://one.example/models/a.zip", "https://two.example/x/models/a.zip"}


def test_what_to_do_without_a_network(web, tmp_path):
    with pytest.raises(MXNetError) as caught:
        from_mirrors(tmp_path / "a.zip", "a.zip", wanted=(str(tmp_path / "a.params"), GOOD))
    for words in (f"Put the file a.params (SHA-1 {GOOD}) into {tmp_path}", "MXNET_GLUON_REPO", "models/a.zip"):
        assert words in str(caught.value)


def test_a_mirror_without_https_whose_file_nothing_verifies(web, tmp_path):
    put(web, "http://host/a", b"from the man in the middle")
    put(web, "https://host/a")
    for verified, content in ((False, b"good"), (True, b"from the man in the middle")):
        fetch.read_into(str(tmp_path / "a"), "http://host/a", verified)
        assert (tmp_path / "a").read_bytes() == content


def test_a_server_that_hangs_up_early(tmp_path):
    """A real server that promises more than it sends."""

    class Short(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"half")

        def log_message(self, *arguments):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Short)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with pytest.warns(UserWarning), pytest.raises(requests.exceptions.RequestException):
            fetch.download(f"http://127.0.0.1:{server.server_port}/a", str(tmp_path), retries=1)
    finally:
        server.shutdown()
        server.server_close()
    assert not list(tmp_path.iterdir())


def test_a_stream_without_an_end_does_not_fill_the_disk(web, tmp_path, monkeypatch):
    put(web, "https://host/a")
    web[0]["https://host/a"].iter_content = lambda chunk_size: iter(lambda: b"0" * chunk_size, None)
    monkeypatch.setattr(fetch.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 1 << 20}))
    with pytest.warns(UserWarning), pytest.raises(MXNetError, match="more than half of what the disk of .* has free"):
        fetch.download("https://host/a", str(tmp_path))
    assert web[1] == ["https://host/a"] and not list(tmp_path.iterdir())


def test_certificates_that_are_not_checked_are_warned_of(web, tmp_path):
    put(web, "https://host/a")
    with pytest.warns(UserWarning, match="Unverified HTTPS request"):
        fetch.download("https://host/a", str(tmp_path), verify_ssl=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fetch.download("https://host/a", str(tmp_path), overwrite=True)


@pytest.mark.filterwarnings("ignore:.* could not be fetched")
@pytest.mark.filterwarnings("ignore:.*retrying")
def test_how_often_an_address_is_asked(web, tmp_path):
    """Up to `retries` times, 5 by default; always once."""

    def asked(**options):
        del web[1][:]
        with pytest.warns(UserWarning), pytest.raises(fetch.BadStatus):
            fetch.download("https://host/a", str(tmp_path), **options)
        return len(web[1])

    assert asked() == 5 and asked(retries=1) == 1 and asked(retries=0) == 1


def test_a_file_may_have_half_of_the_room_on_the_disk(web, tmp_path, monkeypatch):
    monkeypatch.setattr(fetch.shutil, "disk_usage", lambda folder: type("Usage", (), {"free": 8}))
    put(web, "https://host/a", b"four")
    fetch.download("https://host/a", str(tmp_path))
    put(web, "https://host/b", b"five.")
    with pytest.warns(UserWarning), pytest.raises(MXNetError, match="more than half"):
        fetch.download("https://host/b", str(tmp_path))
