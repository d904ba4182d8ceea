"""Moving statistics of batch normalization, with MXNet's momentum."""

from ..._core.rounding import single
from ..._core.writes import wrote_anywhere


def move(moving, mean, invstd, momentum, eps):
    """moving = momentum * moving + (1 - momentum) * statistic, the variance being that of the batch (not unbiased)."""
    share = share_of_batch(momentum)
    moving[0].lerp_(mean, share)
    moving[1].lerp_(invstd.pow(-2).sub_(eps), share)
    wrote_anywhere()


def share_of_batch(momentum):
    """How much of moving statistics a batch's own become."""
    return single(1 - single(momentum))  # 1 - float32(0.9) is 2e-7 away from 0.1, in MXNet
