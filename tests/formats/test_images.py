"""Sizes of encoded images from their first bytes, and the limit on them."""

import io
import re
import struct
import subprocess
import sys
import zlib

import cv2
import numpy as np
import pytest
from PIL import Image

from mxnet._formats import images
from mxnet.base import MXNetError


def encoded(form, size=(37, 21), **options):
    buffer = io.BytesIO()
    Image.fromarray(np.zeros((size[1], size[0], 3), np.uint8)).save(buffer, form, **options)
    return buffer.getvalue()


KINDS = [
    ("JPEG", {}), ("JPEG", {"progressive": True}), ("JPEG", {"exif": b"Exif\0\0" + b"\0" * 500}), ("PNG", {}),
    ("GIF", {}), ("BMP", {}), ("WEBP", {}), ("WEBP", {"lossless": True}), ("WEBP", {"exif": b"Exif\0\0ab"}),
]  # fmt: skip


@pytest.mark.parametrize(("form", "options"), KINDS)
def test_sizes(form, options):
    data = encoded(form, **options)
    assert images.size(data) == (37, 21)
    for cut in range(0, len(data), 3):
        assert images.size(data[:cut]) in (None, (37, 21))


@pytest.mark.parametrize("ending", [".tiff", ".ppm", ".pgm", ".pbm", ".pam", ".pfm", ".sr", ".hdr", ".jp2"])
def test_rarer_kinds(ending, monkeypatch):
    pixels = np.zeros((64, 96, 3), np.float32 if ending in (".pfm", ".hdr") else np.uint8)
    data = cv2.imencode(ending, pixels[..., 0] if ending in (".pgm", ".pbm") else pixels)[1].tobytes()
    assert sorted(images.size(data)) == [64, 96]
    with pytest.raises(MXNetError, match="MXNET_IMAGE_FORMATS=" + images.kind(data)):
        images.decode(data)
    monkeypatch.setenv("MXNET_IMAGE_FORMATS", "jpeg2000, tiff,PNM,hdr,sun")
    assert images.decode(data).shape == (64, 96, 3)
    for cut in range(0, min(len(data), 300), 3):
        assert images.size(data[:cut]) is None or sorted(images.size(data[:cut])) == [64, 96]


def test_bytes_between_the_markers_of_a_jpeg_do_not_hide_its_size():
    data = encoded("JPEG")
    assert data[20:22] == b"\xff\xdb"  # after the first segment
    hidden = data[:20] + b"\0\0garbage\xff\0" + data[20:]
    assert images.size(hidden) == images.decode(hidden).shape[1::-1] == (37, 21)


@pytest.mark.parametrize("data", [b"", b"\xff\xd8\xff", b"\xff\xd8" + b"\xff\xe0\0\0" * 50, b"BM", b"RIFF....WEBPVP8 "])
def test_what_is_no_image_has_no_size(data):
    assert images.size(data) is None


def test_a_bomb_is_refused_before_it_is_decoded(monkeypatch):
    bomb = bytearray(encoded("PNG"))
    bomb[16:24] = struct.pack(">II", 60_000, 60_000)
    with pytest.raises(MXNetError, match="60000 x 60000"):
        images.decode(bytes(bomb))
    monkeypatch.setenv("MXNET_MAX_IMAGE_PIXELS", "100")
    with pytest.raises(MXNetError, match="raise MXNET_MAX_IMAGE_PIXELS"):
        images.decode(encoded("JPEG"), 1, "x.jpg")
    monkeypatch.setenv("MXNET_MAX_IMAGE_PIXELS", "many")
    with pytest.raises(MXNetError, match="must be a number"):
        images.decode(encoded("JPEG"))


def test_decoding():
    pixels = np.random.default_rng(0).integers(0, 255, (5, 7, 3), np.uint8)
    data = cv2.imencode(".png", pixels)[1].tobytes()
    np.testing.assert_array_equal(images.decode(data), pixels)
    assert images.decode(data, 0).shape == (5, 7)
    for broken in (b"", b"hello", data[:20]):
        with pytest.raises(MXNetError, match="pic.png: decoding failed"):
            images.decode(broken, 1, "pic.png")


# -- damage ------------------------------------------------------------------------------------------------------------


def chunk(kind, data, length=None):
    crc = zlib.crc32(kind + data)
    return struct.pack(">I", len(data) if length is None else length) + kind + data + struct.pack(">I", crc)


HEAD = chunk(b"IHDR", struct.pack(">IIBBBBB", 37, 21, 8, 2, 0, 0, 0))
PIXELS = chunk(b"IDAT", zlib.compress(bytes(21 * (37 * 3 + 1))))
END = chunk(b"IEND", b"")
START = b"\x89PNG\r\n\x1a\n"


def header(*fields):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", *fields))


DAMAGED_PNGS = {
    "claims 2000000000 bytes": START + HEAD + chunk(b"iCCP", b"abcdef", length=2_000_000_000) + END,
    "without an IEND": START + HEAD + PIXELS,
    "the checksum of its chunk b'IDAT'": START + HEAD + PIXELS[:-1] + bytes([PIXELS[-1] ^ 1]) + END,
    "two headers": START + HEAD + HEAD + PIXELS + END,
    "begins with a chunk b'IDAT'": START + PIXELS + HEAD + END,
    "12 bytes instead of 13": START + chunk(b"IHDR", bytes(12)) + PIXELS + END,
    "colour type 5": START + header(37, 21, 8, 5, 0, 0, 0) + PIXELS + END,
    "2 of 4 bits": START + header(37, 21, 4, 2, 0, 0, 0) + PIXELS + END,
    "it claims 0 x 21": START + header(0, 21, 8, 2, 0, 0, 0) + PIXELS + END,
    "cannot hold 9000 x 9000": START + header(9000, 9000, 8, 2, 0, 0, 0) + PIXELS + END,
    "a frame of its animation": START + HEAD + chunk(b"fcTL", struct.pack(">5I6x", 0, 37, 21, 1, 0)) + PIXELS + END,
}


@pytest.mark.parametrize("words", DAMAGED_PNGS)
def test_damaged_png(words):
    assert re.search(words, images.damage(DAMAGED_PNGS[words] + b"behind"))
    with pytest.raises(MXNetError, match="p.png: decoding failed.*damaged"):
        images.check(DAMAGED_PNGS[words] + b"behind", "p.png")


def test_png_that_is_whole():
    assert images.decode(START + HEAD + PIXELS + END + b"behind").shape == (21, 37, 3)
    animated = START + HEAD + chunk(b"fcTL", struct.pack(">5I6x", 0, 36, 21, 1, 0)) + PIXELS + END
    assert images.damage(animated) is None


def segment(marker, data, length=None):
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2 if length is None else length) + data


def test_damaged_jpeg():
    data = encoded("JPEG")
    assert images.damage(data) is None
    refused = {
        "e1 at byte 2 claims 60000 bytes": data[:2] + segment(0xE1, b"Exif", 60_000) + data[2:40],
        "e1 at byte 2 claims 1 bytes": data[:2] + segment(0xE1, b"Exif", 1) + data[2:],
        "without an end marker": data[:-2],
        "no scan": data[: data.index(b"\xff\xda")] + b"\xff\xd9",
        "claims 60000 bytes, 10 are there": data[:-2] + segment(0xC4, b"x" * 8, 60_000),
        "more than 500 scans": data[:-2] + segment(0xDA, b"\0") * 500 + b"\xff\xd9",
    }
    for words, damaged in refused.items():
        assert words in images.damage(damaged)
        with pytest.raises(MXNetError, match="decoding failed"):
            images.check(damaged)
    thumbnail = data[:2] + segment(0xE1, data) + data[2:-2]  # has the end of another image in it
    with pytest.raises(MXNetError, match="truncated"):
        images.check(thumbnail)
    assert images.damage(data[:-2] + b"\xff\x02" + data[-2:]) is None  # a stray marker, which decoders step over
    assert images.damage(data[:-2] + segment(0xDA, b"\0") * 499 + b"\xff\xd9") is None


def test_a_jpeg_of_few_bytes_and_many_pixels():
    data = bytearray(encoded("JPEG"))
    at = data.index(b"\xff\xc0")
    data[at + 5 : at + 9] = struct.pack(">HH", 10_000, 10_000)
    with pytest.raises(MXNetError, match="cannot hold 10000 x 10000 pixels"):
        images.check(bytes(data))


def test_damaged_webp_bmp_gif():
    webp, bmp, gif = encoded("WEBP"), encoded("BMP"), encoded("GIF")
    for data in (webp, bmp, gif):
        assert images.damage(data) is None
        assert images.damage(data + b"behind") is None
    huge_bmp = bytearray(bmp)
    huge_bmp[18:26] = struct.pack("<ii", 9000, -9000)
    beyond = bytearray(bmp)
    beyond[10:14] = struct.pack("<I", len(bmp) + 1)
    wide_gif = bytearray(gif)
    frame = 13 + (3 << (gif[10] & 7) + 1 if gif[10] & 0x80 else 0)
    while gif[frame] != 0x2C:
        frame += 1
    wide_gif[frame + 5 : frame + 7] = struct.pack("<H", 38)
    cases = {
        "container claims": webp[:-1],
        "claims 99999 bytes": webp[:16] + struct.pack("<I", 99_999) + webp[20:],
        "9000 x 9000 pixels of 24 bits need": bytes(huge_bmp),
        "begin at byte": bytes(beyond),
        "need 2352 bytes": bmp[:-4],
        "before its first frame is complete": gif[:-3],
        "does not fit in 37 x 21": bytes(wide_gif),
        "there is no block at byte": gif[:13] + b"\x99" + gif[14:] if not gif[10] & 0x80 else gif[:frame] + b"\x99",
    }
    for words, data in cases.items():
        with pytest.raises(MXNetError, match=f"decoding failed.*{words}"):
            images.check(data)


def test_the_setting_for_other_kinds(monkeypatch):
    monkeypatch.setenv("MXNET_IMAGE_FORMATS", "tiff,exr")
    with pytest.raises(ValueError, match="MXNET_IMAGE_FORMATS may list tiff, jpeg2000, pnm, hdr, sun, got exr"):
        images.check(b"II*\0" + bytes(30))


HOSTILE = """
import resource, sys
import mxnet as mx, numpy as np, cv2
from mxnet import recordio
png, jp2 = open(sys.argv[1], "rb").read(), open(sys.argv[2], "rb").read()
mx.image.imdecode(cv2.imencode(".png", np.zeros((8, 8, 3), np.uint8))[1].tobytes())
resource.setrlimit(resource.RLIMIT_AS, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + (8 << 30), -1))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for data in (png, jp2, png, jp2):
    for read in (mx.image.imdecode, mx.nd.imdecode):
        try:
            read(data)
        except mx.MXNetError:
            continue
        raise SystemExit("was decoded")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_a_chunk_of_two_gigabytes_and_a_damaged_jpeg_2000(tmp_path):
    png = START + HEAD + chunk(b"iCCP", b"abcdef", length=2_000_000_000) + b"IEND" + bytes(4)
    jp2 = bytearray(cv2.imencode(".jp2", np.zeros((64, 96, 3), np.uint8))[1].tobytes())
    jp2[len(jp2) // 2 :] = bytes(len(jp2) - len(jp2) // 2)
    (tmp_path / "a.png").write_bytes(png)
    (tmp_path / "a.jp2").write_bytes(jp2)
    command = [sys.executable, "-c", HOSTILE, str(tmp_path / "a.png"), str(tmp_path / "a.jp2")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 64


def test_chunks_of_a_webp_have_even_lengths():
    body = b"WEBPABCD" + struct.pack("<I", 3) + b"xyz\0" + b"EFGH" + struct.pack("<I", 5)
    data = b"RIFF" + struct.pack("<I", len(body)) + body
    assert "chunk b'EFGH' at byte 24 claims 5 bytes, 0 are there" in images.damage(data)
    assert images.damage(data[:-4] + bytes(4)) is None
