"""Compiled kernels called by native threads: the OpenMP thread pool that torch's own kernels use.

The threads wait for work without sleeping and take parts of it one by one, so that a delayed thread takes fewer parts.
Without such a pool, Python threads share the work.
"""

import ctypes
import functools
import heapq
import inspect
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .buffers import persistent, scratch, share
from .task_layout import (
    ARGUMENTS,
    BEGIN,
    BOUNDS,
    COUNT,
    DONE,
    KERNEL,
    LENGTH,
    LINKS,
    MOST_PARTS,
    PARTS,
    RANK,
    SCRATCH_SIZE,
    SLOT,
    TAKEN,
    THREADS,
    UNIT,
    YIELD,
)

ROUNDS = 4  # parts for each thread
FLOAT = 4
_OWN = {**BOUNDS, "scratch": "scratch"}  # arguments that are not given, but found


@functools.cache
def _team() -> Callable[..., None] | None:
    """Return OpenMP's function that runs a function in every thread; None if torch's thread pool is unknown."""
    library = _openmp()
    if library is None:
        return None
    call = library.GOMP_parallel
    call.argtypes, call.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint), None
    return call


@functools.cache
def _rank() -> int:
    """Return the address of the function that returns a thread's number; 0 if there is no thread pool."""
    library = _openmp()
    return 0 if library is None else ctypes.cast(library.omp_get_thread_num, ctypes.c_void_p).value or 0


@functools.cache
def _openmp() -> Any:
    for path in sorted(Path(torch.__file__).parent.glob("lib/libgomp*.so*")):
        return ctypes.CDLL(str(path))
    return None


@functools.cache
def _places(kernel: Any) -> dict[str, int]:
    """Return the positions of a kernel's arguments for part bounds and scratch memory; the caller gives the others."""
    names = inspect.signature(kernel.py_func).parameters
    return {_OWN[name]: place for place, name in enumerate(names) if name in _OWN}


class Task:
    """A compiled kernel's work on tensors, which can run repeatedly; the task keeps the tensors alive.

    `given` are the kernel's arguments but for the bounds of a part and `scratch` floats of memory for each thread.
    Parts are made of `unit`; there are at most `most` of them, and `rounds` for each thread.
    """

    __slots__ = (
        "_address", "_arguments", "_held", "_most", "_parts", "_places", "_rounds", "_scratch_slot", "_span", "_table",
        "_unit", "kernel", "scratch",
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
        self.kernel, self._span, self._most, self._unit = kernel, span, most, unit
        self.scratch, self._rounds, self._held, self._places = scratch, rounds, held, _places(kernel)
        self._arguments, self._parts = list(given), min(-(-span[1] // unit), most)
        for place in sorted(self._places.values()):
            self._arguments.insert(place, 0)
        self._table: np.ndarray[Any, Any] | None = None

    def run_on(self, data: torch.Tensor) -> None:
        """Run the task with other data in place of the first argument."""
        self._arguments[0] = data.data_ptr()
        if self._table is not None:
            self._table[ARGUMENTS] = self._arguments[0]
        self.run()

    def run(self) -> None:
        """Do all of it."""
        (begin, count), threads = self._span, torch.get_num_threads()
        if threads < 2 or self._parts < 2:
            self._call(begin, begin + count)
        elif not self.native:
            share(self._call, begin, count, self._most, self._unit)
        else:
            self._run_by_team(min(threads, self._parts), self.parts(threads))

    @property
    def native(self) -> bool:
        """Can native threads run it without Python?"""
        return bool(self.kernel.entry) and _team() is not None

    def parts(self, threads: int) -> int:
        """Into how many parts it is divided."""
        most = min(self._parts, self._rounds * threads, MOST_PARTS)
        return 1 if threads < 2 or most < 2 else _fair(-(-self._span[1] // self._unit), most, threads)

    def release(self, tensors: Sequence[torch.Tensor]) -> None:
        """Release the references to these tensors and to views of them."""
        memory = {t.untyped_storage().data_ptr() for t in tensors}
        held = [t for t in self._held if t is not None and t.untyped_storage().data_ptr() not in memory]
        self._held = held

    def _call(self, first: int, last: int) -> None:
        arguments, places = self._arguments.copy(), self._places
        arguments[places["first"]], arguments[places["last"]] = first, last
        if self.scratch:
            arguments[places["scratch"]] = scratch(self.scratch)
        self.kernel(*arguments)

    def _run_by_team(self, threads: int, parts: int) -> None:
        table = self._table
        if table is None:
            table, self._scratch_slot = self.new_table()
            self._table, self._address = table, table.ctypes.data
        table[TAKEN], table[PARTS], table[THREADS] = 0, parts, threads
        if self.scratch:
            table[self._scratch_slot] = scratch(threads * self.scratch)
        _team()(self.kernel.entry, self._address, threads, 0)  # pyright: ignore[reportOptionalCall]

    def new_table(self) -> tuple[np.ndarray[Any, Any], int | None]:
        """Return the table for the threads and the position of the scratch memory's address in it."""
        numbers, slot = [0] * ARGUMENTS, None
        (numbers[BEGIN], numbers[COUNT]), numbers[UNIT] = self._span, self._unit
        numbers[SCRATCH_SIZE], numbers[RANK], numbers[KERNEL] = self.scratch * FLOAT, _rank(), self.kernel.address
        for place, value in enumerate(self._arguments):
            if place == self._places.get("scratch"):
                slot = len(numbers)
            if place not in (self._places["first"], self._places["last"]):
                numbers.append(_number(value))
        return np.array(numbers), slot


@functools.lru_cache(maxsize=1 << 10)
def _fair(units: int, most: int, threads: int) -> int:
    """Return the number of parts, at most `most`, with which threads that take parts one by one finish soonest.

    For example, 36 units in eight parts are 16 units for one of two threads and 20 for the other.
    """

    def end(parts: int) -> int:
        busy = [0] * threads
        for part in range(parts):
            size = (part + 1) * units // parts - part * units // parts
            heapq.heapreplace(busy, busy[0] + size)
        return max(busy)

    return min(range(most, 0, -1), key=end)


def chained(tasks: Sequence[Task]) -> "list[Task | Chain]":
    """Return the tasks with consecutive native tasks combined into chains."""
    made: list[Task | Chain] = []
    for native, group in itertools.groupby(tasks, lambda task: task.native):
        some = list(group)
        made += [Chain(some)] if native and len(some) > 1 else some
    return made


class Chain:
    """Tasks that native threads run one after the other, without Python in between.

    A thread that the system suspends delays the others only if it has started a part, and at the end.
    """

    def __init__(self, tasks: Sequence[Task]) -> None:
        from .entry_points import chain

        self._tasks, self._entry = list(tasks), chain()
        self._scratch = max(task.scratch for task in tasks)
        made = [task.new_table() for task in tasks]
        links = LINKS + 2 * len(made)
        places = np.cumsum([links] + [len(table) for table, _ in made])[:-1]
        self._table = table = persistent(np.concatenate([np.zeros(links, np.int64), *(own for own, _ in made)]))
        self._address = table.ctypes.data
        table[LENGTH], table[YIELD] = len(made), _yield()
        table[LINKS:links:2] = [task.kernel.entry for task in tasks]
        table[LINKS + 1 : links : 2] = self._address + places * SLOT
        self._counters = persistent(np.concatenate([places + TAKEN, places + DONE]))
        self._parts, self._threads = persistent(places + PARTS), persistent(places + THREADS)
        slots = [at + slot for at, (_, slot) in zip(places, made, strict=True) if slot]
        self._scratch_slots = persistent(np.array(slots, np.int64))
        self._divided: dict[int, list[int]] = {}  # by threads: the parts of each task

    def run(self) -> None:
        """Do all of them."""
        threads, table = torch.get_num_threads(), self._table
        parts = self._divided.get(threads)
        if parts is None:
            parts = self._divided[threads] = [task.parts(threads) for task in self._tasks]
        table[self._counters], table[self._parts], table[self._threads] = 0, parts, threads
        if self._scratch:
            table[self._scratch_slots] = scratch(threads * self._scratch)
        if threads == 1:
            self._entry.ctypes(self._address)
        else:
            _team()(self._entry.address, self._address, threads, 0)  # pyright: ignore[reportOptionalCall]


@functools.cache
def _yield() -> int:
    """Return the address of the function that yields to other threads."""
    return ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value or 0


def _number(value: float) -> int:
    """An argument as a table holds it: a float by its bits."""
    return int(np.float32(value).view(np.int32)) if isinstance(value, float) else int(value)
