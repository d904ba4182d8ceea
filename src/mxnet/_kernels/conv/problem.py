"""A convolution without its values (`Problem`), and an algorithm that may compute it (`Way`)."""

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import torch

from ..registry import Kernel
from ..runtime.loader import CompiledModule

EAGER = "eager"  # one recorded call; NCHW in memory
UNRECORDED = "unrecorded"  # one call without a gradient; NCHW in memory
TRAINING = "training"  # in a training graph; channels-last in memory
INFERENCE = "inference"  # in an inference graph, with a constant weight; channels-last in memory
TRANSPOSED = "transposed"  # a deconvolution

Shape = tuple[int, ...]


class Problem(NamedTuple):
    """A convolution without its values: equal problems are computed the same way."""

    mode: str
    data: Shape
    weight: Shape
    bias: Any  # shape and dtype; None: there is none
    stride: Shape
    pad: Shape
    dilate: Shape
    groups: int
    dtype: torch.dtype
    weight_dtype: torch.dtype
    contiguous: bool  # NCHW in memory?
    threads: int
    adj: Shape = ()
    recorded: bool = True

    @property
    def is_float32(self) -> bool:
        """Single precision throughout, with a weight and bias of the shapes that kernels rely on?"""
        if not (self.dtype is torch.float32 is self.weight_dtype) or len(self.data) != 4 or len(self.weight) != 4:
            return False
        if self.data[1] != self.weight[1] * self.groups or not prod(self.data):
            return False
        return self.bias is None or self.bias == ((self.weight[0],), torch.float32)

    @property
    def is_plain(self) -> bool:
        """One group, no dilation?"""
        return self.groups == 1 and all(d == 1 for d in self.dilate)

    @property
    def output(self) -> Shape:
        """The result's sizes."""
        axes = zip(self.data[2:], self.weight[2:], self.stride, self.pad, self.dilate, strict=True)
        return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in axes)

    @property
    def work(self) -> int:
        """Approximate number of multiplications of direct convolution: one window for each pixel of the data."""
        return prod(self.data) * prod(self.weight) // max(1, self.data[1])


class Way(Kernel):
    """A convolution algorithm: `applies(problem)` returns the amount of work, 0 if it does not apply or is no faster;
    `run(problem)` creates the computation, once for all equal problems.

    `rule` describes in words when it applies.
    """

    __slots__ = ("rule",)

    def __init__(
        self,
        name: str,
        rule: str,
        applies: Callable[[Problem], int],
        run: Callable[[Problem], Any],
        code: CompiledModule | None = None,
    ) -> None:
        super().__init__(name, applies, run, 1, code)
        self.rule = rule
