"""NumPy's `.npz` archives: arrays only, each as large as the bytes of its member, which are bounded by the archive."""

import lzma
import math
import os
import struct
import tokenize
import zipfile
import zlib
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from .._core.errors import MXNetError
from .archives import ALWAYS, MOST_MEMBERS, RATIO, open_member

# What zipfile and NumPy raise for damaged or encrypted members and for packings that are not built in.
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError, OSError, struct.error,
           SyntaxError, tokenize.TokenError, TypeError, LookupError, OverflowError, MemoryError)  # fmt: skip
_HEADERS: dict[tuple[int, int], Any] = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """{name: array} of an archive; MXNetError if it is none, damaged, encrypted or holds Python objects."""
    name = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(archive, name)
            return {info.filename.removesuffix(".npy"): _member(archive, info) for info in archive.infolist()}
    except MXNetError:
        raise
    except FileNotFoundError:
        raise
    except _DAMAGE as error:
        raise MXNetError(f"cannot read {name}: {error or type(error).__name__}") from None


def _check_members(archive: zipfile.ZipFile, name: str) -> None:
    members = archive.infolist()
    most = max(ALWAYS, RATIO * os.path.getsize(name))
    claimed = sum(info.file_size for info in members)
    if len(members) > MOST_MEMBERS or claimed > most:
        raise MXNetError(
            f"cannot read {name}: {len(members)} members claim {claimed} bytes, more than {most}; this looks like a "
            "decompression bomb"
        )


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    if info.flag_bits & 1:
        raise MXNetError(f"cannot read {archive.filename}: {info.filename} is encrypted; save it without a password")
    with open_member(archive, info) as file:
        return _array(file, info)


def _array(file: IO[bytes], info: zipfile.ZipInfo) -> np.ndarray:
    version = npy.read_magic(file)
    shape, fortran, dtype = _HEADERS.get(version, npy.read_array_header_2_0)(file)
    if dtype.hasobject:
        raise ValueError(f"{info.filename} holds Python objects, which are not read")
    size = dtype.itemsize * math.prod(shape)
    left = info.file_size - file.tell()
    if any(n < 0 for n in shape) or size != left:
        raise ValueError(f"{info.filename} claims an array of shape {shape} and {size} bytes, {left} are there")
    values = np.frombuffer(bytearray(file.read(size)), dtype)
    return values.reshape(shape, order="F" if fortran else "C")
