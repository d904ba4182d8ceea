"""Functions on the component tensors ("parts") of sparse arrays: conversion, union, selection, products.

Row-sparse parts are (data, rows); CSR parts are (data, columns, starts), MXNet's `data`, `indices` and `indptr`: row i
has the elements `starts[i]:starts[i + 1]` of the other two.
"""

import numpy as np
import torch
import torch.nn.functional as F

from ..._core.errors import MXNetError
from ..._device.errors import explained

_FIRST = 16  # elements of a row that are looked at first: most rows with a nonzero element have one among them


def rows_of_dense(dense):
    """The rows that are not all zero."""
    flat = dense.reshape(dense.shape[0], -1) if dense.numel() else dense.new_zeros((dense.shape[0], 1))
    found = _any_nonzero(flat[:, :_FIRST])
    if flat.shape[1] > _FIRST:
        open_rows = (~found).nonzero().reshape(-1)
        if 2 * len(open_rows) > len(found):
            found |= _any_nonzero(flat[:, _FIRST:])
        elif len(open_rows):
            found[open_rows] = _any_nonzero(flat.index_select(0, open_rows))
    rows = found.nonzero().reshape(-1)
    return dense.clone() if len(rows) == len(dense) else dense.index_select(0, rows), rows


def _any_nonzero(rows):
    """Which rows have a nonzero element? A comparison of all elements with zero takes three to ten times as long.

    A sum of absolute values is not 0 if one of them is not; those of integers may overflow.
    """
    if rows.is_floating_point() and rows.shape[1] <= _FIRST:
        return rows.abs().sum(1) != 0
    return (rows.amax(1) != 0) | (rows.amin(1) != 0)


def write_rows(target, places, rows):
    """Write rows into a tensor at different places; NumPy copies each as one item, in a third of torch's time."""
    size = rows[0].numel() * rows.itemsize if len(rows) else 0
    if not size or not (target.is_cpu and target.is_contiguous() and rows.is_contiguous()):
        return target.index_copy_(0, places, rows)
    row = np.dtype((np.void, size))
    items, fresh = (t.detach().reshape(-1).view(torch.uint8).numpy().view(row) for t in (target, rows))
    items[places.numpy()] = fresh
    return target


def dense_of_rows(parts, shape):
    """The dense array, with zeros in the rows that are not stored."""
    data, rows = parts
    if len(rows) == shape[0]:
        return data.clone()
    dense = _zeros(data, shape)
    if len(rows):
        dense.index_copy_(0, rows, data)
    return dense


def csr_of_dense(dense):
    """The elements that are not zero, row by row."""
    position = _nonzero_positions(dense)
    row = torch.div(position, max(dense.shape[1], 1), rounding_mode="floor")
    return dense.reshape(-1).index_select(0, position), position - row * dense.shape[1], starts_of(row, dense.shape[0])


def _nonzero_positions(dense):
    """Flat positions of the nonzero elements; NumPy finds them in half of torch's time."""
    if dense.device.type != "cpu" or dense.dtype is torch.bfloat16:
        return dense.reshape(-1).nonzero().squeeze(1)
    return torch.from_numpy(np.flatnonzero(dense.detach().numpy() != 0))


def starts_of(row, count):
    """The row starts (`indptr`) of `count` rows, from the sorted row number of each element."""
    starts = torch.zeros(count + 1, dtype=torch.int64, device=row.device)
    torch.cumsum(torch.bincount(row, minlength=count), 0, out=starts[1:])
    return starts


def row_numbers(starts, stride=1):
    """The row of each element, times `stride`."""
    return repeat_by_row(torch.arange(len(starts) - 1, device=starts.device) * stride, starts)


def repeat_by_row(values, starts):
    """Repeat one value per row for all elements of the row; NumPy does it in a fifth of torch's time."""
    counts = starts[1:] - starts[:-1]
    if starts.device.type != "cpu" or values.dtype is torch.bfloat16:
        return torch.repeat_interleave(values, counts)
    return torch.from_numpy(values.numpy().repeat(counts.numpy()))


def dense_at_elements(dense, columns, starts, shape):
    """The elements of a dense array, broadcast to a matrix's shape, at the positions of the matrix's elements."""
    dense = dense.reshape((1,) * (2 - dense.dim()) + tuple(dense.shape))
    if dense.shape[0] == 1:
        return dense.reshape(-1) if dense.shape[1] == 1 else dense[0].index_select(0, columns)
    if dense.shape[1] == 1 != shape[1]:
        return repeat_by_row(dense[:, 0], starts)
    return dense.reshape(-1).index_select(0, row_numbers(starts, shape[1]).add_(columns))


def dense_of_csr(parts, shape):
    """The dense matrix; duplicate elements are added, as in products."""
    data, columns, starts = parts
    dense = _zeros(data, shape)
    if len(data):
        dense.index_put_((row_numbers(starts), columns), data, accumulate=True)
    return dense


def _zeros(data, shape):
    """A dense array of zeros; the shape of a sparse array may be larger than memory."""
    try:
        return data.new_zeros(shape)
    except RuntimeError as error:
        text = f"a sparse array of shape {tuple(shape)} is too large to be made dense: {explained(error)}"
        raise MXNetError(text) from None


def csr_combined(function, matrices, shape):
    """An elementwise function of CSR matrices on the union of their elements; zeros in the result are dropped.

    Duplicate elements are added first.
    """
    positions = [row_numbers(starts, shape[1]).add_(columns) for _, columns, starts in matrices]
    position, inverse = _sorted_unique(torch.cat(positions))
    owns = inverse.split([len(own) for own in positions])
    pairs = zip(matrices, owns, strict=True)
    value = function(*(data.new_zeros(len(position)).index_add_(0, own, data) for (data, _, _), own in pairs))
    if not bool(value.all()):
        position, value = position[value != 0], value[value != 0]
    row = torch.div(position, max(shape[1], 1), rounding_mode="floor")
    return value, position - row * shape[1], starts_of(row, shape[0])


def _sorted_unique(positions):
    """Sorted unique values and inverse indices; NumPy's stable sort merges presorted parts in linear time."""
    if positions.device.type != "cpu" or not len(positions):
        return torch.unique(positions, return_inverse=True)
    numbers = positions.numpy()
    order = numbers.argsort(kind="stable")
    ranked = numbers[order]
    first = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    inverse = np.empty_like(numbers)
    inverse[order] = first.cumsum() - 1
    return torch.from_numpy(ranked[first]), torch.from_numpy(inverse)


def rows_combined(function, arrays):
    """An elementwise function of row-sparse arrays on the union of their rows."""
    rows = arrays[0][1]
    if all(torch.equal(rows, part[1]) for part in arrays[1:]):
        return function(*(part[0] for part in arrays)), rows.clone()
    rows, inverse = _sorted_unique(torch.cat([part[1] for part in arrays]))
    aligned = []
    for (data, _), own in zip(arrays, inverse.split([len(part[1]) for part in arrays]), strict=True):
        aligned.append(data.new_zeros((len(rows), *data.shape[1:])).index_copy_(0, own, data))
    return function(*aligned), rows


def rows_retained(parts, wanted, ordered=False):
    """The wanted rows in ascending order; rows that are not stored become zeros, unless the array stores none at all.

    `ordered` says that they ascend already. On the CPU positions are found by NumPy, whose calls on few numbers take
    half of torch's time.
    """
    data, rows = parts
    if not rows.is_cpu:
        return _retained_on_device(data, rows, wanted if ordered else torch.unique(wanted))
    own, wanted_rows = rows.cpu().numpy(), wanted.cpu().numpy()
    if not len(own):
        return data.clone(), rows.clone()
    if not (wanted_rows[1:] > wanted_rows[:-1]).all():
        wanted_rows = np.unique(wanted_rows)
        wanted = _index_tensor(wanted_rows, rows)
    position = np.minimum(own.searchsorted(wanted_rows), len(own) - 1)
    values, missing = data.index_select(0, _index_tensor(position, rows)), np.flatnonzero(own[position] != wanted_rows)
    return values.index_fill_(0, _index_tensor(missing, rows), 0) if len(missing) else values, wanted


def _retained_on_device(data, rows, wanted):
    """As `rows_retained`, for wanted rows in ascending order; the host does not wait."""
    if not len(rows):
        return data.clone(), rows.clone()
    position = torch.searchsorted(rows, wanted).clamp_(max=len(rows) - 1)
    stored = (rows.index_select(0, position) == wanted).reshape(-1, *[1] * (data.dim() - 1))
    return torch.where(stored, data.index_select(0, position), 0), wanted


def positions_among(rows, wanted, count):
    """Positions of the wanted rows among the stored rows of an array of `count` rows; None if some are not stored."""
    position, present = search_rows(rows, wanted, count)
    return position if present is None else None


def search_rows(rows, wanted, count):
    """Positions of the wanted rows among the stored ones, and which of them are stored (None: all)."""
    if len(rows) == count or not len(wanted):
        return wanted, None
    if not len(rows):
        return torch.zeros_like(wanted), torch.zeros_like(wanted, dtype=torch.bool)
    position = torch.searchsorted(rows, wanted).clamp_(max=len(rows) - 1)
    present = rows.index_select(0, position) == wanted
    return position, None if bool(present.all()) else present


def rows_or_zeros(parts, wanted, count):
    """The wanted rows, in any order; those that are not stored are zeros."""
    data, rows = parts
    if not len(rows):
        return data.new_zeros((len(wanted), *data.shape[1:]))
    position, present = search_rows(rows, wanted, count)
    found = data.index_select(0, position)
    return found if present is None else found.mul_(present.view(-1, *[1] * (data.dim() - 1)))


def rows_for_update(parts, shape, rows, all_rows):
    """The values to write in an update of some rows: (values, positions of `rows` in them, rows they are stored for).

    They are the array's own memory if it stores these rows, else new. Rows that were not stored start as zeros; with
    `all_rows`, all rows are stored from then on.
    """
    data, own = parts
    positions = positions_among(own, rows, shape[0])
    if positions is not None and (not all_rows or len(own) == shape[0]):
        return data, positions, own
    dense = dense_of_rows(parts, shape)
    if all_rows:
        return dense, rows, torch.arange(shape[0], device=rows.device)
    stored = torch.unique(torch.cat([own, rows]))
    return dense.index_select(0, stored), positions_among(stored, rows, shape[0]), stored


def _index_tensor(positions, like):
    return torch.from_numpy(positions).to(like.device)


def rows_of_coo(tensor):
    """Row-sparse parts of a torch COO tensor, which is what sparse gradients are.

    torch's engine drops the `is_coalesced` flag of gradients, so the order of the rows is checked here. A GPU coalesces
    in any case: the host would wait for the check as it does for the number of rows.
    """
    rows = tensor._indices()[0]
    if rows.is_cpu and tensor.sparse_dim() == 1 and bool((rows[1:] > rows[:-1]).all()):
        return tensor._values(), rows
    tensor = tensor.coalesce()
    return tensor.values(), tensor.indices()[0]


def coo_of_rows(parts, shape):
    """Row-sparse parts as a torch COO tensor, which its engine accepts as a gradient."""
    data, rows = parts
    return torch.sparse_coo_tensor(rows[None], data, tuple(shape), check_invariants=False, is_coalesced=True)


def product(parts, shape, dense, transposed=False):
    """A CSR matrix, or its transpose, times a dense one; on the CPU by torch's embedding_bag kernel."""
    data, columns, starts = parts
    if not dense.is_cpu or data.dtype not in (torch.float32, torch.float64):
        return torch.sparse.mm(coo_of_csr(parts, shape, transposed), dense)
    if transposed:
        data, columns, starts = transpose_csr(parts, shape)
    return _sums_of_rows(data, columns, starts, dense)


def _sums_of_rows(data, columns, starts, dense):
    return F.embedding_bag(columns, dense, starts, mode="sum", per_sample_weights=data, include_last_offset=True)


def rows_of_transposed_product(parts, shape, dense):
    """matrixᵀ · dense as row-sparse parts: only the rows for columns in which the matrix has elements."""
    order, columns, rows, starts = _by_column(*parts[1:])
    data = parts[0].index_select(0, order)
    if dense.is_cpu and data.dtype in (torch.float32, torch.float64):
        return _sums_of_rows(data, columns, starts, dense), rows
    return torch.sparse.mm(coo_of_csr((data, columns, starts), (len(rows), shape[0])), dense), rows


def transpose_csr(parts, shape):
    """The CSR parts of a matrix's transpose."""
    data, columns, starts = parts
    order, row, _, _ = _by_column(columns, starts)
    return data.index_select(0, order), row, starts_of(columns, shape[1])


_KEPT = 1 << 18  # elements of the largest matrix whose order is kept
_last_order = None


def _by_column(columns, starts):
    """The elements in the order of their columns: (positions, rows, distinct columns, where each of these starts).

    A batch of features takes part in several products of a step, so the last answer is kept.
    """
    global _last_order
    known = _last_order
    if known is not None and columns.is_cpu and torch.equal(known[0], columns) and torch.equal(known[1], starts):
        return known[2]
    order = _stable_argsort(columns)
    distinct, counts = torch.unique_consecutive(columns.index_select(0, order), return_counts=True)
    begins = torch.zeros(len(distinct) + 1, dtype=torch.int64, device=columns.device)
    torch.cumsum(counts, 0, out=begins[1:])
    answer = order, row_numbers(starts).index_select(0, order), distinct, begins
    if columns.is_cpu and len(columns) <= _KEPT:
        _last_order = columns.clone(), starts.clone(), answer
    return answer


_DIGIT = 16  # bits of a digit of the radix sort: NumPy sorts uint16 in linear time, wider integers 30 times as slowly


def _stable_argsort(numbers):
    """Stable argsort of nonnegative integers: a radix sort on the CPU."""
    if numbers.device.type != "cpu" or not len(numbers):
        return torch.argsort(numbers, stable=True)
    values, shift = numbers.numpy(), _DIGIT
    order, most = values.astype(np.uint16).argsort(kind="stable"), int(values.max())
    while most >> shift:
        order = order[(values >> shift).astype(np.uint16)[order].argsort(kind="stable")]
        shift += _DIGIT
    return torch.from_numpy(order)


def csr_of_columns(dense, columns):
    """A dense matrix with some columns of a larger one, as CSR parts of that; its zeros are stored too."""
    count = len(dense)
    return dense.reshape(-1), columns.repeat(count), torch.arange(count + 1, device=columns.device) * len(columns)


def rows_taken(parts, rows):
    """Some rows of a CSR matrix, in the given order."""
    data, columns, starts = parts
    first, lengths = starts[:-1].index_select(0, rows), starts.diff().index_select(0, rows)
    begins = torch.zeros(len(rows) + 1, dtype=torch.int64, device=rows.device)
    torch.cumsum(lengths, 0, out=begins[1:])
    position = repeat_by_row(first - begins[:-1], begins) + torch.arange(int(begins[-1]), device=rows.device)
    return data.index_select(0, position), columns.index_select(0, position), begins


def coo_of_csr(parts, shape, transposed=False):
    """CSR parts as a torch COO matrix.

    Rows are in order, which is all that torch's products need of a coalesced matrix, so it is marked as such: no sort.
    """
    data, columns, starts = parts
    row = row_numbers(starts)
    position = torch.stack((columns, row) if transposed else (row, columns))
    sizes = (shape[1], shape[0]) if transposed else tuple(shape)
    return torch.sparse_coo_tensor(position, data, sizes, check_invariants=False, is_coalesced=not transposed)
