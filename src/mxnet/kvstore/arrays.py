"""Arrays as `dist_async` sends them: tensors in buffers, and in the header what they are. Nothing in it is code."""

import math

import torch

from .._core.errors import MXNetError
from ..context import cpu
from ..ndarray.ndarray import wrap
from ..ndarray.sparse import row_sparse_array
from .compression import pack, unpack

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.float16, torch.float32, torch.float64, torch.bfloat16),
        *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool),
    )
}
KINDS = {"dense": 1, "rows": 2, "2bit": 1, "none": 0}  # how many tensors each kind of array has
NOTHING = ("none", None, [])  # where a message names a key only


# ---------------------------------------------------------------------- arrays to tensors
def to_wire(array):
    """(kind, what else to know, tensors): a dense array's tensor, or the numbers and the values of its rows."""
    if array.stype == "row_sparse":
        return "rows", list(array.shape), [array.indices._t.cpu(), array.data._t.detach().cpu()]
    if array.stype != "default":
        raise MXNetError(f"dist_async sends dense and row_sparse arrays, not {array.stype}")
    return "dense", None, [array._t.detach().cpu()]


def compressed(compressor, key, array):
    """Two bits for each element."""
    if array.stype != "default":
        raise MXNetError(f"gradient compression needs dense gradients; that of key {key} is {array.stype}")
    tensor = array._t.detach().cpu()
    return "2bit", [list(tensor.shape), compressor.threshold], [pack(compressor.quantize(key, tensor))]


def from_wire(sent):
    """The array that `to_wire` or `compressed` described."""
    kind, rest, tensors = sent
    if kind == "rows":
        indices, values = tensors
        parts = wrap(values, cpu()), wrap(indices, cpu())
        return row_sparse_array(parts, shape=tuple(rest), dtype=values.numpy().dtype)
    [tensor] = tensors
    if kind == "2bit":
        shape, threshold = rest
        tensor = (unpack(tensor, math.prod(shape)).to(torch.float32) * threshold).view(shape)
    return wrap(tensor, cpu())


def size_on_wire(sent):
    """Bytes of the tensors in it."""
    return sum(tensor.numel() * tensor.element_size() for tensor in sent[2])


# ---------------------------------------------------------------------- tensors to buffers
def to_buffers(tensors):
    """(dtypes and shapes, buffers) of tensors."""
    described = [[str(t.dtype).removeprefix("torch."), list(t.shape)] for t in tensors]
    return described, [t.contiguous().reshape(-1).view(torch.uint8).numpy() for t in tensors]


def from_buffers(described, buffers):
    """The tensors again, in the memory they were received in."""
    return [_tensor(one, buffer) for one, buffer in zip(described, buffers, strict=True)]


def _tensor(described, buffer):
    name, shape = described
    dtype = DTYPES.get(name)
    known = dtype is not None and all(type(size) is int and size >= 0 for size in shape)
    if not known or math.prod(shape) * dtype.itemsize != len(buffer):
        raise MXNetError(f"{len(buffer)} bytes are no {str(name)[:20]} array of shape {str(shape)[:80]}")
    return torch.frombuffer(buffer, dtype=dtype).view(shape) if len(buffer) else torch.empty(shape, dtype=dtype)


# ---------------------------------------------------------------------- messages of several arrays
def pack_items(items):
    """(header, buffers) for [(key, sent)]."""
    tensors = [tensor for _, sent in items for tensor in sent[2]]
    described, buffers = to_buffers(tensors)
    return {"items": [[key, kind, rest] for key, (kind, rest, _) in items], "tensors": described}, buffers


def unpack_items(header, buffers):
    """[(key, sent)] of a message."""
    tensors, found = iter(from_buffers(header["tensors"], buffers)), []
    for key, kind, rest in header["items"]:
        if kind not in KINDS or not isinstance(key, (str, int)):
            raise MXNetError(f"a message names an array of unknown kind {str(kind)[:20]!r}")
        found.append((key, (kind, rest, [next(tensors) for _ in range(KINDS[kind])])))
    return found
