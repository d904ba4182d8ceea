"""The version under MXNet's name; its C library, which other builds look for, is not here."""

from ._core.version import MXNET_VERSION as __version__

__all__ = ["__version__", "find_include_path", "find_lib_path"]


def find_lib_path(prefix="libmxnet"):
    """Where the C library is: nowhere, and MXNet says so with this exception."""
    raise RuntimeError(f"Cannot find the MXNet library {prefix}: ReMX runs on PyTorch and has no C library of its own")


def find_include_path():
    """Where the C headers are: nowhere."""
    raise RuntimeError("Cannot find the MXNet include path: ReMX runs on PyTorch and has no C headers")
