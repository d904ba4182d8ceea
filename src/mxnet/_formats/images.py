"""Images: how large encoded ones are, told from their first bytes, before anything decodes them; other sizes."""

import re
import struct

import numpy as np

from .._core.environment import whole_number
from .._core.errors import MXNetError
from .._core.extras import opencv

DEFAULT_LIMIT = 178_956_970  # pixels; a quarter of a gigabyte of bytes for three channels is half a gigabyte
# Frames of a JPEG that carry its size: all SOF markers but the tables and extensions between them.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = frozenset([0x01, *range(0xD0, 0xD9)])


def _png(data: bytes) -> tuple[int, int] | None:
    return struct.unpack(">II", data[16:24]) if data[12:16] == b"IHDR" and len(data) >= 24 else None


def _gif(data: bytes) -> tuple[int, int] | None:
    return struct.unpack("<HH", data[6:10]) if len(data) >= 10 else None


def _bmp(data: bytes) -> tuple[int, int] | None:
    if len(data) < 26:
        return None
    if struct.unpack("<I", data[14:18])[0] == 12:
        return struct.unpack("<HH", data[18:22])
    width, height = struct.unpack("<ii", data[18:26])
    return abs(width), abs(height)


def _webp(data: bytes) -> tuple[int, int] | None:
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


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Walk from marker to marker as decoders do, over what is no marker; each step moves forward."""
    at, end = 2, len(data)
    while 0 <= at <= end - 4:
        if data[at] != 0xFF or data[at + 1] == 0:
            at = data.find(b"\xff", at + 1)
            continue
        marker = data[at + 1]
        if marker == 0xFF or marker in _JPEG_ALONE:
            at += 1 if marker == 0xFF else 2
            continue
        if marker in _JPEG_FRAMES:
            if at + 9 > end:
                return None
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        if marker in (0xD9, 0xDA):
            return None
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return None


def _tiff(data: bytes) -> tuple[int, int] | None:
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


def _jp2(data: bytes) -> tuple[int, int] | None:
    """From the size segment of the code stream, which both the bare stream and the boxed file have."""
    at = data.find(b"\xff\x4f\xff\x51")
    if at < 0 or at + 24 > len(data):
        return None
    right, bottom, left, top = struct.unpack(">4I", data[at + 8 : at + 24])
    return max(0, right - left), max(0, bottom - top)


def _sun(data: bytes) -> tuple[int, int] | None:
    return struct.unpack(">II", data[4:12]) if len(data) >= 12 else None


_SPACE = rb"(?:\s|#[^\n]*\n)+"
_TEXTS = (
    re.compile(rb"P[1-6Ff]" + _SPACE + rb"(\d{1,9})" + _SPACE + rb"(\d{1,9})\s"),
    re.compile(rb"P7\s[^\0]{0,200}?WIDTH\s+(\d{1,9})\s+HEIGHT\s+(\d{1,9})\s"),
    re.compile(rb"#\?[^\0]{0,2000}?-Y\s+(\d{1,9})\s+\+X\s+(\d{1,9})\s"),
)


def _text(data: bytes) -> tuple[int, int] | None:
    """PBM, PGM, PPM, PFM, PAM and Radiance: two numbers in a readable header."""
    for pattern in _TEXTS:
        found = pattern.match(data[:4096])
        if found:
            return int(found[1]), int(found[2])
    return None


_KINDS = (
    *[(b"P%c" % kind, _text) for kind in b"1234567Ff"],
    (b"#?", _text),
    (b"II*\0", _tiff),
    (b"MM\0*", _tiff),
    (b"\xff\x4f\xff\x51", _jp2),
    (b"\0\0\0\x0cjP  \r\n\x87\n", _jp2),
    (b"\x59\xa6\x6a\x95", _sun),
    (b"\xff\xd8\xff", _jpeg),
    (b"\x89PNG\r\n\x1a\n", _png),
    (b"GIF87a", _gif),
    (b"GIF89a", _gif),
    (b"BM", _bmp),
)


def size(data: bytes) -> tuple[int, int] | None:
    """(width, height) of an image of one of the kinds above; None if it is of none or too damaged to say."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _webp(data)
    for start, reader in _KINDS:
        if data[: len(start)] == start:
            return reader(data)
    return None


def limit() -> int:
    """The most pixels an image may have; `MXNET_MAX_IMAGE_PIXELS` sets it."""
    return whole_number("MXNET_MAX_IMAGE_PIXELS", DEFAULT_LIMIT, "a number of pixels")


def check_size(data: bytes, name: str = "image") -> None:
    """Refuse an image whose header claims more pixels than allowed, or from which no size can be read."""
    found = size(data)
    if found is None:
        raise MXNetError(
            f"{name}: decoding failed, no size can be read from {len(data)} bytes beginning {bytes(data[:8])!r}; "
            "it is damaged, or no JPEG, PNG, GIF, BMP, WebP, TIFF, JPEG 2000, PNM, PFM, Radiance or Sun raster image"
        )
    if found[0] * found[1] > limit():
        raise MXNetError(
            f"{name}: {found[0]} x {found[1]} pixels are more than the {limit()} allowed; if you trust the file, "
            "raise MXNET_MAX_IMAGE_PIXELS"
        )


def check_whole(data: bytes, name: str = "image") -> None:
    """Refuse a JPEG without an end: some decoders fill the missing part with gray and say nothing."""
    if data[:3] == b"\xff\xd8\xff" and data.rfind(b"\xff\xd9") < 0:
        raise MXNetError(f"{name}: decoding failed, the JPEG ends after {len(data)} bytes; it is truncated")


def decode(data: bytes, flag: int = 1, name: str = "image") -> np.ndarray:
    """Pixels of an encoded image in OpenCV's layout (blue first); `flag` is OpenCV's reading mode."""
    data = bytes(data) if not isinstance(data, bytes) else data
    if not data:
        raise MXNetError(f"{name}: decoding failed, there are no bytes")
    check_size(data, name)
    check_whole(data, name)
    pixels = opencv().imdecode(np.frombuffer(data, np.uint8), flag)
    if pixels is None:
        raise MXNetError(f"{name}: decoding failed, {len(data)} bytes beginning {data[:8]!r} are no readable image")
    return pixels


def resize(image: np.ndarray, width: int, height: int, method: int) -> np.ndarray:
    """The image in another size, by OpenCV's own loops: Intel's, which it prefers, round otherwise than MXNet."""
    cv2 = opencv()
    preferred = cv2.ipp.useIPP()
    cv2.ipp.setUseIPP(False)  # concerns this thread alone
    try:
        return cv2.resize(image, (width, height), interpolation=method)
    finally:
        cv2.ipp.setUseIPP(preferred)
