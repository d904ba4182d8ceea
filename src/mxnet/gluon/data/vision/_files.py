"""Files of the image data sets: where they are fetched, how they are judged, and what they can be converted from."""

import gzip
import hashlib
import os
import struct
import tempfile

import numpy as np

from ...._core.errors import MXNetError
from ...._formats import npz
from ...._formats.archives import extract, sha1_of, unpacked
from ...._formats.atomic import atomic_write
from ...._formats.cifar_pickles import as_binary
from ...._formats.fetch import own_mirrors, replace_file
from ...._formats.mirrors import Candidate, addresses, first_accepted

LARGEST = 1 << 30
# The SHA-256 of what is in the gzipped files: hosts have packed the same arrays with different programs.
_CONTENT = {
    "mnist/train-images-idx3-ubyte.gz": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "mnist/train-labels-idx1-ubyte.gz": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "mnist/t10k-images-idx3-ubyte.gz": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "mnist/t10k-labels-idx1-ubyte.gz": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    "fashion-mnist/train-images-idx3-ubyte.gz": "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    "fashion-mnist/train-labels-idx1-ubyte.gz": "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    "fashion-mnist/t10k-images-idx3-ubyte.gz": "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    "fashion-mnist/t10k-labels-idx1-ubyte.gz": "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
}
# Keras' archive of all four arrays of MNIST
_ARRAYS = {"mnist": "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz"}
# The pickles of the Python version: where they are, and [(pickle, file of the binary version)] with the labels' names
_PICKLES = {
    "cifar10": (
        "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
        {f"data_batch_{i}": f"data_batch_{i}.bin" for i in range(1, 6)} | {"test_batch": "test_batch.bin"},
        ("labels",),
    ),
    "cifar100": (
        "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
        {"train": "train.bin", "test": "test.bin"},
        ("coarse_labels", "fine_labels"),
    ),
}


def _check(path, namespace, name, sha1):
    """Raise unless the file, or the array in it, is the published one."""
    if sha1_of(path) == sha1:
        return
    content, expected = hashlib.sha256(unpacked(path, largest=LARGEST)).hexdigest(), _CONTENT.get(f"{namespace}/{name}")
    if content != expected:
        raise MXNetError(f"another content: its SHA-1 is {sha1_of(path)}, not {sha1}")


def is_right(path, namespace, name, sha1):
    """Is the file there, with the published array in it?"""
    try:
        _check(path, namespace, name, sha1)
    except (FileNotFoundError, MXNetError):
        return False
    return True


def obtain(root, namespace, name, sha1):
    """The path of a gzipped IDX file, fetched unless the right one is there."""
    path = os.path.join(root, name)
    if is_right(path, namespace, name, sha1):
        return path

    def accept(fetched):
        _check(fetched, namespace, name, sha1)
        replace_file(fetched, path)

    def convert(fetched):
        packed = os.path.join(os.path.dirname(fetched), name)
        _write_idx(packed, _array(fetched, name))
        accept(packed)

    candidates = [Candidate(url, accept) for url in addresses(f"gluon/dataset/{namespace}", name)]
    if namespace in _ARRAYS and not own_mirrors():
        candidates.append(Candidate(_ARRAYS[namespace], convert))
    first_accepted(candidates, (path, sha1))
    return path


def _array(path, name):
    part, kind = ("train" if name.startswith("train") else "test"), ("x" if "images" in name else "y")
    arrays = npz.read(path)
    if f"{kind}_{part}" not in arrays:
        raise MXNetError(f"it has no array {kind}_{part}")
    return arrays[f"{kind}_{part}"].astype(np.uint8)


def _write_idx(path, array):
    """An array of bytes as a gzipped IDX file."""
    header = struct.pack(f">{1 + array.ndim}I", 0x800 + array.ndim, *array.shape)
    with gzip.open(path, "wb") as file:
        file.write(header + array.tobytes())


def obtain_members(root, namespace, archive, sha1, members):
    """Put the files `members` (name to SHA-1) of an archive into `root`; only their own hashes count."""

    def accept(fetched):
        extract(fetched, members, root, largest=1 << 28)

    candidates = [Candidate(url, accept) for url in addresses(f"gluon/dataset/{namespace}", archive)]
    if namespace in _PICKLES and not own_mirrors():
        url, names, labels = _PICKLES[namespace]
        candidates.append(Candidate(url, lambda fetched: _convert_pickles(fetched, root, names, labels, members)))
    first_accepted(candidates, (os.path.join(root, archive), sha1))


def _convert_pickles(archive, root, names, labels, members):
    with tempfile.TemporaryDirectory(dir=root, prefix=".fetch-") as folder:
        wanted = {pickled: None for pickled, name in names.items() if name in members}
        for path in extract(archive, wanted, folder, largest=1 << 28):
            _place_batch(as_binary(path, labels), root, names[os.path.basename(path)], members)


def _place_batch(content, root, name, members):
    if hashlib.sha1(content).hexdigest() != members[name]:
        raise MXNetError(f"another content: {name} made from it has not the SHA-1 {members[name]}")
    with atomic_write(os.path.join(root, name)) as file:
        file.write(content)
