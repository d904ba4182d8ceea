"""Operators that change shapes, and those that cut, join and pick."""

import numpy as np

from ..... import symbol as sym
from .._node import Unknown, converts

ENDS = 2**31 - 1  # beyond: "to the end"


@converts("Reshape")
def _reshape(node):
    shape = list(node.attr("shape")) if node.opset < 5 else node.sizes(1)
    if node.attr("allowzero", 0) and 0 in shape:
        raise node.refuse("a size of zero cannot be imported")
    if not shape:
        shape = [1]
    node.importer.refine(node.outputs[0], shape)
    return node.call("reshape", node.sym(), shape=tuple(known_shape(node, shape)))


def known_shape(node, shape):
    """Sizes that only the data tell, as codes: 0 keeps the input's size there, one -1 takes what is left."""
    own = node.importer.shape_of(node.inputs[0]) or []
    codes = []
    for axis, size in enumerate(shape):
        if not isinstance(size, Unknown):
            codes.append(size)
        elif axis < len(own) and size == own[axis]:
            codes.append(0)
        else:
            codes.append(-1)
    if codes.count(-1) > 1:
        raise node.refuse(f"more than one size of the shape {shape} is unknown; give the model's inputs fixed sizes")
    return codes


@converts("Flatten")
def _flatten(node):
    axis, rank = node.attr("axis", 1), node.rank()
    axis = axis + rank if axis < 0 else axis
    if axis == 1:
        return node.call("Flatten", node.sym())
    front = node.shape()[:axis]
    if any(isinstance(n, Unknown) for n in front):
        raise node.refuse("the sizes before its axis must be known")
    return node.call("reshape", node.sym(), shape=(int(np.prod(front)), -1) if axis else (1, -1))


@converts("Transpose")
def _transpose(node):
    axes = node.attr("perm")
    return node.call("transpose", node.sym(), **({"axes": tuple(axes)} if axes else {}))


@converts("Squeeze")
def _squeeze(node):
    axes = node.ints(1, "axes")
    return node.call("squeeze", node.sym(), **({"axis": tuple(axes)} if axes else {}))


@converts("Unsqueeze")
def _unsqueeze(node):
    axes = node.ints(1, "axes")
    rank = (node.rank() if any(a < 0 for a in axes) else 0) + len(axes)
    x = node.sym()
    for axis in sorted(a + rank if a < 0 else a for a in axes):
        x = sym.expand_dims(x, axis=axis)
    return sym.identity(x, name=node.name)


@converts("Concat")
def _concat(node):
    axis = node.attr("axis", 1)
    parts = [i for i in range(len(node.inputs)) if not _empty(node, i, axis)]
    return (
        node.call("concat", *map(node.sym, parts), dim=axis) if len(parts) > 1 else node.sym(parts[0] if parts else 0)
    )


def _empty(node, index, axis):
    """Is there nothing along the axis? MXNet's arrays always have something."""
    shape = node.importer.shape_of(node.inputs[index])
    return shape is not None and shape[axis] == 0


@converts("Split")
def _split(node):
    axis = node.attr("axis", 0)
    sizes = node.ints(1, "split")
    if sizes is None:
        total, count = node.shape()[axis], len(node.outputs)
        if isinstance(total, Unknown):
            raise node.refuse("the size of its axis must be known")
        each = -(-total // count)
        sizes = [each] * (total // each) + ([total % each] if total % each else [])
    ends = np.cumsum(sizes).tolist()
    for name, size in zip(node.outputs, sizes, strict=True):
        if size == 0:  # such a part stays unused, see Concat
            node.importer.shapes[name] = [*node.shape()[:axis], 0, *node.shape()[axis % node.rank() + 1 :]]
    front = (None,) * (axis % node.rank())
    return [sym.slice(node.sym(), begin=(*front, e - s), end=(*front, e)) for s, e in zip(sizes, ends, strict=True)]


@converts("Slice")
def _slice(node):
    starts, ends, axes = node.ints(1, "starts"), node.ints(2, "ends"), node.ints(3, "axes")
    steps = node.ints(4, "steps") if node.opset >= 10 else None
    axes = list(range(len(starts))) if axes is None else axes
    axes = [a + node.rank() if a < 0 else a for a in axes]
    begin, end, step = ([None] * (max(axes) + 1) for _ in range(3))
    for i, axis in enumerate(axes):
        begin[axis], end[axis], step[axis] = starts[i], ends[i], (steps[i] if steps else 1)
        if abs(ends[i]) >= ENDS or _past(node, axis, ends[i], step[axis]):
            end[axis] = None
        if abs(starts[i]) >= ENDS or _past(node, axis, starts[i], -step[axis]):
            begin[axis] = None
    return node.call("slice", node.sym(), begin=tuple(begin), end=tuple(end), step=tuple(step))


def _past(node, axis, position, direction):
    """Is the position outside, on the side that a walk in this direction ends?"""
    size = (node.importer.shape_of(node.inputs[0]) or [Unknown()] * (axis + 1))[axis]
    if isinstance(size, Unknown):
        return False
    return position >= size if direction > 0 else position < -size


@converts("Expand")
def _expand(node):
    sizes = node.sizes(1)
    x, own = node.sym(), node.shape() or [1]
    for _ in range(len(sizes) - len(own)):
        x = sym.expand_dims(x, axis=0)
    own = [1] * (len(sizes) - len(own)) + own
    sizes = [1] * (len(own) - len(sizes)) + sizes
    open_axes = [i for i, (n, o) in enumerate(zip(sizes, own, strict=True)) if isinstance(n, Unknown) and o == 1]
    if open_axes:
        return _expanded(node, x, {i: sizes[i] for i in open_axes}, sizes)
    return node.call("broadcast_to", x, shape=tuple(0 if n == 1 or isinstance(n, Unknown) else n for n in sizes))


def _expanded(node, x, unknown, sizes):
    """Along axes whose sizes only the data tell: by adding zeros of those sizes."""
    dtype = node.dtype()
    x = sym.cast(x, dtype="uint8") if dtype == "bool" else x
    for axis, size in unknown.items():
        zeros = sym.cast(zeros_of_size(node, size), dtype="uint8" if dtype == "bool" else dtype)
        x = sym.broadcast_add(x, sym.reshape(zeros, shape=(-1,) + (1,) * (len(sizes) - 1 - axis)))
    x = sym.broadcast_to(x, shape=tuple(0 if n == 1 or isinstance(n, Unknown) else n for n in sizes))
    return node.call("cast", x, dtype=dtype)


@converts("ConstantOfShape")
def _constant_of_shape(node):
    from onnx.numpy_helper import to_array

    value = node.attr("value")
    return constant(node, np.zeros(1, np.float32) if value is None else to_array(value), node.sizes(0))


def constant(node, value, sizes):
    """One number everywhere; a size that only the data tell is that of an input of the model."""
    if np.unique(value).size != 1:
        raise node.refuse(f"the shape {sizes} must be known")
    dtype, shape = value.dtype.name, [1 if isinstance(n, Unknown) else n for n in sizes]
    node.claim(*shape)
    result = node.parameter("value", np.full(shape, value.ravel()[0]))
    for axis, size in enumerate(sizes):
        if isinstance(size, Unknown):
            zeros = sym.cast(zeros_of_size(node, size), dtype=dtype)
            result = sym.broadcast_add(result, sym.reshape(zeros, shape=(-1,) + (1,) * (len(sizes) - 1 - axis)))
    return result


def zeros_of_size(node, size):
    """As many zeros in a row as the size is, made from a value that has it: the one it was asked of, or an input."""
    if size.source:
        source, axis = size.source
        return sym.zeros_like(sym.contrib.arange_like(sym.cast(source, dtype="float32"), axis=axis))
    root = node.importer.root
    for name in root.inputs:
        shape = root.shapes.get(name, [])
        if size in shape:
            others = tuple(i for i in range(len(shape)) if i != shape.index(size))
            source = root.symbol_of(name, node)
            return sym.zeros_like(sym.sum(source, axis=others) if others else source)
    raise node.refuse(f"the size {size} is not that of an input; give the model's inputs fixed sizes")


@converts("Tile")
def _tile(node):
    return node.call("tile", node.sym(), reps=tuple(node.ints(1, "repeats")))


@converts("Gather")
def _gather(node):
    indices = node.sym(1)
    result = node.call("take", node.sym(0), indices, axis=node.attr("axis", 0), mode="wrap")
    if node.rank(1) == 0:
        result = sym.squeeze(result, axis=node.attr("axis", 0)) if node.rank(0) > 1 else result
    return result


@converts("GatherND")
def _gather_nd(node):
    batch, indices = node.attr("batch_dims", 0), node.sym(1)
    if batch:  # the element's own place along the first axes comes before its indices
        one = sym.squeeze(sym.slice_axis(indices, axis=-1, begin=0, end=1), axis=-1)
        own = sym.contrib.index_array(one, axes=tuple(range(batch)))
        indices = sym.concat(own, sym.cast(indices, dtype="int64"), dim=-1)
    return node.call("gather_nd", node.sym(0), coordinates_first(indices, node.rank(1)))


def coordinates_first(indices, rank):
    """Rows of coordinates, as MXNet has them, out of ONNX's indices, whose last axis they are."""
    return sym.transpose(indices, axes=(rank - 1, *range(rank - 1)))


@converts("DepthToSpace")
def _depth_to_space(node):
    size, x = node.attr("blocksize"), node.sym()
    if node.attr("mode", "DCR") == "DCR":
        return node.call("depth_to_space", x, block_size=size)
    x = sym.reshape(x, shape=(0, -4, -1, size * size, 0, 0))
    x = sym.reshape(x, shape=(0, 0, -4, size, size, 0, 0))
    x = sym.transpose(x, axes=(0, 1, 4, 2, 5, 3))
    return node.call("reshape", x, shape=(0, 0, -3, -3))


@converts("SpaceToDepth")
def _space_to_depth(node):
    size, x = node.attr("blocksize"), node.sym()
    if node.attr("mode", "DCR") == "DCR":
        return node.call("space_to_depth", x, block_size=size)
    x = sym.reshape(sym.reshape(x, shape=(0, 0, -4, -1, size, 0)), shape=(0, 0, 0, 0, -4, -1, size))
    x = sym.transpose(x, axes=(0, 1, 3, 5, 2, 4))
    return node.call("reshape", sym.reshape(x, shape=(0, -3, 0, 0, 0)), shape=(0, -3, 0, 0))


@converts("Trilu")
def _trilu(node):
    """Chosen, not multiplied: infinities in the other half must go as well."""
    shift = int(node.const(1).ravel()[0]) if node.has(1) else 0
    logical = node.dtype() == "bool"
    x = sym.cast(node.sym(), dtype="uint8") if logical else node.sym()
    counted = sym.cast(x, dtype="float32")
    rows, columns = (sym.contrib.arange_like(counted, axis=axis) for axis in (-2, -1))
    apart = sym.broadcast_sub(columns, sym.reshape(rows, shape=(-1, 1)))
    mask = apart >= shift if node.attr("upper", 1) else apart <= shift
    mask = sym.broadcast_add(sym.zeros_like(counted), mask)
    half = node.call("where", mask, x, sym.zeros_like(x))
    return sym.cast(half, dtype="bool") if logical else half


@converts("Pad")
def _pad(node):
    pads = node.ints(1, "pads") or node.attr("paddings")
    rank = node.rank()
    if node.opset >= 18 and node.has(3):
        axes = [a % rank for a in node.const(3).tolist()]
        full = [0] * (2 * rank)
        for i, axis in enumerate(axes):
            full[axis], full[axis + rank] = pads[i], pads[i + len(axes)]
        pads = full
    value = float(node.const(2).ravel()[0]) if node.has(2) and node.const(2).size else node.attr("value", 0.0)
    return padded(node, node.sym(), pads, rank, node.attr("mode", "constant"), value)


def padded(node, x, pads, rank, mode="constant", value=0.0):
    """`x` padded by ONNX's list (all beginnings, then all ends); negative ones cut."""
    if mode == "wrap":
        return _wrapped(node, x, pads, rank)
    cuts = [(-min(pads[i], 0), min(pads[i + rank], 0) or None) for i in range(rank)]
    if any(begin or end for begin, end in cuts):
        x = sym.slice(x, begin=tuple(b for b, _ in cuts), end=tuple(e for _, e in cuts))
    pairs = [(max(pads[i], 0), max(pads[i + rank], 0)) for i in range(rank)]
    front = 2 if rank in (2, 3) else 3 if rank == 1 else 0
    for _ in range(front):
        x = sym.expand_dims(x, axis=0)
    pairs = [(0, 0)] * front + pairs
    x = _pad_behind(x, [(0, 0), (0, 0), *pairs[2:]], mode, value)
    if any(map(any, pairs[:2])):  # the operator leaves the first two axes alone: turn them to the back
        order = (*range(2, len(pairs)), 0, 1)
        x = _pad_behind(sym.transpose(x, axes=order), [(0, 0)] * (len(pairs) - 2) + pairs[:2], mode, value)
        x = sym.transpose(x, axes=(len(pairs) - 2, len(pairs) - 1, *range(len(pairs) - 2)))
    for _ in range(front):
        x = sym.squeeze(x, axis=0)
    return x


def _wrapped(node, x, pads, rank):
    """Around and around: the elements in front of the first are the last ones."""
    for axis, size in enumerate(node.shape()):
        before, after = pads[axis], pads[axis + rank]
        if not before and not after:
            continue
        if isinstance(size, Unknown):
            raise node.refuse("padding of mode wrap needs an input of known size")
        node.claim(max(0, before + size + after))
        places = np.arange(-before, size + after) % size
        x = sym.take(x, node.parameter(f"places{axis}", places), axis=axis)
    return x


def _pad_behind(x, pairs, mode, value):
    if not any(map(any, pairs)):
        return x
    width = tuple(n for pair in pairs for n in pair)
    return sym.Pad(x, mode=mode, pad_width=width, constant_value=value)


@converts("RandomNormal", "RandomUniform")
def _random(node):
    shape = tuple(node.attr("shape"))
    if node.op == "RandomNormal":
        return node.call("random_normal", loc=node.attr("mean", 0.0), scale=node.attr("scale", 1.0), shape=shape)
    return node.call("random_uniform", low=node.attr("low", 0.0), high=node.attr("high", 1.0), shape=shape)
