"""BytePS's MXNet API for ReMX, on the same ground as `horovod.mxnet`. It never stands in for BytePS itself."""

from importlib import metadata

__version__ = "0.2.5"  # the version of BytePS whose API this is

try:
    _found = metadata.version("byteps")
except metadata.PackageNotFoundError:
    _found = None
if _found is not None:
    raise ImportError(f"remx-horovod does not replace byteps {_found}; uninstall one of the two: pip uninstall byteps")
