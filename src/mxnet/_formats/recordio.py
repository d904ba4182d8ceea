"""RecordIO: records framed by a magic number, and the header that image records begin with.

    frame:  u32 0xCED7230A, u32 (part << 29 | length), length bytes, padding to a multiple of four
    parts:  0 a whole record, 1 its beginning, 2 its middle, 3 its end
A record that contains the magic number at a multiple of four is cut there; the number itself is left out between parts.
"""

import os
import struct
import threading
from collections import namedtuple
from collections.abc import Callable, Iterator

import numpy as np

from .._core.errors import MXNetError

MAGIC = 0xCED7230A
MAGIC_BYTES = struct.pack("<I", MAGIC)
LIMIT = 1 << 29  # lengths have 29 bits
WHOLE, BEGIN, MIDDLE, END = range(4)
_FRAME = struct.Struct("<II")
_PADDING = (b"", b"\0\0\0", b"\0\0", b"\0")

IRHeader = namedtuple("HEADER", ["flag", "label", "id", "id2"])
IRHeader.__doc__ = "The head of a record: `label`, a number or several (`flag` says how many, 0 for one), and two ids."
_HEADER = struct.Struct("<IfQQ")


# -- writing -----------------------------------------------------------------------------------------------------------


def frames(data: bytes) -> list[bytes]:
    """The pieces of the file that hold `data` as one record."""
    if len(data) >= LIMIT:
        raise MXNetError(f"RecordIO only accept record less than 2^29 bytes, this one has {len(data)}")
    cuts = magic_places(data)
    pieces: list[bytes] = []
    start = 0
    for place in cuts:
        pieces += [_FRAME.pack(MAGIC, (MIDDLE if start else BEGIN) << 29 | place - start), data[start:place]]
        start = place + 4
    rest = data[start:] if start else data
    pieces += [_FRAME.pack(MAGIC, (END if start else WHOLE) << 29 | len(rest)), rest, _PADDING[len(rest) % 4]]
    return pieces


def magic_places(data: bytes) -> list[int]:
    """Where the magic number stands at a multiple of four."""
    places: list[int] = []
    at = data.find(MAGIC_BYTES)
    while at >= 0:
        if at % 4 == 0:
            places.append(at)
        at = data.find(MAGIC_BYTES, at + (4 if at % 4 == 0 else 1))
    return places


# -- reading -----------------------------------------------------------------------------------------------------------


def damaged(name: str, offset: int, words: str) -> MXNetError:
    """The error for bytes that are no record."""
    return MXNetError(f"{name}: byte {offset}: Invalid RecordIO File: {words}")


class Reader:
    """Reads one record after the other from an open file; lengths are checked against the file's size."""

    def __init__(self, file: object, name: str) -> None:
        self.file, self.name = file, name
        self._read = file.read  # type: ignore[attr-defined]
        self.size = self._measure()
        self.offset = self.begun = 0  # where the next frame is, and where the last record began

    def _measure(self) -> int:
        return os.fstat(self.file.fileno()).st_size  # type: ignore[attr-defined]

    def seek(self, offset: int) -> None:
        if not 0 <= offset <= self._grown(offset):
            raise damaged(self.name, offset, f"the file has only {self.size} bytes; is this its index?")
        self.file.seek(offset)  # type: ignore[attr-defined]
        self.offset = offset

    def _grown(self, wanted: int) -> int:
        """The size; somebody may have appended since the file was opened."""
        if wanted > self.size:
            self.size = self._measure()
        return self.size

    def read(self) -> bytes | None:
        """The next record, None at the end of the file."""
        self.begun = self.offset
        frame = self._frame()
        if frame is None:
            return None
        part, data = frame
        if part == WHOLE:
            return data
        return self._rest(part, data)

    def resync(self) -> None:
        """After a damaged record: go on at the next place where one begins."""
        begin = self.begun + 4 - (self.begun & 3)
        self.seek(next_begin(self.file.fileno(), begin, self._measure()))  # type: ignore[attr-defined]

    def _frame(self) -> tuple[int, bytes] | None:
        head = self._read(8)
        if len(head) < 8:
            if not head:
                return None
            raise damaged(self.name, self.offset, f"{len(head)} bytes are no frame; the file is truncated")
        magic, coded = _FRAME.unpack(head)
        if magic != MAGIC:
            raise damaged(self.name, self.offset, f"a record begins with {MAGIC:#x}, not {magic:#x}")
        length = coded & 0x1FFFFFFF
        end = self.offset + 8 + length + (-length & 3)
        if end > self.size and end > self._grown(end):
            raise damaged(self.name, self.offset, f"a part of {length} bytes, {self.size - self.offset - 8} are left")
        data = self._read(length)
        if length & 3:
            self._read(-length & 3)
        if len(data) != length:
            raise damaged(self.name, self.offset, f"a part of {length} bytes ends after {len(data)}")
        self.offset = end
        return coded >> 29, data

    def _rest(self, part: int, data: bytes) -> bytes:
        """The other parts of a record that was cut at magic numbers."""
        if part != BEGIN:
            raise damaged(self.name, self.offset, f"part {part} of a record without its beginning")
        pieces = [data]
        while part != END:
            frame = self._frame()
            if frame is None or frame[0] not in (MIDDLE, END):
                raise damaged(self.name, self.offset, "a record in parts has no end")
            part, data = frame
            pieces.append(data)
        return MAGIC_BYTES.join(pieces)


_PLACE = threading.Lock()


def _seek_and_read(descriptor: int, length: int, offset: int) -> bytes:
    """What `os.pread` does, which Windows has not; threads take turns."""
    with _PLACE:
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, length)


_pread = getattr(os, "pread", _seek_and_read)


def read_at(descriptor: int, size: int, offset: int, name: str) -> bytes:
    """The record at `offset` of an open file, from any thread: nobody's position moves."""
    pieces: list[bytes] = []
    part = BEGIN
    while part in (BEGIN, MIDDLE):
        part, length = _head(descriptor, size, offset, name)
        if (part in (WHOLE, BEGIN)) != (not pieces):
            raise damaged(name, offset, f"part {part} of a record where it does not belong")
        data = _pread(descriptor, length, offset + 8)
        if len(data) != length:
            raise damaged(name, offset, f"a part of {length} bytes ends after {len(data)}")
        pieces.append(data)
        offset += 8 + length + (-length & 3)
    return pieces[0] if len(pieces) == 1 else MAGIC_BYTES.join(pieces)


def _head(descriptor: int, size: int, offset: int, name: str) -> tuple[int, int]:
    """Part and length of the frame at `offset`."""
    head = _pread(descriptor, 8, offset)
    if len(head) < 8:
        raise damaged(name, offset, f"a frame was expected, {len(head)} bytes are there")
    magic, coded = _FRAME.unpack(head)
    if magic != MAGIC:
        raise damaged(name, offset, f"a record begins with {MAGIC:#x}, not {magic:#x}")
    length = coded & 0x1FFFFFFF
    if offset + 8 + length > size:
        raise damaged(name, offset, f"a part of {length} bytes, {size - offset - 8} are left")
    return coded >> 29, length


def scan_offsets(
    descriptor: int,
    size: int,
    begin: int,
    end: int,
    name: str,
    report: Callable[[MXNetError], None] | None = None,
) -> Iterator[int]:
    """Where the records begin that begin in [begin, end); `begin` may be in the middle of one.

    With `report`, damage is told to it and the next place where a record begins is looked for.
    """
    offset = begin if begin == 0 else next_begin(descriptor, begin, end)
    while offset < end:
        try:
            part, length = _head(descriptor, size, offset, name)
        except MXNetError as error:
            if report is None:
                raise
            report(error)
            offset = next_begin(descriptor, offset + 4, end)
            continue
        if part in (WHOLE, BEGIN):
            yield offset
        offset += 8 + length + (-length & 3)


def next_begin(descriptor: int, offset: int, end: int, window: int = 1 << 20) -> int:
    """The first place from `offset` on where a record begins, as MXNet looks for it when it splits a file."""
    while offset < end:
        chunk = _pread(descriptor, window + 8, offset)
        for place in magic_places(chunk):
            if place + 8 <= len(chunk) and chunk[place + 7] >> 5 in (WHOLE, BEGIN):
                return offset + place
        if len(chunk) < window + 8:
            break
        offset += window
    return end


# -- the header of image records ---------------------------------------------------------------------------------------


def pack(header: tuple, content: bytes) -> bytes:
    """A record of a header and its content; several labels go between them."""
    header = IRHeader(*header)
    if isinstance(header.label, (int, float, np.number)):
        header = header._replace(flag=0)
    else:
        label = np.asarray(header.label, np.float32)
        header = header._replace(flag=label.size, label=0)
        content = label.tobytes() + content
    return _HEADER.pack(*header) + content


def unpack_header(record: bytes) -> tuple[IRHeader, bytes]:
    """Header and content of a record."""
    if len(record) < _HEADER.size:
        raise MXNetError(f"an image record begins with a header of {_HEADER.size} bytes, this has {len(record)}")
    header = IRHeader(*_HEADER.unpack_from(record))
    start = _HEADER.size
    if header.flag > 0:
        if start + 4 * header.flag > len(record):
            raise MXNetError(f"an image record claims {header.flag} labels, only {len(record) - start} bytes follow")
        header = header._replace(label=np.frombuffer(record, np.float32, header.flag, start))
        start += 4 * header.flag
    return header, record[start:]


def read_index(path: str, key_type: type = int) -> tuple[list[object], dict[object, int]]:
    """Keys in their order, and the byte at which each record begins, from an index file."""
    keys: list[object] = []
    places: dict[object, int] = {}
    with open(path, encoding="utf-8", errors="surrogateescape") as file:  # what is no text becomes no number either
        for number, line in enumerate(file, 1):
            fields = line.strip().split("\t")
            try:
                key, place = key_type(fields[0]), int(fields[1])
            except (ValueError, IndexError, TypeError) as error:
                words = f"not a key and a byte offset: {line.strip()[:80]!r}"
                raise MXNetError(f"{path}, line {number}: {words}") from error
            keys.append(key)
            places[key] = place
    return keys, places
