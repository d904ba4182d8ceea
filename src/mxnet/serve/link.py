"""A kept connection from the front process to a worker: HTTP/1.1 over a Unix socket, one request after the other."""

import asyncio
from typing import NamedTuple

import h11

# What concerns one connection only, and is not passed on.
HOP = {b"connection", b"keep-alive", b"transfer-encoding", b"upgrade", b"te", b"trailer", b"content-length", b"host"}


class WorkerLost(Exception):
    """The connection has ended before the whole answer was there."""


class NotThere(WorkerLost):
    """Nobody takes the connection: the worker has never heard of the request."""


class Call(NamedTuple):
    """A request, or an answer with its status as `what`."""

    what: tuple
    headers: list
    body: bytes


class Link:
    """The front's end of a connection to a worker."""

    def __init__(self, reader, writer):
        self._reader, self._writer, self._http = reader, writer, h11.Connection(h11.CLIENT)

    @classmethod
    async def open(cls, path):
        """Connect to the socket of a worker."""
        try:
            return cls(*await asyncio.open_unix_connection(path))
        except OSError as error:
            raise NotThere(str(error)) from None

    def close(self):
        """End the connection."""
        self._writer.close()

    async def ask(self, call):
        """The worker's answer."""
        try:
            self._send(call)
            await self._writer.drain()
            return await self._answer()
        except (OSError, h11.ProtocolError) as error:
            raise WorkerLost(str(error)) from None

    def _send(self, call):
        method, target = call.what
        own = [(b"host", b"worker"), (b"content-length", str(len(call.body)).encode())]
        head = h11.Request(method=method, target=target, headers=[*own, *passed_on(call.headers)])
        events = [head, *([h11.Data(data=call.body)] if call.body else []), h11.EndOfMessage()]
        self._writer.writelines([self._http.send(event) for event in events])

    async def _answer(self):
        head, parts = None, []
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                self._http.receive_data(await self._reader.read(1 << 18))
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                parts.append(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                break
            elif isinstance(event, h11.ConnectionClosed):
                raise WorkerLost("closed without an answer")
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
        return Call((head.status_code,), passed_on(head.headers), b"".join(parts))

    @property
    def idle(self):
        """Can it take another request?"""
        return self._http.our_state is h11.IDLE and not self._reader.at_eof()


def passed_on(headers):
    """The headers that are meant for the other side of a proxy."""
    return [(name, value) for name, value in headers if name.lower() not in HOP]
