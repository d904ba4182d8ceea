"""Executors of one symbol on several devices, as `FeedForward` trains them."""

import logging

from . import ndarray as nd
from .base import mx_real_t
from .context import cpu
from .io import DataDesc


def _split_input_slice(batch_size, work_load_list):
    """Each device's slice of the batch, in proportion to its work load."""
    total = sum(work_load_list)
    sizes = [round(load * batch_size / total) for load in work_load_list]
    sizes[-1] += max(batch_size - sum(sizes), 0)
    slices, end = [], 0
    for size in sizes:
        begin, end = min(end, batch_size), min(end + size, batch_size)
        if begin >= end:
            raise ValueError(
                f"Too many slices. Some splits are empty: a batch of {batch_size} for {len(sizes)} devices"
            )
        slices.append(slice(int(begin), int(end)))
    return slices


def _check_unique(names, kind, tail):
    seen = set()
    for name in names:
        if name in seen:
            raise ValueError(
                f'Find duplicated {kind} name "{name}", please make the weight name non-duplicated '
                f"(using name arguments), {tail}"
            )
        seen.add(name)


def _check_arguments(symbol):
    """Every argument and every auxiliary state must have a name of its own."""
    args, auxs = symbol.list_arguments(), symbol.list_auxiliary_states()
    _check_unique(args, "argument", f"arguments are {args}")
    _check_unique(auxs, "auxiliary param", f"arguments are {args}, auxiliary params are {auxs}")


def _load_general(data, targets):
    for source, target in zip(data, targets, strict=False):
        if isinstance(target, nd.NDArray):
            source.copyto(target)
            continue
        end = target[-1][0].stop
        assert end == source.shape[0], f"Batch size miss match. Expected {end}, got {source.shape[0]}"
        for part, array in target:
            source[part].copyto(array)


def _load_data(batch, targets):
    _load_general(batch.data, targets)


def _load_label(batch, targets):
    _load_general(batch.label, targets)


def average_into(params, names, arrays):
    """Copy the mean over devices of each array into `params`."""
    for name, block in zip(names, arrays, strict=True):
        mean = sum(a.copyto(cpu()) for a in block) / len(block)
        mean.astype(params[name].dtype).copyto(params[name])


class DataParallelExecutorGroup:
    """One executor on each device; they share the parameters' names and split the batch."""

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

    def load_data_batch(self, data_batch):
        """Copy a batch into the executors' inputs."""
        _load_data(data_batch, self.data_arrays)
        _load_label(data_batch, self.label_arrays)

    def forward(self, is_train=False):
        """Run every executor forward."""
        for executor in self.train_execs:
            executor.forward(is_train=is_train)

    def backward(self):
        """Run every executor backward."""
        for executor in self.train_execs:
            executor.backward()

    def update_metric(self, metric, labels, pre_sliced=False):
        """Count each device's outputs in."""
        for i, (executor, part) in enumerate(zip(self.train_execs, self.slices, strict=True)):
            metric.update(labels[i] if pre_sliced else [label[part] for label in labels], executor.outputs)


class DataParallelExecutorManager:
    """An executor group, or one for each bucket."""

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
        assert isinstance(loads, list) and len(loads) == len(ctx), "Invalid settings for work load. "
        self.slices = _split_input_slice(train_data.batch_size, loads)
        self.arg_names = arg_names
        self.param_names = param_names
        self.aux_names = aux_names
        self.ctx = ctx
        self.execgrp = DataParallelExecutorGroup(symbol, arg_names, param_names, ctx, self.slices, train_data)
        self.symbol = symbol
        self.sym_gen = sym_gen
        self.curr_execgrp = None
        if sym_gen is not None:
            self.execgrp_bucket = {train_data.default_bucket_key: self.execgrp}

    def install_monitor(self, monitor):
        """Let `monitor` watch every executor."""
        if self.sym_gen is not None:
            raise NotImplementedError("Monitoring is not implemented for bucketing")
        for executor in self.execgrp.train_execs:
            monitor.install(executor)

    def set_params(self, arg_params, aux_params):
        """Copy parameters to every device."""
        for executor in self.execgrp.train_execs:
            executor.copy_params_from(arg_params, aux_params)

    def copy_to(self, arg_params, aux_params):
        """Copy parameters back, averaged over devices."""
        average_into(arg_params, self.param_names, self.param_arrays)
        average_into(aux_params, self.aux_names, self.aux_arrays)

    @property
    def param_arrays(self):
        """The parameters, one array for each device."""
        return self.execgrp.param_arrays

    @property
    def grad_arrays(self):
        """Their gradients."""
        return self.execgrp.grad_arrays

    @property
    def aux_arrays(self):
        """The auxiliary states, one array for each device."""
        return self.execgrp.aux_arrays

    def load_data_batch(self, data_batch):
        """Copy a batch in, choosing its bucket's executors."""
        self.curr_execgrp = self.execgrp if self.sym_gen is None else self._bucket(data_batch)
        self.curr_execgrp.load_data_batch(data_batch)

    def _bucket(self, batch):
        if batch.bucket_key not in self.execgrp_bucket:
            self.execgrp_bucket[batch.bucket_key] = DataParallelExecutorGroup(
                self.sym_gen(batch.bucket_key),
                self.arg_names,
                self.param_names,
                self.ctx,
                self.slices,
                batch,
                shared_group=self.execgrp,
            )
        return self.execgrp_bucket[batch.bucket_key]

    def forward(self, is_train=False):
        """Run the current executors forward."""
        self.curr_execgrp.forward(is_train=is_train)

    def backward(self):
        """Run the current executors backward."""
        self.curr_execgrp.backward()

    def update_metric(self, metric, labels, pre_sliced=False):
        """Count the current outputs in."""
        self.curr_execgrp.update_metric(metric, labels, pre_sliced)
