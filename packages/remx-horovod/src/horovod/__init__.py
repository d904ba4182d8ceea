"""Horovod's MXNet API for ReMX, on torch.distributed. It never stands in for Horovod itself where that is installed."""

import contextlib
import os
import sys
from importlib import metadata

__version__ = "0.28.1"  # the version of Horovod whose API this is


def _other_copies():
    """Where another package called `horovod` is found: an installed distribution, or a folder of the import path."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        yield f"the distribution horovod {metadata.version('horovod')}"
    for folder in sys.path:
        path = os.path.join(folder, "horovod", "__init__.py")
        if os.path.isfile(path) and not os.path.samefile(path, __file__):
            yield os.path.dirname(path)


for _found in _other_copies():
    raise ImportError(
        f"remx-horovod does not replace another horovod, and there is {_found}; "
        "uninstall one of the two: pip uninstall horovod, or pip uninstall remx-horovod"
    )
