"""The torch device of a context, and the number of threads in a forked process."""

import os
from collections.abc import Callable
from typing import Any

import torch

from ..._core.errors import MXNetError
from ..._device import fallback
from ..._device.available import device_of, why_not
from ...context import Context
from . import observe
from .registry import Op


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
    device = device_of(ctx)
    if device is None:
        raise MXNetError(why_not(ctx))
    if device.type == "mps":
        _fall_back()
    return device


def _fall_back() -> None:
    """Let operators that Apple's GPUs lack run on the CPU, eagerly and in graphs, from now on."""
    if not _FALLING:
        _FALLING.append(_with_fallback)
        observe.watch(_with_fallback, graphs=True)


_FALLING: list[observe.Wrapper] = []


def _with_fallback(op: Op, name: str = "") -> Callable[..., Any]:
    function = op.fn

    def call(*tensors: Any, **attrs: Any) -> Any:
        try:
            return function(*tensors, **attrs)
        except (NotImplementedError, TypeError) as error:
            if not fallback.lacking(error):
                raise
            return fallback.on_cpu(op.name, function, tensors, attrs, error)

    return call


def _in_child() -> None:
    """Use one thread, as MXNet does: OpenMP's threads do not survive a fork, and waiting for them would deadlock."""
    torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
