"""MXNet's place for `mx.np.broadcast_arrays`."""

from ._shaping import broadcast_arrays

__all__ = ["broadcast_arrays"]
