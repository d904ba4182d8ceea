"""Checkpoints of several files: one manifest, written last, says which files belong together, their sizes and hashes.

Readers that do not know it lose nothing: the other files are MXNet's, under MXNet's names.
"""

import contextlib
import json
import os
import re
import warnings
from collections.abc import Iterable

from .._core.errors import MXNetError
from .archives import sha256_of
from .atomic import write_file

VERSION = 1
LARGEST = 1 << 20  # bytes; a manifest names a handful of files


def manifest_file(prefix: str, epoch: int) -> str:
    """Where the manifest of an epoch is."""
    return f"{prefix}-{epoch:04d}.manifest.json"


def write(prefix: str, epoch: int, files: Iterable[str]) -> None:
    """Declare the files, which are already there, to be one checkpoint."""
    parts = {os.path.basename(path): {"size": os.path.getsize(path), "sha256": sha256_of(path)} for path in files}
    text = json.dumps({"version": VERSION, "epoch": epoch, "files": parts}, indent=2, sort_keys=True)
    write_file(manifest_file(prefix, epoch), text + "\n")


def withdraw(prefix: str, epoch: int) -> None:
    """Take the manifest away before its files change: no manifest is better than a false one."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(manifest_file(prefix, epoch))


def read(prefix: str, epoch: int) -> dict[str, dict[str, object]] | None:
    """Name to size and hash of the files of an epoch; None if there is no manifest."""
    path = manifest_file(prefix, epoch)
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    try:
        files = json.loads(data)["files"] if len(data) <= LARGEST else None
        fine = all(os.path.basename(n) == n and {"size", "sha256"} <= facts.keys() for n, facts in files.items())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        fine = False
    if not fine:
        raise MXNetError(f"{path}: it is no manifest of a checkpoint; if the other files are right, remove it")
    return files


def verify(prefix: str, epoch: int, shared: Iterable[str] = ()) -> None:
    """Compare the files of an epoch with its manifest, if it has one; replaced ones and `shared` ones are only told."""
    folder = os.path.dirname(os.path.abspath(prefix))
    for name, facts in (read(prefix, epoch) or {}).items():
        path = os.path.join(folder, name)
        wrong = _difference(path, facts)
        if wrong and (name in shared or _is_newer(path, manifest_file(prefix, epoch))):
            warnings.warn(f"{path}: {wrong}: it was replaced since", stacklevel=3)
        elif wrong:
            raise MXNetError(
                f"{path}: {wrong}; the file is damaged or was replaced. If you changed it on purpose, remove "
                f"{manifest_file(prefix, epoch)}"
            )


def _is_newer(path: str, than: str) -> bool:
    """Another program, which knows no manifests, has written the file again."""
    return os.path.exists(path) and os.path.getmtime(path) > os.path.getmtime(than)


def _difference(path: str, facts: dict[str, object]) -> str | None:
    """In what a file differs from the manifest; the size is compared first, it costs nothing."""
    if not os.path.exists(path):
        return "the manifest names it, but it is not there"
    size = os.path.getsize(path)
    if size != facts["size"]:
        return f"it has {size} bytes, the manifest says {facts['size']}"
    digest = sha256_of(path)
    return None if digest == facts["sha256"] else f"its SHA-256 is {digest}, the manifest says {facts['sha256']}"


def latest(prefix: str) -> int | None:
    """The newest epoch that was saved to its end: the one with a manifest."""
    folder, stem = os.path.split(os.path.abspath(prefix))
    pattern = re.compile(re.escape(stem) + r"-(\d{4,9})\.manifest\.json")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return max((int(match[1]) for match in map(pattern.fullmatch, names) if match), default=None)
