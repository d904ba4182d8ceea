"""Writes src/mxnet/_data/operator_samples.npz: inputs of every operator's smaller samples, for `remx selftest`.

    python tools/make_selftest_samples.py

The results are not kept: `remx selftest` compares a device with the CPU, which the tests compare with MXNet.
"""

import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests" / "operators")]

from operator_cases import cases, operators  # noqa: E402 - found by the line above

LARGEST, EACH = 800, 2  # elements of a sample; samples of an operator
# They read files, or draw by a stream of the device.
LEFT_OUT = {"_cvimdecode", "_cvimread", "_imdecode", "_sample_unique_zipfian", "_shuffle"}


def chosen(operator):
    """Some samples of an operator, with gradients first, then the larger ones."""
    found = [c for c in cases(operator) if c.size <= LARGEST and c.seed is None]
    return sorted(found, key=lambda c: (not c.grads, -c.size))[:EACH]


def main():
    """Gather and write."""
    content, table = [], []
    for operator in operators():
        if operator in LEFT_OUT:
            continue
        for case in chosen(operator):
            content += [array.tobytes() for array in case.inputs]
            grads = sorted(case.grads) if case.grads else []
            kinds = [[str(array.dtype), array.shape] for array in case.inputs]
            table.append([operator, case.attrs, kinds, case.train, grads])
    text = json.dumps(table, separators=(",", ":")).encode()
    arrays = {"table": np.frombuffer(text, np.uint8), "content": np.frombuffer(b"".join(content), np.uint8)}
    np.savez_compressed(ROOT / "src" / "mxnet" / "_data" / "operator_samples.npz", **arrays)
    print(f"{len(table)} samples of {len({row[0] for row in table})} operators")


if __name__ == "__main__":
    main()
