"""Images: resized, sampled at given places, cut into regions."""

import math

import numpy as np

from ..... import symbol as sym
from .._node import Unknown, converts
from .elementwise import rounded
from .windows import windows


@converts("Upsample", "Resize")
def _resize(node):
    """Axis by axis, since every way of resizing is a linear map of each axis."""
    x, rank, own = node.sym(), node.rank(), node.shape()
    given = _scales_or_sizes(node, rank)
    crop = _crop(node, given)
    given = {a: (kind, v) for a, (kind, v) in given.items() if crop or v != (1 if kind == "scales" else own[a])}
    if any(isinstance(size, Unknown) for axis, (_, value) in given.items() for size in (own[axis], value)):
        return _upsampled(node, x, given, crop)
    for axis, (kind, value) in given.items():
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
        values, kind = (scales.tolist(), "scales") if scales.size else (node.sizes(3), "sizes")
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
    rows = size if data is None else len(data)
    node.claim(rows, max(size, math.ceil(size * value) if kind == "scales" else value))
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


def _upsampled(node, x, given, crop):
    """Images of unknown size can only be enlarged by a whole factor, each pixel repeated."""
    whole = all(kind == "scales" and v == int(v) >= 1 for kind, v in given.values())
    if crop or node.attr("mode", "nearest") != "nearest" or not whole:
        raise node.refuse("resizing images of unknown size is possible by nearest and whole factors only")
    for axis, (_, factor) in given.items():
        x = sym.repeat(x, repeats=int(factor), axis=axis)
    return sym.identity(x, name=node.name)


@converts("GridSample")
def _grid_sample(node):
    """MXNet's sampler takes the corners' centres for -1 and 1, and zeros outside; other rules change the places."""
    mode, padding = node.attr("mode", "linear"), node.attr("padding_mode", "zeros")
    sizes = node.shape()[2:]
    if mode not in ("linear", "bilinear", "nearest") or len(sizes) != 2:
        raise node.refuse(f"samples of mode {mode} in {len(sizes)} axes cannot be imported")
    if any(isinstance(n, Unknown) or n < 2 for n in sizes):
        raise node.refuse("it needs an input of known size, two pixels at least")
    aligned = bool(node.attr("align_corners", 0))
    columns = []
    for i, size in enumerate(reversed(sizes)):  # x first
        place = sym.slice_axis(node.sym(1), axis=-1, begin=i, end=i + 1)
        place = (place + 1) * ((size - 1) / 2) if aligned else (place + 1) * (size / 2) - 0.5
        place = _inside(place, size, padding, aligned)
        place = rounded(place) if mode == "nearest" else place
        columns.append(place * (2 / (size - 1)) - 1)
    grid = sym.transpose(sym.concat(*columns, dim=-1), axes=(0, 3, 1, 2))
    return node.call("BilinearSampler", node.sym(), grid)


def _inside(place, size, padding, aligned):
    if padding == "zeros":
        return place
    if padding == "reflection":  # folded like a paper strip
        low, span = (0, size - 1) if aligned else (-0.5, size)
        turn = sym._internal._mod_scalar(sym.abs(place - low), scalar=2.0 * span)
        place = span - sym.abs(turn - span) + low
    return sym.clip(place, a_min=0, a_max=size - 1)


def _regions(node, rois, numbers):
    return sym.concat(sym.expand_dims(sym.cast(numbers, dtype=node.dtype(1)), axis=1), rois, dim=1)


@converts("RoiAlign")
def _roi_align(node):
    if node.attr("mode", "avg") != "avg":
        raise node.refuse("only averages of the samples can be imported")
    aligned = node.attr("coordinate_transformation_mode", "half_pixel" if node.opset >= 16 else "output_half_pixel")
    return node.call(
        "contrib.ROIAlign", node.sym(), _regions(node, node.sym(1), node.sym(2)), aligned=aligned == "half_pixel",
        pooled_size=(node.attr("output_height", 1), node.attr("output_width", 1)),
        spatial_scale=node.attr("spatial_scale", 1.0), sample_ratio=node.attr("sampling_ratio", 0),
    )  # fmt: skip


@converts("MaxRoiPool")
def _max_roi_pool(node):
    size, scale = tuple(node.attr("pooled_shape")), node.attr("spatial_scale", 1.0)
    return node.call("ROIPooling", node.sym(), node.sym(1), pooled_size=size, spatial_scale=scale)


@converts("Col2Im")
def _col2im(node):
    kernel = node.const(2).tolist()
    count = len(kernel)
    if count > 2:
        raise node.refuse(f"windows of {count} axes cannot be imported; MXNet's have one or two")
    strides, dilations, pads = (node.attr(n) for n in ("strides", "dilations", "pads"))
    pads = pads or [0] * 2 * count
    if pads[:count] != pads[count:]:
        raise node.refuse("pads that differ at the two ends cannot be imported")
    return node.call(
        "col2im", node.sym(), output_size=tuple(node.const(1).tolist()), kernel=tuple(kernel),
        stride=tuple(strides or [1] * count), dilate=tuple(dilations or [1] * count), pad=tuple(pads[:count]),
    )  # fmt: skip


@converts("DeformConv")
def _deform_conv(node):
    shape = node.shape(1)
    kernel = node.attr("kernel_shape") or shape[2:]
    strides, before, after, dilations = windows(node, kernel)
    if before != after:
        raise node.refuse("pads that differ at the two ends cannot be imported")
    mask = [node.sym(4)] if node.has(4) else []
    bias = [node.sym(3)] if node.has(3) else []
    operator = "contrib.ModulatedDeformableConvolution" if mask else "contrib.DeformableConvolution"
    return node.call(
        operator, node.sym(), node.sym(2), *mask, node.sym(1), *bias, kernel=tuple(kernel), stride=tuple(strides),
        pad=tuple(before), dilate=tuple(dilations), num_filter=shape[0], num_group=node.attr("group", 1),
        num_deformable_group=node.attr("offset_group", 1), no_bias=not bias,
    )  # fmt: skip


@converts("NonMaxSuppression")
def _non_max_suppression(node):
    """Rows (image, class, box) of the boxes that are left, best first within their class."""
    most = int(node.const(2).ravel()[0]) if node.has(2) else 0
    overlap, least = (float(node.const(i).ravel()[0]) if node.has(i) else None for i in (3, 4))
    scores = sym.expand_dims(node.sym(1), axis=-1)  # (images, classes, boxes, 1)
    boxes = sym.expand_dims(_corners(node), axis=1)
    boxes = sym.broadcast_like(boxes, scores, lhs_axes=(1,), rhs_axes=(1,))
    places = sym.cast(sym.contrib.index_array(node.sym(1)), dtype="float32")
    left = sym.contrib.box_nms(
        sym.concat(scores, boxes, places, dim=-1), overlap_thresh=overlap or 0.0, score_index=0, coord_start=1,
        valid_thresh=-3e38 if least is None else least,
    )  # fmt: skip
    left = sym.slice(left, begin=(None, None, 0, 5), end=(None, None, most, 8))
    rows = sym.reshape(left, shape=(-1, 3))
    found = sym.contrib.boolean_mask(rows, sym.reshape(sym.slice_axis(rows, axis=1, begin=2, end=3), shape=(-1,)) >= 0)
    return node.call("cast", found, dtype="int64")


def _corners(node):
    """Boxes by two corners, the smaller one first."""
    first, second = (sym.slice_axis(node.sym(), axis=-1, begin=i, end=i + 2) for i in (0, 2))
    if node.attr("center_point_box", 0):
        first, second = first - second / 2, first + second / 2
    return sym.concat(sym.broadcast_minimum(first, second), sym.broadcast_maximum(first, second), dim=-1)
