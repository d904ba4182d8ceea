"""Corners of iterators and augmenters as MXNet 1.9.1 has them: whole numbers with fractions, augmenters told."""

import numpy as np
import pytest

import mxnet as mx


def test_whole_numbers_in_csv_files_may_have_fractions(tmp_path):
    (tmp_path / "x.csv").write_text("1.00,2.7\n3,4.0\n")
    batch = mx.io.CSVIter(data_csv=str(tmp_path / "x.csv"), data_shape=(2,), batch_size=2, dtype="int32").next()
    assert batch.data[0].asnumpy().tolist() == [[1, 2], [3, 4]]


def test_a_crop_for_detection_tells_its_arguments_in_order():
    assert mx.image.DetRandomCropAug(0.5, (0.5, 2), (0.1, 1), 0.1, 20).dumps() == (
        '["detrandomcropaug", {"min_object_covered": 0.5, "aspect_ratio_range": [0.5, 2], "area_range": [0.1, 1], '
        '"min_eject_coverage": 0.1, "max_attempts": 20}]'
    )


@pytest.mark.parametrize(("objects", "others"), [(1, 3), (4, 3), (2, 2)])
def test_detection_iterators_agree_on_the_larger_label(tmp_path, objects, others):
    cv2 = pytest.importorskip("cv2")
    cv2.imwrite(str(tmp_path / "0.png"), np.zeros((20, 30, 3), "uint8"))

    def iterator(count):
        row = [2, 5, *([0, 0.1, 0.1, 0.5, 0.5] * count), "0.png"]
        return mx.image.ImageDetIter(batch_size=1, data_shape=(3, 16, 16), imglist=[row], path_root=str(tmp_path))

    one, two = iterator(objects), iterator(others)
    assert one.sync_label_shape(two) is two
    assert one.label_shape == two.label_shape == (max(objects, others), 5)
    with pytest.raises(AssertionError, match="ImageDetIter"):
        one.sync_label_shape(3)


@pytest.mark.parametrize(
    ("shape", "short"),
    [((20, 30), (12, 18)), ((30, 20), (18, 12)), ((20, 20), (12, 12)), ((17, 31), (12, 21))],
)
def test_resize_short_keeps_the_aspect_ratio(shape, short):
    assert mx.image.resize_short(mx.nd.zeros((*shape, 3)), 12).shape == (*short, 3)
