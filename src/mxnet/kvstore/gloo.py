"""What torch's gloo leaves open, and how it is closed: the address it binds, who connects, and the port afterwards.

Gloo listens for the other workers while a group is made, and believes whoever connects. So its port is bound to the
job's address only, each worker then has all others prove over the new connections that they know the job's secret,
and when they have, the port takes no more connections. What the connections carry is neither encrypted nor
authenticated.
"""

import contextlib
import ctypes
import os
import secrets
import socket
import struct
import sys

import torch
import torch.distributed as dist

from .._core.errors import MXNetError
from .._wire import addresses
from .._wire.channel import digest

SIZE = 32  # bytes of a question and of a proof
_INTERFACES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")
_SO_ATTACH_FILTER = 26


@contextlib.contextmanager
def bound(address):
    """Let gloo and NCCL use the interface with this address, where the user has not named another one."""
    interface = addresses.interface_of(address)
    ours = [name for name in _INTERFACES if interface and name not in os.environ]
    os.environ.update(dict.fromkeys(ours, interface))
    try:
        yield
    finally:
        for name in ours:
            del os.environ[name]


# ---------------------------------------------------------------------- who connects
def _exchange(rows, group):
    """Row i goes to worker i; what comes from worker i is row i."""
    found = torch.empty_like(rows)
    dist.all_to_all_single(found, rows, group=group)
    return found


def _bytes(rows):
    return [row.numpy().tobytes() for row in rows]


def _rows(parts):
    return torch.frombuffer(bytearray(b"".join(parts)), dtype=torch.uint8).view(len(parts), SIZE)


def _proof(secret, prover, asker, question):
    return digest(secret, b"gloo", struct.pack("<II", prover, asker), question)


def check_members(secret, group=None):
    """Ask every other worker, over the group's own connection to it, to prove that it knows the job's secret."""
    rank, world = dist.get_rank(group), dist.get_world_size(group)
    questions = [secrets.token_bytes(SIZE) for _ in range(world)]
    asked = _bytes(_exchange(_rows(questions), group))
    proofs = [_proof(secret, rank, asker, question) for asker, question in enumerate(asked)]
    for worker, proof in enumerate(_bytes(_exchange(_rows(proofs), group))):
        if proof != _proof(secret, worker, rank, questions[worker]):
            raise MXNetError(f"who has connected as worker {worker} does not know the secret of this job")


# ---------------------------------------------------------------------- the port afterwards
def _listeners():
    """Duplicates of this process's listening sockets."""
    for name in os.listdir("/proc/self/fd"):
        try:
            if not os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                continue  # before it is duplicated: a duplicate that is no socket would stay open
            sock = socket.socket(fileno=os.dup(int(name)))
        except OSError:  # closed meanwhile
            continue
        with sock:
            if sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                yield sock


def _is_gloos(sock, published):
    """Is this a port that gloo has announced to the others?"""
    if sock.family != socket.AF_INET or sock.type != socket.SOCK_STREAM:
        return False
    address, port = sock.getsockname()
    name = struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + socket.inet_aton(address)
    return any(name in value for value in published)


def shut(published):
    """Take no more connections at gloo's ports: a filter on the socket drops every packet that would open one."""
    if not sys.platform.startswith("linux"):
        return 0
    drop_all = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))  # BPF: return 0
    program = struct.pack("@HP", 1, ctypes.addressof(drop_all))
    found = 0
    for sock in _listeners():
        if _is_gloos(sock, published):
            sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
            found += 1
    return found
