"""Two-bit gradient compression: each gradient becomes -threshold, 0 or +threshold, and what is lost waits its turn."""

import torch

from .._core.errors import MXNetError


class TwoBit:
    """Quantizes gradients, keeping for every key and device the error it made, to be added to the next gradient."""

    def __init__(self, threshold):
        if threshold <= 0:
            raise MXNetError(f"threshold must be greater than 0, got {threshold}")
        self.threshold = threshold
        self._residuals = {}

    def quantize(self, key, gradient):
        """The gradient's share that is sent, as signs (-1, 0, +1) in int8."""
        residual = self._residuals.get(key)
        if residual is None:
            residual = self._residuals[key] = torch.zeros_like(gradient)
        residual.add_(gradient)
        signs = (residual >= self.threshold).to(torch.int8) - (residual <= -self.threshold).to(torch.int8)
        residual.sub_(signs.to(residual.dtype), alpha=self.threshold)
        return signs

    def dequantize(self, signs, dtype):
        return signs.to(dtype) * self.threshold

    def __call__(self, key, gradient):
        """What the other side sees of `gradient`."""
        with torch.no_grad():
            return self.dequantize(self.quantize(key, gradient), gradient.dtype)


def pack(signs):
    """Four two-bit values to a byte, for the wire."""
    codes = torch.zeros(-(-signs.numel() // 4), 4, dtype=torch.uint8, device=signs.device)
    codes.view(-1)[: signs.numel()] = (signs.flatten() + 1).to(torch.uint8)
    return codes[:, 0] | codes[:, 1] << 2 | codes[:, 2] << 4 | codes[:, 3] << 6


def unpack(packed, count):
    """The `count` signs that `pack` put into bytes."""
    shifts = torch.tensor([0, 2, 4, 6], dtype=torch.uint8, device=packed.device)
    codes = (packed.unsqueeze(1) >> shifts) & 3
    return codes.flatten()[:count].to(torch.int8) - 1


def compression(params):
    """The compressor that `set_gradient_compression`'s dict asks for."""
    assert isinstance(params, dict), f"unexpected type for param_dict: {type(params)}"
    if unknown := [name for name in params if name not in ("type", "threshold")]:
        raise MXNetError(f"Cannot find argument '{unknown[0]}', Possible Arguments: type, threshold")
    if "type" not in params:
        raise MXNetError("Required parameter type of string is not presented")
    if params["type"] != "2bit":
        raise MXNetError(f"Unknown type for gradient compression {params['type']}; use '2bit'")
    return TwoBit(float(params.get("threshold", 0.5)))
