"""NumPy-semantics operators that make arrays from numbers."""

import math

import torch

from ..._core.attrs import Dtype, Long
from ..._device.copies import number
from ..array.creation import ones_on_diagonal
from ..elementwise.identity import to_dtype
from ..registry.registry import op
from ..registry.torch_dtypes import torch_dtype


def _constant(name, value):
    def constant(*, shape: tuple = (), ctx: str = "", dtype: Dtype = "float32", _device):
        return torch.full(shape, value, dtype=torch_dtype(dtype), device=_device)

    constant.__doc__ = f"An array of {name}."
    op(f"_npi_{name}", dtype="any")(constant)


_constant("zeros", 0)
_constant("ones", 1)


@op("_npi_full", dtype="any")
def full(*, shape: tuple | None = None, ctx: str = "", dtype: Dtype = "float32", value: float, _device):
    """One number everywhere; integers take its lower bits, and what a type cannot hold is infinite."""
    return _filled(torch.empty(shape or (), dtype=torch_dtype(dtype), device=_device), value)


def _filled(result, value: float):
    if result.dtype is torch.bool or result.device.type == "meta":
        return result.fill_(value)
    return result.copy_(to_dtype(number(value, torch.float64, result.device), result.dtype))


@op("_npi_full_like", dtype="any", differentiable=False)
def full_like(a, *, fill_value: float, ctx: str = "", dtype: Dtype | None = None):
    """One number everywhere, in the shape of another array."""
    return _filled(torch.empty_like(a, dtype=torch_dtype(dtype) if dtype else a.dtype), fill_value)


@op("_npi_eye", dtype="any")
def eye(*, N: Long, M: Long | None = None, k: Long = 0, ctx: str = "", dtype: Dtype = "float32", _device):
    """Ones on a diagonal."""
    return ones_on_diagonal(N, N if M is None else M, k, dtype, _device)


@op("_npi_identity", dtype="any")
def identity(*, shape: tuple = (), ctx: str = "", dtype: Dtype = "float32", _device):
    """The identity matrix."""
    return torch.eye(*shape, dtype=torch_dtype(dtype), device=_device)


@op("_npi_arange", dtype="any")
def arange(
    *, start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1, infer_range: bool = False,
    ctx: str = "", dtype: Dtype = "float32", _device,
):  # fmt: skip
    """Numbers at equal steps, without the end."""
    first, last = (0.0, start) if stop is None else (start, stop)
    count = max(math.ceil((last - first) / step), 0)
    numbers = first + step * torch.arange(count, dtype=torch.float64, device=_device)
    return numbers.to(torch_dtype(dtype)).repeat_interleave(repeat)


def _spaced(start, stop, num, endpoint, device):
    gap = (stop - start) / max(num - 1 if endpoint else num, 1)
    return start + gap * torch.arange(num, dtype=torch.float64, device=device)


@op("_npi_logspace", dtype="any")
def logspace(
    *, start: float, stop: float, num: int, endpoint: bool = True, base: float = 10.0, ctx: str = "",
    dtype: Dtype = "float32", _device,
):  # fmt: skip
    """Powers of a base whose exponents are at equal distances."""
    return torch.pow(base, _spaced(start, stop, num, endpoint, _device)).to(torch_dtype(dtype))


@op("_npi_indices", dtype="any")
def indices(*, dimensions: tuple, dtype: Dtype = "int32", ctx: str = "", _device):
    """The coordinates of every place of a grid."""
    if not dimensions:
        return torch.empty(0, dtype=torch_dtype(dtype), device=_device)
    ranges = [torch.arange(d, device=_device) for d in dimensions]
    return torch.stack(torch.meshgrid(*ranges, indexing="ij")).to(torch_dtype(dtype))


def _window(name, terms):
    def window(*, M: int | None = None, ctx: str = "", dtype: Dtype = "float32", _device):
        count = M or 0
        if count < 2:
            return torch.ones(count, dtype=torch_dtype(dtype), device=_device)
        place = 2 * math.pi * torch.arange(count, dtype=torch.float64, device=_device) / (count - 1)
        return sum(c * torch.cos(i * place) for i, c in enumerate(terms)).to(torch_dtype(dtype))  # pyright: ignore[reportAttributeAccessIssue]

    window.__doc__ = f"The {name} window: a sum of cosines."
    op(f"_npi_{name}", dtype="any")(window)


_window("blackman", (0.42, -0.5, 0.08))
_window("hamming", (0.54, -0.46))
_window("hanning", (0.5, -0.5))
