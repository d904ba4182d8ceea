"""Running an operator that is written in Python: its arrays, its storage types, its gradient."""

import contextlib
import itertools
import sys
import traceback

import numpy as np
import torch

from ..._core.dtypes import FLAGS, dtype_name
from ..._core.errors import MXNetError
from ..._core.modes import MODES
from ..._device.backward import as_the_caller
from ..._ops import custom
from ..._ops.registry.device import torch_device
from ..._ops.registry.torch_dtypes import torch_dtype
from ..._ops.sparse.parts import coo_of_rows
from .._sparse.invoke import attach_sparse_source, sparse_source, stored, zeros
from ..ndarray import wrap
from .invoke import graph_tensor, plain_tensor


def _timed(name):
    """Let the profiler, if it is there, know whose Python code runs."""
    recorder = sys.modules.get("mxnet._profiling.recorder")
    return contextlib.nullcontext() if recorder is None else recorder.custom_operator(name)


def _guarded(what, name, function, **args):
    """User code runs unrecorded; whatever it raises reaches the caller as an MXNetError with the traceback.

    Its arguments are given by name, as in MXNet: a program may list them in any order.
    """
    from ...autograd import pause

    try:
        with pause(train_mode=MODES.training), _timed(name):
            function(**args)
    except Exception as error:
        raise MXNetError(f"Error in CustomOp.{what}: {traceback.format_exc()}") from error


class _Custom(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run, arrays, *tensors):
        ctx.run = run
        results = run.forward(arrays)
        ctx.headless = run.headless()
        return _tensors(results)

    @staticmethod
    def backward(ctx, *heads):
        with as_the_caller():
            return None, None, *ctx.run.backward(heads, ctx.needs_input_grad[2:])


def _tensors(arrays):
    """Dense tensors of arrays, which remember the sparse ones."""
    return tuple(a._t if a.stype == "default" else attach_sparse_source(a._dense(), a) for a in arrays)


def _gradient_stype(tensor):
    """The storage in which a variable takes its gradient; of all else there is nothing to say."""
    return getattr(tensor, "grad_stype", None) or (
        "default" if tensor.is_leaf and tensor.requires_grad else "undefined"
    )


class _Run:
    """One call of a custom operator: its arrays, kept for the backward pass."""

    def __init__(self, attrs, train, ctx, kept, tensors):
        self.kept = {} if kept is None else kept
        if "prop" not in self.kept:
            self.kept["prop"] = custom.properties(attrs)
        self.prop, self.train, self.ctx, self.attrs = self.kept["prop"], train, ctx, attrs
        self.name = attrs["op_type"]
        self.arguments = len(self.prop.list_arguments())
        self.wanted = [_gradient_stype(t) for t in tensors[: self.arguments]]

    def forward(self, arrays):
        kinds = custom.storage(self.attrs, [a.stype for a in arrays])
        self.inputs, self.aux = arrays[: self.arguments], arrays[self.arguments :]
        shapes = [list(a.shape) for a in self.inputs]
        dtypes = [a.dtype for a in self.inputs]
        out_shapes = self.prop.infer_shape([list(s) for s in shapes])[1]
        out_types = self.prop.infer_type(list(dtypes))[1]
        self.operator = self._operator(shapes, dtypes)
        self.outputs = [self._empty(*made) for made in zip(kinds, out_shapes, out_types, strict=True)]
        _guarded(
            "forward",
            self.name,
            self.operator.forward,
            is_train=self.train,
            req=["write"] * len(self.outputs),
            in_data=self.inputs,
            out_data=self.outputs,
            aux=self.aux,
        )
        return self.outputs

    def _empty(self, kind, shape, dtype):
        """Zeros, where the user's code will put its results."""
        dtype = torch_dtype(dtype)
        if kind != "default":
            return zeros(kind, tuple(shape), self.ctx, dtype)
        return wrap(torch.zeros(tuple(shape), dtype=dtype, device=torch_device(self.ctx)), self.ctx)

    def _operator(self, shapes, dtypes):
        """The user's operator: a new one per call, or the one that an executor made for such inputs."""
        key = (tuple(map(tuple, shapes)), tuple(dtypes))
        if key not in self.kept:
            flags = [FLAGS[dtype_name(t)] for t in dtypes]  # MXNet's numbers, which its Python layer hands on
            self.kept[key] = self.prop.create_operator(self.ctx, shapes, flags)
        return self.kept[key]

    def _read(self):
        """Which of the gradients of outputs, the inputs and the outputs the backward pass reads, as truth values."""
        sizes = (len(self.outputs), self.arguments, len(self.outputs))
        numbers = iter(range(sum(sizes)))
        blobs = [list(itertools.islice(numbers, size)) for size in sizes]
        read = set(self.prop.declare_backward_dependency(*blobs))
        return [[number in read for number in numbers] for numbers in blobs]

    def headless(self):
        """Does the backward pass do without head gradients, as a loss does?"""
        return not any(self._read()[0])

    def _storage(self, out_grad):
        """The storage of the gradients that come and of those that go."""
        given = [[a.stype for a in arrays] for arrays in (out_grad, self.inputs, self.outputs)]
        read = [list(itertools.compress(*pair)) for pair in zip(given, self._read(), strict=True)]
        found = custom.storage_backward(self.attrs, (*read, self.wanted, [a.stype for a in self.aux]))
        return found[0] or given[0], found[3]

    def backward(self, heads, needed):
        out_grad = [_array(h, self.ctx) for h in heads]
        coming, going = self._storage(out_grad)
        out_grad = [_in_storage(a, kind) for a, kind in zip(out_grad, coming, strict=True)]
        grads = [self._empty(kind, a.shape, a.dtype) for kind, a in zip(going, self.inputs, strict=True)]
        outputs = [o.detach() for o in self.outputs]
        _guarded(
            "backward",
            f"_backward_{self.name}",
            self.operator.backward,
            req=["write" if need else "null" for need in needed[: len(grads)]],
            out_grad=out_grad,
            in_data=self.inputs,
            out_data=outputs,
            in_grad=grads,
            aux=self.aux,
        )
        return (*map(_delivered, grads, self.wanted), *[None] * len(self.aux))


def _array(tensor, ctx):
    """The array that a tensor of a graph stands for."""
    sparse = sparse_source(tensor)
    return wrap(tensor.detach().contiguous(), ctx) if sparse is None else sparse


def _in_storage(array, kind):
    return array if array.stype == kind else stored(wrap(plain_tensor(array), array._ctx), kind)


def _delivered(grad, wanted):
    """A gradient for torch's engine: by rows where the variable takes it so."""
    if not np.issubdtype(grad.dtype, np.floating):
        return None
    if grad.stype == wanted == "row_sparse":
        return coo_of_rows(grad._parts, grad.shape)
    return _tensors([grad])[0]


def run_in_graph(tensors, attrs, train, ctx, kept, stypes):
    """Run it in a graph, where sparse arrays are dense tensors."""
    run = _Run(attrs, train, ctx, kept, tensors)
    if stypes is None:
        arrays = [wrap(t.detach(), ctx) for t in tensors]
    else:
        arrays = [_in_storage(_array(t, ctx), kind) for t, kind in zip(tensors, stypes, strict=True)]
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        return _Custom.apply(run, arrays, *tensors)
    return _tensors(run.forward(arrays))


def call_on_arrays(arrays, attrs, ctx):
    """Call it on arrays of which some are sparse, or become so; its results are arrays."""
    tensors = [graph_tensor(a) for a in arrays] if MODES.recording else []
    run = _Run(attrs, MODES.training, ctx, None, tensors)
    given = [a.detach() for a in arrays[: run.arguments]] + list(arrays[run.arguments :])
    if not any(t.requires_grad for t in tensors):
        return run.forward(given)
    results = _Custom.apply(run, given, *tensors)
    return [
        wrap(t, ctx, MODES.epoch) if a.stype == "default" else type(a)._made(a._parts, a.shape, ctx, MODES.epoch, t)
        for a, t in zip(run.outputs, results, strict=True)
    ]
