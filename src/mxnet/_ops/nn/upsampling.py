"""UpSampling: nearest neighbours of one or many inputs, or bilinear by a learnable deconvolution."""

from math import ceil
from typing import Literal

import torch
import torch.nn.functional as F

from ..._core.attrs import Count, Long
from ..._core.errors import MXNetError
from ..._device.settings import under
from ..registry.fill_rules import assign
from ..registry.registry import op


def _inputs(attrs):
    if attrs["sample_type"] == "bilinear":
        return ("data", "weight")
    return tuple(f"arg{i}" for i in range(attrs.get("num_args") or 1))


def _weight(attrs, shapes):
    if attrs["sample_type"] == "bilinear" and shapes[0]:
        kernel = _kernel(attrs["scale"])
        assign(shapes, 1, (shapes[0][1], 1, kernel, kernel), "UpSampling", "weight")
    return shapes


def _kernel(scale):
    return 2 * scale - scale % 2


def _enlarged(attrs, shapes):
    """Of one image by its nearest pixels."""
    if attrs["sample_type"] != "nearest" or len(shapes) != 1 or not shapes[0] or len(shapes[0]) != 4:
        return None
    batch, channels, height, width = shapes[0]
    return [(batch, channels, height * attrs["scale"], width * attrs["scale"])]


@op("UpSampling", inputs=_inputs, fill=_weight, shape=_enlarged)
def upsampling(
    *data,
    scale: Count,
    num_filter: int = 0,
    sample_type: Literal["bilinear", "nearest"],
    multi_input_mode: Literal["concat", "sum"] = "concat",
    num_args: int = 1,
    workspace: Long = 512,
):
    """The first input enlarged `scale` times, the others (under `nearest`) to the same size, joined or summed."""
    if sample_type == "bilinear":
        return _bilinear(*data, scale, num_filter)
    height, width = data[0].shape[2] * scale, data[0].shape[3] * scale
    images = [_nearest(image, height, width) for image in data]
    if len(images) == 1:
        return images[0]
    return torch.cat(images, 1) if multi_input_mode == "concat" else sum(images[1:], images[0])


def _nearest(image, height, width):
    if image.dim() != 4 or height % image.shape[2] or width % image.shape[3]:
        raise MXNetError(f"UpSampling: shape {tuple(image.shape)} does not divide the output ({height}, {width})")
    # By factors, which do not depend on the batch: files of ONNX then have them as constants.
    factors = float(height // image.shape[2]), float(width // image.shape[3])
    return F.interpolate(image, scale_factor=factors, mode="nearest")


def _bilinear(data, weight, scale, num_filter):
    if num_filter != data.shape[1]:
        raise MXNetError(f"UpSampling: num_filter={num_filter} must be the number of channels, {data.shape[1]}")
    return under(torch.conv_transpose2d, (data, weight, None, scale, ceil((scale - 1) / 2), 0, num_filter))
