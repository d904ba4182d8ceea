"""The torch device of a context, and the number of threads in a forked process."""

import os

import torch

from ..._core.errors import MXNetError
from ...context import Context, virtual_gpus


def torch_device(ctx: Context) -> torch.device:
    """The torch device behind a context; virtual GPUs (`MXNET_VIRTUAL_GPUS`) are the CPU."""
    device = ctx._torch
    if device is None:
        device = _find(ctx)
        if ctx.device_type != "gpu" or device.type != "cpu":
            ctx._torch = device
    return device


def _find(ctx: Context) -> torch.device:
    if ctx.device_type != "gpu":
        return torch.device("cpu")
    if torch.cuda.is_available() and ctx.device_id < torch.cuda.device_count():
        return torch.device("cuda", ctx.device_id)
    if torch.backends.mps.is_available() and ctx.device_id == 0:
        return torch.device("mps")
    if ctx.device_id < virtual_gpus():
        return torch.device("cpu")
    raise MXNetError(
        f"{ctx} is not available: this machine has no such GPU; use mx.cpu(), "
        "or set MXNET_VIRTUAL_GPUS=2 to run GPU code on the CPU"
    )


def _in_child() -> None:
    """Use one thread, as MXNet does: OpenMP's threads do not survive a fork, and waiting for them would deadlock."""
    torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
