"""`torch.cuda.CUDAGraph` and `torch.cuda.graph` on top of the simulation.

A capture notes every call of torch's operators that reaches the device, with the tensors it was given and those that it
made. A replay makes the same calls on the same memory: Python code in between does not run again, and data that the
program puts elsewhere are not seen, as on a real device. What was written during the capture is put back, because a
real capture computes nothing; a synchronization in it fails.
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import _STATE

REFUSED = "CUDA error: operation not permitted when stream is capturing"


class _Recorder(TorchDispatchMode):
    """Notes calls, and what the memory that they write into held before."""

    def __init__(self):
        super().__init__()
        self.calls, self.before, self.made = [], {}, set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs, syncs = kwargs or {}, _STATE["syncs"]
        self._keep_written(func, args, kwargs)
        result = func(*args, **kwargs)
        if _STATE["syncs"] != syncs:
            raise RuntimeError(REFUSED)
        for tensor in _tensors(result):
            self.made.add(tensor.untyped_storage()._cdata)
        self.calls.append((func, args, kwargs, result))
        return result

    def _keep_written(self, func, args, kwargs):
        given = list(args) + [None] * len(func._schema.arguments)
        for i, argument in enumerate(func._schema.arguments):
            if argument.alias_info is None or not argument.alias_info.is_write:
                continue
            for tensor in _tensors(kwargs.get(argument.name, given[i])):
                name = tensor.untyped_storage()._cdata
                if name not in self.made and name not in self.before:
                    size = tensor.untyped_storage().nbytes() // tensor.element_size()
                    whole = tensor.detach().as_strided((size,), (1,), 0)
                    self.before[name] = whole, whole.clone()

    def put_back(self):
        for whole, content in self.before.values():
            whole.copy_(content)


def _tensors(value):
    values = value if isinstance(value, (tuple, list)) else [value]
    return [v for v in values if isinstance(v, torch.Tensor)]


class CUDAGraph:
    """Calls on memory."""

    def __init__(self, keep_graph=False):
        self.calls, self.replays = [], 0

    def pool(self):
        return id(self), 0

    def replay(self):
        self.replays += 1
        with torch.no_grad():
            for func, args, kwargs, result in self.calls:
                kinds = [r.alias_info for r in func._schema.returns]
                if any(k is not None and not k.is_write for k in kinds):
                    continue  # a view: it is there
                again = func(*args, **kwargs)
                for old, new in zip(_tensors(result), _tensors(again), strict=True):
                    if old is not new and old.numel():
                        old.copy_(new)


class graph:
    """`with torch.cuda.graph(g):`"""

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        assert capture_error_mode in ("global", "thread_local", "relaxed")
        self.graph, self.stream, self.recorder = cuda_graph, stream, _Recorder()

    def __enter__(self):
        torch.cuda.synchronize()
        if self.stream.device_index != torch.cuda.current_device():
            raise RuntimeError("a graph is captured on a stream of the current device")
        self.outer = torch.cuda.current_stream()
        self.scope = torch.cuda.stream(self.stream)
        self.scope.__enter__()
        self.stream.wait_stream(self.outer)
        _STATE["capturing"] = True
        self.recorder.__enter__()

    def __exit__(self, kind, error, trace):
        self.recorder.__exit__(kind, error, trace)
        _STATE["capturing"] = False
        self.recorder.put_back()
        self.outer.wait_stream(self.stream)
        for *_, result in self.recorder.calls:  # nobody else is given a graph's memory, whichever stream replays it
            for tensor in _tensors(result):
                tensor.record_stream(self.outer)
        if kind is not None:  # as torch: the stream stays the one of the capture
            return
        self.scope.__exit__(kind, error, trace)
        self.graph.calls = self.recorder.calls
