"""IDX files of bytes, which MNIST's images and labels are: a header of sizes, then the values."""

import numpy as np

from .._core.errors import MXNetError

_BYTES = b"\0\0\x08"


def array(content: bytes, name: str, dimensions: int | None = None) -> np.ndarray:
    """The values in the shape that the header tells, which has so many dimensions if they are given."""
    found = content[3] if len(content) >= 4 else 0
    begin = 4 + 4 * found
    if content[:3] != _BYTES or len(content) < begin or found != (found if dimensions is None else dimensions):
        raise MXNetError(
            f"{name} is not an IDX file of {'bytes' if dimensions is None else f'{dimensions} dimensions'}"
        )
    shape = tuple(map(int, np.frombuffer(content, ">u4", found, 4)))
    values = np.frombuffer(content, np.uint8, offset=begin)
    try:
        return values.reshape(shape)
    except ValueError:  # another number of values, or none in a shape whose other sizes no array can have
        raise MXNetError(f"{name} says it holds {shape} values, but holds {values.size}") from None
