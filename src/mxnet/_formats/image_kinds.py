"""Kinds of encoded images: which one the first bytes tell, and the width and height that its header claims."""

import re
import struct
from collections.abc import Callable

# Frames of a JPEG that carry its size: all SOF markers but the tables and extensions between them.
JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
JPEG_ALONE = frozenset([0x01, *range(0xD0, 0xD9)])

Size = tuple[int, int]


def _png(data: bytes) -> Size | None:
    return struct.unpack(">II", data[16:24]) if data[12:16] == b"IHDR" and len(data) >= 24 else None


def _gif(data: bytes) -> Size | None:
    return struct.unpack("<HH", data[6:10]) if len(data) >= 10 else None


def _bmp(data: bytes) -> Size | None:
    if len(data) < 26:
        return None
    if struct.unpack("<I", data[14:18])[0] == 12:
        return struct.unpack("<HH", data[18:22])
    width, height = struct.unpack("<ii", data[18:26])
    return abs(width), abs(height)


def _webp(data: bytes) -> Size | None:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L" and len(data) >= 25 and data[20] == 0x2F:
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 " and len(data) >= 30 and data[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg(data: bytes) -> Size | None:
    """Walk from marker to marker as decoders do, over what is no marker; each step moves forward."""
    at, end = 2, len(data)
    while 0 <= at <= end - 4:
        if data[at] != 0xFF or data[at + 1] == 0:
            at = data.find(b"\xff", at + 1)
            continue
        marker = data[at + 1]
        if marker == 0xFF or marker in JPEG_ALONE:
            at += 1 if marker == 0xFF else 2
            continue
        if marker in JPEG_FRAMES:
            if at + 9 > end:
                return None
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        if marker in (0xD9, 0xDA):
            return None
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return None


def _tiff(data: bytes) -> Size | None:
    """The largest of the first directory's width and height entries; BigTIFF is not admitted."""
    order = "<" if data[:2] == b"II" else ">"
    if len(data) < 10:
        return None
    (at,) = struct.unpack(order + "I", data[4:8])
    (count,) = struct.unpack(order + "H", data[at : at + 2]) if at + 2 <= len(data) else (0,)
    found: dict[int, int] = {}
    for entry in range(at + 2, min(at + 2 + 12 * count, len(data) - 11), 12):
        tag, kind, _, value = struct.unpack(order + "HHII", data[entry : entry + 12])
        if tag in (256, 257):
            short = struct.unpack(order + "H", data[entry + 8 : entry + 10])[0]
            found[tag] = max(found.get(tag, 0), short if kind == 3 else value)
    return (found[256], found[257]) if len(found) == 2 else None


def _jp2(data: bytes) -> Size | None:
    """From the size segment of the code stream, which both the bare stream and the boxed file have."""
    at = data.find(b"\xff\x4f\xff\x51")
    if at < 0 or at + 24 > len(data):
        return None
    right, bottom, left, top = struct.unpack(">4I", data[at + 8 : at + 24])
    return max(0, right - left), max(0, bottom - top)


def _sun(data: bytes) -> Size | None:
    return struct.unpack(">II", data[4:12]) if len(data) >= 12 else None


_SPACE = rb"(?:\s|#[^\n]*\n)+"
_TEXTS = (
    re.compile(rb"P[1-6Ff]" + _SPACE + rb"(\d{1,9})" + _SPACE + rb"(\d{1,9})\s"),
    re.compile(rb"P7\s[^\0]{0,200}?WIDTH\s+(\d{1,9})\s+HEIGHT\s+(\d{1,9})\s"),
    re.compile(rb"#\?[^\0]{0,2000}?-Y\s+(\d{1,9})\s+\+X\s+(\d{1,9})\s"),
)


def _text(data: bytes) -> Size | None:
    """PBM, PGM, PPM, PFM, PAM and Radiance: two numbers in a readable header."""
    for pattern in _TEXTS:
        found = pattern.match(data[:4096])
        if found:
            return int(found[1]), int(found[2])
    return None


# Kinds that every program may decode, and those that a program has to ask for (`MXNET_IMAGE_FORMATS`).
ALWAYS = ("jpeg", "png", "webp", "bmp", "gif")
ON_REQUEST = ("tiff", "jpeg2000", "pnm", "hdr", "sun")
_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xd8\xff", "jpeg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"BM", "bmp"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
    (b"\xff\x4f\xff\x51", "jpeg2000"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "jpeg2000"),
    (b"#?", "hdr"),
    (b"\x59\xa6\x6a\x95", "sun"),
    *[(b"P%c" % number, "pnm") for number in b"1234567Ff"],
)
_SIZES: dict[str, Callable[[bytes], Size | None]] = {
    "jpeg": _jpeg, "png": _png, "webp": _webp, "bmp": _bmp, "gif": _gif, "tiff": _tiff, "jpeg2000": _jp2, "pnm": _text,
    "hdr": _text, "sun": _sun,
}  # fmt: skip


def kind(data: bytes) -> str | None:
    """The name of the kind of image that the first bytes tell, None for any other bytes."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return next((name for start, name in _STARTS if data.startswith(start)), None)


def size(data: bytes) -> Size | None:
    """(width, height) of an image of one of the kinds above; None if it is of none or too damaged to say."""
    name = kind(data)
    return None if name is None else _SIZES[name](data)
