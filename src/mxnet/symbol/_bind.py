"""Binding a symbol to arrays: `bind`, `simple_bind`, `eval`, and the hooks for other backends."""

import warnings

from .._core.dtypes import dtype_name
from .._core.errors import MXNetError
from .._graph.infer.fixpoint import shape_facts, type_facts
from .._graph.ir.node import topological_order
from .._graph.lower.backends import MXNET_BACKENDS
from .._ops.registry.device import torch_device
from ..context import Context, current_context
from ._later import later

REQUESTS = ("null", "write", "add")
_ONE_CONTEXT = (
    "bind takes one context, got {}; to train on several devices give the list to mx.mod.Module(context=[...]), "
    "to place parts of one network on several devices use AttrScope(ctx_group=...) with group2ctx"
)


class Binding:
    """Methods of a symbol that make executors."""

    __slots__ = ()

    def bind(self, ctx, args, args_grad=None, grad_req="write", aux_states=None, group2ctx=None, shared_exec=None):
        """An executor on the given arrays.

        Parameters
        ----------
        ctx : Context
            The device.
        args : list of NDArrays or dict of str to NDArray
            The arguments, in the order of `list_arguments()` or by name.
        args_grad : list of NDArrays or dict of str to NDArray, optional
            Where gradients are written.
        grad_req : str, list of str or dict of str to str, default 'write'
            What `backward` does with the gradient of an argument: write, add or null.
        aux_states : list of NDArrays or dict of str to NDArray, optional
            The auxiliary states.
        group2ctx : dict of str to Context, optional
            The devices of nodes with a `ctx_group`.
        shared_exec : Executor, optional
            An executor whose memory can be reused; accepted for old programs.

        Returns
        -------
        Executor

        Examples
        --------
        >>> x = mx.sym.var("x")
        >>> executor = (x * x).bind(mx.cpu(), {"x": mx.nd.array([3])}, {"x": mx.nd.zeros((1,))})
        >>> executor.forward(is_train=True)[0].asnumpy()
        array([9.], dtype=float32)
        >>> executor.backward(mx.nd.ones((1,)))
        >>> executor.grad_dict["x"].asnumpy()
        array([6.], dtype=float32)
        """
        ctx = _one_context(ctx)
        _check_groups(group2ctx)
        names = self.list_arguments()
        arrays = _arrays("args", args, names, False)
        grads = [None] * len(names) if args_grad is None else _arrays("args_grad", args_grad, names, True)
        states = _arrays("aux_states", aux_states or [], self.list_auxiliary_states(), False)
        reqs = requests(grad_req, names)
        if not group2ctx:
            _check_contexts("Input", "arguments", names, arrays, ctx)
            _check_contexts("Gradient", "gradients", names, grads, ctx)
            _check_devices(self.list_auxiliary_states(), states, ctx)
        self._check_bound(arrays, states)
        executor = _executor(self, ctx, grad_req, group2ctx, arrays, grads, reqs, states)
        if args_grad is None:
            executor.grad_arrays = None  # MXNet shows what it was given
        return executor

    def _check_bound(self, args, states):
        """Arrays must fit the graph and each other, in shape and dtype."""
        graph = topological_order(self._entries)
        rest, held = iter(args), iter(states)
        by_name = {n.name: next(held) if id(n) in graph.mutated else next(rest) for n in graph.variables}
        shape_facts(self._entries, {name: a.shape for name, a in by_name.items()})
        type_facts(self._entries, {name: dtype_name(a.dtype) for name, a in by_name.items()})

    def simple_bind(
        self,
        ctx,
        grad_req="write",
        type_dict=None,
        stype_dict=None,
        group2ctx=None,
        shared_arg_names=None,
        shared_exec=None,
        shared_buffer=None,
        **kwargs,
    ):
        """An executor on new arrays; keyword arguments give the shapes that cannot be deduced.

        Parameters
        ----------
        ctx : Context
            The device.
        grad_req : str, list of str or dict of str to str, default 'write'
            What `backward` does with the gradient of an argument: write, add or null.
        type_dict : dict of str to dtype, optional
            The data types of arguments.
        stype_dict : dict of str to str, optional
            The storage types of arguments.
        group2ctx : dict of str to Context, optional
            The devices of nodes with a `ctx_group`.
        shared_arg_names : list of str, optional
            Accepted for old programs.
        shared_exec : Executor, optional
            An executor whose memory can be reused; accepted for old programs.
        shared_buffer : dict of str to NDArray, optional
            Arrays that can be reused.
        **kwargs : tuple of int
            The shapes of arguments.

        Returns
        -------
        Executor

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> executor = net.simple_bind(mx.cpu(), data=(4, 3))
        >>> executor.arg_dict["fc_weight"].shape
        (2, 3)
        """
        from ._allocate import Allocation

        ctx = _one_context(ctx)
        _check_groups(group2ctx)
        try:
            plan = Allocation(self, ctx, group2ctx, kwargs, type_dict, stype_dict)
            reqs = requests(grad_req, self.list_arguments())
        except (MXNetError, ValueError) as error:
            given = "".join(f"{key}: {value}\n" for key, value in kwargs.items())
            raise RuntimeError(f"simple_bind error. Arguments:\n{given}{error}") from None
        if shared_arg_names is not None and not isinstance(shared_arg_names, list):
            raise ValueError(f"shared_arg_names in simple_bind must be a list or None, got {type(shared_arg_names)}")
        if shared_buffer is not None and not isinstance(shared_buffer, dict):
            raise ValueError(f"shared_buffer in simple_bind must be dict or None, got {type(shared_buffer)}")
        arrays, grads, states = plan.arrays(reqs, shared_arg_names or [], shared_exec, shared_buffer)
        return _executor(self, ctx, grad_req, group2ctx, arrays, grads, reqs, states)

    def eval(self, ctx=None, **kwargs):
        """The outputs for arrays given by name.

        Parameters
        ----------
        ctx : Context, optional
            The device.
        **kwargs : NDArray
            The arguments.

        Returns
        -------
        list of NDArrays

        Examples
        --------
        >>> (mx.sym.var("x") * 2).eval(x=mx.nd.array([1, 2]))[0].asnumpy()
        array([2., 4.], dtype=float32)
        """
        return self.bind(current_context() if ctx is None else ctx, kwargs).forward()

    def explain(self, arrays, training=True):
        """Tell, node by node, what computes this graph for the given arrays, and for how long.

        Parameters
        ----------
        arrays : dict of str to NDArray
            An array for every input of the graph, by name; they are copied.
        training : bool, default True
            Explain a training step, too.

        Returns
        -------
        Explanation
            See `HybridBlock.explain`.

        Examples
        --------
        >>> net = mx.sym.relu(mx.sym.var("x"), name="act")
        >>> print(net.explain({"x": mx.nd.ones((2, 3))}, training=False))  # doctest: +SKIP
        """
        from .._graph.debug.explain import explain

        missing = [name for name in self.list_inputs() if name not in arrays]
        if missing:
            raise MXNetError(f"explain needs an array for every input; missing: {', '.join(missing)}")
        plain = later("ndarray._dispatch.invoke").plain_tensor
        given = [arrays[name] for name in self.list_inputs()]
        ctx = given[0].context if given else current_context()
        return explain(self._entries, [plain(array) for array in given], ctx, training)

    def gradient(self, wrt):
        """MXNet declares this and never had it; use `bind` and `backward`."""
        raise MXNetError("Symbol.gradient is not implemented by MXNet 1.x; bind the symbol and call Executor.backward")

    def get_backend_symbol(self, backend):
        """The symbol prepared for one of MXNet's backends: itself, since torch runs the graph as it is.

        Parameters
        ----------
        backend : str
            The name of the backend.

        Returns
        -------
        Symbol

        Examples
        --------
        >>> mx.sym.relu(mx.sym.var("x"), name="act").get_backend_symbol("MKLDNN").name
        'act'
        """
        if backend not in MXNET_BACKENDS:
            raise MXNetError(f"SubgraphProperty {backend} is not found in SubgraphBackendRegistry")
        _check_backend(backend, {})
        return self.__copy__()

    def optimize_for(
        self,
        backend,
        args=None,
        aux=None,
        ctx=None,
        shape_dict=None,
        type_dict=None,
        stype_dict=None,
        skip_infer=False,
        **kwargs,
    ):
        """The symbol prepared for a backend: as it is, since torch fuses operators when the graph runs.

        Parameters
        ----------
        backend : str
            The name of the backend.
        args : dict of str to NDArray, optional
            The arguments.
        aux : dict of str to NDArray, optional
            The auxiliary states.
        ctx : Context, optional
            The device.
        shape_dict : dict of str to tuple, optional
            The shapes of inputs.
        type_dict : dict of str to dtype, optional
            The data types of inputs.
        stype_dict : dict of str to str, optional
            The storage types of inputs.
        skip_infer : bool, default False
            Accepted for old programs.
        **kwargs
            Options of the backend.

        Returns
        -------
        Symbol

        Examples
        --------
        >>> mx.sym.relu(mx.sym.var("x"), name="act").optimize_for("MKLDNN").name
        'act'
        """
        assert isinstance(backend, str)
        assert args is None or isinstance(args, dict)
        assert aux is None or isinstance(aux, dict)
        for shape in (shape_dict or {}).values():
            if not isinstance(shape, (tuple, list)):
                raise ValueError(f"{shape} has to be a tuple or list.")
        assert ctx is None or isinstance(ctx, Context)
        _check_backend(backend, kwargs)
        if backend not in MXNET_BACKENDS and backend != "inductor":
            warnings.warn(f"backend {backend!r} is not known here; the graph runs on PyTorch unchanged", stacklevel=2)
        return self.__copy__()


def _check_backend(backend, options):
    """MXNet's backends for tests take the names of the operators to group, which only its C interface can give."""
    if backend in ("default", "default_v2") and "op_names" not in options:
        raise MXNetError("Cannot find attribute op_names in SubgraphProperty")


def _check_groups(group2ctx):
    """Each group of nodes runs on one context."""
    assert group2ctx is None or isinstance(group2ctx, dict), f"group2ctx is a dict of contexts, got {group2ctx!r}"
    for group, ctx in (group2ctx or {}).items():
        if not isinstance(ctx, Context):
            raise TypeError(f"group2ctx[{group!r}]: {_ONE_CONTEXT.format(ctx)}")


def _check_contexts(kind, plural, names, arrays, ctx):
    """Without groups the whole graph runs on one context, and nothing is copied to it."""
    for name, array in zip(names, arrays, strict=True):
        if array is not None and array.context != ctx:
            raise MXNetError(
                f"{kind} array is in {array.context} while binding with ctx={ctx}. All {plural} must be in global "
                f"context ({ctx}) unless group2ctx is specified for cross-device graph. Move that of {name!r} with "
                "as_in_context"
            )


def _check_devices(names, states, ctx):
    """MXNet takes auxiliary states of another context, but no operator reads two devices."""
    for name, array in zip(names, states, strict=True):
        if torch_device(array.context) != torch_device(ctx):
            raise MXNetError(
                f"Auxiliary array {name!r} is in {array.context} while binding with ctx={ctx}; "
                "move it with as_in_context"
            )


def _one_context(ctx):
    if isinstance(ctx, (list, tuple)):
        raise TypeError(_ONE_CONTEXT.format(list(ctx)))
    if not isinstance(ctx, Context):
        raise TypeError(f"Context type error: bind takes a Context such as mx.cpu(), got {ctx!r}")
    return ctx


def requests(grad_req, names):
    """What to do with each argument's gradient: one word for all, a list, or a dict (absent: nothing)."""
    if isinstance(grad_req, str):
        reqs = [grad_req] * len(names)
    elif isinstance(grad_req, dict):
        reqs = [grad_req.get(name, "null") for name in names]
    elif grad_req is None:
        reqs = ["write"] * len(names)
    else:
        reqs = list(grad_req)
    if not set(reqs) <= set(REQUESTS):
        raise ValueError(f"grad_req must be in {REQUESTS}, got {sorted(set(reqs) - set(REQUESTS))}")
    if len(reqs) != len(names):
        raise ValueError(f"grad_req has {len(reqs)} entries for {len(names)} arguments")
    return reqs


def _arrays(what, given, names, allow_missing):
    """Arrays in the order of `names`, from a list or from a dict by name."""
    if isinstance(given, (list, tuple)):
        if len(given) != len(names):
            raise ValueError(
                f"Length of {what} does not match the number of arguments: {len(given)} arrays for {', '.join(names)}"
            )
        arrays = list(given)
    elif isinstance(given, dict):
        missing = [name for name in names if name not in given]
        if missing and not allow_missing:
            raise ValueError(
                f"key `{missing[0]}` is missing in `{what}`, which lacks {', '.join(missing)}. simple_bind makes the "
                "arrays from the shapes of the data."
            )
        arrays = [given.get(name) for name in names]
    else:
        raise _no_arrays(what, given)
    for array in arrays:
        if not isinstance(array, later("ndarray").NDArray) and not (array is None and allow_missing):
            raise _no_arrays(what, array)
    return arrays


def _no_arrays(what, given):
    return TypeError(f"{what}: Only accept list of NDArrays or dict of str to NDArray, got {type(given)}")


def _executor(symbol, ctx, grad_req, group2ctx, args, grads, reqs, states):
    executor = later("executor")
    return executor.Executor(executor.Bound(args, grads, reqs, states), symbol, ctx, grad_req, group2ctx)
