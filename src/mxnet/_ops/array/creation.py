"""Arrays out of nothing: constants, ranges, the identity matrix."""

import math
from typing import Any

import torch

from ..._core.attrs import Dtype, Long
from ..._core.dtypes import NAMES
from ..._core.errors import MXNetError
from ..._device.copies import number
from ...util import is_np_shape
from ..registry.registry import Attrs, op
from ..registry.torch_dtypes import TORCH, number_for, torch_dtype


def asked(attrs: Attrs, shapes: list[tuple[int, ...] | None]) -> list[tuple[int, ...] | None]:
    """The shape that the attribute says; sizes that are not positive are left to the rest of the graph."""
    return [tuple(max(n, 0) for n in attrs["shape"]) if attrs["shape"] else None]


def known_shape(shape: tuple[int, ...] | None) -> tuple[int, ...]:
    """A shape that an array can have; without NumPy's shape rules no size is zero, and there is at least one axis."""
    shape = () if shape is None else shape
    if (not shape or min(shape) < 1) and (not is_np_shape() or any(n < 0 for n in shape)):
        raise MXNetError(
            f"an array cannot have the shape {tuple(shape)}: sizes must be positive"
            " (mx.util.np_shape allows zero sizes and arrays without axes)"
        )
    return shape


@op("_zeros", shape=asked)
def zeros(*, shape: tuple = (), ctx: str = "", dtype: Dtype = "float32", _device=None):
    """Zeros."""
    return torch.zeros(known_shape(shape), dtype=torch_dtype(dtype), device=_device)


@op("_zeros_without_dtype", shape=asked)
def zeros_without_dtype(*, shape: tuple | None = None, ctx: str = "", dtype: int = -1, _device=None):
    """Zeros whose type a graph deduces from where they are used; float32 where it does not."""
    return torch.zeros(known_shape(shape), dtype=torch.float32 if dtype < 0 else TORCH[NAMES[dtype]], device=_device)


@op("_ones", shape=asked)
def ones(*, shape: tuple = (), ctx: str = "", dtype: Dtype = "float32", _device=None):
    """Ones."""
    return torch.ones(known_shape(shape), dtype=torch_dtype(dtype), device=_device)


@op("_full", shape=asked)
def full(*, shape: tuple | None = None, ctx: str = "", dtype: Dtype = "float32", value: float, _device=None):
    """One number everywhere."""
    kind = torch_dtype(dtype)
    return torch.full(known_shape(shape), number_for(value, kind), dtype=kind, device=_device)


@op("_set_value")
def set_value(*, src: float, shape: tuple | None = None, dtype: Dtype | None = None, _device=None):
    """One number everywhere in an `out` array, from which the caller takes the shape and the type."""
    return full(shape=shape or (1,), dtype=dtype or "float32", value=src, _device=_device)


@op("_eye")
def eye(*, N: Long, M: Long = 0, k: Long = 0, ctx: str = "", dtype: Dtype = "float32", _device=None):
    """Ones on the `k`-th diagonal of an `N` by `M` matrix, square without `M`."""
    return ones_on_diagonal(N, M if M > 0 else N, k, dtype, _device)


def ones_on_diagonal(rows: int, columns: int, k: int, dtype: str, device: Any) -> torch.Tensor:
    matrix = torch.zeros((rows, columns), dtype=torch_dtype(dtype), device=device)
    if -rows < k < columns:
        matrix.diagonal(k).fill_(1)
    return matrix


def range_shape(attrs: Attrs, shapes: list[tuple[int, ...] | None]) -> list[tuple[int, ...] | None]:
    """How many numbers a range has; one without an end gets it from the rest of the graph."""
    start, stop = attrs["start"], attrs["stop"]
    if stop is None:
        if attrs["infer_range"]:
            return [(0,)]
        start, stop = 0.0, start
    return [(_steps(start, stop, attrs["step"]) * attrs["repeat"],)]


def _steps(start: float, stop: float, step: float) -> int:
    """How many numbers lie between; MXNet has no empty range."""
    count = math.ceil((stop - start) / step) if step else 0
    if count < 1:
        raise MXNetError(f"Invalid range (start, stop, step) = ({start:g},{stop:g},{step:g})")
    return count


@op("_arange", shape=range_shape)
def arange(
    *,
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool = False,
    ctx: str = "",
    dtype: Dtype = "float32",
    _device=None,
):
    """Numbers from `start` to before `stop`, each of them `repeat` times."""
    if stop is None:
        start, stop = 0.0, start
    count = _steps(start, stop, step)
    if repeat < 1:
        raise MXNetError(f"_arange needs repeat >= 1, got {repeat}")
    return ramp(start, step, torch.arange(count, device=_device), torch_dtype(dtype)).repeat_interleave(repeat)


def ramp(start: float, step: float, places: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    """`start + i * step`, each rounded to `kind`; MXNet counts in integers for float16 too, and drops the fractions."""
    if not kind.is_floating_point or kind is torch.float16:
        return (places * int(step) + int(start)).to(kind)
    return places.to(kind).mul_(number(step, kind, places.device)).add_(start)


@op("_linspace")
def linspace(
    *,
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool = False,
    ctx: str = "",
    dtype: Dtype = "float32",
    num: int = 50,
    endpoint: bool = True,
    _device=None,
):
    """`num` evenly spaced numbers from `start` to `stop`, which is the last of them if `endpoint`."""
    if stop is None or num < 0:
        raise MXNetError(f"_linspace needs a stop and num >= 0, got stop={stop}, num={num}")
    intervals = num - 1 if endpoint else num
    pace = (stop - start) / intervals if intervals > 0 else 0.0
    values = torch.arange(num, dtype=torch.float64, device=_device).mul_(pace).add_(start)
    return values.to(torch_dtype(dtype))
