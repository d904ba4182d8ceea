"""Runs the tests' programs with dropout on real MXNet 1.9.1 and writes its numbers to tests/data/dropout.npz."""

import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "operators"))

import dropout_cases as cases  # noqa: E402

np.savez_compressed(ROOT / "tests" / "data" / "dropout.npz", **cases.record())
