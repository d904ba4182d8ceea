"""The API of `horovod.mxnet`: `import horovod.mxnet as hvd`."""

from ..common.exceptions import HorovodInternalError
from . import elastic
from .compression import Compression
from .functions import allgather_object, broadcast_object
from .mpi_ops import *
from .training import DistributedOptimizer, DistributedTrainer, broadcast_parameters
