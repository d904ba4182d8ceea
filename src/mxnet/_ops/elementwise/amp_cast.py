"""Casts that automatic mixed precision puts between other operators."""

import torch

from ..._core.attrs import Dtype
from ..registry.gradient import with_gradient
from ..registry.registry import op
from ..registry.torch_dtypes import NAME, torch_dtype
from .identity import to_dtype

SATURATED = (torch.int8, torch.uint8, torch.int32)
MIXED = ("float16", "bfloat16", "float32")  # the types between which they cast


@op("amp_cast")
def amp_cast(data, *, dtype: Dtype):
    """`data` of half or single precision with another type; integers and doubles stay what they are."""
    kind = torch_dtype(dtype)
    if NAME[data.dtype] not in MIXED:
        return torch.clone(data)
    if data.dtype is torch.float32 and kind in SATURATED:
        data = _saturated(data, kind)
    return to_dtype(data, kind)


def _saturated(data: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    """Rounded, and brought into the range of an integer type: MXNet leaves these casts to oneDNN, which does so."""
    limits = torch.iinfo(kind)
    highest = 2147483520 if kind is torch.int32 else limits.max  # the largest float32 that is an int32
    return with_gradient(lambda x: x.round().clamp(limits.min, highest), lambda _, __, heads: heads[0], data)


def widest(types: list[str | None], narrow: bool) -> list[str | None]:
    """The types that `amp_multicast` gives for the types it gets; None stands for one that is not known."""
    small = ("bfloat16", "float16")
    if narrow:
        kind = next((name for name in small if name in types), "float32")
    else:
        kind = "float32" if "float32" in types else types[0]
    return [kind if name in MIXED else name for name in types]


@op(
    "amp_multicast",
    count="num_outputs",
    outputs=lambda attrs: attrs["num_outputs"],
    dtype="any",
    shape=lambda attrs, shapes: shapes,
    fill_types=lambda attrs, types: types,
)
def amp_multicast(*data, num_outputs: int = 0, cast_narrow: bool = False):
    """All half and single precision inputs brought to the widest type among them, or the narrowest."""
    types = widest([NAME[t.dtype] for t in data], cast_narrow)
    return tuple(t.to(torch_dtype(name), copy=True) for t, name in zip(data, types, strict=True))  # type: ignore[arg-type]
