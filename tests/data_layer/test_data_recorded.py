"""Iterators, augmenters, transforms and loaders give what MXNet 1.9.1 gave: values, dtypes, pads, random choices."""

import os

import numpy as np
import pytest
from data_cases import CASES

import mxnet as mx

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "data_layer")
# OpenCV's versions round cubic and affine resampling, and colour conversions, a little differently
ROUNDED = ("_2", "_9", "shear", "rotation", "aspect", "seeded_brightness", "seeded_saturation", "hsl", "augmenter",
            "image_functions")


@pytest.fixture(scope="module")
def expected():
    with np.load(os.path.join(FOLDER, "expected.npz")) as arrays:
        return {name: arrays[name] for name in arrays.files}


@pytest.mark.parametrize("name", CASES)
def test_same_as_recorded(name, expected):
    tolerance = 2.01 if any(part in name for part in ROUNDED) else 1e-4
    found = CASES[name](mx, FOLDER)
    wanted = {key.partition("/")[2]: value for key, value in expected.items() if key.partition("/")[0] == name}
    assert sorted(found) == sorted(wanted)
    for key, value in wanted.items():
        assert found[key].shape == value.shape, key
        assert found[key].dtype == value.dtype, key
        np.testing.assert_allclose(found[key].astype(float), value.astype(float), rtol=1e-5, atol=tolerance,
                                   err_msg=key)
