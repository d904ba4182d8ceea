"""Lists of arrays as `mx.nd.save` writes them: every generation is read, V2 (and V3 for numpy shapes) is written.

    list:   u64 0x112, u64 0, u64 count, blobs, u64 number of names (0 or count), names as u64 length and bytes
    legacy: u32 ndim, u32 sizes, context, i32 type, data
    V1:     u32 0xF993FAC8, u32 ndim, i64 sizes, context, i32 type, data
    V2, V3: u32 0xF993FAC9 (…CA), i32 storage, [storage shape], shape, context, i32 type, [types, shapes of indices],
            data, [indices]; a shape is i32 ndim and i64 sizes, a context i32 device type and i32 device number
An array of no dimensions (V3: of -1) stands for no array at all; nothing follows its shape.
"""

import contextlib
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

import numpy as np

from .._core.dtypes import FLAGS, NAMES
from .._core.hints import not_opened
from .source import Source, from_buffer, from_file

LIST_MAGIC = 0x112
V1_MAGIC, V2_MAGIC, V3_MAGIC = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
DENSE, ROW_SPARSE, CSR = 0, 1, 2
STORAGE = {DENSE: "default", ROW_SPARSE: "row_sparse", CSR: "csr"}
INDICES = {DENSE: 0, ROW_SPARSE: 1, CSR: 2}
MOST_DIMENSIONS, LONGEST_NAME = 32, 1 << 20
CPU = (1, 0)
LARGE = 1 << 20
EARLY = 1 << 20  # bytes that are handed to the disk before the file is complete


@dataclass
class Blob:
    """One array of a file: its values (bfloat16 as uint16 bits), where it was, and the indices of sparse storage."""

    values: np.ndarray | None
    dtype: str = "float32"
    device: tuple[int, int] = CPU
    storage: int = DENSE
    shape: tuple[int, ...] = ()
    indices: list[np.ndarray] = field(default_factory=list)
    numpy_shapes: bool = False

    @classmethod
    def dense(cls, values: np.ndarray, dtype: str, device: tuple[int, int] = CPU) -> "Blob":
        return cls(values, dtype, device, DENSE, values.shape)


def numpy_dtype(name: str) -> np.dtype:
    """The NumPy type that holds the bits of an MXNet type in a file."""
    return np.dtype("<u2") if name == "bfloat16" else np.dtype(name).newbyteorder("<")


# -- reading -----------------------------------------------------------------------------------------------------------


def load(path: str | os.PathLike[str]) -> tuple[list[str], list[Blob]]:
    """Names (none for a plain list) and arrays of a file."""
    try:
        with open(path, "rb") as file:
            return parse(from_file(file, str(path)))
    except OSError as error:
        raise not_opened(path, error) from None


def loads(buffer: bytes, name: str = "buffer") -> tuple[list[str], list[Blob]]:
    """Names and arrays of a file's bytes."""
    return parse(from_buffer(buffer, name))


def parse(source: Source) -> tuple[list[str], list[Blob]]:
    """Read a whole list; what a header claims is believed only as far as bytes follow."""
    if source.left < 16 or source.number("Q", "the header") != LIST_MAGIC:
        source.fail("Invalid NDArray file format: it does not begin like a list of arrays (0x112)", 0)
    source.number("Q", "the header")
    count = source.number("Q", "the number of arrays")
    if count > source.left // 4:
        source.fail(f"Invalid NDArray file format: {count} arrays cannot be in the {source.left} bytes that follow")
    blobs = [read_blob(source) for _ in range(count)]
    number = source.number("Q", "the number of names")
    if number not in (0, count):
        source.fail(f"Invalid NDArray file format: {number} names for {count} arrays")
    return [_name(source) for _ in range(number)], blobs


def _name(source: Source) -> str:
    at, length = source.offset, source.number("Q", "the length of a name")
    if length > LONGEST_NAME:
        source.fail(f"a name of {length} bytes is not believable", at)
    try:
        return source.take(length, "a name").decode("utf-8")
    except UnicodeDecodeError as error:
        source.fail(f"a name is not UTF-8 ({error.reason})", at)


def read_blob(source: Source) -> Blob:
    """One array, whichever generation it is of."""
    at, magic = source.offset, source.number("I", "an array")
    if magic in (V2_MAGIC, V3_MAGIC):
        return _modern(source, magic == V3_MAGIC)
    if magic == V1_MAGIC:
        shape = _sizes(source, at, source.number("I", "the number of dimensions"), "q")
    else:
        shape = _sizes(source, at, magic, "I")
    return _values(source, DENSE, shape, None) if shape else Blob(None)


def _sizes(source: Source, at: int, ndim: int, code: str) -> tuple[int, ...]:
    if ndim > MOST_DIMENSIONS:
        source.fail(f"an array of {ndim} dimensions (at most {MOST_DIMENSIONS}) or an unknown kind of array", at)
    sizes = source.numbers(code, ndim, "a shape")
    if any(size < 0 for size in sizes):
        source.fail(f"the shape {sizes} has a negative size", at)
    return sizes


def _shape(source: Source, none: int = 0) -> tuple[int, ...] | None:
    at, ndim = source.offset, source.number("i", "the number of dimensions")
    if ndim == none:
        return None
    if ndim < 0:
        source.fail(f"an array of {ndim} dimensions", at)
    return _sizes(source, at, ndim, "q")


def _modern(source: Source, numpy_shapes: bool) -> Blob:
    at, storage = source.offset, source.number("i", "the storage type")
    if storage not in STORAGE:
        source.fail(f"storage type {storage} is not known", at)
    stored = _shape(source) if storage != DENSE else None
    shape = _shape(source, none=-1 if numpy_shapes else 0)
    blob = Blob(None) if shape is None else _values(source, storage, shape, stored)
    blob.numpy_shapes = numpy_shapes
    return blob


def _dtype(source: Source) -> str:
    at, flag = source.offset, source.number("i", "the data type")
    if flag not in NAMES:
        source.fail(f"data type {flag} is not known", at)
    return NAMES[flag]


def _values(source: Source, storage: int, shape: tuple[int, ...], stored: tuple[int, ...] | None) -> Blob:
    device = source.number("i", "the context"), source.number("i", "the context")
    dtype = _dtype(source)
    heads = [(_dtype(source), _shape(source) or ()) for _ in range(INDICES[storage])]
    size = shape if storage == DENSE else stored or ()
    if heads and (not size or any(len(s) != 1 for _, s in heads)):
        shapes = [s for _, s in heads]
        source.fail(f"a {STORAGE[storage]} array with data of shape {size} and indices of shapes {shapes}")
    if any("int" not in kind for kind, _ in heads):
        source.fail(f"indices of a {STORAGE[storage]} array are whole numbers, not {[kind for kind, _ in heads]}")
    values = source.array(size, numpy_dtype(dtype), f"{dtype} data of shape {size}")
    indices = [source.array(s, numpy_dtype(d), f"{d} indices of shape {s}") for d, s in heads]
    return Blob(values, dtype, device, storage, shape, indices)


# -- writing -----------------------------------------------------------------------------------------------------------


def pieces(names: Sequence[str], blobs: Iterable[Blob], count: int, numpy_shapes: bool = False) -> Iterator[object]:
    """The bytes of a file in pieces: headers as bytes, values as the arrays' own memory."""
    yield struct.pack("<QQQ", LIST_MAGIC, 0, count)
    for blob in blobs:
        yield from _blob_pieces(blob, numpy_shapes)
    yield struct.pack("<Q", len(names))
    for name in names:
        data = name.encode("utf-8")
        yield struct.pack("<Q", len(data)) + data


def reserve(file: IO[bytes], size: int) -> None:
    """Ask the system for the room of a large file at once, where it can: a third of the time of writing it."""
    if size >= LARGE and hasattr(os, "posix_fallocate"):
        with contextlib.suppress(OSError):  # a pipe, or a full disk, which the write will tell
            os.posix_fallocate(file.fileno(), 0, size)


def write(file: IO[bytes], parts: Iterable[object]) -> None:
    """Write pieces; the disk begins with a large file while it is written, so the sync at the end waits for little."""
    begun = done = 0
    for part in parts:
        done += file.write(part)  # type: ignore[arg-type]
        if done - begun >= EARLY:
            _begin_writing_back(file, begun, done)
            begun = done


def _begin_writing_back(file: IO[bytes], begin: int, end: int) -> None:
    """The advice that a range is not needed sends it to the disk; what is not there yet stays in memory."""
    file.flush()
    if hasattr(os, "posix_fadvise"):
        with contextlib.suppress(OSError):  # a pipe
            os.posix_fadvise(file.fileno(), begin, end - begin, os.POSIX_FADV_DONTNEED)


def dumps(names: Sequence[str], blobs: Sequence[Blob], numpy_shapes: bool = False) -> bytes:
    """The bytes of a file."""
    return b"".join(pieces(names, blobs, len(blobs), numpy_shapes))  # type: ignore[arg-type]


def dumps_blob(blob: Blob, numpy_shapes: bool = False) -> bytes:
    """The bytes of one array, as MXNet pickles it."""
    return b"".join(_blob_pieces(blob, numpy_shapes))  # type: ignore[arg-type]


def loads_blob(data: bytes, name: str = "array") -> Blob:
    """The array that `dumps_blob` wrote."""
    return read_blob(from_buffer(data, name))


def _packed_shape(shape: Sequence[int]) -> bytes:
    return struct.pack(f"<i{len(shape)}q", len(shape), *shape)


def _memory(values: np.ndarray, dtype: str) -> memoryview:
    flat = np.ascontiguousarray(values, numpy_dtype(dtype)).reshape(-1)
    return memoryview(flat.view(np.uint8))


def _blob_pieces(blob: Blob, numpy_shapes: bool) -> Iterator[object]:
    head = struct.pack("<Ii", V3_MAGIC if numpy_shapes else V2_MAGIC, blob.storage)
    if blob.values is None:
        yield head + struct.pack("<i", -1 if numpy_shapes else 0)
        return
    if blob.storage != DENSE:
        head += _packed_shape(blob.values.shape)
    head += _packed_shape(blob.shape) + struct.pack("<iii", *blob.device, FLAGS[blob.dtype])
    for part in blob.indices:
        head += struct.pack("<i", FLAGS[part.dtype.name]) + _packed_shape(part.shape)
    yield head
    yield _memory(blob.values, blob.dtype)
    for part in blob.indices:
        yield _memory(part, part.dtype.name)
