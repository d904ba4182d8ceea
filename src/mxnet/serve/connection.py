"""Connections of clients: one that is silent, sends a head without end or does not read its answer is cut off."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

SECONDS = 10.0  # for the head of a request, for what is left of a body after its answer, and without reading
LONGEST = 64 << 10  # bytes of a head or of what follows a body


class Connection(HttpToolsProtocol):
    """uvicorn's protocol, which limits none of these by itself. Bodies are limited by whoever reads them."""

    def connection_made(self, transport):
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._late = self._unread = None
        self._beside, self._complete = 0, True
        self._wait()

    def connection_lost(self, exc):
        """Wait for nothing more."""
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    # ------------------------------------------------------------------ what the client sends
    def _wait(self):
        if self._late is None:
            self._late = self.loop.call_later(SECONDS, self._end_if_late)

    def _end_if_late(self):
        self._late = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()
        else:  # bytes behind a request that is being answered
            self._wait()

    def _stop_waiting(self):
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def data_received(self, data):
        """Count what is no body; the counter begins again with each byte of a body and behind each request."""
        if self._complete:
            self._wait()
        self._beside += len(data)
        super().data_received(data)
        if self._beside > LONGEST and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self):
        """The first byte of a request."""
        super().on_message_begin()
        self._complete = False
        self._wait()

    def on_headers_complete(self):
        """The head is there; from now on the limit of time of the handlers holds."""
        self._stop_waiting()
        super().on_headers_complete()

    def on_body(self, body):
        """A part of a body."""
        self._beside = 0
        super().on_body(body)

    def on_message_complete(self):
        """The last byte of a request."""
        self._stop_waiting()
        self._beside, self._complete = 0, True
        super().on_message_complete()

    # ------------------------------------------------------------------ what it is sent
    def on_response_complete(self):
        """What is left of a body that nobody reads is waited for no longer than a head."""
        super().on_response_complete()
        if not self._complete and not self.transport.is_closing():
            self._wait()

    def pause_writing(self):
        """The client does not read as fast as the answer is written."""
        super().pause_writing()
        self._watch(-1)

    def _watch(self, before):
        left = self.transport.get_write_buffer_size()
        if left == before:
            self.transport.abort()
        else:
            self._unread = self.loop.call_later(SECONDS, self._watch, left)

    def resume_writing(self):
        """It has read most of it."""
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        super().resume_writing()


CONFIG = {"http": Connection, "ws": "none", "server_header": False}  # for uvicorn
