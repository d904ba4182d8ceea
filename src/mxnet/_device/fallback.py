"""Operators that a device lacks: computed on the CPU and copied back, with one warning for each."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .available import once
from .errors import lacks_float64


def lacking(error: BaseException) -> bool:
    """Does the error say that the device has no kernel, or (as Apple's) no float64?"""
    if isinstance(error, NotImplementedError):
        return True
    return lacks_float64(error)


def on_cpu(name: str, function: Callable[..., Any], tensors: Any, attrs: dict[str, Any], error: BaseException) -> Any:
    """The result of an operator on copies of its inputs; states that it changes are copied back."""
    device = _device(tensors, attrs)
    once(f"{name} on {device.type}", f"{name} runs on the CPU: {_reason(error)}")
    copies = [t.cpu() if isinstance(t, Tensor) else t for t in tensors]
    versions = [t._version if isinstance(t, Tensor) else 0 for t in copies]
    given = {k: torch.device("cpu") if k == "_device" else v for k, v in attrs.items()}
    results = function(*copies, **given)
    for tensor, copy, version in zip(tensors, copies, versions, strict=True):
        if isinstance(tensor, Tensor) and copy._version != version and not tensor.is_cpu:
            tensor.data.copy_(copy.detach())
    if isinstance(results, (tuple, list)):
        return type(results)(r.to(device) for r in results)
    return results.to(device)


def _device(tensors: Any, attrs: dict[str, Any]) -> torch.device:
    found = [t.device for t in tensors if isinstance(t, Tensor) and not t.is_cpu]
    return found[0] if found else attrs.get("_device") or torch.device("cpu")


def _reason(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0].split(". ")[0] if text else "the device has no kernel for it"
