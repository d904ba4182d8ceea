"""When the first training on a machine switches from torch to compiled code; it does not wait for the compiler.

Code that was compiled on this machine before is loaded in half a second, and training waits for it. Code that must be
compiled first takes many seconds; meanwhile torch's own operators compute. The switch must not depend on time, because
two runs would then round differently at different steps. It therefore happens after a fixed number of calls and amount
of work, all computed by torch, even if the code is ready earlier. Runs that start with nothing compiled agree with each
other, and so do runs that start with everything compiled. With `MXNET_KERNELS=wait` training waits, and all runs agree.
`FIRST_RUN.waiting()` does the same for a part of a program, in the thread that asks for it.
"""

import logging
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from .. import tuning

_logger = logging.getLogger(__name__)


def kept(folder: str) -> str:
    """Describe whether compiled code is cached: it is, if the folder is writable."""
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
        self._thread = threading.local()  # its `waits`: this thread alone is inside `waiting()`
        self.calls = self.work = 0
        self.over = False
        self._begun = 0.0
        self._told = False

    @contextmanager
    def waiting(self) -> Generator[None, None, None]:
        """Context manager: training in this thread waits for the compiler; its results do not depend on the cache."""
        before, self._thread.waits = self._waits_here(), True
        try:
            yield
        finally:
            self._thread.waits = before

    def _waits_here(self) -> bool:
        return getattr(self._thread, "waits", False)

    def put_off(self, work: int) -> bool:
        """Should torch also compute this call, with so much work?"""
        if self.over or self.waits or self._waits_here():
            return False
        self.calls += 1
        self.work += work
        enough = self.calls >= tuning.FIRST_RUN_CALLS and self.work >= tuning.FIRST_RUN_WORK
        self.over = enough or self.calls >= tuning.FIRST_RUN_MOST_CALLS
        return not self.over

    def tell(self, folder: str) -> None:
        """Tell the user once, after a second, that the processor is busy compiling."""
        self._begun = self._begun or time.monotonic()
        if not self._told and time.monotonic() - self._begun > 1.0:
            self._told = True
            _logger.warning(
                "Compiling CPU kernels for this processor in the background: %s. Until then torch's own operators "
                "compute. `remx warmup` compiles them all ahead of time.", kept(folder)
            )  # fmt: skip


FIRST_RUN = FirstRun()
