"""Two simulated GPUs for a CPU build of torch: `simulated.start()` before anything imports torch.

Tensors on `cuda:0` and `cuda:1` have real values and gradients. What a real device refuses is refused: tensors of two
devices in one call, operators without a CUDA kernel, host code that reads device memory (it faults). `EVENTS` collects
what costs time or is wrong, each with the lines of the library that led to it:

- `sync`: the host waited for a device; `h2d`: bytes were copied to a device; `d2h`: a copy to pinned memory
- `race`: a stream used memory that another one may not have finished with, or pinned memory changed under a copy
- `assert`: an index out of range in a kernel, which ends a real process's use of its GPU
"""

import collections
import contextlib
import ctypes
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
KNOWN = ("2.13.0",)  # versions of torch whose internals `device.cpp` fits
CAPACITY = 16 << 30
EVENTS = []
_STATE = {"library": None, "watching": True, "capturing": False, "syncs": 0}
_RANDOM_STATE = 5056  # bytes in the state of a Mersenne twister of torch

Event = collections.namedtuple("Event", "kind what lines")


def why_not():
    """The reason why the simulation cannot run here, or None."""
    version = importlib.metadata.version("torch").split("+")[0]
    if version not in KNOWN:
        return f"the simulated GPU knows torch {', '.join(KNOWN)}, this is {version}"
    if not sys.platform.startswith("linux"):
        return "the simulated GPU is built for Linux"
    if shutil.which("g++") is None:
        return "the simulated GPU needs g++"
    if importlib.util.find_spec("yaml") is None:
        return "the simulated GPU needs PyYAML to read torch's table of kernels"
    return None


def build():
    """The shared library, compiled once for each state of the sources and installation of torch."""
    import fcntl  # which Windows lacks

    sources = [HERE / name for name in ("memory.h", "runtime.h", "device.cpp")]
    root = Path(importlib.util.find_spec("torch").origin).parent
    digest = hashlib.sha256(str(root).encode() + b"".join(s.read_bytes() for s in sources)).hexdigest()[:16]
    folder = Path(os.environ.get("REMX_SIMULATED_GPU", Path(tempfile.gettempdir()) / "remx-simulated-gpu"))
    library = folder / f"torch-{importlib.metadata.version('torch')}-{digest}.so"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # processes that start together wait for the one that compiles
        if not library.exists():
            _compile(library, root)
    return library


def _compile(library, root):
    made = library.with_suffix(f".{os.getpid()}")
    include = [f"-I{root / 'include'}", f"-I{root / 'include/torch/csrc/api/include'}"]
    link = [f"-L{root / 'lib'}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{root / 'lib'}"]
    options = ["-O1", "-std=c++20", "-fPIC", "-shared", "-w"]
    subprocess.run(["g++", *options, *include, str(HERE / "device.cpp"), "-o", str(made), *link], check=True)
    made.replace(library)


def start(devices=2):
    """Load the simulation and let torch find `devices` GPUs."""
    if "torch" in sys.modules:
        raise RuntimeError("the simulated GPU must be loaded before torch, which looks for CUDA once")
    library = _STATE["library"] = ctypes.CDLL(str(build()), mode=ctypes.RTLD_GLOBAL)
    for name in ("sim_used", "sim_peak"):
        getattr(library, name).restype = ctypes.c_long
    for name in ("sim_seen", "sim_synchronize"):
        getattr(library, name).restype = ctypes.c_char_p
    library.sim_limit.argtypes = [ctypes.c_int, ctypes.c_long]
    library.sim_seed.argtypes = [ctypes.c_int, ctypes.c_ulong]
    library.sim_devices(devices)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)
    _STATE["listener"] = kind(lambda kind, what: note(kind.decode(), what.decode()))
    library.sim_listen(_STATE["listener"])
    for name in without_kernel("CUDA"):
        library.sim_refuse(name.encode())
    from . import cuda

    cuda.install(library, devices)
    return library


def without_kernel(key):
    """Operators that have a CPU kernel and none under the dispatch key `key`, from torch's own table."""
    import torchgen
    import yaml

    path = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    table = yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    rows = {row["func"].split("(")[0]: row for row in table}

    def has(row, wanted):
        if "structured_delegate" in row:
            return has(rows[row["structured_delegate"]], wanted)
        keys = {k.strip() for ks in row.get("dispatch", {}) for k in ks.split(",")}
        return not keys or wanted in keys or any(k.startswith("Composite") for k in keys)

    return {"aten::" + name for name, row in rows.items() if has(row, "CPU") and not has(row, key)}


def _lines():
    """The innermost lines of the library that led here."""
    found, frame = [], sys._getframe(2)
    while frame and len(found) < 4:
        name = frame.f_code.co_filename
        if "/mxnet/" in name or name.startswith("<operator"):
            found.append(f"{name.split('/mxnet/')[-1]}:{frame.f_lineno} {frame.f_code.co_name}")
        frame = frame.f_back
    return tuple(found)


def note(kind, what):
    """Add an event."""
    _STATE["syncs"] += kind == "sync"
    if _STATE["watching"]:
        EVENTS.append(Event(kind, what, _lines()))


@contextlib.contextmanager
def unwatched():
    """What happens inside leaves no event: a test that reads results."""
    before, _STATE["watching"] = _STATE["watching"], False
    try:
        yield
    finally:
        _STATE["watching"] = before


@contextlib.contextmanager
def watched():
    """The events of what happens inside, as a list."""
    found, first = [], len(EVENTS)
    yield found
    _STATE["library"].sim_synchronize()  # a copy whose source has changed shows now
    found += EVENTS[first:]


def of_kind(events, *kinds):
    """Events of some kinds."""
    return [e for e in events if e.kind in kinds]


def forget():
    """Forget what ran."""
    _STATE["library"].sim_forget()


def seen():
    """Names of torch's operators that ran on a device: ` f64` behind those on float64, ` tf32` if rounded to it."""
    return set(_STATE["library"].sim_seen().decode().split("\n")) - {""}


@contextlib.contextmanager
def memory_limit(more, device=0):
    """A device on which only `more` bytes are free."""
    library = _STATE["library"]
    library.sim_limit(device, library.sim_used(device) + more)
    try:
        yield
    finally:
        library.sim_limit(device, 0)


@contextlib.contextmanager
def failing(operator):
    """A device on which an operator of torch's fails while it runs, which CUDA reports at the next synchronization."""
    library = _STATE["library"]
    library.sim_fail(operator.encode())
    try:
        yield
    finally:
        library.sim_heal()


@contextlib.contextmanager
def lacking(*operators, float64=True):
    """A device without some of torch's operators, or without float64, as Apple's GPUs are."""
    library = _STATE["library"]
    for name in operators:
        library.sim_refuse(name.encode())
    library.sim_float64(int(float64))
    try:
        yield
    finally:
        for name in operators:
            library.sim_allow(name.encode())
        library.sim_float64(1)
