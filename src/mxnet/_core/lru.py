"""A dict with a bound for what is known of shapes and attributes: those not used of late are thrown out.

Entries live in two generations. New ones and those used again are in the dict itself, so that a hit costs what a hit
of a plain dict costs. When the dict has half of the entries allowed, it becomes the older generation, and what is left
of the former older generation, which nobody has used since, is thrown out. Each call changes whole dicts or single
entries, so that threads at most compute an entry twice.
"""

from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(dict[Key, Value], Generic[Key, Value]):
    """At most `most` entries. `get` sees the newer half only: ask `again` before computing what it did not find.

    >>> known = Recent(4)
    >>> for number in range(6):
    ...     _ = known.keep(number, str(number))
    >>> known.again(0), known[3], known.total()
    (None, '3', 3)
    """

    __slots__ = ("_older", "most")

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self._older: dict[Key, Value] = {}

    def __missing__(self, key: Key) -> Value:
        return self.keep(key, self._older.pop(key))

    def again(self, key: Key) -> Value | None:
        """The value of a key, which counts as used; None if it is not kept."""
        try:
            return self[key]
        except KeyError:
            return None

    def keep(self, key: Key, value: Value) -> Value:
        """Enter a value; returns it."""
        if len(self) >= max(1, self.most // 2):
            self._older = dict(self)
            super().clear()
        self[key] = value
        return value

    def total(self) -> int:
        """How many entries are kept in both generations."""
        return len(self) + len(self._older)

    def clear(self) -> None:
        """Forget all entries."""
        super().clear()
        self._older = {}
