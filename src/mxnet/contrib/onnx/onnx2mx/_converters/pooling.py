"""Pooling: MXNet's operator where it can say it, otherwise shifted copies of the data put together."""

import math

import numpy as np

from ..... import symbol as sym
from .._node import Unknown, converts
from .shapes import padded
from .windows import around, swept, swept_places, windows


class Pool:
    """A pooling node: its windows, and how far its data are to be padded."""

    def __init__(self, node):
        self.node, self.kernel = node, node.attr("kernel_shape")
        self.strides, self.before, self.after, self.dilations = windows(node, self.kernel)
        self.upward = bool(node.attr("ceil_mode", 0))
        self.holes = any(d != 1 for d in self.dilations)

    def attrs(self):
        full = "full" if self.upward else "valid"
        return {"kernel": tuple(self.kernel), "stride": tuple(self.strides), "pooling_convention": full}

    def padded(self, x, value=0.0, beyond=None):
        """The data with their pads; where sizes are rounded up, as many more (of value `beyond`) as a window wants."""
        rank, nothing = len(self.kernel) + 2, [0] * (len(self.kernel) + 2)
        x = padded(self.node, x, [0, 0, *self.before, 0, 0, *self.after], rank, value=value)
        if not self.upward:
            return x
        more = [0, 0, *(s - 1 for s in self.strides)]
        return padded(self.node, x, nothing + more, rank, value=value if beyond is None else beyond)

    def written_out(self):
        """A node for each place in a window, in each direction."""
        self.node.claim(sum(self.kernel), width=1 << 12)

    def swept(self, x, operator):
        self.written_out()
        return swept(x, operator, self.kernel, self.strides, self.dilations)

    def kept(self, x):
        """ONNX leaves out a last window that would lie in the padding alone."""
        sizes = (self.node.importer.shapes.get(self.node.outputs[0]) or [Unknown()] * (len(self.kernel) + 2))[2:]
        if not self.upward or not any(map(self._may_lie_behind, range(len(self.kernel)))):
            return x
        if any(isinstance(n, Unknown) for n in sizes):
            raise self.node.refuse("ceil_mode with such pads needs an input of known size")
        for axis, size in enumerate(sizes, 2):
            x = sym.slice_axis(x, axis=axis, begin=0, end=size)
        return x

    def _may_lie_behind(self, i):
        return self.after[i] + self.strides[i] > (self.kernel[i] - 1) * self.dilations[i] + 1


@converts("MaxPool")
def _max_pool(node):
    pool, x = Pool(node), node.sym()
    whole = node.dtype() in ("int8", "uint8")
    x = sym.cast(x, dtype="float32") if whole else x
    if sum(map(bool, node.outputs)) > 1:
        top, place = _max_with_places(pool, x)
        return [sym.cast(top, dtype=node.dtype()) if whole else top, place]
    if pool.holes:
        top = pool.swept(pool.padded(x, -math.inf), "broadcast_maximum")
    else:
        x, pad = around(node, x, pool.before, pool.after, len(pool.kernel), -math.inf)
        top = node.call("Pooling", x, pool_type="max", pad=tuple(pad), **pool.attrs())
    top = pool.kept(top)
    return sym.cast(top, dtype=node.dtype()) if whole else top


def _max_with_places(pool, x):
    places = pool.padded(_places(pool.node, x), -1.0)
    pool.written_out()
    found = swept_places(pool.padded(x, -math.inf), places, pool.kernel, pool.strides, pool.dilations)
    top, place = map(pool.kept, found)
    return top, sym.cast(place, dtype="int64")


def _places(node, x):
    """The place of each element in the whole of `x`; columns first if the node wants that."""
    flat = sym.contrib.arange_like(sym.cast(x, dtype="float64"))
    if not node.attr("storage_order", 0):
        return flat
    sizes = node.shape()[2:]
    if any(isinstance(n, Unknown) for n in sizes):
        raise node.refuse("storage_order 1 needs an input of known size")
    node.claim(*sizes)
    order = np.arange(math.prod(sizes)).reshape(sizes[::-1]).T  # where the elements of an image stand
    shift = order - np.arange(order.size).reshape(sizes)
    return sym.broadcast_add(flat, node.parameter("places", shift.astype("float64")[None, None]))


@converts("AveragePool")
def _average_pool(node):
    pool, counted = Pool(node), bool(node.attr("count_include_pad", 0))
    if pool.before == pool.after and not pool.upward and not pool.holes:
        attrs = {**pool.attrs(), "pad": tuple(pool.before), "count_include_pad": counted}
        return node.call("Pooling", node.sym(), pool_type="avg", **attrs)
    # the sum over the window by how many of its elements count
    ones = pool.padded(sym.ones_like(node.sym()), 1.0 if counted else 0.0, beyond=0.0)
    total, count = (pool.swept(v, "broadcast_add") for v in (pool.padded(node.sym()), ones))
    return pool.kept(node.call("broadcast_div", total, count))


@converts("LpPool")
def _lp_pool(node):
    pool, power = Pool(node), float(node.attr("p", 2))
    x = sym.abs(node.sym()) ** power
    if pool.holes or pool.upward:
        total = pool.swept(pool.padded(x), "broadcast_add")
    else:
        x, pad = around(node, x, pool.before, pool.after, len(pool.kernel))
        total = sym.Pooling(x, pool_type="sum", pad=tuple(pad), **pool.attrs())
    return pool.kept(total) ** (1 / power)


@converts("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(node):
    kind = "avg" if node.op == "GlobalAveragePool" else "max"
    return node.call("Pooling", node.sym(), pool_type=kind, global_pool=True, kernel=(1,) * (node.rank() - 2))


@converts("GlobalLpPool")
def _global_lp_pool(node):
    power, axes = float(node.attr("p", 2)), tuple(range(2, node.rank()))
    return sym.sum(sym.abs(node.sym()) ** power, axis=axes, keepdims=True) ** (1 / power)


@converts("MaxUnpool")
def _max_unpool(node):
    """Zeros, and each element at its place in the whole output."""
    shape = node.sizes(2) if node.has(2) else _unpooled_shape(node)
    if any(isinstance(n, Unknown) for n in shape):
        raise node.refuse("it needs an input of known size")
    own = shape if node.has(2) else None
    places = sym.cast(sym.reshape(node.sym(1), shape=(1, -1)), dtype="int64")
    if own is not None:  # places are those of the smaller output, which the windows would give
        places = _moved(node, places, _unpooled_shape(node), own)
    flat = sym.scatter_nd(sym.reshape(node.sym(), shape=(-1,)), places, shape=(math.prod(shape),))
    return node.call("reshape", flat, shape=tuple(shape))


def _unpooled_shape(node):
    kernel = node.attr("kernel_shape")
    strides, pads = node.attr("strides") or [1] * len(kernel), node.attr("pads") or [0] * 2 * len(kernel)
    space = [
        (n - 1) * s - pads[i] - pads[i + len(kernel)] + k
        for i, (n, s, k) in enumerate(zip(node.shape()[2:], strides, kernel, strict=True))
    ]
    return [*node.shape()[:2], *space]


def _moved(node, places, small, large):
    rows = sym.unravel_index(places, shape=tuple(small))
    return sym.ravel_multi_index(sym.reshape(rows, shape=(len(small), -1)), shape=tuple(large)).reshape((1, -1))
