"""MXNet's pickled optimizer states, read without running their code.

Callers say how arrays and objects are made; this file knows neither NDArray nor any optimizer.
"""

import io
import pickle
from typing import Any

import numpy as np

from .._core.errors import MXNetError
from . import params, pickle_damage
from .source import from_buffer
from .state_trees import MakeArray, MakeObject, as_key, broken, check_depth


class _Array:
    """Stands for MXNet's NDArray while a pickle is read; keeps the bytes of its blob."""

    def __init__(self, *arguments: object) -> None:
        self.raw: bytes | None = None

    def __setstate__(self, state: object) -> None:
        raw = state.get("handle") if isinstance(state, dict) else None
        if not isinstance(raw, (bytes, bytearray, type(None))):
            raise broken("an array without its bytes")
        self.raw = None if raw is None else bytes(raw)


class _Object:
    """Stands for an optimizer or a schedule; keeps the name of its class and its attributes."""

    module = name = ""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}

    def __new__(cls, *arguments: object) -> "_Object":
        made = super().__new__(cls)
        made.state = {}
        return made

    def __setstate__(self, state: object) -> None:
        if not isinstance(state, dict) or not all(isinstance(k, str) for k in state):
            raise broken(f"the attributes of {self.name} are no dict")
        self.state = state


class _Dtype:
    """Stands for NumPy's dtype inside a pickled scalar."""

    def __init__(self, name: object = "", *arguments: object) -> None:
        self.name = str(name)

    def __setstate__(self, state: object) -> None:
        """Byte order and the like: the simple types that are admitted do not need it."""


def _scalar(dtype: object, data: object = b"") -> object:
    if not isinstance(dtype, _Dtype) or not isinstance(data, bytes) or dtype.name[:1] not in "bifu":
        raise broken("a NumPy scalar that is not a number")
    try:
        (value,) = np.frombuffer(data, np.dtype(dtype.name).newbyteorder("<"))
    except (TypeError, ValueError) as error:
        raise broken(f"a NumPy scalar of type {dtype.name[:20]} ({error})") from None
    return value.item()


def _bytes(data: object = b"", encoding: object = "latin1") -> bytes:
    """What `bytearray` and `_codecs.encode` may be asked for: bytes out of bytes or out of Latin text."""
    if isinstance(data, str) and encoding == "latin1":
        return data.encode("latin1")
    if not isinstance(data, (bytes, bytearray)):
        raise broken("bytes out of something else")
    return bytes(data)


# Every name that a pickle may mention, and what it gets instead. Optimizers and schedules are added by their modules.
ADMITTED: dict[tuple[str, str], Any] = {
    ("mxnet.ndarray.ndarray", "NDArray"): _Array,
    ("mxnet.ndarray", "NDArray"): _Array,
    ("mxnet.ndarray.sparse", "RowSparseNDArray"): _Array,
    ("mxnet.ndarray.sparse", "CSRNDArray"): _Array,
    ("mxnet.numpy.multiarray", "ndarray"): _Array,
    ("builtins", "bytearray"): _bytes,
    ("__builtin__", "bytearray"): _bytes,
    ("_codecs", "encode"): _bytes,
    ("builtins", "set"): tuple,
    ("collections", "OrderedDict"): dict,
    ("numpy", "dtype"): _Dtype,
    ("numpy.core.multiarray", "scalar"): _scalar,
    ("numpy._core.multiarray", "scalar"): _scalar,
}
OBJECT_MODULES = frozenset(
    ["mxnet.optimizer.optimizer", "mxnet.optimizer.contrib", "mxnet.optimizer", "mxnet.lr_scheduler"]
)


class _Unpickler(pickle.Unpickler):
    """Makes only what is admitted."""

    def find_class(self, module: str, name: str) -> Any:
        admitted = ADMITTED.get((module, name))
        if admitted is not None:
            return admitted
        if module in OBJECT_MODULES and name.isidentifier():
            return type(name, (_Object,), {"module": module, "name": name})
        raise broken(
            f"they mention {module}.{name}, which is not admitted because it could run code; "
            "load them with trust=True if you know who made them"
        )

    def persistent_load(self, pid: object) -> Any:
        raise broken("they refer to something outside")


def _unpickled(data: bytes) -> Any:
    """What the pickle holds, with stand-ins for arrays and objects."""
    try:
        return _Unpickler(io.BytesIO(data)).load()
    except MXNetError:
        raise
    except Exception as error:  # an unpickler fails in as many ways as there are opcodes
        raise broken(f"the pickle is damaged ({type(error).__name__}: {error})") from None


class _Builder:
    """Puts arrays and objects in the place of their stand-ins."""

    def __init__(self, make_array: MakeArray, make_object: MakeObject) -> None:
        self.make_array, self.make_object = make_array, make_object
        self.done: dict[int, Any] = {}  # a pickle may mention a value many times; it is built once

    def build(self, value: Any, depth: int = 0) -> Any:
        check_depth(depth)
        if id(value) not in self.done:
            self.done[id(value)] = self._made(value, depth + 1)
        return self.done[id(value)]

    def _made(self, value: Any, depth: int) -> Any:
        if isinstance(value, _Array):
            return None if value.raw is None else self._array(value.raw)
        if isinstance(value, _Object):
            return self.make_object(value.module, value.name, self.build(value.state, depth))
        if isinstance(value, dict):
            return {as_key(self.build(k, depth)): self.build(v, depth) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(self.build(v, depth) for v in value)
        if value is None or isinstance(value, (bool, int, float, str, bytes)):
            return value
        raise broken(f"a value of type {type(value).__name__}")

    def _array(self, raw: bytes) -> Any:
        return self.make_array(params.read_blob(from_buffer(raw, "optimizer states")))


def read(data: bytes, make_array: MakeArray, make_object: MakeObject) -> Any:
    """The structure in a pickle of MXNet's."""
    wrong = pickle_damage.damage(data)
    if wrong:
        raise broken(f"a pickle, and {wrong}")
    return _Builder(make_array, make_object).build(_unpickled(data))
