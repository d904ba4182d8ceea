"""Box encoding and decoding: regression targets of anchors, and boxes out of predicted offsets, in one pass."""

import torch
from torch import Tensor

from .. import tuning
from ..registry import Kernel
from ..runtime.concrete import is_concrete
from ..runtime.loader import CompiledModule, any_processor

_code = CompiledModule("vision.box_kernels", any_processor, after=tuning.BOX_COMPILE)


def _work(number: int, *tensors: Tensor) -> int:
    plain = all(t.__class__ is Tensor and t.dtype is torch.float32 and t.is_cpu for t in tensors)
    return tuning.BOX_CALL + number if plain and is_concrete(tensors[0]) else 0


def _encode_applies(*inputs: Tensor) -> int:
    samples, matches, anchors, refs, means, stds = inputs
    batch, number = anchors.shape[:2]
    alike = samples.shape == matches.shape == anchors.shape[:2] and means.shape == stds.shape == (4,)
    return _work(batch * number, *inputs) if alike and len(refs) == batch and refs.shape[1] else 0


def _encode(*inputs: Tensor) -> tuple[Tensor, Tensor]:
    anchors, refs = inputs[2:4]
    held = [t.contiguous() for t in inputs]
    results = torch.empty(anchors.shape), torch.empty(anchors.shape)
    _code.get(wait=True).encode(*(t.data_ptr() for t in (*held, *results)), *anchors.shape[:2], refs.shape[1])
    return results


def _decode_applies(data: Tensor, anchors: Tensor, *attrs: float) -> int:
    batch, number = data.shape[:2]
    return _work(batch * number, data, anchors) if anchors.shape[:2] == (1, number) else 0


def _decode(data: Tensor, anchors: Tensor, from_corners: bool, clip: float, *stds: float) -> Tensor:
    held = data.contiguous(), anchors.contiguous(), torch.empty(data.shape)
    _code.get(wait=True).decode(*(t.data_ptr() for t in held), *data.shape[:2], from_corners, clip, *stds)
    return held[-1]


# (samples, matches, anchors, refs, means, stds) -> targets and masks
encode = Kernel("vision.box_encode", _encode_applies, _encode, code=_code)
# (data, anchors, whether anchors are corners, clip, four stds) -> corner boxes
decode = Kernel("vision.box_decode", _decode_applies, _decode, code=_code)
