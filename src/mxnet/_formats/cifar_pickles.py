"""The Python version of CIFAR-10 and CIFAR-100 as the binary version, read without running the pickles' code."""

import io
import os
import pickle
from typing import Any

import numpy as np

from .._core.errors import MXNetError
from .pickle_damage import damage

PIXELS = 3072  # of an image: three channels of 32 x 32


class _Matrix:
    """Stands for NumPy's array while a pickle is read; holds bytes in rows."""

    def __init__(self, *arguments: object) -> None:
        self.values = np.zeros((0, PIXELS), np.uint8)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, dtype, by_columns, content = state
        if dtype.name not in ("u1", "|u1") or by_columns or not isinstance(content, bytes):
            raise MXNetError("its images are not bytes in rows")
        self.values = np.frombuffer(content, np.uint8).reshape(tuple(int(size) for size in shape))


class _Dtype:
    """Stands for NumPy's dtype."""

    def __init__(self, name: object = "", *arguments: object) -> None:
        self.name = name.decode() if isinstance(name, bytes) else str(name)

    def __setstate__(self, state: object) -> None:
        """Byte order and the like, which single bytes do not have."""


def _encoded(text: str, encoding: object) -> bytes:
    """How Python 3 writes bytes in old protocols."""
    return text.encode("latin1")


_ADMITTED = {
    ("numpy", "ndarray"): _Matrix,
    ("numpy", "dtype"): _Dtype,
    ("numpy.core.multiarray", "_reconstruct"): _Matrix,
    ("numpy._core.multiarray", "_reconstruct"): _Matrix,
    ("_codecs", "encode"): _encoded,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ADMITTED:
            raise MXNetError(f"it mentions {module}.{name}, which has no place in a data set")
        return _ADMITTED[module, name]


def as_binary(path: str | os.PathLike[str], label_names: tuple[str, ...]) -> bytes:
    """A batch of the Python version as a file of the binary version has it: labels, then pixels, image by image."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        wrong = damage(data)
        if wrong:
            raise MXNetError(f"{path}: it is no batch of images: {wrong}")
        found = _Unpickler(io.BytesIO(data), encoding="bytes").load()
        named = {key.decode() if isinstance(key, bytes) else key: value for key, value in found.items()}
        images = named["data"].values
        labels = [np.asarray(named[name], np.uint8)[:, np.newaxis] for name in label_names]
        return np.concatenate([*labels, images.reshape(-1, PIXELS)], axis=1).tobytes()
    except MXNetError:
        raise
    except Exception as error:  # an unpickler fails in as many ways as there are opcodes
        raise MXNetError(f"{path}: it is no batch of images ({type(error).__name__}: {error})") from None
