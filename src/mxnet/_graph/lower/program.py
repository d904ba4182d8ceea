"""A graph ready to run: code for training and inference, generated when first needed, and device placement."""

import functools
import linecache
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

from ..._core.errors import MXNetError, cause
from ..._core.lru import Recent
from ..._core.writes import wrote_anywhere
from ..._device import late
from ..._kernels.registry import OFF, SWITCH
from ...context import Context
from ..infer.fixpoint import Facts, shape_facts, type_facts
from ..infer.storage import SparsePlan
from ..inference.fold import Folding, fold
from ..inference.fuse import fused
from ..inference.int8 import with_packed_integers
from ..inference.parameter_watch import FirstPrediction
from ..ir.node import Entry, Node, mutated_variables, walk
from ..training.memory_format import compilable, ordered
from ..training.mirror import is_wanted as mirror_wanted
from .backends import Compiler
from .codegen import FILE_PREFIX
from .direct import run_directly, runs_directly
from .lower import DevicePlacement, Lowered, NodeStates, Stypes, has_inferred_sizes, lower

MAX_CACHED_CODES = 256  # of one graph: code may depend on the inputs' sizes, and some programs never repeat them
# What operators raise for invalid inputs.
OPERATOR_ERRORS = (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError, MemoryError)
# Outputs of these operators are losses: their gradient does not depend on the head gradient.
LOSSES = frozenset(
    [
        "SoftmaxOutput",
        "LinearRegressionOutput",
        "LogisticRegressionOutput",
        "MAERegressionOutput",
        "SVMOutput",
        "MakeLoss",
        "make_loss",
        "BlockGrad",
        "stop_gradient",
        "Softmax",
    ]
)


# Losses whose gradient rule computes the gradient of the first input from inputs and output alone.
LOSSES_WITH_RULE = frozenset(
    ["SoftmaxOutput", "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"]
)


def placement(heads: Iterable[Entry], ctx: Context, groups: dict[str, Context] | None) -> DevicePlacement:
    """The context of each node: that of its `ctx_group`, else of its inputs, else of its users, else `ctx`."""
    if not groups:
        return lambda node: ctx
    nodes = walk(heads)
    contexts: dict[int, Context] = {}
    for node in nodes:
        group = groups.get(node.attrs.get("__ctx_group__", ""))
        if group is None:
            group = next((contexts[id(e.node)] for e in node.inputs if id(e.node) in contexts), None)
        if group is not None:
            contexts[id(node)] = group
    for node in reversed(nodes):
        where = contexts.setdefault(id(node), ctx) if node.op is not None else contexts.get(id(node))
        for entry in node.inputs if where is not None else ():
            contexts.setdefault(id(entry.node), where)  # type: ignore[arg-type]
    return lambda node: contexts.get(id(node), ctx)


class Program:
    """The graph below `heads` as runnable code; inputs are in the order of `list_inputs()`.

    `executor` is for bound graphs: heads that are losses carry their gradient rules instead of being recorded (see
    `with_deferred_rule`), and custom operators live as long as the program, as they do in MXNet's executors.
    """

    def __init__(
        self,
        heads: Iterable[Entry],
        context_of: DevicePlacement | Context,
        compiler: Compiler | None = None,
        executor: bool = False,
    ) -> None:
        self.heads, self.compiler = list(heads), compiler
        self._context = context_of if isinstance(context_of, Context) and not executor else None
        self.context_of: DevicePlacement = (lambda node: context_of) if isinstance(context_of, Context) else context_of
        self.nodes = walk(self.heads)
        self.variables = [n for n in self.nodes if n.op is None]
        mutated = mutated_variables(self.nodes)
        self.deferred = self._heads_with_rule() if executor else []
        self.node_states: NodeStates | None = {} if executor else None
        self.dense = True  # are all inputs dense?
        self.stypes: Stypes = {}
        self.sparse: SparsePlan | None = None  # which values are sparse tensors
        self.trained: set[int] | None = None  # ids of the nodes that backward passes visit; None: all of a recorded run
        self.head_stypes: list[str] | None = None  # storage types of the heads, if not all are dense
        self.states = [i for i, n in enumerate(self.variables) if id(n) in mutated]
        self.has_inferred_sizes = has_inferred_sizes(self.nodes)
        self.owns_output = len(self.heads) == 1 and _owns_output(self.heads[0].node)
        self._codes: Recent[Any, tuple[Lowered, list[Any]]] = Recent(MAX_CACHED_CODES)
        self._folding: Folding | bool | None = None
        self._first_prediction: FirstPrediction | None = None
        self._uncompiled: Callable[..., Any] | None = None  # runs until a compiled program can be folded
        self._checked: set[Any] = set()

    @functools.cached_property
    def writes_in_inference(self) -> bool:
        """Are variables written even in inference?"""
        return any(_writes_in_inference(node, self.trained) for node in self.nodes)

    def _heads_with_rule(self) -> list[Node]:
        """Loss heads with a gradient rule whose values no other node uses."""
        used = {id(entry.node) for node in self.nodes for entry in node.inputs}
        heads = [entry.node for entry in self.heads]
        return [n for n in heads if n.op is not None and n.op.name in LOSSES_WITH_RULE and id(n) not in used]

    def code(self, train: bool, tensors: Sequence[torch.Tensor]) -> tuple[Lowered, list[Any]]:
        """The code for a mode, with the random streams it draws from; unrewritten while kernels are switched off."""
        key: Any = (train, tuple(t.shape for t in tensors)) if self.has_inferred_sizes else train
        if SWITCH.mode == OFF:
            key = OFF, key
        code = self._codes.get(key) or self._codes.again(key)
        if code is None:
            code = self._codes.keep(key, self._make(train, tensors))
        return code

    def _make(self, train: bool, tensors: Sequence[torch.Tensor]) -> tuple[Lowered, list[Any]]:
        shapes = self.shapes([tuple(t.shape) for t in tensors]) if self.has_inferred_sizes else None
        mirror = train and mirror_wanted(self.nodes)
        options = self._options
        if mirror and self.sparse is not None:  # what is computed twice is computed on dense copies
            options["sparse"] = self.sparse.of_inputs(self.variables)
        lowered = lower(self.heads, train, self.context_of, shapes, self.variables, mirror, self.deferred, **options)
        rewrite = SWITCH.mode != OFF
        if self.compiler is not None:
            code = lowered.module if train or not rewrite else compilable(lowered.module)
            lowered.run = self.compiler(code.as_module())
        elif rewrite and not mirror:
            module = with_packed_integers(fused(lowered.module))
            module = (ordered(module) if train else None) or module
            lowered.run, lowered.code = module.forward, module
        return lowered, [_stream(ctx) for ctx in lowered.streams]

    @property
    def _options(self) -> dict[str, Any]:
        found = {"node_states": self.node_states, "stypes": self.stypes, "trained": self.trained}
        return {**found, "sparse": self.sparse}

    def steps(self, train: bool, tensors: Sequence[torch.Tensor]) -> tuple[Lowered, list[Any]]:
        """Code without rewriting: one call per operator, for monitors of intermediate values."""
        shapes = tuple(tuple(t.shape) for t in tensors) if self.has_inferred_sizes else None
        code = self._codes.again(("steps", train, shapes))
        if code is None:
            facts = self.shapes(shapes) if shapes is not None else None
            lowered = lower(self.heads, train, self.context_of, facts, self.variables, **self._options)
            code = self._codes.keep(("steps", train, shapes), (lowered, [_stream(ctx) for ctx in lowered.streams]))
        return code

    def run(self, tensors: Sequence[torch.Tensor], train: bool) -> tuple[torch.Tensor, ...]:
        """The heads' values, recorded for autograd if torch's grad mode is on."""
        rewritten = SWITCH.mode != OFF
        known = None if self.has_inferred_sizes or not rewritten else self._codes.get(train)
        if known is None and rewritten and not train and self._first_prediction is None:
            results = self._run_first(tensors)
            if results is not None:
                return results
        lowered, streams = known or self.code(train, tensors)
        if streams and tensors and late.capturing(tensors[0]):
            streams = [_NO_STREAM] * len(streams)
        run = lowered.run
        if rewritten and not train and self._folding is not False and not torch.is_grad_enabled():
            results = self._run_folded(lowered, tensors, streams)
            if results is not None:
                return results
            run = self._unfolded(lowered)
        try:
            return run(*tensors, *streams)
        except MXNetError as error:
            raise with_node_name(lowered, error, _running(error)) from None
        except OPERATOR_ERRORS as error:
            raise lowered.explain([*tensors, *streams], error) from cause(error)
        finally:
            if train or self.writes_in_inference or torch.is_grad_enabled():
                wrote_anywhere()

    @property
    def folding(self) -> Folding | bool | None:
        """The graph folded for inference, if there is one by now."""
        return self._folding

    def same_types_as_before(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Do the inputs have the types of an earlier run? A cheap test; False if unknown."""
        return isinstance(self._folding, Folding) and self._folding.familiar(tensors)

    def _run_first(self, tensors: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...] | None:
        """The heads of a first prediction, operator by operator; None if that does not apply, or an operator failed."""
        ctx = self._context
        if ctx is None or torch.is_grad_enabled() or self.sparse is not None or not self.dense:
            return None
        if self._folding is not None or not (self._foldable() and self._may_wait() and runs_directly(self.nodes)):
            return None
        draws = any(node.op is not None and "_rng" in node.op.injected for node in self.nodes)
        try:
            results = run_directly(self.nodes, self.heads, tensors, ctx, _stream(ctx) if draws else None)
        except (MXNetError, *OPERATOR_ERRORS):  # the code runs next and reports which operator failed
            return None
        self._first_prediction = FirstPrediction(self._parameters, tensors)
        return results

    def _run_folded(
        self, lowered: Lowered, tensors: Sequence[torch.Tensor], streams: list[Any]
    ) -> tuple[torch.Tensor, ...] | None:
        """The heads by the folded graph; None if it does not apply, or failed."""
        if self._folding is None:
            if self._first_prediction is None and self._foldable() and self._may_wait():
                self._first_prediction = FirstPrediction(self._parameters, tensors)
                return None
            self._folding = self._foldable() and fold(lowered, tensors, self.compiler)
        if not self._folding:
            return None
        ready = self._folding.layers(tensors, self._first_prediction)
        if ready is None:
            return None
        layers, same = ready
        if streams and not same():  # random numbers must not be drawn for a run that is discarded
            return self._folding.note(tensors)
        try:
            results = self._folding.run(tensors, streams, layers)
        except OPERATOR_ERRORS:  # the unfolded graph runs next and reports which operator failed
            results = None
        return results if same() else self._folding.note(tensors)

    def _foldable(self) -> bool:
        names = {node.op.name for node in self.nodes if node.op is not None}
        return not self.has_inferred_sizes and not names.isdisjoint(("Convolution", "FullyConnected"))

    def _may_wait(self) -> bool:
        """May rewriting wait for a second prediction? A single one is quicker without it."""
        return self.compiler is None and not self.writes_in_inference

    @functools.cached_property
    def _parameters(self) -> list[int]:
        """The variables that no operator takes as its first input, which is where data go."""
        first = {id(node.inputs[0].node) for node in self.nodes if node.inputs}
        return [i for i, node in enumerate(self.variables) if id(node) not in first]

    def _unfolded(self, lowered: Lowered) -> Callable[..., Any]:
        """What runs the unfolded graph: uncompiled code if the next run will be folded, which saves a compilation."""
        if self.compiler is None or not isinstance(self._folding, Folding) or not self._folding.expected:
            return lowered.run
        self._uncompiled = self._uncompiled or fused(lowered.module).forward
        return self._uncompiled

    def shapes(self, given: Sequence[tuple[int, ...]]) -> Facts:
        """Infer all shapes of the graph for inputs of these shapes."""
        names = {n.name: s for n, s in zip(self.variables, given, strict=True)}
        return shape_facts(self.heads, names)

    def check_types(self, types: tuple[str, ...]) -> None:
        """Refuse inputs of incompatible dtypes; each combination is checked once."""
        if types not in self._checked:
            type_facts(self.heads, {n.name: t for n, t in zip(self.variables, types, strict=True)})
            self._checked.add(types)


def _owns_output(node: Node) -> bool:
    """Is its result certain to share no memory with an input?"""
    while node.op is not None and node.op.name in ("Flatten", "Reshape"):
        node = node.inputs[0].node
    return node.op is not None and node.op.name in ("Convolution", "FullyConnected", "softmax", "log_softmax")


def _writes_in_inference(node: Node, trained: set[int] | None) -> bool:
    """Does it write variables even in inference? Batch norms set a fixed gamma to one (`_ops.batch_norm.fixed`)."""
    op = node.op
    if op is None or op.mutates or "fix_gamma" not in op.attrs or not node.parsed.get("fix_gamma", True):
        return op is not None and bool(op.mutates)
    return "_set_gamma" not in op.injected or (trained is not None and id(node) in trained)


def with_node_name(lowered: Lowered, error: MXNetError, running: Iterable[str]) -> MXNetError:
    """An operator's error with the name of the node; `running` are the names of the values being computed."""
    node = next((lowered.calls[name] for name in running if name in lowered.calls), None)
    if node is None or node.op is None or f"Error in operator {node.name}" in str(error):
        return error
    return type(error)(f"Error in operator {node.name}: {str(error).rstrip()} ({node.op.name})")


def _running(error: MXNetError) -> Iterator[str]:
    """The names of the values that generated code was computing when the error was raised, outermost first."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename.startswith((FILE_PREFIX, "<eval_with_key>")):  # torch's name for such code
            yield linecache.getline(frame.f_code.co_filename, line, frame.f_globals).split("=")[0].strip()


class _NoStream:
    """Replaces the host's random stream during CUDA graph capture: replays would repeat the same random numbers."""

    def __getattr__(self, name: str) -> Any:
        raise MXNetError("random numbers are drawn by the host")


_NO_STREAM = _NoStream()


def _stream(ctx: Context) -> Any:
    from ..._core.streams import stream

    return stream(ctx.device_typeid, ctx.device_id)
