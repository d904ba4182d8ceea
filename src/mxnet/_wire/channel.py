"""Messages over a socket between two processes that have proved to each other that they know the job's secret.

A message is a JSON header without code and, behind it, buffers of bytes:

    u64 number, u32 bytes of the header, u64 bytes of the buffers | header | tag | buffers | tag

Both tags are HMAC-SHA256. Each direction of each connection has a key of its own, made of the secret and of random
numbers of both sides, and counts its messages: one that is altered, repeated, left out or sent back is noticed. The
buffers' tag covers the header's, and memory for the buffers is taken only after the header's tag was right.
"""

import contextlib
import hmac
import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

PREFIX = struct.Struct("<QIQ")
TAG = 32
HEADER_LIMIT = 16 << 20
BODY_LIMIT = 1 << 36
CHUNK = 1 << 20  # bytes hashed and sent at a time: while one is on its way the next is hashed
SMALL = 1 << 16  # a message of fewer bytes is sent in one piece
ALIGNED = 64  # buffers begin at multiples of this, so that arrays can be used where they were received

Header = dict[str, Any]
Buffer = Any  # whatever memoryview takes


class ChannelError(RuntimeError):
    """The other side is gone, silent for too long, or not who it should be."""


def digest(key: bytes, *parts: bytes) -> bytes:
    """HMAC-SHA256 of the parts, each preceded by its length."""
    return hmac.digest(key, b"".join(struct.pack("<Q", len(part)) + part for part in parts), "sha256")


def _padding(size: int) -> int:
    return -size % ALIGNED


class Channel:
    """One side of an authenticated connection. Sending and receiving may happen in two threads."""

    def __init__(self, sock: socket.socket, sending: bytes, receiving: bytes, patience: float) -> None:
        self.sock, self.patience = sock, patience
        self._sending, self._receiving = sending, receiving
        self._sent = self._received = 0
        sock.settimeout(patience)

    def close(self) -> None:
        """End the connection; who waits at it wakes up."""
        with contextlib.suppress(OSError):  # the other side was faster
            self.sock.shutdown(socket.SHUT_RDWR)
        self.sock.close()

    # ------------------------------------------------------------------ sending
    def send(self, header: Header, buffers: Sequence[Buffer] = ()) -> None:
        """Send a message; the buffers may change as soon as this returns."""
        views = [memoryview(buffer).cast("B") for buffer in buffers]
        text = json.dumps({**header, "sizes": [len(view) for view in views]}, separators=(",", ":")).encode()
        size = sum(len(view) + _padding(len(view)) for view in views)
        if len(text) > HEADER_LIMIT or size > BODY_LIMIT:
            raise ChannelError(f"a message of {len(text)} + {size} bytes is longer than the protocol allows")
        start = PREFIX.pack(self._sent, len(text), size) + text
        self._sent += 1
        tag = hmac.digest(self._sending, start, "sha256")
        try:
            if size < SMALL:
                self.sock.sendall(start + tag + self._small_body(tag, views))
            else:
                self.sock.sendall(start + tag)
                self._send_body(tag, views)
        except OSError as error:
            raise ChannelError(f"sending failed: {error}") from None

    def _small_body(self, tag: bytes, views: list[memoryview]) -> bytes:
        if not views:
            return b""
        body = b"".join(part for view in views for part in (view, bytes(_padding(len(view)))))
        return body + hmac.digest(self._sending, tag + body, "sha256")

    def _send_body(self, tag: bytes, views: list[memoryview]) -> None:
        code = hmac.new(self._sending, tag, "sha256")
        for view in views:
            for first in range(0, len(view), CHUNK):
                piece = view[first : first + CHUNK]
                code.update(piece)
                self.sock.sendall(piece)
            padding = bytes(_padding(len(view)))
            if padding:
                code.update(padding)
                self.sock.sendall(padding)
        self.sock.sendall(code.digest())

    # ------------------------------------------------------------------ receiving
    def receive(self, wait: bool = False) -> tuple[Header, list[memoryview]]:
        """The next message; with `wait` it may begin whenever it likes, otherwise within `patience` seconds."""
        first = self._first_byte() if wait else b""
        prefix = first + self._read(PREFIX.size - len(first))
        number, length, size = PREFIX.unpack(prefix)
        if number != self._received or length > HEADER_LIMIT or size > BODY_LIMIT:
            raise ChannelError("a message has the wrong number or an impossible length")
        self._received += 1
        rest = self._read(length + TAG)
        text, tag = bytes(rest[:length]), bytes(rest[length:])
        self._compare(hmac.digest(self._receiving, prefix + text, "sha256"), tag)
        header = self._header(text, size)
        return header, self._body(tag, size, header.pop("sizes")) if header["sizes"] else []

    def _first_byte(self) -> bytes:
        try:
            self.sock.settimeout(None)
            first = self._read(1)
            self.sock.settimeout(self.patience)
        except OSError as error:  # closed on this side meanwhile
            raise ChannelError(f"receiving failed: {error}") from None
        return first

    @staticmethod
    def _header(text: bytes, size: int) -> Header:
        try:
            header = json.loads(text)
            sizes = header["sizes"]
            fits = all(type(s) is int and s >= 0 for s in sizes) and size == sum(s + _padding(s) for s in sizes)
        except (ValueError, TypeError, KeyError, RecursionError):
            fits = False
        if not fits:
            raise ChannelError("a message's header is not one of the protocol")
        return header

    @staticmethod
    def _compare(expected: bytes, found: bytes) -> None:
        if not hmac.compare_digest(expected, found):
            raise ChannelError("a message's authentication code is wrong")

    def _body(self, tag: bytes, size: int, sizes: list[int]) -> list[memoryview]:
        body = memoryview(np.empty(size + ALIGNED, np.uint8))
        first = -np.frombuffer(body, np.uint8).ctypes.data % ALIGNED
        body = body[first : first + size]
        code = hmac.new(self._receiving, tag, "sha256")
        self._read_into(body, code)
        self._compare(code.digest(), bytes(self._read(TAG)))
        found, place = [], 0
        for length in sizes:
            found.append(body[place : place + length])
            place += length + _padding(length)
        return found

    def _read(self, count: int) -> bytes:
        data = bytearray(count)
        self._read_into(memoryview(data))
        return bytes(data)

    def _read_into(self, view: memoryview, code: Any = None) -> None:
        place = 0
        while place < len(view):
            try:
                got = self.sock.recv_into(view[place : place + CHUNK])
            except TimeoutError:
                raise ChannelError(f"silent for {self.patience:g} s") from None
            except OSError as error:
                raise ChannelError(f"receiving failed: {error}") from None
            if not got:
                raise ChannelError("the connection was closed")
            if code is not None:
                code.update(view[place : place + got])
            place += got
