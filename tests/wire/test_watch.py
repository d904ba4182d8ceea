"""Workers of `dist_async` watch each other: who is gone, silent or idle."""

import logging
import socket
import threading
import time

import pytest

from mxnet._wire import pulse
from mxnet._wire.channel import Channel, ChannelError
from mxnet.kvstore import peers


@pytest.fixture
def pair(monkeypatch):
    """A watch over one other worker, and the other's own; the time that the other has not used the store."""
    monkeypatch.setattr(peers, "PULSE", 0.02)
    idle = [0.0]
    monkeypatch.setattr(pulse, "idle", lambda: idle[0])
    ends = socket.socketpair()
    here, there = Channel(ends[0], b"a", b"b", 5.0), Channel(ends[1], b"b", b"a", 5.0)
    watch, other = peers.Watch(), peers.Watch()
    threading.Thread(target=other.serve, args=(0, there), daemon=True).start()
    watch.start({1: here}, patience=0.5)
    yield watch, there, idle
    watch._stop = True
    watch._thread.join()
    here.close(), there.close()


def soon(condition):
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_who_uses_the_store_is_not_lost(pair):
    time.sleep(0.7)
    pair[0].check()


def test_who_does_not_use_the_store_is_lost(pair):
    watch, _, idle = pair
    idle[0] = 0.6
    assert soon(lambda: watch.lost)
    with pytest.raises(ChannelError, match=r"worker 1 has not used the store since \d\d:\d\d:\d\d, for 1 s"):
        watch.check()


def test_who_does_not_answer_is_lost(pair, monkeypatch):
    watch, there, _ = pair
    monkeypatch.setattr(there, "send", lambda header: None)
    assert soon(lambda: watch.lost) and "worker 1 has been silent since" in watch.lost


def test_who_is_gone_is_lost(pair):
    pair[1].close()
    assert soon(lambda: pair[0].lost) and pair[0].lost.startswith("worker 1: ")


def test_at_the_end_an_idle_worker_is_not_waited_for(pair, caplog):
    """It may be busy with a test of its own; that is no failure."""
    watch, _, idle = pair
    threading.Timer(0.3, idle.__setitem__, (0, 0.6)).start()
    with caplog.at_level(logging.WARNING):
        watch.leave(wait=True)
    assert not watch.lost and "does not wait for it any longer" in caplog.text
