"""Conditions that a device checks while the host goes on, reported when the host next waits, as MXNet reports them."""

import threading
from collections.abc import Callable
from itertools import repeat
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .._core.errors import MXNetError

Failure = Callable[[], Exception]


class _Open(NamedTuple):
    """A condition that the host has not seen; that of a graph may fail in a later replay, too."""

    flag: Tensor
    failure: Failure
    of_graph: bool = False


PENDING: list[_Open] = []  # read by those who wait: empty on the CPU
_LOCK = threading.Lock()
_MOST = 512  # open conditions of a program that never waits; beyond them those that hold are forgotten
_LOOKS: list[tuple[Any, Tensor, list[_Open]]] = []  # flags on their way to the host, and whose they are
_ROUND: list[object] = [object()]  # another one whenever the list was emptied
_MOST_FLAGS = 64  # conditions of one graph that are checked


def require(fulfilled: Tensor, failure: Failure) -> None:
    """Raise `failure()` unless the one truth value in `fulfilled` holds: at once on the CPU, else at the next wait."""
    if fulfilled.is_cpu:
        if not bool(fulfilled):
            raise failure()
    elif capturing(fulfilled):
        if Conditions.open is not None:
            Conditions.open.add(fulfilled, failure)
    else:
        with _LOCK:
            PENDING.append(_Open(fulfilled.detach().reshape(()), failure))
            if len(PENDING) > _MOST and fulfilled.is_cuda and can_capture():
                _look_aside(fulfilled.device)


def _look_aside(device: torch.device) -> None:
    """Forget conditions that hold, without waiting: their flags are copied to the host, and read some calls later.

    Of those that have failed the first is kept, which is the one that `check` would raise.
    """
    if not _LOOKS:
        mine = [entry for entry in PENDING if entry.flag.device == device and not entry.of_graph]
        flags = torch.empty(len(mine), dtype=torch.bool, device="cpu", pin_memory=True)
        flags.copy_(torch.stack([entry.flag for entry in mine]), non_blocking=True)
        _LOOKS.append((torch.cuda.current_stream(device).record_event(), flags, mine))
    elif _LOOKS[0][0].query():
        _, flags, mine = _LOOKS.pop()
        failed = [entry for entry, fulfilled in zip(mine, flags.tolist(), strict=True) if not fulfilled]
        seen = set(map(id, mine)) - set(map(id, failed[:1]))
        PENDING[:] = [entry for entry in PENDING if id(entry) not in seen]


def bounded(index: Tensor, size: int, what: str, least: int = 0) -> Tensor:
    """Indices that a kernel of the device may read by: those outside are reported later, and brought inside.

    A kernel that reads outside its memory ends the process's use of the GPU. On the CPU torch itself refuses them.
    """
    if index.is_cpu or index.is_meta or not index.numel():
        return index
    low, high = index.aminmax()

    def failure() -> MXNetError:
        wrong = int(low) if int(low) < least else int(high)
        return MXNetError(f"{what}: index {wrong} is out of bounds for size {size}")

    require((low >= least) & (high < size), failure)
    return index.clamp(least, size - 1)


def can_capture() -> bool:
    """Has this build of torch CUDA's streams, events and graphs?"""
    return torch.backends.cuda.is_built()


def capturing(tensor: Tensor) -> bool:
    """Is the current stream being captured into a graph? Nothing is known of values then."""
    return tensor.is_cuda and can_capture() and torch.cuda.is_current_stream_capturing()


class Conditions:
    """The conditions of a captured graph, each with a flag that stays false after a replay in which it failed."""

    open: "Conditions | None" = None  # that of the capture under way; a process has one at a time

    def __init__(self, device: torch.device) -> None:
        self._flags = torch.ones(_MOST_FLAGS, dtype=torch.bool, device=device)
        self._failures: list[Failure] = []
        self._kept: list[Tensor] = []
        self._listed: object = None

    def __enter__(self) -> None:
        Conditions.open = self

    def __exit__(self, *error: object) -> None:
        Conditions.open = None

    def add(self, fulfilled: Tensor, failure: Failure) -> None:
        """Let each replay put `fulfilled` to the flag of a condition; called while the graph is captured."""
        place = len(self._failures)
        if place < _MOST_FLAGS:
            self._flags[place].logical_and_(fulfilled.detach().reshape(()))
            self._failures.append(lambda: self._failed(place, failure))

    def keep(self, source: Tensor) -> Tensor:
        """Let memory of the host, which replays read, live as long as the graph."""
        self._kept.append(source)
        return source

    def _failed(self, place: int, failure: Failure) -> Exception:
        self._flags[place].fill_(True)
        error = failure()
        return type(error)(f"{error} (found by a CUDA graph, which may have run again since: values told may be later)")

    def look_later(self) -> None:
        """Note the flags, after a replay, for whoever waits next."""
        with _LOCK:
            if self._failures and self._listed is not _ROUND[0]:
                PENDING.extend(map(_Open, self._flags, self._failures, repeat(True)))
                self._listed = _ROUND[0]


def check() -> None:
    """Look at all conditions that are open; called where the host waits anyway. The first that failed is raised."""
    with _LOCK:
        pending = PENDING[:]
        _clear()
    for device in dict.fromkeys(entry.flag.device for entry in pending):
        mine = [entry for entry in pending if entry.flag.device == device]
        for fulfilled, entry in zip(torch.stack([entry.flag for entry in mine]).tolist(), mine, strict=True):
            if not fulfilled:
                raise entry.failure()


def discard() -> None:
    """Forget the open conditions, of a program that was given up."""
    with _LOCK:
        _clear()


def _clear() -> None:
    PENDING.clear()
    _LOOKS.clear()
    _ROUND[0] = object()
