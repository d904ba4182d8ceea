"""Operators of torch in ONNX's operators, where torch's exporter has no translation or a wrong one."""

import math

import torch

from ._detection import standing

aten = torch.ops.aten


def table():
    """{operator of torch: function that writes it}."""
    return {
        aten.sort.stable: sort,
        aten.searchsorted.Tensor: searchsorted,
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
    """Sums by a divisor of their own too, which torch's exporter forgets; pads may be as wide as the window."""
    op, count = _operators(), len(self.shape) - 2
    kernel, steps, pads = (_each(v, count) for v in (kernel_size, stride or kernel_size, padding))
    narrow = all(p < k for p, k in zip(pads, kernel, strict=True))
    if divisor_override is None and not ceil_mode and narrow:
        return op.AveragePool(
            self, kernel_shape=kernel, strides=steps, pads=pads * 2, count_include_pad=int(count_include_pad)
        )
    over = [s - 1 for s in steps] if ceil_mode else [0] * count
    window = {"kernel_shape": kernel, "strides": steps}
    mean = op.AveragePool(_padded(op, self, pads, over), **window)
    if divisor_override is not None:
        result = op.Mul(mean, op.CastLike(op.Constant(value_float=math.prod(kernel) / divisor_override), mean))
    else:  # by how many elements of the window count
        ones = op.Expand(op.CastLike(op.Constant(value_float=1.0), self), op.Shape(self))
        ones = _padded(op, ones, pads, [0] * count, 1.0 if count_include_pad else 0.0)
        result = op.Div(mean, op.AveragePool(_padded(op, ones, [0] * count, over), **window))
    return _within(op, self, result, kernel, steps, pads) if ceil_mode else result


def _each(value, count):
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    return values * count if len(values) == 1 else values


def _padded(op, x, pads, over, value=0.0):
    if not any(pads) and not any(over):
        return x
    width = [0, 0, *pads, 0, 0, *(p + o for p, o in zip(pads, over, strict=True))]
    return op.Pad(x, op.Constant(value_ints=width), op.CastLike(op.Constant(value_float=value), x))


def _within(op, x, result, kernel, steps, pads):
    """torch leaves out a last window that would begin behind the data."""
    if all(p + s <= k for p, s, k in zip(pads, steps, kernel, strict=True)):
        return result
    sizes = [
        min(-(-(n + 2 * p - k) // s) + 1, -(-(n + p) // s))
        for n, p, k, s in zip(x.shape[2:], pads, kernel, steps, strict=True)
    ]
    axes = list(range(2, len(sizes) + 2))
    return op.Slice(
        result,
        op.Constant(value_ints=[0] * len(sizes)),
        op.Constant(value_ints=sizes),
        op.Constant(value_ints=axes),
    )


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
