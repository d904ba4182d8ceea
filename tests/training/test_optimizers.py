"""Every optimizer against trajectories recorded from MXNet 1.9.1, and how optimizers are made and used."""

import pathlib

import numpy as np
import optimizer_cases
import pytest

import mxnet as mx

RECORDED = np.load(pathlib.Path(__file__).resolve().parents[1] / "data" / "optimizers.npz")


@pytest.mark.parametrize("together", [True, False], ids=["list", "single"])
@pytest.mark.parametrize("case", optimizer_cases.CASES)
def test_trajectory_is_mxnets(case, together):
    dtype = optimizer_cases.CASES[case][1].get("dtype", "float32")
    # LARS corrects its momentum for the first list of a step only, so one by one it goes another way.
    if case == "lars_scheduled" and not together:
        pytest.skip("MXNet's own results differ between lists and single parameters here")
    for name, weight in optimizer_cases.trajectory(mx, case, together).items():
        expected = RECORDED[f"{case}/{name}"]
        assert weight.dtype == expected.dtype
        tolerance = 2e-3 if dtype == "float16" else 1e-5
        np.testing.assert_allclose(weight, expected, rtol=tolerance, atol=tolerance, err_msg=name)
