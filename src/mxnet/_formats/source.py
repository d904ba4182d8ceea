"""Bounded reading of little-endian bytes: whoever asks for more than is there gets an error that names the place."""

import io
import math
import os
import struct
from typing import NoReturn

import numpy as np

from .._core.errors import MXNetError

MOST = 1 << 62  # bytes; NumPy refuses shapes beyond what an address can hold


class Source:
    """A cursor over a file or a buffer that knows how many bytes are left before anything is allocated."""

    def __init__(self, file: io.BufferedIOBase, size: int, name: str) -> None:
        self.file, self.size, self.name = file, size, name
        self.offset = 0

    @property
    def left(self) -> int:
        return self.size - self.offset

    def fail(self, words: str, offset: int | None = None) -> NoReturn:
        raise MXNetError(f"{self.name}: byte {self.offset if offset is None else offset}: {words}")

    def need(self, number: int, what: str) -> None:
        if number < 0 or number > self.left:
            self.fail(f"{what} takes {number} bytes, but {self.left} are left; the file is truncated or damaged")

    def take(self, number: int, what: str) -> bytes:
        self.need(number, what)
        data = self.file.read(number)
        if len(data) != number:
            self.fail(f"{what} ends after {len(data)} of {number} bytes; the file is truncated")
        self.offset += number
        return data

    def number(self, code: str, what: str) -> int:
        return struct.unpack("<" + code, self.take(struct.calcsize("<" + code), what))[0]

    def numbers(self, code: str, count: int, what: str) -> tuple[int, ...]:
        self.need(count * struct.calcsize("<" + code), what)
        form = f"<{count}{code}"
        return struct.unpack(form, self.take(struct.calcsize(form), what))

    def array(self, shape: tuple[int, ...], dtype: np.dtype, what: str) -> np.ndarray:
        """A fresh array of the bytes that follow; its size is checked before it is made."""
        number = dtype.itemsize
        for size in shape:  # Python integers: a product of claimed sizes cannot overflow
            number *= size
        self.need(number, what)
        if number == 0 and math.prod(s or 1 for s in shape) * dtype.itemsize > MOST:
            self.fail(f"{what} has no elements, yet sizes that no array can have; the file is damaged")
        flat = np.empty(number // dtype.itemsize, dtype)
        got = self.file.readinto(memoryview(flat).cast("B")) if number else 0
        if got != number:
            self.fail(f"{what} ends after {got} of {number} bytes; the file is truncated")
        self.offset += number
        return flat.reshape(shape)


def from_buffer(buffer: bytes | bytearray | memoryview, name: str) -> Source:
    """A source over bytes in memory."""
    return Source(io.BytesIO(buffer), len(buffer), name)


def from_file(file: io.BufferedReader, name: str) -> Source:
    """A source over an open file; what has no size of its own (a pipe) is read whole first."""
    if file.seekable():
        return Source(file, os.fstat(file.fileno()).st_size, name)
    return from_buffer(file.read(), name)
