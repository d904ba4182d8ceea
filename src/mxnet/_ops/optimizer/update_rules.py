"""What the update operators share: checks of their inputs, shapes and types, and the formula applied to one weight."""

from collections.abc import Sequence
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..._core.errors import MXNetError
from ..registry.torch_dtypes import require_floating
from .steps import Formula, new_weights, step


@lru_cache(maxsize=1024)
def held(value: float, dtype: torch.dtype = torch.float32) -> float:
    """A number as MXNet holds it: its attributes are float32, in kernels of half precision half as long.

    It shows where such a number is taken from one: 1 - 0.999 is 0.00099998712.
    """
    number = np.float32(value)
    return float(np.float16(number) if dtype is torch.float16 else number)


def limit(clip: float) -> float:
    """A bound as formulas take it; a negative one is none."""
    return clip if clip >= 0 else inf


def same_shapes(weight: Tensor, *others: Tensor) -> None:
    """Torch would broadcast a state of another shape; MXNet refuses it."""
    for i, other in enumerate(others, 1):
        if other.shape != weight.shape:
            raise MXNetError(
                f"Incompatible attr in node  at {i}-th input: expected {list(weight.shape)}, got {list(other.shape)}"
            )


def single_precision(*states: Tensor) -> None:
    """The states of a mixed-precision update are float32."""
    for state in states:
        if state.dtype != torch.float32:
            given = str(state.dtype).removeprefix("torch.")
            raise MXNetError(f"Type inconsistent, Provided = {given}, inferred type = float32")


def fill_same(attrs: dict, shapes: list) -> list:
    """Gradient and states have the weight's shape."""
    known = next((s for s in shapes if s), None)
    return [s or known for s in shapes]


def fill_mixed_types(attrs: dict, dtypes: list) -> list:
    """Weight and gradient share a type; states and the master copy are float32."""
    known = dtypes[0] or dtypes[1]
    return [known, known, *["float32"] * (len(dtypes) - 2)]


def updated(
    formula: Formula, weight: Tensor, grad: Tensor, states: Sequence[Tensor], own: Sequence[float], *shared: Any
) -> Tensor:
    """The new weight by a formula; states are written in place."""
    require_floating(weight)
    same_shapes(weight, grad, *states)
    return new_weights(formula, [weight], [grad], [[s] for s in states], [[n] for n in own], *shared)[0]


def updated_master(
    formula: Formula,
    weight: Tensor,
    grad: Tensor,
    states: Sequence[Tensor],
    master: Tensor,
    own: Sequence[float],
    *shared: Any,
) -> Tensor:
    """The new weight by a formula on its float32 master copy, which is written in place."""
    same_shapes(weight, grad, *states, master)
    single_precision(*states, master)
    step(formula, [master], [grad.float()], [[s] for s in states], [[n] for n in own], *shared)
    return master.to(weight.dtype, copy=True)
