"""The cache of compiled kernels: one folder per user, version and processor; one process compiles for all others.

Importing this module imports numba. numba's own settings are not changed: only kernels of this package are cached here,
and `NUMBA_CACHE_DIR` takes precedence. A read-only folder is still read; one that other users can write is not
(see `_core.machine.cache_folder`).
"""

import functools
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import numba
from numba.core import caching, config

from ..._core.machine.cache_folder import kernel_folder, make_folder
from ..._core.version import REMX_VERSION
from .loader import ending

try:
    import fcntl
except ImportError:  # Windows: processes that start together compile the same code, each for itself
    fcntl = None

PATIENCE = 300.0  # seconds that another process may take for one function
_HERE = str(Path(__file__).parents[1]) + os.sep


def folder() -> Path:
    """The folder of this version on this processor."""
    from numba.core.registry import cpu_target

    _, processor, features = cpu_target.target_context.codegen().magic_tuple()  # pyright: ignore[reportAttributeAccessIssue]
    key = _sources(crc32(features.encode()))
    return Path(kernel_folder(f"remx-{REMX_VERSION}-numba-{numba.__version__}-{processor}-{key:08x}"))


@functools.cache
def _sources(key: int) -> int:
    """Return the key combined with the sources of all kernels: numba checks only the file of the function that it
    compiles, but kernels consist of parts from several files."""
    for path in sorted(Path(_HERE).rglob("*.py")):
        key = crc32(path.read_bytes(), key)
    return key


def kept_in() -> Path:
    """The folder of all compiled code: this version's, or the one that numba was given."""
    return Path(config.CACHE_DIR) if config.CACHE_DIR else folder()  # pyright: ignore[reportAttributeAccessIssue]


def _note(module: str) -> Path:
    """Return the marker file that exists if a module was compiled from these sources for this processor."""
    return kept_in() / f"{module}-{crc32(folder().name.encode()):08x}.ready"


def is_noted(module: str) -> bool:
    """Was the module compiled on this machine?"""
    return _note(module).exists()


def note(module: str) -> None:
    """Write the marker file, if the folder is writable."""
    with suppress(OSError):
        path = _note(module)
        make_folder(str(path.parent))
        path.touch()


_provided: Any = getattr(caching, "UserProvidedCacheLocator", None) or caching._UserProvidedCacheLocator  # pyright: ignore


class KernelLocator(_provided):
    """Tells numba where the compiled code of this package's functions is stored: the same place for every copy of
    the same sources."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file, self._lineno = file, function.__code__.co_firstlineno
        self._cache_path = str(folder() / os.path.relpath(file, _HERE).removesuffix(".py"))

    def get_source_stamp(self) -> str:
        """What numba compares with the stamp of compiled code; on its own it takes the time of the file, too."""
        return folder().name

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        if config.CACHE_DIR or not os.path.abspath(py_file).startswith(_HERE):  # pyright: ignore[reportAttributeAccessIssue]
            return None
        made = cls(py_func, py_file)
        try:
            make_folder(made._cache_path)
            made.ensure_cache_path()
        except OSError:  # read-only: what is there counts; if it is not, numba looks for another place
            return made if os.path.isdir(made._cache_path) else None
        return made


def install() -> None:
    """Register the locator with numba, once."""
    kinds: Any = getattr(caching, "CacheImpl", None) or caching._CacheImpl  # pyright: ignore
    if KernelLocator not in kinds._locator_classes:
        kinds._locator_classes.insert(0, KernelLocator)


class _Log:
    """Functions that were compiled, not read from the cache, by this process or one that it waited for."""

    def __init__(self) -> None:
        self.misses = 0


LOG = _Log()
_file_lock = threading.Lock()
_file: list[int] = []


def _lock_file() -> int | None:
    """A file whose bytes are locked, one for each function; closing it would open all locks of this process."""
    with _file_lock:
        if not _file:
            try:
                path = folder()
                make_folder(str(path))
                _file.append(os.open(path / "lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600))
            except OSError:
                return None
        return _file[0]


@contextmanager
def alone(name: str) -> Generator[None, None, None]:
    """Hold the lock for compiling this function; continue without it after a long wait or if locks are unavailable."""
    handle = _lock_file() if fcntl is not None else None
    if fcntl is None or handle is None:
        yield
        return
    place, held = crc32(name.encode()), _acquire(handle, crc32(name.encode()))
    try:
        yield
    finally:
        if held:
            fcntl.lockf(handle, fcntl.LOCK_UN, 1, place)


def _acquire(handle: int, place: int) -> bool:
    assert fcntl is not None
    end = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            return True
        except (BlockingIOError, PermissionError):  # another process has it
            LOG.misses += 1
            if ending():
                raise SystemExit from None  # the interpreter waits for this thread
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        except OSError:  # a file system without locks
            return False
