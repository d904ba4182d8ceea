"""`MXNET_CHECK_NAN=1`: the first operator that makes a NaN out of numbers raises, and says from what and where."""

import os
import sys

import torch

from .._core.errors import MXNetError
from .._ops import observe


def _tensors(values):
    for value in values if isinstance(values, (tuple, list)) else (values,):
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.device.type != "meta":
            yield value


def _has_nan(values):
    return any(bool(torch.isnan(tensor.detach()).any()) for tensor in _tensors(values))


def _range(tensor):
    """Shape and extremes of an input, for the message."""
    if not isinstance(tensor, torch.Tensor):
        return repr(tensor)[:40]
    text = f"{str(tensor.dtype).removeprefix('torch.')}{tuple(tensor.shape)}"
    if tensor.numel() == 0:
        return f"{text} empty"
    low, high = tensor.detach().min().item(), tensor.detach().max().item()
    return f"{text} from {low:.6g} to {high:.6g}"


def _block():
    """The innermost Gluon block on the stack, by name."""
    frame = sys._getframe(2)
    while frame is not None:
        owner = frame.f_locals.get("self")
        if frame.f_code.co_name in ("forward", "hybrid_forward", "__call__") and hasattr(owner, "collect_params"):
            return f"in block {owner.name} ({type(owner).__name__})"
        frame = frame.f_back
    return "outside any block"


def _checked(op):
    """The operator's function with a look at what it returns; creation of NaN on purpose has no numbers to blame."""
    function = op.fn

    def call(*tensors, **attributes):
        result = function(*tensors, **attributes)
        if any(True for _ in _tensors(tensors)) and _has_nan(result) and not _has_nan(tensors):
            ranges = "; ".join(f"input {i}: {_range(tensor)}" for i, tensor in enumerate(tensors))
            shown = {key: value for key, value in attributes.items() if not key.startswith("_")}
            raise MXNetError(f"MXNET_CHECK_NAN: operator {op.name}({shown}) made a NaN {_block()}. {ranges}")
        return result

    return call


def enable():
    """Check every operator from now on."""
    observe.watch(_checked, graphs=True)


def disable():
    """Check no more."""
    observe.unwatch(_checked)


def enable_if_asked():
    """Follow the environment variable."""
    if os.environ.get("MXNET_CHECK_NAN", "0") not in ("", "0"):
        enable()
