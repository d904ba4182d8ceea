"""MXNet's place for `mx.np.genfromtxt`."""

from .fallback import genfromtxt

__all__ = ["genfromtxt"]
