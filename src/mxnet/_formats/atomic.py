"""Files that are whole or absent: written beside their place, synced, then renamed into it."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from typing import IO, Any


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


def _permissions(path: str) -> int:
    """What the file would have had if it were opened for writing: its own, else what the umask leaves."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(os.stat(path).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _is_special(path: str) -> bool:
    """Pipes and devices are written through, there is nothing to replace."""
    return os.path.exists(path) and not os.path.isfile(path)


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "wb", **options: Any) -> Iterator[IO[Any]]:
    """Open `path` for writing; it changes when the block ends well and stays as it was when the block fails."""
    target = os.path.realpath(os.fspath(path))
    if _is_special(target):
        with open(target, mode, **options) as file:
            yield file
        return
    folder, name = os.path.split(target)
    handle, temporary = tempfile.mkstemp(prefix=f".{name[:100]}.", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _permissions(target))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def write_file(path: str | os.PathLike[str], data: bytes | str) -> None:
    """Replace `path` by `data`, bytes or UTF-8 text, at once."""
    with atomic_write(path) as file:
        file.write(data.encode("utf-8") if isinstance(data, str) else data)
