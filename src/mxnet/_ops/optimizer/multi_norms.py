"""What optimizers ask about many arrays at once: norms, rates by layer, whether all is finite."""

import torch
from torch import Tensor

from ..._core.errors import MXNetError
from ..registry.registry import op
from ..registry.torch_dtypes import require_floating
from .update_rules import same_shapes


def norms_of(tensors: list[Tensor]) -> list[Tensor]:
    """The norm of each, in float32."""
    return torch._foreach_norm([t.float() for t in tensors])  # pyright: ignore[reportReturnType]


def _arrays(attrs: dict) -> tuple[str, ...]:
    return tuple(f"array_{i}" for i in range(attrs["num_arrays"]))


@op("multi_sum_sq", inputs=_arrays, differentiable=False)
def multi_sum_sq(*data, num_arrays: int):
    """The sum of squares of each array, in float32."""
    require_floating(data[0])
    return torch.stack(norms_of(list(data))).square_()


@op("multi_lars", shape="same", differentiable=False)
def multi_lars(lrs, weights_sum_sq, grads_sum_sq, wds, *, eta: float, eps: float, rescale_grad: float = 1.0):
    """Layer-wise adapted learning rates out of the layers' sums of squares."""
    if lrs.dtype != torch.float32:
        raise MXNetError("MultiLARS only support float")
    same_shapes(lrs, weights_sum_sq, grads_sum_sq, wds)
    norm = weights_sum_sq.sqrt()
    adapted = lrs * eta * norm / (grads_sum_sq.sqrt() * rescale_grad + wds * norm + eps)
    return torch.where((norm > 0) & (grads_sum_sq > 0), adapted, lrs)


@op("all_finite", dtype="any", differentiable=False)
def all_finite(data, *, init_output: bool = True):
    """One if every number is finite in float32, else zero."""
    require_floating(data)
    return _finite(data).float().reshape(1)


def _finite(data: torch.Tensor) -> torch.Tensor:
    """Are all numbers finite? NaN is both the smallest and the largest; one pass without an array of truth values."""
    if not data.numel():
        return torch.ones((), dtype=torch.bool, device=data.device)
    least, most = torch.aminmax(data.float())
    return torch.isfinite(least) & torch.isfinite(most)


@op("multi_all_finite", inputs=_arrays, differentiable=False)
def multi_all_finite(*data, num_arrays: int = 1, init_output: bool = True):
    """`all_finite` over many arrays at once."""
    for array in data:
        require_floating(array)
    return torch.stack([_finite(array) for array in data]).all().float().reshape(1)


@op("reset_arrays", inputs=_arrays, outputs=0, mutates=("array",), dtype="any", differentiable=False)
def reset_arrays(*data, num_arrays: int):
    """Fill the arrays with zeros, in place."""
    torch._foreach_zero_(list(data))
    return ()
