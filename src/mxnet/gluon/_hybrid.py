"""`HybridBlock`: a block that runs eagerly or, once hybridized, as one traced graph."""

import functools
import warnings
from importlib import import_module

from .. import autograd, ndarray, symbol
from .._core.errors import NotImplementedForSymbol
from .._formats.manifest import together
from ..base import MXNetError
from ..context import current_context
from ..ndarray import NDArray
from ..ndarray._dispatch.invoke import plain_tensor
from ..util import is_np_array
from ._arguments import Arguments
from ._block import Block
from ._inputs import as_np, beside, check_all_np_ndarrays, misfitting_call, neither, survey, variables_for
from ._nesting import _fits, _flatten, _gather_type_ctx_info, _regroup
from ._parameter import DeferredInitializationError, Parameter


class HybridBlock(Block):
    """A block that is written once for arrays and symbols: `hybrid_forward(F, x, ...)` with F = `mx.nd` or `mx.sym`.

    After `hybridize()` the next call traces the block into a graph, and later calls run the optimized graph.

    Parameters
    ----------
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.

    Examples
    --------
    >>> class Scale(mx.gluon.HybridBlock):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         self.factor = self.params.get("factor", shape=(1,), init="ones")
    ...     def hybrid_forward(self, F, x, factor):
    ...         return F.broadcast_mul(x, factor) + 1
    >>> net = Scale()
    >>> net.initialize()
    >>> net.hybridize()
    >>> net(mx.nd.array([1, 2])).asnumpy()
    array([2., 3.], dtype=float32)
    """

    __module__ = "mxnet.gluon.block"
    _traceable = True

    def __init__(self, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        # the traced graph, the operator made of it, and how the arrays of its call were nested
        self._cached_graph, self._cached_op_args = (), []
        self._cached_op = self._arguments = self._in_format = self._out_format = None
        self._traces_numpy = True
        self._active, self._flags = False, []  # what `hybridize` was asked for
        self._backend, self._backend_opts = None, {}
        self._callback, self._monitor_all = None, False  # what `register_op_hook` was given

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if isinstance(value, HybridBlock):
            self._clear_cached_op()

    def __getstate__(self):
        """A copy or pickle traces its graph anew: the compiled one belongs to this process."""
        return {**self.__dict__, "_cached_graph": (), "_cached_op": None, "_cached_op_args": [], "_arguments": None}

    def register_child(self, block, name=None):
        """Make a HybridBlock a child of this one, as setting an attribute does.

        Parameters
        ----------
        block : HybridBlock
            The child.
        name : str, optional
            Its name; the next number without it.

        Examples
        --------
        >>> net = mx.gluon.HybridBlock()
        >>> net.register_child(mx.gluon.nn.Dense(2), "fc")
        >>> list(net._children)
        [Dense(None -> 2, linear)]
        """
        if not isinstance(block, HybridBlock):
            raise ValueError(
                f"Children of HybridBlock must also be HybridBlock, but {block} has type {type(block)}. "
                "If you are using Sequential, please try HybridSequential instead."
            )
        super().register_child(block, name)
        self._clear_cached_op()

    def _clear_cached_op(self):
        nothing = {"_cached_graph": (), "_cached_op": None, "_arguments": None, "_cached_op_args": []}
        self.__dict__.update(nothing, _traces_numpy=True)  # none is a child: `__setattr__` need not look at them

    def hybridize(
        self,
        active=True,
        backend=None,
        clear=True,
        static_alloc=False,
        static_shape=False,
        inline_limit=2,
        forward_bulk_size=None,
        backward_bulk_size=None,
        **kwargs,
    ):
        """Run the block and its children as a compiled graph, which is traced at the next call.

        Parameters
        ----------
        active : bool, default True
            Whether to switch it on.
        backend : str, optional
            The name of a backend; torch computes all of them.
        clear : bool, default True
            Whether earlier settings of a backend are removed.
        static_alloc : bool, default False
            Whether memory may be kept between calls. With `static_shape`, too, a block on a GPU runs by CUDA graphs.
        static_shape : bool, default False
            Whether the shapes of the data stay the same.
        inline_limit : int, default 2
            Accepted for old programs.
        forward_bulk_size : int, optional
            Accepted for old programs.
        backward_bulk_size : int, optional
            Accepted for old programs.
        **kwargs
            Further options of backends.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.hybridize(static_alloc=True)
        >>> net(mx.nd.ones((1, 3))).shape
        (1, 2)
        """
        if kwargs:
            self._backend_opts = kwargs
        shared = {"static_alloc": static_alloc, "static_shape": static_shape, "inline_limit": inline_limit}
        bulk = {"forward_bulk_size": forward_bulk_size, "backward_bulk_size": backward_bulk_size}
        flags = [*shared.items(), *((name, size) for name, size in bulk.items() if size is not None)]
        self.__dict__.update(_backend=backend, _active=active and self._fits_graphs(), _flags=flags)
        if clear:
            self._clear_cached_op()
        if (active and self._forward_hooks) or self._forward_pre_hooks:
            warnings.warn(
                f'"{self}" is being hybridized while still having forward hook/pre-hook. '
                f'If "{self}" is a child of HybridBlock, the hooks will not take effect.',
                stacklevel=2,
            )
        super().hybridize(active, **shared, **bulk)

    def cast(self, dtype):
        """Convert all parameters to another data type.

        Parameters
        ----------
        dtype : str or type
            The data type.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.cast("float16")
        >>> net.weight.dtype.__name__ if not isinstance(net.weight.dtype, str) else net.weight.dtype
        'float16'
        """
        self._clear_cached_op()
        super().cast(dtype)

    def register_op_hook(self, callback, monitor_all=False):
        """Call a function with the results of every operator of hybridized blocks.

        Parameters
        ----------
        callback : callable
            `callback(name, operator, array)`.
        monitor_all : bool, default False
            Whether inputs are shown as well.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3, prefix="fc_")
        >>> net.initialize()
        >>> net.hybridize()
        >>> net.register_op_hook(lambda node, operator, array: print(operator, array.shape))
        >>> y = net(mx.nd.ones((1, 3)))
        b'FullyConnected' (1, 2)
        """
        self._callback = callback
        self._monitor_all = monitor_all
        super().register_op_hook(callback, monitor_all)

    # ---- running ----

    def forward(self, x, *args):
        """Run on arrays, eagerly or as a compiled graph, or make symbols out of symbols.

        Parameters
        ----------
        x : NDArray or Symbol
            The first input.
        *args : NDArray or Symbol
            The other inputs.

        Returns
        -------
        NDArray, Symbol or nested list of them

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.forward(mx.nd.ones((1, 3))).shape
        (1, 2)
        """
        if isinstance(x, NDArray) and (not args or beside(x, args)):  # the common case, kept short
            ctx, contexts = x.ctx, ()
        else:
            has_symbol, ctx, contexts = survey(x, args)
            if has_symbol:
                with self.name_scope():
                    return self._compose(x, *args)
        if ctx is not current_context():
            with ctx:
                return self._run(ctx, contexts, x, args)
        return self._run(ctx, contexts, x, args)

    def _run(self, ctx, contexts, x, args):
        foreign = type(x).__module__ == "mxnet.numpy" and not is_np_array()  # classic graphs are for classic arrays
        if self._active and not foreign:
            if len(contexts) > 1:
                raise ValueError(
                    "Find multiple contexts in the input, After hybridized, the HybridBlock only supports one input "
                    "context. You can print the ele.ctx in the input arguments to inspect their contexts. "
                    f"Find all contexts = {contexts}"
                )
            if not is_np_array() or self._traced(x, *args):
                return self._call_cached_op(x, *args)
        try:
            params = {name: param.data(ctx) for name, param in self._reg_params.items()}
        except DeferredInitializationError:
            self._deferred_infer_shape(x, *args)
            for param in self.params.values():
                param._finish_deferred_init()
            params = {name: param.data(ctx) for name, param in self._reg_params.items()}
        try:
            out = self.hybrid_forward(ndarray, x, *args, **params)
        except TypeError as error:
            if error.__traceback__.tb_next is not None:  # raised inside
                raise
            raise misfitting_call(error, len(args) + 1, params) from None
        return self._in_numpy_form(out)

    def _in_numpy_form(self, out):
        """Under NumPy's rules results are NumPy's, also those of classic operators; a user's block has to see to it."""
        if not is_np_array():
            return out
        if _derives_from_ours(type(self)):
            return as_np(out)
        check_all_np_ndarrays(out)
        return out

    def _is_ours(self):
        """Does it compute with a layer of MXNet's, written with classic operators? A user's gets what it asks for."""
        return type(self).hybrid_forward.__module__.startswith("mxnet.")

    def _compose(self, *inputs):
        """The block's part of a graph, from symbols to symbols."""
        params = {name: param.var() for name, param in self._reg_params.items()}
        if is_np_array() and not self._is_ours():
            params = {name: variable.as_np_ndarray() for name, variable in params.items()}
        try:
            out = self.hybrid_forward(symbol, *inputs, **params)
        except TypeError as error:
            if error.__traceback__.tb_next is not None:  # raised inside
                raise
            raise misfitting_call(error, len(inputs), params) from None
        return self._in_numpy_form(out)

    def _traced(self, *args):
        """Can the block be traced under NumPy's rules? Functions that need sizes or values make it run eagerly."""
        if not self._traces_numpy:
            return False
        try:
            self._get_graph(*args)
        except (NotImplementedForSymbol, AttributeError) as error:
            warnings.warn(f"{self.name} cannot be traced and runs eagerly: {error}", stacklevel=4)
            self._traces_numpy = False
        return self._traces_numpy

    def hybrid_forward(self, F, x, *args, **kwargs):
        """What the block computes, by operators of `F`; subclasses define it.

        Parameters
        ----------
        F : module
            `mx.nd` or `mx.sym`.
        x : NDArray or Symbol
            The first input.
        *args : NDArray or Symbol
            The other inputs.
        **kwargs : NDArray or Symbol
            The parameters, by their attribute names.

        Examples
        --------
        >>> class Scale(mx.gluon.HybridBlock):
        ...     def hybrid_forward(self, F, x):
        ...         return F.relu(x) * 2
        >>> Scale()(mx.nd.array([-1, 2])).asnumpy()
        array([0., 4.], dtype=float32)
        """
        raise NotImplementedError(f"{type(self).__name__} has no method hybrid_forward(self, F, x, …)")

    def _call_cached_op(self, *args):
        if self._cached_op is None:
            self._build_cache(*args)
        if self._callback:
            self._cached_op.register_op_hook(_with_bytes(self._callback), self._monitor_all)
            warnings.warn(
                "register_op_hook is experimental when static_alloc=True / static_shape=True "
                " and may not work correctly",
                stacklevel=3,
            )
        # Arrays only, as in the traced call: nothing to flatten.
        plain = len(args) == len(self._in_format) and not any(self._in_format) and {NDArray}.issuperset(map(type, args))
        given = args if plain else self._given(args)
        out = self._cached_op(*self._at(given, given[0].ctx))
        if is_np_array():
            out = as_np(out)
        if isinstance(out, NDArray):
            return out if self._out_format == 0 else _regroup([out], self._out_format)
        return _regroup(out, self._out_format)

    def _at(self, given, ctx):
        """All that the traced graph takes, on one context."""
        try:
            return self._arguments.at(given, ctx)
        except RuntimeError as error:
            if not self._arguments.initialized():
                raise
            raise MXNetError(f"CachedOp requires all inputs to live on the same context. {error}") from None

    def _given(self, args):
        """The arrays in nested inputs, which must be nested like those of the traced call."""
        flat, fmt = _flatten(args, "input")
        if fmt != self._in_format and not _fits(fmt, self._in_format):
            raise ValueError(
                "The argument structure of HybridBlock does not match the cached version. "
                f"Stored format = {self._in_format}, input format = {fmt}"
            )
        return [arg for arg in flat if arg is not None]

    def explain(self, *args, training=True):
        """Tell, layer by layer, what computes this block for inputs like these, and for how long.

        The block's graph runs one call at a time, on copies: parameters, gradients and moving statistics stay as they
        are. A block that is not hybridized is explained as it would run after `hybridize()`.

        Parameters
        ----------
        *args : NDArray
            Inputs, as for a call of the block.
        training : bool, default True
            Explain a training step (forward and backward pass), too.

        Returns
        -------
        Explanation
            `print` shows a table: layer, operator, output shape, what computes it ("torch", or a kernel of
            `mx.runtime.kernels()`), its share of the time, what is folded into it, and the rule that chose the way.
            `inference` and `training` are lists of layers; `as_dict()` is made for JSON.

        Examples
        --------
        >>> import mxnet as mx
        >>> net = mx.gluon.nn.Dense(3, in_units=4)
        >>> net.initialize()
        >>> found = net.explain(mx.nd.ones((2, 4)))
        >>> [(layer.operator, layer.shape) for layer in found.inference]
        [('FullyConnected', (2, 3))]
        """
        from .._graph.debug.explain import explain

        arrays = self._graph_arrays(args)
        heads, ctx = self._cached_graph[1]._entries, arrays[0].ctx
        try:
            return explain(heads, [plain_tensor(array) for array in arrays], ctx, training)
        finally:
            if not self._active:
                self._clear_cached_op()

    def _graph_arrays(self, args):
        """What the block's graph takes when the block is called like this; it may add states of its own."""
        seen, call, active = [], self._call_cached_op, self._active

        def watched(*given):
            out = call(*given)
            flat = self._given(given)
            seen.append(self._at(flat, flat[0].ctx))
            return out

        own = self.__dict__
        own["_call_cached_op"], own["_active"] = watched, True
        try:
            with autograd.pause():
                self(*args)
        finally:
            del own["_call_cached_op"]
            own["_active"] = active
        return seen[-1]

    # ---- tracing ----

    def _get_graph(self, *args):
        """(input variables, outputs) of the traced graph."""
        if not self._cached_graph:
            flat, self._in_format = _flatten(args, "input")
            variables = variables_for(flat, args)
            with self.name_scope():
                out = self._compose(*_regroup(variables, self._in_format))
            outputs, self._out_format = _flatten(out, "output")
            self._cached_graph = [v for v in variables if v is not None], symbol.Group(outputs)
        return self._cached_graph

    def _build_cache(self, *args):
        inputs, out = self._get_graph(*args)
        positions = {variable.name: i for i, variable in enumerate(inputs)}
        names = out.list_inputs()
        params = self._graph_parameters()
        self._check_names(names, positions, params)
        self._finish_deferred([params[name] for name in names if name in params], args)
        self._cached_op_args = [
            (True, positions[name]) if name in positions else (False, params[name]) for name in names
        ]
        self._arguments = Arguments(self._cached_op_args)
        self._cached_op = ndarray.CachedOp(out, self._graph_flags())
        self._traced_with = [(a.shape, a.dtype) for a in _flatten(args, "input")[0] if a is not None]

    def _finish_deferred(self, params, args):
        """Let parameters whose shapes follow from the inputs have their memory."""
        try:
            for param in params:
                param.data()
        except DeferredInitializationError:
            self._deferred_infer_shape(*args)
            for param in params:
                param._finish_deferred_init()

    def _graph_flags(self):
        """What the graph is told: which of its arguments are inputs, and what `hybridize` was asked for."""
        indices = {True: [], False: []}
        for i, (is_input, _) in enumerate(self._cached_op_args):
            indices[is_input].append(i)
        flags = [("data_indices", indices[True]), ("param_indices", indices[False]), *self._flags]
        if self._backend:
            flags += [("backend", self._backend), ("backend_opts", self._backend_opts)]
        return flags

    def _graph_parameters(self):
        """The parameters by name, those the last graph used if there was one (its blocks may have changed since)."""
        used = {arg.name: arg for _, arg in self._cached_op_args if isinstance(arg, Parameter)}
        return used or self.collect_params()

    @staticmethod
    def _check_names(names, positions, params):
        wanted = set(names)
        for name in names:
            assert name in params or name in positions, f"Unknown input to HybridBlock: {name}"
        unused = [f"{i}-th" for name, i in positions.items() if name not in wanted]
        if unused:
            warnings.warn(
                f"The {', '.join(unused)} input to HybridBlock is not used by any computation. Is this intended?",
                stacklevel=6,
            )
        unused = [name for name in params if name not in wanted]
        if unused:
            warnings.warn(
                f"Parameter {', '.join(unused)} is not used by any computation. Is this intended?", stacklevel=6
            )

    def _deferred_infer_shape(self, *args):
        try:
            self.infer_shape(*args)
        except Exception as error:
            raise ValueError(f"Deferred initialization failed because shape cannot be inferred. {error}") from None

    def infer_shape(self, *args):
        """Find the shapes of the parameters from those of the inputs.

        Parameters
        ----------
        *args : NDArray
            The inputs.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2)
        >>> net.infer_shape(mx.nd.ones((1, 3)))
        >>> net.weight.shape
        (2, 3)
        """
        self._infer_attrs("infer_shape", "shape", *args)

    def infer_type(self, *args):
        """Find the data types of the parameters from those of the inputs.

        Parameters
        ----------
        *args : NDArray
            The inputs.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2)
        >>> net.infer_type(mx.nd.ones((1, 3)))
        """
        self._infer_attrs("infer_type", "dtype", *args)

    def _infer_attrs(self, infer_fn, attr, *args):
        inputs, out = self._get_graph(*args)
        given = [arg for arg in _flatten(args, "input")[0] if arg is not None]
        names = set(out.list_inputs())  # an input that the graph does not use tells nothing
        pairs = zip(inputs, given, strict=False)
        known = {variable.name: getattr(arg, attr) for variable, arg in pairs if variable.name in names}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            of_arguments, _, of_states = getattr(out, infer_fn)(**known)
        if of_arguments is None:
            raise ValueError(caught[0].message)
        found = dict(zip(out.list_arguments(), of_arguments, strict=True))
        found.update(zip(out.list_auxiliary_states(), of_states, strict=True))
        for param in self.collect_params().values():
            if param.name in found:
                setattr(param, attr, found[param.name])

    # ---- files and back ends ----

    def _fits_graphs(self):
        """Can the block be traced? One with a part that runs only as it is stays as it is, and its parts are traced."""
        return self._traceable and all(child._fits_graphs() for child in self._children.values())

    def export(self, path, epoch=0, remove_amp_cast=True):
        """Write `path-symbol.json` and `path-0000.params`, for `SymbolBlock.imports`, Module and other languages.

        Parameters
        ----------
        path : str
            The beginning of the files' names.
        epoch : int, default 0
            The number in the name of the parameters' file.
        remove_amp_cast : bool, default True
            Whether casts that mixed precision added are left out.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.hybridize()
        >>> y = net(mx.nd.ones((1, 3)))
        >>> net.export("net")
        """
        if not self._fits_graphs():
            raise MXNetError(
                f"{self.name} holds a torch module, which MXNet's graph files cannot: keep its parameters with "
                "save_parameters, or the whole as a torch module with mx.contrib.torch.to_module"
            )
        if not self._cached_graph:
            raise RuntimeError(
                "Please first call block.hybridize() and then run forward with "
                "this block at least once before calling export."
            )
        graph = self._cached_graph[1]
        symbol_file, params_file = f"{path}-symbol.json", f"{path}-{epoch:04d}.params"
        kinds = dict.fromkeys(graph.list_arguments(), "arg")
        kinds.update((name, "aux") for name in graph.list_auxiliary_states())
        arrays = {}
        for param in self._graph_parameters().values():
            if param.name in kinds:
                arrays[f"{kinds[param.name]}:{param.name}"] = param._saved()
            else:
                warnings.warn(f'Parameter "{param.name}" is not found in the graph. ', stacklevel=2)
        with together(f"{path}-{epoch:04d}"):
            graph.save(symbol_file, remove_amp_cast=remove_amp_cast)
            ndarray.save(params_file, arrays)

    def export_torch(self, path, *inputs, dynamic_batch=True):
        """Write the network as a torch program (.pt2); see `mx.contrib.torch.export_torch`.

        Parameters
        ----------
        path : str
            The name of the file.
        *inputs : NDArray
            Example inputs; without them, those of the call that traced the network.
        dynamic_batch : bool, default True
            Whether the first axis may have any size.

        Examples
        --------
        >>> net.export_torch("net.pt2", mx.nd.ones((1, 3)))  # doctest: +SKIP
        """
        bridge = import_module("mxnet.contrib.torch")  # a layer above this one
        return bridge.export_torch(self, path, *inputs, dynamic_batch=dynamic_batch)

    def optimize_for(
        self,
        x,
        *args,
        backend=None,
        clear=False,
        static_alloc=False,
        static_shape=False,
        inline_limit=2,
        forward_bulk_size=None,
        backward_bulk_size=None,
        **kwargs,
    ):
        """Hybridize for a backend and run once.

        Parameters
        ----------
        x : NDArray
            The first input.
        *args : NDArray
            The other inputs.
        backend : str, optional
            The name of a backend; torch computes all of them.
        clear : bool, default False
            Whether earlier settings of a backend are removed.
        static_alloc : bool, default False
            Whether memory may be kept between calls. With `static_shape`, too, a block on a GPU runs by CUDA graphs.
        static_shape : bool, default False
            Whether the shapes of the data stay the same.
        inline_limit : int, default 2
            Accepted for old programs.
        forward_bulk_size : int, optional
            Accepted for old programs.
        backward_bulk_size : int, optional
            Accepted for old programs.
        **kwargs
            Further options of the backend.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> y = net.optimize_for(mx.nd.ones((1, 3)), backend="MKLDNN")
        """
        if not backend:
            raise ValueError('Must specify "backend" to optimize_for')
        self.hybridize(
            True,
            backend,
            clear,
            static_alloc,
            static_shape,
            inline_limit,
            forward_bulk_size,
            backward_bulk_size,
            **kwargs,
        )
        has_symbol, has_ndarray, contexts, _ = _gather_type_ctx_info([x, *args])
        if not has_symbol and not has_ndarray:
            raise ValueError(neither(x, *args))
        if len(contexts) > 1:
            raise ValueError(
                "Found multiple contexts in the input, After hybridized, the HybridBlock only supports one input "
                "context. You can print the ele.ctx in the input arguments to inspect their contexts. "
                f"Find all contexts = {contexts}"
            )
        self._build_cache(x, *args)


def _with_bytes(callback):
    """Operator hooks get names as bytes, as MXNet's library hands them over."""
    return lambda name, operator, array: callback(name.encode(), operator.encode(), array)


@functools.cache
def _derives_from_ours(cls):
    """Is it a layer of MXNet's, or a user's that may give back what such a layer computed?"""
    layers = cls.__mro__[: cls.__mro__.index(HybridBlock)]
    return any("hybrid_forward" in vars(base) and base.__module__.startswith("mxnet.") for base in layers)
