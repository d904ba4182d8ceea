"""8-bit numbers with scales and zero points, computed in floats of 64 bits, which hold all sums exactly."""

import numpy as np

from ..... import symbol as sym
from .._node import converts
from .elementwise import array_dtype, rounded
from .neural import convolved, product


def _along(node, index, axis, rank):
    """A scale or zero point, laid along the axis it belongs to."""
    value = node.sym(index)
    if node.rank(index) == 0 or node.shape(index) == [1]:
        return value
    size = node.attr("block_size", 0)
    if size:
        return sym.slice_like(sym.repeat(value, repeats=size, axis=axis), node.sym(), axes=(axis,))
    return sym.reshape(value, shape=(-1,) + (1,) * (rank - 1 - axis % rank))


def _limited(x, dtype):
    limits = np.iinfo(dtype)
    return sym.cast(sym.clip(x, a_min=limits.min, a_max=limits.max), dtype=dtype)


@converts("QuantizeLinear")
def _quantize(node):
    from onnx.helper import tensor_dtype_to_np_dtype

    asked = node.attr("output_dtype", 0)
    dtype = node.dtype(2) if node.has(2) else tensor_dtype_to_np_dtype(asked).name if asked else "uint8"
    if array_dtype(node, dtype) not in ("uint8", "int8", "int32"):
        raise node.refuse(f"quantization to {dtype} cannot be imported")
    rank, axis = node.rank(), node.attr("axis", 1)
    scaled = rounded(sym.broadcast_div(node.sym(), _along(node, 1, axis, rank)))
    if node.has(2):
        scaled = sym.broadcast_add(scaled, sym.cast(_along(node, 2, axis, rank), dtype=node.dtype()))
    return _limited(scaled, dtype)


@converts("DequantizeLinear")
def _dequantize(node):
    array_dtype(node, node.dtype())
    rank, axis, dtype = node.rank(), node.attr("axis", 1), node.dtype(1)
    x = sym.cast(node.sym(), dtype=dtype)
    if node.has(2):
        x = sym.broadcast_sub(x, sym.cast(_along(node, 2, axis, rank), dtype=dtype))
    return node.call("broadcast_mul", x, _along(node, 1, axis, rank))


def _exact(node, index, zero, axis):
    """An input of integers less its zero point, as floats; a list of zero points lies along the axis."""
    x = sym.cast(node.sym(index), dtype="float64")
    if zero is None or not node.has(zero):
        return x
    point = sym.cast(node.sym(zero), dtype="float64")
    if node.rank(zero) == 1 and node.shape(zero) != [1]:
        point = sym.reshape(point, shape=(-1,) + (1,) * (node.rank(index) - 1 - axis % node.rank(index)))
    return sym.broadcast_sub(x, point)


@converts("MatMulInteger")
def _matmul_integer(node):
    return sym.cast(product(node, _exact(node, 0, 2, -2), _exact(node, 1, 3, -1)), dtype="int32")


@converts("ConvInteger")
def _conv_integer(node):
    return sym.cast(convolved(node, _exact(node, 0, 2, 0), _exact(node, 1, 3, 0)), dtype="int32")


@converts("QLinearMatMul")
def _quantized_matmul(node):
    total = product(node, _exact(node, 0, 2, -2), _exact(node, 3, 5, -1), second=3)
    return _rescaled(node, total, (1, 4, 6), 7, lambda scale, index: scale)


@converts("QLinearConv")
def _quantized_conv(node):
    bias = [sym.cast(node.sym(8), dtype="float64")] if node.has(8) else []
    total = convolved(node, _exact(node, 0, 2, 0), _exact(node, 3, 5, 0), bias, at=3)
    space = (1,) * (node.rank() - 2)
    return _rescaled(node, total, (1, 4, 6), 7, lambda scale, index: sym.reshape(scale, shape=(-1, *space)))


def _rescaled(node, total, scales, zero, laid):
    """Sums of products as numbers of the result's scale and zero point."""
    first, second, third = (laid(sym.cast(node.sym(i), dtype="float64"), i) for i in scales)
    scaled = sym.broadcast_div(sym.broadcast_mul(sym.broadcast_mul(total, first), second), third)
    scaled = sym.broadcast_add(rounded(scaled), sym.cast(node.sym(zero), dtype="float64"))
    return _limited(scaled, node.dtype(zero))
