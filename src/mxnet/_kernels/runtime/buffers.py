"""Parallel loops over torch's number of threads, and per-thread buffers."""

import functools
import math
import mmap
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

_local = threading.local()


def thread_buffers() -> dict[int | str, torch.Tensor]:
    """Return all buffers of this thread."""
    return _local.__dict__.setdefault("thread_buffers", {})


def buffer(which: int | str, *shape: int) -> torch.Tensor:
    """Return a buffer of this thread that is reused between calls; its previous contents are lost."""
    buffers, size = thread_buffers(), math.prod(shape)
    found = buffers.get(which)
    if found is None or found.numel() < size:
        found = buffers[which] = torch.empty(size)
    return found[:size].view(shape)


def scratch(floats: int) -> int:
    """Return the address of this thread's scratch memory for so many floats, reused between calls."""
    if getattr(_local, "floats", 0) < floats:
        _local.memory = torch.empty(floats)
        _local.floats, _local.address = floats, _local.memory.data_ptr()
    return _local.address


def pages(size: int) -> mmap.mmap:
    """Return private memory of this process (also after a fork); untouched pages use no physical memory."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size)
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0))


class _Arena:
    """Memory for small long-lived arrays, separate from tensors' memory, which they would fragment."""

    SIZE = 1 << 20  # bytes

    def __init__(self) -> None:
        self._lock, self._memory, self._taken = threading.Lock(), np.empty(0, np.int64), 0

    def put(self, array: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        with self._lock:
            if self._taken + array.size > self._memory.size:
                self._memory, self._taken = np.frombuffer(pages(max(self.SIZE, array.nbytes)), np.int64), 0
            place, self._taken = self._memory[self._taken : self._taken + array.size], self._taken + array.size
        place[:] = array
        return place


_arena = _Arena()
persistent = _arena.put


def share(work: Callable[[int, int], Any], begin: int, count: int, most: int, unit: int = 1) -> None:
    """Run `work(first, last)` over a range, in parts of `unit`, by at most `most` threads.

    Python's own threads take a tenth of a millisecond to wake up; native ones (see `teams`) less than a tenth of that.
    """
    units = -(-count // unit)
    parts = min(torch.get_num_threads(), units, most)
    if parts < 2:
        work(begin, begin + count)
        return
    edges = [min(part * units // parts * unit, count) + begin for part in range(parts + 1)]
    others = [_threads(os.getpid()).submit(work, *edges[i : i + 2]) for i in range(1, parts)]
    work(*edges[:2])
    for other in others:
        other.result()


@functools.lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """Threads of this process: a fork has none of its parent's."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="mxnet-tiles")
