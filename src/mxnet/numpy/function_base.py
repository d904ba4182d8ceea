"""MXNet's place for `mx.np.meshgrid`."""

from ._shaping import broadcast_arrays, meshgrid

__all__ = ["broadcast_arrays", "meshgrid"]
