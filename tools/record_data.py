"""Record what real MXNet 1.9.1 does with data: run it with MXNet's Python; writes tests/data/data_layer.

python tools/record_data.py
"""

import os
import sys

import cv2
import numpy as np

import mxnet as mx

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "tests", "data", "data_layer")
sys.path.insert(0, os.path.join(ROOT, "tests", "data_layer"))


def smooth(generator, height, width):
    """A picture of soft blobs, which every JPEG decoder sees alike."""
    return cv2.resize(
        generator.randint(0, 255, (4, 4, 3)).astype(np.uint8), (width, height), interpolation=cv2.INTER_LINEAR
    )


def path(name):
    return os.path.join(FOLDER, name)


def make_files():
    generator = np.random.RandomState(0)
    cv2.imwrite(path("picture.png"), smooth(generator, 18, 22))
    images = mx.recordio.MXIndexedRecordIO(path("images.idx"), path("images.rec"), "w")
    with open(path("images.lst"), "w") as listed:
        for i in range(7):
            header = mx.recordio.IRHeader(0, float(i), i, 0)
            images.write_idx(i, mx.recordio.pack_img(header, smooth(generator, 20 + i, 26 - i), 9, ".png"))
            listed.write(f"{i}\t{i * 2}\t{i * 3}\timage{i}.png\n")
    images.close()
    boxes = mx.recordio.MXIndexedRecordIO(path("boxes.idx"), path("boxes.rec"), "w")
    for i in range(4):
        label = [2, 5] + sum([[k, 0.1 + 0.05 * k, 0.2, 0.5 + 0.1 * k, 0.8] for k in range(i % 3 + 1)], [])
        boxes.write_idx(
            i, mx.recordio.pack_img(mx.recordio.IRHeader(0, label, i, 0), smooth(generator, 24, 30 + i), 9, ".png")
        )
    boxes.close()
    np.savetxt(path("data.csv"), np.arange(20).reshape(5, 4), "%d", ",")
    np.savetxt(path("label.csv"), np.arange(5) + 100, "%d", ",")
    with open(path("rows.libsvm"), "w") as file:
        file.write("1.0 0:0.5 2:1.5\n-2.0\n-3.0 0:0.25 1:2.5 2:1.5\n4 2:-1.5\n")
    pixels = generator.randint(0, 256, (11, 3, 3)).astype(np.uint8)
    with open(path("digits-images"), "wb") as file:
        file.write(np.array([0x803, 11, 3, 3], ">u4").tobytes() + pixels.tobytes())
    with open(path("digits-labels"), "wb") as file:
        file.write(np.array([0x801, 11], ">u4").tobytes() + bytes(range(11)))


def main():
    from data_cases import CASES

    os.makedirs(FOLDER, exist_ok=True)
    make_files()
    arrays = {}
    for name, run in CASES.items():
        arrays.update({f"{name}/{key}": value for key, value in run(mx, FOLDER).items()})
    np.savez_compressed(path("expected.npz"), **arrays)
    print(len(CASES), "cases", len(arrays), "arrays")


if __name__ == "__main__":
    main()
