"""Bulk execution: MXNet groups small operations; torch runs them at once, so the size is only remembered."""

import contextlib
import threading


class _Bulk(threading.local):
    size = 0


_BULK = _Bulk()


def set_bulk_size(size):
    """Remember how many operations to group; returns what it was."""
    before, _BULK.size = _BULK.size, int(size)
    return before


@contextlib.contextmanager
def bulk(size):
    """Another bulk size inside a `with`."""
    before = set_bulk_size(size)
    try:
        yield
    finally:
        set_bulk_size(before)
