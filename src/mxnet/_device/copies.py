"""Copies between the host and a GPU: pinned memory, copies that nobody waits for, and what must wait for them.

A copy out of pinned memory runs on a stream of its own, beside the computation, and the current stream waits for it
before it computes anything else. Such a copy reads the host's memory after the call has returned: whoever writes into
pinned memory calls `settle` first. Ordinary memory is read before the call returns.
"""

from typing import Any

import torch
from torch import Tensor

from .._core.errors import MXNetError
from . import late
from .errors import explained

_STREAMS: dict[int, Any] = {}
FLIGHTS: dict[int, Any] = {}  # address of pinned memory -> the event after the last copy out of it
_MOST = 256


def moved(source: Tensor, device: torch.device, pinned: bool = False) -> Tensor:
    """A copy on `device`; `pinned` says that the source's memory may be."""
    try:
        if device.type != "cuda" or not source.is_cpu:
            return source.to(device, copy=True)
        if pinned and not source.requires_grad and source.is_pinned():
            return _beside_computation(source, device)
        return source.to(device, non_blocking=True, copy=True)
    except (RuntimeError, TypeError) as error:  # no memory, no such type there, or an operator before has failed
        raise MXNetError(explained(error)) from None


def _beside_computation(source: Tensor, device: torch.device) -> Tensor:
    stream, current = _stream(device), torch.cuda.current_stream(device)
    with torch.cuda.stream(stream):
        result = source.to(device, non_blocking=True, copy=True)
        event = stream.record_event()
    current.wait_event(event)
    result.record_stream(current)  # its memory came from the other stream, and goes back there when it is freed
    _depart(source, event)
    return result


def _stream(device: torch.device) -> Any:
    found = _STREAMS.get(device.index)
    if found is None:
        found = _STREAMS[device.index] = torch.cuda.Stream(device)
    return found


def cloned(source: Tensor) -> Tensor:
    """A copy beside it."""
    try:
        return source.clone()
    except RuntimeError as error:
        raise MXNetError(explained(error)) from None


def put(target: Tensor, source: Tensor, pinned: bool = False) -> None:
    """Copy into `target`, which may be on another device and of another type."""
    if not target.is_cuda:
        target.copy_(source)
        return
    target.copy_(source, non_blocking=True)
    if pinned and source.is_cpu and source.is_pinned():
        _depart(source, torch.cuda.current_stream(target.device).record_event())


def _depart(source: Tensor, event: Any) -> None:
    if len(FLIGHTS) >= _MOST:
        for address in [a for a, e in list(FLIGHTS.items()) if e.query()]:
            FLIGHTS.pop(address, None)
    FLIGHTS[source.untyped_storage().data_ptr()] = event


def settle(tensor: Tensor) -> None:
    """Return when no copy reads the memory of `tensor` any more: it is about to be written."""
    if FLIGHTS:
        event = FLIGHTS.pop(tensor.untyped_storage().data_ptr(), None)
        if event is not None:
            event.synchronize()


def can_pin() -> bool:
    """Is there a device that reads pinned memory? Not for a forked process, such as a worker of a DataLoader."""
    return not torch.cuda._is_in_bad_fork() and torch.cuda.is_available()


def pinned(source: Tensor) -> Tensor:
    """A copy in pinned memory, in ordinary memory where no GPU is."""
    if not can_pin():
        return source.to("cpu", copy=True)
    memory = torch.empty(source.shape, dtype=source.dtype, device="cpu", pin_memory=True)
    return memory.copy_(source)


def held_pinned(tensor: Tensor) -> Tensor:
    """A new tensor of the CPU, moved to pinned memory unless it is there or no GPU is."""
    return pinned(tensor) if can_pin() and not tensor.is_pinned() else tensor


def number(value: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """A tensor without axes, without a copy: what the type cannot hold becomes infinite, as a conversion has it."""
    made = torch.tensor(value, dtype=dtype)
    return made if device.type == "cpu" else torch.full((), made.item(), dtype=dtype, device=device)


def constant(values: Any, dtype: torch.dtype | None, device: torch.device) -> Tensor:
    """Numbers as a tensor on `device`, without waiting for it."""
    return _sent(torch.tensor(values, dtype=dtype), device)


def uploaded(array: Any, device: torch.device, dtype: torch.dtype | None = None) -> Tensor:
    """A NumPy array as a tensor on `device`, without waiting for it; on the CPU it shares the memory."""
    made = torch.from_numpy(array)
    return _sent(made if dtype is None else made.to(dtype), device)


def _sent(made: Tensor, device: torch.device) -> Tensor:
    """A tensor of the host on `device`. A CUDA graph copies it in each replay, so its memory stays with the graph."""
    graph = late.Conditions.open
    if graph is not None and device.type == "cuda" and torch.cuda.is_current_stream_capturing():
        made = graph.keep(pinned(made))
    return made if device.type == "cpu" else made.to(device, non_blocking=device.type == "cuda")
