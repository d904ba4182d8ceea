"""Loading of code that numba compiles: in the background, once for all callers, and only if a program has work for it.

The first compilation on a machine takes seconds; loading from numba's cache takes half a second. `CompiledModule` is a
module of kernels. It is based on `Loader`, which also serves code that has its own fallback.
"""

import atexit
import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, TimeoutError
from importlib import import_module
from typing import Any

import torch

from .compile_process import PROCESS
from .first_run import FIRST_RUN, kept

_KERNELS = __name__.rpartition(".runtime.")[0]
_logger = logging.getLogger(__name__)
_told: list[bool] = []  # that kernels are being compiled


class Loader:
    """The result of `load`, once it is available; `otherwise` if numba is missing or cannot compile it."""

    def __init__(self, load: Callable[[], Any], otherwise: Any) -> None:
        self._load_it, self._otherwise = load, otherwise
        self._lock = threading.Lock()
        self._future: Future[Any] | None = None
        self._found: tuple[Any] | None = None  # the future's result: asking the future takes two locks
        self.failure = ""  # why `otherwise` is all there is
        _LOADERS.append(self)

    def get(self, wait: bool) -> Any:
        """Return the code; `otherwise` also if it is not ready and the caller does not wait."""
        if self._found is None:
            future = self._future or self._begin()
            if not (wait or future.done()):
                return self._otherwise
            if self.is_new() and not FIRST_RUN.over:  # others may use it, training not yet
                return _waited_for(future)
            self._found = (_waited_for(future),)
        return self._found[0]

    def is_new(self) -> bool:
        """Was it never compiled on this machine before this process asked for it?"""
        return False

    def loaded(self) -> Any:
        """Return the code if it is already loaded; this does not start loading."""
        return self._otherwise if self._future is None else self.get(wait=False)

    def known(self) -> bool | None:
        """Is the code loaded? None if it is being loaded."""
        future = self._future or self._begin()
        return future.result() is not self._otherwise if future.done() else None

    def _begin(self) -> "Future[Any]":
        with self._lock:
            if self._future is None:
                future: Future[Any] = Future()
                if not _exit.begun and _numba_is_here():
                    self.is_new()  # asked before the thread, which may compile it
                    _exit.start(threading.Thread(target=self._load, args=(future,), name="mxnet-compile", daemon=True))
                else:
                    self.failure = "numba is not installed, or does not fit this Python and NumPy"
                    future.set_result(self._otherwise)
                self._future = future
            return self._future

    def name(self) -> str:
        """The module that is loaded, or the one that loads."""
        return self._load_it.__module__.removeprefix("mxnet.")

    def loading(self) -> bool:
        """Is a thread loading it?"""
        return self._lock.locked() or (self._future is not None and not self._future.done())

    def do_without(self) -> None:
        """Stop waiting for code that is not loaded yet."""
        if self._future is None or not self._future.done():
            self._lock, self._future = threading.Lock(), Future()
            self._future.set_result(self._otherwise)
            self.failure = "it was being compiled when this process was forked"

    def _load(self, future: "Future[Any]") -> None:
        found = self._otherwise
        try:
            with _quiet:
                found = self._load_it()
        except Exception as error:  # any error of the compiler: the fallback is only slower
            self.failure = f"numba cannot compile it: {error!r}"
            if not _exit.begun:
                warnings.warn(f"networks run without compiled loops, which numba cannot make: {error!r}", stacklevel=1)
        finally:
            future.set_result(found)


def _waited_for(future: "Future[Any]") -> Any:
    """Return the result; if the wait exceeds a second, explain it once per process."""
    while not (_told or future.done()):
        try:
            return future.result(1.0)
        except TimeoutError:
            cache = sys.modules.get(f"{_KERNELS}.runtime.code_cache")
            if not future.done() and cache is not None and cache.LOG.misses:
                _told.append(True)
                _logger.warning(
                    "Compiling CPU kernels for this processor: %s. `remx warmup` compiles them all ahead of time.",
                    kept(cache_folder()),
                )  # fmt: skip
    return future.result()


class _Quiet:
    """Suppresses side effects of numba on the program while code is loaded.

    numba's compilation log does not reach the program's log. Colours in its messages are turned off: with colorama
    installed, numba replaces `sys.stdout` in any thread to create a message, even for messages that it discards during
    type inference.
    """

    def __init__(self) -> None:
        self._logger, self._lock, self._loading = logging.getLogger("numba"), threading.Lock(), 0
        self._level, self._colours = logging.NOTSET, None

    def __enter__(self) -> None:
        with self._lock:
            if not self._loading:
                self._level = self._logger.level
                self._logger.setLevel(self._level or logging.WARNING)  # its own level is a program's choice
                self._colours = _numba_colours()
                if self._colours is not None:
                    self._colours._markup = lambda text, *colours: text
            self._loading += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._loading -= 1
            if not self._loading:
                self._logger.setLevel(self._level)
                if self._colours is not None:
                    del self._colours._markup


def _numba_colours() -> Any:
    """The object that colours numba's messages, if it does; all modules of numba share it."""
    if not _numba_is_here():
        return None
    from numba.core import errors

    colours = errors.termcolor()
    return colours if hasattr(colours, "_markup") else None


class _Exit:
    """Ends the threads that compile before the interpreter ends.

    A daemon thread that requests the interpreter's lock after that is unwound by the C library. LLVM's frames cannot be
    unwound this way, and the process aborts. Compilation is therefore stopped at numba's next pass and waited for.
    """

    def __init__(self) -> None:
        self.begun = False
        self._threads: list[threading.Thread] = []

    def start(self, thread: threading.Thread) -> None:
        """Start a thread that compiles."""
        if not self._threads:
            atexit.register(self._join)
        self._threads.append(thread)
        thread.start()

    def _join(self) -> None:
        self.begun = True
        if any(thread.is_alive() for thread in self._threads):
            from numba.core import event

            for kind in ("numba:run_pass", "numba:compile"):
                event.register(kind, _stopper(event.Listener))
            for thread in self._threads:
                thread.join()


def ending() -> bool:
    """Has the interpreter begun to end?"""
    return _exit.begun


def _stopper(listener: Any) -> Any:
    """Return a listener for numba's events that ends the compiling thread at its next step."""

    def stop(self: Any, event: Any) -> None:
        if threading.current_thread().name == "mxnet-compile":
            raise SystemExit

    return type("Stopper", (listener,), {"on_start": stop, "on_end": lambda self, event: None})()


_LOADERS: list[Loader] = []
_quiet = _Quiet()
_exit = _Exit()


def _in_child() -> None:
    """A forked process has no loading thread, and the locks that the thread held, also in numba, stay locked."""
    global _quiet
    if any(each.loading() for each in _LOADERS):
        _quiet = _Quiet()
        for each in _LOADERS:
            each.do_without()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def _numba_is_here() -> bool:
    """Is numba available for this Python and NumPy? Checked once, because numba's lookup is not thread-safe."""
    with _asking:
        if not _is_here:
            _is_here.append(_import_numba())
        return _is_here[0]


_asking = threading.Lock()
_is_here: list[bool] = []


def _import_numba() -> bool:
    """Import numba, if it is available for this Python and NumPy, and everything that it needs for compiling.

    This must not run in a thread: numba reads functions of `math`, which torch's exporter replaces temporarily.
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


def simd_width() -> int:
    """Return the number of floats in the largest vectors that numba compiles for; 0 if kernels cannot use any."""
    has = set(_target()[1].split(","))
    if not has >= {"+avx2", "+fma"}:
        return 0
    return 16 if has >= {"+avx512f", "+avx512vl", "+avx512dq", "+avx512bw"} else 8


def has_simd() -> str:
    """Return an empty string if SIMD kernels are possible, else the reason why not."""
    return "" if simd_width() else "the processor has no AVX2 and FMA"


def beats_mkl() -> str:
    """Return an empty string if the kernels' vectors are larger than MKL's (eight floats on AMD processors)."""
    if simd_width() > 8 and _target()[0].startswith("znver"):
        return ""
    return "MKL is as fast on this processor"


def any_processor() -> str:
    """Scalar code runs anywhere."""
    return ""


class CompiledModule(Loader):
    """A module of `_kernels`, by its name there.

    `processor` returns the reason if this processor cannot use the module. Loading starts after a program has done
    `after` units of work without it, which takes about as long as importing the compiler, so that short programs never
    wait for it.
    """

    def __init__(self, module: str, processor: Callable[[], str] = has_simd, after: int = 0) -> None:
        super().__init__(self._import, None)
        self.module, self.after, self._processor, self._work = module, after, processor, 0
        self._is_new: bool | None = None  # not asked yet

    def name(self) -> str:
        return self.module

    def _import(self) -> Any:
        self.failure = self._processor()
        if self.failure:
            return None
        found = import_module(f"{_KERNELS}.{self.module}")
        _code_cache().note(self.module)
        return found

    def is_new(self) -> bool:
        if self._is_new is None:
            waits = FIRST_RUN.waits or not _numba_is_here() or bool(self._processor())
            self._is_new = not waits and not _code_cache().is_noted(self.module)
        return self._is_new

    def ready(self, work: int, call: tuple[Any, ...]) -> bool:
        """Is the code available for this amount of work? Recorded calls wait while it is being compiled."""
        if self._found is not None:
            return self._found[0] is not None
        return self.earned(work, _is_recorded(call)) is not None

    def earned(self, work: int, wait: bool = False) -> Any:
        """Return the code for this amount of work; None if it is not ready or not available."""
        if self._work < self.after:
            self._work += work
            return None
        return None if wait and self.put_off(work) else self.get(wait)

    def put_off(self, work: int) -> bool:
        """Should torch compute this training call while code that is new on this machine is compiled?"""
        if self._found is not None or not self.is_new() or not FIRST_RUN.put_off(work):
            return False
        folder = cache_folder()
        if not PROCESS.ask(self.module, folder) and self._future is None:
            self._begin()
        if self._future is not None and self._future.done():
            return self._future.result() is not None  # else there will never be any
        FIRST_RUN.tell(folder)
        return True

    def state(self) -> tuple[str, str]:
        """Return whether it is ready, and if not, why; this does not start loading."""
        if self._found is None and self._is_new and not FIRST_RUN.over:
            return "compiling", "training changes over to it after a fixed amount of work"
        if self._future is None:
            return "idle", f"compiled after work of {self.after}, of which {min(self._work, self.after)} is done"
        if not self._future.done():
            return "compiling", "numba compiles it in a thread of its own"
        return ("unavailable", self.failure) if self._future.result() is None else ("ready", "")


def loaders() -> list[Loader]:
    """Return all loaders of the modules that have been imported."""
    return list(_LOADERS)


def _code_cache() -> Any:
    """Import and return the module that imports numba."""
    return import_module(f"{_KERNELS}.runtime.code_cache")


def cache_folder() -> str:
    """Where compiled code is kept; empty without numba."""
    return str(_code_cache().kept_in()) if _numba_is_here() else ""


def compile_module(module: str) -> None:
    """Compile a module of kernels and write its marker file."""
    if _numba_is_here():
        import_module(f"{_KERNELS}.{module}")
        _code_cache().note(module)


def warm_up() -> Iterator[Loader]:
    """Load everything that this machine can use; yield each loader when it is finished."""
    _told.append(True)  # who asks for it knows
    for loader in loaders():
        loader.get(wait=True)
        yield loader


def _is_recorded(call: tuple[Any, ...]) -> bool:
    return torch.is_grad_enabled() and any(isinstance(t, torch.Tensor) and t.requires_grad for t in call)


def load_used() -> None:
    """Load all code that calls have requested, whatever their amount of work: the caller expects many more calls."""
    for each in list(_LOADERS):
        if each.loading() or getattr(each, "_work", 0):
            each.get(wait=True)


def finish_loading() -> None:
    """Wait for all code that is being compiled, such as what a first run has asked for."""
    for each in list(_LOADERS):
        if each.loading():
            each.get(wait=True)
