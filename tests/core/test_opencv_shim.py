"""Images without OpenCV: Pillow and NumPy compute the same, but for rounding."""

import io
import os
import subprocess
import sys

import numpy as np
import pytest

cv2 = pytest.importorskip("cv2")
Image = pytest.importorskip("PIL.Image")
shim = pytest.importorskip("mxnet._core.shims.opencv")

RANDOM = np.random.RandomState(0)
SMOOTH = cv2.GaussianBlur(RANDOM.randint(0, 256, (45, 60, 3)).astype("uint8"), (5, 5), 2)


def largest(found, wanted):
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    return int(np.abs(found.astype(int) - wanted.astype(int)).max())


def encoded(extension, image):
    return cv2.imencode(extension, image)[1]


@pytest.mark.parametrize("flag", [-1, 0, 1])
@pytest.mark.parametrize("extension", [".png", ".jpg", ".bmp", ".webp"])
def test_files_are_decoded_to_the_same_pixels(extension, flag):
    for image in (SMOOTH, SMOOTH[:, :, 0]):
        data = encoded(extension, image)
        assert largest(shim.imdecode(data, flag), cv2.imdecode(data, flag)) <= (1 if extension == ".webp" else 0)


@pytest.mark.parametrize("flag", [-1, 0, 1])
def test_transparent_deep_and_indexed_images(flag):
    clear = np.dstack([SMOOTH, SMOOTH[:, :, 0]])
    deep = RANDOM.randint(0, 65536, (9, 7)).astype("uint16")
    palette = io.BytesIO()
    Image.fromarray(SMOOTH).quantize(16).save(palette, "PNG")
    for data in (encoded(".png", clear), encoded(".png", deep), np.frombuffer(palette.getvalue(), "uint8")):
        assert largest(shim.imdecode(data, flag), cv2.imdecode(data, flag)) == 0


def test_the_camera_that_was_turned():
    turned, into = Image.fromarray(SMOOTH), io.BytesIO()
    exif = turned.getexif()
    exif[0x0112] = 6
    turned.save(into, "JPEG", exif=exif)
    data = np.frombuffer(into.getvalue(), "uint8")
    for flag in (-1, 0, 1):
        assert largest(shim.imdecode(data, flag), cv2.imdecode(data, flag)) == 0


def test_what_is_no_image():
    assert shim.imdecode(np.frombuffer(b"nothing that is an image", "uint8")) is None
    with pytest.raises(shim.error, match="writer for the extension .xyz"):
        shim.imencode(".xyz", SMOOTH)


@pytest.mark.parametrize("size", [(31, 22), (60, 90), (120, 91), (20, 15), (70, 30)])
@pytest.mark.parametrize("method", range(5))
def test_sizes(size, method):
    for image in (SMOOTH, SMOOTH[:, :, 0]):
        found, wanted = (m.resize(image, size, interpolation=method) for m in (shim, cv2))
        assert largest(found, wanted) <= 1
    image = SMOOTH.astype("float32")
    found, wanted = shim.resize(image, size, interpolation=method), cv2.resize(image, size, interpolation=method)
    np.testing.assert_allclose(found, wanted, atol=0.3 if method == cv2.INTER_LANCZOS4 else 1e-2)


@pytest.mark.parametrize("kind", range(5))
def test_frames(kind):
    arguments = (3, 2, 5, 1, kind)
    for value in ((7, 8, 9, 0), (127,) * 3):
        found, wanted = (m.copyMakeBorder(SMOOTH, *arguments, value=value) for m in (shim, cv2))
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("method", [0, 1, 2, 3, 4])
def test_turned_images(method):
    matrix = np.array([[0.9, 0.3, -4], [-0.2, 1.1, 3]], "float32")
    options = dict(flags=method, borderMode=cv2.BORDER_CONSTANT, borderValue=(10, 20, 30))
    found, wanted = (m.warpAffine(SMOOTH, matrix, (50, 40), **options).astype(int) for m in (shim, cv2))
    assert np.abs(found - wanted).mean() < 0.5 and np.quantile(np.abs(found - wanted), 0.99) <= 3


def test_colours():
    for code in ("COLOR_BGR2RGB", "COLOR_RGB2GRAY", "COLOR_BGR2HLS", "COLOR_HLS2BGR"):
        image = SMOOTH if code != "COLOR_HLS2BGR" else cv2.cvtColor(SMOOTH, cv2.COLOR_BGR2HLS)
        found, wanted = (m.cvtColor(image, getattr(m, code)) for m in (shim, cv2))
        assert largest(found, wanted) <= ("HLS" in code)
        assert getattr(shim, code) == getattr(cv2, code)
    grey = SMOOTH[:, :, 0]
    np.testing.assert_array_equal(shim.cvtColor(grey, shim.COLOR_GRAY2BGR), cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR))


def test_arithmetic():
    assert largest(shim.convertScaleAbs(SMOOTH, alpha=1.3), cv2.convertScaleAbs(SMOOTH, alpha=1.3)) <= 1
    found, wanted = (m.addWeighted(SMOOTH, 0.7, m.flip(SMOOTH, 1), 0.3, 0) for m in (shim, cv2))
    assert largest(found, wanted) <= 1
    np.testing.assert_allclose(shim.mean(SMOOTH), cv2.mean(SMOOTH))
    for found, wanted in zip(shim.split(SMOOTH), cv2.split(SMOOTH), strict=True):
        np.testing.assert_array_equal(found, wanted)
    table, into = RANDOM.rand(256).astype("float32"), np.empty((45, 60), "float32")
    np.testing.assert_array_equal(shim.LUT(SMOOTH[:, :, 1], table, dst=into), cv2.LUT(SMOOTH[:, :, 1], table))


@pytest.mark.parametrize("extension", [".jpg", ".png"])
def test_encoded_images_come_back(extension):
    key = shim.IMWRITE_JPEG_QUALITY if extension == ".jpg" else shim.IMWRITE_PNG_COMPRESSION
    for image in (SMOOTH, SMOOTH[:, :, 0]):
        done, data = shim.imencode(extension, image, [key, 9 if extension == ".png" else 95])
        lost = largest(cv2.imdecode(encoded(extension, image), -1), image)  # by OpenCV's own encoder
        assert done and largest(cv2.imdecode(data, -1), image) <= 1.2 * lost


PROGRAM = """
import sys
sys.modules["cv2"] = None
import numpy as np
import mxnet as mx
from mxnet.gluon.data.vision import ImageFolderDataset, transforms
from mxnet.tools import im2rec

folder, prefix = sys.argv[1:]
images = ImageFolderDataset(folder)
change = transforms.Compose([transforms.RandomResizedCrop(12), transforms.RandomFlipLeftRight(), transforms.ToTensor()])
print(images.transform_first(change)[0][0].shape, mx.image.resize_short(images[0][0], 10).shape)
im2rec.main([prefix, folder, "--list", "--recursive"])
im2rec.main([prefix, folder])
for more in ({}, {"max_rotate_angle": 10, "brightness": 0.1, "contrast": 0.1, "saturation": 0.1, "random_h": 10}):
    records = mx.io.ImageRecordIter(path_imgrec=prefix + ".rec", data_shape=(3, 12, 12), batch_size=2, rand_mirror=True,
                                    rand_crop=True, **more)
    print(next(records).data[0].shape)
content = mx.recordio.MXRecordIO(prefix + ".rec", "r").read()
header, image = mx.recordio.unpack_img(content)
print(image.shape, len(mx.recordio.pack_img(header, image)) > 100)
"""


def test_images_folders_transforms_and_records_without_opencv(tmp_path):
    for name in ("a", "b"):
        (tmp_path / "set" / name).mkdir(parents=True)
        cv2.imwrite(str(tmp_path / "set" / name / "0.jpg"), SMOOTH)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "set"), str(tmp_path / "records")],
        capture_output=True, text=True, timeout=300, env=dict(os.environ),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    shown = [line for line in done.stdout.splitlines() if line.startswith("(")]
    assert shown == ["(3, 12, 12) (10, 13, 3)", "(2, 3, 12, 12)", "(2, 3, 12, 12)", "(45, 60, 3) True"]
