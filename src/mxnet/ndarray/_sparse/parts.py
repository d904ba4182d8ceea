"""The parts of sparse arrays as tensors: from dense ones, to dense ones, and sums of them.

Row-sparse parts are (data, rows); compressed ones (csr) are (data, columns, starts): row i has the elements
`starts[i]:starts[i + 1]` of the other two.
"""

import numpy as np
import torch
import torch.nn.functional as F

from ..._core.errors import MXNetError


def rows_of_dense(dense):
    """The rows that are not all zero."""
    flat = dense.reshape(dense.shape[0], -1) if dense.numel() else dense.new_zeros((dense.shape[0], 1))
    rows = ((flat.amax(1) != 0) | (flat.amin(1) != 0)).nonzero().reshape(-1)  # a tenth of the time of all elements
    return dense.index_select(0, rows), rows


def dense_of_rows(parts, shape):
    """The whole array, with zeros in the rows that are not kept."""
    data, rows = parts
    if len(rows) == shape[0]:
        return data.clone()
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


def row_numbers(starts, apart=1):
    """The row of each element, times `apart`."""
    return each_by_row(torch.arange(len(starts) - 1, device=starts.device) * apart, starts)


def each_by_row(values, starts):
    """A value of each row for all elements of it; NumPy repeats in a fifth of torch's time."""
    counts = starts[1:] - starts[:-1]
    if starts.device.type != "cpu" or values.dtype is torch.bfloat16:
        return torch.repeat_interleave(values, counts)
    return torch.from_numpy(values.numpy().repeat(counts.numpy()))


def picked(dense, columns, starts, shape):
    """The elements of a dense array, broadcast to a matrix's shape, that are where the matrix has its own."""
    dense = dense.reshape((1,) * (2 - dense.dim()) + tuple(dense.shape))
    if dense.shape[0] == 1:
        return dense.reshape(-1) if dense.shape[1] == 1 else dense[0].index_select(0, columns)
    if dense.shape[1] == 1 != shape[1]:
        return each_by_row(dense[:, 0], starts)
    return dense.reshape(-1).index_select(0, row_numbers(starts, shape[1]).add_(columns))


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


def csr_combined(function, matrices, shape):
    """A function of matrices, element by element on the union of their places; what is zero then goes.

    An element that is named twice counts with the sum.
    """
    places = [row_numbers(starts, shape[1]).add_(columns) for _, columns, starts in matrices]
    place, inverse = _merged(torch.cat(places))
    owns = inverse.split([len(own) for own in places])
    pairs = zip(matrices, owns, strict=True)
    value = function(*(data.new_zeros(len(place)).index_add_(0, own, data) for (data, _, _), own in pairs))
    if not bool(value.all()):
        place, value = place[value != 0], value[value != 0]
    row = torch.div(place, max(shape[1], 1), rounding_mode="floor")
    return value, place - row * shape[1], starts_of(row, shape[0])


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


def rows_combined(function, arrays):
    """A function of row-sparse parts on the union of their rows."""
    rows = arrays[0][1]
    if all(torch.equal(rows, part[1]) for part in arrays[1:]):
        return function(*(part[0] for part in arrays)), rows.clone()
    rows, inverse = _merged(torch.cat([part[1] for part in arrays]))
    aligned = []
    for (data, _), own in zip(arrays, inverse.split([len(part[1]) for part in arrays]), strict=True):
        aligned.append(data.new_zeros((len(rows), *data.shape[1:])).index_copy_(0, own, data))
    return function(*aligned), rows


def rows_retained(parts, wanted):
    """The wanted rows, in order; those that were not kept are zero, and there are none of an array that keeps none.

    Their places are found by NumPy, whose calls on few numbers take half of torch's time.
    """
    data, rows = parts
    own, asked = rows.cpu().numpy(), wanted.cpu().numpy()
    if not len(own):
        return data.clone(), rows.clone()
    if not (asked[1:] > asked[:-1]).all():
        asked = np.unique(asked)
        wanted = _at(asked, rows)
    place = np.minimum(own.searchsorted(asked), len(own) - 1)
    kept, missing = data.index_select(0, _at(place, rows)), np.flatnonzero(own[place] != asked)
    return kept.index_fill_(0, _at(missing, rows), 0) if len(missing) else kept, wanted


def places_among(rows, wanted, count):
    """Where wanted rows stand among those that an array of `count` rows keeps; None if it does not keep all of them."""
    if len(rows) == count or not len(wanted):
        return wanted
    if not len(rows):
        return None
    place = torch.searchsorted(rows, wanted).clamp_(max=len(rows) - 1)
    return place if torch.equal(rows.index_select(0, place), wanted) else None


def opened(parts, shape, rows, whole):
    """Copied values in which some rows can be changed, where in them these are, and which rows the values are.

    Rows that were not kept begin as zeros; `whole`: all rows are kept from then on.
    """
    data, own = parts
    places = places_among(own, rows, shape[0])
    if places is not None and (not whole or len(own) == shape[0]):
        return data.clone(), places, own
    dense = dense_of_rows(parts, shape)
    if whole:
        return dense, rows, torch.arange(shape[0], device=rows.device)
    kept = torch.unique(torch.cat([own, rows]))
    return dense.index_select(0, kept), places_among(kept, rows, shape[0]), kept


def _at(places, like):
    return torch.from_numpy(places).to(like.device)


def rows_of_coo(tensor):
    """Row-sparse parts of torch's own sparse tensor (what sparse gradients come as).

    On its way through torch's engine a gradient loses the mark that its rows are in order.
    """
    rows = tensor._indices()[0]
    if tensor.sparse_dim() == 1 and bool((rows[1:] > rows[:-1]).all()):
        return tensor._values(), rows
    tensor = tensor.coalesce()
    return tensor.values(), tensor.indices()[0]


def coo_of_rows(parts, shape):
    """Row-sparse parts as torch's sparse tensor, which is what its engine takes as a gradient."""
    data, rows = parts
    return torch.sparse_coo_tensor(rows[None], data, tuple(shape), check_invariants=False, is_coalesced=True)


def product(parts, shape, dense, transposed=False):
    """A matrix, or its transpose, times a dense one; sums of few rows have a kernel of their own."""
    data, columns, starts = parts
    if not dense.is_cpu or data.dtype not in (torch.float32, torch.float64):
        return torch.sparse.mm(coo_of_csr(parts, shape, transposed), dense)
    if transposed:
        data, columns, starts = turned(parts, shape)
    return _sums_of_rows(data, columns, starts, dense)


def _sums_of_rows(data, columns, starts, dense):
    return F.embedding_bag(columns, dense, starts, mode="sum", per_sample_weights=data, include_last_offset=True)


def rows_of_transposed_product(parts, shape, dense):
    """The transpose of a matrix times a dense one: only rows of columns that the matrix has."""
    data, columns, row, order = *parts[:2], row_numbers(parts[2]), _order(parts[1])
    rows, counts = torch.unique_consecutive(columns.index_select(0, order), return_counts=True)
    starts = torch.zeros(len(rows) + 1, dtype=torch.int64, device=rows.device)
    torch.cumsum(counts, 0, out=starts[1:])
    data, columns = data.index_select(0, order), row.index_select(0, order)
    if dense.is_cpu and data.dtype in (torch.float32, torch.float64):
        return _sums_of_rows(data, columns, starts, dense), rows
    return torch.sparse.mm(coo_of_csr((data, columns, starts), (len(rows), shape[0])), dense), rows


def turned(parts, shape):
    """The parts of a matrix's transpose."""
    data, columns, starts = parts
    order = _order(columns)
    return data.index_select(0, order), row_numbers(starts).index_select(0, order), starts_of(columns, shape[1])


_DIGIT = 16  # bits: NumPy sorts numbers of so many in linear time, longer ones 30 times as slowly


def _order(numbers):
    """Which comes first, second, … of some numbers that are not negative; equal ones stay in their order."""
    if numbers.device.type != "cpu" or not len(numbers):
        return torch.argsort(numbers, stable=True)
    values, shift = numbers.numpy(), _DIGIT
    order, most = values.astype(np.uint16).argsort(kind="stable"), int(values.max())
    while most >> shift:
        order = order[(values >> shift).astype(np.uint16)[order].argsort(kind="stable")]
        shift += _DIGIT
    return torch.from_numpy(order)


def csr_of_columns(dense, columns):
    """A dense matrix that has some columns of a larger one, as parts of that: its zeros are kept, too."""
    count = len(dense)
    return dense.reshape(-1), columns.repeat(count), torch.arange(count + 1, device=columns.device) * len(columns)


def rows_taken(parts, rows):
    """Some rows of a matrix, in the order asked for."""
    data, columns, starts = parts
    first, lengths = starts[:-1].index_select(0, rows), starts.diff().index_select(0, rows)
    begins = torch.zeros(len(rows) + 1, dtype=torch.int64, device=rows.device)
    torch.cumsum(lengths, 0, out=begins[1:])
    place = each_by_row(first - begins[:-1], begins) + torch.arange(int(begins[-1]), device=rows.device)
    return data.index_select(0, place), columns.index_select(0, place), begins


def coo_of_csr(parts, shape, transposed=False):
    """Compressed parts as torch's sparse matrix, for products.

    Rows come in order, which is all that torch's products ask of a coalesced matrix: told so, it does not sort.
    """
    data, columns, starts = parts
    row = row_numbers(starts)
    place = torch.stack((columns, row) if transposed else (row, columns))
    sizes = (shape[1], shape[0]) if transposed else tuple(shape)
    return torch.sparse_coo_tensor(place, data, sizes, check_invariants=False, is_coalesced=not transposed)
