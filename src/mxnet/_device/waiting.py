"""Waiting for devices: values brought to the host, and what went wrong on the way to them."""

from typing import Any

import torch
from torch import Tensor

from .._core.errors import MXNetError
from . import late
from .errors import explained


class _Engine:
    """MXNet's engine, as far as it is visible: the naive one waits after each operator."""

    naive = False


ENGINE = _Engine()


def number(tensor: Tensor) -> Any:
    """The one element of a tensor as Python's number."""
    return tensor.item() if tensor.is_cpu else _waited(tensor.item)


def values(tensor: Tensor) -> Tensor:
    """The tensor on the CPU: itself if it is there."""
    return tensor if tensor.is_cpu else _waited(tensor.cpu)


def wait(device: torch.device) -> None:
    """Return when a device has done all its work."""
    if device.type == "cuda":
        _waited(lambda: torch.cuda.synchronize(device))
    elif device.type == "mps":
        _waited(torch.mps.synchronize)


def wait_for_all() -> None:
    """Return when all devices have done all their work."""
    if torch.cuda.is_initialized():  # else nobody has given it work
        for index in range(torch.cuda.device_count()):
            wait(torch.device("cuda", index))
    if torch.backends.mps.is_available():
        wait(torch.device("mps"))


def _waited(get: Any) -> Any:
    """What `get` returns after the device was waited for; conditions that the device has checked come first."""
    try:
        if late.PENDING:
            late.check()
        return get()
    except MXNetError:
        raise
    except RuntimeError as error:
        raise MXNetError(explained(error)) from None
