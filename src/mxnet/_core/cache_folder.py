"""Folders of things that can be made again: `MXNET_HOME`, or the platform's folder for caches."""

import os
import sys


def kernel_folder() -> str:
    """The folder of compiled kernels: `$MXNET_HOME/kernels`, or `remx/kernels` in the user's cache folder."""
    home = os.environ.get("MXNET_HOME")
    return os.path.join(home, "kernels") if home else os.path.join(_user_cache(), "remx", "kernels")


def _user_cache() -> str:
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches")
    return os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
