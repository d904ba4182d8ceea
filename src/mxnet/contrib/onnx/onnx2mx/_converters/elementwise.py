"""Operators that work element by element."""

import math

import numpy as np

from ..... import symbol as sym
from ....._core.dtypes import FLAGS
from .._node import TABLE, converts

UNARY = {
    "Abs": "abs", "Acos": "arccos", "Acosh": "arccosh", "Asin": "arcsin", "Asinh": "arcsinh", "Atan": "arctan",
    "Atanh": "arctanh", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf", "Exp": "exp", "Floor": "floor",
    "Log": "log", "Neg": "negative", "Reciprocal": "reciprocal", "Relu": "relu", "Sigmoid": "sigmoid",
    "Sign": "sign", "Sin": "sin", "Sinh": "sinh", "Softsign": "softsign", "Sqrt": "sqrt", "Tan": "tan",
    "Tanh": "tanh", "Identity": "identity",
}  # fmt: skip
BINARY = {"Add": "broadcast_add", "Sub": "broadcast_sub", "Mul": "broadcast_mul", "Div": "broadcast_div"}
TESTS = {
    "Equal": "broadcast_equal", "Less": "broadcast_lesser", "Greater": "broadcast_greater",
    "LessOrEqual": "broadcast_lesser_equal", "GreaterOrEqual": "broadcast_greater_equal",
}  # fmt: skip
LOGIC = {"And": "broadcast_logical_and", "Or": "broadcast_logical_or", "Xor": "broadcast_logical_xor"}


def _unary(node):
    return node.call(UNARY[node.op], node.sym())


def _binary(node):
    a, b = node.sym(0), node.sym(1)
    if node.opset < 7 and node.attr("broadcast"):
        b = _old_broadcast(node, b)
    return node.call(BINARY[node.op], a, b)


def _old_broadcast(node, b):
    """Before version 7 the second input was laid along the axes from `axis` on."""
    axis = node.attr("axis")
    if axis is None:
        return b
    behind = node.rank(0) - axis % node.rank(0) - node.rank(1)
    for _ in range(behind):
        b = sym.expand_dims(b, axis=-1)
    return b


def _test(node):
    a, b = node.sym(0), node.sym(1)
    if node.dtype(0) == "bool":
        a, b = sym.cast(a, dtype="uint8"), sym.cast(b, dtype="uint8")
    return sym.cast(node.call({**TESTS, **LOGIC}[node.op], a, b), dtype="bool")


TABLE.update(dict.fromkeys(UNARY, _unary))
TABLE.update(dict.fromkeys(BINARY, _binary))
TABLE.update(dict.fromkeys([*TESTS, *LOGIC], _test))


def fold(operator, values):
    """Many inputs through an operator of two."""
    result, *rest = values
    for value in rest:
        result = getattr(sym, operator)(result, value)
    return result


@converts("Sum", "Mean", "Max", "Min")
def _variadic(node):
    operator = {"Max": "broadcast_maximum", "Min": "broadcast_minimum"}.get(node.op, "broadcast_add")
    result = fold(operator, node.syms())
    return result / len(node.inputs) if node.op == "Mean" else sym.identity(result, name=node.name)


@converts("Not")
def _not(node):
    return sym.cast(node.call("logical_not", sym.cast(node.sym(), dtype="uint8")), dtype="bool")


@converts("Pow")
def _pow(node):
    exponent = node.sym(1)
    if node.dtype(0) != node.dtype(1):
        exponent = sym.cast(exponent, dtype=node.dtype(0))
    return node.call("broadcast_power", node.sym(0), exponent)


@converts("Mod")
def _mod(node):
    a, b = node.sym(0), node.sym(1)
    if not node.attr("fmod", 0):
        rest = node.call("broadcast_mod", a, b)
        # MXNet's remainder of a division by zero is zero, that of floats in ONNX is no number
        return sym.broadcast_add(rest, sym.reciprocal(b) * 0) if node.dtype().startswith("float") else rest
    return node.call("broadcast_mul", sym.sign(a), sym.broadcast_mod(sym.abs(a), sym.abs(b)))


@converts("Round")
def _round(node):
    return rounded(node.sym())


def rounded(x):
    """The nearest whole numbers; halves go to the even neighbour."""
    nearest = sym.floor(x + 0.5)
    tie = (nearest - x == 0.5) * (sym._internal._mod_scalar(nearest, scalar=2.0) == 1)
    return sym.broadcast_sub(nearest, tie)


@converts("BitwiseAnd", "BitwiseOr", "BitwiseXor")
def _bitwise(node):
    return node.call(f"_npi_bitwise_{node.op.removeprefix('Bitwise').lower()}", node.sym(0), node.sym(1))


@converts("BitwiseNot")
def _bitwise_not(node):
    return node.call("_npi_bitwise_not", node.sym())


@converts("IsNaN")
def _is_nan(node):
    return sym.cast(node.call("broadcast_not_equal", node.sym(), node.sym()), dtype="bool")


@converts("IsInf")
def _is_inf(node):
    x, found = node.sym(), []
    if node.attr("detect_positive", 1):
        found.append(x == math.inf)
    if node.attr("detect_negative", 1):
        found.append(x == -math.inf)
    result = fold("broadcast_maximum", found) if found else sym.zeros_like(x)
    return sym.cast(result, dtype="bool")


@converts("Clip")
def _clip(node):
    x = node.sym()
    if node.opset >= 11:
        for index, operator in ((1, "broadcast_maximum"), (2, "broadcast_minimum")):
            if node.has(index):
                x = getattr(sym, operator)(x, node.sym(index))
        return sym.identity(x, name=node.name)
    return node.call("clip", x, a_min=node.attr("min", -3.4e38), a_max=node.attr("max", 3.4e38))


@converts("Cast")
def _cast(node):
    from onnx.helper import tensor_dtype_to_np_dtype

    return node.call("cast", node.sym(), dtype=array_dtype(node, tensor_dtype_to_np_dtype(node.attr("to")).name))


@converts("CastLike")
def _cast_like(node):
    return node.call("cast", node.sym(), dtype=array_dtype(node, node.dtype(1)))


def array_dtype(node, name):
    """A type that MXNet's arrays can have."""
    if name not in FLAGS:
        raise node.refuse(f"MXNet has no arrays of {name}")
    return name


@converts("Where")
def _where(node):
    """All three inputs in their common shape; zeros carry it, which add nothing."""
    condition, a, b = node.syms()
    dtype = node.dtype(1)
    whole = sym.zeros_like(sym.cast(condition, dtype="float32"))
    for index, value in ((1, a), (2, b)):
        whole = sym.broadcast_add(
            whole, sym.zeros_like(value if node.dtype(index) == "float32" else sym.cast(value, dtype="float32"))
        )
    typed = whole if dtype == "float32" else sym.cast(whole, dtype=dtype)
    condition = sym.broadcast_add(sym.cast(condition, dtype="float32"), whole)
    return node.call("where", condition, sym.broadcast_add(a, typed), sym.broadcast_add(b, typed))


# activations


@converts("LeakyRelu")
def _leaky_relu(node):
    return node.call("LeakyReLU", node.sym(), act_type="leaky", slope=node.attr("alpha", 0.01))


@converts("Elu")
def _elu(node):
    return node.call("LeakyReLU", node.sym(), act_type="elu", slope=node.attr("alpha", 1.0))


@converts("Selu")
def _selu(node):
    alpha, gamma = node.attr("alpha", 1.67326319217681884765625), node.attr("gamma", 1.05070102214813232421875)
    return sym.LeakyReLU(node.sym(), act_type="elu", slope=alpha) * gamma


@converts("Celu")
def _celu(node):
    alpha = node.attr("alpha", 1.0)
    return sym.LeakyReLU(node.sym() / alpha, act_type="elu", slope=1.0) * alpha


@converts("PRelu")
def _prelu(node):
    x, slope = node.sym(0), node.sym(1)
    return node.call("broadcast_add", sym.relu(x), sym.broadcast_mul(slope, x - sym.relu(x)))


@converts("ThresholdedRelu")
def _thresholded(node):
    x = node.sym()
    return node.call("broadcast_mul", x, x > node.attr("alpha", 1.0))


@converts("HardSigmoid")
def _hard_sigmoid(node):
    return node.call("hard_sigmoid", node.sym(), alpha=node.attr("alpha", 0.2), beta=node.attr("beta", 0.5))


@converts("HardSwish")
def _hard_swish(node):
    x = node.sym()
    return node.call("broadcast_mul", x, sym.hard_sigmoid(x, alpha=1 / 6, beta=0.5))


@converts("Swish")
def _swish(node):
    x = node.sym()
    return node.call("broadcast_mul", x, sym.sigmoid(x * node.attr("alpha", 1.0)))


@converts("Softplus")
def _softplus(node):
    return node.call("Activation", node.sym(), act_type="softrelu")


@converts("Mish")
def _mish(node):
    x = node.sym()
    return node.call("broadcast_mul", x, sym.tanh(sym.Activation(x, act_type="softrelu")))


@converts("Gelu")
def _gelu(node):
    x = node.sym()
    if node.attr("approximate", "none") == "none":
        return node.call("LeakyReLU", x, act_type="gelu")
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return node.call("broadcast_mul", 0.5 * x, 1 + sym.tanh(inner))


@converts("Shrink")
def _shrink(node):
    x, limit, bias = node.sym(), node.attr("lambd", 0.5), node.attr("bias", 0.0)
    return (x < -limit) * (x + bias) + (x > limit) * (x - bias)


@converts("Dropout")
def _dropout(node):
    """Networks come for evaluation, in which nothing is dropped."""
    if node.has(2) and np.any(node.const(2)):
        raise node.refuse("dropout in training mode cannot be imported")
    return [node.call("identity", node.sym()), sym.cast(sym.ones_like(node.sym()), dtype="bool")]
