"""The quick form of `make soak`, and that it would see what must not happen."""

import os
import pathlib
import socket
import subprocess
import sys
import threading

import pytest

from . import soak

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@pytest.fixture
def family(monkeypatch):
    monkeypatch.setattr(soak, "GRACE", 0.3)
    with soak.Family() as made:
        yield made


@pytest.mark.slow
def test_one_round(monkeypatch):
    monkeypatch.setattr(soak, "REQUESTS", 6)
    told, wrong = soak.soak(0, seed=1, kills_each=1)
    assert wrong is None and told.startswith("1 rounds"), (told, wrong)


def test_an_orphan_is_seen(family):
    family.check(set())
    orphan = subprocess.Popen(["sleep", "60"])
    try:
        family.check({orphan.pid})
        with pytest.raises(soak.Wrong, match=r"left behind: .*sleep 60"):
            family.check(set())
    finally:
        orphan.kill()
        orphan.wait()


def test_stray_shared_memory_is_seen(family):
    done = subprocess.Popen(["sleep", "0.5"])
    family.alive()
    done.wait()
    stray = pathlib.Path(f"/dev/shm/torch_{done.pid}_soak")
    stray.touch()
    try:
        with pytest.raises(soak.Wrong, match=rf"left behind: \['torch_{done.pid}_soak'\]"):
            family.check(set())
    finally:
        stray.unlink()
    family.check(set())


@pytest.mark.parametrize("name, growth", [("used", 100_000), ("descriptors", 1), ("threads", 1)])
def test_growth_is_seen(name, growth):
    process = soak.Enduring.__new__(soak.Enduring)
    process.told = [{"used": 0, "descriptors": 9, "threads": 2} for _ in range(9)]
    process.check()
    process.told[5]["used"] += 10_000_000  # once: a kernel was compiled
    process.check()
    for number, told in enumerate(process.told):
        told[name] += number * growth
    with pytest.raises(soak.Wrong, match="leaves 1667 bytes behind|grew from"):
        process.check()


def test_a_wrong_answer_is_seen(monkeypatch):
    service = soak.Service("prefix", lambda value: [value])
    monkeypatch.setattr(service, "ask", lambda value: [2.0])
    service._compare(2.0, killed=False)
    with pytest.raises(soak.Wrong, match=r"answers \[2.0\] to 3.0, not \[3.0\]"):
        service._compare(3.0, killed=True)
    monkeypatch.setattr(service, "ask", lambda value: None)
    service._compare(2.0, killed=True)
    service.process = subprocess.Popen([sys.executable, "-c", "pass"], env={**os.environ})
    service.process.wait()
    with pytest.raises(soak.Wrong, match="the server is silent, exit code 0"):
        service._compare(2.0, killed=False)


@pytest.mark.parametrize(
    "sent", [b"", b"HTTP/1.1 200 OK\r\nContent-Le", b"HTTP/1.1 200 OK\r\nContent-Length: 141\r\n\r\n"]
)
def test_an_answer_that_is_cut_off_counts_as_none(sent):
    service = soak.Service("prefix", lambda value: [value])
    with socket.create_server(("127.0.0.1", service.port)) as listener:

        def answer():
            sock, _ = listener.accept()
            with sock:
                sock.recv(1 << 16)
                sock.sendall(sent)

        thread = threading.Thread(target=answer)
        thread.start()
        assert service.ask(1.0) is None
        thread.join()
