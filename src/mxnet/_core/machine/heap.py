"""Settings of the C library's allocator: memory that a network frees is kept for its next step.

By default the C library returns freed memory to the system after each step. The system then clears the pages again when
they are allocated for the next step, which takes up to a third of a training step.
"""

import ctypes
import os
from functools import cache

from ..environment import whole_number

VARIABLE = "MXNET_KEPT_MEMORY"  # megabytes; 0 leaves the C library as it is
KEPT = 512
OWN_PAGES = 32  # megabytes from which on a block is mapped on its own: the limit that glibc reaches by adapting itself
SETTINGS = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")  # the user's own
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's numbers for them


def kept_megabytes() -> int:
    """The number of megabytes that the environment asks for."""
    return whole_number(VARIABLE, KEPT, "a number of megabytes below 2048, or 0", below=2048)


@cache
def keep_freed() -> bool:
    """Let the C library of this process keep freed memory; return whether it does."""
    amount = kept_megabytes()
    setting = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if not amount or setting is None or any(os.environ.get(name) for name in SETTINGS):
        return False
    return bool(setting(_MMAP_THRESHOLD, OWN_PAGES << 20) and setting(_TRIM_THRESHOLD, amount << 20))
