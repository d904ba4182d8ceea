"""MXNet's place for `mx.npx.save` and `mx.npx.load`."""

from ..numpy import ndarray  # noqa: F401 - MXNet's module shows these
from ..util import is_np_array, is_np_shape  # noqa: F401
from ._functions import load, save

__all__ = ["load", "save"]
