"""Error classes that a program can catch by name."""

from .base import MXNetError, register_error

register = register_error

__all__ = ["InternalError", "MXNetError", "register", "register_error"]


@register_error
class InternalError(MXNetError):
    """A failure inside the library; the message asks for a report.

    Parameters
    ----------
    msg : str
        What happened.

    Examples
    --------
    >>> "lost" in str(mx.error.InternalError("lost"))
    True
    """

    def __init__(self, msg):
        if "MXNet hint:" not in msg:
            msg += "\nMXNet hint: an internal check failed. Please report it with the code that caused it."
        super().__init__(msg)


for _class in (ValueError, TypeError, AttributeError, KeyError, IndexError):
    register_error(_class.__name__, _class)
