"""The parts of sparse arrays as tensors: from dense ones, to dense ones, and sums of them.

Row-sparse parts are (data, rows); compressed ones (csr) are (data, columns, starts): row i has the elements
`starts[i]:starts[i + 1]` of the other two.
"""

import numpy as np
import torch
import torch.nn.functional as F

from .._core.errors import MXNetError


def rows_of_dense(dense):
    """The rows that are not all zero."""
    flat = dense.reshape(dense.shape[0], -1) if dense.numel() else dense.new_zeros((dense.shape[0], 1))
    rows = ((flat.amax(1) != 0) | (flat.amin(1) != 0)).nonzero().reshape(-1)  # a tenth of the time of all elements
    return dense.index_select(0, rows), rows


def dense_of_rows(parts, shape):
    """The whole array, with zeros in the rows that are not kept."""
    data, rows = parts
    dense = _zeros(data, shape)
    if len(rows):
        dense.index_copy_(0, rows, data)
    return dense


def csr_of_dense(dense):
    """The elements that are not zero, row by row."""
    place = _filled_places(dense)
    row = torch.div(place, max(dense.shape[1], 1), rounding_mode="floor")
    return dense.reshape(-1).index_select(0, place), place - row * dense.shape[1], starts_of(row, dense.shape[0])


def _filled_places(dense):
    """Where elements are not zero, in the order of memory; NumPy finds them in half of torch's time."""
    if dense.device.type != "cpu" or dense.dtype is torch.bfloat16:
        return dense.reshape(-1).nonzero().squeeze(1)
    return torch.from_numpy(np.flatnonzero(dense.detach().numpy() != 0))


def starts_of(row, count):
    """Where each of `count` rows starts, out of the sorted row of each element."""
    starts = torch.zeros(count + 1, dtype=torch.int64, device=row.device)
    torch.cumsum(torch.bincount(row, minlength=count), 0, out=starts[1:])
    return starts


def row_numbers(starts):
    """The row of each element."""
    return torch.repeat_interleave(torch.arange(len(starts) - 1, device=starts.device), starts.diff())


def dense_of_csr(parts, shape):
    """The whole matrix; an element named twice counts with the sum, as products count it."""
    data, columns, starts = parts
    dense = _zeros(data, shape)
    if len(data):
        dense.index_put_((row_numbers(starts), columns), data, accumulate=True)
    return dense


def _zeros(data, shape):
    """Room for the whole array, of which a sparse one merely claims the size."""
    try:
        return data.new_zeros(shape)
    except RuntimeError as error:
        raise MXNetError(f"a sparse array of shape {tuple(shape)} is too large to be made dense: {error}") from error


def csr_of_elements(row, column, data, shape):
    """Sorted and summed parts out of elements in any order; what sums to zero goes."""
    place, inverse = _merged(row * shape[1] + column)
    summed = data.new_zeros(len(place)).index_add_(0, inverse, data)
    if not bool(summed.all()):
        place, summed = place[summed != 0], summed[summed != 0]
    row = torch.div(place, max(shape[1], 1), rounding_mode="floor")
    return summed, place - row * shape[1], starts_of(row, shape[0])


def _merged(places):
    """The different ones, sorted, and which of them each is; what is sorted in parts NumPy merges at once."""
    if places.device.type != "cpu" or not len(places):
        return torch.unique(places, return_inverse=True)
    numbers = places.numpy()
    order = numbers.argsort(kind="stable")
    ranked = numbers[order]
    first = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    inverse = np.empty_like(numbers)
    inverse[order] = first.cumsum() - 1
    return torch.from_numpy(ranked[first]), torch.from_numpy(inverse)


def rows_aligned(arrays):
    """Several row-sparse parts on the union of their rows: the rows, and the data of each."""
    rows = arrays[0][1]
    if all(torch.equal(rows, part[1]) for part in arrays[1:]):
        return rows.clone(), [part[0] for part in arrays]
    rows = torch.unique(torch.cat([part[1] for part in arrays]))
    aligned = []
    for data, own in arrays:
        whole = data.new_zeros((len(rows), *data.shape[1:]))
        aligned.append(whole.index_copy_(0, torch.searchsorted(rows, own), data) if len(own) else whole)
    return rows, aligned


def rows_retained(parts, wanted):
    """The wanted rows, in order; those that were not kept are zero."""
    data, rows = parts
    wanted = torch.unique(wanted)
    result = data.new_zeros((len(wanted), *data.shape[1:]))
    if len(rows):
        place = torch.searchsorted(rows, wanted).clamp_(max=len(rows) - 1)
        found = rows[place] == wanted
        result[found] = data[place[found]]
    return result, wanted


def rows_of_coo(tensor):
    """Row-sparse parts of torch's own sparse tensor (what sparse gradients come as)."""
    tensor = tensor.coalesce()
    return tensor.values(), tensor.indices()[0]


def coo_of_rows(parts, shape):
    """Row-sparse parts as torch's sparse tensor, which is what its engine takes as a gradient."""
    data, rows = parts
    return torch.sparse_coo_tensor(rows[None], data, tuple(shape), check_invariants=False, is_coalesced=True)


def product(parts, shape, dense, transposed=False):
    """A matrix, or its transpose, times a dense one; sums of few rows have a kernel of their own."""
    data, columns, starts = parts
    if transposed or not dense.is_cpu or data.dtype not in (torch.float32, torch.float64):
        return torch.sparse.mm(coo_of_csr(parts, shape, transposed), dense)
    return F.embedding_bag(columns, dense, starts, mode="sum", per_sample_weights=data, include_last_offset=True)


def coo_of_csr(parts, shape, transposed=False):
    """Compressed parts as torch's sparse matrix, for products."""
    data, columns, starts = parts
    row = row_numbers(starts)
    place = torch.stack((columns, row) if transposed else (row, columns))
    sizes = (shape[1], shape[0]) if transposed else tuple(shape)
    return torch.sparse_coo_tensor(place, data, sizes, check_invariants=False)
