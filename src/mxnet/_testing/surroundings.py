"""What tests need around them: environment variables, contexts, data sets, the platform."""

import contextlib
import os
import platform
import sys

import numpy as np

from .. import base
from .. import ndarray as nd
from .._formats.archives import extract_all, unpack
from ..context import Context, current_context, num_gpus
from ..io import MNISTIter


def default_context():
    """The context tests run in."""
    return current_context()


def set_default_context(ctx):
    """Make `ctx` the current context of this thread until it is set again."""
    Context.default_ctx = ctx


def list_gpus():
    """Numbers of the GPUs."""
    return list(range(num_gpus()))


@contextlib.contextmanager
def environment(*args):
    """Environment variables inside a `with`: a name and a value, or a dict; None unsets."""
    changes = args[0] if len(args) == 1 and isinstance(args[0], dict) else {args[0]: args[1]}
    before = {name: os.environ.get(name) for name in changes}
    _set(changes)
    try:
        yield
    finally:
        nd.waitall()
        _set(before)


def _set(variables):
    os.environ.update({name: value for name, value in variables.items() if value is not None})
    for name in variables.keys() & os.environ.keys():
        if variables[name] is None:
            del os.environ[name]


@contextlib.contextmanager
def discard_stderr():
    """Throw away what the process writes to its error stream inside a `with`."""
    with open(os.devnull, "w") as nowhere, os.fdopen(os.dup(2), "w") as kept:
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept.fileno(), 2)


def is_cd_run():
    """Does a continuous-delivery pipeline run this?"""
    return os.environ.get("CD_JOB", "0") == "1"


def is_aarch64_run():
    """Is the processor 64-bit ARM?"""
    return platform.machine() == "aarch64"


def has_tvm_ops():
    """Are there operators compiled by TVM? Never here."""
    return False


def is_op_runnable():
    """May comparisons run in the current context? MXNet's own, compiled by TVM, need certain GPUs; here all do."""
    return True


def download(url, fname=None, dirname=None, overwrite=False, retries=5):
    """Fetch a file; returns its path."""
    from ..gluon.utils import download as fetch

    name = fname or url.split("/")[-1]
    path = name if dirname is None else os.path.join(dirname, name)
    return fetch(url, path=path, overwrite=overwrite, retries=retries)


_MODELS = {
    "imagenet1k-inception-bn": "inception-bn/Inception-BN",
    "imagenet1k-resnet-18": "resnet/18-layers/resnet-18",
    "imagenet1k-resnet-34": "resnet/34-layers/resnet-34",
    "imagenet1k-resnet-50": "resnet/50-layers/resnet-50",
    "imagenet1k-resnet-101": "resnet/101-layers/resnet-101",
    "imagenet1k-resnet-152": "resnet/152-layers/resnet-152",
}


def download_model(model_name, dst_dir="./", meta_info=None):
    """A model's symbol and parameters from MXNet's model zoo; returns (prefix, epoch), or (None, 0) if unknown."""
    base = "http://data.mxnet.io/models/imagenet/"
    meta = meta_info or {
        n: {"symbol": f"{base}{p}-symbol.json", "params": f"{base}{p}-0000.params"} for n, p in _MODELS.items()
    }
    if model_name not in meta:
        return None, 0
    os.makedirs(dst_dir, exist_ok=True)
    prefix = os.path.join(dst_dir, model_name)
    download(meta[model_name]["symbol"], f"{prefix}-symbol.json")
    download(meta[model_name]["params"], f"{prefix}-0000.params")
    return prefix, 0


def _mnist_file(name):
    """The path of one of MNIST's packed files: in the working folder if it is there, else in the cache."""
    from ..gluon.data.vision import MNIST

    name = f"{name}.gz"
    if os.path.exists(name):
        return name
    cached = os.path.join(base.data_dir(), "datasets", "mnist", name)
    if not os.path.exists(cached):
        MNIST(train=name.startswith("train"))
    return cached


def get_mnist():
    """MNIST as four NumPy arrays: float32 images between 0 and 1 of shape (n, 1, 28, 28), and int8 labels.

    Files in the working folder (`train-images-idx3-ubyte.gz` and so on) are used as they are; those that are missing
    come from the cache folder or the network.
    """
    from ..gluon.data.vision.datasets import read_idx

    parts = {}
    for name, prefix in (("train", "train"), ("test", "t10k")):
        images = read_idx(_mnist_file(f"{prefix}-images-idx3-ubyte"), 0x803)
        labels = read_idx(_mnist_file(f"{prefix}-labels-idx1-ubyte"), 0x801)
        parts[f"{name}_data"] = images.reshape(len(labels), 1, 28, 28).astype(np.float32) / 255
        parts[f"{name}_label"] = labels.astype(np.int8)
    return parts


def get_mnist_ubyte():
    """MNIST's four raw files under `data/`: those that are there, those of `data/mnist.zip`, else the cache's."""
    names = [f"{p}-{s}" for p in ("train", "t10k") for s in ("images-idx3-ubyte", "labels-idx1-ubyte")]
    os.makedirs("data", exist_ok=True)
    missing = [name for name in names if not os.path.exists(os.path.join("data", name))]
    if missing and os.path.exists("data/mnist.zip"):
        extract_all("data/mnist.zip", "data")
        missing = []
    for name in missing:
        unpack(_mnist_file(name), os.path.join("data", name))


def get_mnist_pkl():
    """MNIST in one pickled file under `data/`."""
    os.makedirs("data", exist_ok=True)
    if not os.path.exists("data/mnist.pkl.gz"):
        download("http://deeplearning.net/data/mnist/mnist.pkl.gz", dirname="data")


def get_cifar10():
    """CIFAR-10 as record files under `data/cifar/`."""
    os.makedirs("data", exist_ok=True)
    names = [f"data/cifar/{part}.{kind}" for part in ("train", "test") for kind in ("rec", "lst")]
    if not all(map(os.path.exists, names)):
        extract_all(download("http://data.mxnet.io/mxnet/data/cifar10.zip", dirname="data"), "data")


def get_mnist_iterator(batch_size, input_shape, num_parts=1, part_index=0):
    """Training and validation iterators over MNIST."""
    get_mnist_ubyte()
    shared = dict(input_shape=input_shape, batch_size=batch_size, flat=len(input_shape) != 3)
    shared.update(num_parts=num_parts, part_index=part_index)
    train = MNISTIter(
        image="data/train-images-idx3-ubyte", label="data/train-labels-idx1-ubyte", shuffle=True, **shared
    )
    val = MNISTIter(image="data/t10k-images-idx3-ubyte", label="data/t10k-labels-idx1-ubyte", **shared)
    return train, val


def get_zip_data(data_dir, url, data_origin_name):
    """Fetch an archive into a folder and unpack it there."""
    os.makedirs(data_dir, exist_ok=True)
    path = os.path.join(data_dir, data_origin_name)
    if not os.path.exists(path):
        download(url, dirname=data_dir, fname=data_origin_name)
        extract_all(path, data_dir)


def get_bz2_data(data_dir, data_name, url, data_origin_name):
    """Fetch a bz2 file into a folder and unpack it there."""
    os.makedirs(data_dir, exist_ok=True)
    target, packed = os.path.join(data_dir, data_name), os.path.join(data_dir, data_origin_name)
    if not os.path.exists(target):
        download(url, fname=data_origin_name, dirname=data_dir, overwrite=False)
        unpack(packed, target)
        os.remove(packed)


def get_im2rec_path(home_env="MXNET_HOME"):
    """The path of the im2rec program."""
    from ..tools import im2rec

    return im2rec.__file__


__all__ = [n for n, v in list(globals().items()) if getattr(v, "__module__", None) == __name__ and n[0] != "_"]
