"""What a pickle claims, found by walking over its opcodes before an unpickler sees it.

An unpickler allocates a memo of the size that an index claims, and hashes the keys of dicts: tuples that hold each
other twice are a few bytes each, but their hash takes twice as long with every level.
"""

import mmap
import os
import pickletools
import struct
import zipfile
import zlib
from typing import Any

from .archives import ALWAYS, RATIO, open_member

_MOST_NODES = 1_000_000  # values that are mentioned again, each with all that it holds, if the pickle is small
_DEEPEST = 1_000  # levels that values hold each other
_TORCH_PICKLES = 5  # magic number, version, system, objects, keys of the storages
_GROWING = frozenset(["APPEND", "APPENDS", "SETITEM", "SETITEMS", "ADDITEMS", "BUILD"])
_MARK = pickletools.markobject
_DAMAGE = (ValueError, IndexError, KeyError, UnicodeDecodeError, struct.error, OverflowError)


class _Value:
    """How many values one holds with itself, written out as a tree, and on how many levels."""

    __slots__ = ("depth", "nodes")

    def __init__(self) -> None:
        self.nodes = self.depth = 1

    def take(self, parts: list["_Value"]) -> None:
        self.nodes += sum(part.nodes for part in parts)
        self.depth = max(self.depth, 1 + max((part.depth for part in parts), default=0))


class _Machine:
    """The stack and the memo of an unpickler, with the sizes of values in their place."""

    def __init__(self, most: int) -> None:
        self._stack: list[_Value | None] = []  # None is a mark
        self._memo: dict[int, _Value] = {}
        self._left = most

    def step(self, opcode: Any, argument: Any) -> str | None:
        """Execute an instruction; what is wrong with it, in words."""
        name = opcode.name
        if name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"):
            self._memo[len(self._memo) if name == "MEMOIZE" else int(argument)] = self._top()
        elif name in ("GET", "BINGET", "LONG_BINGET"):
            return self._again(self._memo[int(argument)])
        elif name == "MARK":
            self._stack.append(None)
        elif name == "DUP":
            return self._again(self._top())
        else:
            return self._made(opcode)
        return None

    def _again(self, value: _Value) -> str | None:
        self._stack.append(value)
        self._left -= value.nodes
        return "its values hold each other too many times" if self._left < 0 else None

    def _top(self) -> _Value:
        if not self._stack or self._stack[-1] is None:
            raise IndexError("there is no value on the stack")
        return self._stack[-1]

    def _made(self, opcode: Any) -> str | None:
        parts = self._taken(opcode.stack_before)
        if not opcode.stack_after:
            return None
        value = parts.pop(0) if opcode.name in _GROWING and parts else _Value()
        value.take(parts)
        self._stack.append(value)
        return f"its values hold each other on more than {_DEEPEST} levels" if value.depth > _DEEPEST else None

    def _taken(self, before: list[Any]) -> list[_Value]:
        """Values that an instruction removes from the stack, the lowest one first."""
        parts: list[_Value] = []
        for kind in reversed(before):
            if kind is pickletools.stackslice:
                while self._stack[-1] is not None:
                    parts.append(self._top())
                    self._stack.pop()
            elif kind is _MARK:
                self._stack.pop()
            elif pickletools.stackslice not in before or _MARK not in before[: before.index(kind)]:
                parts.append(self._top())
                self._stack.pop()
        return parts[::-1]


def damage(data: bytes | mmap.mmap, persistent: bool = False, size: int = 0) -> str | None:
    """What is wrong with a pickle, in words; None where nothing is.

    A file is read from where it is to the end of the pickle; `size` is that of the file. `persistent` admits references
    to the outside.
    """
    frame = last = 0
    machine = _Machine(max(_MOST_NODES, 4 * (len(data) if isinstance(data, bytes) else size)))
    try:
        for number, (opcode, argument, at) in enumerate(pickletools.genops(data)):  # type: ignore[arg-type]
            if last < frame < at:  # type: ignore[operator]
                return f"an instruction lies across byte {frame}, where a frame ends"
            last = at
            frame = at + 9 + argument if opcode.name == "FRAME" else frame  # type: ignore[operator]
            if "PUT" in opcode.name and int(argument) > number:  # type: ignore[arg-type]
                return f"it has a memo {argument} after {number} steps"
            if opcode.name.startswith("EXT") or ("PERSID" in opcode.name and not persistent):
                return f"it has {opcode.name}"
            wrong = machine.step(opcode, argument)
            if wrong:
                return wrong
    except _DAMAGE as error:
        return f"it is damaged ({error})"
    return None


def torch_damage(path: str | os.PathLike[str]) -> str | None:
    """What is wrong with the pickles of a file of torch's, a zip or, until 2020, pickles one after the other."""
    if zipfile.is_zipfile(path):
        return _zip_damage(path)
    size = os.path.getsize(path)
    if not size:
        return "it is empty"
    # Reading a file takes as much memory as a length claims; what is mapped gives no more than there is.
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        found = (damage(mapped, persistent=True, size=size) for _ in range(_TORCH_PICKLES))
        return next(filter(None, found), None)


def _zip_damage(path: str | os.PathLike[str]) -> str | None:
    most = max(ALWAYS, RATIO * os.path.getsize(path))
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.filename.endswith(".pkl"):
                    if info.file_size > most:
                        return f"its member {info.filename} claims {info.file_size} bytes"
                    with open_member(archive, info) as file:
                        wrong = damage(file.read(), persistent=True)
                    if wrong:
                        return f"its member {info.filename} is a pickle, and {wrong}"
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, *_DAMAGE) as error:
        return f"it is damaged ({error})"
    return None
