"""Damage of encoded images, found by walking over their chunks, segments and blocks before anything decodes them.

A decoder believes a length that a file states and allocates it. Here each length is compared with the bytes that are
there, and the number of pixels with what so many compressed bytes can hold. Each function returns what is wrong, in
words, or None.
"""

import re
import struct
import zlib
from collections.abc import Callable

from .image_kinds import JPEG_ALONE, JPEG_FRAMES, size

_CRITICAL = frozenset([b"IHDR", b"PLTE", b"IDAT", b"IEND"])
_PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_PNG_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_DEFLATE = 1032  # deflate makes at most so many bytes of one
_MOST_SCANS = 500  # of a JPEG; encoders write about ten, each costs a pass over all pixels
_FEW_SCANS, _SCANNED = 32, 1 << 28  # more scans than that may go over so many pixels, all together
_JPEG_NEXT = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
_HUFFMAN_FRAMES = (0xC0, 0xC1, 0xC2, 0xC3)
_BMP_LEAST = 26


def png(data: bytes) -> str | None:
    """Chunk by chunk: length, checksum of what decoding needs, first and last one, room for the pixels."""
    at, compressed, head = 8, 0, b""
    while at + 12 <= len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, end = data[at + 4 : at + 8], at + 8 + length
        if end + 4 > len(data):
            return f"its chunk {kind!r} at byte {at} claims {length} bytes, {max(0, len(data) - at - 12)} are there"
        wrong = _png_chunk(data, at, kind, length, head)
        if wrong:
            return wrong
        if kind == b"IHDR":
            head = data[at + 8 : end]
        elif kind == b"IDAT":
            compressed += length
        elif kind == b"IEND":
            return _png_room(head, compressed)
        at = end + 4
    return f"it ends after {len(data)} bytes without an IEND chunk"


def _png_chunk(data: bytes, at: int, kind: bytes, length: int, head: bytes) -> str | None:
    if (kind == b"IHDR") == bool(head):
        return "it has two headers" if head else f"it begins with a chunk {kind!r} instead of IHDR"
    content = data[at + 8 : at + 8 + length]
    if kind in _CRITICAL:
        told = int.from_bytes(data[at + 8 + length : at + 12 + length], "big")
        if zlib.crc32(content, zlib.crc32(kind)) != told:
            return f"the checksum of its chunk {kind!r} at byte {at} is wrong"
    if kind == b"IHDR":
        return _png_head(content)
    if kind == b"fcTL" and length == 26 and _outside(struct.unpack(">4I", content[4:20]), head):
        return f"a frame of its animation at byte {at} is larger than the image"
    return None


def _png_head(content: bytes) -> str | None:
    if len(content) != 13:
        return f"its header has {len(content)} bytes instead of 13"
    width, height, depth, colour, packing, filtering, interlaced = struct.unpack(">IIBBBBB", content)
    if not (0 < width < 1 << 31 and 0 < height < 1 << 31):
        return f"it claims {width} x {height} pixels"
    if depth not in _PNG_DEPTHS.get(colour, ()) or packing or filtering or interlaced > 1:
        return f"its header asks for a colour type {colour} of {depth} bits that PNG does not have"
    return None


def _outside(frame: tuple[int, ...], head: bytes) -> bool:
    width, height, left, top = frame
    whole = struct.unpack(">II", head[:8])
    return left + width > whole[0] or top + height > whole[1]


def _png_room(head: bytes, compressed: int) -> str | None:
    """Rows of at least so many bits have to come out of the compressed bytes."""
    width, height, depth, colour = struct.unpack(">IIBB", head[:10])
    needed = height * (-(-width * depth * _PNG_CHANNELS[colour] // 8))
    if needed > compressed * _DEFLATE:
        return f"{compressed} compressed bytes cannot hold {width} x {height} pixels"
    return None


def jpeg(data: bytes) -> str | None:
    """Segment by segment to the end of the image: lengths, the number of scans, room for the pixels."""
    at, scans, frame = 2, 0, 0
    while (found := _JPEG_NEXT.search(data, at)) is not None:
        at, marker = found.start(), data[found.start() + 1]
        if marker == 0xD9:
            return _jpeg_scans(data, scans) or _jpeg_room(data, frame)
        if marker in JPEG_ALONE or (scans and not _between_scans(marker)):
            at += 2
            continue
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        if length < 2 or at + 2 + length > len(data):
            there = max(0, len(data) - at - 2)
            return f"its segment {marker:02x} at byte {at} claims {length} bytes, {there} are there; it is truncated"
        frame = frame or (marker if marker in JPEG_FRAMES else 0)
        scans += marker == 0xDA
        if scans > _MOST_SCANS:
            return f"it has more than {_MOST_SCANS} scans"
        at += 2 + length
    return f"the JPEG ends after {len(data)} bytes without an end marker; it is truncated"


def _between_scans(marker: int) -> bool:
    """Tables, comments and scans; anything else between the bytes of a scan is damage that decoders step over."""
    return marker in (0xC4, 0xCC, 0xDA, 0xDB, 0xDC, 0xDD, 0xFE) or 0xE0 <= marker <= 0xEF


def _jpeg_scans(data: bytes, scans: int) -> str | None:
    """A scan of a progressive image may have ten bytes, and takes a pass over all pixels nevertheless."""
    if not scans:
        return "it has no scan"
    width, height = size(data) or (0, 0)
    if scans > _FEW_SCANS and scans * width * height > _SCANNED:
        return f"it has {scans} scans of {width} x {height} pixels"
    return None


def _jpeg_room(data: bytes, frame: int) -> str | None:
    """Huffman codes have at least one bit, and each block of 8 x 8 pixels at least one code."""
    found = size(data)
    if frame in _HUFFMAN_FRAMES and found is not None and (found[0] // 8) * (found[1] // 8) > len(data) * 8:
        return f"{len(data)} bytes cannot hold {found[0]} x {found[1]} pixels; it is truncated"
    return None


def webp(data: bytes) -> str | None:
    """The size of the RIFF container, then chunk by chunk."""
    end = 8 + int.from_bytes(data[4:8], "little")
    if end > len(data):
        return f"its container claims {end} bytes, {len(data)} are there"
    at = 12
    while at + 8 <= end:
        length = int.from_bytes(data[at + 4 : at + 8], "little")
        if at + 8 + length > end:
            return f"its chunk {data[at : at + 4]!r} at byte {at} claims {length} bytes, {end - at - 8} are there"
        at += 8 + length + length % 2
    return None


def bmp(data: bytes) -> str | None:
    """Where the pixels begin; and without compression, whether they are all there."""
    if len(data) < _BMP_LEAST:
        return f"it ends after {len(data)} bytes, inside of its header"
    start, header = struct.unpack("<II", data[10:18])
    if start > len(data) or 14 + header > len(data):
        return f"its pixels begin at byte {max(start, 14 + header)} of {len(data)}"
    old = header == 12
    (bits,) = struct.unpack("<H", data[24:26] if old else data[28:30])
    packing = 0 if old or len(data) < 34 else int.from_bytes(data[30:34], "little")
    width, height = size(data) or (0, 0)
    needed = (width * bits + 31) // 32 * 4 * height
    if packing in (0, 3) and needed > len(data) - start + 3:
        return f"{width} x {height} pixels of {bits} bits need {needed} bytes, {len(data) - start} are there"
    return None


def gif(data: bytes) -> str | None:
    """Block by block to the end of the first frame, which lies inside of the screen."""
    at = 13 + _gif_colours(data[10:13])
    while at < len(data):
        if data[at] == 0x21:
            at = _gif_blocks(data, at + 2)
        elif data[at] == 0x2C and at + 10 <= len(data):
            return _gif_frame(data, at)
        else:
            return f"there is no block at byte {at}"
    return f"it ends after {len(data)} bytes, before its first frame is complete"


def _gif_frame(data: bytes, at: int) -> str | None:
    left, top, width, height, packed = struct.unpack("<4HB", data[at + 1 : at + 10])
    across, down = struct.unpack("<HH", data[6:10])
    if left + width > across or top + height > down:
        return f"a frame of {width} x {height} at ({left}, {top}) does not fit in {across} x {down} pixels"
    end = _gif_blocks(data, at + 11 + _gif_colours(bytes([packed])))
    return None if end <= len(data) else f"it ends after {len(data)} bytes, before its first frame is complete"


def _gif_colours(packed: bytes) -> int:
    """Bytes of the colour table that a packed field announces."""
    return 3 << (packed[0] & 7) + 1 if packed and packed[0] & 0x80 else 0


def _gif_blocks(data: bytes, at: int) -> int:
    """The byte after a chain of blocks, beyond the data if the chain has no end."""
    while at < len(data) and data[at]:
        at += 1 + data[at]
    return at + 1


WALKS: dict[str, Callable[[bytes], str | None]] = {"jpeg": jpeg, "png": png, "webp": webp, "bmp": bmp, "gif": gif}
