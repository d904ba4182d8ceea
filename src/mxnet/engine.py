"""Bulk execution: MXNet groups small operations; torch runs them at once, so the size is only remembered."""

import contextlib
import threading


class _Bulk(threading.local):
    size = 0


_BULK = _Bulk()


def set_bulk_size(size):
    """Set the number of operators that MXNet groups; here it is only remembered.

    Parameters
    ----------
    size : int
        The number.

    Returns
    -------
    int
        The number before.

    Examples
    --------
    >>> before = mx.engine.set_bulk_size(10)
    >>> mx.engine.set_bulk_size(before)
    10
    """
    before, _BULK.size = _BULK.size, int(size)
    return before


@contextlib.contextmanager
def bulk(size):
    """A scope with another bulk size, which changes nothing here: operators run at once.

    Parameters
    ----------
    size : int
        The number of operators to group.

    Examples
    --------
    >>> with mx.engine.bulk(10):
    ...     y = mx.nd.ones((2,)) + 1
    """
    before = set_bulk_size(size)
    try:
        yield
    finally:
        set_bulk_size(before)
