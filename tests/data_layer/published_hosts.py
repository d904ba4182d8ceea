"""A server on this machine that plays every host on which published files are, with the failures that hosts have."""

import contextlib
import http.server
import threading
from urllib.parse import urlsplit

import requests


class Hosts:
    """{address: bytes, or a way to fail}; `asked` are the addresses that were asked, in order."""

    def __init__(self):
        self.pages, self.asked, self.host = {}, [], ""

    def put(self, url, content):
        self.pages[url] = content


SECONDS = 2.0  # seconds; a busy machine takes its time
NOT_FOUND, TRUNCATED, SILENT, BUSY = "not found", "truncated", "silent", "busy"


def redirect(url):
    return "to", url


def _handler(hosts):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            _, scheme, host, rest = self.path.split("/", 3)
            url = f"{scheme}://{host}/{rest}"
            hosts.asked.append(url)
            answer = hosts.pages.get(url, NOT_FOUND)
            if isinstance(answer, list):  # one answer after the other
                answer = answer.pop(0)
            self.answer(answer)

        def answer(self, answer):
            if answer is SILENT:
                hosts.silence.wait(5)
            elif answer in (NOT_FOUND, BUSY):
                self.send_error(404 if answer is NOT_FOUND else 503)
            elif isinstance(answer, tuple):
                self.send_response(302)
                self.send_header("Location", hosts.local(answer[1]))
                self.send_header("Content-Length", "0")
                self.end_headers()
            else:
                whole = answer is not TRUNCATED
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer) if whole else 1000))
                self.end_headers()
                self.wfile.write(answer if whole else b"half")

        def log_message(self, *arguments):
            pass

    return Handler


@contextlib.contextmanager
def playing(monkeypatch):
    """Within it, requests for any host go to the server."""
    hosts = Hosts()
    hosts.silence = threading.Event()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(hosts))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hosts.local = lambda url: f"http://127.0.0.1:{server.server_port}/{urlsplit(url).scheme}/{url.split('//', 1)[1]}"
    get = requests.get
    monkeypatch.setattr(
        requests, "get", lambda url, **options: get(hosts.local(url), **{**options, "timeout": SECONDS})
    )
    for name in ("MXNET_GLUON_REPO", "MXNET_ALLOW_HTTP"):
        monkeypatch.delenv(name, raising=False)
    try:
        yield hosts
    finally:
        hosts.silence.set()
        server.shutdown()
        server.server_close()
