"""Record iterators draw from the streams that MXNet's have: on few processors they decode in one thread."""

import cv2
import numpy as np
import pytest

import mxnet as mx
from mxnet.io import _images

RANDOM = {
    "mirror": {"rand_mirror_prob": 0.5},
    "pad": {"rand_pad_prob": 0.5, "max_pad_scale": 4.0},
    "crop": {"rand_crop_prob": 0.8, "num_crop_sampler": 1, "min_crop_scales": (0.3,)},
    "contrast": {"random_contrast_prob": 0.5, "max_random_contrast": 0.5},
    "interpolation": {"inter_method": 10},
}


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("detection") / "images.rec")
    writer = mx.recordio.MXRecordIO(path, "w")
    state = np.random.RandomState(0)
    for i in range(12):
        image = state.randint(0, 255, (40, 50, 3)).astype("uint8")
        label = np.array([4, 5, 50, 40, i % 3, 0.1, 0.2, 0.6, 0.7], "float32")
        content = cv2.imencode(".png", image)[1].tobytes()
        writer.write(mx.recordio.pack(mx.recordio.IRHeader(0, label, i, 0), content))
    writer.close()
    return path


def _epochs(path, threads, **options):
    iterator = mx.io.ImageDetRecordIter(
        path_imgrec=path,
        batch_size=4,
        data_shape=(3, 32, 32),
        label_pad_width=20,
        preprocess_threads=threads,
        **options,
    )
    found = []
    for _ in range(2):
        found += [np.append(b.data[0].asnumpy().ravel(), b.label[0].asnumpy().ravel()) for b in iterator]
        iterator.reset()
    return np.stack(found)


@pytest.mark.parametrize("name", RANDOM)
def test_on_two_processors_many_threads_draw_as_one(records, name, monkeypatch):
    monkeypatch.setattr(_images, "processors", lambda: 2)
    one = _epochs(records, 1, **RANDOM[name])
    np.testing.assert_array_equal(_epochs(records, 48, **RANDOM[name]), one)
    assert not np.array_equal(one[:3], one[3:])  # the stream goes on from epoch to epoch


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_reset_after_the_first_batch_goes_on_with_the_second_epoch(records, shuffle, monkeypatch):
    """All images of a chunk are drawn before its first batch is given, as SSD's iterator finds them in MXNet."""
    monkeypatch.setattr(_images, "processors", lambda: 2)
    options = {"path_imgrec": records, "batch_size": 4, "data_shape": (3, 32, 32), "label_pad_width": 20}
    options |= {"shuffle": shuffle, "seed": 233, **RANDOM["mirror"], **RANDOM["crop"]}
    whole, broken = (mx.io.ImageDetRecordIter(**options) for _ in range(2))
    for _ in whole:
        pass
    broken.next()
    for iterator in (whole, broken):
        iterator.reset()
    for left, right in zip(whole, broken, strict=True):
        np.testing.assert_array_equal(left.data[0].asnumpy(), right.data[0].asnumpy())
        np.testing.assert_array_equal(left.label[0].asnumpy(), right.label[0].asnumpy())


IMAGE_RANDOM = {
    "mirror": {"rand_mirror": True},
    "crop": {"rand_crop": True},
    "shuffled": {"rand_crop": True, "rand_mirror": True, "shuffle": True, "seed": 3},
    "contrast": {"max_random_contrast": 0.5},
    "interpolation": {"inter_method": 10, "resize": 45},
    "scale": {"min_random_scale": 0.9, "max_random_scale": 1.1},
}


def _image_epoch(path, **options):
    iterator = mx.io.ImageRecordIter(
        path_imgrec=path, batch_size=4, data_shape=(3, 32, 32), label_width=9, **{"preprocess_threads": 48, **options}
    )
    return np.stack([batch.data[0].asnumpy() for batch in iterator])


@pytest.mark.parametrize("name", IMAGE_RANDOM)
def test_image_records_draw_as_one_thread_where_half_of_the_processors_is_one(records, name, monkeypatch):
    one = _image_epoch(records, preprocess_threads=1, **IMAGE_RANDOM[name])
    monkeypatch.setattr(_images, "processors", lambda: 3)
    np.testing.assert_array_equal(_image_epoch(records, **IMAGE_RANDOM[name]), one)
    if name != "shuffled":
        assert not np.array_equal(_image_epoch(records, ctx="cpu", **IMAGE_RANDOM[name]), one)  # all three decode
