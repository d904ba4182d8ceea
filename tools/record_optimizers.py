"""Record optimizer trajectories from real MXNet 1.9.1 into tests/data/optimizers.npz: run it with its Python."""

import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "training"))

import optimizer_cases  # noqa: E402

import mxnet as mx  # noqa: E402


def main():
    recorded = {}
    for case in optimizer_cases.CASES:
        for name, weight in optimizer_cases.trajectory(mx, case).items():
            recorded[f"{case}/{name}"] = weight
    np.savez_compressed(ROOT / "tests" / "data" / "optimizers.npz", **recorded)
    print(f"{len(optimizer_cases.CASES)} trajectories, MXNet {mx.__version__}")


if __name__ == "__main__":
    main()
