"""Tasks (see teams) that are put together once, and done again for other tensors of the same shapes.

To make a task takes longer than to do a small one. A plan is a chain of tasks that knows where in its table the
addresses of tensors stand, and moves them.
"""

import itertools
import mmap
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import torch

from .buffers import pages, persistent, thread_buffers
from .task import Chain, Task

PAGE = mmap.PAGESIZE
MOST = 1 << 10  # plans that a thread keeps: a deep network whose layers differ has hundreds

Tensors = Sequence[torch.Tensor | None]

_local = threading.local()


class Plan(Chain):
    """A chain for tensors, and for memory of this thread, wherever they are; `bases` are where they were."""

    def __init__(self, tasks: Sequence[Task], bases: Sequence[tuple[int, int]], which: Sequence[int | str]) -> None:
        super().__init__(tasks)
        self.which, self._table_now = which, [first for first, _ in bases]
        table = self._table
        self._moved = [persistent(np.flatnonzero((table >= first) & (table < first + size))) for first, size in bases]

    def run_on(self, places: list[int]) -> None:
        """Do all of it, with tensors and memory at other places."""
        for before, now, moved in zip(self._table_now, places, self._moved, strict=True):
            if now != before:
                self._table[moved] += now - before
        self._table_now = places
        self.run()


def repeated(make: Callable[..., list[Task]], tensors: Tensors, *others: Hashable) -> None:
    """Do the tasks `make(*tensors, *others)`, which are the same ones wherever shapes, threads and others are."""
    plans = _local.__dict__.setdefault("plans", OrderedDict())
    shapes = [None if t is None else (t.shape, t.stride()) for t in tensors]
    known = make, torch.get_num_threads(), others, *shapes
    if known not in plans:
        plans[known] = _planned(make, tensors, others)
        if len(plans) > MOST:
            plans.popitem(last=False)
    plan = plans[known]
    plans.move_to_end(known)
    if plan is None:
        for task in make(*tensors, *others):
            task.run()
        return
    own = thread_buffers()
    plan.run_on([*_places(tensors), *(own[which].data_ptr() for which in plan.which)])


def _places(tensors: Tensors) -> list[int]:
    return [t.data_ptr() for t in tensors if t is not None]


def _elsewhere(tensors: Tensors) -> list[torch.Tensor | None]:
    """Tensors like these at addresses without memory, which nobody touches.

    The C library's memory would be left in pieces: a training step of ResNet-50 took a tenth more of it.
    """
    sizes = [PAGE if t is None else PAGE + t.untyped_storage().nbytes() // PAGE * PAGE for t in tensors]
    addresses = pages(sum(sizes))
    ends = itertools.accumulate(sizes)
    return [
        None
        if t is None
        else torch.frombuffer(addresses, dtype=t.dtype, offset=end - size).as_strided(t.shape, t.stride())
        for t, size, end in zip(tensors, sizes, ends, strict=True)
    ]


def _planned(make: Callable[..., list[Task]], tensors: Tensors, others: Sequence[Any]) -> Plan | None:
    """The plan; None: some of it cannot be done without Python."""
    strange = _elsewhere(tensors)  # none of which is a part of another one
    make(*strange, *others)  # after which the memory of this thread is large enough, and stays where it is
    tasks = make(*strange, *others)
    if not all(task.native for task in tasks):
        return None
    own = thread_buffers()
    bases = [*(t for t in strange if t is not None), *own.values()]
    plan = Plan(tasks, [(t.data_ptr(), t.nbytes) for t in bases], list(own))
    for task in tasks:
        task.release(bases)
    return plan
