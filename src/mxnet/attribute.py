"""Attributes for all symbols made in a scope: `with AttrScope(ctx_group="stage1"):`."""

import threading
import warnings
from collections import defaultdict

from .base import classproperty, with_metaclass  # noqa: F401 - names that MXNet's module shows

__all__ = ["AttrScope"]


def _deprecated():
    warnings.warn(
        "AttrScope.current has been deprecated. It is advised to use the `with` statement with AttrScope.",
        DeprecationWarning,
        stacklevel=3,
    )


class _Current(type):
    """Gives the class its deprecated `current` attribute, readable and writable."""

    @property
    def current(cls):
        _deprecated()
        return scope()

    @current.setter
    def current(cls, value):
        _deprecated()
        AttrScope._current.value = value


class AttrScope(metaclass=_Current):
    """Puts attributes on every symbol that is made inside its `with` block; inner scopes add to outer ones.

    Parameters
    ----------
    **kwargs : str
        The attributes.

    Examples
    --------
    >>> with mx.AttrScope(ctx_group="dev1"):
    ...     x = mx.sym.var("x")
    >>> x.attr("ctx_group")
    'dev1'
    """

    _current = threading.local()
    _subgraph_names = defaultdict(int)

    def __init__(self, **kwargs):
        self._old_scope = None
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise ValueError(f"Attributes need to be string, got {key}={value!r}")
        self._attr = kwargs

    def get(self, attr):
        """The attributes that a new symbol gets: those of the scope, and its own, which win.

        Parameters
        ----------
        attr : dict of str to str, or None
            The symbol's own attributes.

        Returns
        -------
        dict of str to str

        Examples
        --------
        >>> mx.AttrScope(group="a", lr="1").get({"lr": "2"})
        {'group': 'a', 'lr': '2'}
        """
        if not self._attr:
            return attr or {}
        return {**self._attr, **attr} if attr else dict(self._attr)

    def __enter__(self):
        self._old_scope = scope()
        self._attr = {**self._old_scope._attr, **self._attr}
        AttrScope._current.value = self
        return self

    def __exit__(self, *exc):
        assert self._old_scope
        AttrScope._current.value = self._old_scope


def scope():
    """The calling thread's attribute scope."""
    try:
        return AttrScope._current.value
    except AttributeError:
        value = AttrScope._current.value = AttrScope()
        return value
