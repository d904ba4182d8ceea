"""Code that numba compiles: seconds for the first time, half of one later, in a thread of its own."""

import logging
import os
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from importlib import import_module
from typing import Any

_KERNELS = __package__.rpartition(".")[0]


class Loader:
    """What `load` returns, once it is there; `otherwise`, where numba is missing or cannot compile it."""

    def __init__(self, load: Callable[[], Any], otherwise: Any) -> None:
        self._load_it, self._otherwise = load, otherwise
        self._lock = threading.Lock()
        self._future: Future[Any] | None = None
        self._found: tuple[Any] | None = None  # what the future has: to ask that takes two locks
        _LOADERS.append(self)

    def get(self, wait: bool) -> Any:
        """The code; `otherwise`, too, if it is not ready and not waited for."""
        if self._found is None:
            future = self._future or self._begin()
            if not (wait or future.done()):
                return self._otherwise
            self._found = (future.result(),)
        return self._found[0]

    def loaded(self) -> Any:
        """The code, if it is there already; nothing is begun for its sake."""
        return self._otherwise if self._future is None else self.get(wait=False)

    def known(self) -> bool | None:
        """Is the code there? None: it is being loaded."""
        future = self._future or self._begin()
        return future.result() is not self._otherwise if future.done() else None

    def _begin(self) -> "Future[Any]":
        with self._lock:
            if self._future is None:
                future: Future[Any] = Future()
                if _numba_is_here():
                    threading.Thread(target=self._load, args=(future,), name="mxnet-loops", daemon=True).start()
                else:
                    future.set_result(self._otherwise)
                self._future = future
            return self._future

    def loading(self) -> bool:
        """Is a thread at work on it?"""
        return self._lock.locked() or (self._future is not None and not self._future.done())

    def do_without(self) -> None:
        """Wait no more for what is not there yet."""
        if self._future is None or not self._future.done():
            self._lock, self._future = threading.Lock(), Future()
            self._future.set_result(self._otherwise)

    def _load(self, future: "Future[Any]") -> None:
        try:
            with _journal:
                found = self._load_it()
        except Exception as error:  # whatever a compiler may say: it only costs time
            warnings.warn(f"networks run without compiled loops, which numba cannot make: {error!r}", stacklevel=1)
            found = self._otherwise
        future.set_result(found)


class _Journal:
    """Keeps numba's journal, which tells all that it compiles, out of a program's log while something is loaded."""

    def __init__(self) -> None:
        self._logger, self._lock, self._loading = logging.getLogger("numba"), threading.Lock(), 0
        self._level = logging.NOTSET

    def __enter__(self) -> None:
        with self._lock:
            if not self._loading:
                self._level = self._logger.level
                self._logger.setLevel(self._level or logging.WARNING)  # its own level is a program's wish
            self._loading += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._loading -= 1
            if not self._loading:
                self._logger.setLevel(self._level)


_LOADERS: list[Loader] = []
_journal = _Journal()


def _in_child() -> None:
    """The thread that was loading is gone in a forked process, and what it had locked, in numba too, stays locked."""
    global _journal
    if any(each.loading() for each in _LOADERS):
        _journal = _Journal()
        for each in _LOADERS:
            each.do_without()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def _numba_is_here() -> bool:
    """Import numba, if it is there and fits this Python and NumPy, and all that it looks up when it compiles.

    Not in a thread: it looks at functions of `math`, which torch's exporter replaces for a time.
    """
    try:
        import numba
        from numba.core.registry import cpu_target
    except ImportError:
        return False
    cpu_target.typing_context.refresh()  # pyright: ignore[reportAttributeAccessIssue]
    cpu_target.target_context.refresh()  # pyright: ignore[reportAttributeAccessIssue]
    return not numba.config.DISABLE_JIT  # pyright: ignore[reportAttributeAccessIssue]


def _target() -> tuple[str, str]:
    """The name of the processor that numba compiles for, and its features."""
    from numba.core.registry import cpu_target

    return cpu_target.target_context.codegen().magic_tuple()[1:]  # pyright: ignore[reportAttributeAccessIssue]


def widest() -> int:
    """How many floats the largest vectors hold that numba compiles for; 0: there are none that kernels are made of."""
    has = set(_target()[1].split(","))
    if not has >= {"+avx2", "+fma"}:
        return 0
    return 16 if has >= {"+avx512f", "+avx512vl", "+avx512dq", "+avx512bw"} else 8


def vectors_are_here() -> bool:
    """Is this a processor for which kernels are made?"""
    return widest() > 0


def outdoes_library() -> bool:
    """Are kernels' vectors larger than MKL's? On AMD's processors it does not go beyond eight floats."""
    return widest() > 8 and _target()[0].startswith("znver")


def kernels(module: str, suits: Callable[[], bool] = vectors_are_here) -> Loader:
    """A module of `_kernels`, written with `simd`; None on processors that it does not suit."""
    return Loader(lambda: import_module(f"{_KERNELS}.{module}") if suits() else None, None)


def _anywhere() -> bool:
    return True


class Earned:
    """A module of `_kernels`, loaded once so much (numbers, multiplications) was worked on without it.

    That takes about as long as to import a compiler; who has less to do never waits for one.
    """

    def __init__(self, module: str, enough: int = 1 << 22, suits: Callable[[], bool] = _anywhere) -> None:
        self.loader, self.enough, self._seen = kernels(module, suits), enough, 0

    def get(self, work: int, wait: bool = False) -> Any:
        """The code, to do some more work; None: go without it."""
        if self._seen < self.enough:
            self._seen += work
            return None
        return self.loader.get(wait)
