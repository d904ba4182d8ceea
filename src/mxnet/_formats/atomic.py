"""Files that are whole or absent: written beside their place, synced, then renamed into it; one by one or together."""

import contextlib
import os
import re
import secrets
import stat
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows: what a killed process left stays there
    fcntl = None

LARGE = 16 << 20  # bytes
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def sync_folder(folder: str) -> None:
    """Make a rename in `folder` survive a power cut, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(handle)
    except OSError:  # some network file systems refuse; the rename itself has happened
        pass
    finally:
        os.close(handle)


def _permissions(path: str) -> int | None:
    """Those of the file that will be replaced, if there is one."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(os.stat(path).st_mode)
    return None


def _is_special(path: str) -> bool:
    """Pipes and devices are written through, there is nothing to replace."""
    return os.path.exists(path) and not os.path.isfile(path)


def _locked(handle: int) -> int | None:
    """A second handle that keeps a lock on the file until it is closed or the process dies; None if there are none."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # a file system without locks
        return None
    return os.dup(handle)


def _held(path: str) -> int | None:
    """A handle on a large file that will be replaced: it takes a while to free, for which nobody need wait."""
    if os.name != "posix":  # elsewhere an open file cannot be replaced
        return None
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # which waits for no pipe
    except OSError:  # there is none, or none to be read
        return None
    if os.fstat(handle).st_size >= LARGE:
        return handle
    os.close(handle)
    return None


def _free(handle: int | None) -> None:
    if handle is not None:
        threading.Thread(target=os.close, args=(handle,), name="mxnet-files").start()


class Waiting:
    """A file that is written and synced under a temporary name, and waits for its own."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.folder, self.name = os.path.split(target)
        self.temporary = os.path.join(self.folder, f".{self.name[:100]}.{secrets.token_hex(4)}.tmp")
        self._permissions = _permissions(target)
        self.handle = os.open(self.temporary, _NEW, 0o666 if self._permissions is None else self._permissions)
        self._lock = _locked(self.handle)

    def keep_permissions(self) -> None:
        """Give it those of the file that it replaces, of which the umask has left a part."""
        if self._permissions is not None:
            os.chmod(self.temporary, self._permissions)

    def place(self) -> None:
        """Rename it; what killed processes left of earlier attempts goes."""
        os.replace(self.temporary, self.target)
        self._unlock()
        self._sweep()

    def drop(self) -> None:
        """Remove it; the target stays as it was."""
        self._unlock()
        with contextlib.suppress(OSError):
            os.unlink(self.temporary)

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _sweep(self) -> None:
        if fcntl is None:
            return
        left = re.compile(rf"\.{re.escape(self.name[:100])}\.[a-z0-9_]{{8}}\.tmp")
        for name in filter(left.fullmatch, os.listdir(self.folder)):
            _remove_if_free(os.path.join(self.folder, name))


def _remove_if_free(path: str) -> None:
    """Remove a temporary file that no living process writes: nobody holds its lock."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # type: ignore[union-attr]
        os.unlink(path)


_SET: ContextVar[list[Waiting] | None] = ContextVar("files that wait for each other", default=None)


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "wb", **options: Any) -> Iterator[IO[Any]]:
    """Open `path` for writing; it changes when the block ends well and stays as it was when the block fails."""
    target = os.path.realpath(os.fspath(path))
    if _is_special(target):
        with open(target, mode, **options) as file:
            yield file
        return
    waiting = Waiting(target)
    with contextlib.ExitStack() as behind:
        try:
            with os.fdopen(waiting.handle, mode, **options) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            waiting.keep_permissions()
            together = _SET.get()
            if together is not None:
                together.append(waiting)
                return
            behind.callback(_free, _held(target))
            waiting.place()
        except BaseException:
            waiting.drop()
            raise
        sync_folder(waiting.folder)


@contextlib.contextmanager
def gathered() -> Iterator[list[Waiting]]:
    """Every atomic write of this thread inside the block is done but for its rename, and put into the list."""
    files: list[Waiting] = []
    token = _SET.set(files)
    try:
        yield files
    except BaseException:
        for waiting in files:
            waiting.drop()
        raise
    finally:
        _SET.reset(token)


def is_gathering() -> bool:
    """Whether writes are being gathered already."""
    return _SET.get() is not None


def write_file(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Replace `path` by `data`, bytes or UTF-8 text, at once."""
    with atomic_write(path) as file:
        file.write(data.encode("utf-8") if isinstance(data, str) else data)
