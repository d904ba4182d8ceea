"""Operators of torch in ONNX's operators, where torch's exporter has no translation or a wrong one."""

import numpy as np
import torch

from . import _detection  # noqa: F401 - registers the operator of the last entry

aten = torch.ops.aten


def table():
    """{operator of torch: function that writes it}."""
    return {
        aten.sort.stable: sort,
        aten.searchsorted.Tensor: searchsorted,
        aten.copysign.Tensor: copysign,
        aten.avg_pool1d.default: average_pool,
        aten.avg_pool2d.default: average_pool,
        aten.avg_pool3d.default: average_pool,
        torch.ops.remx.standing.default: left_standing,
    }


def _operators():
    from onnxscript import opset18

    return opset18


def sort(self, stable=None, dim=-1, descending=False):
    """All elements as the "top k" of them; of equals, ONNX too puts the one with the lower index first."""
    op = _operators()
    count = op.Gather(op.Shape(self), op.Constant(value_ints=[dim]))
    return op.TopK(self, count, axis=dim, largest=int(descending), sorted=1)


def copysign(self, other):
    """The size of one, the sign of the other (that of zeros is +, which no operator of ONNX tells from -)."""
    op = _operators()
    size = op.Abs(self)
    return op.Where(op.Less(other, op.CastLike(op.Constant(value_float=0.0), other)), op.Neg(size), size)


def searchsorted(sorted_sequence, self, out_int32=False, right=False, side=None, sorter=None):
    """How many elements lie before each value."""
    op = _operators()
    last = op.Constant(value_ints=[-1])
    edges = op.Unsqueeze(sorted_sequence, op.Constant(value_ints=[-2]))
    values = op.Unsqueeze(self, last)
    before = op.LessOrEqual(edges, values) if right or side == "right" else op.Less(edges, values)
    return op.ReduceSum(op.Cast(before, to=6 if out_int32 else 7), last, keepdims=0)


def average_pool(
    self, kernel_size, stride=(), padding=(0,), ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """Sums by a divisor of their own too, which torch's exporter forgets; sizes rounded up; pads of any width."""
    op, space = _operators(), list(self.shape)[2:]
    kernel, steps, pads = (_each(v, len(space)) for v in (kernel_size, stride or kernel_size, padding))
    window = {"kernel_shape": kernel, "strides": steps}
    narrow = all(p < k for p, k in zip(pads, kernel, strict=True))
    if divisor_override is None and not ceil_mode and narrow:
        return op.AveragePool(self, **window, pads=pads * 2, count_include_pad=int(count_include_pad))
    if not all(isinstance(n, int) for n in space):
        raise ValueError("such pooling of images of open size; give the sizes in in_shapes")
    counts = [_counts(*axis, ceil_mode) for axis in zip(space, kernel, steps, pads, strict=True)]
    within = narrow and all((real > 0).all() and len(real) == size for real, _, size in counts)
    if within:  # means over what is real, corrected by how much that is
        result = op.AveragePool(self, **window, pads=pads * 2, ceil_mode=int(ceil_mode), count_include_pad=0)
        shares = [real for real, _, _ in counts]
    else:
        result = op.AveragePool(_padded(op, self, kernel, steps, pads, counts), **window)
        shares = [np.full(len(real), k) for (real, _, _), k in zip(counts, kernel, strict=True)]
    factor = _outer(shares) / _divisor(counts, count_include_pad, divisor_override)
    if (factor == 1).all():
        return result
    return op.Mul(result, op.CastLike(op.Constant(value=onnx_tensor(factor[None, None])), result))


def _divisor(counts, count_include_pad, override):
    """What the sum of each window is divided by."""
    if override is not None:
        return _outer([np.full(len(real), 1.0) for real, _, _ in counts]) * override
    return _outer([whole if count_include_pad else np.maximum(real, 1) for real, whole, _ in counts])


def _each(value, count):
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * count if len(values) == 1 else values


def _counts(size, kernel, step, pad, upward):
    """Along an axis: how many elements of each window are real, how many are not beyond the pads; ONNX's number."""
    number = (size + 2 * pad - kernel + (step - 1 if upward else 0)) // step + 1
    inside = number - 1 if upward and (number - 1) * step >= size + pad else number  # torch leaves the last one out
    begin = np.arange(inside) * step - pad
    whole = np.minimum(begin + kernel, size + pad) - begin
    real = np.minimum(begin + kernel, size) - np.maximum(begin, 0)
    return np.maximum(real, 0), whole, number


def _outer(rows):
    result = np.ones(())
    for row in rows:
        result = np.multiply.outer(result, row)
    return result


def onnx_tensor(array):
    """A constant of floats."""
    from onnx.numpy_helper import from_array

    return from_array(array.astype(np.float32))


def _padded(op, x, kernel, steps, pads, counts):
    """Zeros around, as many as the windows reach; ONNX Runtime would move a plain zero into the pooling and refuse."""
    ends = [
        (len(real) - 1) * s + k - p - n
        for (real, _, _), s, k, p, n in zip(counts, steps, kernel, pads, list(x.shape)[2:], strict=True)
    ]
    first = op.Slice(
        op.Reshape(x, op.Constant(value_ints=[-1])), op.Constant(value_ints=[0]), op.Constant(value_ints=[1])
    )
    zero = op.Squeeze(op.CastLike(op.Less(first, first), x))
    return op.Pad(x, op.Constant(value_ints=[0, 0, *pads, 0, 0, *ends]), zero)


def left_standing(boxes, scores, overlap, least):
    """A mask out of ONNX's list of the boxes that are left."""
    op = _operators()
    found = op.NonMaxSuppression(
        boxes,
        op.Unsqueeze(scores, op.Constant(value_ints=[1])),
        op.Constant(value_ints=[2**31 - 1]),
        op.Constant(value_floats=[overlap]),
        op.Constant(value_floats=[least]),
    )
    places = op.Gather(found, op.Constant(value_ints=[0, 2]), axis=1)
    count = op.Slice(op.Shape(places), op.Constant(value_ints=[0]), op.Constant(value_ints=[1]))
    none = op.Expand(op.Constant(value_float=0.0), op.Shape(scores))
    return op.Cast(op.ScatterND(none, places, op.Expand(op.Constant(value_float=1.0), count)), to=9)
