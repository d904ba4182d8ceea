"""How images are divided into Winograd tiles: of 6 x 6 input pixels, which share pixels with their neighbours."""

from collections.abc import Sequence
from typing import NamedTuple

import torch

SIDE = 6  # of an input tile: F(4x4, 3x3) and F(2x2, 5x5) have the same interpolation points


class Tiling(NamedTuple):
    """The side of a convolution's square windows, and its padding; the stride is one."""

    window: int = 3
    pad: int = 1

    @property
    def step(self) -> int:
        """The side of an output tile."""
        return SIDE + 1 - self.window

    def output(self, size: int) -> int:
        """The size of an output axis."""
        return size + 2 * self.pad - self.window + 1

    def along(self, size: int) -> int:
        """How many tiles cover an output axis."""
        return -(-self.output(size) // self.step)

    def count(self, shape: Sequence[int]) -> int:
        """The number of tiles of images of this shape, NCHW."""
        return shape[0] * self.along(shape[2]) * self.along(shape[3])

    def count_nhwc(self, images: torch.Tensor) -> int:
        """The number of tiles of NHWC images."""
        batch, height, width, _ = images.shape
        return batch * self.along(height) * self.along(width)


DEFAULT = Tiling()


class Group(NamedTuple):
    """Tiles that are computed at once: some whole images, or some rows of tiles of one image."""

    images: slice
    rows: slice
    begin: int
    tiles: int
