"""Who this process is in the job: `join`, `rank`, `size` and their kin."""

import os
import re
from contextlib import contextmanager

import torch
import torch.distributed as dist

from mxnet.base import MXNetError
from mxnet.kvstore import cluster, group

from ..common.exceptions import HorovodInternalError

# What launchers call the same fact: torchrun and remx launch, Open MPI, MPICH, Slurm.
_LOCAL_RANK = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
_LOCAL_SIZE = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")
_CROSS_RANK = ("GROUP_RANK", "SLURM_NODEID")  # Open MPI's NODE_RANK counts processes of a host, not hosts
_CROSS_SIZE = ("GROUP_WORLD_SIZE", "SLURM_STEP_NUM_NODES")


class _Job:
    """Whether `init` was called."""

    initialized = False


def join(comm=None):
    """Join the job. A process that no launcher has started is a job of its own."""
    if comm is not None:
        raise MXNetError("hvd.init(comm=...) is not available: use process_sets for parts of the job")
    if not _Job.initialized:
        if cluster.started_by_a_launcher():
            group.join()
        _Job.initialized = True


def shutdown():
    """Leave the job."""
    group.leave()
    _Job.initialized = False


def is_initialized():
    """Was `init` called?"""
    return _Job.initialized


def _check():
    if not _Job.initialized:
        raise ValueError("Horovod has not been initialized; use hvd.init().")


def rank():
    """The number of this process, 0 to `size() - 1`."""
    _check()
    return dist.get_rank() if dist.is_initialized() else 0


def size():
    """The number of processes."""
    _check()
    return dist.get_world_size() if dist.is_initialized() else 1


def _told(names, otherwise):
    """The first of these variables that is a number."""
    _check()
    for name in names if dist.is_initialized() else ():
        if (text := os.environ.get(name, "")).isdecimal():
            return int(text)
    return otherwise()


def _tasks_of_node():
    """The number of Slurm's tasks on this host: `2(x3),1` says 2 on each of three hosts and 1 on the last."""
    parts = re.findall(r"(\d+)(?:\(x(\d+)\))?", os.environ.get("SLURM_STEP_TASKS_PER_NODE", ""))
    counts = [int(tasks) for tasks, hosts in parts for _ in range(int(hosts or 1))]
    node = os.environ.get("SLURM_NODEID", "")
    return counts[int(node)] if node.isdecimal() and int(node) < len(counts) else size()


def local_rank():
    """The number of this process among those of its machine."""
    return _told(_LOCAL_RANK, rank)


def local_size():
    """The number of processes on this machine."""
    return _told(_LOCAL_SIZE, _tasks_of_node)


def cross_rank():
    """The number of this machine."""
    return _told(_CROSS_RANK, lambda: rank() // local_size())


def cross_size():
    """The number of machines."""
    return _told(_CROSS_SIZE, lambda: -(-size() // local_size()))


@contextmanager
def contact():
    """Turn a lost process into the error that Horovod's users catch."""
    try:
        with group.contact():
            yield
    except MXNetError as error:
        if isinstance(error.__cause__, RuntimeError):
            raise HorovodInternalError(str(error)) from error
        raise


def mpi_threads_supported():
    """False: there is no MPI."""
    return False


def mpi_enabled():
    """False: processes meet without MPI."""
    return False


mpi_built = ddl_built = ccl_built = rocm_built = mpi_enabled


def gloo_enabled():
    """True: torch's gloo carries what is on CPUs."""
    return True


gloo_built = gloo_enabled


def nccl_built():
    """NCCL's version as a number such as 22005, or 0."""
    if not cuda_built():
        return 0
    major, minor, patch = torch.cuda.nccl.version()
    return major * 10000 + minor * 100 + patch


def cuda_built():
    """Does torch see CUDA devices?"""
    return torch.cuda.is_available()


def start_timeline(file_path, mark_cycles=False):
    """Refused: `mx.profiler` records what a program does."""
    raise MXNetError("Horovod's timeline is not available: use mx.profiler")


def stop_timeline():
    """Refused, as `start_timeline` is."""
    start_timeline("")
