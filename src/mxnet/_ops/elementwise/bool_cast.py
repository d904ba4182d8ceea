"""Comparisons and other predicates with bool results, by NumPy: torch takes up to ten times as long to write bytes.

While kernels are switched off, torch computes them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ..._kernels import tuning
from ..._kernels.registry import enabled
from ..._kernels.runtime.concrete import is_exporting

KINDS = frozenset([torch.float32, torch.float64])

Test = Callable[..., torch.Tensor]


def of_one(function: Test, quick: Callable[..., Any]) -> Test:
    """A predicate of each element."""

    def test(data: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(quick(data.detach().numpy())) if _many(data) else function(data)

    return test


def of_two(function: Test, quick: Callable[..., Any]) -> Test:
    """A comparison with another array of the same dtype, or with a scalar tensor."""

    def test(lhs: torch.Tensor, rhs: Any) -> torch.Tensor:
        if rhs.__class__ is not torch.Tensor or not _many(lhs) or not rhs.is_cpu:
            return function(lhs, rhs)
        if rhs.dtype is not lhs.dtype:
            if rhs.dim() or not rhs.is_floating_point():
                return function(lhs, rhs)
            rhs = rhs.to(lhs.dtype)
        try:
            return torch.from_numpy(quick(lhs.detach().numpy(), rhs.detach().numpy()))
        except ValueError:  # shapes that cannot be broadcast: torch raises the error
            return function(lhs, rhs)

    return test


def _many(data: torch.Tensor) -> bool:
    """Are there many concrete elements, in a call that is not traced?"""
    if data.__class__ is not torch.Tensor or torch.compiler.is_compiling() or data.numel() < tuning.BOOL_ELEMENTS:
        return False
    return data.dtype in KINDS and data.is_cpu and enabled() and not is_exporting()


COMPARISONS = {
    "equal": of_two(torch.eq, np.equal), "not_equal": of_two(torch.ne, np.not_equal),
    "greater": of_two(torch.gt, np.greater), "greater_equal": of_two(torch.ge, np.greater_equal),
    "less": of_two(torch.lt, np.less), "less_equal": of_two(torch.le, np.less_equal),
}  # fmt: skip
TESTS = {
    "isfinite": of_one(torch.isfinite, np.isfinite), "isinf": of_one(torch.isinf, np.isinf),
    "isnan": of_one(torch.isnan, np.isnan), "logical_not": of_one(torch.logical_not, np.logical_not),
}  # fmt: skip
