"""Record what the classic program logs and learns with real MXNet 1.9.1 into tests/data/classic.npz."""

import logging
import pathlib
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "training"))

import classic_program  # noqa: E402
import training_cases  # noqa: E402

import mxnet as mx  # noqa: E402


def main():
    with np.load(ROOT / "src" / "mxnet" / "_data" / "digits.npz") as archive:
        images, labels = archive["images"][:300], archive["labels"][:300]
    lines = training_cases.Lines()
    logging.getLogger().handlers = [lines]
    logging.getLogger().setLevel(logging.INFO)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        training_cases.write_digits(mx, folder, images, labels)
        model = classic_program.main(["--data-dir", name, "--model-prefix", str(folder / "net")])
        found = training_cases.without_times(lines.lines, name)
    weights = {name: array.asnumpy() for name, array in model.get_params()[0].items()}
    path = ROOT / "tests" / "data" / "classic.npz"
    np.savez_compressed(path, images=images, labels=labels, lines=np.array(found), **weights)
    print("\n".join(found), f"\nMXNet {mx.__version__}")


if __name__ == "__main__":
    main()
