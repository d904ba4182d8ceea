"""Operators that exist for sparse arrays: keeping rows, and the update of Adagrad on rows."""

import torch

from ..._core.errors import MXNetError
from ..._device import late
from ..._kernels.optimizer import formulas
from ..optimizer.update_rules import fill_same, limit, updated
from ..registry.registry import op


@op("_sparse_retain", dtype="any")
def sparse_retain(data, indices):
    """`data` with only the named rows; the others become zero."""
    rows = late.bounded(indices.detach().long().reshape(-1), data.shape[0], "sparse_retain")
    kept = torch.zeros(data.shape[0], dtype=torch.bool, device=data.device).index_fill_(0, rows, True)
    return torch.where(
        kept.view(-1, *[1] * (data.dim() - 1)), data, torch.zeros((), dtype=data.dtype, device=data.device)
    )


@op("_sparse_adagrad_update", mutates=("history",), fill=fill_same, shape="same", differentiable=False)
def adagrad_update(
    weight,
    grad,
    history,
    *,
    lr: float,
    epsilon: float = 1.00000001e-07,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
):
    """Adagrad: `history` sums the squared gradients, by whose root each step is divided."""
    if wd != 0:
        raise MXNetError("sparse adagrad_update does not support wd.")
    numbers = rescale_grad, limit(clip_gradient), epsilon
    return updated(formulas.adagrad, weight, grad, (history,), (lr, 0.0), *numbers)
