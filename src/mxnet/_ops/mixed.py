"""Casts that automatic mixed precision puts between other operators."""

import torch

from .._core.attrs import Dtype
from .dtypes import NAME, torch_dtype
from .registry import op

MIXED = ("float16", "bfloat16", "float32")  # the types between which they cast


@op("amp_cast")
def amp_cast(data, *, dtype: Dtype):
    """`data` of half or single precision with another type; integers and doubles stay what they are."""
    return data.to(torch_dtype(dtype), copy=True) if NAME[data.dtype] in MIXED else torch.clone(data)


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
