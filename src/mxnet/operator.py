"""Operators written in Python: `CustomOp`, its properties, and the older `NumpyOp` and `NDArrayOp`."""

import collections
import contextlib
import ctypes
import itertools
import sys
import traceback

import numpy as np
import torch

from ._core.dtypes import FLAGS, dtype_name
from ._core.errors import MXNetError
from ._core.modes import MODES
from ._device.backward import as_the_caller
from ._ops import custom
from ._ops.registry import registry
from ._ops.registry.device import torch_device
from ._ops.registry.torch_dtypes import torch_dtype
from ._ops.sparse.parts import coo_of_rows
from .autograd import pause
from .base import (  # noqa: F401 - public names of this module
    MXCallbackList,
    NDArrayHandle,
    c_array,
    c_array_buf,
    c_str,
    check_call,
    ctypes2numpy_shared,
    py_str,
)
from .ndarray._dispatch.invoke import graph_tensor, plain_tensor
from .ndarray._sparse.invoke import attach_sparse_source, sparse_source, stored, zeros
from .ndarray.ndarray import NDArray, wrap
from .util import is_np_array  # noqa: F401

__all__ = [
    "CustomOp", "CustomOpProp", "NDArrayOp", "NumpyOp", "OperatorArguments", "PythonOp",
    "get_all_registered_operators", "get_operator_arguments", "register",
    "NDArray", "NDArrayHandle", "ctypes",  # MXNet's module gives these away, too
]  # fmt: skip


class CustomOp:
    """The computation of an operator written in Python: subclass it and write `forward` and `backward`.

    Examples
    --------
    >>> class Square(mx.operator.CustomOp):
    ...     def forward(self, is_train, req, in_data, out_data, aux):
    ...         self.assign(out_data[0], req[0], in_data[0] ** 2)
    ...
    ...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
    ...         self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])
    >>> @mx.operator.register("square_example")
    ... class SquareProp(mx.operator.CustomOpProp):
    ...     def create_operator(self, ctx, shapes, dtypes):
    ...         return Square()
    >>> mx.nd.Custom(mx.nd.array([2, 3]), op_type="square_example").asnumpy()
    array([4., 9.], dtype=float32)
    """

    def __init__(self):
        pass

    def forward(self, is_train, req, in_data, out_data, aux):
        """Compute the outputs; a subclass defines it.

        Parameters
        ----------
        is_train : bool
            Whether the network is in training mode.
        req : list of str
            For each output "write", "inplace", "add" or "null": what `assign` does with it.
        in_data : list of NDArray
            The inputs.
        out_data : list of NDArray
            Where the outputs go: `self.assign(out_data[0], req[0], result)`.
        aux : list of NDArray
            The auxiliary states.

        Examples
        --------
        >>> class Square(mx.operator.CustomOp):
        ...     def forward(self, is_train, req, in_data, out_data, aux):
        ...         self.assign(out_data[0], req[0], in_data[0] ** 2)
        >>> out = [mx.nd.zeros((2,))]
        >>> Square().forward(True, ["write"], [mx.nd.array([2, 3])], out, [])
        >>> out[0].asnumpy()
        array([4., 9.], dtype=float32)
        """

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        """Compute the gradients of the inputs; a subclass defines it.

        Parameters
        ----------
        req : list of str
            For each input "write", "inplace", "add" or "null": what `assign` does with its gradient.
        out_grad : list of NDArray
            The gradients of the outputs.
        in_data : list of NDArray
            The inputs of `forward`.
        out_data : list of NDArray
            The outputs of `forward`.
        in_grad : list of NDArray
            Where the gradients go: `self.assign(in_grad[0], req[0], gradient)`.
        aux : list of NDArray
            The auxiliary states.

        Examples
        --------
        >>> class Square(mx.operator.CustomOp):
        ...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        ...         self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])
        >>> grad = [mx.nd.zeros((2,))]
        >>> Square().backward(["write"], [mx.nd.ones((2,))], [mx.nd.array([2, 3])], [], grad, [])
        >>> grad[0].asnumpy()
        array([4., 6.], dtype=float32)
        """

    def assign(self, dst, req, src):
        """Put a result where it belongs, as the request says.

        Parameters
        ----------
        dst : NDArray
            The array of an output or of a gradient.
        req : str
            "write" or "inplace" overwrites, "add" adds, "null" does nothing.
        src : NDArray or number
            The result.

        Examples
        --------
        >>> total = mx.nd.ones((2,))
        >>> mx.operator.CustomOp().assign(total, "add", mx.nd.array([2, 3]))
        >>> total.asnumpy()
        array([3., 4.], dtype=float32)
        """
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            dst[:] += src


class CustomOpProp:
    """What is known of a custom operator before it runs: its arguments, shapes and data types, and how to make it.

    Parameters
    ----------
    need_top_grad : bool, default True
        Whether `backward` needs the gradient of the output; a loss does not.

    Examples
    --------
    >>> class Prop(mx.operator.CustomOpProp):
    ...     def list_arguments(self):
    ...         return ["data", "scale"]
    ...
    ...     def infer_shape(self, in_shape):
    ...         return [in_shape[0], (1,)], [in_shape[0]], []
    >>> Prop().infer_shape([(2, 3), None])
    ([(2, 3), (1,)], [(2, 3)], [])
    """

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad

    def infer_shape(self, in_shape):
        """Infer the shapes. By default all outputs have the shape of the first input, and there are no auxiliary
        states.

        Parameters
        ----------
        in_shape : list of tuple or list of int
            The shapes of the inputs, in the order of `list_arguments`; an unknown one is empty.

        Returns
        -------
        (list, list, list)
            The shapes of the inputs, of the outputs and of the auxiliary states.

        Examples
        --------
        >>> mx.operator.CustomOpProp().infer_shape([(2, 3)])
        ([(2, 3)], ((2, 3),), ())
        """
        return in_shape, (in_shape[0],) * len(self.list_outputs()), ()

    def infer_type(self, in_type):
        """Infer the data types. By default all are that of the first input.

        Parameters
        ----------
        in_type : list of numpy.dtype
            The types of the inputs.

        Returns
        -------
        (list, list, list)
            The types of the inputs, of the outputs and of the auxiliary states.

        Examples
        --------
        >>> mx.operator.CustomOpProp().infer_type(["float16"])
        (['float16'], ['float16'], [])
        """
        return (
            in_type,
            [in_type[0]] * len(self.list_outputs()),
            [in_type[0]] * len(self.list_auxiliary_states()),
        )

    def infer_storage_type(self, in_stype):
        """Infer the storage types of the forward pass. By default all are dense, and sparse inputs are an error.

        Parameters
        ----------
        in_stype : list of str
            The storage types of the inputs: "default", "csr" or "row_sparse".

        Returns
        -------
        (list, list, list)
            The storage types of the inputs, of the outputs and of the auxiliary states.

        Examples
        --------
        >>> mx.operator.CustomOpProp().infer_storage_type(["default"])
        (['default'], ['default'], [])
        """
        _check_dense("infer_storage_type", in_stype, "in_stype")
        return in_stype, ["default"] * len(self.list_outputs()), ["default"] * len(self.list_auxiliary_states())

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        """Infer the storage types of the backward pass. By default all are dense.

        Parameters
        ----------
        ograd_stype, in_stype, out_stype, igrad_stype, aux_stype : list of str
            The storage types of the gradients of the outputs, the inputs, the outputs, the gradients of the inputs, and
            the auxiliary states.

        Returns
        -------
        tuple of five lists of str
            The storage types in the same order.

        Examples
        --------
        >>> dense = ["default"]
        >>> mx.operator.CustomOpProp().infer_storage_type_backward(dense, dense, dense, dense, [])
        (['default'], ['default'], ['default'], ['default'], [])
        """
        _check_dense("infer_storage_type_backward", ograd_stype, "ograd_stype")
        _check_dense("infer_storage_type_backward", igrad_stype, "igrad_stype")
        return tuple(["default"] * len(s) for s in (ograd_stype, in_stype, out_stype, igrad_stype, aux_stype))

    def list_outputs(self):
        """The names of the outputs, a list of str; by default there is one.

        Examples
        --------
        >>> mx.operator.CustomOpProp().list_outputs()
        ['output']
        """
        return ["output"]

    def list_arguments(self):
        """The names of the inputs, a list of str; by default there is one.

        Examples
        --------
        >>> mx.operator.CustomOpProp().list_arguments()
        ['data']
        """
        return ["data"]

    def list_auxiliary_states(self):
        """The names of the auxiliary states, a list of str; by default there are none.

        Examples
        --------
        >>> mx.operator.CustomOpProp().list_auxiliary_states()
        []
        """
        return []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Choose what the backward pass reads; the rest can be freed after the forward pass.

        Parameters
        ----------
        out_grad, in_data, out_data : list of int
            Numbers that stand for the gradients of the outputs, the inputs and the outputs.

        Returns
        -------
        list of int
            The numbers of what is read; by default all of them, without `out_grad` if `need_top_grad` is False.

        Examples
        --------
        >>> mx.operator.CustomOpProp(need_top_grad=False).declare_backward_dependency([0], [1], [2])
        [1, 2]
        """
        head = list(out_grad) if self.need_top_grad_ else []
        return [*head, *in_data, *out_data]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        """Make the operator; a subclass defines it.

        Parameters
        ----------
        ctx : Context
            The device.
        in_shapes : list of list of int
            The shapes of the inputs.
        in_dtypes : list of int
            The types of the inputs, as MXNet's numbers.

        Returns
        -------
        CustomOp

        Examples
        --------
        >>> type(mx.operator.CustomOpProp().create_operator(mx.cpu(), [[2, 3]], [0])).__name__
        'CustomOp'
        """
        return CustomOp()


def _check_dense(method, stypes, name):
    for i, stype in enumerate(stypes):
        assert stype in ("default", "undefined"), (
            f"Default {method} implementation doesnt allow non default stypes: found non default stype '{stype}' for "
            f"{name}[{i}]. An operator on sparse arrays implements infer_storage_type and infer_storage_type_backward"
        )


def register(reg_name):
    """A decorator that registers a `CustomOpProp` class under a name, for `op_type` of `nd.Custom` and `sym.Custom`.

    Parameters
    ----------
    reg_name : str
        The name.

    Returns
    -------
    callable

    Examples
    --------
    >>> @mx.operator.register("nothing_example")
    ... class NothingProp(mx.operator.CustomOpProp):
    ...     pass
    >>> "Custom" in mx.operator.get_all_registered_operators()
    True
    """

    def decorate(prop_cls):
        custom.PROPERTIES[reg_name] = prop_cls
        return prop_cls

    return decorate


# ---------------------------------------------------------------------- running a custom operator
def _timed(name):
    """Let the profiler, if it is there, know whose Python code runs."""
    profiler = sys.modules.get("mxnet.profiler")
    return contextlib.nullcontext() if profiler is None else profiler.custom_operator(name)


def _guarded(what, name, function, *args):
    """User code runs unrecorded; whatever it raises reaches the caller as an MXNetError with the traceback."""
    try:
        with pause(train_mode=MODES.training), _timed(name):
            function(*args)
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
        requests = ["write"] * len(self.outputs)
        _guarded("forward", self.name, self.operator.forward, self.train, requests, self.inputs, self.outputs, self.aux)
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
        requests = ["write" if need else "null" for need in needed[: len(grads)]]
        _guarded(
            "backward",
            f"_backward_{self.name}",
            self.operator.backward,
            requests,
            out_grad,
            self.inputs,
            outputs,
            grads,
            self.aux,
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


def _run(tensors, attrs, train, ctx, kept, stypes):
    """Run it in a graph, where sparse arrays are dense tensors."""
    run = _Run(attrs, train, ctx, kept, tensors)
    if stypes is None:
        arrays = [wrap(t.detach(), ctx) for t in tensors]
    else:
        arrays = [_in_storage(_array(t, ctx), kind) for t, kind in zip(tensors, stypes, strict=True)]
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        return _Custom.apply(run, arrays, *tensors)
    return _tensors(run.forward(arrays))


def _call(arrays, attrs, ctx):
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


custom.RUNNER[:] = [_run]
custom.CALLER[:] = [_call]


# ---------------------------------------------------------------------- what is registered
OperatorArguments = collections.namedtuple("OperatorArguments", ["narg", "names", "types"])


def get_all_registered_operators():
    """The names of all operators.

    Examples
    --------
    >>> "Convolution" in mx.operator.get_all_registered_operators()
    True
    """
    return registry.names()


def get_operator_arguments(op_name):
    """The number, names and types of an operator's arguments.

    Parameters
    ----------
    op_name : str
        The name of the operator.

    Returns
    -------
    OperatorArguments

    Examples
    --------
    >>> mx.operator.get_operator_arguments("SwapAxis").names
    ['data', 'dim1', 'dim2']
    """
    operator = registry.find(op_name)
    first = [operator.variadic] if operator.variadic else list(operator.inputs)
    kind = "NDArray-or-Symbol[]" if operator.variadic else "NDArray-or-Symbol"
    names = first + list(operator.attrs)
    types = [kind] * len(first) + [a.describe().partition(" : ")[2] for a in operator.attrs.values()]
    return OperatorArguments(len(names), names, types)


# ---------------------------------------------------------------------- the older classes
_SERIAL = itertools.count()


class PythonOp:
    """The base of the two older ways to write an operator in Python; `get_symbol` makes a symbol of it.

    Parameters
    ----------
    need_top_grad : bool, default True
        Whether `backward` needs the gradient of the output; a loss does not.

    Examples
    --------
    >>> mx.operator.PythonOp().list_arguments()
    ['data']
    """

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad

    def __call__(self, *args, **kwargs):
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args, **kwargs):
        """Make a symbol that calls this operator.

        Parameters
        ----------
        *args : Symbol
            The inputs.
        **kwargs
            The inputs by name, and `name`.

        Returns
        -------
        Symbol

        Examples
        --------
        >>> mx.operator.NumpyOp().get_symbol(mx.sym.var("x"), name="copy").list_outputs()
        ['copy_output']
        """
        from . import symbol

        name = f"_python_op{next(_SERIAL)}"
        custom.PROPERTIES[name] = lambda: _OldProp(self)
        return symbol.Custom(*args, op_type=name, **kwargs)

    def forward(self, in_data, out_data):
        """Compute the outputs; by default a copy of the input.

        Parameters
        ----------
        in_data : list of arrays
            The inputs.
        out_data : list of arrays
            Where the outputs are written.

        Examples
        --------
        >>> out = [np.zeros(2)]
        >>> mx.operator.NumpyOp().forward([np.array([1, 2])], out)
        >>> out[0]
        array([1., 2.])
        """
        out_data[0][:] = in_data[0]

    def backward(self, out_grad, in_data, out_data, in_grad):
        """Compute the gradients of the inputs; by default ones.

        Parameters
        ----------
        out_grad, in_data, out_data : list of arrays
            The gradients of the outputs, the inputs and the outputs.
        in_grad : list of arrays
            Where the gradients are written.

        Examples
        --------
        >>> grad = [np.zeros(2)]
        >>> mx.operator.NumpyOp().backward([], [], [], grad)
        >>> grad[0]
        array([1., 1.])
        """
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape):
        """Infer the shapes; by default the output has the shape of the first input.

        Parameters
        ----------
        in_shape : list of list of int
            The shapes of the inputs.

        Returns
        -------
        (list, list)
            The shapes of the inputs and of the outputs.

        Examples
        --------
        >>> mx.operator.NumpyOp().infer_shape([[2, 3]])
        ([[2, 3]], [[2, 3]])
        """
        return in_shape, [in_shape[0]]

    def list_outputs(self):
        """The names of the outputs, a list of str; by default there is one.

        Examples
        --------
        >>> mx.operator.NumpyOp().list_outputs()
        ['output']
        """
        return ["output"]

    def list_arguments(self):
        """The names of the inputs, a list of str; by default there is one.

        Examples
        --------
        >>> mx.operator.NumpyOp().list_arguments()
        ['data']
        """
        return ["data"]

    def need_top_grad(self):
        """Whether `backward` needs the gradient of the output; a loss does not.

        Examples
        --------
        >>> mx.operator.NumpyOp(need_top_grad=False).need_top_grad()
        False
        """
        return self.need_top_grad_

    def _wrap(self, arrays):
        return arrays


class _OldProp(CustomOpProp):
    def __init__(self, op):
        super().__init__(op.need_top_grad())
        self.op = op

    def infer_shape(self, in_shape):
        inputs, outputs = self.op.infer_shape(in_shape)
        return inputs, outputs, []

    def list_outputs(self):
        return self.op.list_outputs()

    def list_arguments(self):
        return self.op.list_arguments()

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return _OldOp(self.op)


class _OldOp(CustomOp):
    def __init__(self, op):
        super().__init__()
        self.op = op

    def forward(self, is_train, req, in_data, out_data, aux):
        self._deliver(out_data, lambda outs: self.op.forward(in_data=self.op._wrap(in_data), out_data=outs))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        wrap_all = self.op._wrap
        self._deliver(
            in_grad,
            lambda grads: self.op.backward(
                out_grad=wrap_all(out_grad), in_data=wrap_all(in_data), out_data=wrap_all(out_data), in_grad=grads
            ),
        )

    def _deliver(self, targets, compute):
        buffers = self.op._wrap(targets)
        compute(buffers)
        for target, buffer in zip(targets, buffers, strict=True):
            if buffer is not target:
                target[:] = buffer


class NumpyOp(PythonOp):
    """The oldest way to write an operator: forward and backward on NumPy arrays. New code uses `CustomOp`.

    Parameters
    ----------
    need_top_grad : bool, default True
        Whether `backward` needs the gradient of the output; a loss does not.

    Examples
    --------
    >>> class Double(mx.operator.NumpyOp):
    ...     def forward(self, in_data, out_data):
    ...         out_data[0][:] = in_data[0] * 2
    >>> Double().get_symbol(mx.sym.var("x")).eval(x=mx.nd.array([1, 2]))[0].asnumpy()
    array([2., 4.], dtype=float32)
    """

    def _wrap(self, arrays):
        return [a.asnumpy() for a in arrays]


class NDArrayOp(PythonOp):
    """The second oldest way to write an operator: forward and backward on NDArrays. New code uses `CustomOp`.

    Parameters
    ----------
    need_top_grad : bool, default True
        Whether `backward` needs the gradient of the output; a loss does not.

    Examples
    --------
    >>> class Double(mx.operator.NDArrayOp):
    ...     def forward(self, in_data, out_data):
    ...         out_data[0][:] = in_data[0] * 2
    >>> Double().get_symbol(mx.sym.var("x")).eval(x=mx.nd.array([1, 2]))[0].asnumpy()
    array([2., 4.], dtype=float32)
    """

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Choose what the backward pass reads.

        Parameters
        ----------
        out_grad, in_data, out_data : list of int
            Numbers that stand for the gradients of the outputs, the inputs and the outputs.

        Returns
        -------
        list of int
            The numbers of what is read.

        Examples
        --------
        >>> mx.operator.NDArrayOp(need_top_grad=False).declare_backward_dependency([0], [1], [2])
        [1, 2]
        """
        head = list(out_grad) if self.need_top_grad() else []
        return [*head, *in_data, *out_data]
