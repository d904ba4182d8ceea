"""Variants of batch normalization: followed by ReLU, synchronized over devices."""

import torch

from ..registry.registry import op
from .batch_norm import BATCH_NORM, batch_norm, batch_norm_v1


@op("_contrib_BatchNormWithReLU", **BATCH_NORM)
def batch_norm_with_relu(
    data,
    gamma,
    beta,
    moving_mean,
    moving_var,
    *,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    _train: bool = False,
    _set_gamma: bool | None = True,
):
    """BatchNorm, negative results cut to zero."""
    result, mean, invstd = batch_norm(
        data,
        gamma,
        beta,
        moving_mean,
        moving_var,
        eps=eps,
        momentum=momentum,
        fix_gamma=fix_gamma,
        use_global_stats=use_global_stats,
        output_mean_var=output_mean_var,
        axis=axis,
        _train=_train,
        _set_gamma=_set_gamma,
    )
    return torch.relu(result), mean, invstd


@op("_contrib_SyncBatchNorm", **BATCH_NORM)
def sync_batch_norm(
    data,
    gamma,
    beta,
    moving_mean,
    moving_var,
    *,
    eps: float = 1e-3,
    momentum: float = 0.9,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    ndev: int = 1,
    key: str,
    _train: bool = False,
):
    """BatchNorm over axis 1 that shares statistics between the `ndev` devices of one `key`.

    One process drives its devices one after the other, so a call can only see its own batch: statistics are those
    of this device, which is what MXNet computes with `ndev=1`.
    """
    return batch_norm_v1(
        data,
        gamma,
        beta,
        moving_mean,
        moving_var,
        eps=eps,
        momentum=momentum,
        fix_gamma=fix_gamma,
        use_global_stats=use_global_stats,
        output_mean_var=output_mean_var,
        _train=_train,
    )
