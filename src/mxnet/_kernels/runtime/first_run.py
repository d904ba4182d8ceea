"""The first training on a machine does not wait for the compiler: when it changes over from torch to compiled code.

Code that this machine has compiled before is read in half a second, and training waits for it. Code that has to be
compiled first takes many seconds; torch's own operators compute meanwhile. The change must not depend on time, or two
runs would round differently at different steps. So it comes when a number of calls and an amount of work were done, all
of them by torch, even if the code has been ready for a while: runs that find nothing compiled agree with each other,
and so do runs that find everything compiled. `MXNET_KERNELS=wait` makes all of them agree: then training waits.
`FIRST_RUN.waiting()` does the same for a part of a program.
"""

import logging
import os
import time
from collections.abc import Generator
from contextlib import contextmanager

from .. import tuning

_logger = logging.getLogger(__name__)


def kept(folder: str) -> str:
    """What becomes of compiled code: it is kept, if the folder can be written."""
    try:
        os.makedirs(folder, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if writable:
        return f"once, they are kept in {folder}"
    return f"{folder} cannot be written, so other programs may compile them again; set MXNET_HOME to a folder that can"


class FirstRun:
    """Counts calls that code would compute if it had been compiled before, and their work."""

    def __init__(self) -> None:
        self.waits = os.environ.get("MXNET_KERNELS") == "wait"
        self.calls = self.work = 0
        self.over = False
        self._begun = 0.0
        self._told = False

    @contextmanager
    def waiting(self) -> Generator[None, None, None]:
        """Inside, training waits for the compiler: the same numbers, whatever was compiled before."""
        before, self.waits = self.waits, True
        try:
            yield
        finally:
            self.waits = before

    def put_off(self, work: int) -> bool:
        """Shall torch compute this call, too, of so much work?"""
        if self.over or self.waits:
            return False
        self.calls += 1
        self.work += work
        enough = self.calls >= tuning.FIRST_RUN_CALLS and self.work >= tuning.FIRST_RUN_WORK
        self.over = enough or self.calls >= tuning.FIRST_RUN_MOST_CALLS
        return not self.over

    def tell(self, folder: str) -> None:
        """Once, after a second: what the processor is busy with."""
        self._begun = self._begun or time.monotonic()
        if not self._told and time.monotonic() - self._begun > 1.0:
            self._told = True
            _logger.warning(
                "Compiling CPU kernels for this processor in the background: %s. Until then torch's own operators "
                "compute. `remx warmup` compiles them all ahead of time.", kept(folder)
            )  # fmt: skip


FIRST_RUN = FirstRun()
