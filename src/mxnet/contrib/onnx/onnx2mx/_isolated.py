"""Calls in a process of their own: the package onnx believes what attributes of a file claim.

Its C++ code takes any memory that a number asks for, and reads beyond the end of a list that is shorter than it should
be. A fork of this process costs some milliseconds; whatever happens in it, this process goes on.
"""

import contextlib
import faulthandler
import os
import signal
import sys
import warnings
from collections.abc import Callable

from ....base import MXNetError

SPARE, PER_BYTE = 1 << 27, 16  # bytes of memory that a call may take: so many, and so many for each byte of its input
SECONDS, PER_MEGABYTE = 10, 10  # of the processor
_HERE = sys.platform.startswith("linux")  # elsewhere a fork of a process with threads is not safe, or there is none


def isolated(function: Callable[[bytes], bytes], data: bytes) -> bytes:
    """`function(data)`, computed in a fork of this process; what it raises there is an `MXNetError` here."""
    if not _HERE:
        return function(data)
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # since Python 3.12, for a process with threads
        child = os.fork()
    if not child:
        _answer(function, data, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if answer[:1] == b"+" and not status:
        return answer[1:]
    told = answer[1:].decode("utf-8", "replace") if answer[:1] == b"-" else _end(status)
    raise MXNetError(told)


def _answer(function: Callable[[bytes], bytes], data: bytes, writing: int) -> None:
    """In the fork: compute, write the result or the error, and end without any of this process's clean-up."""
    code = 1
    try:
        faulthandler.disable()
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, signal.SIG_DFL)
        _limit(len(data))
        try:
            answer = b"+" + function(data)
        except Exception as error:  # an error of C++ may be of any class; its words go to the other process
            answer = b"-" + (str(error).strip() or type(error).__name__).encode("utf-8", "replace")
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(answer)
        code = 0
    finally:
        os._exit(code)


def _limit(size: int) -> None:
    import resource

    with open("/proc/self/statm", "rb") as file:
        there = int(file.read().split()[0]) * resource.getpagesize()
    seconds = SECONDS + PER_MEGABYTE * size // (1 << 20)  # a fork begins to count at 0
    wanted = [(resource.RLIMIT_AS, there + SPARE + PER_BYTE * size), (resource.RLIMIT_CPU, seconds)]
    for which, most in [*wanted, (resource.RLIMIT_CORE, 0)]:
        _, hard = resource.getrlimit(which)
        with contextlib.suppress(ValueError, OSError):  # a stricter limit holds already
            resource.setrlimit(which, (most, hard))


def _end(status: int) -> str:
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return "it takes more time than so few bytes should"
    return "the package onnx fails on it; an attribute or a number of inputs is not as ONNX wants it"
