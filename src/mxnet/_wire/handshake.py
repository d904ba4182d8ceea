"""How two processes prove to each other that they know the job's secret, before any other byte is looked at.

    server -> client   greeting, 32 random bytes
    client -> server   greeting, 32 random bytes, its rank, proof
    server -> client   proof

A proof is an HMAC of both random numbers, of who asks whom, and of what for. It is of no use in another connection,
for another service, for another rank or in the other direction. The secret itself is never sent.
"""

import hmac
import secrets
import socket
import struct
import time

from .channel import TAG, Channel, ChannelError, digest

GREETING = b"REMX-1\r\n"
NONCE = 32
LIMIT = 5.0  # seconds for a handshake
CLIENT = struct.Struct(f"<{len(GREETING)}s{NONCE}sI{TAG}s")
SERVER_FIRST = len(GREETING) + NONCE
REFUSALS = 12  # within three seconds; then the secrets differ, fewer may be a server that is flooded


class Refused(ChannelError):
    """The server has closed the connection after our proof."""


def greet() -> tuple[bytes, bytes]:
    """A random number, and the server's first message with it."""
    nonce = secrets.token_bytes(NONCE)
    return nonce, GREETING + nonce


class Session:
    """Keys and proofs of one connection; `service` says what it is for, and is the same on both sides."""

    def __init__(self, secret: bytes, service: str, server_nonce: bytes, client_nonce: bytes, rank: int) -> None:
        self._secret = secret
        self._context = (service.encode(), server_nonce, client_nonce, struct.pack("<I", rank))

    def derive(self, purpose: bytes) -> bytes:
        """The key or proof for one purpose."""
        return digest(self._secret, purpose, *self._context)


def verify(secret: bytes, service: str, server_nonce: bytes, message: bytes) -> tuple[int, Session] | None:
    """The client's rank and the session, if its proof is right."""
    greeting, client_nonce, rank, proof = CLIENT.unpack(message)
    session = Session(secret, service, server_nonce, client_nonce, rank)
    right = hmac.compare_digest(session.derive(b"client"), proof)
    return (rank, session) if right and greeting == GREETING else None


def accept(sock: socket.socket, session: Session, patience: float) -> Channel:
    """The server's side, after `verify`: send the proof, and be ready."""
    sock.settimeout(LIMIT)
    sock.sendall(session.derive(b"server"))
    return Channel(sock, session.derive(b"to client"), session.derive(b"to server"), patience)


def _connect(address: tuple[str, int], secret: bytes, service: str, rank: int, patience: float) -> Channel:
    sock = socket.create_connection(address, timeout=min(LIMIT, patience))
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        raw = Channel(sock, b"", b"", min(LIMIT, patience))
        first = raw._read(SERVER_FIRST)
        if not first.startswith(GREETING):
            raise ChannelError("who listens there speaks another language")
        client_nonce = secrets.token_bytes(NONCE)
        session = Session(secret, service, first[len(GREETING) :], client_nonce, rank)
        sock.sendall(CLIENT.pack(GREETING, client_nonce, rank, session.derive(b"client")))
        try:
            proof = raw._read(TAG)
        except ChannelError as error:
            raise Refused(f"this process was refused there ({error}): does it have the secret of the job?") from None
        if not hmac.compare_digest(session.derive(b"server"), proof):
            raise ChannelError("who listens there does not know the secret of this job")
        return Channel(sock, session.derive(b"to server"), session.derive(b"to client"), patience)
    except BaseException:
        sock.close()
        raise


def connect(address: tuple[str, int], secret: bytes, service: str, rank: int, patience: float) -> Channel:
    """Connect to a server that may not listen yet, for as long as `patience` lasts."""
    end, pause, refusals = time.monotonic() + patience, 0.01, 0
    while True:
        try:
            return _connect(address, secret, service, rank, patience)
        except (OSError, ChannelError) as error:
            refusals += isinstance(error, Refused)
            if time.monotonic() + pause > end or refusals == REFUSALS:
                words = f"{address[0]}:{address[1]} cannot be joined: {error}"
                raise ChannelError(words) from None
        time.sleep(pause)
        pause = min(2 * pause, 0.5)
