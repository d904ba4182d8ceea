"""Functions of `mx.nd` that are more than one operator: creation, arithmetic on arrays or numbers, exchange."""

import builtins
import numbers
import warnings

import numpy as np

from .._device.waiting import wait_for_all
from .._ops.registry import registry
from ._creation import arange, array, empty, eye, full, linspace, ones, zeros
from ._dispatch.arithmetic import BINARY, binary
from ._dispatch.invoke import invoke
from ._dlpack import (
    from_dlpack,
    from_numpy,
    from_torch,
    to_dlpack_for_read,
    to_dlpack_for_write,
)
from .ndarray import NDArrayBase

__all__ = [
    "add", "arange", "array", "concatenate", "divide", "empty", "equal", "eye", "from_dlpack", "from_numpy",
    "from_torch", "full", "greater", "greater_equal", "histogram", "imdecode", "lesser", "lesser_equal", "linspace",
    "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "modulo", "moveaxis", "multiply", "not_equal",
    "onehot_encode", "ones", "power", "split_v2", "subtract", "to_dlpack_for_read", "to_dlpack_for_write",
    "true_divide", "waitall", "zeros",
]  # fmt: skip


def moveaxis(tensor, source, destination):
    """Move axes to other places, the rest keeping their order.

    Parameters
    ----------
    tensor : NDArray
        The input.
    source : int or tuple of int
        The axes to move.
    destination : int or tuple of int
        Where each of them goes.

    Returns
    -------
    NDArray
        The input with its axes in another order; the other axes keep theirs.

    Examples
    --------
    >>> mx.nd.moveaxis(mx.nd.zeros((2, 3, 4)), 0, 2).shape
    (3, 4, 2)
    """
    ndim = tensor.ndim
    source = [source] if isinstance(source, numbers.Integral) else list(source)
    destination = [destination] if isinstance(destination, numbers.Integral) else list(destination)
    for what, axes in (("source", source), ("destination", destination)):
        for i, axis in enumerate(axes):
            if not -ndim <= axis < ndim:
                raise ValueError(f"'{what}' should contain axes in [-{ndim}, {ndim}), got {axis}")
            axes[i] = axis % ndim
        if len(set(axes)) != len(axes):
            raise ValueError(f"repeated axis in `{what}`")
    if len(source) != len(destination):
        raise ValueError(
            "`source` and `destination` arguments must have the same number of elements, "
            f"got {len(source)} and {len(destination)}"
        )
    order = [n for n in range(ndim) if n not in source]
    for to, axis in sorted(zip(destination, source, strict=True)):
        order.insert(to, axis)
    return tensor.transpose(order)


def concatenate(arrays, axis=0, always_copy=True):
    """Arrays one after another along `axis`.

    Parameters
    ----------
    arrays : list of NDArrays
        The arrays, of equal shapes but for `axis`.
    axis : int, default 0
        The axis to join along.
    always_copy : bool, default True
        Whether a single array is copied as well.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.nd.concatenate([mx.nd.ones((1, 2)), mx.nd.zeros((1, 2))]).asnumpy()
    array([[1., 1.],
           [0., 0.]], dtype=float32)
    """
    if not isinstance(arrays, list):
        raise TypeError(f"concatenate takes a list of arrays, got {type(arrays)}")
    if not arrays:
        raise AssertionError("concatenate needs at least one array")
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    return invoke(registry.find("Concat"), arrays, {"dim": axis})


def histogram(a, bins=10, range=None):
    """Counts of elements in each bin, and the bins' edges.

    Parameters
    ----------
    a : NDArray
        The values.
    bins : int or NDArray, default 10
        The number of intervals of equal width, or their edges.
    range : tuple of two numbers, optional
        The lower and upper end of the intervals; without it, the least and greatest value.

    Returns
    -------
    list of two NDArrays
        The counts and the edges.

    Examples
    --------
    >>> counts, edges = mx.nd.histogram(mx.nd.array([1, 2, 2, 5]), bins=2, range=(0, 6))
    >>> counts.asnumpy(), edges.asnumpy()
    (array([3, 1]), array([0., 3., 6.], dtype=float32))
    """
    if isinstance(bins, NDArrayBase):
        return invoke(registry.find("_histogram"), [a, bins], {})
    if not isinstance(bins, numbers.Integral):
        raise ValueError(f"bins argument should be either an integer or an NDArray, got {type(bins)}")
    if range is None:
        warnings.warn("range is not specified, using numpy's result to ensure consistency with numpy", stacklevel=2)
        counts, edges = np.histogram(a.asnumpy(), bins=bins)
        return array(counts), array(edges)
    return invoke(registry.find("_histogram"), [a], {"bin_cnt": int(bins), "range": range})


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Split at indices, or into equal sections, along `axis`.

    Parameters
    ----------
    ary : NDArray
        The array to split.
    indices_or_sections : int or tuple of int
        The number of equal parts, or the places where new parts begin.
    axis : int, default 0
        The axis; negative ones count from the end.
    squeeze_axis : bool, default False
        Whether the split axis is removed from parts of length 1.

    Returns
    -------
    NDArray or list of NDArrays
        The parts.

    Examples
    --------
    >>> [part.shape for part in mx.nd.split_v2(mx.nd.zeros((5, 2)), (1, 3))]
    [(1, 2), (2, 2), (2, 2)]
    """
    size = ary.shape[axis]
    if isinstance(indices_or_sections, numbers.Integral):
        sections, indices = int(indices_or_sections), []
        if sections == 0 or size % sections:
            raise ValueError(
                f"array split does not result in an equal division: axis {axis} has size {size}, in {sections} sections"
            )
    elif isinstance(indices_or_sections, (tuple, list)):
        sections, indices = 0, [0, *indices_or_sections]
    else:
        raise ValueError(
            f"indices_or_sections must either int, or tuple / list / set of ints, got {type(indices_or_sections)}"
        )
    attrs = {"indices": tuple(indices), "axis": axis, "squeeze_axis": squeeze_axis, "sections": sections}
    return invoke(registry.find("_split_v2"), [ary], attrs)


def onehot_encode(indices, out):
    """One-hot rows of `indices`, written into `out`.

    Parameters
    ----------
    indices : NDArray
        The class of each row.
    out : NDArray
        The matrix to fill, with a column for each class.

    Returns
    -------
    NDArray
        `out`.

    Examples
    --------
    >>> mx.nd.onehot_encode(mx.nd.array([0, 2]), mx.nd.zeros((2, 3))).asnumpy()
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    return invoke(registry.find("_onehot_encode"), [indices, out], {}, out=out)


def imdecode(str_img, clip_rect=(0, 0, 0, 0), out=None, index=0, channels=3, mean=None):
    """An image's bytes, decoded, cropped and less its mean; the oldest of MXNet's decoders.

    Parameters
    ----------
    str_img : bytes
        The bytes of an image file.
    clip_rect : tuple of four ints, default (0, 0, 0, 0)
        The part to take: left, top, right, bottom; zeros mean all.
    out : NDArray, optional
        A batch of images to write into.
    index : int, default 0
        The place in that batch.
    channels : int, default 3
        3 for colour, 1 for grey.
    mean : NDArray, optional
        An image to subtract.

    Returns
    -------
    NDArray
        The image, (1, channels, height, width), or `out`.

    Examples
    --------
    >>> import cv2
    >>> data = cv2.imencode(".png", np.full((2, 2, 3), 255, "uint8"))[1].tobytes()
    >>> mx.nd.imdecode(data).shape
    (1, 3, 2, 2)
    """
    from ..image import imdecode as decode

    image = decode(str_img, flag=1 if channels == 3 else 0).astype("float32")
    x0, y0, x1, y1 = clip_rect
    if x1 > x0 and y1 > y0:
        image = image[y0:y1, x0:x1]
    image = image.transpose((2, 0, 1)).expand_dims(0)
    if mean is not None:
        image = image - mean
    if out is None:
        return image
    out[index : index + 1] = image
    return out


def waitall():
    """Wait until every device has finished its work.

    Examples
    --------
    >>> mx.nd.waitall()
    """
    wait_for_all()


_TWO = """{about}

Parameters
----------
{first} : NDArray or number
    The first operand.
{second} : NDArray or number
    The second operand; shapes broadcast.

Returns
-------
NDArray or number
    A number if both operands are numbers.

Examples
--------
>>> mx.nd.{name}(mx.nd.array([5, 2]), 2).asnumpy()
array([{shown}], dtype=float32)
"""


def _two(name, names, about, shown, first="lhs", second="rhs"):
    scope = {"binary": binary, "names": names, "fold": _fold(name)}
    exec(
        f"def {name}({first}, {second}):\n"
        f"    if isinstance({first}, Number) and isinstance({second}, Number): return fold({first}, {second})\n"
        f"    return binary({first}, {second}, names)",
        {**scope, "Number": numbers.Number},
        scope,
    )
    function = scope[name]
    function.__doc__ = _TWO.format(about=about, first=first, second=second, name=name, shown=shown)
    function.__module__ = "mxnet.ndarray.ndarray"
    return function


def _fold(name):
    """What two plain numbers give."""
    table = {
        "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
        "divide": lambda a, b: a / b, "true_divide": lambda a, b: a / b, "modulo": lambda a, b: a % b,
        "power": lambda a, b: a**b, "maximum": builtins.max, "minimum": builtins.min,
        "equal": lambda a, b: 1 if a == b else 0, "not_equal": lambda a, b: 1 if a != b else 0,
        "greater": lambda a, b: 1 if a > b else 0, "greater_equal": lambda a, b: 1 if a >= b else 0,
        "lesser": lambda a, b: 1 if a < b else 0, "lesser_equal": lambda a, b: 1 if a <= b else 0,
        "logical_and": lambda a, b: 1 if a and b else 0, "logical_or": lambda a, b: 1 if a or b else 0,
        "logical_xor": lambda a, b: 1 if bool(a) ^ bool(b) else 0,
    }  # fmt: skip
    return table[name]


def _commuting(stem, scalar):
    return (f"broadcast_{stem}", scalar, scalar)


add = _two("add", BINARY["add"], "`lhs + rhs`, element by element.", "7., 4.")
subtract = _two("subtract", BINARY["sub"], "`lhs - rhs`, element by element.", "3., 0.")
multiply = _two("multiply", BINARY["mul"], "`lhs * rhs`, element by element.", "10.,  4.")
divide = _two("divide", BINARY["truediv"], "`lhs / rhs`, element by element; integers truncate.", "2.5, 1. ")
true_divide = _two("true_divide", BINARY["truediv"], "`lhs / rhs`, element by element, as `divide`.", "2.5, 1. ")
modulo = _two("modulo", BINARY["mod"], "The remainder of `lhs / rhs`, with the sign of `rhs`.", "1., 0.")
power = _two("power", BINARY["pow"], "`base ** exp`, element by element.", "25.,  4.", "base", "exp")
maximum = _two("maximum", _commuting("maximum", "_maximum_scalar"), "The larger of two elements.", "5., 2.")
minimum = _two("minimum", _commuting("minimum", "_minimum_scalar"), "The smaller of two elements.", "2., 2.")
equal = _two("equal", BINARY["eq"], "1 where the elements are equal, 0 elsewhere.", "0., 1.")
not_equal = _two("not_equal", BINARY["ne"], "1 where the elements differ, 0 elsewhere.", "1., 0.")
greater = _two("greater", BINARY["gt"], "1 where `lhs > rhs`, 0 elsewhere.", "1., 0.")
greater_equal = _two("greater_equal", BINARY["ge"], "1 where `lhs >= rhs`, 0 elsewhere.", "1., 1.")
lesser = _two("lesser", BINARY["lt"], "1 where `lhs < rhs`, 0 elsewhere.", "0., 0.")
lesser_equal = _two("lesser_equal", BINARY["le"], "1 where `lhs <= rhs`, 0 elsewhere.", "0., 1.")
logical_and = _two(
    "logical_and", _commuting("logical_and", "_logical_and_scalar"), "1 where both are nonzero, 0 elsewhere.", "1., 1."
)
logical_or = _two(
    "logical_or", _commuting("logical_or", "_logical_or_scalar"), "1 where either is nonzero, 0 elsewhere.", "1., 1."
)
logical_xor = _two(
    "logical_xor", _commuting("logical_xor", "_logical_xor_scalar"), "1 where exactly one is nonzero.", "0., 0."
)
