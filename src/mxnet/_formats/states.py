"""Optimizer states: a container of our own that holds no code, and the way to it and to MXNet's pickles.

    container: b"\\x89REMX-states\\n", u64 length and JSON of the structure, then a list of arrays as in `params`
The structure is what optimizers keep: dicts, tuples, lists, numbers, texts, arrays, and objects by class name.
Callers say how arrays and objects are made; this file knows neither NDArray nor any optimizer.
"""

import json
import pickle
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.errors import MXNetError
from . import params, state_pickles
from .source import from_buffer
from .state_trees import MakeArray, MakeObject, as_key, broken, check_depth

MAGIC = b"\x89REMX-states\n"

AsBlob = Callable[[Any], params.Blob | None]
AsObject = Callable[[Any], tuple[str, str, dict[str, Any]] | None]


def dumps(tree: Any, as_blob: AsBlob, as_object: AsObject) -> bytes:
    """The container for a structure; the two functions recognise arrays and objects."""
    writer = _Writer(as_blob, as_object)
    text = json.dumps(writer.plain(tree), separators=(",", ":")).encode("utf-8")
    return b"".join([MAGIC, struct.pack("<Q", len(text)), text, params.dumps([], writer.blobs)])


def loads(data: bytes, make_array: MakeArray, make_object: MakeObject, trust: bool = False) -> Any:
    """The structure that a container or one of MXNet's pickles holds. With `trust` any pickle is run as it is."""
    data = data.encode("latin-1") if isinstance(data, str) else bytes(data)
    if data.startswith(MAGIC):
        return _read(data, make_array, make_object)
    if trust:
        return pickle.loads(data)
    return state_pickles.read(data, make_array, make_object)


class _Writer:
    """Makes a structure one of JSON's, and gathers its arrays."""

    def __init__(self, as_blob: AsBlob, as_object: AsObject) -> None:
        self.as_blob, self.as_object = as_blob, as_object
        self.blobs: list[params.Blob] = []
        # an array mentioned twice is written once; held, so that its id stays its
        self.places: dict[int, tuple[int, Any]] = {}

    def plain(self, value: Any, depth: int = 0) -> Any:
        check_depth(depth)
        if isinstance(value, np.generic):
            return value.item()
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, dict):
            return {"dict": [[self.plain(k, depth + 1), self.plain(v, depth + 1)] for k, v in value.items()]}
        if isinstance(value, (tuple, set, frozenset)):
            return {"tuple": [self.plain(v, depth + 1) for v in value]}
        if isinstance(value, list):
            return [self.plain(v, depth + 1) for v in value]
        place = self._place(value)
        return self._object(value, depth + 1) if place is None else {"array": place}

    def _place(self, value: Any) -> int | None:
        """The array's number in the list; None if it is no array."""
        if id(value) not in self.places:
            blob = self.as_blob(value)
            if blob is None:
                return None
            self.places[id(value)] = len(self.blobs), value
            self.blobs.append(blob)
        return self.places[id(value)][0]

    def _object(self, value: Any, depth: int) -> Any:
        found = self.as_object(value)
        if found is None:
            raise broken(f"a value of type {type(value).__name__} cannot be saved without code")
        module, name, state = found
        return {"object": [module, name, self.plain(state, depth)]}


def _read(data: bytes, make_array: MakeArray, make_object: MakeObject) -> Any:
    source = from_buffer(data, "optimizer states")
    source.take(len(MAGIC), "the header")
    length = source.number("Q", "the length of the structure")
    try:
        tree = json.loads(source.take(length, "the structure").decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise broken(f"the structure is not JSON ({error})") from None
    return _Reader(params.parse(source)[1], make_array, make_object).build(tree)


class _Reader:
    """Makes the structure again that `_Writer` was given."""

    def __init__(self, blobs: list[params.Blob], make_array: MakeArray, make_object: MakeObject) -> None:
        self.blobs, self.make_array, self.make_object = blobs, make_array, make_object

    def build(self, value: Any, depth: int = 0) -> Any:
        check_depth(depth)
        if isinstance(value, list):
            return [self.build(v, depth + 1) for v in value]
        if not isinstance(value, dict):
            return value
        ((kind, inner),) = value.items() if len(value) == 1 else (("", None),)
        if not self._fits(kind, inner):
            raise _no_part(value)
        return getattr(self, f"_{kind}")(inner, depth + 1)

    def _fits(self, kind: str, inner: Any) -> bool:
        """Can a value of this kind have this content?"""
        if kind == "array":
            return type(inner) is int and 0 <= inner < len(self.blobs)
        if not isinstance(inner, list):
            return False
        if kind == "dict":
            return all(isinstance(pair, list) and len(pair) == 2 for pair in inner)
        if kind == "object":
            return len(inner) == 3 and isinstance(inner[0], str) and isinstance(inner[1], str)
        return kind == "tuple"

    def _array(self, place: int, depth: int) -> Any:
        return self.make_array(self.blobs[place])

    def _tuple(self, values: list[Any], depth: int) -> Any:
        return tuple(self.build(v, depth) for v in values)

    def _dict(self, pairs: list[Any], depth: int) -> Any:
        return {as_key(self.build(k, depth)): self.build(v, depth) for k, v in pairs}

    def _object(self, described: list[Any], depth: int) -> Any:
        module, name, inner = described
        state = self.build(inner, depth)
        if not isinstance(state, dict):
            raise _no_part({"object": described})
        return self.make_object(module, name, state)


def _no_part(value: Any) -> MXNetError:
    return broken(f"{str(value)[:80]} is no part of a structure")
