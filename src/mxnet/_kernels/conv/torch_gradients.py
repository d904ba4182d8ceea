"""torch's own gradients of convolutions."""

from typing import Any

import torch
from torch import Tensor


def torch_gradients(head: Tensor, data: Tensor, weight: Tensor, geometry: Any, groups: int, wanted: Any) -> Any:
    """Gradients of data, weight and bias, those that are wanted; geometry: stride, padding, dilation."""
    options = ([weight.shape[0]], *geometry, False, (0, 0), groups)
    return torch.ops.aten.convolution_backward(head, data, weight, *options, list(wanted))
