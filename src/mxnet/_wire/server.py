"""A port of a job: strangers are turned away, each member is served by a thread of its own.

One thread accepts and greets. Who has not proved within `handshake.LIMIT` seconds that it knows the secret is
dropped; at most `WAITING` connections are in that state, and when another one comes the oldest of them is dropped. When
every expected member is connected, the port is closed.
"""

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from . import handshake
from .channel import Channel, ChannelError

WAITING = 64
Serve = Callable[[int, Channel], None]


class _Stranger:
    """A connection that has proved nothing yet."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.since, self.message = sock, time.monotonic(), b""
        self.nonce, first = handshake.greet()
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.send(first)  # 40 bytes always fit into a new connection's buffer

    def read(self) -> bool:
        """Take what has arrived; whether the message is whole."""
        got = self.sock.recv(handshake.CLIENT.size - len(self.message))
        if not got:
            raise ChannelError("closed")
        self.message += got
        return len(self.message) == handshake.CLIENT.size


class Server:
    """Listens at `address`; `serve(rank, channel)` runs in a thread for each of the `members` that come."""

    def __init__(
        self,
        address: tuple[str, int],
        secret: bytes,
        service: str,
        members: Iterable[int],
        serve: Serve,
        patience: float,
    ) -> None:
        self._secret, self._service, self._serve, self._patience = secret, service, serve, patience
        self._missing, self._waiting = set(members), dict[socket.socket, _Stranger]()
        self._channels: list[Channel] = []
        self._closed = threading.Event()
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._listener = socket.create_server(address, family=family, backlog=WAITING)
        self._listener.setblocking(False)
        self.address: tuple[str, int] = self._listener.getsockname()[:2]
        self.refused = 0
        self._thread = threading.Thread(target=self._accept, daemon=True, name=f"accept {service}")
        self._thread.start()

    def close(self) -> None:
        """Close the port and all connections."""
        self._closed.set()
        self._thread.join()
        for channel in self._channels:
            channel.close()

    # ------------------------------------------------------------------ at the port
    def _accept(self) -> None:
        with self._listener, selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            while self._missing and not self._closed.is_set():
                for key, _ in selector.select(0.2):
                    if key.fileobj is self._listener:
                        self._admit(selector)
                    elif key.fileobj in self._waiting:
                        self._hear(selector, self._waiting[key.fileobj])
                self._drop_late(selector)
            for stranger in list(self._waiting.values()):
                self._drop(selector, stranger)

    def _admit(self, selector: Any) -> None:
        with contextlib.suppress(OSError):  # gone again, or no descriptor left: then the oldest make room in time
            sock, _ = self._listener.accept()
            try:
                self._waiting[sock] = _Stranger(sock)
            except OSError:
                sock.close()
                return
            selector.register(sock, selectors.EVENT_READ)
            if len(self._waiting) > WAITING:
                self._drop(selector, next(iter(self._waiting.values())))

    def _hear(self, selector: Any, stranger: _Stranger) -> None:
        try:
            whole = stranger.read()
        except (OSError, ChannelError):
            return self._drop(selector, stranger)
        if not whole:
            return None
        found = handshake.verify(self._secret, self._service, stranger.nonce, stranger.message)
        if found is None or found[0] not in self._missing:
            return self._drop(selector, stranger)
        return self._welcome(selector, stranger, *found)

    def _welcome(self, selector: Any, stranger: _Stranger, rank: int, session: handshake.Session) -> None:
        try:
            channel = handshake.accept(stranger.sock, session, self._patience)
        except OSError:
            return self._drop(selector, stranger)
        selector.unregister(stranger.sock)
        del self._waiting[stranger.sock]
        self._missing.remove(rank)
        self._channels.append(channel)
        name = f"{self._service} for {rank}"
        threading.Thread(target=self._serve, args=(rank, channel), daemon=True, name=name).start()
        return None

    def _drop(self, selector: Any, stranger: _Stranger) -> None:
        self.refused += 1
        selector.unregister(stranger.sock)
        del self._waiting[stranger.sock]
        stranger.sock.close()

    def _drop_late(self, selector: Any) -> None:
        limit = time.monotonic() - handshake.LIMIT
        for stranger in [s for s in self._waiting.values() if s.since < limit]:
            self._drop(selector, stranger)
