"""`CachedOp`: a graph called like a function of arrays; what Gluon's `hybridize` runs."""

from operator import attrgetter

import torch

from .._core.errors import MXNetError
from .._core.machine.heap import keep_freed
from .._core.modes import MODES
from .._core.writes import wrote_anywhere
from .._device import graphs
from .._graph.infer.storage import head_stypes, sparse_plan, stypes_of_storage_aware_nodes
from .._graph.ir.node import walk
from .._graph.lower.backends import compiler
from .._graph.lower.program import Program
from .._ops.registry import observe
from .._ops.registry.torch_dtypes import NAME
from ..context import current_context
from ._dispatch.history import INLINE_LIMIT, GraphCall
from ._dispatch.invoke import SparseStorage, graph_tensor, own, plain_tensor, write
from .ndarray import NDArray

__all__ = ["CachedOp"]

_new = NDArray.__new__
_dtype, _is_view = attrgetter("dtype"), torch.Tensor._is_view


def unshared(results, inputs):
    """Results in memory of their own: none may share it with an input or with another result."""
    if len(results) == 1:
        t = results[0]
        return [own(t, inputs)] if _shares(t, inputs) else results
    plain = True
    for t in results:
        if t._is_view():
            plain = False
    if plain and set(map(id, results)).isdisjoint(map(id, inputs)) and len(set(map(id, results))) == len(results):
        return results
    seen, fresh = list(inputs), []
    for t in results:
        t = own(t, seen)
        seen.append(t)
        fresh.append(t)
    return fresh


def _shares(result, inputs):
    """May the result lie in the memory of one of many inputs? As `own` asks, in less time."""
    if not result._is_view():
        return id(result) in map(id, inputs)
    base = result._base
    return id(base) in map(id, inputs) or any(t._base is base for t in filter(_is_view, inputs))


def _runs_python(nodes):
    """Does a run call Python code of the user's, which a graph would not call again?"""
    inner = (walk(heads) for node in nodes for heads in node.subgraphs)
    return any(n.op is not None and n.op.name == "Custom" for n in nodes) or any(map(_runs_python, inner))


def _noted(results, wrote):
    """Results of a replay, which may have written states."""
    if wrote:
        wrote_anywhere()
    return results


def _is_constant(array):
    """Is it outside of what is being recorded?"""
    return not MODES.recording or array._ag is None


def _sparse_inputs(program, args):
    """Tensors for arrays of which some are sparse: these stay so if an operator takes them as they are."""
    kept = program.sparse.variables if program.sparse is not None else ()
    take = graph_tensor if MODES.recording else plain_tensor
    pairs = zip(program.variables, args, strict=True)
    return [a._sparse_tensor() if n.name in kept and a.stype != "default" else take(a) for n, a in pairs]


class CachedOp:
    """A graph as a function of arrays, compiled once: what a hybridized block calls.

    Parameters
    ----------
    sym : Symbol
        The graph.
    flags : list of (str, value) pairs, default ()
        `static_alloc` and the other options of `hybridize`.

    Examples
    --------
    >>> x = mx.sym.var("x")
    >>> double = mx.nd.CachedOp(x * 2)
    >>> double(mx.nd.array([1, 2])).asnumpy()
    array([2., 4.], dtype=float32)
    """

    def __init__(self, sym, flags=(), thread_safe=False):
        keep_freed()
        self.symbol = sym
        self.flags = dict(flags)
        self.is_np_sym = type(sym).__name__ == "_Symbol"
        self._inputs = sym.list_inputs()
        self._programs = {}
        self._types = set()
        self._monitor = None
        self._inline = int(self.flags.get("inline_limit", INLINE_LIMIT))
        self._graphed = {} if graphs.wanted(self.flags) else None
        self._compiler = compiler(self.flags.get("backend"), self.flags.get("backend_opts"))

    def __call__(self, *args, out=None, default_ctx=None):
        count = len(args)
        if count != len(self._inputs):
            raise MXNetError(f"CachedOp takes {len(self._inputs)} inputs ({', '.join(self._inputs)}), got {count}")
        ctx = args[0]._ctx if count else default_ctx or current_context()
        recording = MODES.recording
        try:
            tensors, key = [a._t for a in args], ctx
        except SparseStorage:
            tensors, key = None, (ctx, *((a.stype, _is_constant(a)) for a in args))
        if recording and tensors is not None:
            tensors = [graph_tensor(a) for a in args]
        program = self._programs.get(key)
        if program is None:
            program = self._programs[key] = self._prepared(ctx, args)
        if tensors is None:
            tensors = _sparse_inputs(program, args)
        if not program.same_types_as_before(tensors):
            types = tuple(map(_dtype, tensors))
            if types not in self._types:
                self._check(program, args, types)
        if recording or MODES.training:  # states may be written, which no recorded graph must notice
            for i in program.states:
                tensors[i] = args[i]._t.data
        results = self._run(program, tensors, recording)
        if not program.owns_output:
            results = unshared(results, tensors)
        if program.head_stypes is not None:
            return self._stored(self._wrap(results, tensors, ctx, recording, None, args), program.head_stypes, out)
        return self._wrap(results, tensors, ctx, recording, out, args)

    def _prepared(self, ctx, args):
        """A program for arrays of these storages."""
        program = Program(self.symbol._entries, ctx, self._compiler)
        given = {n.name: a.stype for n, a in zip(program.variables, args, strict=True)}
        program.dense = not set(given.values()) - {"default"}
        program.stypes = stypes_of_storage_aware_nodes(program.heads, given)
        kinds = head_stypes(program.heads, given)
        program.head_stypes = kinds if set(kinds) - {"default"} else None
        constant = {n.name: a.stype for n, a in zip(program.variables, args, strict=True) if _is_constant(a)}
        if set(constant.values()) - {"default"} and self._compiler is None:
            program.sparse = sparse_plan(program.heads, constant, set())
        return program

    def _replayed(self, program, train):
        """What runs a program by CUDA graphs; None if inputs are sparse, or Python code takes part in it."""
        key = id(program), train
        if key not in self._graphed:
            states = set(program.states)  # written where they are: a graph must not have copies of them
            changing = [i for i in self.flags.get("data_indices", range(len(self._inputs))) if i not in states]
            run = graphs.Graphed(lambda tensors: program.run(tensors, train), len(self._inputs), changing, self._title)
            plain = not program.dense or _runs_python(program.nodes) or observe.watching_graphs()
            self._graphed[key] = None if plain else run
        return self._graphed[key]

    @property
    def _title(self):
        return self.symbol.name or "A block"

    def _run(self, program, tensors, recording):
        before = torch.is_grad_enabled()
        train = MODES.training
        run = program.run if self._monitor is None else self._watched(program)
        if self._graphed is not None and self._monitor is None:
            graphed = self._replayed(program, train)
            wrote = train or recording or program.writes_in_inference
            run = run if graphed is None else lambda tensors, train: _noted(graphed(tensors), wrote)
        if before is recording:
            return run(tensors, train)
        torch._C._set_grad_enabled(recording)
        try:
            return run(tensors, train)
        finally:
            torch._C._set_grad_enabled(before)

    def _check(self, program, args, types):
        """Look once at every new combination of dtypes, and at where the arrays are."""
        for name, array in zip(self._inputs, args, strict=True):
            if not isinstance(array, NDArray):
                raise TypeError(f"CachedOp input {name} must be an NDArray, got {type(array)}")
        kinds = {a._ctx.device_type for a in args}
        if len(kinds) > 1 or ("gpu" in kinds and len({a._ctx for a in args}) > 1):
            where = ", ".join(sorted({str(a._ctx) for a in args}))
            raise MXNetError(f"CachedOp requires all inputs to live on the same context, got {where}")
        program.check_types(tuple(NAME[t] for t in types))
        self._types.add(types)

    def _wrap(self, results, tensors, ctx, recording, out, args):
        if out is not None:
            targets = out if isinstance(out, (list, tuple)) else [out]
            for target, result in zip(targets, results, strict=True):
                write(target, result, recording, "CachedOp")
            return out
        recorded = recording and any(t.requires_grad for t in tensors)
        mark = MODES.epoch if recorded else None
        kind = type(args[0]) if self.is_np_sym and args else NDArray
        call = GraphCall(self.symbol, args, self._inline) if recorded else None
        arrays = []
        for i, t in enumerate(results):
            if recorded:
                t.call = call, i
            a = _new(kind)
            a._t = t
            a._ctx = ctx
            a._ag = mark
            arrays.append(a)
        return arrays[0] if len(arrays) == 1 else arrays

    def _stored(self, arrays, kinds, out):
        """Results in the storage that MXNet gives them."""
        from ._sparse.invoke import stored, write_any_storage

        arrays = arrays if isinstance(arrays, list) else [arrays]
        arrays = [stored(a, kind) for a, kind in zip(arrays, kinds, strict=True)]
        if out is None:
            return arrays[0] if len(arrays) == 1 else arrays
        for target, array in zip(out if isinstance(out, (list, tuple)) else [out], arrays, strict=True):
            write_any_storage(target, array)
        return out

    def register_op_hook(self, callback, monitor_all=False):
        """Call a function with the outputs of every operator at each run.

        Parameters
        ----------
        callback : callable
            Called as `callback(name, operator, array)`.
        monitor_all : bool, default False
            Whether inputs are reported as well.

        Examples
        --------
        >>> op = mx.nd.CachedOp(mx.sym.relu(mx.sym.var("x"), name="act"))
        >>> op.register_op_hook(lambda name, operator, array: None)
        """
        self._monitor = callback, monitor_all

    def _watched(self, program):
        """What runs the graph while somebody looks at it."""
        from .._graph.debug.monitored_run import MonitoredRun

        callback, everything = self._monitor
        ctx = program.context_of(program.heads[0].node)

        def show(name, operator, tensor):
            a = _new(NDArray)
            a._t, a._ctx, a._ag = tensor, ctx, None
            callback(name, operator, a)

        return MonitoredRun(program, show, everything, by_operator=True).run
