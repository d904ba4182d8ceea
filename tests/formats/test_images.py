"""Sizes of encoded images from their first bytes, and the limit on them."""

import io
import struct

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
def test_rarer_kinds(ending):
    pixels = np.zeros((64, 96, 3), np.float32 if ending in (".pfm", ".hdr") else np.uint8)
    data = cv2.imencode(ending, pixels[..., 0] if ending in (".pgm", ".pbm") else pixels)[1].tobytes()
    assert sorted(images.size(data)) == [64, 96]
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
