"""`torch.cuda.CUDAGraph` and `torch.cuda.graph` on top of the simulation.

A capture notes every call of torch's operators that reaches the device, with the tensors it was given and those that it
made. A replay makes the same calls on the same memory: Python code in between does not run again, and data that the
program puts elsewhere are not seen, as on a real device. What was written during the capture is put back, and so is
the state of the random generator, because a real capture computes nothing; a synchronization in it fails, and so does a
copy of memory of the host that is not pinned.
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
        self._refuse_pageable(func, args, kwargs)
        self._keep_written(func, args, kwargs)
        given = _aliases(args), {name: _aliases(value) for name, value in kwargs.items()}
        result = func(*args, **kwargs)
        if _STATE["syncs"] != syncs:
            raise RuntimeError(REFUSED)
        for tensor in _tensors(result):
            self.made.add(tensor.untyped_storage()._cdata)
        taken = [t for value in (result, *args) for t in _tensors(value)]  # lists of tensors among the arguments
        if any(t.is_cuda for t in taken):  # what the host computes is not in a graph
            self.calls.append((func, *given, _aliases(result)))
        return result

    def _refuse_pageable(self, func, args, kwargs):
        """A replay reads the host's memory again, which need not be there any more."""
        if func is torch.ops.aten.copy_.default:
            source, arrives = args[1], args[0].is_cuda
        elif func is torch.ops.aten._to_copy.default:
            source, arrives = args[0], torch.device(kwargs.get("device") or "cpu").type == "cuda"
        else:
            return
        if arrives and source.is_cpu and not source.is_pinned():
            raise RuntimeError(REFUSED)

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


def _aliases(value):
    """The same memory by other tensors: calls such as `squeeze_` change the shape of the tensor that they are given."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    return type(value)(map(_aliases, value)) if type(value) in (tuple, list) else value


def _tensors(value):
    values = value if isinstance(value, (tuple, list)) else [value]
    return [v for v in values if isinstance(v, torch.Tensor)]


class Leftovers:
    """What torch before 2.12 leaves of a capture in which CUDA refused a call: `capture_end` raises in its middle."""

    pools = set()  # the allocator believes that memory still goes to them
    drawing = False  # the random generator believes that a graph is being captured
    made = 0


def new_pool():
    """A name for memory that graphs share."""
    Leftovers.made += 1
    return 0, Leftovers.made


def end_allocation(device, pool):
    """`torch._C._cuda_endAllocateToPool`."""
    if pool not in Leftovers.pools:
        raise RuntimeError("endAllocatePool: not currently recording to mempool_id")
    Leftovers.pools.remove(pool)


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
                again = func(*_aliases(args), **{name: _aliases(value) for name, value in kwargs.items()})
                for old, new in zip(_tensors(result), _tensors(again), strict=True):
                    if old.untyped_storage()._cdata != new.untyped_storage()._cdata and old.numel():
                        old.copy_(new)


class graph:
    """`with torch.cuda.graph(g):`"""

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        assert capture_error_mode in ("global", "thread_local", "relaxed")
        self.graph, self.stream, self.pool, self.recorder = cuda_graph, stream, pool or new_pool(), _Recorder()

    def __enter__(self):
        torch.cuda.synchronize()
        if self.stream.device_index != torch.cuda.current_device():
            raise RuntimeError("a graph is captured on a stream of the current device")
        self.outer = torch.cuda.current_stream()
        self.scope = torch.cuda.stream(self.stream)
        self.scope.__enter__()
        self.stream.wait_stream(self.outer)
        self.random = torch.cuda.get_rng_state()
        _STATE["capturing"] = Leftovers.drawing = True
        Leftovers.pools.add(self.pool)
        self.recorder.__enter__()

    def __exit__(self, kind, error, trace):
        self.recorder.__exit__(kind, error, trace)
        _STATE["capturing"] = False
        self.recorder.put_back()
        torch.cuda.set_rng_state(self.random)
        self.outer.wait_stream(self.stream)
        for *_, result in self.recorder.calls:  # nobody else is given a graph's memory, whichever stream replays it
            for tensor in _tensors(result):
                if tensor.is_cuda:
                    tensor.record_stream(self.outer)
        if kind is not None and REFUSED in str(error):  # as torch: the stream stays the one of the capture
            return
        Leftovers.pools.remove(self.pool)
        Leftovers.drawing = False
        if kind is not None:
            self.scope.__exit__(kind, error, trace)
            return
        self.scope.__exit__(kind, error, trace)
        self.graph.calls = self.recorder.calls
