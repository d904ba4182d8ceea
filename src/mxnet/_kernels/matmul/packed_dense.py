"""Dense layers with a constant, packed weight and few rows: when they beat MKL, which packs the weight at each call."""

from .. import tuning
from ..conv import direct
from ..registry import Kernel


def _applies(weights: int, rows: int, pixels: bool) -> int:
    """The multiplications of so many rows with a weight of so many elements; rows that are the pixels of pooled images
    are in the kernel's order already."""
    fewest = 1 if pixels else tuning.DENSE_WEIGHTS_ONE_ROW if rows == 1 else tuning.DENSE_WEIGHTS
    return weights * rows if 0 < rows <= tuning.DENSE_ROWS and weights >= fewest else 0


# `ready(weights, rows, pixels)`; `run` packs the weight, as that of a convolution of 1 x 1 windows
packed_dense = Kernel("matmul.packed_dense", _applies, direct.pack, 1, direct._code)
