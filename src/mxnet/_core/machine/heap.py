"""Memory that a network frees and wants again a moment later.

The C library gives it back to the system after each step, and the system clears it page by page when it is wanted
again, which takes up to a third of a training step.
"""

import ctypes
import os
from functools import cache

from ..environment import whole_number

VARIABLE = "MXNET_KEPT_MEMORY"  # megabytes; 0 leaves the C library as it is
KEPT = 512
OWN_PAGES = 32  # megabytes from which on memory has pages of its own: what glibc itself comes to, block by block
SETTINGS = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES")  # the user's own
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's numbers for them


def kept_megabytes() -> int:
    """How much the user wants to be kept."""
    return whole_number(VARIABLE, KEPT, "a number of megabytes below 2048, or 0", below=2048)


@cache
def keep_freed() -> bool:
    """Let the C library of this process keep some of what is freed, from the first network on; does it?"""
    amount = kept_megabytes()
    setting = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if not amount or setting is None or any(os.environ.get(name) for name in SETTINGS):
        return False
    return bool(setting(_MMAP_THRESHOLD, OWN_PAGES << 20) and setting(_TRIM_THRESHOLD, amount << 20))
