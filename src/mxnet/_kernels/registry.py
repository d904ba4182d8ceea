"""The kernel registry: the `Kernel` interface, the decision whether a kernel applies, and the switch for all kernels.

A kernel computes the same as torch's own operators, in less time. Calling it returns the result, or None where
torch has to compute it: the kernel does not apply, the call is too small, its code is not compiled yet, or kernels are
switched off (`MXNET_KERNELS=torch`, `mx.runtime.kernels_off()`).
"""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

from .._core.environment import choice
from .runtime.loader import CompiledModule

KERNELS: "dict[str, Kernel]" = {}
ON, OFF, WAIT, TRACED = "auto", "torch", "wait", "traced"  # WAIT: see runtime.first_run


class Decision(NamedTuple):
    """The decision of a kernel for one call, and the rule behind it."""

    kernel: str
    used: bool
    rule: str


class _Switch(threading.local):
    """Per-thread switch for kernels; `log` collects decisions while they are being explained."""

    def __init__(self) -> None:
        self.mode = OFF if choice("MXNET_KERNELS", (ON, OFF, WAIT), ON) == OFF else ON
        self.log: list[Decision] = []


SWITCH = _Switch()


def enabled() -> bool:
    """Are kernels enabled?"""
    return SWITCH.mode != OFF


@contextmanager
def kernels_off() -> Generator[None, None, None]:
    """Context manager: this thread computes with torch's own operators only."""
    with _mode(OFF):
        yield


@contextmanager
def traced() -> Generator[list[Decision], None, None]:
    """Context manager: decisions of this thread are collected in the list; disabled kernels stay disabled."""
    before, SWITCH.log = SWITCH.log, []
    try:
        with _mode(OFF if SWITCH.mode == OFF else TRACED):
            yield SWITCH.log
    finally:
        SWITCH.log = before


@contextmanager
def _mode(mode: str) -> Generator[None, None, None]:
    before, SWITCH.mode = SWITCH.mode, mode
    try:
        yield
    finally:
        SWITCH.mode = before


class Kernel:
    """One way to compute something.

    Parameters
    ----------
    name : what `mx.runtime.kernels()` and `explain` call it: folder, then subject.
    applies : (*call) -> how much work the call is (elements or multiplications); 0: the kernel cannot compute it.
    run : (*call) -> the result.
    minimum_work : calls of less work are left to torch; a number of `tuning`.
    code : the compiled module that `run` needs; None: it is made of torch's calls.
    """

    __slots__ = ("applies", "code", "minimum_work", "name", "run")

    def __init__(
        self,
        name: str,
        applies: Callable[..., int],
        run: Callable[..., Any],
        minimum_work: int = 1,
        code: CompiledModule | None = None,
    ) -> None:
        if name in KERNELS:
            raise ValueError(f"kernel {name} is registered twice")
        self.name, self.applies, self.run, self.minimum_work, self.code = name, applies, run, minimum_work, code
        KERNELS[name] = self

    def __call__(self, *call: Any) -> Any:
        return self.run(*call) if self.ready(*call) else None

    def ready(self, *call: Any) -> bool:
        """Does the kernel compute this call now? Recorded calls wait for code that is being compiled: two runs of a
        training program compute the same."""
        if SWITCH.mode != ON:
            return SWITCH.mode == TRACED and self._traced(call)
        work = self.applies(*call)
        return work >= self.minimum_work and (self.code is None or self.code.ready(work, call))

    def _traced(self, call: tuple[Any, ...]) -> bool:
        work = self.applies(*call)
        if work < self.minimum_work:
            rule = f"work of {work} is below {self.minimum_work}" if work else "does not apply to these inputs"
            used = False
        else:
            used = self.code is None or self.code.ready(work, call)
            rule = f"work of {work} is at least {self.minimum_work}" if used else self.state().reason
        SWITCH.log.append(Decision(self.name, used, rule))
        return used

    def state(self) -> "State":
        """Whether it computes on this machine now, and why not."""
        if not enabled():
            return State(self.name, "off", "kernels are switched off")
        if self.code is None:
            return State(self.name, "ready", "")
        return State(self.name, *self.code.state())


class State(NamedTuple):
    """A kernel as `mx.runtime.kernels()` lists it."""

    name: str
    state: str  # ready | idle | compiling | unavailable | off
    reason: str
