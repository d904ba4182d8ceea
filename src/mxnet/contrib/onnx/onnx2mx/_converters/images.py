"""Images: resized, sampled at given places, cut into regions."""

import math

import numpy as np

from ..... import symbol as sym
from .._node import Unknown, converts


@converts("Upsample", "Resize")
def _resize(node):
    """Axis by axis, since every way of resizing is a linear map of each axis."""
    x, rank, own = node.sym(), node.rank(), node.shape()
    given = _scales_or_sizes(node, rank)
    crop = _crop(node, given)
    for axis, (kind, value) in given.items():
        if not crop and ((kind == "scales" and value == 1) or (kind == "sizes" and value == own[axis])):
            continue
        if isinstance(own[axis], Unknown):
            return _upsampled(node, x, rank, given)
        x = _along(node, x, _map(node, own[axis], kind, value, crop.get(axis)), axis)
        if axis in crop:
            x = _outside(node, x, own[axis], kind, value, crop[axis], axis)
    return sym.identity(x, name=node.name)


def _crop(node, given):
    """{axis: (start, end)} of the part that is resized, if it is only a part."""
    if node.attr("coordinate_transformation_mode") != "tf_crop_and_resize":
        return {}
    region = node.const(1).tolist()
    return {axis: (region[i], region[i + len(given)]) for i, axis in enumerate(given)}


def _outside(node, x, size, kind, value, region, axis):
    """What lies outside the data gets a value of its own."""
    filler = node.attr("extrapolation_value", 0.0)
    outside = _map(node, size, kind, value, region, filler=1.0, data=np.zeros((1, size), np.float32))[0] * filler
    if not outside.any():
        return x
    column = outside.astype(node.dtype()).reshape((-1,) + (1,) * (node.rank() - 1 - axis))
    return sym.broadcast_add(x, node.parameter(f"outside{axis}", column))


def _scales_or_sizes(node, rank):
    """{axis: ("scales" or "sizes", value)}."""
    if node.op == "Upsample":
        values, kind = node.attr("scales") or node.const(1).tolist(), "scales"
    else:
        index = 2 if node.opset >= 11 else 1
        scales = node.const(index) if node.has(index) else np.zeros(0)
        values, kind = (scales.tolist(), "scales") if scales.size else (node.const(3).tolist(), "sizes")
    axes = [a % rank for a in node.attr("axes") or range(rank)]
    policy = node.attr("keep_aspect_ratio_policy", "stretch")
    if kind == "sizes" and policy != "stretch":
        own = node.shape()
        choose = min if policy == "not_larger" else max
        scale = choose(v / own[a] for a, v in zip(axes, values, strict=True))
        values = [math.floor(scale * own[a] + 0.5) for a in axes]
    return {axis: (kind, value) for axis, value in zip(axes, values, strict=True)}


def _map(node, size, kind, value, region=None, filler=0.0, data=None):
    """The matrix (old size, new size) of the resizing: what it makes of the unit vectors (or other data)."""
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    skip = ("axes", "keep_aspect_ratio_policy", "scales")
    attrs = {name: v for name, v in node.attrs.items() if name not in skip}
    if node.op == "Upsample":
        attrs.update(coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    data = np.eye(size, dtype=np.float32) if data is None else data
    new = {"scales": np.array([1, value], np.float32), "sizes": np.array([len(data), value], np.int64)}
    feed = {"x": data, kind: new[kind]}
    if region:
        feed["roi"] = np.array([0, region[0], 1, region[1]], np.float32)
        attrs["extrapolation_value"] = filler
    inputs = ["x", "roi" if region else "", *(["scales"] if kind == "scales" else ["", "sizes"])]
    proto = helper.make_node("Resize", inputs, ["y"], **attrs)
    return ReferenceEvaluator(proto, opsets={"": 19}).run(None, feed)[0]


def _along(node, x, matrix, axis):
    """`x` with the matrix applied along one axis; a matrix that only picks is a `take`."""
    picked = matrix.argmax(0)
    if (matrix == (np.arange(len(matrix))[:, None] == picked)).all():
        repeats = matrix.shape[1] // len(matrix)
        if picked.tolist() == np.repeat(range(len(matrix)), repeats).tolist():
            return sym.repeat(x, repeats=repeats, axis=axis)
        pieces = [sym.slice_axis(x, axis=axis, begin=int(i), end=int(i) + 1) for i in picked]
        return sym.concat(*pieces, dim=axis)
    last = node.rank() - 1
    weights = node.parameter(f"resize{axis}", matrix.astype(node.dtype()))
    turned = sym.swapaxes(x, dim1=axis, dim2=last) if axis != last else x
    turned = sym.dot(turned, weights)
    return sym.swapaxes(turned, dim1=axis, dim2=last) if axis != last else turned


def _upsampled(node, x, rank, given):
    """Images of unknown size can only be enlarged by a whole factor, each pixel repeated."""
    factors = {a: v for a, (kind, v) in given.items() if kind == "scales" and v != 1}
    if node.attr("mode", "nearest") != "nearest" or any(v != int(v) or v < 1 for v in factors.values()):
        raise node.refuse("resizing images of unknown size is possible by nearest and whole factors only")
    for axis, factor in factors.items():
        x = sym.repeat(x, repeats=int(factor), axis=axis)
    return sym.identity(x, name=node.name)
