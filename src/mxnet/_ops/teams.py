"""Compiled kernels called by a team of native threads: those of OpenMP, which torch's own kernels run on.

They wait for work without sleeping, and take parts of it one after the other: who is held up takes fewer. Where there
is no such team, Python's threads share the work out.
"""

import ctypes
import functools
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .sharing import room, share
from .tables import ARGUMENTS, BEGIN, BOUNDS, COUNT, PARTS, SCRATCH_SIZE, TAKEN, TICKETS, UNIT

ROUNDS = 4  # parts for each thread
FLOAT = 4
_OWN = {**BOUNDS, "scratch": "scratch"}  # arguments that are not given, but found


@functools.cache
def _team() -> Callable[..., None] | None:
    """OpenMP's call that lets every thread of a team run a function; None: torch has no team that is known."""
    for path in sorted(Path(torch.__file__).parent.glob("lib/libgomp*.so*")):
        call = ctypes.CDLL(str(path)).GOMP_parallel
        call.argtypes, call.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint), None
        return call
    return None


@functools.cache
def _places(kernel: Any) -> dict[str, int]:
    """Which of a kernel's arguments are bounds of a part and scratch memory; the others are given."""
    names = inspect.signature(kernel.py_func).parameters
    return {_OWN[name]: place for place, name in enumerate(names) if name in _OWN}


class Once:
    """Work that cannot be shared out."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.run = work


class Task:
    """A compiled kernel's work on tensors, as often as it is wanted; they stay as long as the task does.

    `given` are the kernel's arguments but for the bounds of a part and `scratch` floats of memory for each thread.
    Parts are made of `unit`; there are at most `most` of them, and `rounds` for each thread.
    """

    __slots__ = (
        "_arguments", "_held", "_kernel", "_most", "_places", "_rounds", "_scratch", "_scratch_slot", "_span", "_table",
        "_unit",
    )  # fmt: skip

    def __init__(
        self,
        kernel: Any,
        given: Sequence[Any],
        span: tuple[int, int],
        most: int,
        unit: int = 1,
        scratch: int = 0,
        rounds: int = ROUNDS,
        held: Any = None,
    ) -> None:
        self._kernel, self._span, self._most, self._unit = kernel, span, most, unit
        self._scratch, self._rounds, self._held, self._places = scratch, rounds, held, _places(kernel)
        self._arguments = list(given)
        for place in sorted(self._places.values()):
            self._arguments.insert(place, 0)
        self._table: np.ndarray[Any, Any] | None = None

    def run(self) -> None:
        """Do all of it."""
        (begin, count), threads = self._span, torch.get_num_threads()
        parts = min(-(-count // self._unit), self._most)
        if threads < 2 or parts < 2:
            self._call(begin, begin + count)
        elif not self._kernel.entry or _team() is None:
            share(self._call, begin, count, self._most, self._unit)
        else:
            self._run_by_team(min(threads, parts), min(parts, self._rounds * threads))

    def _call(self, first: int, last: int) -> None:
        arguments, places = self._arguments.copy(), self._places
        arguments[places["first"]], arguments[places["last"]] = first, last
        if self._scratch:
            arguments[places["scratch"]] = room("scratch", self._scratch).data_ptr()
        self._kernel(*arguments)

    def _run_by_team(self, threads: int, parts: int) -> None:
        table = self._table
        if table is None:
            table = self._table = self._new_table()
        table[TAKEN], table[PARTS], table[TICKETS] = 0, parts, 0
        if self._scratch:
            table[self._scratch_slot] = room("scratch", threads * self._scratch).data_ptr()
        _team()(self._kernel.entry, table.ctypes.data, threads, 0)  # pyright: ignore[reportOptionalCall]

    def _new_table(self) -> np.ndarray[Any, Any]:
        numbers = [0] * ARGUMENTS
        (numbers[BEGIN], numbers[COUNT]), numbers[UNIT] = self._span, self._unit
        numbers[SCRATCH_SIZE] = self._scratch * FLOAT
        for place, value in enumerate(self._arguments):
            if place == self._places.get("scratch"):
                self._scratch_slot = len(numbers)
            if place not in (self._places["first"], self._places["last"]):
                numbers += _numbers(value)
        return np.array(numbers)


def _numbers(value: Any) -> list[int]:
    """An argument as a table holds it."""
    if isinstance(value, np.ndarray):
        return [value.ctypes.data, value.size]
    if isinstance(value, float):
        return [int(np.float32(value).view(np.int32))]
    return [int(value)]
