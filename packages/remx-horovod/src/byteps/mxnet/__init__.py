"""The API of `byteps.mxnet`: `import byteps.mxnet as bps`. There are no servers: workers sum among themselves."""

from horovod.mxnet import DistributedOptimizer as _Optimizer
from horovod.mxnet import DistributedTrainer as _Trainer
from horovod.mxnet import allreduce_, init, local_rank, local_size, rank, shutdown, size
from horovod.mxnet import broadcast_parameters as _broadcast

from mxnet.base import MXNetError

__all__ = [
    "DistributedOptimizer",
    "DistributedTrainer",
    "broadcast_parameters",
    "byteps_declare_tensor",
    "byteps_push_pull",
    "init",
    "local_rank",
    "local_size",
    "rank",
    "shutdown",
    "size",
]


def byteps_declare_tensor(name, **kwargs):
    """Accepted: tensors need not be declared."""
    if kwargs:
        raise MXNetError(f"byteps_declare_tensor({name!r}): compression by {', '.join(kwargs)} is not available")


def byteps_push_pull(tensor, version=0, priority=0, name=None, is_average=True):
    """Replace an array by its mean over all workers, or by its sum."""
    return allreduce_(tensor, average=is_average, name=name)


def broadcast_parameters(params, root_rank=0):
    """Give all workers the parameters of one."""
    _broadcast(params, root_rank)


class DistributedOptimizer(_Optimizer):
    """An optimizer around another one that averages each gradient over all workers first; for `Module`."""

    def __init__(self, optimizer):
        super().__init__(optimizer)


class DistributedTrainer(_Trainer):
    """A `gluon.Trainer` that averages gradients over all workers and begins with the parameters of `root_rank`.

    Parameters
    ----------
    params : ParameterDict, dict or list
        The parameters to train.
    optimizer : str or Optimizer
        The update rule.
    optimizer_params : dict, optional
        Arguments of the optimizer.
    root_rank : int
        Whose parameters all begin with.
    compression_params : dict, optional
        Refused: BytePS's compressors are not available.
    """

    def __init__(self, params, optimizer, optimizer_params=None, root_rank=0, compression_params=None):
        if compression_params:
            raise MXNetError("BytePS's compressors are not available: leave compression_params out")
        super().__init__(params, optimizer, optimizer_params)
        _broadcast({param.name: param for param in self._params}, root_rank)
