"""Saving and loading arrays in MXNet's binary format, and creation by storage type."""

import numpy as np
import torch

from .._core.errors import MXNetError
from .._core.hints import not_opened
from .._device.errors import tells_exhaustion
from .._formats import params
from .._formats.atomic import atomic_write
from .._ops.registry.device import torch_device
from .._ops.registry.torch_dtypes import NAME
from ..context import cpu, gpu, num_gpus
from ..util import is_np_array, is_np_shape
from . import _safetensors
from .functions import array, empty, zeros
from .ndarray import NDArray, wrap

__all__ = ["zeros", "empty", "array", "load", "load_frombuffer", "save"]


def save(fname, data):
    """Write arrays, a list of them or a dict by name; the file is replaced at once or not at all.

    A name that ends in `.safetensors` chooses that format.

    Parameters
    ----------
    fname : str
        The name of the file.
    data : NDArray, list of NDArrays or dict of str to NDArray
        What to save.

    Examples
    --------
    >>> mx.nd.save("arrays.params", {"weight": mx.nd.ones((2,))})
    >>> mx.nd.load("arrays.params")["weight"].asnumpy()
    array([1., 1.], dtype=float32)
    """
    names, arrays = _named(data)
    if _safetensors.is_safetensors(fname):
        _safetensors.save(fname, names, arrays)
        return
    blobs = (blob_of(each) for each in arrays)
    try:
        with atomic_write(fname) as file:
            params.reserve(file, sum(each._t.nbytes for each in arrays if each.stype == "default"))
            params.write(file, params.pieces(names, blobs, len(arrays), is_np_shape() or _odd_shapes(arrays)))
    except OSError as error:
        raise not_opened(fname, error) from None


def _odd_shapes(arrays):
    """Arrays of `mx.np` without axes or elements, which only the newest layout can tell from unknown ones.

    Classic arrays without elements stay in the older layout: MXNet reads them as it wrote them.
    """
    modern = (each.shape for each in arrays if type(each) is not NDArray and each.stype == "default")
    return any(not shape or 0 in shape for shape in modern)


def _named(data):
    """Names and arrays of what a user wants to save."""
    if isinstance(data, NDArray):
        data = [data]
    if isinstance(data, dict):
        names, arrays = list(data), list(data.values())
    elif isinstance(data, list):
        names, arrays = [], data
    else:
        raise ValueError(
            f"data needs to either be a NDArray, dict of str, NDArray pairs or a list of NDarrays, got {type(data)}"
        )
    wrong = [n for n in names if not isinstance(n, str)] + [a for a in arrays if not isinstance(a, NDArray)]
    if wrong:
        raise TypeError(f"save only accept dict str->NDArray or list of NDArray, got {wrong[0]!r} of {type(wrong[0])}")
    return names, arrays


def blob_of(each):
    """An NDArray as a file holds it; the memory is shared where it can be."""
    device = each._ctx.device_typeid, each._ctx.device_id
    if each.stype != "default":
        return _sparse_blob(each, device)
    return params.Blob.dense(_values(each._t.detach()), NAME[each._t.dtype], device)


def _values(tensor):
    tensor = tensor.cpu()
    return (tensor.view(torch.uint16) if tensor.dtype is torch.bfloat16 else tensor).numpy()


def _sparse_blob(each, device):
    """The parts in the order of a file: data, then row starts, then indices."""
    data, *places = each._stored
    kind = params.CSR if each.stype == "csr" else params.ROW_SPARSE
    indices = [place.cpu().numpy() for place in reversed(places)]
    return params.Blob(_values(data), NAME[data.dtype], device, kind, each.shape, indices)


def load(fname):
    """Read what `save` wrote, here or in any MXNet: a list, or a dict if the arrays have names.

    Parameters
    ----------
    fname : str
        The name of the file.

    Returns
    -------
    list of NDArrays or dict of str to NDArray
        What `save` was given.

    Examples
    --------
    >>> mx.nd.save("arrays.params", [mx.nd.ones((2,)), mx.nd.zeros((3,))])
    >>> [x.shape for x in mx.nd.load("arrays.params")]
    [(2,), (3,)]
    """
    if not isinstance(fname, str):
        raise TypeError(f"fname required to be a string, got {type(fname)}")
    if _safetensors.is_safetensors(fname):
        return _safetensors.load(fname)
    return _collect(*params.load(fname), fname)


def load_named(fname):
    """As `load`, for parameters: a list of arrays without names says nothing about whose they are."""
    arrays = load(fname)
    if isinstance(arrays, list) and arrays:
        raise MXNetError(
            f"{fname} holds {len(arrays)} arrays without names; parameters are found by name: save a dict of them, or "
            "read the list with mx.nd.load"
        )
    return arrays or {}


def load_frombuffer(buf):
    """Read the bytes of a file.

    Parameters
    ----------
    buf : bytes
        The content of a file that `save` wrote.

    Returns
    -------
    list of NDArrays or dict of str to NDArray

    Examples
    --------
    >>> mx.nd.save("arrays.params", [mx.nd.ones((2,))])
    >>> with open("arrays.params", "rb") as file:
    ...     mx.nd.load_frombuffer(file.read())[0].asnumpy()
    array([1., 1.], dtype=float32)
    """
    if not isinstance(buf, (str, bytes)):
        raise TypeError(f"buf required to be a string or bytes, got {type(buf)}")
    return _collect(*params.loads(buf.encode("latin-1") if isinstance(buf, str) else buf), "buffer")


def _collect(names, blobs, file):
    if not names:
        return [array_of(blob, f"{file}, array {i}") for i, blob in enumerate(blobs)]
    return {name: array_of(blob, f"{file}, array {name}") for name, blob in zip(names, blobs, strict=True)}


def _check_semantics(blob, name):
    """Sizes of 0 mean different things with and without NumPy's shapes; a file keeps to the one it was saved under."""
    if blob.numpy_shapes and not is_np_shape():
        raise MXNetError(
            f"{name}: ndarray was saved in np shape semantics, must be loaded in the same semantics. Please turn on np "
            "shape semantics in Python using `with np_shape(True)` or decorator `use_np_shape` to scope the code of "
            "loading the ndarray."
        )
    if is_np_shape() and not blob.numpy_shapes and not is_np_array():
        raise MXNetError(
            f"{name}: ndarray was not saved in np shape semantics, but being loaded in np shape semantics. Please turn "
            "off np shape semantics in Python using `with np_shape(False)` to scope the code of loading the ndarray."
        )


@tells_exhaustion
def array_of(blob, name="array", strict=True):
    """An NDArray over the memory that was read, in its storage; it goes back to its GPU if there is one."""
    if strict:
        _check_semantics(blob, name)
    if blob.values is None:
        return wrap(torch.empty(0), cpu())
    values = _native(blob.values)
    tensor = torch.from_numpy(values if values.ndim or blob.numpy_shapes else np.atleast_1d(values))
    if blob.dtype == "bfloat16":
        tensor = tensor.view(torch.bfloat16)
    kind, number = blob.device
    where = gpu(number) if kind == 2 and number < num_gpus() else cpu()
    tensor = tensor.to(torch_device(where))
    return wrap(tensor, where) if blob.storage == params.DENSE else _sparse_of(blob, tensor, where, name)


def _native(values):
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def _sparse_of(blob, data, where, name):
    """A sparse array of a file's parts; a file may claim what it likes, so that they are looked at."""
    from ._sparse.array import CLASSES

    indices = [torch.from_numpy(_native(part).astype(np.int64)).to(data.device) for part in reversed(blob.indices)]
    made = CLASSES[params.STORAGE[blob.storage]]._made((data, *indices), blob.shape, where)
    try:
        made.check_format()
    except MXNetError as error:
        raise MXNetError(f"{name}: the indices of a {made.stype} array do not fit its shape: {error}") from None
    return made


def pickled(array):
    """The bytes of one array, None for one without a value."""
    if array.handle is None:
        return None
    return bytearray(params.dumps_blob(blob_of(array), numpy_shapes=array.ndim == 0))


def unpickled(data):
    """Tensor and context from the bytes of one array; on the CPU that is `cpu(0)`, wherever it was."""
    if data is None:
        return None, cpu()
    made = unpickled_array(data)
    return made._t, made._ctx


def unpickled_array(data):
    """The array, of whatever storage; None for one without a value."""
    if data is None:
        return None
    return array_of(params.loads_blob(bytes(data), "pickled array"), "pickled array", strict=False)
