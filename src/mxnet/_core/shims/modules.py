"""Modules of generated functions that show all of them to whoever looks into their `__dict__`, as MXNet's do."""

import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

_OWN = vars(ModuleType)["__dict__"]


class _Complete(ModuleType):
    """A module whose functions are made when first asked for, or all at once when its `__dict__` is looked into."""

    @property
    def __dict__(self) -> dict[str, Any]:
        own = _OWN.__get__(self)
        for name in own["_offered"]():
            if name not in own:
                getattr(self, name, None)  # a module may show fewer names than its namespace has
        return own

    @property
    def __all__(self) -> list[str]:
        """What `from module import *` gives: what the module lists itself, and its functions."""
        listed = _OWN.__get__(self).get("__all__", ())
        return sorted({*listed, *(name for name in self.__dict__["_offered"]() if hasattr(self, name))})

    def __dir__(self) -> list[str]:
        return _OWN.__get__(self)["__dir__"]()  # Python's own would look into `__dict__`, only to find this function


def complete(module: str, offered: Callable[[], Iterable[str]]) -> None:
    """Let `name in module.__dict__` hold for all `offered` names: GluonCV asks so which operators there are."""
    vars(sys.modules[module])["_offered"] = offered
    sys.modules[module].__class__ = _Complete
