"""Detection of changed parameters: by the write log where it suffices, else by comparing memory in the background."""

import ctypes
import functools
import operator
import os
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from ..._core.writes import WRITES, Since, Watch
from ..._kernels.runtime.loader import Loader

SMALL = 1 << 15  # bytes; smaller tensors are compared at once, in less time than starting a thread takes

_memcmp = (ctypes.cdll.msvcrt if os.name == "nt" else ctypes.CDLL(None)).memcmp
_memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
Rows = Any  # an integer array with one row per tensor
_address = torch.Tensor.data_ptr  # for map(), which is faster than a comprehension


def _load() -> Any:
    from ..._kernels.runtime.digest import digest

    return digest


_loader = Loader(_load, None)


def same_bytes(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Do two tensors hold the same bytes? Three times as fast as torch.equal, which compares values."""
    if one.shape != other.shape or one.dtype is not other.dtype or one.device != other.device:
        return False
    if not (one.is_contiguous() and other.is_contiguous()):
        return torch.equal(one, other)
    return not _memcmp(one.data_ptr(), other.data_ptr(), one.nbytes)


class _Snapshot:
    """A snapshot of tensors' contents. `_rows` describes tensors at their addresses, `_same` compares such rows."""

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        self._shapes = [t.shape for t in tensors]
        # The tensors compared last with their addresses and rows: looking these up takes longer than the comparison.
        self._known: tuple[Any, ...] = (), [], (), (), Watch([])

    def compare(self, tensors: Sequence[torch.Tensor]) -> Callable[[], bool]:
        """Start a comparison; the returned function waits for it and tells whether all tensors are unchanged."""
        if self.untouched(tensors):
            return lambda: True
        addresses = list(map(_address, tensors))
        known, known_addresses, small, large, watch = self._known
        if addresses != known_addresses or not all(map(operator.is_, tensors, known)):
            if not all(map(usable, tensors)) or [t.shape for t in tensors] != self._shapes:
                return lambda: False
            contiguous = [t.data.contiguous() for t in tensors]
            if [t.data_ptr() for t in contiguous] != addresses:  # not contiguous: compare the copies now
                verdict = self._compare_now(contiguous)
                return lambda: verdict
            small, large = self._split(contiguous)
            watch = Watch(tensors)
            self._known = list(tensors), addresses, small, large, watch
        since = WRITES.now()
        if not self._same(small):
            return lambda: False
        rest = _threads(os.getpid()).submit(self._same, large).result if len(large) else lambda: True
        return lambda: self._mark_if_same(rest(), watch, since)

    def untouched(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Are they the tensors compared last, with no write logged since? Then no comparison is needed."""
        known, _, _, _, watch = self._known
        return watch.untouched() and all(map(operator.is_, tensors, known))

    def _mark_if_same(self, same: bool, watch: Watch, since: Since) -> bool:
        if same:
            watch.looked(since)
        return same

    def _compare_now(self, tensors: Sequence[torch.Tensor]) -> bool:
        return all(map(self._same, self._split(tensors)))

    def _split(self, tensors: Sequence[torch.Tensor]) -> tuple[Rows, Rows]:
        """The rows of the small tensors, and those of the others."""
        rows = self._rows(tensors)
        is_small = np.array([t.nbytes <= SMALL for t in tensors], bool)
        return rows[is_small], rows[~is_small]

    def _rows(self, tensors: Sequence[torch.Tensor]) -> Rows:
        raise NotImplementedError

    def _same(self, rows: Rows) -> bool:
        raise NotImplementedError


class CopySnapshot(_Snapshot):
    """A snapshot that is a copy of the tensors."""

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        super().__init__(tensors)
        self.tensors = [t.data.clone(memory_format=torch.contiguous_format) for t in tensors]

    def digests(self) -> "DigestSnapshot | CopySnapshot":
        """The snapshot as digests, which are smaller and compare faster, once the digest kernel is compiled."""
        digest = _loader.get(wait=False)
        return self if digest is None else DigestSnapshot(digest, self.tensors)

    def _rows(self, tensors: Sequence[torch.Tensor]) -> Rows:
        pairs = zip(tensors, self.tensors, strict=True)
        return _table([(t.data_ptr(), copy.data_ptr(), copy.nbytes) for t, copy in pairs])

    def _same(self, rows: Rows) -> bool:
        return not any(_memcmp(*row) for row in rows.tolist())


class DigestSnapshot(_Snapshot):
    """A snapshot that is a 128-bit digest of each tensor (see `_kernels.runtime.digest`)."""

    def __init__(self, digest: Callable[[Rows, Rows], None], tensors: Sequence[torch.Tensor]) -> None:
        super().__init__(tensors)
        self._digest = digest
        self._digests = np.empty((len(tensors), 2), np.uint64)
        digest(_table([(t.data_ptr(), t.nbytes) for t in tensors]), self._digests)

    def _rows(self, tensors: Sequence[torch.Tensor]) -> Rows:
        return _table([(t.data_ptr(), t.nbytes, number) for number, t in enumerate(tensors)])

    def _same(self, rows: Rows) -> bool:
        digests = np.empty((len(rows), 2), np.uint64)
        self._digest(np.ascontiguousarray(rows[:, :2]), digests)
        return bool((digests == self._digests[rows[:, 2]]).all())


def noted(tensors: Sequence[torch.Tensor]) -> "CopySnapshot | DigestSnapshot":
    """A snapshot of the tensors: digests if the kernel is compiled, else copies."""
    digest = _loader.get(wait=False)
    hashable = digest is not None and all(t.is_contiguous() for t in tensors)
    return DigestSnapshot(digest, tensors) if hashable else CopySnapshot(tensors)


class FirstPrediction:
    """The parameters of a network's first prediction, whose contents were not recorded."""

    def __init__(self, places: Sequence[int], tensors: Sequence[torch.Tensor]) -> None:
        self._places, self._tensors = places, [weakref.ref(tensors[i]) for i in places]
        self._watch = Watch([tensors[i] for i in places])
        self._watch.looked(WRITES.now())

    def untouched(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Does a later prediction have these parameters, with no write noted since?"""
        same = all(known() is tensors[i] for i, known in zip(self._places, self._tensors, strict=True))
        return same and self._watch.untouched()


def usable(tensor: torch.Tensor) -> bool:
    """Is it a float32 CPU tensor, the kind that is compared here and that the kernels take?"""
    return tensor.dtype is torch.float32 and tensor.is_cpu


def _table(rows: list[tuple[int, ...]]) -> Rows:
    return np.array(rows, np.int64).reshape(len(rows), -1 if rows else 3)


@functools.lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """The threads of this process: a forked child has none of its parent's."""
    return ThreadPoolExecutor(2, thread_name_prefix="mxnet-compare")
