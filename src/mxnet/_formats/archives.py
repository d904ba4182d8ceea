"""Archives from strangers: only the expected members come out, checked by size and hash before they get their names."""

import bz2
import gzip
import hashlib
import io
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from .._core.errors import MXNetError
from .atomic import atomic_write

LARGEST = 4 << 30  # bytes of one member
RATIO, ALWAYS = 200, 16 << 20  # an archive may grow this much, and a small one to this size
_BLOCK = 1 << 20
_PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ", lzma.open))
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile,
           NotImplementedError, UnicodeDecodeError, ValueError, RuntimeError)  # fmt: skip


class _Capped(io.RawIOBase):
    """A stream that refuses to give more than `limit` bytes."""

    def __init__(self, stream: IO[bytes], limit: int, name: str) -> None:
        self.stream, self.left, self.name = stream, limit, name

    def readable(self) -> bool:
        return True

    def read(self, number: int = -1) -> bytes:
        data = self.stream.read(min(_BLOCK, self.left + 1) if number < 0 else min(number, self.left + 1))
        self.left -= len(data)
        if self.left < 0:
            raise MXNetError(f"{self.name}: it unpacks to more than is allowed; this looks like a decompression bomb")
        return data


def sha1_of(path: str | os.PathLike[str]) -> str:
    """The SHA-1 of a file in hexadecimal digits."""
    return _digest(open(path, "rb"), "sha1")


def sha256_of(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file in hexadecimal digits."""
    return _digest(open(path, "rb"), "sha256")


def _digest(file: IO[bytes], kind: str) -> str:
    digest = hashlib.new(kind)
    with file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def extract(
    archive: str | os.PathLike[str],
    wanted: Mapping[str, str | None],
    folder: str | os.PathLike[str],
    sha1: str | None = None,
    largest: int = LARGEST,
) -> list[str]:
    """Write the members whose last name is in `wanted` (name to SHA-1, or None) into `folder`; return their paths.

    The archive's own hash is checked before it is opened. Folders in members' names are ignored, links and devices
    are refused, and so is an archive that lacks a member.
    """
    if sha1 is not None and sha1_of(archive) != sha1:
        raise MXNetError(f"{archive}: its SHA-1 is {sha1_of(archive)}, expected {sha1}; remove it and fetch it again")
    limit = max(ALWAYS, RATIO * os.path.getsize(archive))
    left, paths = dict(wanted), []
    with _damage_named(archive):
        for name, stream, size in _members(str(archive), left, limit):
            if size > largest:
                raise MXNetError(f"{archive}: its member {name} claims {size} bytes, at most {largest} are allowed")
            cap = _Capped(stream, min(largest, limit), f"{archive}, member {name}")
            paths.append(_write(cap, os.path.join(folder, name), left.pop(name), archive))
    if left:
        raise MXNetError(f"{archive}: it has no member {', '.join(sorted(left))}")
    return paths


@contextmanager
def _damage_named(archive: Any) -> Iterator[None]:
    """Whatever way the library has to say that the archive is damaged, it becomes one error."""
    try:
        yield
    except MXNetError:
        raise
    except _DAMAGE as error:
        raise MXNetError(f"{archive}: the archive is damaged ({type(error).__name__}: {error})") from error


def _members(archive: str, wanted: Mapping[str, str | None], limit: int) -> Iterator[tuple[str, IO[bytes], int]]:
    return _zipped(archive, wanted) if zipfile.is_zipfile(archive) else _tarred(archive, wanted, limit)


def _zipped(archive: str, wanted: Mapping[str, str | None]) -> Iterator[tuple[str, IO[bytes], int]]:
    with zipfile.ZipFile(archive) as file:
        for info in file.infolist():
            name = os.path.basename(info.filename)
            if name in wanted and not info.is_dir():
                kind = stat.S_IFMT(info.external_attr >> 16)
                if kind not in (0, stat.S_IFREG):
                    raise MXNetError(f"{archive}: its member {info.filename} is a link or a device")
                with file.open(info) as stream:
                    yield name, stream, info.file_size


def _tarred(archive: str, wanted: Mapping[str, str | None], limit: int) -> Iterator[tuple[str, IO[bytes], int]]:
    with open(archive, "rb") as raw:
        start = raw.read(8)
    opened = next((opener for magic, opener in _PACKED if start.startswith(magic)), open)
    with (
        opened(archive, "rb") as stream,
        tarfile.open(fileobj=_Capped(stream, limit, archive), mode="r|") as file,  # type: ignore[arg-type]
    ):
        for member in file:
            name = os.path.basename(member.name)
            if name in wanted and not member.isdir():
                if not member.isreg():
                    raise MXNetError(f"{archive}: its member {member.name} is a link or a device")
                yield name, file.extractfile(member), member.size  # type: ignore[misc]


def _write(stream: _Capped, path: str, sha1: str | None, archive: Any) -> str:
    """Under a temporary name until size and hash are right."""
    digest = hashlib.sha1()
    with atomic_write(path) as file:
        while block := stream.read(_BLOCK):
            digest.update(block)
            file.write(block)
        if sha1 is not None and digest.hexdigest() != sha1:
            raise MXNetError(
                f"{archive}: the SHA-1 of its member {os.path.basename(path)} is {digest.hexdigest()}, expected {sha1}"
            )
    return path
