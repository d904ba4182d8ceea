"""Operators that reduce, search and sort along axes."""

import math

import numpy as np

from ..... import symbol as sym
from .._node import converts
from .shapes import constant

PLAIN = {"ReduceSum": "sum", "ReduceMean": "mean", "ReduceMax": "max", "ReduceMin": "min", "ReduceProd": "prod"}

EXTREMES = {"ReduceMax": -math.inf, "ReduceMin": math.inf}


def _axes(node):
    """The axes as MXNet has them (all: none named), or None when nothing is to be reduced."""
    axes = node.ints(1, "axes")
    if not axes and node.attr("noop_with_empty_axes", 0):
        return None
    return {"axis": tuple(axes) if axes else (), "keepdims": bool(node.attr("keepdims", 1))}


@converts(*PLAIN)
def _reduce(node):
    axes = _axes(node)
    if axes is None:
        return node.call("identity", node.sym())
    x = node.sym()
    if node.op in EXTREMES and 0 in (node.importer.shape_of(node.inputs[0]) or []):
        return _of_nothing(node, EXTREMES[node.op])
    if node.dtype() == "bool":
        return sym.cast(node.call(PLAIN[node.op], sym.cast(x, dtype="uint8"), **axes), dtype="bool")
    return node.call(PLAIN[node.op], x, **axes)


def _of_nothing(node, value):
    """The extreme of no elements, which MXNet's operators refuse to name."""
    dtype = np.dtype(node.dtype())
    if dtype.kind == "b":
        value = value > 0
    elif dtype.kind in "iu":
        limits = np.iinfo(dtype)
        value = limits.max if value > 0 else limits.min
    shape = node.importer.shapes.get(node.outputs[0])
    if shape is None:
        raise node.refuse("the shape of its output cannot be inferred; give the model's inputs shapes")
    return constant(node, np.array([value], dtype), shape)


def _of(before, after=None):
    def convert(node):
        x, axes = before(node.sym()), _axes(node)
        result = x if axes is None else sym.sum(x, **axes)
        return after(result) if after else result

    return convert


converts("ReduceL1")(_of(sym.abs))
converts("ReduceL2")(_of(sym.square, sym.sqrt))
converts("ReduceSumSquare")(_of(sym.square))
converts("ReduceLogSum")(_of(lambda x: x, sym.log))


@converts("ReduceLogSumExp")
def _log_sum_exp(node):
    x, axes = node.sym(), _axes(node)
    if axes is None:
        return node.call("identity", x)
    if 0 in (node.importer.shape_of(node.inputs[0]) or []):
        return _of_nothing(node, -math.inf)
    top = sym.max(x, axis=axes["axis"], keepdims=True)
    rest = sym.log(sym.sum(sym.exp(sym.broadcast_sub(x, top)), **axes))
    return rest + (top if axes["keepdims"] else sym.max(x, **axes))


@converts("ArgMax", "ArgMin")
def _arg(node):
    operator, axis = node.op.lower(), node.attr("axis", 0)
    keepdims = bool(node.attr("keepdims", 1))
    x = node.sym()
    if node.attr("select_last_index", 0):
        size = node.shape()[axis]
        if not isinstance(size, int):
            raise node.refuse("select_last_index needs a size that is known")
        x = size - 1 - getattr(sym, operator)(sym.flip(x, axis=axis % node.rank()), axis=axis, keepdims=keepdims)
        return sym.cast(x, dtype="int64")
    return sym.cast(node.call(operator, x, axis=axis, keepdims=keepdims), dtype="int64")


@converts("TopK")
def _top_k(node):
    count = int(node.const(1).ravel()[0]) if node.opset >= 10 else node.attr("k")
    ascending = not node.attr("largest", 1)
    found = sym.topk(
        node.sym(), k=count, axis=node.attr("axis", -1), ret_typ="both", is_ascend=ascending, dtype="int64"
    )
    return [found[0], found[1]]


@converts("CumSum")
def _cumsum(node):
    axis = int(node.const(1).ravel()[0])
    x = node.sym()
    backwards = bool(node.attr("reverse", 0))
    turned = sym.flip(x, axis=axis % node.rank()) if backwards else x
    total = sym.cumsum(turned, axis=axis)
    if node.attr("exclusive", 0):
        total = sym.broadcast_sub(total, turned)
    return sym.flip(total, axis=axis % node.rank()) if backwards else total


@converts("Hardmax")
def _hardmax(node):
    axis = node.attr("axis", -1 if node.opset >= 13 else 1)
    if node.opset < 13 and axis % node.rank() != node.rank() - 1:
        raise node.refuse("only over the last axis")
    depth = node.shape()[axis]
    if not isinstance(depth, int):
        raise node.refuse("the size of its axis must be known")
    hot = sym.one_hot(sym.argmax(node.sym(), axis=axis), depth=depth)
    return moved_last_to(hot, axis, node.rank())


def moved_last_to(x, axis, rank):
    """The last axis moved to `axis`."""
    axis = axis % rank
    if axis == rank - 1:
        return x
    order = list(range(rank - 1))
    order.insert(axis, rank - 1)
    return sym.transpose(x, axes=tuple(order))


@converts("LpNormalization")
def _lp_normalization(node):
    x, axis = node.sym(), node.attr("axis", -1)
    size = sym.norm(x, ord=node.attr("p", 2), axis=axis, keepdims=True)
    # where all is zero, zero it stays
    return node.call("broadcast_div", x, size + (size == 0))


@converts("OneHot")
def _one_hot(node):
    depth = int(node.const(1).ravel()[0])
    off, on = (float(v) for v in node.const(2))
    indices = sym.cast(node.sym(), dtype="float32")
    hot = sym.one_hot(sym._internal._mod_scalar(indices, scalar=float(depth)), depth=depth, on_value=on, off_value=off)
    inside = sym.expand_dims((indices >= -depth) * (indices < depth), axis=-1)
    hot = sym.broadcast_add(sym.broadcast_mul(hot - off, inside), sym.zeros_like(hot)) + off
    hot = hot if node.dtype(2) == "float32" else sym.cast(hot, dtype=node.dtype(2))
    return moved_last_to(hot, node.attr("axis", -1) % (node.rank() + 1), node.rank() + 1)
