"""Archives from strangers: only the expected members come out, checked by size and hash before they get their names."""

import bz2
import errno
import gzip
import hashlib
import io
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from .._core.errors import MXNetError
from .atomic import atomic_write

LARGEST = 4 << 30  # bytes of one member
RATIO, ALWAYS = 200, 16 << 20  # an archive may grow this much, and a small one to this size
MOST_MEMBERS = 100_000
_BLOCK = 1 << 20
_PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ", lzma.open))
# The last three are names that no file system can hold: a file and a folder of one name.
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile,
           NotImplementedError, UnicodeDecodeError, ValueError, RuntimeError, IndexError, FileExistsError,
           NotADirectoryError, IsADirectoryError)  # fmt: skip
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


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
    _check_hash(archive, sha1)
    limit = _limit(archive)
    left, paths = dict(wanted), []
    os.makedirs(folder, exist_ok=True)
    with _damage_named(archive):
        for member, stream, size in _members(str(archive), lambda member: os.path.basename(member) in left, limit):
            name = os.path.basename(member)
            cap = _capped(stream, size, archive, name, min(largest, limit))
            paths.append(_write(cap, os.path.join(folder, name), left.pop(name), archive))
    if left:
        raise MXNetError(f"{archive}: it has no member {', '.join(sorted(left))}")
    return paths


def extract_all(
    archive: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    sha1: str | None = None,
    largest: int = LARGEST,
) -> list[str]:
    """Write every file of an archive below `folder`, in the folders its name says; return their paths.

    For archives whose members nobody has listed. One name that leads out of `folder`, one link or device and nothing
    more is written; all members together keep within the size and the ratio.
    """
    _check_hash(archive, sha1)
    left, paths = min(largest, _limit(archive)), []
    os.makedirs(folder, exist_ok=True)
    with _damage_named(archive):
        for member, stream, size in _members(str(archive), lambda member: True, _limit(archive)):
            path = _inside(folder, member, archive)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            cap = _capped(stream, size, archive, member, left)
            paths.append(_write(cap, path, None, archive))
            left = cap.left
            if len(paths) > MOST_MEMBERS:
                raise MXNetError(f"{archive}: it has more than {MOST_MEMBERS} members")
    return paths


def _inside(folder: str | os.PathLike[str], member: str, archive: Any) -> str:
    """Where a member goes: below `folder`, also after the links that are there already."""
    root = os.path.realpath(folder)
    parts = member.replace("\\", "/").split("/")
    path = os.path.realpath(os.path.join(root, *parts)) if all(parts) and ":" not in parts[0] else ""
    if ".." in parts or os.path.commonpath([root, path or "/"]) != root or path == root:
        raise MXNetError(f"{archive}: its member {member!r} leads out of the folder it is unpacked into")
    return path


def unpack(packed: str | os.PathLike[str], target: str | os.PathLike[str], largest: int = LARGEST) -> str:
    """Write what a gzip, bzip2 or xz file holds to `target`."""
    with _opened(str(packed)) as stream, _damage_named(packed):
        return _write(_Capped(stream, min(largest, _limit(packed)), str(packed)), str(target), None, packed)


def unpacked(packed: str | os.PathLike[str], largest: int = LARGEST) -> bytes:
    """What a gzip, bzip2 or xz file holds; of another file, its bytes."""
    with _opened(str(packed)) as stream, _damage_named(packed):
        capped = _Capped(stream, min(largest, _limit(packed)), str(packed))
        return b"".join(iter(lambda: capped.read(_BLOCK), b""))


def _check_hash(archive: str | os.PathLike[str], sha1: str | None) -> None:
    if sha1 is not None and sha1_of(archive) != sha1:
        raise MXNetError(f"{archive}: its SHA-1 is {sha1_of(archive)}, expected {sha1}; remove it and fetch it again")


def _limit(archive: str | os.PathLike[str]) -> int:
    return max(ALWAYS, RATIO * os.path.getsize(archive))


def _capped(stream: IO[bytes], size: int, archive: Any, name: str, most: int) -> _Capped:
    if size > most:
        raise MXNetError(f"{archive}: its member {name} claims {size} bytes, at most {most} are allowed")
    return _Capped(stream, most, f"{archive}, member {name}")


@contextmanager
def _damage_named(archive: Any) -> Iterator[None]:
    """Whatever way the library has to say that the archive is damaged, it becomes one error."""
    try:
        yield
    except MXNetError:
        raise
    except _DAMAGE as error:
        raise MXNetError(f"{archive}: the archive is damaged ({type(error).__name__}: {error})") from error
    except OSError as error:
        if error.errno == errno.EINVAL:  # a place before the beginning of the file
            raise MXNetError(f"{archive}: the archive is damaged ({error})") from error
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise MXNetError(f"{archive}: a member's name is too long: {str(error.filename)[:100]}...") from error


def open_member(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    """The contents of a zip's member, if it is stored or deflated.

    zipfile bounds what it decompresses at a time for deflate only: 2 KB of bzip2 become gigabytes in one call.
    """
    if info.compress_type not in _METHODS:
        raise MXNetError(
            f"{file.filename}: its member {info.filename} is compressed by method {info.compress_type}; only stored "
            "and deflated members are read"
        )
    return file.open(info)


def _members(archive: str, wanted: Callable[[str], bool], limit: int) -> Iterator[tuple[str, IO[bytes], int]]:
    """Name, contents and claimed size of each wanted file of an archive."""
    return _zipped(archive, wanted) if zipfile.is_zipfile(archive) else _tarred(archive, wanted, limit)


def _zipped(archive: str, wanted: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes], int]]:
    with zipfile.ZipFile(archive) as file:
        for info in file.infolist():
            if wanted(info.filename) and not info.is_dir():
                kind = stat.S_IFMT(info.external_attr >> 16)
                if kind not in (0, stat.S_IFREG):
                    raise MXNetError(f"{archive}: its member {info.filename} is a link or a device")
                with open_member(file, info) as stream:
                    yield info.filename, stream, info.file_size


def _opened(path: str) -> IO[bytes]:
    """The file, seen through the packing that its first bytes tell."""
    with open(path, "rb") as raw:
        start = raw.read(8)
    return next((opener for magic, opener in _PACKED if start.startswith(magic)), open)(path, "rb")  # type: ignore


def _tarred(archive: str, wanted: Callable[[str], bool], limit: int) -> Iterator[tuple[str, IO[bytes], int]]:
    with (
        _opened(archive) as stream,
        tarfile.open(fileobj=_Capped(stream, limit, archive), mode="r|") as file,  # type: ignore[arg-type]
    ):
        for member in file:
            if wanted(member.name) and not member.isdir():
                if not member.isreg():
                    raise MXNetError(f"{archive}: its member {member.name} is a link or a device")
                yield member.name, file.extractfile(member), member.size  # type: ignore[misc]


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
