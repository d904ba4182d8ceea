"""Kinds and sizes of images from headers made by hand: one byte less, and there is no size."""

import struct

import pytest

from mxnet._formats import image_damage, image_kinds

SOF = struct.pack(">BBHBHH", 0xFF, 0xC0, 17, 8, 300, 500)  # marker, length, depth, height, width
TIFF = struct.pack("<2sHI H HHII HHII", b"II", 42, 8, 2, 256, 4, 1, 500, 257, 3, 1, 300)
BIG_TIFF = struct.pack(">2sHI H HHIHH HHII", b"MM", 42, 8, 2, 256, 3, 1, 500, 0, 257, 4, 1, 300)
HEADERS = {
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR" + struct.pack(">II", 500, 300),
    "gif": b"GIF89a" + struct.pack("<HH", 500, 300),
    "bmp": b"BM" + bytes(12) + struct.pack("<Iii", 40, -500, -300),
    "webp": b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + (499).to_bytes(3, "little") + (299).to_bytes(3, "little"),
    "jpeg": b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xff\x01" + SOF,
    "tiff": TIFF,
    "jpeg2000": b"\xff\x4f\xff\x51" + bytes(4) + struct.pack(">4I", 510, 305, 10, 5),
    "sun": b"\x59\xa6\x6a\x95" + struct.pack(">II", 500, 300),
    "pnm": b"P6 # words\n500 300\n",
    "hdr": b"#?RADIANCE\n\n-Y 500 +X 300\n",
}


@pytest.mark.parametrize("kind", HEADERS)
def test_shortest_headers(kind):
    data = HEADERS[kind]
    assert image_kinds.kind(data) == kind and image_kinds.size(data) == (500, 300)
    assert image_kinds.size(data + bytes(40)) == (500, 300)
    assert image_kinds.size(data[:-1]) is None and image_kinds.kind(data[:-1]) == kind


def test_other_headers():
    old = b"BM" + bytes(12) + struct.pack("<IHHHH", 12, 500, 300, 1, 24)
    lossless = b"RIFF\0\0\0\0WEBPVP8L" + bytes(4) + b"\x2f" + struct.pack("<I", 299 << 14 | 499)
    lossy = b"RIFF\0\0\0\0WEBPVP8 " + bytes(7) + b"\x9d\x01\x2a" + struct.pack("<HH", 0xC000 | 500, 0x4000 | 300)
    boxed = b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(9) + HEADERS["jpeg2000"]
    for data in (old, lossless, lossy, boxed, BIG_TIFF, HEADERS["gif"].replace(b"89", b"87"), b"P5\n500\t300 "):
        assert image_kinds.size(data) == (500, 300), data
    for data in (lossless, lossy):
        assert image_kinds.size(data[:-1]) is None
    assert image_kinds.size(lossless.replace(b"\x2f", b"\x2e")) is None
    assert image_kinds.size(lossy.replace(b"\x9d\x01", b"\x9d\x02")) is None
    assert image_kinds.size(HEADERS["png"].replace(b"IHDR", b"IDAT")) is None
    assert image_kinds.size(HEADERS["jpeg2000"].replace(struct.pack(">I", 510), struct.pack(">I", 3))) == (0, 300)


@pytest.mark.parametrize("data", [b"", b"B", b"RIFF", b"GIF88a", b"P8 1 1 ", b"\xff\xd8\xfe", b"II+\0"])
def test_other_bytes(data):
    assert image_kinds.kind(data) is None and image_kinds.size(data) is None


@pytest.mark.parametrize("marker", range(0xC0, 0xD0))
def test_frames_of_a_jpeg(marker):
    """All SOF markers carry the size; tables do not."""
    data = HEADERS["jpeg"].replace(b"\xff\xc0", bytes([0xFF, marker]))
    assert image_kinds.size(data + bytes(30)) == (None if marker in (0xC4, 0xC8, 0xCC) else (500, 300))


def test_a_jpeg_without_a_frame():
    for marker in (0xD9, 0xDA):  # the end, and a scan
        assert image_kinds.size(b"\xff\xd8\xff" + bytes([marker, 0, 2]) + SOF) is None
    assert image_kinds.size(b"\xff\xd8\xff\x00" + SOF) == (500, 300)  # no marker: stepped over


DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}  # the table of PNG's standard


@pytest.mark.parametrize("colour", range(8))
def test_depths_of_a_png(colour):
    for depth in range(18):
        wrong = image_damage._png_head(struct.pack(">IIBBBBB", 3, 2, depth, colour, 0, 0, 1))
        assert (wrong is None) == (depth in DEPTHS.get(colour, ())), (colour, depth)


@pytest.mark.parametrize("place", [4, 5, 6])
def test_methods_of_a_png(place):
    fields = [3, 2, 8, 2, 0, 0, 0]
    assert image_damage._png_head(struct.pack(">IIBBBBB", *fields)) is None
    fields[place] = 2
    assert "does not have" in image_damage._png_head(struct.pack(">IIBBBBB", *fields))


@pytest.mark.parametrize("size", [(0, 1), (1, 0), (1 << 31, 1), (1, 1 << 31)])
def test_sizes_that_a_png_cannot_have(size):
    assert "it claims" in image_damage._png_head(struct.pack(">IIBBBBB", *size, 8, 2, 0, 0, 0))
    most = tuple(min(max(n, 1), (1 << 31) - 1) for n in size)
    assert image_damage._png_head(struct.pack(">IIBBBBB", *most, 8, 2, 0, 0, 0)) is None


@pytest.mark.parametrize(("colour", "channels"), [(0, 1), (2, 3), (3, 1), (4, 2), (6, 4)])
def test_room_for_the_pixels_of_a_png(colour, channels):
    """Deflate makes at most 1032 bytes of one: 1032 rows of a byte, or as many fewer as there are channels."""
    head = lambda rows: struct.pack(">IIBB", 1, rows, 8, colour)
    assert image_damage._png_room(head(1032 * channels // channels), channels) is None
    assert "cannot hold" in image_damage._png_room(head(1033), channels)
    bits = struct.pack(">IIBB", 9, 516, 1, 0)  # two bytes a row
    assert image_damage._png_room(bits, 1) is None
    assert "cannot hold" in image_damage._png_room(struct.pack(">IIBB", 9, 517, 1, 0), 1)


def test_a_frame_of_an_animation_lies_in_the_image():
    head = struct.pack(">II", 10, 20)
    for frame, outside in (((10, 20, 0, 0), 0), ((5, 5, 5, 15), 0), ((5, 5, 6, 15), 1), ((5, 5, 5, 16), 1)):
        assert image_damage._outside(frame, head) == bool(outside)


def jpeg(scans=1, end=b"\xff\xd9", frame=SOF + bytes(10)):
    return b"\xff\xd8" + frame + b"\xff\xda\0\x02" * scans + bytes(400) + end


def test_segments_of_a_jpeg():
    assert image_damage.jpeg(jpeg()) is None and image_damage.jpeg(jpeg(500)) is None
    assert image_damage.jpeg(jpeg(501)) == "it has more than 500 scans"
    assert image_damage.jpeg(jpeg(0)) == "it has no scan"
    wide = b"\xff\xc9\0\x11\x08" + (6000).to_bytes(2, "big") * 2 + bytes(10)
    assert image_damage.jpeg(jpeg(32, frame=wide)) is None
    assert image_damage.jpeg(jpeg(33, frame=wide)) == "it has 33 scans of 6000 x 6000 pixels"
    assert "without an end marker" in image_damage.jpeg(jpeg(end=b""))
    assert image_damage.jpeg(jpeg(end=b"\xff\xd0\xff\xc0\xff\xff\xff\xd9")) is None  # restarts, damage, padding
    assert "claims 1 bytes" in image_damage.jpeg(b"\xff\xd8\xff\xe0\0\x01")
    assert image_damage.jpeg(b"\xff\xd8\xff\xe0\0\x05ab").endswith("claims 5 bytes, 4 are there; it is truncated")
    assert "end marker" in image_damage.jpeg(b"\xff\xd8\xff\xe0\0\x04ab")
    for marker in (0xC4, 0xCC, 0xDB, 0xDC, 0xDD, 0xFE, 0xE0, 0xEF):
        between = b"\xff" + bytes([marker]) + b"\xff\xf0"
        assert "claims 65520 bytes" in image_damage.jpeg(jpeg(end=between + b"\xff\xd9"))


def test_room_for_the_pixels_of_a_jpeg():
    def sized(width, height, marker):
        return jpeg(frame=struct.pack(">BBHBHH", 0xFF, marker, 17, 8, height, width) + bytes(10))

    length = len(sized(8, 8, 0xC0))
    for marker in (0xC0, 0xC1, 0xC2, 0xC3):
        assert image_damage.jpeg(sized(64, 8 * length, marker)) is None
        assert "cannot hold" in image_damage.jpeg(sized(64, 8 * length + 8, marker))
    assert image_damage.jpeg(sized(64, 8 * length + 8, 0xC9)) is None  # arithmetic codes have no least length


def test_blocks_of_a_gif():
    def made(across=10, down=20, frame=(0, 0, 10, 20), blocks=b"\x02ab\0", packed=0):
        screen = b"GIF89a" + struct.pack("<HHBBB", across, down, packed, 0, 0) + bytes(6 if packed else 0)
        return screen + b"!\xf9\x01a\0," + struct.pack("<4HB", *frame, 0) + b"\x08" + blocks

    assert image_damage.gif(made()) is None and image_damage.gif(made(packed=0x80)) is None
    assert image_damage.gif(made(frame=(1, 2, 9, 18))) is None
    for frame in ((2, 2, 9, 18), (1, 3, 9, 18)):
        assert "does not fit in 10 x 20" in image_damage.gif(made(frame=frame))
    for blocks in (b"", b"\x02ab", b"\x02a", b"\x02ab\x01"):
        assert "before its first frame is complete" in image_damage.gif(made(blocks=blocks))
    assert "there is no block at byte 13" in image_damage.gif(made()[:13] + b"\x22")
    assert "there is no block" in image_damage.gif(made()[:18] + b",abc")
    assert "it ends after 13 bytes" in image_damage.gif(made()[:13])
    coloured = made().replace(struct.pack("<4HB", 0, 0, 10, 20, 0), struct.pack("<4HB", 0, 0, 10, 20, 0x81))
    assert "complete" in image_damage.gif(coloured) and image_damage.gif(coloured + bytes(12)) is None


def test_rows_of_a_bmp():
    def made(width, height, bits, pixels, packing=0, start=54):
        head = struct.pack("<IiiHHI", 40, width, height, 1, bits, packing) + bytes(20)
        return b"BM" + bytes(8) + struct.pack("<I", start) + head + bytes(pixels)

    assert image_damage.bmp(made(3, 2, 24, 24)) is None and image_damage.bmp(made(3, 2, 24, 21)) is None
    assert "need 24 bytes, 20 are there" in image_damage.bmp(made(3, 2, 24, 20))
    assert image_damage.bmp(made(9, 1, 1, 4)) is None and "need 8" in image_damage.bmp(made(33, 1, 1, 4))
    assert "need 24" in image_damage.bmp(made(3, 2, 24, 20, packing=3))
    assert image_damage.bmp(made(3, 2, 8, 1, packing=1)) is None  # run lengths
    assert "begin at byte 99 of 58" in image_damage.bmp(made(1, 1, 8, 4, start=99))
    assert image_damage.bmp(b"BM" + bytes(23)) == "it ends after 25 bytes, inside of its header"
    old = b"BM" + bytes(8) + struct.pack("<IIHHHH", 26, 12, 3, 2, 1, 24)
    assert image_damage.bmp(old + bytes(24)) is None and "need 24" in image_damage.bmp(old + bytes(20))


def test_chunks_of_a_webp():
    def made(*chunks, claimed=None):
        body = b"WEBP" + b"".join(
            kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2) for kind, data in chunks
        )
        return b"RIFF" + struct.pack("<I", len(body) if claimed is None else claimed) + body

    assert image_damage.webp(made((b"VP8 ", b"abc"), (b"EXIF", b"ab"))) is None
    data = made((b"VP8 ", b"abcd"))
    assert image_damage.webp(data) is None
    assert "container claims 24 bytes, 23 are there" in image_damage.webp(data[:-1])
    assert image_damage.webp(data.replace(b"VP8 \x04", b"VP8 \x05")).endswith("claims 5 bytes, 4 are there")


def test_entries_of_a_tiff():
    """No more than its directory counts, and none that is cut off."""

    def made(count, *entries):
        return struct.pack("<2sHIH", b"II", 42, 8, count) + b"".join(struct.pack("<HHII", *entry) for entry in entries)

    width, height, other = (256, 4, 1, 500), (257, 4, 1, 300), (254, 4, 1, 9)
    assert image_kinds.size(made(2, width, height)) == (500, 300) == image_kinds.size(made(3, other, width, height))
    assert image_kinds.size(made(1, width, height)) is None and image_kinds.size(made(2, other, width, height)) is None
    assert image_kinds.size(made(9, width, height)) == (500, 300)
    assert image_kinds.size(made(9, width, height)[:-1]) is None
    assert image_kinds.size(made(3, width, height, (256, 4, 1, 700))) == (700, 300)  # the largest
    assert image_kinds.size(struct.pack("<2sHI2s", b"II", 42, 99, b"ab")) is None
    assert image_kinds.size(b"II*\0") is None and image_kinds.size(struct.pack("<2sHIH", b"II", 42, 8, 9)) is None
