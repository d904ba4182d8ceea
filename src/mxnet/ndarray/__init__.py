"""`mx.nd`: imperative arrays and the operators on them. Submodules and operators appear when first used."""

# MXNet loads it, and Sockeye names multiprocessing.pool.Pool after a mere `import multiprocessing`.
import multiprocessing.pool as _pool
from importlib import import_module as _import_module

from .._core.errors import no_attribute as _no_attribute
from .._ops.registry.signature import names_in_namespace as _names
from ._dispatch.check_nan import enable_if_asked as _enable_if_asked
from ._dispatch.generated import generated_function as _generated_function
from ._dispatch.generated import operator_of as _operator_of
from .functions import *
from .functions import __all__ as _functions
from .naive_engine import enable_if_asked as _engine_if_asked
from .ndarray import NDArray, NDArrayBase, _new_empty_handle

_SUBMODULES = {"_internal", "cached_op", "contrib", "image", "linalg", "ndarray", "op", "random", "sparse", "utils"}
_SHOWN = ("NDArray", "contrib", "image", "linalg", "numpy", "numpy_extension", "random", "sparse")
_FROM = {
    **dict.fromkeys(("load", "load_frombuffer", "save"), "utils"),
    "CachedOp": "cached_op",
    **dict.fromkeys(("BaseSparseNDArray", "CSRNDArray", "RowSparseNDArray"), "sparse"),
}


_enable_if_asked()
_engine_if_asked()
_NUMPY = {"np": "numpy", "npx": "numpy_extension"}  # blocks say F.np and F.npx


def __getattr__(name):
    if name == "__all__":  # for `import *`, which makes all functions
        return [*_functions, *_SHOWN, *_FROM, *_names("op")]
    if name in _SUBMODULES:
        return _import_module(f".{name}", __name__)
    if name in _NUMPY:
        return _import_module(f".{_NUMPY[name]}", __name__)
    if name in _FROM:
        value = getattr(_import_module(f".{_FROM[name]}", __name__), name)
    elif _operator_of("op", name):
        value = _generated_function(name)
    else:
        raise _no_attribute(__name__, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_SUBMODULES, *_FROM, *_names("op")})
