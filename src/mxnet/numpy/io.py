"""MXNet's place for `mx.np.genfromtxt`."""

from ..context import current_context  # noqa: F401 - MXNet's module shows it
from ._creation import array  # noqa: F401
from .fallback import genfromtxt

__all__ = ["genfromtxt"]
