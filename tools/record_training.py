"""Record uses of the training stack from real MXNet 1.9.1 into tests/data/training.npz: run it with its Python."""

import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "training"))

import training_cases  # noqa: E402

import mxnet as mx  # noqa: E402


def main():
    recorded = {}
    for section in training_cases.SECTIONS:
        for name, array in section(mx).items():
            recorded[f"{section.__name__}/{name}"] = array
    np.savez_compressed(ROOT / "tests" / "data" / "training.npz", **recorded)
    print(f"{len(recorded)} arrays, MXNet {mx.__version__}")


if __name__ == "__main__":
    main()
