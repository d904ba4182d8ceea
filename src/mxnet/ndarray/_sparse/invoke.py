"""Operators on sparse arrays: implementations on the stored parts where they exist, else the dense function."""

from functools import partial

import torch

from ..._core.dtypes import dtype_name
from ..._core.errors import MXNetError
from ..._core.modes import MODES
from ..._core.writes import wrote
from ..._device import late
from ..._device.errors import tells_exhaustion
from ..._kernels.sparse.merge import merge_csr, merge_rows, multiply_dense, retain_rows
from ..._ops import custom
from ..._ops.registry import sparse_outputs as storage
from ..._ops.registry.device import torch_device
from ..._ops.registry.torch_dtypes import torch_dtype
from ..._ops.sparse import parts as _parts
from .._dispatch.invoke import check_inputs, check_writable, graph_tensor, invoke, pick_context, plain_tensor
from ..ndarray import wrap
from .array import CLASSES, CSRNDArray, RowSparseNDArray, rows_for_update
from .products import dot


@tells_exhaustion
def invoke_sparse(op, inputs, attrs, out, ctx):
    """Call `op` where some inputs are sparse; the results have the storage that MXNet gives them."""
    if op.storage is not None:
        return invoke_custom(op, inputs, attrs, out, ctx)
    _check_types(op, inputs)
    parsed = op.full(op.parse(attrs))
    stypes = [x.stype for x in inputs if x is not None]
    kind = storage.result_stype(op, parsed, stypes)
    result = _on_parts(op, inputs, parsed, kind, out)
    if result is None:
        result = _on_dense_copies(op, inputs, attrs, ctx, kind)
    return result if out is None or result is out else _write_outputs(result, out)


def _check_types(op, inputs):
    """Inputs must have one dtype, as with dense arrays: MXNet does not promote types."""
    if op.dtype != "same":
        return
    named = [(i, dtype_name(x.dtype)) for i, x in enumerate(inputs) if x is not None]
    for i, name in named[1:]:
        if name != named[0][1]:
            raise MXNetError(
                f"Check failed: assign(&dattr, vec.at(i)): Incompatible attr in node  at {i}-th input: "
                f"expected {named[0][1]}, got {name} (operator {op.name}; convert one of them with astype)"
            )


def _on_parts(op, inputs, parsed, kind, out=None):
    """The result computed on stored parts; None if that is not possible, or a graph must be recorded."""
    if op.name == "dot":
        return dot(*inputs, parsed, kind)
    if MODES.recording and any(map(_is_recorded, inputs)):
        return None
    if len(inputs) == 1 and storage.preserves_zeros(op, parsed):
        return _on_data(op, inputs[0], parsed)
    kernel = _KERNELS.get(op.name)
    if kernel is _update:
        return _update(op, inputs, parsed, out is inputs[0])
    return None if kernel is None else kernel(op, inputs, parsed, kind)


def _is_recorded(array):
    """Is it part of a graph? A sparse array that is not must not be made dense to find out."""
    outside = array is None or (array.stype != "default" and array._ag is None)
    return not outside and graph_tensor(array).requires_grad


def _on_dense_copies(op, inputs, attrs, ctx, kind):
    """The dense function on dense copies; new values of arrays that it writes are copied back."""
    dense = [x if x is None or x.stype == "default" else wrap(graph_tensor(x), x._ctx, x._ag) for x in inputs]
    result = invoke(op, dense, attrs, None, ctx)
    for name, array, written in zip(op.inputs, inputs, dense, strict=False):
        if name in op.mutates and written is not array:
            array._assign(written._t)
    if kind == "default":
        return result
    if isinstance(result, list):
        return [stored(x, kind) for x in result]
    return stored(result, kind)


@tells_exhaustion
def invoke_stored(op, inputs, attrs, out, ctx):
    """Call `op` on dense arrays where an attribute requests a sparse result."""
    kind = attrs[storage.STYPE_ATTRIBUTE[op.name]]
    plain = {**attrs, storage.STYPE_ATTRIBUTE[op.name]: "default"}
    result = stored(invoke(op, inputs, plain, None, ctx), kind)
    return result if out is None else _write_outputs(result, out)


def invoke_custom(op, inputs, attrs, out, ctx):
    """Call a user's custom operator on arrays of any storage; its class infers the storage of the results."""
    check_inputs(op, inputs)
    parsed = op.parse(attrs)
    kinds = op.storage(op.full(parsed), [x.stype for x in inputs])
    for target, kind in zip(
        () if out is None else out if isinstance(out, (list, tuple)) else [out], kinds, strict=False
    ):
        if target.stype != kind:
            raise MXNetError(storage.INCONSISTENT.format(target.stype, kind))
    results = custom.CALLER[0](inputs, parsed, pick_context(inputs, attrs, ctx))
    if out is not None:
        return _write_outputs(results, out)
    return results[0] if len(results) == 1 else results


def attach_sparse_source(tensor, array):
    """Attach to a dense tensor the sparse array that it was made from."""
    tensor.stored = array, tensor._version
    return tensor


def sparse_source(tensor):
    """The sparse array that a dense tensor was made from, if it has not been written since; else None."""
    array, version = getattr(tensor, "stored", (None, None))
    return array if version == tensor._version else None


def stored(dense, kind):
    """Convert a dense array to another storage; while recording, the result stays part of the graph."""
    if dense.stype == kind:
        return dense
    recorded = MODES.recording and graph_tensor(dense).requires_grad
    cls, known = CLASSES[kind], sparse_source(dense._t)
    parts = cls._of_dense(plain_tensor(dense)) if known is None or known.stype != kind else known._parts
    graph, mark = (dense._t, MODES.epoch) if recorded else (None, None)
    return cls._made(parts, dense.shape, dense._ctx.home, mark, graph)


def _write_outputs(result, out):
    outs = list(out) if isinstance(out, (list, tuple)) else [out]
    results = result if isinstance(result, list) else [result]
    for target, value in zip(outs, results, strict=False):
        write_any_storage(target, value)
    return out


@tells_exhaustion
def zeros(stype, shape, ctx, dtype):
    """A sparse array without stored elements; `dtype` is torch's."""
    device = torch_device(ctx)
    size = (0,) if stype == "csr" else (0, *shape[1:])
    parts = [torch.zeros(size, dtype=dtype, device=device), torch.zeros(0, dtype=torch.int64, device=device)]
    if stype == "csr":
        parts.append(torch.zeros(shape[0] + 1, dtype=torch.int64, device=device))
    return CLASSES[stype]._made(parts, shape, ctx)


def write_any_storage(target, value):
    """Write an array into another, each of any storage."""
    check_writable(target)
    if target.stype == "default":
        from .._dispatch.invoke import write

        recorded = MODES.recording and graph_tensor(value).requires_grad
        write(target, graph_tensor(value) if recorded else plain_tensor(value), recorded)
    elif value.stype == target.stype:
        value.copyto(target)
    else:
        target._assign(plain_tensor(value))


def store_gradient(target, gradient, req):
    """Write or add a gradient into an array of any storage; it is a tensor, torch's sparse kind, or None for zero."""
    if gradient is None:
        array = zeros("row_sparse", target.shape, target._ctx, torch_dtype(target.dtype))
    elif gradient.is_sparse:
        array = RowSparseNDArray._made(_parts.rows_of_coo(gradient), target.shape, target._ctx)
    else:
        array = wrap(gradient, target._ctx)
    if array.stype != target.stype:
        array = array.tostype("default").tostype(target.stype)
    before, MODES.recording = MODES.recording, False
    try:
        target[:] = target + array if req == "add" else array
    finally:
        MODES.recording = before


# ---------------------------------------------------------------------- kernels
def _like(array, parts, shape=None):
    return type(array)._made(parts, array.shape if shape is None else shape, array._ctx.home)


def _function(op, *tensors, **parsed):
    """The operator's function on tensors; the result shares no memory with them."""
    attrs = {k: v for k, v in parsed.items() if k in op.attrs and v is not None}
    result = op.fn(*tensors, **attrs)
    return result.clone() if any(result is t for t in tensors) else result


def _on_data(op, array, parsed):
    """An operator that maps zeros to zeros, applied to the stored elements."""
    data, *indices = array._parts
    if op.name == "zeros_like":
        return zeros(array.stype, array.shape, array._ctx, data.dtype)
    return _like(array, (_function(op, data, **parsed), *(i.clone() for i in indices)))


def _elementwise(op, inputs, parsed, kind):
    """Two arrays of one storage: on the union of their rows or elements."""
    lhs, rhs = inputs
    if lhs.stype != rhs.stype or lhs.shape != rhs.shape:
        return None
    function, pair = partial(_function, op, **parsed), (lhs._parts, rhs._parts)
    if kind == "row_sparse":
        return _like(lhs, merge_rows(*pair, op.name) or _parts.rows_combined(function, pair))
    if kind == "csr":
        return _like(lhs, merge_csr(*pair, op.name) or _parts.csr_combined(function, pair, lhs.shape))
    return None


def _multiply(op, inputs, parsed, kind):
    """Sparse times dense of the same shape, on the stored elements."""
    lhs, rhs = inputs
    if lhs.stype == rhs.stype:
        return _elementwise(op, inputs, parsed, kind)
    sparse, dense = (lhs, rhs) if rhs.stype == "default" else (rhs, lhs)
    if dense.stype != "default" or sparse.shape != dense.shape:
        return None
    data, *indices = sparse._parts
    values = plain_tensor(dense)
    if isinstance(sparse, CSRNDArray):
        return _like(sparse, (_scaled_elements(sparse, values), *indices))
    return _like(sparse, (data * values.index_select(0, indices[0]), *indices))


def _scaled_elements(matrix, dense, divide=False):
    """A matrix's stored elements multiplied or divided by a dense array broadcast to its shape."""
    data, columns, starts = matrix._parts
    fast = multiply_dense(matrix._parts, dense, matrix.shape, divide)
    if fast is not None:
        return fast
    factor = _parts.dense_at_elements(dense, columns, starts, matrix.shape)
    return data / factor if divide else data * factor


def _scatter_div(op, inputs, parsed, kind):
    """Division in the stored rows of the dividend only."""
    lhs, rhs = inputs
    if kind != "row_sparse" or lhs.shape != rhs.shape:
        return None
    data, rows = lhs._parts
    return _like(lhs, (data / plain_tensor(rhs)[rows], rows.clone()))


def _scaled(op, inputs, parsed, kind):
    """A CSR matrix multiplied or divided by a scalar, a row or a column, on the stored elements."""
    lhs, rhs = inputs
    if kind != "csr" or rhs.stype != "default":
        return None
    if rhs.ndim > 2 or any(n not in (1, size) for n, size in zip(rhs.shape[::-1], lhs.shape[::-1], strict=False)):
        return None
    return _like(lhs, (_scaled_elements(lhs, plain_tensor(rhs), op.name == "broadcast_div"), *lhs._parts[1:]))


def _sum_of_rows(op, inputs, parsed, kind):
    if kind != "row_sparse":
        return None
    given = [x._parts for x in inputs]
    total = given[0]
    for more in given[1:]:
        total = total and merge_rows(total, more, "elemwise_add")
    if total is None or len(given) == 1:
        total = _parts.rows_combined(lambda *aligned: torch.stack(aligned).sum(0, dtype=aligned[0].dtype), given)
    return _like(inputs[0], total)


def _retain(op, inputs, parsed, kind):
    array, rows = inputs
    if not isinstance(array, RowSparseNDArray):
        raise MXNetError(f"sparse_retain keeps rows of row_sparse arrays, got storage {array.stype}")
    wanted = plain_tensor(rows).to(torch.int64, copy=True).reshape(-1)
    if not wanted.is_cpu:
        wanted = late.bounded(wanted, array.shape[0], "sparse_retain")
    elif wanted.numel() and not 0 <= int(wanted.min()) <= int(wanted.max()) < array.shape[0]:
        raise MXNetError(
            f"sparse_retain: rows {wanted.tolist()} are asked for, the array of shape {array.shape} has rows 0 to "
            f"{array.shape[0] - 1}"
        )
    return retained(array, wanted, wanted.is_cpu and bool((wanted[1:] > wanted[:-1]).all()))


def retained(array, wanted, ordered):
    """Some rows of a row_sparse array, which has them; `ordered` says that their numbers ascend."""
    if len(array._parts[1]) == array.shape[0]:  # every row is stored: its number is its position
        wanted = wanted if ordered else torch.unique(wanted)
        return _like(array, (array._parts[0].index_select(0, wanted), wanted))
    fast = retain_rows(array._parts, wanted)
    return _like(array, _parts.rows_retained(array._parts, wanted, ordered) if fast is None else (fast, wanted))


def _square_sum(op, inputs, parsed, kind):
    array = inputs[0]
    if kind != "row_sparse":
        return None
    data, rows = array._parts
    return _like(array, ((data * data).sum(1, keepdim=True), rows.clone()), (array.shape[0], 1))


def _slice(op, inputs, parsed, kind):
    """Some rows (and columns) of a matrix."""
    array = inputs[0]
    begin, end, step = parsed["begin"], parsed["end"], parsed.get("step") or ()
    if kind != "csr" or any(s not in (None, 1) for s in step):
        return None
    first, last, _ = slice(begin[0], end[0]).indices(array.shape[0])
    data, column, starts = array._parts
    if not begin or last <= first:
        raise MXNetError(f"slice of a csr array of shape {array.shape}: begin={begin}, end={end} selects nothing")
    low, high = int(starts[first]), int(starts[last])
    data, column, starts = data[low:high], column[low:high], starts[first : last + 1] - low
    if len(begin) == 1:
        return _like(array, (data.clone(), column.clone(), starts), (last - first, array.shape[1]))
    left, right, _ = slice(begin[1], end[1]).indices(array.shape[1])
    inside = (column >= left) & (column < right)
    row = _parts.row_numbers(starts)[inside]
    parts = data[inside], column[inside] - left, _parts.starts_of(row, last - first)
    return _like(array, parts, (last - first, right - left))


def _concat_rows(op, inputs, parsed, kind):
    """Concatenation of CSR matrices along axis 0."""
    if kind != "csr":
        return None
    counts, total = [], 0
    for array in inputs:
        counts.append(array._parts[2][(1 if counts else 0) :] + total)
        total += len(array._parts[0])
    parts = torch.cat([x._parts[0] for x in inputs]), torch.cat([x._parts[1] for x in inputs]), torch.cat(counts)
    return _like(inputs[0], parts, (sum(x.shape[0] for x in inputs), inputs[0].shape[1]))


def _count_stored(op, inputs, parsed, kind):
    """The number of stored elements, including stored zeros."""
    array, axis = inputs[0], parsed.get("axis")
    if not isinstance(array, CSRNDArray) or axis not in (None, 1):
        return None
    data, _, starts = array._parts
    count = starts.diff() if axis == 1 else torch.tensor([len(data)], dtype=torch.int64, device=data.device)
    return wrap(count, array._ctx.home)


def _cast(op, inputs, parsed, kind):
    array = inputs[0]
    if kind == array.stype:
        return array.copy()
    return wrap(array._dense(), array._ctx.home) if kind == "default" else None


def _take(op, inputs, parsed, kind):
    """Some rows of a matrix."""
    array, rows = inputs
    if (
        kind != "csr"
        or rows.stype != "default"
        or rows.ndim != 1
        or parsed.get("mode") == "raise"
        or not array.shape[0]
    ):
        return None
    wanted, last = plain_tensor(rows).long(), array.shape[0] - 1
    wanted = wanted % array.shape[0] if parsed.get("mode") == "wrap" else wanted.clamp(0, last)
    return _like(array, _parts.rows_taken(array._parts, wanted), (len(wanted), array.shape[1]))


def _norm(op, inputs, parsed, kind):
    """Norms of all elements, or of a matrix along one axis, from the stored elements."""
    array, axis, order = inputs[0], _single_axis(parsed), parsed["ord"]
    data = array._parts[0]
    if order not in (1, 2) or not data.is_floating_point():
        return None
    if axis is None:
        norm = torch.linalg.vector_norm(data, order).reshape((1,) * (array.ndim if parsed["keepdims"] else 1))
    elif isinstance(array, CSRNDArray) and axis in _AXES:
        norm = _sum_along_axis(array, data.abs() if order == 1 else data * data, axis, parsed["keepdims"])
        norm = norm if order == 1 else norm.sqrt_()
    else:
        return None
    return wrap(norm if parsed["out_dtype"] is None else norm.to(torch_dtype(parsed["out_dtype"])), array._ctx)


_AXES = (0, 1, -1, -2)


def _single_axis(parsed):
    axis = parsed.get("axis")
    return axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis


def _sum_along_axis(array, data, axis, keepdims):
    """Sums of a CSR matrix along one axis, with `data` as its stored elements."""
    _, column, starts = array._parts
    by_row = axis in (1, -1)
    index = _parts.row_numbers(starts) if by_row else column
    total = data.new_zeros(array.shape[0 if by_row else 1]).index_add_(0, index, data)
    return total.unsqueeze(axis) if keepdims else total


def _sum_or_mean(op, inputs, parsed, kind):
    """Sums and means of a matrix along one axis; of integers, unlike those of dense arrays, they stay integers."""
    array, axis = inputs[0], _single_axis(parsed)
    if not isinstance(array, CSRNDArray) or axis not in _AXES or parsed.get("exclude"):
        return None
    total = _sum_along_axis(array, array._parts[0], axis, parsed.get("keepdims"))
    if op.name == "mean":
        total = torch.div(total, array.shape[axis], rounding_mode=None if total.is_floating_point() else "trunc")
    return wrap(total, array._ctx)


def _update(op, inputs, parsed, in_place):
    """A lazy optimizer update: a row-sparse gradient updates only its rows of weight and states.

    Sparse states store all rows from then on, as in MXNet; a weight stores the rows that it had.
    """
    weight, grad, *states = inputs
    if grad.stype != "row_sparse" or not parsed.get("lazy_update", True):
        return None
    if op.name == "ftrl_update" and weight.stype != "row_sparse":
        return None
    data, rows = grad._parts
    targets = [rows_for_update(rows, array, all_rows=array is not weight) for array in (weight, *states)]
    parts = [values.index_select(0, positions) for values, positions, _ in targets]
    fresh = _function(op, parts[0], data, *parts[1:], **parsed)
    for array, (values, positions, stored_rows), part in zip(states, targets[1:], parts[1:], strict=True):
        wrote(_parts.write_rows(values, positions, part))
        if stored_rows is not None:
            array._replace((values, stored_rows))
    values, positions, stored_rows = targets[0]
    if in_place:
        check_writable(weight)
        wrote(_parts.write_rows(values, positions, fresh))
        if stored_rows is not None:
            weight._replace((values, stored_rows))
        return weight
    values = _parts.write_rows(values.clone(), positions, fresh)
    return wrap(values, weight._ctx) if stored_rows is None else _like(weight, (values, stored_rows))


_KERNELS = {
    **dict.fromkeys(storage.SAME_STORAGE, _elementwise),
    "elemwise_mul": _multiply,
    **dict.fromkeys(("broadcast_mul", "broadcast_div"), _scaled),
    "_scatter_elemwise_div": _scatter_div,
    "add_n": _sum_of_rows,
    "_sparse_retain": _retain,
    "_square_sum": _square_sum,
    "slice": _slice,
    "Concat": _concat_rows,
    "cast_storage": _cast,
    "_contrib_getnnz": _count_stored,
    "take": _take,
    "norm": _norm,
    **dict.fromkeys(("sum", "mean"), _sum_or_mean),
    **dict.fromkeys(
        ("sgd_update", "sgd_mom_update", "adam_update", "ftrl_update", "_sparse_adagrad_update",
         "_contrib_group_adagrad_update"), _update,
    ),
}  # fmt: skip
