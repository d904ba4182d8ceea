"""Automatic names of symbols: `NameManager` counts per kind of operator, `Prefix` puts a word in front."""

import threading
import warnings

from .base import classproperty, with_metaclass  # noqa: F401 - names that MXNet's module shows

__all__ = ["NameManager", "Prefix"]


class _Current(type):
    """Gives the class its deprecated `current` attribute, readable and writable."""

    @property
    def current(cls):
        warnings.warn(
            "NameManager.current has been deprecated. It is advised to use the `with` statement with NameManager.",
            DeprecationWarning,
            stacklevel=2,
        )
        return manager()

    @current.setter
    def current(cls, value):
        NameManager._current.value = value


def numbered(counter, hint):
    """The next name that begins with `hint`: `conv0`, `conv1` and so on; `counter` has each hint's next number."""
    number = counter.get(hint, 0)
    counter[hint] = number + 1
    return f"{hint}{number}"


class NameManager(metaclass=_Current):
    """Names symbols that are made without a name: a hint and a counter, such as fullyconnected0.

    Examples
    --------
    >>> with mx.name.NameManager():
    ...     mx.sym.relu(mx.sym.var("x")).name
    'relu0'
    """

    _current = threading.local()

    def __init__(self):
        self._counter = {}
        self._old_manager = None

    def get(self, name, hint):
        """The name of a new symbol.

        Parameters
        ----------
        name : str or None
            The name that the user gave.
        hint : str
            The beginning of the name if none was given; a counter follows.

        Returns
        -------
        str

        Examples
        --------
        >>> names = mx.name.NameManager()
        >>> names.get(None, "conv"), names.get(None, "conv"), names.get("mine", "conv")
        ('conv0', 'conv1', 'mine')
        """
        return name or numbered(self._counter, hint)

    def __enter__(self):
        self._old_manager = manager()
        NameManager._current.value = self
        return self

    def __exit__(self, *exc):
        assert self._old_manager
        NameManager._current.value = self._old_manager


class Prefix(NameManager):
    """A name manager that puts a prefix before every name.

    Parameters
    ----------
    prefix : str
        The prefix.

    Examples
    --------
    >>> with mx.name.Prefix("net_"):
    ...     mx.sym.relu(mx.sym.var("x"), name="act").name
    'net_act'
    """

    def __init__(self, prefix):
        super().__init__()
        self._prefix = prefix

    def get(self, name, hint):
        return self._prefix + super().get(name, hint)


def manager():
    """The calling thread's name manager."""
    try:
        return NameManager._current.value
    except AttributeError:
        value = NameManager._current.value = NameManager()
        return value
