"""Puts dropped names back, in this process: modules answer for them when they are asked, and note who was asked for."""

import functools
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from types import ModuleType
from typing import Any

from .names import MODULES, OLD, RAGGED

USED: dict[str, None] = {}  # in the order of their first use


def _note(name: str) -> None:
    USED.setdefault(name)


class _Restored:
    """What is undone by `forget`."""

    def __init__(self) -> None:
        self.undo: list[Callable[[], Any]] = []


_restored = _Restored()


def _set(owner: Any, name: str, value: Any) -> None:
    own = vars(owner)
    before = own.get(name, own)  # the namespace itself stands for nothing
    setattr(owner, name, value)
    _restored.undo.append(lambda: delattr(owner, name) if before is own else setattr(owner, name, before))


def _answer_for(module: ModuleType) -> None:
    """Let a module answer for its old names, after it was asked for what it has itself."""
    table, asked = OLD[module.__name__], vars(module).get("__getattr__")

    def answer(name: str) -> Any:
        if name in table:
            _note(f"{module.__name__}.{name}")
            return table[name].value()
        if asked is not None:
            return asked(name)
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    _set(module, "__getattr__", answer)


class _Then(Loader):
    """Loads a module as it would be, and lets it answer for its old names."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        _answer_for(module)


_KEPT = ("__all__", "__getattr__")


class _Instead(Loader):
    """A module that is gone: the one that does its work now, under the old name."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        _note(spec.name)
        successor = import_module(MODULES[spec.name][0])
        module = ModuleType(spec.name, successor.__doc__)
        vars(module).update({k: v for k, v in vars(successor).items() if not k.startswith("__") or k in _KEPT})
        if hasattr(successor, "__path__"):
            module.__path__ = successor.__path__
        return module

    def exec_module(self, module: ModuleType) -> None:
        pass


class _Finder(MetaPathFinder):
    """Stands before Python's own finders; what it knows nothing of is theirs."""

    def __init__(self) -> None:
        self._asking: set[str] = set()

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname in self._asking or not (fullname in OLD or fullname in MODULES):
            return None
        found = self._others(fullname)
        if found is None:
            return spec_from_loader(fullname, _Instead()) if _can_stand_in(fullname) else None
        if fullname in OLD and found.loader is not None:
            found.loader = _Then(found.loader)
            return found
        return None

    def _others(self, fullname: str) -> ModuleSpec | None:
        self._asking.add(fullname)
        try:
            return find_spec(fullname)
        except ModuleNotFoundError:
            return None
        finally:
            self._asking.discard(fullname)


def _can_stand_in(name: str) -> bool:
    return name in MODULES and find_spec(MODULES[name][0].partition(".")[0]) is not None


def _with_ragged(function: Callable[..., Any]) -> Callable[..., Any]:
    """`numpy.array` that makes an array of objects where lists differ in length, as it did before 1.24."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            if "inhomogeneous" not in str(error) or len(args) > 1 or kwargs.get("dtype") is not None:
                raise
            _note(RAGGED)
            return function(*args, **{**kwargs, "dtype": object})

    return call


def _with_binary(fromstring: Callable[..., Any], frombuffer: Callable[..., Any]) -> Callable[..., Any]:
    """`numpy.fromstring` that reads bytes into a new array where no separator is given, as it did before 2.3."""

    @functools.wraps(fromstring)
    def call(string: Any, dtype: Any = float, count: int = -1, sep: str = "", **kwargs: Any) -> Any:
        if sep:
            return fromstring(string, dtype, count, sep, **kwargs)
        _note("numpy.fromstring")
        return frombuffer(string.encode() if isinstance(string, str) else string, dtype, count, **kwargs).copy()

    return call


def _restore_numpy() -> None:
    import numpy

    _set(numpy, "fromstring", _with_binary(numpy.fromstring, numpy.frombuffer))

    for name in ("array", "asarray", "asanyarray"):
        _set(numpy, name, _with_ragged(getattr(numpy, name)))
    if int(numpy.__version__.split(".")[0]) >= 2:
        before = numpy.get_printoptions()["legacy"]
        numpy.set_printoptions(legacy="1.25")  # 22.494442, not np.float32(22.494442)
        _restored.undo.append(lambda: numpy.set_printoptions(legacy=before))


def restore() -> None:
    """Put the names back; a second call changes nothing."""
    if _restored.undo:
        return
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    _restored.undo.append(lambda: sys.meta_path.remove(finder))
    for name in OLD:
        module = sys.modules.get(name)
        if module is not None:
            _answer_for(module)
    _restore_numpy()


def forget() -> None:
    """Take everything away again, and what was noted."""
    while _restored.undo:
        _restored.undo.pop()()
    for name in MODULES:
        if type(getattr(getattr(sys.modules.get(name), "__spec__", None), "loader", None)) is _Instead:
            del sys.modules[name]
    USED.clear()


def told() -> str:
    """One line on the names that were used; nothing if none was."""
    if not USED:
        return ""
    return f"names of older versions were used: {', '.join(USED)}; `remx check` says where and what to write instead"
