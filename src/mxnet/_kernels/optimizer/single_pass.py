"""SGD and Adam steps over many tensors in one pass over memory, used after a number of steps."""

from collections.abc import Sequence
from functools import lru_cache
from math import inf
from operator import is_
from typing import Any
from weakref import ref

import numpy as np
import torch

from ..._core.writes import WRITES
from .. import tuning
from ..registry import Kernel
from ..runtime.loader import CompiledModule
from ..runtime.task import Task
from .tensor_lists import FixedTensors, Numbers, Tensors, alike, layout, uniform

UNIT = 1 << 12  # elements in which the work is divided
MOMENTUM, PLAIN, ADAM = range(3)  # kinds of steps, as the kernels number them

Factors = tuple[float, ...]


class _AfterSteps(CompiledModule):
    """Code that replaces torch's kernel after a fixed number of steps, so that two runs give equal results."""

    def ready(self, work: int, call: tuple[Any, ...]) -> bool:
        weights = call[1]
        if weights.table is not None:
            return True
        weights.steps += 1
        changed = weights.steps * weights.total
        if changed <= tuning.SINGLE_PASS_AFTER // 2:
            return False
        now = changed > tuning.SINGLE_PASS_AFTER
        return not (now and self.put_off(weights.total)) and self.get(wait=now) is not None and now


_code = _AfterSteps("optimizer.single_pass_kernels")
_address = torch.Tensor.data_ptr


def _same(some: Sequence[object], others: Sequence[object]) -> bool:
    """Are these the very same objects?"""
    return len(some) == len(others) and all(map(is_, some, others))


class Places:
    """Cached addresses of the tensors of some lists: reading hundreds of addresses takes longer than the update."""

    def __init__(self, *lists: Tensors) -> None:
        self._storages = {tensor.untyped_storage()._cdata for tensors in lists for tensor in tensors}
        self.addresses = [list(map(_address, tensors)) for tensors in lists]

    def moved(self, *lists: Tensors) -> bool:
        """Have the addresses of these tensors changed? Only code that the memory was exported to can move it."""
        if self._storages.isdisjoint(WRITES.loans):
            return False
        return [list(map(_address, tensors)) for tensors in lists] != self.addresses


class Table:
    """Addresses and learning rates of the tensors of a step; it is kept with the weights from step to step."""

    def __init__(self, weights: FixedTensors, states: Sequence[Tensors]) -> None:
        self._states, self._places = states, Places(weights, *states)
        code = _code.get(wait=True)
        self.rows = np.zeros((len(weights), code.COLUMNS), np.int64)
        self.rows[:, 0] = list(map(torch.Tensor.numel, weights))
        self.rows[:, 2 : 3 + len(states)] = np.transpose(self._places.addresses)
        self.rates = np.empty((len(weights), 2), np.float32)
        self._seen: list[ref[torch.Tensor]] = []
        self._buffers: Tensors = ()
        self._buffer_places = Places()
        self._kernel = code.learn
        self._task: Task | None = None
        self._known: tuple[int, Factors] | None = None  # for which kind of step, with which factors

    def apart(self) -> bool:
        """Are the weights free of shared memory? Threads update several of them in parallel."""
        rows = self.rows[np.argsort(self.rows[:, 2], kind="stable")]
        return bool((rows[:-1, 2] + rows[:-1, 0] * 4 <= rows[1:, 2]).all())

    def holds(self, weights: FixedTensors, states: Sequence[Tensors]) -> bool:
        """Are the weights and states at the same addresses as before?"""
        return _same(states, self._states) and not self._places.moved(weights, *states)

    def takes(self, grads: Tensors, weights: FixedTensors) -> bool:
        """Record the addresses of the gradients, if they have the same layout as the weights.

        Gradients that had the same address in the last step are buffers and are kept. References to the others are not
        kept, because this would keep the memory of two steps.
        """
        if self._buffers and _same(grads, self._buffers) and not self._buffer_places.moved(grads):
            return True
        before, self._seen, self._buffers = self._seen, [], ()
        seen = list(map(ref, grads))
        if _same(seen, before):
            self._buffers, self._buffer_places = list(grads), Places(grads)
        elif layout(grads) != weights.layout:
            return False
        self._seen = seen
        self.rows[:, 1] = list(map(_address, grads))
        return True

    def learn(self, kind: int, lrs: Numbers, wds: Numbers, factors: Factors, total: int) -> None:
        """A step of all tensors; `factors` are those of the kernel, from `rescale` on."""
        for column, values in enumerate((lrs, wds)):
            self.rates[:, column] = values[0] if uniform(values) else values
        task = self._task
        if task is None or self._known != (kind, factors):
            common = _single(factors)
            tables = (self.rows.ctypes.data, len(self.rows), self.rates.ctypes.data, common.ctypes.data)
            task = self._task = Task(
                self._kernel, (kind, *tables), (0, total), total // tuning.SINGLE_PASS_PER_THREAD, UNIT, held=common
            )
            self._known = kind, factors
        task.run()


@lru_cache(64)
def _single(numbers: Factors) -> np.ndarray:
    return np.array(numbers, np.float32)


def _table(weights: FixedTensors, grads: Tensors, states: Sequence[Tensors]) -> Table | None:
    """Return the table of these tensors; None if their memory layouts differ."""
    table = weights.table
    if not isinstance(table, Table) or not table.holds(weights, states):
        weights.table = None
        table = Table(weights, states) if alike(weights, *states) else None
        if table is None or not table.apart():
            return None
        weights.table = table
    return table if table.takes(grads, weights) else None


def _applies(kind: int, weights: Any, *rest: Any) -> int:
    if not isinstance(weights, FixedTensors) or not weights.layout.on_cpu or weights[0].dtype is not torch.float32:
        return 0
    return weights.total


def _run(
    kind: int,
    weights: FixedTensors,
    grads: Tensors,
    states: Sequence[Tensors],
    lrs: Numbers,
    wds: Numbers,
    factors: Factors,
) -> bool | None:
    table = _table(weights, grads, states)
    if table is None:
        return None
    table.learn(kind, lrs, wds, factors, weights.total)
    return True


# (kind, weights, gradients, lists of states, learning rates, weight decays, factors) -> True, after a step in place
step = Kernel("optimizer.single_pass", _applies, _run, tuning.SINGLE_PASS_ELEMENTS, _code)


def _limits(rescale: float, clip: float | None) -> Factors:
    return rescale, inf if clip is None else clip


def adam(
    weights: Tensors,
    grads: Tensors,
    means: Tensors,
    variances: Tensors,
    rates: Numbers,
    wds: Numbers,
    limits: tuple[float, float | None],
    factors: Factors,
) -> bool:
    """Adam with rates that hold the correction of bias; `limits`: rescaling and clipping; `factors`: both betas and
    epsilon. False where it is not done.
    """
    return bool(step(ADAM, weights, grads, (means, variances), rates, wds, (*_limits(*limits), *factors)))


def sgd(
    weights: Tensors,
    grads: Tensors,
    momenta: Tensors,
    lrs: Numbers,
    wds: Numbers,
    limits: tuple[float, float | None],
    momentum: float,
) -> bool:
    """SGD; `momenta` is empty where there is no momentum. False where it is not done."""
    if momenta:
        return bool(step(MOMENTUM, weights, grads, (momenta,), lrs, wds, (*_limits(*limits), momentum)))
    return bool(step(PLAIN, weights, grads, (), lrs, wds, _limits(*limits)))
