"""Conditions that a device checks while the host goes on, reported when the host next waits, as MXNet reports them."""

import threading
from collections.abc import Callable

import torch
from torch import Tensor

from .._core.errors import MXNetError

Failure = Callable[[], Exception]
PENDING: list[tuple[Tensor, Failure]] = []  # read by those who wait: empty on the CPU
_LOCK = threading.Lock()


def require(fulfilled: Tensor, failure: Failure) -> None:
    """Raise `failure()` unless the one truth value in `fulfilled` holds: at once on the CPU, else at the next wait."""
    if fulfilled.is_cpu:
        if not bool(fulfilled):
            raise failure()
    elif not capturing(fulfilled):
        with _LOCK:
            PENDING.append((fulfilled.detach().reshape(()), failure))


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


def capturing(tensor: Tensor) -> bool:
    """Is the current stream being captured into a graph? Nothing is known of values then."""
    return tensor.is_cuda and torch.cuda.is_current_stream_capturing()


def check() -> None:
    """Look at all conditions that are open; called where the host waits anyway. The first that failed is raised."""
    with _LOCK:
        pending = PENDING[:]
        PENDING.clear()
    for device in {flag.device for flag, _ in pending}:
        mine = [(flag, failure) for flag, failure in pending if flag.device == device]
        for fulfilled, (_, failure) in zip(torch.stack([f for f, _ in mine]).tolist(), mine, strict=True):
            if not fulfilled:
                raise failure()


def discard() -> None:
    """Forget the open conditions, of a program that was given up."""
    with _LOCK:
        PENDING.clear()
