"""Training with gradients averaged over the processes: DistributedTrainer, DistributedOptimizer."""

import types
import warnings

import mxnet as mx
from mxnet._core.writes import wrote_anywhere
from mxnet.gluon.parameter import DeferredInitializationError, Parameter, ParameterDict
from mxnet.kvstore import group
from mxnet.kvstore.overlap import Plan, describe

from . import basics
from .collectives import (
    Sum,
    _describe,
    _memory,
    broadcast_,
    broadcast_arrays_,
    is_sparse,
    reduce_rows,
    reduce_tensors,
    same_call,
)
from .compression import Compression
from .process_sets import global_process_set


class _Exchange:
    """Sums gradients over the processes; that all send the same is checked when this process sends others."""

    def __init__(self, compression, predivide, process_set):
        self._compression, self._before, self._process_set = compression, 1.0 / predivide, process_set
        alone = process_set.size() == 1  # then nothing is summed, nor divided before
        self.factor = 1.0 if alone else predivide / process_set.size()  # makes a mean of the sum
        self._checked, self.plan = set(), None

    def sum(self, arrays, keys=None):
        """Sum arrays in place."""
        if self._process_set.size() == 1 or not self._process_set.included():
            return
        for array in filter(is_sparse, arrays):
            reduce_rows(array, Sum, self._process_set, self._before)
        dense = [array for array in arrays if not is_sparse(array)]
        if self.plan is not None and len(dense) == len(arrays) and self.plan.fits(keys, [[array] for array in arrays]):
            self._take_sums(keys, arrays)
        elif dense:
            self._sum_now(dense)
        wrote_anywhere()

    def _sum_now(self, arrays):
        packed = [self._compression.compress(array) for array in arrays]
        tensors = [_memory(array, "DistributedTrainer") for array, _ in packed]
        facts = _describe(tensors)
        if facts not in self._checked:
            same_call("allreduce of gradients", facts, self._process_set)
            self._checked.add(facts)
        reduce_tensors(tensors, Sum, self._process_set, self._before)
        for array, (sent, ctx) in zip(arrays, packed, strict=True):
            if sent is not array:
                _memory(array, "").copy_(_memory(self._compression.decompress(sent, ctx), ""))

    # ------------------------------------------------------------------ while backward runs
    def watch(self, keys, weights):
        """Send the next gradients while backward runs: plain ones, of all processes."""
        whole = self._process_set is global_process_set and self._process_set.size() > 1
        if not whole or self._compression is not Compression.none or self._before != 1.0 or not keys:
            return
        if self.plan is None or self.plan.description != describe(keys, weights):
            channel = group.channel() if self.plan is None else self.plan.channel
            if self.plan is not None:
                self.plan.close()
            self.plan = Plan(keys, weights, channel)
        self.plan.watch()

    def _take_sums(self, keys, arrays):
        with basics.contact():
            sums = self.plan.sums()
        for key, array in zip(keys, arrays, strict=True):
            _memory(array, "").copy_(sums[key])


class DistributedTrainer(mx.gluon.Trainer):
    """A `gluon.Trainer` that averages gradients over all processes.

    Every process calls `step` with its own batch size; the result is that of one process with all batches together.

    Parameters
    ----------
    params : ParameterDict, dict or list
        The parameters to train, in one context for each process.
    optimizer : str or Optimizer
        The update rule.
    optimizer_params : dict, optional
        Arguments of the optimizer.
    compression : optional
        `hvd.Compression.none` or `hvd.Compression.fp16`.
    gradient_predivide_factor : float
        Gradients are divided by this before the sum, and the mean is multiplied by it again.
    prefix : str, optional
        Accepted; calls are matched by their order, not by names.
    num_groups : int
        Accepted; gradients always share messages.
    process_set : ProcessSet
        Who takes part.
    """

    def __init__(
        self,
        params,
        optimizer,
        optimizer_params=None,
        compression=Compression.none,
        gradient_predivide_factor=1.0,
        prefix=None,
        num_groups=0,
        process_set=global_process_set,
    ):
        if isinstance(optimizer, DistributedOptimizer):
            optimizer = optimizer._optimizer
            warnings.warn("DistributedTrainer takes a plain optimizer; the one inside DistributedOptimizer is used.")
        assert prefix is None or isinstance(prefix, str)
        super().__init__(params, optimizer, optimizer_params=optimizer_params, kvstore=None)
        if len(self._contexts or ()) > 1:
            raise ValueError(f"one process has one context; the parameters are in {self._contexts}")
        self._over_processes = _Exchange(compression, gradient_predivide_factor, process_set)
        self._scale *= self._over_processes.factor

    def _allreduce_grads(self):
        found = [(i, p, p.list_grad()[0]) for i, p in enumerate(self._params) if p.grad_req != "null"]
        if not found:
            return
        keys, params, grads = zip(*found, strict=True)
        self._over_processes.sum(list(grads), keys)
        if not any(map(is_sparse, grads)):
            self._over_processes.watch(keys, [param.list_data() for param in params])


_OWN = ("_optimizer", "_over_processes")


class DistributedOptimizer(mx.optimizer.Optimizer):
    """An optimizer around another one that averages each gradient over all processes first; for `Module`.

    Parameters
    ----------
    optimizer : Optimizer
        The update rule. Its `rescale_grad` is divided by the number of processes.
    gradient_predivide_factor : float
        Gradients are divided by this before the sum, and the mean is multiplied by it again.
    num_groups : int
        Accepted; gradients that are updated together share messages.
    process_set : ProcessSet
        Who takes part.
    """

    def __init__(self, optimizer, gradient_predivide_factor=1.0, num_groups=0, process_set=global_process_set):
        self._optimizer = optimizer
        self._over_processes = _Exchange(Compression.none, gradient_predivide_factor, process_set)
        optimizer.rescale_grad *= self._over_processes.factor

    def __getattr__(self, name):
        if name in _OWN:
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def __setattr__(self, name, value):
        if name in _OWN:
            super().__setattr__(name, value)
        else:
            setattr(self._optimizer, name, value)

    def create_state(self, index, weight):
        """The state of the optimizer inside."""
        return self._optimizer.create_state(index, weight)

    def create_state_multi_precision(self, index, weight):
        """The state of the optimizer inside."""
        return self._optimizer.create_state_multi_precision(index, weight)

    def update(self, index, weight, grad, state):
        """Average the gradient, or a list of them, then update."""
        self._over_processes.sum(list(grad) if isinstance(grad, (list, tuple)) else [grad])
        self._optimizer.update(index, weight, grad, state)

    def update_multi_precision(self, index, weight, grad, state):
        """Average the gradient, or a list of them, then update."""
        self._over_processes.sum(list(grad) if isinstance(grad, (list, tuple)) else [grad])
        self._optimizer.update_multi_precision(index, weight, grad, state)

    def set_learning_rate(self, lr):
        """Set the learning rate of the optimizer inside."""
        self._optimizer.set_learning_rate(lr)

    def set_lr_mult(self, args_lr_mult):
        """Set the factors of the optimizer inside."""
        self._optimizer.set_lr_mult(args_lr_mult)

    def set_wd_mult(self, args_wd_mult):
        """Set the factors of the optimizer inside."""
        self._optimizer.set_wd_mult(args_wd_mult)


def broadcast_parameters(params, root_rank=0, prefix=None):
    """Give all processes the parameters of one.

    A parameter whose shape is not known yet is broadcast when it gets its values, in the first forward pass.

    Parameters
    ----------
    params : dict of NDArray, or ParameterDict
        What `Module.get_params` or `Block.collect_params` returns.
    root_rank : int
        Whose values all get.
    prefix : str, optional
        Accepted; calls are matched by their order.
    """
    if not isinstance(params, (dict, ParameterDict)):
        raise ValueError(f"invalid params of type: {type(params)}")
    if basics.size() == 1:
        return
    arrays = []
    for name, value in sorted(params.items()):
        try:
            arrays.append(value.data() if isinstance(value, Parameter) else value)
        except DeferredInitializationError:
            _broadcast_when_made(value, root_rank, name)
    if arrays:
        broadcast_arrays_(arrays, root_rank, f"{len(arrays)} parameters")


def _broadcast_when_made(param, root_rank, name):
    made = param._init_impl

    def init_and_broadcast(self, *args, **kwargs):
        made(*args, **kwargs)
        broadcast_(self.data(), root_rank, f"parameter {name}")

    param._init_impl = types.MethodType(init_and_broadcast, param)
