"""`Executor`: a symbol bound to arrays, run forwards and backwards."""

import math

import numpy as np
import torch

from ._core.dtypes import dtype_name
from ._core.environment import is_on
from ._core.errors import FaultyOutputs, ValueFault
from ._core.machine.heap import keep_freed
from ._core.modes import MODES
from ._core.writes import wrote, wrote_anywhere
from ._device.backward import BackwardPass
from ._executor.bound import ARGUMENT_CHANGED, STATE_CHANGED, Bound, new_shape, resized
from ._executor.gradients import GradientArrays
from ._executor.outputs import fill
from ._executor.seeds import head_gradients, roots_and_seeds
from ._graph.debug.memory import peak_memory
from ._graph.debug.monitored_run import MonitoredRun
from ._graph.infer.fixpoint import type_facts
from ._graph.infer.storage import head_stypes, sparse_plan, stypes_of_storage_aware_nodes
from ._graph.infer.zero_size import user_shape_facts
from ._graph.ir.cse import eliminate_common_subexpressions
from ._graph.ir.node import walk
from ._graph.lower.program import Program, placement
from ._graph.training.gradient_flow import check_differentiable, visited
from ._ops.registry import integer_gradient
from ._ops.registry.device import torch_device
from ._ops.registry.output_shapes import known
from ._ops.registry.torch_dtypes import torch_dtype
from .base import c_array_buf, c_handle_array, c_str_array, check_call, py_str  # noqa: F401 - MXNet's module shows them
from .context import Context
from .ndarray._dispatch.invoke import SparseStorage, plain_tensor
from .ndarray._sparse.graph_heads import compute_heads, heads_on_parts
from .ndarray._sparse.invoke import stored
from .ndarray.cached_op import unshared
from .ndarray.ndarray import NDArray, wrap

__all__ = ["Executor"]

_backward = torch.autograd.Variable._execution_engine.run_backward


class Executor:
    """Runs a bound symbol. It is made by `Symbol.bind` and `Symbol.simple_bind`, not by its constructor.

    Parameters
    ----------
    handle : object
        The compiled graph.
    symbol : Symbol
        The network.
    ctx : Context
        The device.
    grad_req : str, list or dict
        What `backward` does with the gradient of an argument.
    group2ctx : dict of str to Context
        The devices of nodes with a `ctx_group`.

    Examples
    --------
    >>> x = mx.sym.var("x")
    >>> executor = (x * x).simple_bind(mx.cpu(), x=(2,))
    >>> executor.forward(is_train=True, x=mx.nd.array([2, 3]))[0].asnumpy()
    array([4., 9.], dtype=float32)
    >>> executor.backward(mx.nd.ones((2,)))
    >>> executor.grad_dict["x"].asnumpy()
    array([4., 6.], dtype=float32)
    """

    def __init__(self, handle, symbol, ctx, grad_req, group2ctx):
        keep_freed()
        self.handle = handle
        self._symbol = symbol
        self._ctx = Context(ctx)
        self._grad_req = grad_req
        self._group2ctx = dict(group2ctx) if group2ctx else None
        self.arg_arrays, self.aux_arrays = handle.args, handle.states
        self.grad_arrays = handle.grads
        self._monitor_callback = self._monitor_all = None
        self._outputs = None  # arrays made when somebody asks for them, filled by every forward
        self._fault = None  # what the last forward met in the values
        self._filled = False  # has a forward run?
        self._tape = None  # (outputs, leaves, monitored run) of a forward pass that was recorded
        self._ran = False  # the mode of the last forward pass
        self._gradients = GradientArrays(handle)
        self._leaves = {}  # position -> (tensor of the argument, the leaf made from it)
        self._dicts = {}
        self._program = self._prepare()
        # Dropout with mode="always" draws anew in each run: `backward` cannot repeat it, so inference is recorded too.
        self._random_in_inference = any(n.op and n.parsed.get("mode") == "always" for n in walk(symbol._entries))

    def _prepare(self):
        """Make the program, and map the bound arrays to its inputs."""
        program = self._make_program()
        order = self._place_arrays(program)
        reqs, grads = self.handle.reqs, self.handle.grads
        self._wanted = [
            (position, arg) for arg, position in enumerate(order) if grads[arg] is not None and reqs[arg] != "null"
        ]
        variables = [program.variables[position] for position, _ in self._wanted]
        self._infer_storage(program, {node.name for node in variables})
        check_differentiable(program, variables)
        program.trained = visited(program, variables)
        return program

    def _make_program(self):
        base, heads = self.handle.base, self._symbol._entries
        if base is not None and not base._program.has_inferred_sizes and not self._group2ctx and base._ctx is self._ctx:
            return base._program
        unique = is_on("MXNET_ELIMINATE_COMMON_EXPR", default=True) and not self._group2ctx
        context_of = placement(heads, self._ctx, self._group2ctx)
        if self._group2ctx:
            context_of = self._with_arrays(context_of)
        return Program(eliminate_common_subexpressions(heads) if unique else heads, context_of, executor=True)

    def _with_arrays(self, context_of):
        """The context of each node; an array bound in another one than its node's is copied there in each run."""
        arguments, states = self._symbol.list_arguments(), self._symbol.list_auxiliary_states()
        bound = dict(zip(arguments + states, self.arg_arrays + self.aux_arrays, strict=True))
        return lambda node: context_of(node) if node.op is not None else bound[node.name].context.home

    def _place_arrays(self, program):
        """Put the bound arrays in the order of the program's variables; returns the positions of the arguments."""
        states = set(program.states)
        order = [i for i in range(len(program.variables)) if i not in states]
        self._arrays = [None] * len(program.variables)
        for i, array in zip(order, self.arg_arrays, strict=True):
            self._arrays[i] = array
        for i, array in zip(program.states, self.aux_arrays, strict=True):
            self._arrays[i] = array
        return order

    def _infer_storage(self, program, wanted):
        """Infer which heads are sparse, and which values are sparse tensors while the graph runs."""
        given = {n.name: a.stype for n, a in zip(program.variables, self._arrays, strict=True)}
        program.stypes = stypes_of_storage_aware_nodes(program.heads, given)
        self._head_stypes = head_stypes(program.heads, given)
        self._heads_on_parts = heads_on_parts(program.heads, given) if set(given.values()) != {"default"} else []
        self._sparse = any(kind != "default" for kind in self._head_stypes) or bool(self._heads_on_parts)
        program.sparse = sparse_plan(program.heads, given, wanted) if set(given.values()) != {"default"} else None

    # running

    def forward(self, is_train=False, **kwargs):
        """Compute the outputs.

        Parameters
        ----------
        is_train : bool, default False
            Whether layers such as Dropout behave as in training, and whether `backward` will follow.
        **kwargs : NDArray or numpy.ndarray
            Values of arguments by name; they are copied into the bound arrays first.

        Returns
        -------
        list of NDArray
            The outputs. They are the same arrays after every call.

        Examples
        --------
        >>> executor = (mx.sym.var("x") * 2).simple_bind(mx.cpu(), x=(2,))
        >>> executor.forward(x=mx.nd.array([3, 4]))[0].asnumpy()
        array([6., 8.], dtype=float32)
        """
        if kwargs:
            self._copy_inputs(kwargs)
        train = bool(is_train)
        self._tape = None
        tensors = self._tensors()
        record = (train or self._random_in_inference) and bool(self._wanted)
        self._ran, self._fault = train, None
        try:
            results = self._run(tensors, train, record)
        except ValueFault as error:
            return self._fail(error)
        self._set_outputs(results, tensors, train)
        return self._outputs

    def _fail(self, error):
        """Have the outputs tell an error when they are read; those that somebody holds turn into NaN."""
        self._fault = FaultyOutputs(error)
        for array in self._outputs or ():
            if array.stype == "default" and array._t.is_floating_point():
                array._t = torch.full_like(array._t, math.nan)
        return self._fault

    def _tensors(self):
        """The bound arrays' tensors; a sparse array is passed as a dense one if no operator takes it as it is."""
        try:
            return [array._t for array in self._arrays]
        except SparseStorage:
            names = [node.name for node in self._program.variables]
            return [self._input_tensor(array, name) for array, name in zip(self._arrays, names, strict=True)]

    def _input_tensor(self, array, name):
        return array._sparse_tensor() if name in self._program.sparse.variables else plain_tensor(array)

    def _copy_inputs(self, given):
        arguments = self.arg_dict
        for name, array in given.items():
            if not isinstance(array, (NDArray, np.ndarray)):
                raise ValueError(
                    f"only accept keyword argument of NDArrays and numpy.ndarray, got {name} of {type(array)}"
                )
            if name not in arguments:
                raise TypeError(f"Unknown argument {name}; there are: {', '.join(arguments)}")
            if arguments[name].shape != array.shape:
                raise ValueError(
                    f"Shape not match! Argument {name}, need: {arguments[name].shape}, received: {array.shape}"
                )
            arguments[name][:] = array

    def _run(self, tensors, train, record, again=False):
        """The heads' tensors; with `record`, arguments whose gradients are wanted are replaced by leaves."""
        before = torch.is_grad_enabled()
        leaves = self._make_leaves(tensors) if record else None
        monitored = self._monitored_run(record, silent=again) if self._monitor_callback is not None else None
        torch._C._set_grad_enabled(record)
        try:
            outputs = (monitored or self._program).run(tensors, train)
        finally:
            torch._C._set_grad_enabled(before)
        if record:
            self._tape = outputs, leaves, monitored
        return outputs

    def _monitored_run(self, record, silent):
        """A run that reports its values to the callback; a silent one only its gradients."""

        def report(name, _, tensor):
            self._monitor_callback(name.encode(), wrap(tensor, self._ctx))

        return MonitoredRun(self._program, report, self._monitor_all, differentiable=record, silent=silent)

    def _make_leaves(self, tensors):
        """Replace arguments in `tensors` by leaves that share their memory; a leaf is reused while its tensor is."""
        leaves, given = [], list(tensors)
        for position, tensor in enumerate(tensors):
            if tensor.requires_grad:
                tensors[position] = tensor.detach()
        for position, arg in self._wanted:
            tensor = given[position]
            known_tensor, leaf = self._leaves.get(position, (None, None))
            if known_tensor is not tensor:
                leaf = tensor.detach()
                leaf = leaf.requires_grad_() if leaf.is_floating_point() else integer_gradient.leaf(leaf)
                leaf.grad_stype = self.handle.grads[arg].stype  # read by embeddings
                self._leaves[position] = (tensor, leaf)
            tensors[position] = leaf
            leaves.append(integer_gradient.differentiable(leaf))
        return leaves

    def _set_outputs(self, outputs, tensors, train):
        """Put the results into the output arrays, which stay the same objects from run to run."""
        # `data`, not `detach`: a write into an output before `backward` changes the values that it uses, as in MXNet.
        fresh = [t.data if t.requires_grad else t for t in unshared(outputs, tensors)]
        if self._sparse:
            self._set_sparse_outputs(fresh, train)
        elif self._outputs is None:
            self._outputs = self._wrapped(fresh)
        else:
            for array, tensor in zip(self._outputs, fresh, strict=True):
                fill(array, tensor)
        if not self._filled:
            self._filled = True
            self._share_memory(fresh)

    def _set_sparse_outputs(self, fresh, train):
        """Deliver results of which some are sparse: the arrays stay, their parts are new."""
        arrays = self._in_storage_types(fresh)
        self._compute_on_parts(arrays, train)
        if self._outputs is None:
            self._outputs = arrays
            return
        for mine, new in zip(self._outputs, arrays, strict=True):
            if new.stype == "default":
                fill(mine, new._t)
            else:
                mine._replace(new._parts)

    def _wrapped(self, tensors):
        return [wrap(t, self._program.context_of(e.node)) for t, e in zip(tensors, self._program.heads, strict=True)]

    def _in_storage_types(self, fresh):
        """The results in the storage that MXNet gives them."""
        pairs = zip(self._wrapped(fresh), self._head_stypes, strict=True)
        return [a if kind == "default" else stored(a, kind) for a, kind in pairs]

    def _compute_on_parts(self, arrays, train):
        """Recompute heads whose stored rows depend on those of the inputs: the dense run has only their values."""
        if self._heads_on_parts:
            heads = [self._program.heads[i] for i in self._heads_on_parts]
            bound = {n.name: array for n, array in zip(self._program.variables, self._arrays, strict=True)}
            for i, array in zip(self._heads_on_parts, compute_heads(heads, bound, self._ctx, train), strict=True):
                arrays[i] = array

    def _share_memory(self, fresh):
        """A reshaped executor writes into the output memory of the one it came from, until that one runs itself."""
        base = self.handle.base
        if base is None or base._filled or self._sparse:
            return
        for mine, theirs, tensor in zip(self._outputs, base.outputs, fresh, strict=True):
            memory = theirs._t
            if tensor.numel() <= memory.numel() and tensor.dtype is memory.dtype:
                mine._t = memory.view(-1)[: tensor.numel()].view(tensor.shape)
                mine._t.copy_(tensor)
                wrote(mine._t)

    def backward(self, out_grads=None, is_train=True):
        """Compute the gradients of the arguments and write or add them to `grad_dict`, as `grad_req` says.

        Parameters
        ----------
        out_grads : NDArray, list of NDArray or dict of str to NDArray, optional
            Gradients of the outputs; losses such as SoftmaxOutput need none.
        is_train : bool, default True
            Whether to differentiate the outputs as in training; used if `forward` ran with `is_train=False`.

        Examples
        --------
        >>> executor = (mx.sym.var("x") ** 2).simple_bind(mx.cpu(), x=(2,))
        >>> outputs = executor.forward(is_train=True, x=mx.nd.array([3, 4]))
        >>> executor.backward(mx.nd.array([1, 10]))
        >>> executor.grad_dict["x"].asnumpy()
        array([ 6., 80.], dtype=float32)
        """
        heads = head_gradients(out_grads, self._symbol.list_outputs)
        if self._fault is not None:
            raise self._fault.error
        if self._wanted:
            before, MODES.training = MODES.training, bool(is_train)  # which operators' gradients depend on
            try:
                self._differentiate(heads)
            finally:
                MODES.training = before

    def _differentiate(self, heads):
        """Compute the gradients, from those of the heads, and store them."""
        if self._tape is None:
            self._run(self._tensors(), self._ran, True, again=True)
        outputs, leaves, monitored = self._tape
        self._tape = None
        roots, seeds = roots_and_seeds(outputs, heads, self._head_stypes, monitored, self._ctx)
        arguments = [arg for _, arg in self._wanted]
        if monitored is not None:
            with BackwardPass():
                gradients = self._monitored_backward(monitored, outputs, roots, seeds)
        elif roots:
            with BackwardPass():
                gradients = _backward(tuple(roots), tuple(seeds), False, False, tuple(leaves), True, False)
        else:
            gradients = [None] * len(leaves)
        if self._program.sparse is not None:
            pairs = zip(arguments, gradients, strict=True)
            gradients = [self._gradients.in_storage_of_array(arg, gradient) for arg, gradient in pairs]
        wrote_anywhere()  # auxiliary states
        self._gradients.deliver(arguments, gradients, seeds)

    def _monitored_backward(self, monitored, outputs, roots, seeds):
        seed_of = {id(root): seed for root, seed in zip(roots, seeds, strict=True)}
        found = monitored.backward([seed_of.get(id(t)) for t in outputs], len(self._program.variables))
        return [found[position] for position, _ in self._wanted]

    # watching

    def set_monitor_callback(self, callback, monitor_all=False):
        """Call a function with the outputs and gradients of all operators of the following runs.

        Parameters
        ----------
        callback : callable
            Called as `callback(name, array)`. As in MXNet the name comes as bytes, and the array may be cast to an
            `NDArrayHandle`.
        monitor_all : bool, default False
            Whether inputs are reported as well.

        Examples
        --------
        >>> executor = mx.sym.relu(mx.sym.var("x"), name="act").simple_bind(mx.cpu(), x=(2,))
        >>> executor.set_monitor_callback(lambda name, array: print(name))
        >>> outputs = executor.forward()
        b'act_output'
        """
        self._monitor_callback, self._monitor_all = callback, monitor_all

    # what it is bound to

    @property
    def outputs(self):
        """The outputs, a list of NDArray: zeros before the first `forward`, which fills these same arrays every time.

        Examples
        --------
        >>> executor = (mx.sym.var("x") * 2).simple_bind(mx.cpu(), x=(2,))
        >>> executor.outputs[0].asnumpy()
        array([0., 0.], dtype=float32)
        """
        if self._outputs is None:
            self._outputs = self._blank_outputs()
        return self._outputs if self._fault is None else self._fault

    def _blank_outputs(self):
        heads, context_of = self._program.heads, self._program.context_of
        facts = self._program.shapes([a.shape for a in self._arrays])
        given = {n.name: dtype_name(a.dtype) for n, a in zip(self._program.variables, self._arrays, strict=True)}
        types = type_facts(heads, given)
        shapes = [facts.of(e) if known(facts.of(e)) else (0,) for e in heads]
        kinds = [{"dtype": torch_dtype(types.of(e)), "device": torch_device(context_of(e.node))} for e in heads]
        return self._in_storage_types([torch.zeros(shape, **kind) for shape, kind in zip(shapes, kinds, strict=True)])

    def _named(self, kind, list_names, arrays):
        if kind not in self._dicts:
            names = list_names()  # a walk over the graph
            if len(set(names)) != len(names):
                raise ValueError(f"Duplicate names detected, {names}")
            self._dicts[kind] = dict(zip(names, arrays, strict=True))
        return self._dicts[kind]

    @property
    def arg_dict(self):
        """The bound arguments, a dict of name to NDArray.

        Examples
        --------
        >>> executor = (mx.sym.var("x") * 2).simple_bind(mx.cpu(), x=(2,))
        >>> executor.arg_dict["x"][:] = 5
        >>> executor.forward()[0].asnumpy()
        array([10., 10.], dtype=float32)
        """
        return self._named("arg", self._symbol.list_arguments, self.arg_arrays)

    @property
    def grad_dict(self):
        """The gradients, a dict of the name of the argument to NDArray, or to None where `grad_req` is "null".

        Examples
        --------
        >>> net = mx.sym.var("x") * mx.sym.var("y")
        >>> executor = net.simple_bind(mx.cpu(), grad_req={"x": "write", "y": "null"}, x=(2,), y=(2,))
        >>> executor.grad_dict["x"].shape, executor.grad_dict["y"]
        ((2,), None)
        """
        return self._named("grad", self._symbol.list_arguments, self.handle.grads)

    @property
    def aux_dict(self):
        """The auxiliary states, such as the moving averages of batch norm, a dict of name to NDArray.

        Examples
        --------
        >>> executor = mx.sym.BatchNorm(mx.sym.var("x"), name="bn").simple_bind(mx.cpu(), x=(2, 3))
        >>> sorted(executor.aux_dict)
        ['bn_moving_mean', 'bn_moving_var']
        """
        return self._named("aux", self._symbol.list_auxiliary_states, self.aux_arrays)

    @property
    def output_dict(self):
        """The outputs, a dict of name to NDArray.

        Examples
        --------
        >>> executor = mx.sym.relu(mx.sym.var("x"), name="act").simple_bind(mx.cpu(), x=(2,))
        >>> list(executor.output_dict)
        ['act_output']
        """
        return dict(zip(self._symbol.list_outputs(), self.outputs, strict=True))

    def copy_params_from(self, arg_params, aux_params=None, allow_extra_params=False):
        """Copy arrays into the bound arguments and auxiliary states of the same names.

        Parameters
        ----------
        arg_params : dict of str to NDArray
            Values of arguments by name.
        aux_params : dict of str to NDArray, optional
            Values of auxiliary states by name.
        allow_extra_params : bool, default False
            Whether names that the symbol does not have are ignored; otherwise they raise ValueError.

        Examples
        --------
        >>> executor = (mx.sym.var("x") * mx.sym.var("scale")).simple_bind(mx.cpu(), x=(2,), scale=(2,))
        >>> executor.copy_params_from({"scale": mx.nd.array([2, 3])})
        >>> executor.forward(x=mx.nd.ones((2,)))[0].asnumpy()
        array([2., 3.], dtype=float32)
        """
        groups = ((arg_params, self.arg_dict, '"{}" that is not in the arguments'),)
        if aux_params is not None:
            groups += ((aux_params, self.aux_dict, "{} that is not in the auxiliary states"),)
        for params, bound, complaint in groups:
            for name, array in params.items():
                if name in bound:
                    array.astype(bound[name].dtype).copyto(bound[name])
                elif not allow_extra_params:
                    raise ValueError("Find name " + complaint.format(name))

    def reshape(self, partial_shaping=False, allow_up_sizing=False, **kwargs):
        """Make an executor for other input shapes, which shares the arrays whose shapes stay the same.

        Parameters
        ----------
        partial_shaping : bool, default False
            Whether arguments that are not named in the call may change their shapes, too.
        allow_up_sizing : bool, default False
            Whether arrays may grow; larger ones get new memory.
        **kwargs : tuple of int
            The new shapes by name.

        Returns
        -------
        Executor

        Examples
        --------
        >>> executor = mx.sym.FullyConnected(mx.sym.var("x"), num_hidden=2).simple_bind(mx.cpu(), x=(4, 3))
        >>> executor.reshape(x=(2, 3)).outputs[0].shape
        (2, 2)
        """
        given = {name: shape for name, shape in kwargs.items() if isinstance(shape, tuple)}
        free = set(self._symbol.list_inputs()) if partial_shaping else set()
        found = self._infer_shapes(given)
        args, grads, states = [], [], []
        for name, array, grad in zip(self._symbol.list_arguments(), self.arg_arrays, self.handle.grads, strict=True):
            shape = new_shape(name, array, found, free | set(given), ARGUMENT_CHANGED)
            args.append(resized(array, shape, allow_up_sizing, name))
            grads.append(None if grad is None else resized(grad, shape, allow_up_sizing, name))
        for name, array in zip(self._symbol.list_auxiliary_states(), self.aux_arrays, strict=True):
            shape = new_shape(name, array, found, free, STATE_CHANGED)
            states.append(resized(array, shape, allow_up_sizing, name))
        bound = Bound(args, grads, self.handle.reqs, states, base=self)
        new = Executor(bound, self._symbol, self._ctx, self._grad_req, self._group2ctx)
        if self._monitor_callback is not None:
            new.set_monitor_callback(self._monitor_callback, self._monitor_all)
        return new

    def _infer_shapes(self, given):
        """The shapes of variables, by name, as far as they can be inferred."""
        entries = self._symbol._entries
        facts = user_shape_facts(entries, given, strict=False)
        return {n.name: facts.first(n) for n in facts.graph.variables}

    def debug_str(self):
        """The graph as text, followed by the memory that its intermediate values need.

        Examples
        --------
        >>> executor = (mx.sym.var("x") * 2).simple_bind(mx.cpu(), x=(2,))
        >>> executor.debug_str().splitlines()[-2]
        'Total 0 MB allocated'
        """
        program = self._program
        shapes = program.shapes([a.shape for a in self._arrays])
        names = {n.name: dtype_name(a.dtype) for n, a in zip(program.variables, self._arrays, strict=True)}
        wanted = [program.variables[position] for position, _ in self._wanted]
        size = peak_memory(program, shapes, type_facts(program.heads, names), wanted)
        return f"{self._symbol.debug_str()}Total {size >> 20} MB allocated\nTotal 11 TempSpace resource requested\n"

    def get_optimized_symbol(self):
        """The symbol that is computed: with common subexpressions merged.

        Examples
        --------
        >>> executor = mx.sym.relu(mx.sym.var("x"), name="act").simple_bind(mx.cpu(), x=(2,))
        >>> executor.get_optimized_symbol().list_outputs()
        ['act_output']
        """
        return type(self._symbol)(self._program.heads)
