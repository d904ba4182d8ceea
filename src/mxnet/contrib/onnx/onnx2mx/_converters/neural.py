"""Layers: products, convolutions, normalizations, softmax."""

import numpy as np

from ..... import symbol as sym
from .._node import Unknown, converts
from .shapes import padded
from .windows import around, windows


@converts("Conv")
def _conv(node):
    return convolved(node, node.sym(), node.sym(1), [node.sym(2)] if node.has(2) else [])


def convolved(node, x, weight, bias=(), at=1):
    """A convolution by the node's attributes; the weight is its input number `at`."""
    shape = node.shape(at)
    kernel = node.attr("kernel_shape") or shape[2:]
    strides, before, after, dilations = windows(node, kernel)
    x, pad = around(node, x, before, after, len(kernel))
    return node.call(
        "Convolution", x, weight, *bias, num_filter=shape[0], kernel=tuple(kernel), stride=tuple(strides),
        pad=tuple(pad), dilate=tuple(dilations), num_group=node.attr("group", 1), no_bias=not bias,
    )  # fmt: skip


@converts("ConvTranspose")
def _conv_transpose(node):
    weight, group = node.shape(1), node.attr("group", 1)
    kernel = node.attr("kernel_shape") or weight[2:]
    count = len(kernel)
    strides, dilations = node.attr("strides") or [1] * count, node.attr("dilations") or [1] * count
    adj, pads = node.attr("output_padding") or [0] * count, node.attr("pads") or [0] * 2 * count
    if node.attr("output_shape") or node.attr("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        adj, pads = _transposed_pads(node, kernel, strides, dilations, adj)
    x = sym.Deconvolution(
        node.sym(), node.sym(1), num_filter=weight[1] * group, kernel=tuple(kernel), stride=tuple(strides),
        pad=(0,) * count, dilate=tuple(dilations), adj=(0,) * count, num_group=group, no_bias=True,
    )  # fmt: skip
    # what `adj` adds at the end may lie within what the pads take away there
    edges = [n - a for n, a in zip(pads[count:], adj, strict=True)]
    x = padded(node, x, [0, 0, *(-n for n in pads[:count]), 0, 0, *(-n for n in edges)], count + 2)
    if node.has(2):
        x = sym.broadcast_add(x, sym.reshape(node.sym(2), shape=(1, -1) + (1,) * count))
    return sym.identity(x, name=node.name)


def _transposed_pads(node, kernel, strides, dilations, adj):
    wanted = node.attr("output_shape")
    space = node.shape()[2:]
    if any(isinstance(n, Unknown) for n in space):
        raise node.refuse("its output's size needs an input of known size")
    wanted = wanted[-len(kernel) :] if wanted else [n * s for n, s in zip(space, strides, strict=True)]
    sizes = zip(space, strides, kernel, dilations, adj, wanted, strict=True)
    total = [s * (n - 1) + a + (k - 1) * d + 1 - w for n, s, k, d, a, w in sizes]
    adj = [a + max(-t, 0) for a, t in zip(adj, total, strict=True)]
    total = [max(t, 0) for t in total]
    half, rest = [t // 2 for t in total], [t - t // 2 for t in total]
    return adj, half + rest if node.attr("auto_pad") == "SAME_UPPER" else rest + half


@converts("Gemm")
def _gemm(node):
    alpha, beta = node.attr("alpha", 1.0), node.attr("beta", 1.0)
    left, right = bool(node.attr("transA", 0)), bool(node.attr("transB", 0))
    plain = alpha == 1 and not left and right and (not node.has(2) or (beta == 1 and node.rank(2) == 1))
    if plain and isinstance(node.shape(1)[0], int) and (not node.has(2) or node.shape(2) == node.shape(1)[:1]):
        bias = [node.sym(2)] if node.has(2) else []
        units = node.shape(1)[0]
        return node.call(
            "FullyConnected", node.sym(0), node.sym(1), *bias, num_hidden=units, no_bias=not bias, flatten=False
        )
    result = sym.dot(node.sym(0), node.sym(1), transpose_a=left, transpose_b=right)
    result = result * alpha if alpha != 1 else result
    if not node.has(2):
        return sym.identity(result, name=node.name)
    return node.call("broadcast_add", result, node.sym(2) * beta if beta != 1 else node.sym(2))


@converts("Einsum")
def _einsum(node):
    return node.call("_npi_einsum", *node.syms(), num_args=len(node.inputs), subscripts=node.attr("equation"))


@converts("Det")
def _det(node):
    return node.call("linalg_det", node.sym())


@converts("MatMul")
def _matmul(node):
    return product(node, node.sym(0), node.sym(1))


def product(node, a, b, second=1):
    """The matrix product of the first input and input number `second`, or what they were made into."""
    left, right = node.rank(0), node.rank(second)
    if right <= 2:
        return node.call("dot", a, b)
    if left == 1:
        a, left = sym.reshape(a, shape=(1, -1)), 2
    rank = max(left, right)
    shapes = [[1] * (rank - node.rank(i)) + list(node.shape(i)) for i in (0, second)]
    a, b = _common_batch(_front_ones(a, rank - left), _front_ones(b, rank - right), shapes)
    result = node.call("linalg_gemm2", a, b)
    return sym.squeeze(result, axis=rank - 2) if node.rank(0) == 1 else result


def _front_ones(x, count):
    for _ in range(count):
        x = sym.expand_dims(x, axis=0)
    return x


def _common_batch(a, b, shapes):
    """Both with the same leading sizes."""
    axes = [i for i in range(len(shapes[0]) - 2) if shapes[0][i] != shapes[1][i]]
    for axis in axes:
        where = {"lhs_axes": (axis,), "rhs_axes": (axis,)}
        if shapes[0][axis] == 1:
            a = sym.broadcast_like(a, b, **where)
        elif shapes[1][axis] == 1:
            b = sym.broadcast_like(b, a, **where)
    return a, b


@converts("Softmax", "LogSoftmax")
def _softmax(node):
    operator = "softmax" if node.op == "Softmax" else "log_softmax"
    if node.opset >= 13:
        return node.call(operator, node.sym(), axis=node.attr("axis", -1))
    axis = node.attr("axis", 1) % node.rank()
    if axis == node.rank() - 1:
        return node.call(operator, node.sym(), axis=-1)
    behind = node.shape()[axis:]
    if any(isinstance(n, Unknown) for n in behind):
        raise node.refuse("the sizes from its axis on must be known")
    flat = sym.reshape(node.sym(), shape=(-1, int(np.prod(behind))))
    return node.call("reshape_like", getattr(sym, operator)(flat, axis=-1), node.sym())


@converts("BatchNormalization", "SpatialBN")
def _batch_norm(node):
    if node.attr("training_mode", 0) or (node.opset < 7 and not node.attr("is_test", 1)):
        raise node.refuse("batch normalization in training mode cannot be imported")
    return node.call(
        "BatchNorm", *(node.sym(i) for i in range(5)), eps=node.attr("epsilon", 1e-5), fix_gamma=False,
        momentum=node.attr("momentum", 0.9),
    )  # fmt: skip


@converts("InstanceNormalization")
def _instance_norm(node):
    return node.call("InstanceNorm", *node.syms(), eps=node.attr("epsilon", 1e-5))


@converts("LayerNormalization")
def _layer_norm(node):
    rank = node.rank()
    axis, eps = node.attr("axis", -1) % rank, node.attr("epsilon", 1e-5)
    if axis == rank - 1 and node.has(2) and node.rank(1) == node.rank(2) == 1 and len(node.outputs) == 1:
        return node.call("LayerNorm", *node.syms(), axis=-1, eps=eps)
    x, mean, deviation = _standardized(node.sym(), tuple(range(axis, rank)), eps)
    x = sym.broadcast_mul(x, node.sym(1))
    return [sym.broadcast_add(x, node.sym(2)) if node.has(2) else x, mean, sym.reciprocal(deviation)]


def _standardized(x, axes, eps):
    mean = sym.mean(x, axis=axes, keepdims=True)
    centered = sym.broadcast_sub(x, mean)
    deviation = sym.sqrt(sym.mean(sym.square(centered), axis=axes, keepdims=True) + eps)
    return sym.broadcast_div(centered, deviation), mean, deviation


@converts("RMSNormalization")
def _rms_norm(node):
    x, rank = node.sym(), node.rank()
    axes = tuple(range(node.attr("axis", -1) % rank, rank))
    size = sym.sqrt(sym.mean(sym.square(x), axis=axes, keepdims=True) + node.attr("epsilon", 1e-5))
    return node.call("broadcast_mul", sym.broadcast_div(x, size), node.sym(1))


@converts("GroupNormalization")
def _group_norm(node):
    groups, x = node.attr("num_groups"), node.sym()
    flat = sym.reshape(sym.reshape(x, shape=(0, groups, -1)), shape=(0, 0, -1))
    normal = _standardized(flat, (2,), node.attr("epsilon", 1e-5))[0]
    each = (1, -1) + (1,) * (node.rank() - 2)
    scale, bias = node.sym(1), node.sym(2)
    if node.opset < 21:  # one for each group
        channels = node.shape()[1]
        scale, bias = (sym.repeat(v, repeats=channels // groups, axis=0) for v in (scale, bias))
    normal = sym.reshape_like(normal, x)
    scaled = sym.broadcast_mul(normal, sym.reshape(scale, shape=each))
    return node.call("broadcast_add", scaled, sym.reshape(bias, shape=each))


@converts("MeanVarianceNormalization")
def _mean_variance(node):
    axes = tuple(node.attr("axes") or (0, 2, 3))
    return _standardized(node.sym(), axes, 1e-9)[0]


@converts("LRN")
def _lrn(node):
    return node.call(
        "LRN", node.sym(), alpha=node.attr("alpha", 1e-4), beta=node.attr("beta", 0.75), knorm=node.attr("bias", 1.0),
        nsize=node.attr("size"),
    )  # fmt: skip
