"""MXNet's place for `mx.npx.save` and `mx.npx.load`."""

from ._functions import load, save

__all__ = ["load", "save"]
