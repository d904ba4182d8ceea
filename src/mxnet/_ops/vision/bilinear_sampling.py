"""Bilinear samples of images at positions counted in pixels, by torch's sampler, which wants them from -1 to 1.

Images get zeros behind their last pixels, until the distance of the ends is a power of two: then whole pixels stay
whole on the way there and back, and their gradients are taken on the side on which they are.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

FAR, STEEP = 1e6, 1e30


def sampled(images: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """(n, channels, …): the images (n, channels, height, width) at points (n, …); zeros are around them."""
    spans = [1 << max(1, (int(size) - 2).bit_length()) for size in images.shape[2:]]
    right, down = (span + 1 - size for span, size in zip(spans[::-1], images.shape[:1:-1], strict=True))
    grid = torch.stack([x.flatten(1) * (2 / spans[1]) - 1, y.flatten(1) * (2 / spans[0]) - 1], 1)
    padded = F.pad(images, (0, right, 0, down))
    found = F.grid_sample(padded, grid.unsqueeze(2).permute(0, 2, 3, 1), "bilinear", "zeros", align_corners=True)
    return found.view(*images.shape[:2], *y.shape[1:])


@torch.no_grad()
def away_below(position: Tensor, least: float, included: bool) -> Tensor:
    """Zero for positions above `least` (and there, if that is included), far to the left for others.

    In products and bounds, which have vectors; torch's comparisons have none.
    """
    steep = (position - least).mul_(STEEP)
    return steep.clamp_(-FAR, 0.0) if included else steep.clamp_(0.0, FAR).sub_(FAR)
