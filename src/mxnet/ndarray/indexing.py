"""Indexing: NumPy's rules with MXNet's habits (no zero-dim results, float indices, negative steps, shared slices)."""

import operator

import numpy as np
import torch

from .._core.errors import MXNetError
from .._core.writes import WRITES, span, wrote
from .._device import late
from .._device.copies import FLIGHTS, put, settle
from .._device.errors import tells_exhaustion
from .._ops.registry.torch_dtypes import number_for
from ..util import NUMPY_SHAPES_ASKED, is_np_shape
from ._dispatch.invoke import IN_PLACE

_BASIC = frozenset({int, slice, type(None), type(Ellipsis)})
_WHOLE = slice(None)
_ONE = (1,)


def quick(tensor, key):
    """What torch reads as MXNet does: a number of a vector, a tuple of numbers and slices, an array of whole numbers.

    None where only `read` knows; what torch refuses is for `read`, too, which says it in MXNet's words.
    """
    kind = key.__class__
    if kind is tuple:
        return of_tuple(tensor, key)
    if kind is int:
        return _element(tensor, (key,)) if tensor.dim() == 1 else None
    if _is_array(key) and tensor.is_cpu and tensor.dim() and not key._t.requires_grad:
        index = key._t.data
        if index.dtype is not torch.bool and index.dim():
            return _rows(tensor, index)
    return None


def of_tuple(tensor, key):
    """One element, a column, or whatever numbers and slices mark."""
    size = len(key)
    if size and key[-1].__class__ is int:
        if size == tensor.dim() and key[0].__class__ is int:
            part = _element(tensor, key)
            if part is not None:
                return part
        elif size == 2 and key[0] == _WHOLE and tensor.shape[0] > 1 and tensor.shape[1] > 1 and tensor.is_contiguous():
            return torch.select_copy(tensor, 1, key[1])  # elsewhere the result would share memory
    if not size or not tensor.is_contiguous() or not _BASIC.issuperset(map(type, key)) or key.count(...) > 1:
        return None
    part = tensor[key]
    if not part.dim():
        return _single(part)
    return part if part.is_contiguous() else part.clone(memory_format=torch.contiguous_format)


def _element(tensor, key):
    """The one element at `key`, an entry for each axis, as an array of one; None where there is no such place."""
    place = tensor.storage_offset()
    for number, size, step in zip(key, tensor.shape, tensor.stride()):  # noqa: B905 - a tenth of the call
        if number.__class__ is not int or not -size <= number < size:
            return None
        place += (number if number >= 0 else number + size) * step
    if NUMPY_SHAPES_ASKED[0] and is_np_shape():
        return tensor[key]
    if tensor.requires_grad:  # of which a slice has the simpler history
        return tensor[(*key[:-1], slice(key[-1], key[-1] + 1 or None))]
    return torch.as_strided(tensor, _ONE, _ONE, place)


def _single(element):
    """One element as MXNet gives it: an array of one, under NumPy's shapes one without axes."""
    return element if NUMPY_SHAPES_ASKED[0] and is_np_shape() else element.reshape(1)


def _rows(tensor, index):
    """The rows that an index names; `index_select` is the quickest, and refuses numbers that count from the end."""
    if index.dtype is not torch.int64 and (index.dtype is not torch.int32 or index.dim() > 1):
        index = index.long()
    if index.dim() == 1:
        try:
            return torch.index_select(tensor, 0, index)
        except (IndexError, RuntimeError):
            index = index.long()
    return tensor[index]


def stored(tensor, key, value):
    """`tensor[key] = value` for numbers, slices and tuples of them; False where only `store` knows how."""
    kind = key.__class__
    if kind is tuple:
        if not key or not _BASIC.issuperset(map(type, key)) or key.count(...) > 1:
            return False
    elif kind is not int and kind is not slice:
        return False
    try:
        target = tensor.data if tensor.requires_grad else tensor
        if FLIGHTS:
            settle(target)
        if kind is not slice or key != _WHOLE or not target.dim():
            target = target[key]
        if value.__class__ is float or value.__class__ is int:
            if not target.is_floating_point():
                return False
            target.fill_(value)
        else:
            source = getattr(value, "_t", None)
            if source is None or source.shape != target.shape:
                return False
            put(target, source.data if source.requires_grad else source)
        if WRITES.watched:
            WRITES.log.append((target.data_ptr(), target.nbytes) if target.is_contiguous() else span(target))
        return True
    except (IndexError, TypeError, ValueError, RuntimeError):
        return False


def _is_array(key):
    return hasattr(key, "_t")


def _index_tensor(key, device):
    """An index array as a tensor of integers or booleans."""
    if _is_array(key):
        t = key._t.detach()
    else:
        t = torch.as_tensor(np.asarray(key))
    if t.dtype not in (torch.bool, torch.int64):
        t = t.to(torch.int64)
    return t.to(device, non_blocking=t.is_cpu)


def _number(value):
    """Slice bounds may be one-element arrays or NumPy integers."""
    if value is None or type(value) is int:
        return value
    return int(value.asscalar()) if hasattr(value, "asscalar") else operator.index(value)


def normalize(key, shape, device):
    """Split a key into (one entry per axis: int, slice or tensor, with None for new axes); checks bounds."""
    if not len(shape) and isinstance(key, slice) and key == slice(None):
        return []  # `x[:]` is the whole of an array without axes, too
    parts = list(key) if isinstance(key, tuple) else [key]
    consumed = sum(_axes(p) for p in parts if p is not None and p is not Ellipsis)
    if consumed > len(shape):
        raise IndexError(f"too many indices ({consumed}) for array with {len(shape)} dimensions")
    dots = [i for i, p in enumerate(parts) if p is Ellipsis]
    if len(dots) > 1:
        raise IndexError("Cannot use more than one ellipsis (`...`) for indexing")
    fill = [slice(None)] * (len(shape) - consumed)
    if dots:
        parts[dots[0] : dots[0] + 1] = fill
    else:
        parts += fill
    result, axis = [], 0
    for part in parts:
        if part is None:
            result.append(None)
            continue
        result.append(_entry(part, axis, shape, device))
        axis += _axes(part)
    return result if is_basic(result) else _beside_arrays(result, device)


def _beside_arrays(entries, device):
    """Numbers beside index arrays are index arrays, too: of `x[0, :, [0, 1]]` the arrays' axis comes first."""
    shapes = [e.shape for e in entries if isinstance(e, torch.Tensor) and e.dtype is not torch.bool]
    try:
        together = np.broadcast_shapes(*shapes)  # torch's own imports sympy, half a second
    except ValueError:
        raise ValueError(
            f"index arrays of shapes {', '.join(str(tuple(s)) for s in shapes)} do not broadcast"
        ) from None
    if len(entries) == 1 or (shapes and not together):
        return entries
    return [torch.full((1,), e, device=device) if isinstance(e, int) else e for e in entries]


def _axes(part):
    """How many axes a key entry consumes: a boolean mask takes as many as it has."""
    if isinstance(part, (bool, np.bool_)):
        return 0
    dtype = getattr(part, "dtype", None)
    if dtype is not None and not isinstance(part, np.generic) and dtype in (np.bool_, torch.bool):
        return len(part.shape)
    if isinstance(part, list) and part and isinstance(np.asarray(part).flat[0], np.bool_):
        return np.asarray(part).ndim
    return 1


def _entry(part, axis, shape, device):
    if isinstance(part, slice):
        bounds = slice(_number(part.start), _number(part.stop), _number(part.step))
        places = range(shape[axis])[bounds]
        # one place alone is found without going backwards, which would need a copy
        return slice(places[0], places[0] + 1) if places.step < 0 and len(places) == 1 else bounds
    if isinstance(part, (int, np.integer)) and not isinstance(part, (bool, np.bool_)):
        size = shape[axis]
        if not -size <= part < size:
            raise IndexError(f"index {part} is out of bounds for axis {axis} with size {size}")
        return int(part)
    if isinstance(part, (list, tuple, np.ndarray, range)) or _is_array(part):
        if isinstance(part, range):
            part = list(part)
        index = _index_tensor(part, device)
        return _checked(index, axis, shape)
    raise ValueError(f"NDArray does not support slicing with key {part} of type {type(part)}.")


def _checked(index, axis, shape):
    if index.dtype is torch.bool:
        wanted = tuple(shape[axis : axis + index.dim()])
        if tuple(index.shape) != wanted:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}: "
                f"the array has {wanted}, the mask has {tuple(index.shape)}"
            )
        return index
    size = shape[axis]
    if not index.numel():
        return index
    low, high = index.aminmax()

    def outside():
        wrong = int(low) if int(low) < -size else int(high)
        return IndexError(f"index {wrong} is out of bounds for axis {axis} with size {size}")

    late.require((low >= -size) & (high < size), outside)
    return index if index.is_cpu else index.clamp(-size, size - 1)  # a GPU that reads elsewhere ends the process


def is_basic(entries):
    """Are there no index arrays in a normalized key?"""
    return not any(isinstance(e, torch.Tensor) for e in entries)


def shares(entries, shape):
    """Would MXNet's result be one run of memory (and so share it)? Decided by the key and the shape alone."""
    spans, axis = [], 0
    for entry in entries:
        if entry is not None:
            size = shape[axis]
            places = range(size)[entry] if isinstance(entry, slice) else (entry,)
            spans.append((len(places), size, getattr(places, "step", 1)))
            axis += 1
    if any(length == 0 for length, _, _ in spans):
        return True
    partial = False
    for length, size, step in reversed(spans):
        if length > 1 and (partial or step != 1):
            return False
        partial = partial or length != size
    return True


def read(tensor, key):
    """`tensor[key]`; the second result tells whether MXNet would share the memory."""
    entries = normalize(key, tensor.shape, tensor.device)
    shared = is_basic(entries) and shares(entries, tensor.shape)
    result = taken(tensor, entries)
    return result if result.dim() else _single(result), shared


def index_variables(key):
    """Index arrays of a key that are variables or results of a recorded graph."""
    parts = key if isinstance(key, tuple) else (key,)
    return [part for part in parts if _is_array(part) and part._t.requires_grad]


def covers(tensor, key):
    """Does a key mark the whole of a tensor, as it lies in memory?"""
    part, _ = read(tensor, key)
    return part.data_ptr() == tensor.data_ptr() and part.numel() == tensor.numel()


def check_whole(tensor, key):
    """A recorded value can become an array, but no part of one, which would have two histories."""
    if not covers(tensor, key):
        raise MXNetError(
            f"Check failed: AGInfo::IsNone(*output): {IN_PLACE} "
            "Put the parts together with concat, stack or where instead."
        )


def taken(tensor, entries):
    """What a normalized key marks, steps that run backwards included."""
    flipped, entries = _flip_negative(tensor, entries)
    return flipped[tuple(entries)]


def _flip_negative(tensor, entries):
    """torch has no negative steps: turn the axis round and count from the other end."""
    if not any(isinstance(e, slice) and e.step is not None and e.step < 0 for e in entries):
        return tensor, entries
    axes, changed, axis = [], [], 0
    for entry in entries:
        if isinstance(entry, slice) and entry.step is not None and entry.step < 0:
            size = tensor.shape[axis]
            count = len(range(*entry.indices(size)))
            start = entry.indices(size)[0]
            begin = size - 1 - start
            changed.append(slice(begin, begin + (count - 1) * -entry.step + 1 if count else begin, -entry.step))
            axes.append(axis)
        else:
            changed.append(entry)
        axis += 0 if entry is None else _consumes(entry)
    return _flipped(tensor, axes), changed


_flipped = tells_exhaustion(torch.flip)


def _consumes(entry):
    return entry.dim() if isinstance(entry, torch.Tensor) and entry.dtype is torch.bool else 1


@tells_exhaustion
def store(tensor, key, value):
    """`tensor[key] = value` in place; `value` is a tensor or a number."""
    settle(tensor)
    entries = normalize(key, tensor.shape, tensor.device)
    if any(isinstance(e, slice) and e.step is not None and e.step < 0 for e in entries):
        entries = _places(tensor, entries)
    if isinstance(value, torch.Tensor):
        value = value.to(dtype=tensor.dtype, device=tensor.device, non_blocking=value.is_cpu)
    else:
        value = number_for(value, tensor.dtype)
    if not is_basic(entries):
        _scatter(tensor, tuple(entries), value)
    elif isinstance(value, torch.Tensor):
        target = tensor[tuple(entries)]
        if value.untyped_storage().data_ptr() == target.untyped_storage().data_ptr():
            value = value.clone()  # `a[1:] = a[:-1]`: read all, then write, as NumPy does
        target.copy_(_fit(value, target.shape))
    else:
        tensor[tuple(entries)].fill_(value)
    wrote(tensor)


def _scatter(tensor, places, value):
    """Write to places that arrays name; what torch cannot broadcast may still fit as MXNet sees it, or is told."""
    if not tensor.is_cpu and _write_masked(tensor, places, value):
        return
    try:
        tensor[places] = value
    except RuntimeError:
        tensor[places] = _fit(value, tensor[places].shape)


def _write_masked(tensor, entries, value):
    """Write where the only mask of a key holds, without asking the device how often it does; False: another key."""
    masks = [i for i, e in enumerate(entries) if isinstance(e, torch.Tensor)]
    plain = all(e == slice(None) for e in entries if not isinstance(e, torch.Tensor))
    if len(masks) != 1 or not plain or entries[masks[0]].dtype is not torch.bool or not tensor.numel():
        return False
    axis, mask = masks[0], entries[masks[0]]
    end = axis + mask.dim()
    if not isinstance(value, torch.Tensor):
        tensor.masked_fill_(mask.reshape(*mask.shape, *(1,) * (tensor.dim() - end)), value)
        return True
    rows = tensor.reshape(*tensor.shape[:axis], mask.numel(), *tensor.shape[end:])
    if value.dim() > rows.dim():
        return False
    from .._ops.numpy.insertion import mask_filled  # most programs need it never

    tensor.copy_(mask_filled(rows, mask.reshape(-1), value, axis).reshape(tensor.shape))
    return True


def _places(tensor, entries):
    """A key with negative steps as explicit coordinates: torch has no view that runs backwards."""
    numbers = torch.arange(tensor.numel(), device=tensor.device).reshape(tensor.shape)
    return list(torch.unravel_index(taken(numbers, entries), tensor.shape))


def _fit(value, shape):
    """Broadcast `value` to `shape`; leading axes of size one are dropped as MXNet drops them."""
    if value.dim() > len(shape) and value.numel() <= int(np.prod(shape)):
        extra = value.dim() - len(shape)
        if all(s == 1 for s in value.shape[:extra]):
            value = value.reshape(value.shape[extra:])
    try:
        return value.expand(shape)
    except RuntimeError:
        if value.numel() == int(np.prod(shape)) and [s for s in value.shape if s != 1] == [s for s in shape if s != 1]:
            return value.reshape(shape)
        raise ValueError(
            "operands could not be broadcast together with remapped shapes[original->remapped]: "
            f"{tuple(value.shape)} and requested shape {tuple(shape)}"
        ) from None
