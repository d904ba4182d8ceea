"""Ports of this machine."""

import socket


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]
