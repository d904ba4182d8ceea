"""Tasks (see `task`) that are created once and reused for other tensors of the same shapes.

Creating a task takes longer than running a small one. A plan is a chain of tasks that knows the positions of tensor
addresses in its table and updates them.
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
    """A chain that can run on tensors and buffers of this thread at any addresses.

    `which` names the buffers that the chain uses; the thread also has buffers of other kernels.
    """

    def __init__(
        self, tasks: Sequence[Task], tensors: Sequence[torch.Tensor], buffers: dict[int | str, torch.Tensor]
    ) -> None:
        super().__init__(tasks)
        entries = {which: found for which, b in buffers.items() if (found := self._entries(b)).size}
        self.which = [*entries]
        self._table_now = [t.data_ptr() for t in (*tensors, *(buffers[which] for which in entries))]
        self._moved = [persistent(found) for found in (*map(self._entries, tensors), *entries.values())]

    def _entries(self, tensor: torch.Tensor) -> "np.ndarray[Any, Any]":
        """Which entries of the table are addresses inside the tensor."""
        first = tensor.data_ptr()
        return np.flatnonzero((self._table >= first) & (self._table < first + tensor.nbytes))

    def run_on(self, places: list[int]) -> None:
        """Run the plan on tensors and buffers at other addresses."""
        for before, now, moved in zip(self._table_now, places, self._moved, strict=True):
            if now != before:
                self._table[moved] += now - before
        self._table_now = places
        self.run()


def repeated(make: Callable[..., list[Task]], tensors: Tensors, *others: Hashable) -> None:
    """Run the tasks `make(*tensors, *others)`; they are reused for equal shapes, number of threads and `others`."""
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
    buffers = thread_buffers()
    places = [t.data_ptr() for t in tensors if t is not None]
    places += [buffers[which].data_ptr() for which in plan.which]
    plan.run_on(places)


def _elsewhere(tensors: Tensors) -> list[torch.Tensor | None]:
    """Return tensors of the same shapes in reserved pages without physical memory, which are never accessed.

    Real allocations would fragment the C library's heap: a training step of ResNet-50 took a tenth more memory.
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
    """Return the plan; None if a part of it needs Python."""
    strange = _elsewhere(tensors)  # none of which is a part of another one
    make(*strange, *others)  # after which the memory of this thread is large enough, and stays where it is
    tasks = make(*strange, *others)
    if not all(task.native for task in tasks):
        return None
    given, buffers = [t for t in strange if t is not None], thread_buffers()
    plan = Plan(tasks, given, buffers)
    for task in tasks:
        task.release([*given, *buffers.values()])
    return plan
