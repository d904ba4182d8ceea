"""Folders of things that can be made again: `MXNET_HOME`, the platform's folder for caches, or a temporary one.

Compiled kernels are code that every process of the user loads. So their folder is one that other users cannot write or
replace: each folder on the way to it belongs to this user or to root, and nobody else may write there.
"""

import contextlib
import functools
import itertools
import logging
import os
import stat
import sys
import tempfile
from collections.abc import Iterator


def kernel_folder(below: str = "") -> str:
    """The folder of compiled kernels, or one below it.

    `$MXNET_HOME/kernels`, `remx/kernels` in the user's cache folder or `remx-<user>` in the folder for temporary files:
    the first one that can be used, and that no other user can write.
    """
    return _first_usable(tuple(os.path.join(place, below) if below else place for place in _places()))


def make_folder(path: str) -> None:
    """Make a folder and those above it, so that no other user can write there, whatever the umask."""
    if not os.path.isdir(path):
        make_folder(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o755)


def _places() -> Iterator[str]:
    if home := os.environ.get("MXNET_HOME"):
        yield os.path.abspath(os.path.join(home, "kernels"))
    yield os.path.abspath(os.path.join(_user_cache(), "remx", "kernels"))
    if os.name == "posix":
        yield os.path.join(os.path.abspath(tempfile.gettempdir()), f"remx-{os.geteuid()}")


def _user_cache() -> str:
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches")
    return os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")


@functools.cache
def _first_usable(places: tuple[str, ...]) -> str:
    for place in places:
        if not (who := _other_writers(place)):
            try:
                make_folder(place)
            except OSError:  # read-only
                continue
            who = _other_writers(place)  # somebody may have made it first
        if not who:
            return place
        logging.warning("Compiled kernels are not kept in %s: %s and could put code there that you run", place, who)
    return os.path.join(_of_this_process().name, "kernels")


@functools.cache
def _of_this_process() -> "tempfile.TemporaryDirectory[str]":
    """Where nothing lasting can be used: a folder that goes with the process."""
    return tempfile.TemporaryDirectory(prefix="remx-")


def _other_writers(path: str) -> str:
    """Which other users can write or replace a folder, in words; empty if none can."""
    if os.name != "posix":
        return ""  # access lists there make the folders the user's own
    chains = itertools.chain(_upwards(path), _upwards(os.path.realpath(path)))
    return next(filter(None, (_writers(each, is_last=each in (path, os.path.realpath(path))) for each in chains)), "")


def _upwards(path: str) -> Iterator[str]:
    """A folder and all above it."""
    while True:
        yield path
        if os.path.dirname(path) == path:
            return
        path = os.path.dirname(path)


def _writers(path: str, is_last: bool) -> str:
    """Which other users can write in one folder; a folder that is not there has none."""
    try:
        status = os.lstat(path)
    except OSError:
        return ""
    if status.st_uid not in (0, os.geteuid()):
        return f"{path} belongs to another user, who can write there"
    # Where the sticky bit is set others can add, but not replace what is ours.
    if stat.S_ISLNK(status.st_mode) or (status.st_mode & stat.S_ISVTX and not is_last):
        return ""
    if status.st_mode & stat.S_IWOTH:
        return f"all users can write in {path}"
    if status.st_mode & stat.S_IWGRP and not _is_own_group(status.st_gid):
        return f"a group of users can write in {path}"
    return ""


def _is_own_group(group: int) -> bool:
    """Is it root's group, or one that has no member but this user?"""
    import grp
    import pwd

    if group == 0:
        return True
    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:  # a user or group without a name
        return False
    return found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
