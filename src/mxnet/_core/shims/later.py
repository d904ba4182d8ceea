"""Modules that are in `sys.modules` from the start, and load when something in them is first asked for."""

import os
import sys
import threading
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

_LOCK = threading.RLock()


class _Later(ModuleType):
    """A module whose code has not run yet. Names that every module has are there; all others make it run."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(_loaded(self), name)

    @property
    def __dict__(self) -> dict[str, Any]:
        return _loaded(self).__dict__

    def __dir__(self) -> list[str]:
        return dir(_loaded(self))


def _loaded(module: ModuleType) -> ModuleType:
    """The same module, after its package and then its own code have run. If that fails, it waits to be asked again."""
    spec = module.__spec__
    assert spec is not None and spec.loader is not None
    with _LOCK:
        if type(module) is _Later:
            import_module(str(spec.parent))
        if type(module) is _Later:  # its package may have asked for it
            module.__class__ = ModuleType  # pyright: ignore[reportAttributeAccessIssue]
            try:
                spec.loader.exec_module(module)
            except BaseException:
                module.__class__ = _Later
                raise
    return module


def load_later(package: str, folder: str, names: str) -> None:
    """Put modules of a package, whose files lie in `folder`, into `sys.modules`; the package itself is not loaded."""
    for name in names.split():
        full = f"{package}.{name}"
        spec = spec_from_file_location(full, os.path.join(folder, f"{name}.py"))
        assert spec is not None
        module = module_from_spec(spec)
        module.__class__ = _Later
        sys.modules.setdefault(full, module)
