"""What was written into arrays' memory, and which memory others can write into.

Code that caches something computed from arrays (packed weights, for example) asks a `Watch` whether the cache is still
valid. This package logs every write into the memory of an existing array, right after the write. Memory that is shared
with code outside (a torch tensor, a NumPy array, another process) is lent: writes into it are not logged, so a cache
that depends on it is never valid.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from typing import Any

MOST_WRITES = 1000

Span = tuple[int, int]  # address and number of bytes
Log = deque[Any]  # spans that were written, and marks of watches that have looked; the oldest entries are dropped
Since = tuple[Log, object]


class _Loan:
    """A storage that code outside can write into. The weak reference keeps its address from being used again."""

    def __init__(self, memory: Any) -> None:
        self._kind, self._reference = type(memory), memory._weak_ref()

    def over(self) -> bool:
        """Has the storage been freed?"""
        return self._kind._expired(self._reference)

    def __del__(self) -> None:
        self._kind._free_weak_ref(self._reference)


class _Writes:
    def __init__(self) -> None:
        self.watched = False  # without a watch nothing is logged
        self.log: Log = deque(maxlen=MOST_WRITES)  # replaced after a write whose place is unknown
        self.loans: dict[int, _Loan] = {}  # by the storage object's address: its memory may be reallocated
        self._many = 64

    def now(self) -> Since:
        """Append a mark to the log and return both."""
        log, mark = self.log, object()
        log.append(mark)
        return log, mark

    def lend(self, memory: Any) -> None:
        """Register a storage that code outside can write into from now on."""
        if memory._cdata not in self.loans:
            self.loans[memory._cdata] = _Loan(memory)
            wrote_anywhere()
            if len(self.loans) > self._many:
                self._forget()

    def _forget(self) -> None:
        """Drop storages that have been freed."""
        for name, loan in list(self.loans.items()):
            if loan.over():
                self.loans.pop(name, None)
        self._many = 64 + 2 * len(self.loans)


WRITES = _Writes()


def wrote(tensor: Any) -> None:
    """Log a write into a tensor."""
    if WRITES.watched:
        WRITES.log.append(span(tensor))


def wrote_anywhere() -> None:
    """Log a write whose place is unknown: all watches have to look again."""
    if WRITES.watched:
        WRITES.log = deque(maxlen=MOST_WRITES)


def lend(tensor: Any) -> None:
    """Register that code outside can write into the tensor's memory from now on."""
    WRITES.lend(tensor.untyped_storage())


def span(tensor: Any) -> Span:
    """The memory of a tensor; the whole storage if the tensor is not contiguous."""
    if tensor.is_contiguous():
        return tensor.data_ptr(), tensor.nbytes
    memory = tensor.untyped_storage()
    return memory.data_ptr(), memory.nbytes()


class Watch:
    """Tells whether these tensors may have changed since they were last read."""

    def __init__(self, tensors: Iterable[Any]) -> None:
        WRITES.watched = True
        tensors = list(tensors)
        self._storages = {t.untyped_storage()._cdata for t in tensors}
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, size in sorted(map(span, tensors)):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], start + size)
            else:
                self._starts.append(start)
                self._ends.append(start + size)
        self._since: Since | None = None

    def looked(self, since: Since) -> None:
        """The tensors have been read after `since` was taken from `WRITES.now()`."""
        if self._storages.isdisjoint(WRITES.loans):
            self._since = since

    def untouched(self) -> bool:
        """True only if no write into them is possible since then."""
        since = self._since
        if since is None or since[0] is not WRITES.log:
            return False
        log, mark = since
        if log and log[-1] is mark:
            return True
        now, entries = WRITES.now(), list(log)
        for entry in reversed(entries):
            if entry is mark:
                self._since = now
                return now[0] is log
            if entry.__class__ is tuple and self._touched(entry):
                return False
        return False  # the mark was dropped from the log

    def _touched(self, written: Span) -> bool:
        start, size = written
        place = bisect_right(self._ends, start)
        return place < len(self._ends) and self._starts[place] < start + size
