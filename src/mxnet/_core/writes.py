"""What was written into arrays' memory, and which memory others can write into.

Whoever keeps something that was made of arrays asks a `Watch` before it looks at their memory. Every write of this
package into memory that an array already has is noted here, after it was made; memory that is shared with somebody else
(a torch tensor, a NumPy array, another process) is lent, and nothing is known of it from then on.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from typing import Any

MOST_WRITES = 1000

Span = tuple[int, int]  # where it begins, and how many bytes it has
Log = deque[Any]  # spans that were written into, and marks of those who have looked; the oldest are forgotten
Since = tuple[Log, object]


class _Loan:
    """A storage that others can write into; while this is kept, no other storage has its name."""

    def __init__(self, memory: Any) -> None:
        self._kind, self._reference = type(memory), memory._weak_ref()

    def over(self) -> bool:
        return self._kind._expired(self._reference)

    def __del__(self) -> None:
        self._kind._free_weak_ref(self._reference)


class _Writes:
    def __init__(self) -> None:
        self.watched = False  # until then nobody asks, and nothing need be noted
        self.log: Log = deque(maxlen=MOST_WRITES)  # another one after a write that may have been anywhere
        self.loans: dict[int, _Loan] = {}  # by the storages' names: their memory may move
        self._many = 64

    def now(self) -> Since:
        """A mark behind all that is known up to now."""
        log, mark = self.log, object()
        log.append(mark)
        return log, mark

    def lend(self, memory: Any) -> None:
        """Note a storage that others can write into, now and later."""
        if memory._cdata not in self.loans:
            self.loans[memory._cdata] = _Loan(memory)
            wrote_anywhere()
            if len(self.loans) > self._many:
                self._forget()

    def _forget(self) -> None:
        """Forget storages that are gone."""
        for name, loan in list(self.loans.items()):
            if loan.over():
                self.loans.pop(name, None)
        self._many = 64 + 2 * len(self.loans)


WRITES = _Writes()


def wrote(tensor: Any) -> None:
    """Note that a tensor was written into."""
    if WRITES.watched:
        WRITES.log.append(span(tensor))


def wrote_anywhere() -> None:
    """Note a write into any number of arrays."""
    if WRITES.watched:
        WRITES.log = deque(maxlen=MOST_WRITES)


def lend(tensor: Any) -> None:
    """Note that others can write into the tensor's memory, now and later."""
    WRITES.lend(tensor.untyped_storage())


def span(tensor: Any) -> Span:
    """The memory of a tensor, or all around it."""
    if tensor.is_contiguous():
        return tensor.data_ptr(), tensor.nbytes
    memory = tensor.untyped_storage()
    return memory.data_ptr(), memory.nbytes()


class Watch:
    """Has anybody written into these tensors since they were looked at?"""

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
        """They were looked at, with all that was noted before."""
        if self._storages.isdisjoint(WRITES.loans):
            self._since = since

    def untouched(self) -> bool:
        """True only if nobody can have written into them."""
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
        return False  # the mark has been forgotten

    def _touched(self, written: Span) -> bool:
        start, size = written
        place = bisect_right(self._ends, start)
        return place < len(self._ends) and self._starts[place] < start + size
