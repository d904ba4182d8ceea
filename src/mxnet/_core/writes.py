"""What was written into arrays' memory, and which memory others can write into.

Whoever keeps something that was made of arrays asks a `Watch` before it looks at their memory. Every write of this
package into memory that an array already has is noted here, after it was made; memory that is shared with somebody else
(a torch tensor, a NumPy array, another process) is lent, and nothing is known of it from then on.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

MOST_WRITES = 1000

Span = tuple[int, int]
Since = tuple[list[Span], int]


class _Loan:
    """Memory that others can write into, as long as it is there."""

    def __init__(self, memory: Any) -> None:
        self.span = memory.data_ptr(), memory.data_ptr() + memory.nbytes()
        self._kind, self._reference = type(memory), memory._weak_ref()

    def over(self) -> bool:
        return self._kind._expired(self._reference)

    def __del__(self) -> None:
        self._kind._free_weak_ref(self._reference)


class _Writes:
    def __init__(self) -> None:
        self.watched = False  # until then nobody asks, and nothing need be noted
        self.log: list[Span] = []  # another list after a write that may have been anywhere
        self._loans: dict[int, _Loan] = {}  # by torch's storages, of which each is another while it is known here
        self._many = 64

    def now(self) -> Since:
        """All that is known up to now."""
        log = self.log
        return log, len(log)

    def lend(self, memory: Any) -> None:
        """Note a storage that others can write into, now and later."""
        if memory._cdata not in self._loans:
            self._loans[memory._cdata] = _Loan(memory)
            self.log = []
            if len(self._loans) > self._many:
                self._many = 64 + 2 * len(self.lent())

    def lent(self) -> list[Span]:
        """Memory that others can write into."""
        loans = list(self._loans.items())
        for storage, loan in loans:
            if loan.over():
                self._loans.pop(storage, None)
        return [loan.span for _, loan in loans if not loan.over()]


WRITES = _Writes()


def wrote(tensor: Any) -> None:
    """Note that a tensor was written into."""
    if WRITES.watched:
        log = WRITES.log
        if len(log) < MOST_WRITES:
            log.append(_span(tensor))
        else:
            WRITES.log = []


def wrote_anywhere() -> None:
    """Note a write into any number of arrays."""
    WRITES.log = []


def lend(tensor: Any) -> None:
    """Note that others can write into the tensor's memory, now and later."""
    WRITES.lend(tensor.untyped_storage())


def _span(tensor: Any) -> Span:
    if tensor.is_contiguous():
        start = tensor.data_ptr()
        return start, start + tensor.nbytes
    memory = tensor.untyped_storage()
    return memory.data_ptr(), memory.data_ptr() + memory.nbytes()


class Watch:
    """Has anybody written into these tensors since they were looked at?"""

    def __init__(self, tensors: Iterable[Any]) -> None:
        WRITES.watched = True
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(map(_span, tensors)):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)
        self._since: Since | None = None

    def looked(self, since: Since) -> None:
        """They were looked at, with all that was noted before."""
        if not any(self._touched(span) for span in WRITES.lent()):
            self._since = since

    def untouched(self) -> bool:
        """True only if nobody can have written into them."""
        since, now = self._since, WRITES.now()
        if since is None or since[0] is not now[0] or any(map(self._touched, now[0][since[1] : now[1]])):
            return False
        self._since = now
        return True

    def _touched(self, span: Span) -> bool:
        place = bisect_right(self._ends, span[0])
        return place < len(self._ends) and self._starts[place] < span[1]
