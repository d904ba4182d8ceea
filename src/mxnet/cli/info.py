"""`remx info`: what a bug report needs: versions, processor, memory, devices, packages, folders, variables, kernels."""

import os
import platform
import shutil
import sys
from importlib import metadata

from .._core.machine.cache_folder import kernel_folder
from .._core.version import MXNET_VERSION, REMX_VERSION
from ._output import add_json, print_json, table

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
_SECRET = ("SECRET", "TOKEN", "PASSWORD", "KEY")


def add(parser):
    """The command's own options."""
    add_json(parser)


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

    return {
        "remx": REMX_VERSION,
        "API of MXNet": MXNET_VERSION,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
        "system": platform.platform(),
    }


def _processor_name():
    """The model's name, which Python knows on some systems only."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def _memory():
    """(bytes of memory, bytes that are free), as far as the system tells."""
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        return page * os.sysconf("SC_PHYS_PAGES"), page * os.sysconf("SC_AVPHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None, None


def _machine():
    import torch
    import torch.backends.cpu

    total, free = _memory()
    shared = shutil.disk_usage("/dev/shm") if os.path.isdir("/dev/shm") else None
    return {
        "processor": _processor_name(),
        "vector instructions": torch.backends.cpu.get_cpu_capability(),
        "cores": os.cpu_count(),
        "threads of torch": torch.get_num_threads(),
        "memory": total,
        "memory free": free,
        "/dev/shm": shared and shared.total,
        "/dev/shm free": shared and shared.free,
    }


def _devices():
    import torch

    rows = {"mx.cpu()": f"{os.cpu_count()} cores, torch uses {torch.get_num_threads()} threads"}
    for number in range(torch.cuda.device_count()):
        properties = torch.cuda.get_device_properties(number)
        rows[f"mx.gpu({number})"] = f"{properties.name}, {properties.total_memory / 2**30:.1f} GiB"
    virtual = os.environ.get("MXNET_VIRTUAL_GPUS")
    if virtual:
        rows["MXNET_VIRTUAL_GPUS"] = f"{virtual}: mx.gpu(i) is computed on the CPU"
    elif len(rows) == 1:
        rows["mx.gpu()"] = "none; MXNET_VIRTUAL_GPUS=2 would map mx.gpu(0) and mx.gpu(1) to the CPU"
    return rows


def _packages():
    return {name: _version(name) for name in _OPTIONAL}


def _folders():
    from ..base import data_dir

    return {
        "package": os.path.dirname(os.path.dirname(__file__)),
        "python": sys.executable,
        "data sets and models": data_dir(),
        "compiled kernels": os.environ.get("NUMBA_CACHE_DIR") or kernel_folder(),
    }


def _variables():
    """Variables that change how programs run; secrets are not shown."""
    wanted = ("MXNET_", "DMLC_", "OMP_", "MKL_", "NUMBA_", "KMP_", "CUDA_VISIBLE")
    return {
        name: "(hidden)" if any(word in name for word in _SECRET) and not name.endswith("_FILE") else value
        for name, value in sorted(os.environ.items())
        if name.startswith(wanted)
    }


def collect():
    """Everything, as one dictionary."""
    from ..runtime import feature_list, kernels

    return {
        "versions": _versions(),
        "machine": _machine(),
        "devices": _devices(),
        "packages": _packages(),
        "folders": _folders(),
        "variables": _variables(),
        "features": [feature.name for feature in feature_list() if feature.enabled],
        "kernels": [{"name": name, "state": state, "reason": reason} for name, state, reason in kernels()],
    }


def _readable(name, value):
    return f"{value / 2**30:.1f} GiB" if isinstance(value, int) and ("memory" in name or "/" in name) else value


def run(options):
    """Print what is here."""
    found = collect()
    if options.json:
        print_json(found)
        return
    table(["what", "version"], found["versions"].items())
    print()
    table(["machine", "what it has"], [(name, _readable(name, value)) for name, value in found["machine"].items()])
    print()
    table(["device", "what it is"], found["devices"].items())
    print()
    rows = [
        (n, v or f"missing: pip install 'remx[{_OPTIONAL[n][0]}]'", _OPTIONAL[n][1])
        for n, v in found["packages"].items()
    ]
    table(["package", "version", "for"], rows)
    print()
    table(["folder", "where"], found["folders"].items())
    if found["variables"]:
        print()
        table(["variable", "value"], found["variables"].items())
    print("\nmx.runtime features: " + ", ".join(found["features"]))
    print("kernels: " + ", ".join(_counted(kernel["state"] for kernel in found["kernels"])))


def _counted(states):
    states = list(states)
    return [f"{states.count(state)} {state}" for state in sorted(set(states))]
