"""Iterators, augmenters, transforms and loaders give what MXNet 1.9.1 gave: values, dtypes, pads, random choices."""

import os

import numpy as np
import pytest
from data_cases import CASES

import mxnet as mx

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "data_layer")
# Gray levels (of 255) by which OpenCV's affine resampling differs between its versions; all else is exact.
ROUNDED = {
    "records_seeded_shear": 1,
    "records_seeded_rotation": 1,
    "records_seeded_aspect": 1,
}


@pytest.fixture(scope="module")
def expected():
    with np.load(os.path.join(FOLDER, "expected.npz")) as arrays:
        return {name: arrays[name] for name in arrays.files}


@pytest.mark.parametrize("name", CASES)
def test_same_as_recorded(name, expected):
    found = CASES[name](mx, FOLDER)
    wanted = {key.partition("/")[2]: value for key, value in expected.items() if key.partition("/")[0] == name}
    assert sorted(found) == sorted(wanted)
    for key, value in wanted.items():
        assert found[key].shape == value.shape, key
        assert found[key].dtype == value.dtype, key
        steps = ROUNDED.get(name, 0) if key.startswith("data") else 0
        np.testing.assert_allclose(
            found[key].astype(float), value.astype(float), rtol=1e-5, atol=steps + 1e-4, err_msg=key
        )
