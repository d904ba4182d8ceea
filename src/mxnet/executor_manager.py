"""Executors of one symbol on several devices, as `FeedForward` trains them."""

import logging
from collections import Counter
from itertools import accumulate

from . import ndarray as nd
from .base import mx_real_t
from .context import cpu
from .io import DataDesc


def _split_input_slice(batch_size, work_load_list):
    """Each device's slice of the batch, in proportion to its work load."""
    total = sum(work_load_list)
    sizes = [round(load * batch_size / total) for load in work_load_list]
    sizes[-1] += max(batch_size - sum(sizes), 0)
    ends = [int(min(end, batch_size)) for end in accumulate(sizes)]
    slices = [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
    if any(part.start >= part.stop for part in slices):
        raise ValueError(f"Too many slices. Some splits are empty: a batch of {batch_size} for {len(sizes)} devices")
    return slices


def _check_arguments(symbol):
    """Every argument and every auxiliary state must have a name of its own."""
    kinds = {"argument": symbol.list_arguments(), "auxiliary param": symbol.list_auxiliary_states()}
    for kind, names in kinds.items():
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise ValueError(
                f'Find duplicated {kind} name "{repeated[0]}": give each layer another name=; the names are {names}'
            )


def _loader(attribute):
    """A function that copies the arrays `batch.attribute` into targets: arrays, or the slices of several devices."""

    def load(batch, targets):
        for source, target in zip(getattr(batch, attribute), targets, strict=False):
            if isinstance(target, nd.NDArray):
                source.copyto(target)
            else:
                _scatter(source, target)

    return load


def _scatter(source, parts):
    expected = parts[-1][0].stop
    assert expected == source.shape[0], f"Batch size miss match. Expected {expected}, got {source.shape[0]}"
    for part, array in parts:
        source[part].copyto(array)


_load_data, _load_label = _loader("data"), _loader("label")


def average_into(params, names, arrays):
    """Copy the mean over devices of each array into `params`."""
    for name, block in zip(names, arrays, strict=True):
        mean = sum(a.copyto(cpu()) for a in block) / len(block)
        mean.astype(params[name].dtype).copyto(params[name])


class DataParallelExecutorGroup:
    """One executor on each device, each for a part of the batch.

    Parameters
    ----------
    sym : Symbol
        Network to compute.
    arg_names, param_names : list of str
        Names of the arguments, and of the parameters among them.
    ctx : list of Context
        Devices.
    slices : list of slice
        Part of the batch for each device.
    train_data : DataIter or DataBatch
        Tells names and shapes of the inputs.
    shared_group : DataParallelExecutorGroup, optional
        Group whose parameters are used, that of another bucket.
    """

    def __init__(self, sym, arg_names, param_names, ctx, slices, train_data, shared_group=None):
        _check_arguments(sym)
        self.shared_data_arrays = [{} for _ in ctx] if shared_group is None else shared_group.shared_data_arrays
        self.data_names = [x[0] for x in train_data.provide_data]
        self.label_names = [x[0] for x in train_data.provide_label]
        self.aux_names = sym.list_auxiliary_states()
        self.param_idx = [i for i, name in enumerate(arg_names) if name in param_names]
        self.param_names = [arg_names[i] for i in self.param_idx]
        self.slices = slices
        inputs = [x if isinstance(x, DataDesc) else DataDesc(x[0], x[1], mx_real_t) for x in
                  [*train_data.provide_data, *train_data.provide_label]]  # fmt: skip
        self.train_execs = [
            self._bind(sym, context, part, inputs, i, shared_group)
            for i, (context, part) in enumerate(zip(ctx, slices, strict=True))
        ]
        self._collect()

    def _bind(self, sym, ctx, part, inputs, index, shared_group):
        size = part.stop - part.start
        names = {x.name for x in inputs}
        return sym.simple_bind(
            ctx=ctx,
            grad_req={n: "null" if n in names else "write" for n in sym.list_arguments()},
            type_dict={x.name: x.dtype for x in inputs},
            shared_arg_names=self.param_names,
            shared_exec=None if shared_group is None else shared_group.train_execs[index],
            shared_buffer=self.shared_data_arrays[index],
            **{x.name: (size, *x.shape[1:]) for x in inputs},
        )

    def _collect(self):
        execs = self.train_execs

        def inputs(names):
            return [[(s, e.arg_dict[n]) for s, e in zip(self.slices, execs, strict=True)] for n in names]

        self.data_arrays, self.label_arrays = inputs(self.data_names), inputs(self.label_names)
        self.param_arrays = [[e.arg_arrays[i] for e in execs] for i in self.param_idx]
        self.grad_arrays = [[e.grad_arrays[i] for e in execs] for i in self.param_idx]
        self.aux_arrays = [[e.aux_arrays[i] for e in execs] for i in range(len(self.aux_names))]

    def _each(self, method, *args, **kwargs):
        for executor in self.train_execs:
            getattr(executor, method)(*args, **kwargs)

    def forward(self, is_train=False):
        """Run every executor forward."""
        self._each("forward", is_train=is_train)

    def backward(self):
        """Run every executor backward."""
        self._each("backward")

    def load_data_batch(self, data_batch):
        """Copy a batch into the inputs of the executors."""
        for load, arrays in ((_load_data, self.data_arrays), (_load_label, self.label_arrays)):
            load(data_batch, arrays)

    def update_metric(self, metric, labels, pre_sliced=False):
        """Count the outputs of every device."""
        for i, (executor, part) in enumerate(zip(self.train_execs, self.slices, strict=True)):
            metric.update(labels[i] if pre_sliced else [label[part] for label in labels], executor.outputs)


def _of_group(name, doc):
    """A property that reads an attribute of the first executor group."""
    return property(lambda self: getattr(self.execgrp, name), doc=doc)


class DataParallelExecutorManager:
    """The executor groups of a training run: one, or one for each bucket.

    Parameters
    ----------
    symbol : Symbol
        Network to train.
    ctx : list of Context
        Devices; each gets a part of every batch.
    train_data : DataIter
        Tells names and shapes of the inputs and the batch size.
    arg_names, param_names, aux_names : list of str
        Names of the arguments, of the parameters among them, and of the auxiliary states.
    work_load_list : list of float, optional
        Share of the batch for each device; equal by default.
    logger : logging.Logger, optional
        Where the beginning of training is logged.
    sym_gen : callable, optional
        Makes the symbol of a bucket from its key.
    """

    def __init__(
        self,
        symbol,
        ctx,
        train_data,
        arg_names,
        param_names,
        aux_names,
        work_load_list=None,
        logger=None,
        sym_gen=None,
    ):
        (logger or logging).info("Start training with %s", str(ctx))
        loads = [1] * len(ctx) if work_load_list is None else work_load_list
        assert isinstance(loads, list) and len(loads) == len(ctx), (
            f"work_load_list must be a list with a number for each of {len(ctx)} devices, got {loads}"
        )
        self.symbol, self.sym_gen, self.ctx = symbol, sym_gen, ctx
        self.arg_names, self.param_names, self.aux_names = arg_names, param_names, aux_names
        self.slices = _split_input_slice(train_data.batch_size, loads)
        self.curr_execgrp, self.execgrp = None, self._group(symbol, train_data)
        if sym_gen is not None:
            self.execgrp_bucket = {train_data.default_bucket_key: self.execgrp}

    def _group(self, symbol, data, shared=None):
        names = (self.arg_names, self.param_names)
        return DataParallelExecutorGroup(symbol, *names, self.ctx, self.slices, data, shared_group=shared)

    param_arrays = _of_group("param_arrays", "The parameters, a list of one array for each device.")
    grad_arrays = _of_group("grad_arrays", "The gradients of the parameters, likewise.")
    aux_arrays = _of_group("aux_arrays", "The auxiliary states, likewise.")

    def set_params(self, arg_params, aux_params):
        """Copy parameters to every device."""
        self.execgrp._each("copy_params_from", arg_params, aux_params)

    def copy_to(self, arg_params, aux_params):
        """Copy parameters back, averaged over devices."""
        average_into(arg_params, self.param_names, self.param_arrays)
        average_into(aux_params, self.aux_names, self.aux_arrays)

    def install_monitor(self, monitor):
        """Let `monitor` watch every executor."""
        if self.sym_gen is not None:
            raise NotImplementedError("Monitoring is not implemented for bucketing")
        for executor in self.execgrp.train_execs:
            monitor.install(executor)

    def load_data_batch(self, data_batch):
        """Copy a batch to the devices; with buckets, the executors of its bucket become the current ones."""
        self.curr_execgrp = self.execgrp if self.sym_gen is None else self._bucket(data_batch)
        self.curr_execgrp.load_data_batch(data_batch)

    def _bucket(self, batch):
        key, groups = batch.bucket_key, self.execgrp_bucket
        if key not in groups:
            groups[key] = self._group(self.sym_gen(key), batch, self.execgrp)
        return groups[key]

    def update_metric(self, metric, labels, pre_sliced=False):
        """Count the current outputs."""
        self.curr_execgrp.update_metric(metric, labels, pre_sliced)

    def forward(self, is_train=False):
        """Run the current executors forward."""
        self.curr_execgrp.forward(is_train=is_train)

    def backward(self):
        """Run the current executors backward."""
        self.curr_execgrp.backward()
