"""Saving and loading arrays in MXNet's binary format, and creation by storage type."""

import numpy as np
import torch

from .._core.errors import MXNetError
from .._formats import params
from .._formats.atomic import atomic_write
from .._ops.device import torch_device
from .._ops.dtypes import NAME
from ..context import cpu, gpu, num_gpus
from ..util import is_np_shape
from .functions import array, empty, zeros
from .ndarray import NDArray, wrap

__all__ = ["zeros", "empty", "array", "load", "load_frombuffer", "save"]

_WHAT = "save only accept dict str->NDArray or list of NDArray"


def save(fname, data):
    """Write a list of arrays or a dict of names and arrays; the file is replaced at once or not at all."""
    names, arrays = _named(data)
    blobs = (blob_of(each) for each in arrays)
    try:
        with atomic_write(fname) as file:
            for piece in params.pieces(names, blobs, len(arrays), is_np_shape()):
                file.write(piece)
    except OSError as error:
        raise MXNetError(f'Check failed: allow_null: :Open "{fname}": {error.strerror}') from error


def _named(data):
    """Names and arrays of what a user wants to save."""
    if isinstance(data, NDArray):
        data = [data]
    if isinstance(data, dict):
        names, arrays = list(data), list(data.values())
    elif isinstance(data, list):
        names, arrays = [], data
    else:
        raise ValueError("data needs to either be a NDArray, dict of str, NDArray pairs or a list of NDarrays.")
    if any(not isinstance(n, str) for n in names) or any(not isinstance(a, NDArray) for a in arrays):
        raise TypeError(_WHAT)
    return names, arrays


def blob_of(each):
    """An NDArray as a file holds it; the memory is shared where it can be."""
    tensor = each._t.detach().cpu()
    if tensor.dtype is torch.bfloat16:
        tensor = tensor.view(torch.uint16)
    device = each._ctx.device_typeid, each._ctx.device_id
    return params.Blob.dense(tensor.numpy(), NAME[each._t.dtype], device)


def load(fname):
    """Read what `save` wrote, here or in any MXNet: a list, or a dict if the arrays have names."""
    if not isinstance(fname, str):
        raise TypeError("fname required to be a string")
    return _collect(*params.load(fname), fname)


def load_frombuffer(buf):
    """Read the bytes of a file."""
    if not isinstance(buf, (str, bytes)):
        raise TypeError("buf required to be a string or bytes")
    return _collect(*params.loads(buf.encode("latin-1") if isinstance(buf, str) else buf), "buffer")


def _collect(names, blobs, file):
    if not names:
        return [array_of(blob, f"{file}, array {i}") for i, blob in enumerate(blobs)]
    return {name: array_of(blob, f"{file}, array {name}") for name, blob in zip(names, blobs, strict=True)}


def array_of(blob, name="array"):
    """An NDArray over the memory that was read; it goes back to its GPU if there is one. Sparse ones become dense."""
    if blob.values is None:
        return wrap(torch.empty(0), cpu())
    values = params.densified(blob, name)
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    tensor = torch.from_numpy(np.atleast_1d(values) if not is_np_shape() else values)
    if blob.dtype == "bfloat16":
        tensor = tensor.view(torch.bfloat16)
    kind, number = blob.device
    where = gpu(number) if kind == 2 and number < num_gpus() else cpu()
    return wrap(tensor.to(torch_device(where)), where)
