"""Optimizer states: MXNet's pickles read without running their code, and a container of our own that holds none.

    container: b"\\x89REMX-states\\n", u64 length and JSON of the structure, then a list of arrays as in `params`
The structure is what optimizers keep: dicts, tuples, lists, numbers, texts, arrays, and objects by class name.
Callers say how arrays and objects are made; this file knows neither NDArray nor any optimizer.
"""

import io
import json
import pickle
import pickletools
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.errors import MXNetError
from . import params
from .source import from_buffer

MAGIC = b"\x89REMX-states\n"
DEEPEST = 64

MakeArray = Callable[[params.Blob], Any]
MakeObject = Callable[[str, str, dict[str, Any]], Any]


def _broken(words: str) -> MXNetError:
    return MXNetError(f"these are no optimizer states: {words}")


# -- the container -----------------------------------------------------------------------------------------------------


def dumps(
    tree: Any,
    as_blob: Callable[[Any], params.Blob | None],
    as_object: Callable[[Any], tuple[str, str, dict[str, Any]] | None],
) -> bytes:
    """The container for a structure; the two functions recognise arrays and objects."""
    blobs: list[params.Blob] = []
    places: dict[int, tuple[int, Any]] = {}  # an array mentioned twice is written once; held, so that its id stays its

    def plain(value: Any, depth: int) -> Any:
        if depth > DEEPEST:
            raise _broken(f"more than {DEEPEST} levels of nesting")
        if value is None or isinstance(value, (bool, int, float, str)):
            return value.item() if isinstance(value, np.generic) else value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, dict):
            return {"dict": [[plain(k, depth + 1), plain(v, depth + 1)] for k, v in value.items()]}
        if isinstance(value, (tuple, set, frozenset)):
            return {"tuple": [plain(v, depth + 1) for v in value]}
        if isinstance(value, list):
            return [plain(v, depth + 1) for v in value]
        blob = None if id(value) in places else as_blob(value)
        if blob is not None:
            places[id(value)] = len(blobs), value
            blobs.append(blob)
        if id(value) in places:
            return {"array": places[id(value)][0]}
        found = as_object(value)
        if found is None:
            raise _broken(f"a value of type {type(value).__name__} cannot be saved without code")
        module, name, state = found
        return {"object": [module, name, plain(state, depth + 1)]}

    text = json.dumps(plain(tree, 0), separators=(",", ":")).encode("utf-8")
    return b"".join([MAGIC, struct.pack("<Q", len(text)), text, params.dumps([], blobs)])


def _read_container(data: bytes, make_array: MakeArray, make_object: MakeObject) -> Any:
    source = from_buffer(data, "optimizer states")
    source.take(len(MAGIC), "the header")
    length = source.number("Q", "the length of the structure")
    try:
        tree = json.loads(source.take(length, "the structure").decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _broken(f"the structure is not JSON ({error})") from None
    blobs = params.parse(source)[1]

    def build(value: Any, depth: int) -> Any:
        if depth > DEEPEST:
            raise _broken(f"more than {DEEPEST} levels of nesting")
        if isinstance(value, list):
            return [build(v, depth + 1) for v in value]
        if not isinstance(value, dict):
            return value
        ((kind, inner),) = value.items() if len(value) == 1 else ((None, None),)
        if kind == "array" and type(inner) is int and 0 <= inner < len(blobs):
            return make_array(blobs[inner])
        if kind == "tuple" and isinstance(inner, list):
            return tuple(build(v, depth + 1) for v in inner)
        if kind == "dict" and isinstance(inner, list) and all(isinstance(p, list) and len(p) == 2 for p in inner):
            return {_key(build(k, depth + 1)): build(v, depth + 1) for k, v in inner}
        if kind == "object" and isinstance(inner, list) and len(inner) == 3:
            state = build(inner[2], depth + 1)
            if isinstance(inner[0], str) and isinstance(inner[1], str) and isinstance(state, dict):
                return make_object(inner[0], inner[1], state)
        raise _broken(f"{str(value)[:80]} is no part of a structure")

    return build(tree, 0)


def _key(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        raise _broken(f"{value!r} cannot be a key") from None
    return value


# -- MXNet's pickles ---------------------------------------------------------------------------------------------------


class _Array:
    """Stands for MXNet's NDArray while a pickle is read; keeps the bytes of its blob."""

    def __init__(self, *arguments: object) -> None:
        self.raw: bytes | None = None

    def __setstate__(self, state: object) -> None:
        raw = state.get("handle") if isinstance(state, dict) else None
        if not isinstance(raw, (bytes, bytearray, type(None))):
            raise _broken("an array without its bytes")
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
            raise _broken(f"the attributes of {self.name} are no dict")
        self.state = state


class _Dtype:
    """Stands for NumPy's dtype inside a pickled scalar."""

    def __init__(self, name: object = "", *arguments: object) -> None:
        self.name = str(name)

    def __setstate__(self, state: object) -> None:
        """Byte order and the like: the simple types that are admitted do not need it."""


def _scalar(dtype: object, data: object = b"") -> object:
    if not isinstance(dtype, _Dtype) or not isinstance(data, bytes) or dtype.name[:1] not in "bifu":
        raise _broken("a NumPy scalar that is not a number")
    try:
        (value,) = np.frombuffer(data, np.dtype(dtype.name).newbyteorder("<"))
    except (TypeError, ValueError) as error:
        raise _broken(f"a NumPy scalar of type {dtype.name[:20]} ({error})") from None
    return value.item()


def _bytes(data: object = b"", encoding: object = "latin1") -> bytes:
    """What `bytearray` and `_codecs.encode` may be asked for: bytes out of bytes or out of Latin text."""
    if isinstance(data, str) and encoding == "latin1":
        return data.encode("latin1")
    if not isinstance(data, (bytes, bytearray)):
        raise _broken("bytes out of something else")
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
    def find_class(self, module: str, name: str) -> Any:
        admitted = ADMITTED.get((module, name))
        if admitted is not None:
            return admitted
        if module in OBJECT_MODULES and name.isidentifier():
            return type(name, (_Object,), {"module": module, "name": name})
        raise _broken(
            f"they mention {module}.{name}, which is not admitted because it could run code; "
            "load them with trust=True if you know who made them"
        )

    def persistent_load(self, pid: object) -> Any:
        raise _broken("they refer to something outside")


def _inspect(data: bytes) -> None:
    """Walk over the opcodes first: memory must not depend on what an index or a length merely claims."""
    frame = last = 0
    try:
        for number, (opcode, argument, at) in enumerate(pickletools.genops(data)):
            if last < frame < at:  # type: ignore[operator]
                raise _broken(f"a pickle with an instruction across byte {frame}, where a frame ends")
            last = at
            frame = at + 9 + argument if opcode.name == "FRAME" else frame  # type: ignore[operator]
            if "PUT" in opcode.name and int(argument) > number:  # type: ignore[arg-type]
                raise _broken(f"a pickle with memo {argument} after {number} steps")
            if opcode.name.startswith("EXT") or "PERSID" in opcode.name:
                raise _broken(f"a pickle with {opcode.name}")
    except (ValueError, IndexError, KeyError, UnicodeDecodeError, struct.error, OverflowError) as error:
        raise _broken(f"the pickle is damaged ({error})") from None


def _read_pickle(data: bytes, make_array: MakeArray, make_object: MakeObject) -> Any:
    _inspect(data)
    try:
        tree = _Unpickler(io.BytesIO(data)).load()
    except MXNetError:
        raise
    except Exception as error:  # an unpickler fails in as many ways as there are opcodes
        raise _broken(f"the pickle is damaged ({type(error).__name__}: {error})") from None

    done: dict[int, Any] = {}  # a pickle may mention a value many times; it is built once

    def build(value: Any, depth: int) -> Any:
        if depth > DEEPEST:
            raise _broken(f"more than {DEEPEST} levels of nesting")
        if id(value) not in done:
            done[id(value)] = made(value, depth)
        return done[id(value)]

    def made(value: Any, depth: int) -> Any:
        if isinstance(value, _Array):
            raw = value.raw
            return None if raw is None else make_array(params.read_blob(from_buffer(raw, "optimizer states")))
        if isinstance(value, _Object):
            return make_object(value.module, value.name, build(value.state, depth + 1))
        if isinstance(value, dict):
            return {_key(build(k, depth + 1)): build(v, depth + 1) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(build(v, depth + 1) for v in value)
        if value is None or isinstance(value, (bool, int, float, str, bytes)):
            return value
        raise _broken(f"a value of type {type(value).__name__}")

    return build(tree, 0)


def loads(data: bytes, make_array: MakeArray, make_object: MakeObject, trust: bool = False) -> Any:
    """The structure that a container or one of MXNet's pickles holds. With `trust` any pickle is run as it is."""
    data = data.encode("latin-1") if isinstance(data, str) else bytes(data)
    if data.startswith(MAGIC):
        return _read_container(data, make_array, make_object)
    if trust:
        return pickle.loads(data)
    return _read_pickle(data, make_array, make_object)
