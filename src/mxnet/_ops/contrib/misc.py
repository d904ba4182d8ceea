"""Small operators of MXNet's contrib corner: index helpers, straight-through estimators, sketches, Fourier pairs."""

import math

import torch
from torch import Tensor

from ..._core.errors import MXNetError
from ..._device import late
from ..array.creation import ramp
from ..elementwise.identity import to_dtype
from ..elementwise.rounding import round_away
from ..registry.gradient import with_gradient, without_gradient
from ..registry.registry import op


@op("_contrib_quadratic", shape="same")
def quadratic(data, *, a: float = 0.0, b: float = 0.0, c: float = 0.0):
    """a·x² + b·x + c."""
    if not data.is_floating_point():
        return to_dtype(data * (a * data + b) + c, data.dtype)
    slope = lambda inputs, outputs, heads: _line(inputs[0], 2 * a, b).mul_(heads[0])  # noqa: E731
    return with_gradient(lambda x: _parabola(x, a, b, c), slope, data)


def _line(data: Tensor, factor: float, shift: float) -> Tensor:
    """factor·x + shift, in one pass over memory; MXNet rounds float16 after each step."""
    if data.dtype is torch.float16:
        return (data * factor).add_(shift)
    return torch.add(data.new_full((), shift), data, alpha=factor)


def _parabola(data: Tensor, a: float, b: float, c: float) -> Tensor:
    if data.dtype is torch.float16:
        return _line(data, a, b).mul_(data).add_(c)
    return torch.addcmul(data.new_full((), c), _line(data, a, b), data)


@op("_contrib_backward_quadratic", shape="same")
def backward_quadratic(ograd, data, *, a: float = 0.0, b: float = 0.0, c: float = 0.0):
    """The gradient of `quadratic`."""
    return ograd * (2 * a * data + b)


@op("_contrib_gradientmultiplier", shape="same")
def gradient_multiplier(data, *, scalar: float = 1.0, is_int: bool = True):
    """Identity forward; backward multiplies the gradient by `scalar` (negative: gradient reversal)."""
    return with_gradient(Tensor.clone, lambda inputs, outputs, heads: heads[0] * scalar, data)


@op("_contrib_backward_gradientmultiplier", shape="same")
def backward_gradient_multiplier(data, *, scalar: float = 1.0, is_int: bool = True):
    """The gradient of `gradientmultiplier`."""
    return (data * scalar).to(data.dtype)


def _straight_through(function, data: Tensor) -> Tensor:
    return with_gradient(function, lambda inputs, outputs, heads: heads[0].clone(), data)


@op("_contrib_round_ste", shape="same")
def round_ste(data):
    """Round to the nearest integer; the gradient is passed through unchanged (straight-through estimator)."""
    return _straight_through(round_away, data)


@op("_contrib_sign_ste", shape="same")
def sign_ste(data):
    """The sign, with a straight-through gradient: the gradient of the result is passed on unchanged."""
    return _straight_through(torch.sign, data)


@op("_contrib_div_sqrt_dim", shape="same")
def div_sqrt_dim(data):
    """Divide by the square root of the last axis' length."""
    length = math.sqrt(data.shape[-1])
    return data / length if data.is_floating_point() else torch.div(data, int(length), rounding_mode="trunc")


@op("_contrib_allclose", dtype="any", shape=lambda attrs, shapes: [()], differentiable=False)
def allclose(a, b, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = True):
    """One (uint8) if all of `a` is within `atol + rtol * |b|` of `b`, else zero."""
    if a.shape != b.shape:
        raise MXNetError(f"allclose compares arrays of one shape, got {tuple(a.shape)} and {tuple(b.shape)}")
    return torch.isclose(a, b.to(a.dtype), rtol, atol, equal_nan).all().to(torch.uint8)


@op("_contrib_arange_like")
def arange_like(
    data,
    *,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    ctx: str = "",
    axis: int | None = None,
):
    """A range in the shape of `data`, or as long as its `axis`; every value comes `repeat` times."""
    if axis is not None and not -data.dim() <= axis < data.dim():
        raise MXNetError(f"Input axis {axis} out of range: data has {data.dim()} axes")
    shape = data.shape if axis is None else (data.shape[axis],)

    def fill(like: Tensor) -> Tensor:
        place = torch.arange(math.prod(shape), device=like.device)
        return ramp(start, step, place if repeat == 1 else place // repeat, like.dtype).reshape(shape)

    return without_gradient(fill, data)


@op("_contrib_index_array", dtype="any", differentiable=False)
def index_array(data, *, axes: tuple | None = None):
    """For every element its own index, along the new last axis; `axes` selects and orders the coordinates."""
    if not data.dim() or axes == ():  # an index without coordinates
        return torch.empty((*data.shape, 0), dtype=torch.int64, device=data.device)
    ranges = [torch.arange(n, device=data.device) for n in data.shape]
    grids = torch.meshgrid(*ranges, indexing="ij")
    chosen = range(data.dim()) if axes is None else axes
    return torch.stack([grids[axis] for axis in chosen], -1)


@op("_contrib_index_copy", dtype="any")
def index_copy(old_tensor, index_vector, new_tensor):
    """A copy of `old_tensor` whose rows `index_vector` are those of `new_tensor`."""
    if index_vector.dim() != 1 or index_vector.shape[0] != new_tensor.shape[0]:
        raise MXNetError(
            f"index_copy needs one index a new row: {tuple(index_vector.shape)} for {tuple(new_tensor.shape)}"
        )
    if new_tensor.shape[1:] != old_tensor.shape[1:] or len(new_tensor) > len(old_tensor):
        raise MXNetError(
            f"index_copy puts rows into an array of the same row shape, at most as many as it has: "
            f"{tuple(new_tensor.shape)} into {tuple(old_tensor.shape)}"
        )
    rows = late.bounded(index_vector.long(), len(old_tensor), "index_copy")
    return old_tensor.index_copy(0, rows, new_tensor)


@op("_contrib_backward_index_copy", outputs=3, dtype="any", differentiable=False)
def backward_index_copy(ograd, old_tensor, index_vector, new_tensor):
    """Gradients of `index_copy`: of the old rows, of the indices (zero), of the new rows."""
    rows = late.bounded(index_vector.long(), len(old_tensor), "index_copy")
    return ograd.index_fill(0, rows, 0), torch.zeros_like(index_vector), ograd.index_select(0, rows)


@op("_contrib_boolean_mask", dtype="any", shape=lambda attrs, shapes: [shapes[0] and (0, *shapes[0][1:])])
def boolean_mask(data, index, *, axis: int = 0):
    """The rows of `data` where `index` is not zero; how many is known only when it runs."""
    if axis != 0:
        raise MXNetError(f"Check failed: axis == 0 ({axis} vs. 0) : Not supported yet")
    if index.dim() != 1 or index.shape[0] != data.shape[0]:
        raise MXNetError(f"boolean_mask needs one number a row: data {tuple(data.shape)}, index {tuple(index.shape)}")
    return data.index_select(0, torch.nonzero(index.detach()).squeeze(1))


@op("_contrib_getnnz", dtype="any", differentiable=False)
def getnnz(data, *, axis: int | None = None):
    """How many elements are not zero: in all, or in each row (`axis=1`)."""
    if axis == 0:
        raise MXNetError("getnnz with axis = 0 is not supported yet")
    if axis not in (None, 1):
        raise MXNetError(f"Unexpected value for axis({axis}). Candidates are None, 0, and 1")
    return torch.count_nonzero(data, axis).reshape(-1)


@op("_contrib_count_sketch")
def count_sketch(data, h, s, *, out_dim: int, processing_batch_size: int = 32):
    """Project the last axis to `out_dim` buckets: element i goes to bucket `h[i]` with the sign `s[i]`."""
    length = data.shape[-1]
    if h.numel() != length or s.numel() != length:
        raise MXNetError(
            f"count_sketch needs a bucket and a sign for each of the {length} elements, "
            f"got {tuple(h.shape)} and {tuple(s.shape)}"
        )
    bucket = h.detach().flatten().long()
    return data.new_zeros(*data.shape[:-1], out_dim).index_add(-1, bucket, data * s.detach().flatten())


@op("_contrib_fft")
def fft(data, *, compute_size: int = 128):
    """Fourier transform of the last axis; real and imaginary parts alternate in the result."""
    return torch.view_as_real(torch.fft.fft(data)).flatten(-2)


@op("_contrib_ifft")
def ifft(data, *, compute_size: int = 128):
    """The real part of the inverse Fourier transform of alternating parts, not divided by the length."""
    if data.shape[-1] % 2:
        raise MXNetError(f"ifft reads pairs of real and imaginary parts, got a last axis of {data.shape[-1]}")
    return torch.fft.ifft(torch.view_as_complex(data.unflatten(-1, (-1, 2)).contiguous()), norm="forward").real
