"""`remx info`: versions, devices and features of this installation, and what is missing."""

import os
import platform
from importlib import metadata

from .._core.version import MXNET_VERSION, REMX_VERSION
from ._output import table

# distribution -> (the extra that brings it, what it is for)
_OPTIONAL = {
    "opencv-python-headless": ("image", "image decoding, mx.image, im2rec"),
    "tqdm": ("progress", "progress bars"),
    "graphviz": ("plot", "mx.viz.plot_network"),
    "matplotlib": ("plot", "curves and pictures"),
    "safetensors": ("safetensors", ".safetensors files"),
    "numba": ("speed", "faster convolutions on the CPU"),
    "tensorboard": ("tensorboard", "mx.contrib.tensorboard"),
    "onnx": ("onnx", "ONNX files"),
    "onnxruntime": ("onnx", "running ONNX files"),
    "starlette": ("serve", "remx serve"),
    "uvicorn": ("serve", "remx serve"),
}
_STAND_INS = {"opencv-python-headless": ("opencv-python", "opencv-contrib-python", "opencv-contrib-python-headless")}


def add(parser):
    """`remx info` has no options."""


def _version(name):
    for each in (name, *_STAND_INS.get(name, ())):
        try:
            return metadata.version(each)
        except metadata.PackageNotFoundError:
            continue
    return None


def _versions():
    import numpy
    import torch

    return [
        ("remx", REMX_VERSION),
        ("API of MXNet", MXNET_VERSION),
        ("python", platform.python_version()),
        ("torch", torch.__version__),
        ("numpy", numpy.__version__),
        ("system", platform.platform()),
    ]


def _devices():
    import torch

    rows = [("mx.cpu()", f"{os.cpu_count()} cores, torch uses {torch.get_num_threads()} threads")]
    for number in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(number)
        rows.append((f"mx.gpu({number})", f"{properties.name}, {properties.total_memory / 2**30:.1f} GiB"))
    virtual = os.environ.get("MXNET_VIRTUAL_GPUS")
    if virtual:
        rows.append(("MXNET_VIRTUAL_GPUS", f"{virtual}: mx.gpu(i) is computed on the CPU"))
    elif len(rows) == 1:
        rows.append(("mx.gpu()", "none; MXNET_VIRTUAL_GPUS=2 would map mx.gpu(0) and mx.gpu(1) to the CPU"))
    return rows


def _packages():
    for name, (extra, use) in _OPTIONAL.items():
        version = _version(name)
        yield name, version or f"missing: pip install 'remx[{extra}]'", use


def run(options):
    """Print what is here."""
    from ..runtime import feature_list

    table(["what", "version"], _versions())
    print()
    table(["device", "what it is"], _devices())
    print()
    table(["package", "version", "for"], list(_packages()))
    enabled = [feature.name for feature in feature_list() if feature.enabled]
    print("\nmx.runtime features: " + ", ".join(enabled))
