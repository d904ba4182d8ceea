"""Reductions over axes. A full reduction has shape (1,): MXNet has no arrays without axes."""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import torch

from ..._core.errors import MXNetError
from ..._core.lru import Recent
from ..elementwise.identity import to_dtype
from ..registry.gradient import with_gradient, without_gradient
from ..registry.registry import Attrs, op
from ..registry.shape_rules import Shapes, bracket, real_axis
from ..registry.torch_dtypes import number_for, torch_dtype

Reduce = Callable[[torch.Tensor, tuple[int, ...], bool], torch.Tensor]


def reduced_axes(data: torch.Tensor, axis: tuple[int, ...] | None, exclude: bool = False) -> tuple[int, ...]:
    """The axes to reduce, ascending; none given means all of them, whatever `exclude` says."""
    ndim = data.dim()
    if not axis:
        return tuple(range(ndim))
    if len(axis) == 1 and not exclude and -ndim <= axis[0] < ndim:
        return (axis[0] + ndim if axis[0] < 0 else axis[0],)
    axes = sorted(a + ndim if a < 0 else a for a in axis)
    _check_axes(axes, axis, data)
    return tuple(a for a in range(ndim) if (a in axes) != exclude)


def _check_axes(axes: list[int], given: tuple[int, ...], data: torch.Tensor) -> None:
    """MXNet's words for axes, here in order and counted from the front, that occur twice or are not there."""
    if len(set(axes)) != len(axes):
        raise MXNetError(f"Reduction axes have duplicates {bracket(axes)}")
    ndim = data.dim()
    wrong = axes[-1] if axes[-1] >= ndim else bracket(given) if axes[0] < 0 else None
    if wrong is not None:
        has = f"an input of {ndim} axes has {-ndim} to {ndim - 1}"
        raise MXNetError(f"Reduction axis {wrong} Exceeds input dimensions {bracket(data.shape)}: {has}")


def at_least_1d(result: torch.Tensor) -> torch.Tensor:
    return result if result.dim() else result.reshape(1)


def _sum(data: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    if data.is_floating_point():
        return torch.sum(data, axes, keepdims)
    return torch.sum(data, axes, keepdims, dtype=data.dtype)


def _mean(data: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    if data.is_floating_point():
        return torch.mean(data, axes, keepdims)
    if data.dtype is torch.bool:  # what is left of a fraction
        return torch.any(data, axes, keepdims)
    total = torch.sum(data, axes, keepdims, dtype=data.dtype)
    number = data.numel() // max(total.numel(), 1)  # wraps around in MXNet, as the sum does; it cannot divide by 0
    return torch.div(total, number_for(number, data.dtype) or number, rounding_mode="trunc").to(data.dtype)


def product(data: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    """One product over the axes moved together; its gradient divides by the element, as MXNet's does."""

    def forward(x: torch.Tensor) -> torch.Tensor:
        for a in reversed(axes):
            x = torch.prod(x, a, True, dtype=x.dtype)
        return x

    def slope(inputs, outputs, heads):
        return heads[0] * (outputs[0] / inputs[0])

    result = with_gradient(forward, slope, data)
    return result if keepdims else result.squeeze(axes)


def _nansum(data: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    if not data.is_floating_point():
        return _sum(data, axes, keepdims)
    result = torch.nansum(data, axes, keepdims)
    if data.device.type == "cpu" and not torch.compiler.is_compiling() and bool(torch.isinf(result).any()):
        result = result.masked_fill(_after_infinity(data, axes, keepdims), math.nan)
    return result


def _after_infinity(data: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    """Does a number follow an infinite one? MXNet keeps the rounding error of its sum, which is not a number then."""
    kept = [i for i in range(data.dim()) if i not in axes]
    lines = data.permute(*kept, *axes).flatten(len(kept))
    met = torch.isinf(lines).long().cumsum(-1)
    after = ((met[..., :-1] > 0) & ~torch.isnan(lines[..., 1:])).any(-1)
    return after.reshape([1 if i in axes else n for i, n in enumerate(data.shape)]) if keepdims else after


def _nanprod(data: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    return product(torch.where(torch.isnan(data), 1, data) if data.is_floating_point() else data, axes, keepdims)


def _extreme(choose: Callable[..., torch.Tensor]) -> Reduce:
    """The largest or smallest element; all that equal it get the whole gradient."""

    def reduce(data: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
        def slope(inputs, outputs, heads):
            return heads[0] * (inputs[0] == outputs[0])

        if not (data.requires_grad and torch.is_grad_enabled()):
            return choose(data, axes, keepdims)
        result = with_gradient(lambda x: choose(x, axes, True), slope, data)
        return result if keepdims else result.squeeze(axes)

    return reduce


largest, smallest = _extreme(torch.amax), _extreme(torch.amin)


def _square_sum(data: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    return _sum(data * data, axes, keepdims)


_COUNTS: Recent[int, torch.Tensor] = Recent(1024)


def _count(number: int) -> torch.Tensor:
    """A number of elements as an array of one float; the last ones are kept, to be read only."""
    found = _COUNTS.get(number)
    if found is None:
        found = _COUNTS.again(number)
    if found is None:
        found = _COUNTS.keep(number, torch.tensor([number], dtype=torch.float32, device="cpu"))
    return found


def _full_mean(data: torch.Tensor) -> torch.Tensor | None:
    """What `torch.mean` does, too, where the number to divide by comes as a tensor: torch takes 2 µs to make one."""
    if data.dtype is not torch.float32 or not data.is_cpu:
        return torch.mean(data).resize_(1) if data.is_floating_point() else None
    return torch.div(torch.sum(data), _count(data.numel()))


# Those that torch can do over the whole array in one quick call, and over axes.
FULL = {"sum": torch.sum, "mean": torch.mean}
QUICK = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin}

# name -> function, its other names, what it does
TABLE: dict[str, tuple[Reduce, tuple[str, ...], str]] = {
    "sum": (_sum, ("sum_axis",), "Sum over axes, in the data type of the input: small integers can overflow."),
    "mean": (_mean, (), "Mean over axes, in the data type of the input: means of integers lose their fraction."),
    "prod": (product, (), "Product over axes."),
    "nansum": (_nansum, (), "Sum over axes; NaN counts as 0."),
    "nanprod": (_nanprod, (), "Product over axes; NaN counts as 1."),
    "max": (largest, ("max_axis",), "Largest element over axes; all elements that equal it get the whole gradient."),
    "min": (smallest, ("min_axis",), "Smallest element over axes; all elements that equal it get the whole gradient."),
    "_square_sum": (_square_sum, (), "Sum of squares over axes."),
}


def _reduced_shape(attrs: Attrs, shapes: Shapes) -> Shapes | None:
    """Of axes that are there, each once."""
    data, given = shapes[0], attrs["axis"]
    given = (given,) if isinstance(given, int) else given
    if not data or attrs.get("ord", 2) not in (1, 2):
        return None
    ndim = len(data)
    axes = {a + ndim if a < 0 else a for a in given} if given else {*range(ndim)}
    if not axes <= {*range(ndim)} or given and len(axes) != len(given):
        return None
    if given and attrs.get("exclude"):
        axes = {*range(ndim)} - axes
    if attrs["keepdims"] or not axes:
        return [tuple(1 if i in axes else size for i, size in enumerate(data))]
    return [tuple(size for i, size in enumerate(data) if i not in axes) or (1,)]


def operator(function: Reduce, full: Callable[[torch.Tensor], torch.Tensor] | None):
    def reduction(data, *, axis: tuple | None = None, keepdims: bool = False, exclude: bool = False):
        if full is not None and not axis and not keepdims and data.is_floating_point():
            return full(data).unsqueeze_(0)
        axes = reduced_axes(data, axis, exclude)
        if not axes:
            return data.clone()
        result = function(data, axes, keepdims)
        return result if result.dim() else result.reshape(1)

    return reduction


def at_once(full: Callable[[torch.Tensor], torch.Tensor] | None):
    """The whole array reduced outside any graph: `resize_` is torch's quickest way from no axis to one."""
    if full is None:
        return None

    def reduction(data: torch.Tensor) -> torch.Tensor | None:
        return full(data).resize_(1) if data.is_floating_point() else None

    return reduction


def over_axes(reduce: Callable[..., torch.Tensor] | None):
    """The same for attributes that are known: what torch does of itself, and what MXNet asks for, agree on floats."""
    if reduce is None:
        return None

    def quick(axis, keepdims, exclude):
        if not axis or exclude:
            return None
        dims = axis[0] if len(axis) == 1 else axis  # torch reads a number quicker

        def reduction(data: torch.Tensor) -> torch.Tensor | None:
            if not data.is_floating_point():
                return None
            result = reduce(data, dims, keepdims)
            return result if result.dim() else result.resize_(1)

        return reduction

    return quick


def _largest(choose: Callable[..., torch.Tensor]):
    return lambda data: choose(data).resize_(1)


AT_ONCE = {"max": _largest(torch.max), "min": _largest(torch.min), "mean": _full_mean}

_PARAMETERS = """Parameters
----------
data
    The input, of any shape.
axis
    The axis or axes to reduce, negative ones counted from the end; None reduces all, and the result has shape (1,).
keepdims
    Whether reduced axes stay in the result with length 1, so that it broadcasts with `data`."""
_EXCLUDE = """exclude
    Whether `axis` lists the axes to keep, and all others are reduced; without `axis` it has no effect."""

for _name, (_function, _aliases, _doc) in TABLE.items():
    _full = FULL.get(_name)
    _operator = operator(_function, _full)
    _operator.__name__, _operator.__doc__ = _name, f"{_doc}\n\n{_PARAMETERS}\n{_EXCLUDE}"
    _plain = AT_ONCE.get(_name) or at_once(_full)
    op(_name, *_aliases, plain=_plain, shape=_reduced_shape, quick=over_axes(QUICK.get(_name)))(_operator)


def _norm_slope(order: int, axes: tuple[int, ...], keepdims: bool):
    def slope(inputs, outputs, heads):
        (data,), (out,), (head,) = inputs, outputs, heads
        if not keepdims:
            shape = [1 if i in axes else n for i, n in enumerate(data.shape)]
            out, head = out.reshape(shape), head.reshape(shape)
        return (head * (torch.sign(data) if order == 1 else data / out)).to(data.dtype)

    return slope


def _full_norm(data: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    """MXNet adds squares of elements divided by the largest one; among integers only its equals count."""
    sizes = torch.abs(data)
    largest = torch.amax(sizes, axes, True)
    count = _sum((sizes == largest).to(data.dtype), axes, keepdims)
    return (largest if keepdims else largest.squeeze(axes)) * torch.sqrt(count.double())


def _length(data: torch.Tensor) -> torch.Tensor | None:
    return torch.linalg.vector_norm(data).resize_(1) if data.is_floating_point() else None


@op("norm", plain=_length, shape=_reduced_shape)
def norm(
    data,
    *,
    ord: int = 2,
    axis: tuple | None = None,
    out_dtype: Literal["float16", "float32", "float64", "int32", "int64", "int8"] | None = None,
    keepdims: bool = False,
):
    """Sum of absolute values (`ord=1`) or root of the sum of squares (`ord=2`) over axes."""
    if ord not in (1, 2):
        raise MXNetError(f"norm only supports ord=1 and ord=2, not {ord}")
    axes, dtype = reduced_axes(data, axis), data.dtype if out_dtype is None else torch_dtype(out_dtype)

    def forward(x: torch.Tensor) -> torch.Tensor:
        if x.is_floating_point():
            return at_least_1d(torch.linalg.vector_norm(x, ord, axes, keepdims)).to(dtype)
        if x.dtype is torch.bool:
            return at_least_1d(torch.any(x, axes, keepdims)).to(dtype)
        total = _sum(torch.abs(x), axes, keepdims) if ord == 1 else _full_norm(x, axes, keepdims)
        return to_dtype(at_least_1d(total), dtype)

    return with_gradient(forward, _norm_slope(ord, axes, keepdims), data)


def _argument(choose: Callable[..., torch.Tensor]):
    def argument(data, *, axis: int | None = None, keepdims: bool = False):
        return without_gradient(lambda x: _position(choose, x, axis, keepdims), data)

    return argument


def _places(choose: Callable[..., torch.Tensor]):
    def quick(axis, keepdims):
        if axis is None:
            return None

        def places(data: torch.Tensor) -> torch.Tensor:
            found = choose(data, axis, keepdims)
            found = found.float() if data.dtype is torch.float32 else found.type(data.dtype)
            return found if found.dim() else found.resize_(1)

        return places

    return quick


def _position(choose: Callable[..., torch.Tensor], data: torch.Tensor, axis: int | None, keepdims: bool):
    if axis is not None:
        return at_least_1d(choose(data, real_axis(axis, data.dim()), keepdims)).to(data.dtype)
    found = choose(data.reshape(-1), 0).to(data.dtype)
    return found.reshape((1,) * data.dim() if keepdims else (1,))


for _name, _choose, _word in (("argmax", torch.argmax, "largest"), ("argmin", torch.argmin, "smallest")):
    _operator = _argument(_choose)
    _operator.__name__ = _name
    _about = f"Index of the {_word} element, as a number of the input's type; the first of equal ones."
    _operator.__doc__ = f"{_about}\n\n{_PARAMETERS}"
    op(_name, shape=_reduced_shape, quick=_places(_choose))(_operator)


@op("argmax_channel")
def argmax_channel(data):
    """Index of the largest element along the second axis."""
    return without_gradient(lambda x: torch.argmax(x, 1).to(x.dtype), data)


@op("moments", outputs=2)
def moments(data, *, axes: tuple | None = None, keepdims: bool = False):
    """Mean and variance over axes."""
    if not axes:
        raise MXNetError(
            "Empty axes is not supported, if you would like to do global moments, please pass all axes to axes argument"
        )
    over = reduced_axes(data, axes)
    mean = _mean(data, over, True)
    variance = _mean(torch.square(data - mean), over, keepdims)
    return at_least_1d(mean if keepdims else mean.squeeze(over)), at_least_1d(variance)


def running_sum(data: torch.Tensor, axis: int) -> torch.Tensor:
    """Sums of all that came before along an axis; of halves each is a half, while torch keeps more places between."""
    if data.dtype is not torch.float16 or data.device.type != "cpu":
        return torch.cumsum(data, axis, dtype=data.dtype)
    return with_gradient(
        lambda x: torch.from_numpy(np.cumsum(x.detach().numpy(), axis, dtype=np.float16)).reshape(x.shape),
        lambda inputs, outputs, heads: running_sum(heads[0].flip(axis), axis).flip(axis),
        data,
    )


@op("_np_cumsum", "cumsum")
def cumsum(
    a,
    *,
    axis: int | None = None,
    dtype: Literal["float16", "float32", "float64", "int32", "int64", "int8"] | None = None,
):
    """Running sum along an axis, or over the flattened array."""
    kind = torch_dtype(dtype) if dtype else torch.int64 if a.dtype is torch.bool else a.dtype
    if not kind.is_floating_point:
        a = to_dtype(a, kind)  # keeps the graph, which torch's sums of another type lose
    a = a.to(kind)
    return running_sum(a.reshape(-1), 0) if axis is None else running_sum(a, real_axis(axis, a.dim()))
