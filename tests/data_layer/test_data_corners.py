"""Corners of iterators and augmenters as MXNet 1.9.1 has them: whole numbers with fractions, augmenters told."""

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
