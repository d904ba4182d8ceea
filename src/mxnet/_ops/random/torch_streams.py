"""Distributions drawn by torch itself, for devices that have no MXNet stream (CUDA, MPS)."""

from collections.abc import Callable, Sequence

import torch

from ..._core.errors import MXNetError
from ..._device import late

Parameter = float | torch.Tensor
_SHAPES = "gamma numbers need a positive, finite shape"


def _float(dtype: torch.dtype) -> torch.dtype:
    """The type to draw in: halves are drawn as floats."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def _wide(parameter: Parameter, like: torch.Tensor) -> torch.Tensor:
    """A parameter for each element of `like`; arrays of parameters lead its dimensions."""
    if not isinstance(parameter, torch.Tensor):
        return like.new_full((), parameter).expand(like.shape)
    value = parameter.to(like.dtype)
    return value.reshape(value.shape + (1,) * (like.dim() - value.dim())).expand(like.shape)


def uniform(like: torch.Tensor, low: Parameter, high: Parameter) -> torch.Tensor:
    """Numbers in [low, high)."""
    first = _wide(low, like)
    return torch.rand_like(like) * (_wide(high, like) - first) + first


def normal(like: torch.Tensor, loc: Parameter, scale: Parameter) -> torch.Tensor:
    """Normal numbers."""
    return torch.randn_like(like) * _wide(scale, like) + _wide(loc, like)


def exponential(like: torch.Tensor, lam: Parameter) -> torch.Tensor:
    """Waiting times."""
    return torch.empty_like(like).exponential_() / _wide(lam, like)


def _check_shapes(shapes: Parameter) -> None:
    """Refuse what the CPU refuses: numbers at once, those of a device when the host next waits for it."""
    if not isinstance(shapes, torch.Tensor):
        if not -2 / 3 < shapes < float("inf"):
            raise MXNetError(f"{_SHAPES}, got {shapes}")
    elif shapes.numel():
        late.require(
            ((shapes > -2 / 3) & shapes.isfinite()).all(), lambda: MXNetError(f"{_SHAPES}, got {shapes.cpu()}")
        )


def gamma(like: torch.Tensor, alpha: Parameter, beta: Parameter) -> torch.Tensor:
    """Gamma numbers."""
    _check_shapes(alpha)
    return torch._standard_gamma(_wide(alpha, like).contiguous()) * _wide(beta, like)


def poisson(like: torch.Tensor, lam: Parameter) -> torch.Tensor:
    """Counts."""
    return torch.poisson(_wide(lam, like).contiguous())


def negative_binomial(like: torch.Tensor, k: Parameter, p: Parameter) -> torch.Tensor:
    """Counts of failures before the k-th success."""
    chance = _wide(p, like)
    return torch.poisson(gamma(like, k, 1.0) * (1 - chance) / chance)


def generalized_negative_binomial(like: torch.Tensor, mu: Parameter, alpha: Parameter) -> torch.Tensor:
    """Counts of mean `mu` and dispersion `alpha`."""
    mean, dispersion = _wide(mu, like), _wide(alpha, like)
    spread = dispersion.clamp(min=torch.finfo(like.dtype).tiny)
    rate = torch._standard_gamma((1 / spread).contiguous()) * spread * mean
    return torch.poisson(torch.where(dispersion == 0, mean, rate))


def randint(like: torch.Tensor, low: int, high: int) -> torch.Tensor:
    """Integers in [low, high)."""
    return torch.randint(low, max(high, low + 1), like.shape, dtype=like.dtype, device=like.device)


KINDS: dict[str, Callable[..., torch.Tensor]] = {
    f.__name__: f
    for f in (
        uniform,
        normal,
        exponential,
        gamma,
        poisson,
        negative_binomial,
        generalized_negative_binomial,
        randint,
    )
}


def draw(
    kind: str, parameters: Sequence[Parameter], shape: tuple[int, ...], dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    """An array of the distribution `kind` from the device's own generator."""
    like = torch.empty(shape, dtype=_float(dtype), device=device)
    return KINDS[kind](like, *parameters).to(dtype)
