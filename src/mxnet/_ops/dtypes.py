"""MXNet's data types as torch's."""

import torch

from .._core.dtypes import FLAGS, SCALARS, dtype_name

TORCH: dict[str, torch.dtype] = {name: getattr(torch, name) for name in FLAGS}
NAME: dict[torch.dtype, str] = {dtype: name for name, dtype in TORCH.items()}
SCALAR: dict[torch.dtype, type] = {dtype: SCALARS[name] for dtype, name in NAME.items()}
FLOATING = frozenset(d for d in NAME if d.is_floating_point)


def torch_dtype(dtype: object) -> torch.dtype:
    """The torch dtype for whatever a user calls one."""
    return dtype if isinstance(dtype, torch.dtype) else TORCH[dtype_name(dtype)]
