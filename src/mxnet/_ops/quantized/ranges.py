"""Ranges of reals that 8-bit integers stand for: their arithmetic, and how they pass through an operator's rules."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..._core.errors import MXNetError
from ..registry.output_shapes import infer_shape
from ..registry.registry import Attrs, find
from ..registry.torch_dtypes import NAME
from .quantize import HALF, INT32, reach

OUTPUTS = ("output", "min_output", "max_output")
Shapes = list


def check_eight_bits(operator: str, **inputs: Tensor | None) -> None:
    """Inputs of 8 bits, signed or not."""
    for name, tensor in inputs.items():
        if tensor is not None and tensor.dtype not in (torch.int8, torch.uint8):
            raise MXNetError(f"{operator} only supports int8 and uint8 as input type, got {NAME[tensor.dtype]} {name}")


def check_signed(operator: str, **inputs: Tensor | None) -> None:
    """Inputs that MXNet takes as int8 only."""
    for name, tensor in inputs.items():
        if tensor is not None and tensor.dtype != torch.int8:
            raise MXNetError(f"{operator}: Type inconsistent, Provided = {NAME[tensor.dtype]}, "
                             f"inferred type = int8: input {name}; quantize it with out_type='int8'")  # fmt: skip


def units_of(tensor: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Steps of the integer type for one real unit."""
    return HALF[NAME[tensor.dtype]] / reach(low, high)


def product_range(data: Tensor, ends: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
    """The reals that the ends of the 32-bit sums stand for; `ends` are those of the data and of the weight.

    Ranges have no gradient.
    """
    low_data, high_data, low_weight, high_weight = (end.detach() for end in ends)
    steps = 255.0 if data.dtype == torch.uint8 else 127.0
    top = reach(low_data, high_data) / 127.0 * (reach(low_weight, high_weight).max() / steps) * INT32
    return -top.reshape(1), top.reshape(1)


def one_each(shapes: Shapes, first: int) -> Shapes:
    """From input number `first` on all are ends of ranges, of one element each."""
    return [*shapes[:first], *[(1,)] * (len(shapes) - first)]


def data_and_ranges(attrs: Attrs, dtypes: list[str | None]) -> list[str | None]:
    """The types of one input and what goes with it in floats."""
    return [dtypes[0], *["float32"] * (len(dtypes) - 1)]


def like_data(attrs: Attrs, shapes: Shapes) -> Shapes:
    """The shapes of an output like the first input, and of its range."""
    return [shapes[0], (1,), (1,)]


def like_reals(name: str, count: Callable[[Attrs], int]) -> Callable[[Attrs, Shapes], Shapes]:
    """The rule of an operator whose output has the shape that the one on reals gives its first inputs."""

    def rule(attrs: Attrs, shapes: Shapes) -> Shapes:
        real = find(name)
        own = {key: value for key, value in attrs.items() if key in real.attrs}
        return [*infer_shape(real, own, shapes[: count(attrs)])[1], (1,), (1,)]

    return rule


def handed_on(*ends: Tensor) -> tuple[Tensor, ...]:
    """The ends of a range as an output: copies, without a gradient."""
    return tuple(end.detach().clone() for end in ends)
