"""The API of `horovod.mxnet`: `import horovod.mxnet as hvd`."""

from . import elastic
from .basics import (
    HorovodInternalError,
    ccl_built,
    cross_rank,
    cross_size,
    cuda_built,
    ddl_built,
    gloo_built,
    gloo_enabled,
    is_initialized,
    local_rank,
    local_size,
    mpi_built,
    mpi_enabled,
    mpi_threads_supported,
    nccl_built,
    rank,
    rocm_built,
    shutdown,
    size,
    start_timeline,
    stop_timeline,
)
from .collectives import (
    Adasum,
    Average,
    Max,
    Min,
    Product,
    Sum,
    allgather,
    allreduce,
    allreduce_,
    alltoall,
    broadcast,
    broadcast_,
    grouped_allgather,
    grouped_allreduce,
    grouped_allreduce_,
    grouped_reducescatter,
    reducescatter,
)
from .compression import Compression
from .functions import allgather_object, broadcast_object
from .process_sets import ProcessSet, add_process_set, global_process_set, init, remove_process_set
from .training import DistributedOptimizer, DistributedTrainer, broadcast_parameters
