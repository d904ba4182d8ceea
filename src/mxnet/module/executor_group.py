"""Executors of one symbol on several devices, each with its slice of the batch."""

import logging
from itertools import chain

from .. import context as ctx
from .. import ndarray as nd
from .._core.dtypes import NAMES
from .._core.errors import NameUnknown
from .._training.given import as_descriptions
from ..executor_manager import _split_input_slice, average_into
from ..io import DataDesc


def _load_general(data, targets, major_axis):
    """Copy arrays into the executors' inputs: whole, device by device, or cut along the batch axis."""
    for source, target, axis in zip(data, targets, major_axis, strict=False):
        if isinstance(target, nd.NDArray):
            source.copyto(target)
        elif isinstance(source, (list, tuple)):
            for part, array in zip(source, target, strict=False):
                part.copyto(array)
        else:
            for part, array in target:
                _cut(source, part, axis).copyto(array)


def _cut(array, part, axis):
    """The part of `array` along `axis`; all of it when there is no batch axis."""
    if axis < 0 or (part.start == 0 and part.stop == array.shape[axis]):
        return array
    return array[part] if axis == 0 else nd.slice_axis(array, axis=axis, begin=part.start, end=part.stop)


def _load_batch(batch, kind, targets, major_axis):
    """Load `batch.data` or `batch.label`; a list of batches has one for each device."""
    if isinstance(batch, list):
        data = [[getattr(b, kind)[i] for b in batch] for i in range(len(targets))]
        targets = [[array for _, array in target] for target in targets]
    else:
        data = getattr(batch, kind)
    _load_general(data, targets, major_axis)


def _merge_multi_context(outputs, major_axis):
    """Each output joined over devices along its batch axis."""
    merged = []
    for tensors, axis in zip(outputs, major_axis, strict=False):
        if axis < 0 or len(tensors) == 1:
            merged.append(tensors[0])
        else:
            merged.append(nd.concat(*[t.as_in_context(tensors[0].context) for t in tensors], dim=axis))
    return merged


def _prepare_group2ctxs(group2ctxs, ctx_len):
    """The context of each group, for each device."""
    if group2ctxs is None:
        return [None] * ctx_len
    if isinstance(group2ctxs, list):
        assert len(group2ctxs) == ctx_len, f"length of group2ctxs should be {ctx_len}"
        return group2ctxs
    assert isinstance(group2ctxs, dict), (
        f"group2ctxs must be a dict of contexts, or a list of such dicts, got {type(group2ctxs)}"
    )
    spread = {}
    for group, contexts in group2ctxs.items():
        contexts = [contexts] if isinstance(contexts, ctx.Context) else contexts
        spread[group] = contexts * ctx_len if len(contexts) == 1 else contexts
        assert len(spread[group]) == ctx_len, f"length of group2ctxs[{group}] should be {ctx_len} or 1"
    return [{group: contexts[i] for group, contexts in spread.items()} for i in range(ctx_len)]


class DataParallelExecutorGroup:
    """One executor for each context; batches are split between them by `workload`."""

    def __init__(
        self,
        symbol,
        contexts,
        workload,
        data_shapes,
        label_shapes,
        param_names,
        for_training,
        inputs_need_grad,
        shared_group=None,
        logger=logging,
        fixed_param_names=None,
        grad_req="write",
        state_names=None,
        group2ctxs=None,
    ):
        self.symbol, self.param_names = symbol, param_names
        self.arg_names, self.aux_names = symbol.list_arguments(), symbol.list_auxiliary_states()
        self.contexts, self.workload = contexts, workload
        self.group2ctxs = _prepare_group2ctxs(group2ctxs, len(contexts))
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self.logger, self._total_exec_bytes = logger, 0
        self.fixed_param_names = fixed_param_names or []
        self.state_names = state_names or []
        data_shapes = as_descriptions(data_shapes)
        label_shapes = None if label_shapes is None else as_descriptions(label_shapes)
        self.grad_req = self._requests(grad_req if for_training else "null", {x.name for x in data_shapes})
        self.shared_data_arrays = [{} for _ in contexts] if shared_group is None else shared_group.shared_data_arrays
        self.batch_size = None
        self.slices = None
        self.execs = []
        self._default_execs = None
        self.data_arrays = self.label_arrays = self.param_arrays = self.state_arrays = None
        self.grad_arrays = self.aux_arrays = self.input_grad_arrays = None
        self.data_shapes = self.label_shapes = self.data_names = self.label_names = None
        self.data_layouts = self.label_layouts = None
        self.output_names = symbol.list_outputs()
        self.num_outputs = len(self.output_names)
        self.output_layouts = [DataDesc.get_batch_axis(symbol[i].attr("__layout__")) for i in range(self.num_outputs)]
        self.bind_exec(data_shapes, label_shapes, shared_group)

    def _requests(self, grad_req, data_names):
        """What each argument's gradient is wanted for."""
        if isinstance(grad_req, (list, tuple)):
            assert len(grad_req) == len(self.arg_names), f"{len(grad_req)} grad_req for the arguments {self.arg_names}"
            return dict(zip(self.arg_names, grad_req, strict=True))
        if not isinstance(grad_req, (str, dict)):
            raise ValueError(f"grad_req must be one of str, list, tuple, or dict, got {type(grad_req)}")
        common = grad_req if isinstance(grad_req, str) else "write"
        wanted = {n for n in self.param_names if n not in self.fixed_param_names}
        if self.inputs_need_grad:
            wanted |= data_names - set(self.param_names)
        requests = {n: common if n in wanted else "null" for n in self.arg_names}
        if isinstance(grad_req, dict):
            requests.update(grad_req)
        return requests

    # ------------------------------------------------------------------ binding
    def decide_slices(self, data_shapes):
        """Split the batch between devices; returns each input's batch axis."""
        assert len(data_shapes) > 0
        axes = [DataDesc.get_batch_axis(x.layout) for x in data_shapes]
        for (name, shape), axis in zip(data_shapes, axes, strict=True):
            if axis == -1:
                continue
            if self.batch_size is None:
                self.batch_size = shape[axis]
                self.slices = _split_input_slice(self.batch_size, self.workload)
            assert shape[axis] == self.batch_size, (
                f"all data must have the same batch size: batch_size = {self.batch_size}, but {name} has shape {shape}"
            )
        return axes

    def _inputs(self, shapes):
        slices = self.slices or [slice(i, i + 1) for i in range(len(self.execs))]
        self._check_names([name for name, _ in shapes])
        return [[(s, e.arg_dict[name]) for s, e in zip(slices, self.execs, strict=True)] for name, _ in shapes]

    def _check_names(self, names):
        unknown = [name for name in names if name not in self.arg_names]
        if unknown:
            free = [name for name in self.arg_names if not name.endswith(("_weight", "_bias", "_gamma", "_beta"))]
            raise NameUnknown(
                f"{unknown[0]!r} is no input of the network, whose inputs are {', '.join(free)}. The names of data and "
                "labels must be the same in the symbol, in data_names= and label_names= of the Module, and in "
                "data_name= and label_name= of the iterator"
            )

    def _collect_arrays(self):
        execs, names = self.execs, self.arg_names
        self.data_arrays = self._inputs(self.data_shapes)
        self.state_arrays = [[e.arg_dict[name] for e in execs] for name in self.state_names]
        self.label_arrays = None if self.label_shapes is None else self._inputs(self.label_shapes)
        params = [i for i, name in enumerate(names) if name in self.param_names]
        self.param_arrays = [[e.arg_arrays[i] for e in execs] for i in params]
        self.grad_arrays = [[e.grad_arrays[i] for e in execs] for i in params] if self.for_training else None
        self.input_grad_arrays = None
        if self.inputs_need_grad:
            inputs = [names.index(name) for name, _ in self.data_shapes if name in names]
            self.input_grad_arrays = [[e.grad_arrays[i] for e in execs] for i in inputs]
        self.aux_arrays = [[e.aux_arrays[i] for e in execs] for i in range(len(self.aux_names))]

    def bind_exec(self, data_shapes, label_shapes, shared_group=None, reshape=False):
        """Make the executors for these shapes, or reshape the first ones to them."""
        assert reshape or not self.execs, "the executors are bound already; reshape=True binds them for other shapes"
        self.batch_size, execs = None, []  # the first input says how large a batch is
        self.data_layouts = self.decide_slices(data_shapes)
        if label_shapes is not None:
            self.label_layouts = self.decide_slices(label_shapes)
        for i in range(len(self.contexts)):
            data = self._sliced_shape(data_shapes, i, self.data_layouts)
            label = [] if label_shapes is None else self._sliced_shape(label_shapes, i, self.label_layouts)
            if reshape:
                execs.append(self._default_execs[i].reshape(allow_up_sizing=True, **dict(data + label)))
            else:
                execs.append(self._bind_ith_exec(i, data, label, shared_group))
        self.execs = execs
        self.data_shapes = data_shapes
        self.label_shapes = label_shapes
        self.data_names = [x.name for x in data_shapes]
        if label_shapes is not None:
            self.label_names = [x.name for x in label_shapes]
        self._collect_arrays()

    def reshape(self, data_shapes, label_shapes):
        """Take inputs of other shapes from now on."""
        if data_shapes == self.data_shapes and label_shapes == self.label_shapes:
            return
        if self._default_execs is None:
            self._default_execs = list(self.execs)
        self.bind_exec(data_shapes, label_shapes, reshape=True)

    def _bind_ith_exec(self, i, data_shapes, label_shapes, shared_group):
        types = {x.name: x.dtype for x in data_shapes}
        attributes = self.symbol.attr_dict()
        for name in types:
            declared = attributes.get(name, {}).get("__dtype__", "-1")
            if declared != "-1":
                types[name] = NAMES[int(declared)] if declared.isdigit() else declared
        types.update({x.name: x.dtype for x in label_shapes})
        return self.symbol.simple_bind(
            ctx=self.contexts[i],
            grad_req=self.grad_req,
            type_dict=types,
            shared_arg_names=self.param_names,
            shared_exec=None if shared_group is None else shared_group.execs[i],
            group2ctx=self.group2ctxs[i],
            shared_buffer=self.shared_data_arrays[i],
            **dict(data_shapes),
            **dict(label_shapes),
        )

    def _sliced_shape(self, shapes, i, major_axis):
        sliced = []
        for desc, axis in zip(shapes, major_axis, strict=True):
            shape = list(desc.shape)
            if axis >= 0:
                shape[axis] = self.slices[i].stop - self.slices[i].start
            sliced.append(DataDesc(desc.name, tuple(shape), desc.dtype, desc.layout))
        return sliced

    # ------------------------------------------------------------------ parameters
    def set_params(self, arg_params, aux_params, allow_extra=False):
        """Copy parameters to every device."""
        for executor in self.execs:
            executor.copy_params_from(arg_params, aux_params, allow_extra_params=allow_extra)

    def get_params(self, arg_params, aux_params):
        """Copy parameters back, averaged over devices, into the given dicts' arrays."""
        average_into(arg_params, self.param_names, self.param_arrays)
        average_into(aux_params, self.aux_names, self.aux_arrays)

    # ------------------------------------------------------------------ computing
    def forward(self, data_batch, is_train=None):
        """Load a batch and run every executor."""
        _load_batch(data_batch, "data", self.data_arrays, self.data_layouts)
        first = data_batch[0] if isinstance(data_batch, list) else data_batch
        if self.label_arrays is not None and first.label:
            _load_batch(data_batch, "label", self.label_arrays, self.label_layouts)
        is_train = self.for_training if is_train is None else is_train
        for executor in self.execs:
            executor.forward(is_train=is_train)

    def get_output_shapes(self):
        """[(name, shape)] of the outputs for the whole batch."""
        found = []
        for name, output, axis in zip(self.output_names, self.execs[0].outputs, self.output_layouts, strict=True):
            shape = list(output.shape)
            if axis >= 0:
                shape[axis] = self.batch_size
            found.append((name, tuple(shape)))
        return found

    def get_outputs(self, merge_multi_context=True, begin=0, end=None):
        """The outputs: joined, or a list over devices for each."""
        end = self.num_outputs if end is None else end
        outputs = [[executor.outputs[i] for executor in self.execs] for i in range(begin, end)]
        return _merge_multi_context(outputs, self.output_layouts) if merge_multi_context else outputs

    def get_states(self, merge_multi_context=True):
        """The state arrays, a list over devices for each."""
        assert not merge_multi_context, "states are given device by device: merge_multi_context must be False"
        return self.state_arrays

    def set_states(self, states=None, value=None):
        """Copy `states` in, or fill all states with `value`."""
        assert (states is None) != (value is None), "set_states takes either states or a value for all of them"
        if states is not None:
            _load_general(states, self.state_arrays, [0] * len(states))
        else:
            for array in chain.from_iterable(self.state_arrays):
                array[:] = value

    def get_input_grads(self, merge_multi_context=True):
        """Gradients of the inputs: joined, or a list over devices for each."""
        assert self.inputs_need_grad, "bind with inputs_need_grad=True to get the gradients of inputs"
        grads = self.input_grad_arrays
        return _merge_multi_context(grads, self.data_layouts) if merge_multi_context else grads

    def backward(self, out_grads=None):
        """Run every executor backward, with its slice of `out_grads`."""
        assert self.for_training, "re-bind with for_training=True to run backward"
        for i, (executor, part) in enumerate(zip(self.execs, self.slices, strict=True)):
            heads = []
            for grad, axis in zip(out_grads or (), self.output_layouts, strict=False):
                heads.append(_cut(grad, part, axis).as_in_context(self.contexts[i]))
            executor.backward(out_grads=heads)

    def update_metric(self, eval_metric, labels, pre_sliced):
        """Count each device's outputs into the metric."""
        for i, (executor, part) in enumerate(zip(self.execs, self.slices, strict=True)):
            if pre_sliced:
                mine = labels[i]
            else:
                mine = [_cut(label, part, axis) for label, axis in zip(labels, self.label_layouts, strict=False)]
            eval_metric.update_dict(
                dict(zip(self.label_names, mine, strict=False)),
                dict(zip(self.output_names, executor.outputs, strict=True)),
            )

    def install_monitor(self, mon):
        """Let `mon` watch every executor."""
        for executor in self.execs:
            mon.install(executor)
