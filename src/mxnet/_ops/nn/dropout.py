"""Dropout."""

from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F

from ..._core.attrs import Fraction
from ..._kernels.random.draw import register
from ..._kernels.runtime.concrete import is_exporting
from ..registry.registry import op
from ..registry.torch_dtypes import NAME, require_floating

register()


@op("Dropout")
def dropout(
    data,
    *,
    p: Fraction = 0.5,
    mode: Literal["always", "training"] = "training",
    axes: tuple = (),
    cudnn_off: bool | None = False,
    _train: bool = False,
    _rng=None,
):
    """Zero each element with probability `p` and divide the others by 1 - p; along `axes` all share one decision.

    Parameters
    ----------
    data
        The input, of any shape; it is returned unchanged outside of training unless `mode` is always.
    p
        The probability that an element is set to zero, between 0 and 1. The kept ones are divided by 1 - p, so that the
        expected value stays the same.
    mode
        training: drop only while `autograd` is in training mode; always: in prediction, too (Monte Carlo dropout).
    axes
        Axes along which all elements share one decision, such as (2, 3) to drop whole channels of images; empty decides
        for each element.
    cudnn_off
        Accepted for old programs and ignored.
    """
    kept = float(np.float32(1) - np.float32(p))
    if not (_train or mode == "always") or kept == 1:
        return data.clone()
    require_floating(data, "Dropout")
    shape = _shared(data.shape, axes) if axes else data.shape
    if _rng is not None and data.device.type == "cpu" and not _is_traced():
        return data * _factors(shape, data.dtype, kept, not axes, _rng)
    if p == 1:
        return data * torch.nan  # nothing is left to divide by zero
    if not axes:
        return F.dropout(data, p, True)
    return data * F.dropout(torch.ones(shape, dtype=data.dtype, device=data.device), p, True)


def _is_traced():
    """Is this a call of torch's compiler or exporter, which know no stream but torch's?"""
    return torch.compiler.is_compiling() or is_exporting()


def _factors(shape, dtype, kept, inclusive, rng):
    """MXNet's mask: a number that equals `kept` is kept where each element has its own, dropped where axes share it."""
    name = NAME[dtype]
    known = name if name in ("float16", "float32", "float64") else "float32"
    factors = rng.dropout(kept, inclusive, shape.numel(), known)
    return torch.from_numpy(factors).view(shape).to(dtype)


def _shared(shape, axes):
    given = {axis % len(shape) for axis in axes}
    return torch.Size(1 if axis in given else n for axis, n in enumerate(shape))
