"""Operators on sparse arrays: kernels on the stored parts where there are any, the dense function elsewhere."""

from functools import partial

import torch

from ..._core.dtypes import dtype_name
from ..._core.errors import MXNetError
from ..._core.modes import MODES
from ..._core.writes import wrote
from ..._kernels.sparse.merge import merged, merged_rows, retained, weighed
from ..._ops import custom
from ..._ops.registry import sparse_outputs as storage
from ..._ops.registry.device import torch_device
from ..._ops.registry.torch_dtypes import torch_dtype
from .._dispatch.invoke import check_inputs, check_writable, graph_tensor, invoke, pick_context, plain_tensor
from ..ndarray import wrap
from . import parts as _parts
from .array import CLASSES, CSRNDArray, RowSparseNDArray, opened_at
from .products import dot


def invoke_sparse(op, inputs, attrs, out, ctx):
    """Call `op` where some inputs are sparse; the results have the storage that MXNet gives them."""
    if op.storage is not None:
        return invoke_custom(op, inputs, attrs, out, ctx)
    _check_types(op, inputs)
    parsed = op.full(op.parse(attrs))
    stypes = [x.stype for x in inputs if x is not None]
    kind = storage.result_stype(op, parsed, stypes)
    result = _by_parts(op, inputs, parsed, kind, out)
    if result is None:
        result = _by_values(op, inputs, attrs, ctx, kind)
    return result if out is None or result is out else _deliver(result, out)


def _check_types(op, inputs):
    """As of dense arrays, so of sparse ones: no type is promoted."""
    if op.dtype != "same":
        return
    named = [(i, dtype_name(x.dtype)) for i, x in enumerate(inputs) if x is not None]
    for i, name in named[1:]:
        if name != named[0][1]:
            raise MXNetError(
                f"Check failed: assign(&dattr, vec.at(i)): Incompatible attr in node  at {i}-th input: "
                f"expected {named[0][1]}, got {name} (operator {op.name}; convert one of them with astype)"
            )


def _by_parts(op, inputs, parsed, kind, out=None):
    """The result of a kernel on parts; None if there is none for these inputs, or a graph must be recorded."""
    if op.name == "dot":
        return dot(*inputs, parsed, kind)
    if MODES.recording and any(x is not None and graph_tensor(x).requires_grad for x in inputs):
        return None
    if len(inputs) == 1 and storage.pattern_kept(op, parsed):
        return _on_data(op, inputs[0], parsed)
    kernel = _KERNELS.get(op.name)
    if kernel is _update:
        return _update(op, inputs, parsed, out is inputs[0])
    return None if kernel is None else kernel(op, inputs, parsed, kind)


def _by_values(op, inputs, attrs, ctx, kind):
    """The dense function on dense copies; arrays that it changes get their new values back."""
    dense = [x if x is None or x.stype == "default" else wrap(graph_tensor(x), x._ctx, x._ag) for x in inputs]
    result = invoke(op, dense, attrs, None, ctx)
    for name, array, changed in zip(op.inputs, inputs, dense, strict=False):
        if name in op.mutates and changed is not array:
            array._assign(changed._t)
    if kind == "default":
        return result
    if isinstance(result, list):
        return [stored(x, kind) for x in result]
    return stored(result, kind)


def invoke_stored(op, inputs, attrs, out, ctx):
    """Call `op` on dense arrays where an attribute asks for a sparse result."""
    kind = attrs[storage.ASKED[op.name]]
    plain = {**attrs, storage.ASKED[op.name]: "default"}
    result = stored(invoke(op, inputs, plain, None, ctx), kind)
    return result if out is None else _deliver(result, out)


def invoke_custom(op, inputs, attrs, out, ctx):
    """Call a user's operator on the arrays as they are; its results have the storage that its class says."""
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
        return _deliver(results, out)
    return results[0] if len(results) == 1 else results


def remember(tensor, array):
    """Leave on a dense tensor the sparse array that it was made from."""
    tensor.stored = array, tensor._version
    return tensor


def remembered(tensor):
    """The sparse array that a dense tensor was made from, if it has not been written since; else None."""
    array, version = getattr(tensor, "stored", (None, None))
    return array if version == tensor._version else None


def stored(dense, kind):
    """A dense array in another storage; while recording it stays part of the graph. A cast has stored it already."""
    if dense.stype == kind:
        return dense
    recorded = MODES.recording and graph_tensor(dense).requires_grad
    cls, known = CLASSES[kind], remembered(dense._t)
    parts = cls._of_dense(plain_tensor(dense)) if known is None or known.stype != kind else known._parts
    graph, mark = (dense._t, MODES.epoch) if recorded else (None, None)
    return cls._made(parts, dense.shape, dense._ctx.home, mark, graph)


def _deliver(result, out):
    outs = list(out) if isinstance(out, (list, tuple)) else [out]
    results = result if isinstance(result, list) else [result]
    for target, value in zip(outs, results, strict=False):
        put(target, value)
    return out


def zeros(stype, shape, ctx, dtype):
    """An array that keeps nothing; `dtype` is torch's."""
    device = torch_device(ctx)
    size = (0,) if stype == "csr" else (0, *shape[1:])
    parts = [torch.zeros(size, dtype=dtype, device=device), torch.zeros(0, dtype=torch.int64, device=device)]
    if stype == "csr":
        parts.append(torch.zeros(shape[0] + 1, dtype=torch.int64, device=device))
    return CLASSES[stype]._made(parts, shape, ctx)


def put(target, value):
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
    """The operator's function on tensors, in memory of their own."""
    attrs = {k: v for k, v in parsed.items() if k in op.attrs and v is not None}
    result = op.fn(*tensors, **attrs)
    return result.clone() if any(result is t for t in tensors) else result


def _on_data(op, array, parsed):
    """Zeros stay zeros: only the stored elements change."""
    data, *places = array._parts
    if op.name == "zeros_like":
        return zeros(array.stype, array.shape, array._ctx, data.dtype)
    return _like(array, (_function(op, data, **parsed), *(p.clone() for p in places)))


def _elementwise(op, inputs, parsed, kind):
    """Two arrays of one storage: on the union of their rows or elements."""
    lhs, rhs = inputs
    if lhs.stype != rhs.stype or lhs.shape != rhs.shape:
        return None
    function, pair = partial(_function, op, **parsed), (lhs._parts, rhs._parts)
    if kind == "row_sparse":
        return _like(lhs, merged_rows(*pair, op.name) or _parts.rows_combined(function, pair))
    if kind == "csr":
        return _like(lhs, merged(*pair, op.name) or _parts.csr_combined(function, pair, lhs.shape))
    return None


def _product(op, inputs, parsed, kind):
    """A sparse array times a dense one of its shape keeps the pattern."""
    lhs, rhs = inputs
    if lhs.stype == rhs.stype:
        return _elementwise(op, inputs, parsed, kind)
    sparse, dense = (lhs, rhs) if rhs.stype == "default" else (rhs, lhs)
    if dense.stype != "default" or sparse.shape != dense.shape:
        return None
    data, *places = sparse._parts
    values = plain_tensor(dense)
    if isinstance(sparse, CSRNDArray):
        return _like(sparse, (_weighed(sparse, values), *places))
    return _like(sparse, (data * values.index_select(0, places[0]), *places))


def _weighed(matrix, dense, divide=False):
    """A matrix's elements times those of a dense one that is broadcast to its shape, or by them."""
    data, columns, starts = matrix._parts
    quick = weighed(matrix._parts, dense, matrix.shape, divide)
    if quick is not None:
        return quick
    factor = _parts.picked(dense, columns, starts, matrix.shape)
    return data / factor if divide else data * factor


def _scattered(op, inputs, parsed, kind):
    """A quotient in the rows of the dividend only."""
    lhs, rhs = inputs
    if kind != "row_sparse" or lhs.shape != rhs.shape:
        return None
    data, rows = lhs._parts
    return _like(lhs, (data / plain_tensor(rhs)[rows], rows.clone()))


def _scaled(op, inputs, parsed, kind):
    """A matrix times or by a number, a row or a column keeps the pattern."""
    lhs, rhs = inputs
    if kind != "csr" or rhs.stype != "default":
        return None
    if rhs.ndim > 2 or any(n not in (1, size) for n, size in zip(rhs.shape[::-1], lhs.shape[::-1], strict=False)):
        return None
    return _like(lhs, (_weighed(lhs, plain_tensor(rhs), op.name == "broadcast_div"), *lhs._parts[1:]))


def _sum_of_rows(op, inputs, parsed, kind):
    if kind != "row_sparse":
        return None
    given = [x._parts for x in inputs]
    total = given[0]
    for more in given[1:]:
        total = total and merged_rows(total, more, "elemwise_add")
    if total is None or len(given) == 1:
        total = _parts.rows_combined(lambda *aligned: torch.stack(aligned).sum(0, dtype=aligned[0].dtype), given)
    return _like(inputs[0], total)


def _retain(op, inputs, parsed, kind):
    array, rows = inputs
    if not isinstance(array, RowSparseNDArray):
        raise MXNetError(f"sparse_retain keeps rows of row_sparse arrays, got storage {array.stype}")
    asked = plain_tensor(rows).to(torch.int64, copy=True).reshape(-1)
    if asked.numel() and not 0 <= int(asked.min()) <= int(asked.max()) < array.shape[0]:
        raise MXNetError(f"sparse_retain: rows {asked.tolist()} are asked for, the array of shape {array.shape} has "
                         f"rows 0 to {array.shape[0] - 1}")  # fmt: skip
    quick = retained(array._parts, asked)
    return _like(array, _parts.rows_retained(array._parts, asked) if quick is None else (quick, asked))


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


def _stack(op, inputs, parsed, kind):
    """Matrices one below the other."""
    if kind != "csr":
        return None
    counts, total = [], 0
    for array in inputs:
        counts.append(array._parts[2][(1 if counts else 0) :] + total)
        total += len(array._parts[0])
    parts = torch.cat([x._parts[0] for x in inputs]), torch.cat([x._parts[1] for x in inputs]), torch.cat(counts)
    return _like(inputs[0], parts, (sum(x.shape[0] for x in inputs), inputs[0].shape[1]))


def _stored_count(op, inputs, parsed, kind):
    """What is stored counts, zeros too."""
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


def _length(op, inputs, parsed, kind):
    """Norms of all elements, or of a matrix along one axis: zeros add nothing."""
    array, axis, order = inputs[0], _one_axis(parsed), parsed["ord"]
    data = array._parts[0]
    if order not in (1, 2) or not data.is_floating_point():
        return None
    if axis is None:
        length = torch.linalg.vector_norm(data, order).reshape((1,) * (array.ndim if parsed["keepdims"] else 1))
    elif isinstance(array, CSRNDArray) and axis in _AXES:
        length = _along(array, data.abs() if order == 1 else data * data, axis, parsed["keepdims"])
        length = length if order == 1 else length.sqrt_()
    else:
        return None
    return wrap(length if parsed["out_dtype"] is None else length.to(torch_dtype(parsed["out_dtype"])), array._ctx)


_AXES = (0, 1, -1, -2)


def _one_axis(parsed):
    axis = parsed.get("axis")
    return axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis


def _along(array, data, axis, keepdims):
    """Sums of a matrix's elements along one axis."""
    _, column, starts = array._parts
    by_row = axis in (1, -1)
    place = _parts.row_numbers(starts) if by_row else column
    total = data.new_zeros(array.shape[0 if by_row else 1]).index_add_(0, place, data)
    return total.unsqueeze(axis) if keepdims else total


def _total(op, inputs, parsed, kind):
    """Sums and means of a matrix along one axis; of integers, unlike those of dense arrays, they stay integers."""
    array, axis = inputs[0], _one_axis(parsed)
    if not isinstance(array, CSRNDArray) or axis not in _AXES or parsed.get("exclude"):
        return None
    total = _along(array, array._parts[0], axis, parsed.get("keepdims"))
    if op.name == "mean":
        total = torch.div(total, array.shape[axis], rounding_mode=None if total.is_floating_point() else "trunc")
    return wrap(total, array._ctx)


def _update(op, inputs, parsed, in_place):
    """An optimizer's step with a row-sparse gradient: its rows of weight and states, and nothing else.

    Sparse states have all rows from then on, as in MXNet, and a weight keeps those that it has.
    """
    weight, grad, *states = inputs
    if grad.stype != "row_sparse" or not parsed.get("lazy_update", True):
        return None
    if op.name == "ftrl_update" and weight.stype != "row_sparse":
        return None
    data, rows = grad._parts
    opened = [opened_at(rows, array, whole=array is not weight) for array in (weight, *states)]
    parts = [values.index_select(0, places) for values, places, _ in opened]
    fresh = _function(op, parts[0], data, *parts[1:], **parsed)
    for array, (values, places, kept), part in zip(states, opened[1:], parts[1:], strict=True):
        wrote(values.index_copy_(0, places, part))
        if kept is not None:
            array._replace((values, kept))
    values, places, kept = opened[0]
    if kept is not None:
        return _like(weight, (values.index_copy_(0, places, fresh), kept))
    if in_place:
        check_writable(weight)
        wrote(values.index_copy_(0, places, fresh))
        return weight
    return wrap(values.clone().index_copy_(0, places, fresh), weight._ctx)


_KERNELS = {
    **dict.fromkeys(storage.ALIKE, _elementwise),
    "elemwise_mul": _product,
    **dict.fromkeys(("broadcast_mul", "broadcast_div"), _scaled),
    "_scatter_elemwise_div": _scattered,
    "add_n": _sum_of_rows,
    "_sparse_retain": _retain,
    "_square_sum": _square_sum,
    "slice": _slice,
    "Concat": _stack,
    "cast_storage": _cast,
    "_contrib_getnnz": _stored_count,
    "take": _take,
    "norm": _length,
    **dict.fromkeys(("sum", "mean"), _total),
    **dict.fromkeys(
        ("sgd_update", "sgd_mom_update", "adam_update", "ftrl_update", "_sparse_adagrad_update",
         "_contrib_group_adagrad_update"), _update,
    ),
}  # fmt: skip
