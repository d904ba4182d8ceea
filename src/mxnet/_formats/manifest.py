"""Checkpoints of several files, visible at once: one manifest says which belong together, their sizes and hashes.

The files of a set are written under temporary names; the manifest, which names both, replaces the old one; then the
files get their own names. Killed before the manifest: the old set is there. Killed after: whoever opens the set next
finishes the renaming. Readers that know no manifests lose nothing: the files are MXNet's, under MXNet's names.
"""

import contextlib
import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from .._core.errors import MXNetError
from .archives import sha256_of
from .atomic import gathered, is_gathering, sync_folder, write_file

VERSION = 2
LARGEST = 1 << 20  # bytes; a manifest names a handful of files
Files = dict[str, dict[str, Any]]


def manifest_file(stem: str) -> str:
    """Where the manifest of a set is; its own files are called `stem.params`, `stem.states` and so on."""
    return f"{stem}.manifest.json"


def epoch_stem(prefix: str, epoch: int) -> str:
    """What MXNet's checkpoint of an epoch is called."""
    return f"{prefix}-{epoch:04d}"


def _facts(path: str) -> dict[str, Any]:
    return {"size": os.path.getsize(path), "sha256": sha256_of(path)}


def _write(stem: str, files: Files) -> None:
    text = json.dumps({"version": VERSION, "files": files}, indent=2, sort_keys=True)
    write_file(manifest_file(stem), text + "\n")


def declare(stem: str, files: Iterable[str]) -> None:
    """Make a set of files that are there already, under names that no other set uses."""
    _write(stem, {os.path.basename(path): _facts(path) for path in files})


@contextlib.contextmanager
def together(stem: str) -> Iterator[None]:
    """All files written inside become visible at once; if the block fails, nothing has changed.

    Parameters
    ----------
    stem : str
        The beginning of the files' names, and the name of the manifest.

    Examples
    --------
    >>> with mx.checkpoint.together("net-0001"):
    ...     mx.nd.save("net-0001.params", [mx.nd.ones((2,))])
    """
    if is_gathering():  # part of a larger set, which has its own manifest
        yield
        return
    with gathered() as waiting:
        yield
        inside = [each for each in waiting if each.folder == _folder(stem)]  # a link may lead elsewhere
        files = {w.name: {**_facts(w.temporary), "from": os.path.basename(w.temporary)} for w in inside}
    try:
        _write(stem, files)
    except BaseException:
        for each in waiting:
            each.drop()
        raise
    for each in waiting:
        with contextlib.suppress(FileNotFoundError):  # a reader was quicker
            each.place()
    sync_folder(_folder(stem))


def _folder(stem: str) -> str:
    return os.path.dirname(os.path.realpath(stem))


def withdraw(stem: str) -> None:
    """Take the manifest away: the files stay, but are no set any more."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(manifest_file(stem))


def remove(stem: str) -> None:
    """Take a set away: its manifest first, then the files that are its alone."""
    files = read(stem) or {}
    withdraw(stem)
    for name in files:
        if _is_own(stem, name):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(_folder(stem), name))


def _is_own(stem: str, name: str) -> bool:
    """Other files, such as the symbol, are shared by several sets and may be written again."""
    return name.startswith(os.path.basename(stem) + ".")


def _is_name(text: object) -> bool:
    return isinstance(text, str) and bool(os.path.basename(text) == text and text.strip(".") and "\0" not in text)


def _is_fact(facts: object) -> bool:
    return isinstance(facts, dict) and {"size", "sha256"} <= facts.keys() and _is_name(facts.get("from", "none"))


def read(stem: str) -> Files | None:
    """Name to size and hash of the files of a set; None if there is no manifest."""
    path = manifest_file(stem)
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    try:
        files = json.loads(data)["files"] if len(data) <= LARGEST else None
        fine = all(_is_name(name) and _is_fact(facts) for name, facts in files.items())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        fine = False
    if not fine:
        raise MXNetError(f"{path}: it is no manifest of a checkpoint; if the other files are right, remove it")
    return files


def settle(stem: str) -> None:
    """Finish what a killed process began: files of the set that still have temporary names get their own."""
    for name, facts in (read(stem) or {}).items():
        temporary = os.path.join(_folder(stem), facts.get("from", name))
        if "from" in facts and os.path.exists(temporary) and _difference(temporary, facts) is None:
            with contextlib.suppress(FileNotFoundError):  # its writer lives and was quicker
                os.replace(temporary, os.path.join(_folder(stem), name))


def settle_file(path: str | os.PathLike[str]) -> None:
    """Finish the set that a `.params` or another first file belongs to, if it has a manifest."""
    settle(os.path.splitext(os.fspath(path))[0])


def verify(stem: str, strict: bool = False) -> None:
    """Compare the files of a set with its manifest, if it has one; replaced ones, unless `strict`, are only told."""
    settle(stem)
    for name, facts in (read(stem) or {}).items():
        path = os.path.join(_folder(stem), name)
        wrong = _difference(path, facts)
        if wrong and (not _is_own(stem, name) or (not strict and _is_newer(path, manifest_file(stem)))):
            warnings.warn(f"{path}: {wrong}: it was replaced since", stacklevel=3)
        elif wrong:
            raise MXNetError(
                f"{path}: {wrong}; the file is damaged or was replaced. If you changed it on purpose, remove "
                f"{manifest_file(stem)}"
            )


def _is_newer(path: str, than: str) -> bool:
    """Another program, which knows no manifests, has written the file again."""
    return os.path.exists(path) and os.path.getmtime(path) > os.path.getmtime(than)


def _difference(path: str, facts: dict[str, Any]) -> str | None:
    """In what a file differs from the manifest; the size is compared first, it costs nothing."""
    if not os.path.exists(path):
        return "the manifest names it, but it is not there"
    size = os.path.getsize(path)
    if size != facts["size"]:
        return f"it has {size} bytes, the manifest says {facts['size']}"
    digest = sha256_of(path)
    return None if digest == facts["sha256"] else f"its SHA-256 is {digest}, the manifest says {facts['sha256']}"


def sets(prefix: str, numbers: str) -> list[tuple[tuple[int, ...], str]]:
    """(numbers, stem) of every set whose name goes on after `prefix` as the pattern says, ascending."""
    folder, start = os.path.split(os.path.abspath(prefix))
    pattern = re.compile(f"({re.escape(start)}{numbers})" + r"\.manifest\.json")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    matches = [match for match in map(pattern.fullmatch, names) if match]
    return sorted((tuple(map(int, match.groups()[1:])), os.path.join(folder, match[1])) for match in matches)


def latest(prefix: str) -> int | None:
    """The newest epoch that was saved to its end, the one with a manifest, and whose files nobody has removed since."""
    found = reversed(sets(prefix, r"-(\d{4,9})"))
    return next((numbers[0] for numbers, stem in found if _is_there(stem)), None)


def _is_there(stem: str) -> bool:
    """Has every file of the set a place, its own or the temporary one from which the manifest will move it?"""
    places = ((name, facts.get("from") or name) for name, facts in (read(stem) or {}).items())
    return all(any(os.path.exists(os.path.join(_folder(stem), place)) for place in pair) for pair in places)
