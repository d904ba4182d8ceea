"""The caller's modes in a backward pass: of a GPU torch runs it in threads of its own, which know nothing of them."""

import ctypes
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch

from .._core.modes import MODES
from ..context import Context, current_context
from ..util import _SEMANTICS
from .settings import Scope

_C: Any = torch._C
_KEY = "mxnet.backward"  # torch hands what is stashed under a name to the threads of a backward pass


def _stash_counts() -> bool:
    """Does torch count its reference to what is stashed? Early versions drop one that they have not taken."""
    probe = object()
    before = sys.getrefcount(probe)
    _C._stash_obj_in_tls("mxnet.probe", probe)
    counts = sys.getrefcount(probe) > before
    if not counts:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(probe))
    return counts


_STASH_COUNTS = _stash_counts()


def _stash(value: object) -> None:
    if not _STASH_COUNTS:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
    _C._stash_obj_in_tls(_KEY, value)


class _Caller(NamedTuple):
    thread: int
    training: bool
    arrays: bool  # NumPy's semantics
    shapes: bool
    context: Context


class BackwardPass(Scope):
    """Around a run of torch's engine: MXNet's settings hold, if there is a GPU, and its threads know the caller."""

    __slots__ = ("_outer",)

    def __init__(self) -> None:
        super().__init__(torch.cuda.is_initialized())

    def __enter__(self) -> None:
        super().__enter__()
        self._outer = _caller()
        numpy = _SEMANTICS.array, _SEMANTICS.shape
        _stash(_Caller(threading.get_ident(), MODES.training, *numpy, current_context()))

    def __exit__(self, *error: object) -> None:
        _stash(self._outer)
        super().__exit__(*error)


def _caller() -> _Caller | None:
    return _C._get_obj_in_tls(_KEY) if _C._is_key_in_tls(_KEY) else None


def is_training() -> bool:
    """Does the backward pass under way, or else the calling thread, train?"""
    caller = _caller()
    return MODES.training if caller is None or caller.thread == threading.get_ident() else caller.training


@contextmanager
def as_the_caller() -> Generator[None]:
    """Let a user's function, which a backward pass calls, see the modes of the thread that called `backward`."""
    caller = _caller()
    if caller is None or caller.thread == threading.get_ident():
        yield
        return
    before = MODES.training, _SEMANTICS.array, _SEMANTICS.shape
    MODES.training, _SEMANTICS.array, _SEMANTICS.shape = caller.training, caller.arrays, caller.shapes
    try:
        with caller.context:
            yield
    finally:
        MODES.training, _SEMANTICS.array, _SEMANTICS.shape = before
