"""Backward shape inference: input shapes from output shapes, for the operators for which MXNet does it.

A rule takes (attributes, input shapes, output shapes) and returns refined input shapes; 0 is an unknown size.
"""

from collections.abc import Callable, Sequence
from math import prod

from ..._ops.registry.registry import Attrs

Shape = tuple[int, ...]
Shapes = list[Shape | None]
Rule = Callable[[Attrs, Shapes, Shapes], Shapes]


def _fill_size(shapes: Shapes, index: int, axis: int, size: int) -> Shapes:
    """`shapes` with one unknown size filled in."""
    shape = shapes[index]
    if shape is None or not size or not -len(shape) <= axis < len(shape) or shape[axis]:
        return shapes
    axis %= len(shape)
    better = (*shape[:axis], size, *shape[axis + 1 :])
    return [*shapes[:index], better, *shapes[index + 1 :]]


def _fill_shape(shapes: Shapes, index: int, shape: Shape) -> Shapes:
    """`shapes` with what is unknown of one of them taken from `shape`."""
    if shapes[index] is None:
        return [*shapes[:index], shape, *shapes[index + 1 :]]
    for axis, size in enumerate(shape):
        shapes = _fill_size(shapes, index, axis, size)
    return shapes


def _fully_connected(attrs: Attrs, ins: Shapes, outs: Shapes) -> Shapes:
    out = outs[0]
    if out is None:
        return ins
    if attrs["flatten"]:
        return _fill_size(ins, 0, 0, out[0])
    for axis, size in enumerate(out[:-1]):
        ins = _fill_size(ins, 0, axis, size)
    return ins


def _convolution(attrs: Attrs, ins: Shapes, outs: Shapes) -> Shapes:
    """The batch size, and the spatial sizes along axes with stride 1."""
    out = outs[0]
    kernel = attrs["kernel"]
    if out is None or len(out) != len(kernel) + 2 or (attrs.get("layout") or "NC").find("C") != 1:
        return ins
    ins = _fill_size(ins, 0, 0, out[0])
    count = len(kernel)
    strides = attrs["stride"] or (1,) * count
    dilates = attrs["dilate"] or (1,) * count
    pads = attrs["pad"] or (0,) * count
    for i in range(count):
        if strides[i] == 1 and out[i + 2]:
            ins = _fill_size(ins, 0, i + 2, out[i + 2] + dilates[i] * (kernel[i] - 1) - 2 * pads[i])
    return ins


def _concat(attrs: Attrs, ins: Shapes, outs: Shapes) -> Shapes:
    out = outs[0]
    if out is None:
        return ins
    joined = attrs["dim"] % len(out)
    for i in range(len(ins)):
        for axis, size in enumerate(out):
            if axis != joined:
                ins = _fill_size(ins, i, axis, size)
    sizes = [s[joined] if s is not None and len(s) == len(out) else 0 for s in ins]
    if out[joined] and sizes.count(0) == 1:
        ins = _fill_size(ins, sizes.index(0), joined, out[joined] - sum(sizes))
    return ins


def _rnn_param_concat(attrs: Attrs, ins: Shapes, outs: Shapes) -> Shapes:
    """Flat parameters of a recurrent layer: the unknown ones (one for each direction) have equal sizes."""
    out = outs[0]
    unknown = [i for i, s in enumerate(ins) if s is None or s == (0,)]
    if out is None or not out[0] or not unknown:
        return ins
    left = out[0] - sum(s[0] for s in ins if s)
    share = (left // len(unknown),)
    return [share if i in unknown else s for i, s in enumerate(ins)]


def _split(attrs: Attrs, ins: Shapes, outs: Shapes) -> Shapes:
    seen = [s for s in outs if s is not None]
    if not seen:
        return ins
    out = tuple(max(sizes) for sizes in zip(*seen, strict=False))
    parts, squeezed = attrs["num_outputs"], attrs["squeeze_axis"]
    cut = attrs["axis"] % (len(out) + squeezed)
    joined = (*out[:cut], parts, *out[cut:]) if squeezed else (*out[:cut], out[cut] * parts, *out[cut + 1 :])
    return _fill_shape(ins, 0, joined)


def _transpose(attrs: Attrs, ins: Shapes, outs: Shapes) -> Shapes:
    out = outs[0]
    if out is None:
        return ins
    axes = attrs["axes"] or tuple(reversed(range(len(out))))
    back = [0] * len(out)
    for position, axis in enumerate(axes):
        back[axis] = out[position]
    return _fill_shape(ins, 0, tuple(back))


def _reshape(attrs: Attrs, ins: Shapes, outs: Shapes) -> Shapes:
    """One unknown size of the input follows from how many elements the output has."""
    shape, out = ins[0], outs[0]
    if shape is None or out is None or 0 in out or shape.count(0) != 1:
        return ins
    rest = prod(s for s in shape if s)
    return _fill_size(ins, 0, shape.index(0), prod(out) // rest) if prod(out) % rest == 0 else ins


def _same_axes(*axes: int) -> Rule:
    """The first input shares these axes with the output."""

    def rule(attrs: Attrs, ins: Shapes, outs: Shapes) -> Shapes:
        out = outs[0]
        for axis in axes if out is not None else ():
            ins = _fill_size(ins, 0, axis, out[axis] if axis < len(out) else 0)  # type: ignore[index]
        return ins

    return rule


def _first_like(attrs: Attrs, ins: Shapes, outs: Shapes) -> Shapes:
    """The first input and the first output have one shape."""
    out = outs[0]
    if out is None:
        return ins
    return _fill_shape(ins, 0, out)


def _pair_like(attrs: Attrs, ins: Shapes, outs: Shapes) -> Shapes:
    """The first two inputs have the shape of the first output; the others are ranges."""
    return [*_all_like(attrs, ins[:2], outs), *ins[2:]]


def _all_like(attrs: Attrs, ins: Shapes, outs: Shapes) -> Shapes:
    """All inputs and the output have one shape."""
    out = outs[0]
    if out is None:
        return ins
    for i in range(len(ins)):
        ins = _fill_shape(ins, i, out)
    return ins


def _each_like(attrs: Attrs, ins: Shapes, outs: Shapes) -> Shapes:
    """Each input has the shape of the output at the same position."""
    return [_all_like(attrs, [one], [out])[0] for one, out in zip(ins, outs, strict=True)]


def _where(attrs: Attrs, ins: Shapes, outs: Shapes) -> Shapes:
    """`x` and `y` have the output's shape; as in MXNet, only once the condition's shape is known."""
    condition = ins[0]
    if condition is None or 0 in condition:
        return ins
    return [condition, *_all_like(attrs, ins[1:], outs)]


RULES: dict[str, Rule] = {
    "FullyConnected": _fully_connected,
    "Convolution": _convolution,
    "Convolution_v1": _convolution,
    "Pooling": _same_axes(0, 1),
    "Concat": _concat,
    "_rnn_param_concat": _rnn_param_concat,
    "SliceChannel": _split,
    "transpose": _transpose,
    "Reshape": _reshape,
    "Flatten": _same_axes(0),
    "_contrib_quantized_conv": _convolution,
    "_contrib_quantized_fully_connected": _fully_connected,
    "_contrib_quantized_pooling": _same_axes(0, 1),
    "_contrib_quantized_flatten": _same_axes(0),
    "_contrib_quantized_elemwise_add": _pair_like,
    "_contrib_quantized_elemwise_mul": _pair_like,
    **dict.fromkeys(
        [
            "Activation",
            "BatchNorm",
            "Dropout",
            "LeakyReLU",
            "LayerNorm",
            "InstanceNorm",
            "L2Normalization",
            "LRN",
            "softmax",
            "log_softmax",
            "softmin",
            "SoftmaxActivation",
            "SoftmaxOutput",
            "LinearRegressionOutput",
            "LogisticRegressionOutput",
            "MAERegressionOutput",
            "Cast",
            "amp_cast",
            "BlockGrad",
            "MakeLoss",
            "clip",
            "_copy",
            "reverse",
            "_contrib_dequantize",
            "_contrib_quantize",
            "_contrib_quantize_asym",
            "_contrib_quantize_v2",
            "_contrib_quantized_act",
            "_contrib_quantized_batch_norm",
            "_contrib_requantize",
        ],
        _first_like,
    ),
    "_identity_with_attr_like_rhs": _all_like,
    "amp_multicast": _each_like,
    "where": _where,
}


def reverse(name: str, attrs: Attrs, same: bool, ins: Sequence[Shape | None], outs: Sequence[Shape | None]) -> Shapes:
    """Input shapes refined by the output shapes; `same`: all inputs and outputs of the operator have one shape."""
    rule = RULES.get(name) or (_all_like if same else None)
    return rule(attrs, list(ins), list(outs)) if rule is not None else list(ins)
