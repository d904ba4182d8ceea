"""The version under MXNet's name; its C library, which other builds look for, is not here."""

from ._core.version import MXNET_VERSION as __version__

__all__ = ["__version__", "find_include_path", "find_lib_path"]


def find_lib_path(prefix="libmxnet"):
    """Where MXNet's C library would be: there is none, so RuntimeError is raised as MXNet does.

    Parameters
    ----------
    prefix : str, default 'libmxnet'
        The beginning of the library's name.

    Examples
    --------
    >>> try:
    ...     mx.libinfo.find_lib_path()
    ... except RuntimeError:
    ...     print("there is no C library")
    there is no C library
    """
    raise RuntimeError(f"Cannot find the MXNet library {prefix}: ReMX runs on PyTorch and has no C library of its own")


def find_include_path():
    """Where MXNet's C headers would be: there are none, so RuntimeError is raised as MXNet does.

    Examples
    --------
    >>> try:
    ...     mx.libinfo.find_include_path()
    ... except RuntimeError:
    ...     print("there are no C headers")
    there are no C headers
    """
    raise RuntimeError("Cannot find the MXNet include path: ReMX runs on PyTorch and has no C headers")
