"""Files of named arrays that `remx convert` reads and writes: MXNet's, safetensors, NumPy's and PyTorch's."""

from pathlib import Path

import numpy as np

from .._core.dtypes import FLAGS, dtype_name
from .._core.errors import MXNetError
from .._formats import npz
from .._formats.atomic import atomic_write

DENSE_ONLY = (".safetensors", ".npz", ".pt", ".pth")


def read(path):
    """{name: array} of a file."""
    if not Path(path).is_file():
        raise MXNetError(f"{path} is a folder" if Path(path).is_dir() else f"there is no file {path}")
    arrays = _READERS.get(Path(path).suffix, _read_mxnet)(str(path))
    if not isinstance(arrays, dict):
        raise MXNetError(f"{path} holds {len(arrays)} arrays without names; parameters have names")
    return arrays


def write(path, arrays):
    """Write {name: array}; returns the names of sparse arrays that had to become dense."""
    suffix, sparse = Path(path).suffix, []
    if suffix in DENSE_ONLY:
        sparse = [name for name, array in arrays.items() if array.stype != "default"]
        arrays = {name: array.tostype("default") if name in sparse else array for name, array in arrays.items()}
    _WRITERS.get(suffix, _write_mxnet)(str(path), arrays)
    return sparse


def _read_mxnet(path):
    from .. import ndarray

    return ndarray.load(path) or {}


def _write_mxnet(path, arrays):
    from .. import ndarray

    ndarray.save(path, arrays)


def _read_npz(path):
    return {name: _array(values, name) for name, values in npz.read(path).items()}


def _array(values, name):
    from .. import ndarray

    if values.dtype.name not in FLAGS:
        raise MXNetError(f"array {name}: MXNet has no arrays of {values.dtype.name}, only of {', '.join(FLAGS)}")
    native = np.atleast_1d(values).astype(values.dtype.newbyteorder("="), copy=False)
    return ndarray.array(native, dtype=native.dtype)


def _write_npz(path, arrays):
    narrow = [name for name, array in arrays.items() if dtype_name(array.dtype) == "bfloat16"]
    if narrow:
        names = ", ".join(narrow[:3]) + (", …" if len(narrow) > 3 else "")
        raise MXNetError(f"NumPy's files hold no bfloat16, as there is in {names}: choose .safetensors or .pt")
    with atomic_write(path) as file:
        np.savez(file, **{name: array.asnumpy() for name, array in arrays.items()})


def _read_torch(path):
    import torch

    from .._ops.registry.torch_dtypes import NAME
    from ..gluon.model_zoo._torch_weights.published import tensors
    from ..ndarray import from_torch

    found = tensors(path, ("state_dict",))
    wrong = [f"{name} ({tensor.dtype})" for name, tensor in found.items() if tensor.dtype not in NAME]
    if wrong:
        raise MXNetError(f"MXNet has no such arrays: {', '.join(wrong)}")
    return {name: from_torch(torch.atleast_1d(tensor).contiguous()) for name, tensor in found.items()}


def _write_torch(path, arrays):
    import torch

    with atomic_write(path) as file:
        torch.save({name: array.as_torch().detach().cpu().clone() for name, array in arrays.items()}, file)


_READERS = {".npz": _read_npz, ".pt": _read_torch, ".pth": _read_torch}
_WRITERS = {".npz": _write_npz, ".pt": _write_torch, ".pth": _write_torch}
