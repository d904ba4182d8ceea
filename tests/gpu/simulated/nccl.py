"""A process group that sums the tensors of simulated GPUs, as NCCL does: no host memory, no synchronization.

The bytes travel by gloo, unnoticed. `TRAFFIC` lists what was asked for: the operation and the device of its tensors.
"""

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _create_work_from_future

from . import unwatched

TRAFFIC = []


class SimulatedNccl(dist.ProcessGroup):
    """Collective operations on copies in host memory, put back into the tensors."""

    def __init__(self, store, rank, size, timeout):
        super().__init__(rank, size)
        self._gloo = dist.ProcessGroupGloo(store, rank, size, timeout)
        self._size = size

    def size(self):
        return self._size

    def getBackendName(self):
        return "simulated_nccl"

    def _run(self, name, tensors, call):
        TRAFFIC.append((name, str(tensors[0].device)))
        with unwatched(), torch.no_grad():
            copies = [t.detach().cpu() for t in tensors]
            call(copies).wait()
            for tensor, copy in zip(tensors, copies, strict=True):
                tensor.data.copy_(copy)
        future = torch.futures.Future()
        future.set_result(tensors)
        return _create_work_from_future(future)

    def allreduce(self, tensors, opts=None):
        return self._run("allreduce", tensors, lambda copies: self._gloo.allreduce(copies, opts.reduceOp))

    def broadcast(self, tensors, opts=None):
        return self._run("broadcast", tensors, lambda copies: self._gloo.broadcast(copies, opts))

    def allgather(self, outputs, inputs, opts=None):
        (found,), (given,) = outputs, inputs
        return self._run("allgather", [*found, given], lambda copies: self._gloo.allgather([copies[:-1]], [copies[-1]]))

    def barrier(self, opts=None):
        return self._gloo.barrier()


def join(path, rank, size):
    """Meet the other workers at a file."""
    dist.Backend.register_backend("simulated_nccl", SimulatedNccl, devices=["cpu", "cuda"])
    dist.init_process_group("simulated_nccl", init_method=f"file://{path}", rank=rank, world_size=size)
