"""How fast data comes: images and records per second, beside real MXNet where `REMX_MXNET_PYTHON` names its Python.

python benchmarks/data.py [--images 512] [--repeats 3] [--only ImageRecordIter]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

SIZE, CROP, BATCH = 256, 224, 32
GOALS = {"ImageRecordIter": 1.2, "DataLoader": 1.2, "RecordIO": 0.9, "NDArrayIter": 1.0}


def make_records(stem, count):
    """JPEGs that look like photographs to a decoder: smooth areas with some noise."""
    import cv2

    import mxnet as mx

    random = np.random.RandomState(0)
    writer = mx.recordio.MXIndexedRecordIO(stem + ".idx", stem + ".rec", "w")
    for i in range(count):
        coarse = random.randint(0, 256, (9, 12, 3)).astype(np.uint8)
        image = cv2.resize(coarse, (SIZE + 64, SIZE), interpolation=cv2.INTER_CUBIC).astype(np.int16)
        image = np.clip(image + random.randint(-12, 13, image.shape), 0, 255).astype(np.uint8)
        writer.write_idx(i, mx.recordio.pack_img(mx.recordio.IRHeader(0, float(i % 10), i, 0), image, quality=90))
    writer.close()


def image_record_iter(stem, threads=2):
    """Decode, random crop, mirror, normalize."""
    import mxnet as mx

    iterator = mx.io.ImageRecordIter(
        path_imgrec=stem + ".rec",
        data_shape=(3, CROP, CROP),
        batch_size=BATCH,
        rand_crop=True,
        rand_mirror=True,
        mean_r=123.68,
        mean_g=116.28,
        mean_b=103.53,
        std_r=58.395,
        std_g=57.12,
        std_b=57.375,
        preprocess_threads=threads,
        prefetch_buffer=4,
        shuffle=True,
        verbose=False,
    )

    def epoch():
        iterator.reset()
        count = 0
        for batch in iterator:
            batch.data[0].wait_to_read()
            count += BATCH - batch.pad
        return count

    return epoch


def data_loader(stem):
    """The same work through Gluon, by two worker processes."""
    from mxnet.gluon.data import DataLoader
    from mxnet.gluon.data.vision import ImageRecordDataset, transforms

    transform = transforms.Compose(
        [
            transforms.RandomResizedCrop(CROP),
            transforms.RandomFlipLeftRight(),
            transforms.ToTensor(),
            transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
        ]
    )
    dataset = ImageRecordDataset(stem + ".rec").transform_first(transform)
    loader = DataLoader(dataset, BATCH, shuffle=True, num_workers=2)

    def epoch():
        count = 0
        for data, _ in loader:
            data.wait_to_read()
            count += data.shape[0]
        return count

    return epoch


def record_io(stem):
    """Sequential reading of raw records."""
    import mxnet as mx

    def epoch():
        count = 0
        for _ in range(20):
            reader = mx.recordio.MXRecordIO(stem + ".rec", "r")
            while reader.read() is not None:
                count += 1
            reader.close()
        return count

    return epoch


def ndarray_iter(_):
    """Batches cut from arrays in memory."""
    import mxnet as mx

    iterator = mx.io.NDArrayIter(mx.nd.zeros((20000, 100)), mx.nd.zeros(20000), batch_size=BATCH)

    def epoch():
        iterator.reset()
        count = 0
        for batch in iterator:
            batch.data[0].wait_to_read()
            count += BATCH
        return count

    return epoch


MEASURES = {
    "ImageRecordIter": image_record_iter,
    "DataLoader": data_loader,
    "RecordIO": record_io,
    "NDArrayIter": ndarray_iter,
}


def rate(name, stem, repeats):
    """Best items per second of several epochs, after one that warms up."""
    epoch = MEASURES[name](stem)
    epoch()
    best = 0.0
    for _ in range(repeats):
        start = time.perf_counter()
        count = epoch()
        best = max(best, count / (time.perf_counter() - start))
    return best


def measured_by(python, name, stem, repeats, peer=False):
    """The rate in a fresh process of that interpreter; a peer must not find ReMX on its path."""
    environment = {key: value for key, value in os.environ.items() if not (peer and key == "PYTHONPATH")}
    command = [python, os.path.abspath(__file__), "--measure", name, "--stem", stem, "--repeats", str(repeats)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    if done.returncode:
        raise RuntimeError(f"{python}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=512)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=list(MEASURES))
    parser.add_argument("--measure", choices=list(MEASURES), help=argparse.SUPPRESS)
    parser.add_argument("--stem", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(rate(args.measure, args.stem, args.repeats)))
        return
    peer = os.environ.get("REMX_MXNET_PYTHON")
    with tempfile.TemporaryDirectory() as folder:
        stem = os.path.join(folder, "images")
        make_records(stem, args.images)
        print(f"{'items per second':18}{'ReMX':>12}{'MXNet':>12}{'ratio':>8}{'goal':>6}")
        for name in [args.only] if args.only else MEASURES:
            mine = measured_by(sys.executable, name, stem, args.repeats)
            theirs = measured_by(peer, name, stem, args.repeats, peer=True) if peer else None
            compared = f"{theirs:12.0f}{mine / theirs:8.2f}{GOALS[name]:6.1f}" if theirs else ""
            print(f"{name:18}{mine:12.0f}{compared}", flush=True)


if __name__ == "__main__":
    main()
