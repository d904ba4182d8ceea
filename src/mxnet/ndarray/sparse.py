"""`mx.nd.sparse`: the dense operators under their sparse names; sparse storage itself is later work."""

from .._core.errors import MXNetError
from .namespaces import show

_lookup, __dir__ = show(__name__, "sparse")


class BaseSparseNDArray:
    """The class of sparse arrays, for `isinstance`."""


class CSRNDArray(BaseSparseNDArray):
    """Compressed rows; no array of this class exists yet."""


class RowSparseNDArray(BaseSparseNDArray):
    """Some rows of an array; no array of this class exists yet."""


def cast_storage(array, stype):
    """Convert to another storage; only dense storage exists."""
    if stype == "default":
        return array
    raise MXNetError(f"storage type {stype!r} is not available in this version; keep the array dense ('default')")


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return _lookup(name)
    except AttributeError:
        from .op import __getattr__ as dense

        return dense(name)
