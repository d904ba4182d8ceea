"""Where workers meet: a key-value store that torch's process groups use instead of torch's own, which anybody may join.

The first worker holds the values. Everyone else talks to it over an authenticated channel.
"""

import threading
import time
from datetime import timedelta

import torch.distributed as dist

from .._wire import handshake
from .._wire.channel import ChannelError
from .._wire.server import Server

POLL = 0.05  # seconds, the longest pause between two questions whether a key is there


class Values:
    """The first worker's table, and what may be asked of it."""

    def __init__(self):
        self._table, self._lock = {}, threading.Lock()

    def call(self, name, *arguments):
        """Do what is asked, one request after the other."""
        if name not in ("set", "get", "add", "compare_set", "check", "delete", "count"):
            raise ChannelError(f"the meeting point knows no {name!r}")
        with self._lock:
            return getattr(self, f"_{name}")(*arguments)

    def _set(self, key, value):
        self._table[key] = value

    def _get(self, key):
        return self._table.get(key)

    def _add(self, key, amount):
        total = int(self._table.get(key, b"0")) + amount
        self._table[key] = str(total).encode()
        return total

    def _compare_set(self, key, expected, value):
        held = self._table.get(key)
        if held == expected or (held is None and not expected):
            self._table[key] = held = value
        return expected if held is None else held

    def _check(self, keys):
        return all(key in self._table for key in keys)

    def _delete(self, key):
        return self._table.pop(key, None) is not None

    def _count(self):
        return len(self._table)


# ---------------------------------------------------------------------- over a channel
def _packed(values):
    """Numbers, texts and lists as they are; bytes as the number of a buffer."""
    buffers, plain = [], []
    for value in values:
        if isinstance(value, bytes):
            plain.append({"buffer": len(buffers)})
            buffers.append(value)
        else:
            plain.append(value)
    return plain, buffers


def _unpacked(plain, buffers):
    return [bytes(buffers[value["buffer"]]) if isinstance(value, dict) else value for value in plain]


class Remote:
    """The table as the other workers see it."""

    def __init__(self, channel):
        self._channel, self._lock = channel, threading.Lock()

    def call(self, name, *arguments):
        plain, buffers = _packed(arguments)
        with self._lock:
            self._channel.send({"call": name, "arguments": plain}, buffers)
            header, buffers = self._channel.receive()
        if "error" in header:
            raise ChannelError(header["error"])
        return _unpacked([header["value"]], buffers)[0]


def _serve(values):
    def serve(rank, channel):
        while True:
            try:
                header, buffers = channel.receive(wait=True)
                channel.send(*_answer(values, header, buffers))
            except ChannelError:  # the worker has gone, or something has written between its bytes
                return channel.close()

    return serve


def _answer(values, header, buffers):
    try:
        found, parts = _packed([values.call(header["call"], *_unpacked(header["arguments"], buffers))])
    except (ChannelError, KeyError, TypeError, ValueError, IndexError) as error:
        return {"error": f"{type(error).__name__}: {error}"}, []
    return {"value": found[0]}, parts


# ---------------------------------------------------------------------- what torch sees
class MeetingPoint(dist.Store):
    """A `torch.distributed.Store` on the first worker's table."""

    def __init__(self, values, patience, server=None):
        super().__init__()
        self._values, self._patience, self._server = values, patience, server
        self.published = []  # what this process has set: gloo's addresses are among it

    def set(self, key, value):
        value = value.encode() if isinstance(value, str) else bytes(value)
        self.published.append(value)
        self._values.call("set", key, value)

    def get(self, key):
        self.wait([key])
        return self._values.call("get", key)

    def add(self, key, amount):
        return self._values.call("add", key, amount)

    def compare_set(self, key, expected, value):
        expected, value = (text.encode() if isinstance(text, str) else bytes(text) for text in (expected, value))
        return self._values.call("compare_set", key, expected, value)

    def check(self, keys):
        return self._values.call("check", list(keys))

    def delete_key(self, key):
        return self._values.call("delete", key)

    deleteKey = delete_key  # noqa: N815 - the name that torch calls

    def num_keys(self):
        return self._values.call("count")

    def wait(self, keys, timeout=None):
        end, pause = time.monotonic() + (self._patience if timeout is None else _seconds(timeout)), 0.001
        while not self.check(keys):
            if time.monotonic() > end:
                raise dist.DistStoreError(f"wait timeout: nobody has set {', '.join(keys)[:200]}")
            time.sleep(pause)
            pause = min(2 * pause, POLL)

    def clone(self):
        return self

    def close(self):
        """Close the port, where this process has one."""
        if self._server is not None:
            self._server.close()


def _seconds(timeout):
    return timeout.total_seconds() if isinstance(timeout, timedelta) else timeout


def open_here(address, secret, service, world, patience):
    """The first worker's store, and the (address, port) where the others find it."""
    values = Values()
    server = Server(address, secret, service, range(1, world), _serve(values), patience)
    return MeetingPoint(values, patience, server), server.address


def open_there(address, secret, service, rank, patience):
    """Another worker's."""
    return MeetingPoint(Remote(handshake.connect(address, secret, service, rank, patience)), patience)
