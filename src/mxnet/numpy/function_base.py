"""MXNet's place for `mx.np.meshgrid`."""

from ._indexing import meshgrid
from ._shaping import broadcast_arrays

__all__ = ["broadcast_arrays", "meshgrid"]
