"""Which address of this machine a job's ports are bound to: loopback, or the one it was told. Never all of them."""

import contextlib
import ipaddress
import os
import socket
import struct

from .._core.errors import MXNetError

LOOPBACK = "127.0.0.1"
_SIOCGIFADDR = 0x8915


def is_loopback(host: str) -> bool:
    """Is this a name or address of loopback?"""
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host.lower() in ("localhost", "ip6-localhost", "localhost.localdomain")


def resolve(host: str) -> str | None:
    """The address of a host's name; IPv4 first. None where nobody knows it."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return None
    return str(min(found, key=lambda one: one[0] != socket.AF_INET)[4][0])


def of_interface(name: str) -> str:
    """The IPv4 address of a network interface; an address stands for itself."""
    with contextlib.suppress(ValueError):
        return str(ipaddress.ip_address(name))
    try:
        import fcntl

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            found = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, struct.pack("256s", name[:15].encode()))
    except (ImportError, OSError):
        names = ", ".join(known for _, known in socket.if_nameindex())
        raise MXNetError(f"no IPv4 address of a network interface {name!r}; this machine has {names}") from None
    return socket.inet_ntoa(found[20:24])


def interface_of(address: str) -> str | None:
    """The network interface that has an address, as far as it can be found out."""
    for _, name in socket.if_nameindex():
        with contextlib.suppress(MXNetError):
            if of_interface(name) == address:
                return name
    return None


def is_own(address: str) -> bool:
    """Can this machine bind the address?"""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def towards(host: str) -> str | None:
    """The address of this machine by which it reaches a host; nothing is sent."""
    address = resolve(host)
    if address is None:
        return None
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
        probe.connect((address, 9))
        return str(probe.getsockname()[0])
    return None


def on_one_machine(world: int) -> bool:
    """Do all workers run here, as far as launchers tell?"""
    counts = (os.environ.get(name) for name in ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"))
    hosts = os.environ.get("SLURM_STEP_NUM_NODES", os.environ.get("SLURM_NNODES"))  # a step may use a part of the job
    return str(world) in counts or hosts == "1"


def own(master: str, world: int) -> str:
    """The address that this process binds: loopback, what MXNet's variables say, or what reaches the first worker."""
    if told := os.environ.get("DMLC_NODE_HOST") or os.environ.get("DMLC_INTERFACE"):
        return of_interface(told)
    if is_loopback(master) or on_one_machine(world):
        return LOOPBACK
    address = towards(master)
    if address is None:
        raise MXNetError(f"the first worker's host {master!r} is unknown here; name it by its address")
    if is_loopback(address):  # this machine's own name, which /etc/hosts gives to loopback
        raise MXNetError(
            f"the first worker's host {master!r} stands for {address} on this machine, which no other machine reaches: "
            "set DMLC_NODE_HOST or DMLC_INTERFACE, or remx launch --interface, to the address or interface to use"
        )
    return address


def of_master(master: str, world: int) -> str:
    """Where the first worker is reached."""
    return LOOPBACK if is_loopback(master) or on_one_machine(world) else master
