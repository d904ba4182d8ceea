"""A graph made ready to run: code for training and for inference, made when first needed, and where each node runs."""

import functools
import linecache
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

from ..._core.errors import MXNetError
from ..._core.lru import Recent
from ..._core.writes import wrote_anywhere
from ..._kernels.registry import OFF, SWITCH
from ...context import Context
from ..infer.fixpoint import Facts, shape_facts, type_facts
from ..inference.fold import Folding, fold
from ..inference.fuse import fused
from ..inference.int8 import with_packed_integers
from ..ir.node import Entry, Node, auxiliary, walk
from ..training.memory_format import compilable, ordered
from ..training.mirror import wanted as mirror_wanted
from .backends import Compiler
from .codegen import FILE
from .lower import Kept, Lowered, Place, Stypes, lower, unsized

MOST_CODES = 256  # of one graph: where code depends on the inputs' sizes, some programs have ever new ones
# What operators raise when they are given something they cannot work with.
FAILURES = (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError)
# Outputs of these operators are losses: their gradient does not depend on what follows.
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


# Of these the gradient of the first input follows from inputs and output alone, by a rule of the operator.
RULED = frozenset(["SoftmaxOutput", "LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"])


def placement(heads: Iterable[Entry], ctx: Context, groups: dict[str, Context] | None) -> Place:
    """Where each node runs: its `ctx_group` says, else its inputs' place, else its users', else `ctx`."""
    if not groups:
        return lambda node: ctx
    nodes = walk(heads)
    places: dict[int, Context] = {}
    for node in nodes:
        group = groups.get(node.attrs.get("__ctx_group__", ""))
        if group is None:
            group = next((places[id(e.node)] for e in node.inputs if id(e.node) in places), None)
        if group is not None:
            places[id(node)] = group
    for node in reversed(nodes):
        where = places.setdefault(id(node), ctx) if node.op is not None else places.get(id(node))
        for entry in node.inputs if where is not None else ():
            places.setdefault(id(entry.node), where)  # type: ignore[arg-type]
    return lambda node: places.get(id(node), ctx)


class Program:
    """The graph below `heads`, placed, as runnable code; inputs come in the order of `list_inputs()`.

    With `apart`, heads that are losses carry the rules of their gradients instead of a recorded graph, and custom
    operators live as long as the program, as they do in MXNet's executors.
    """

    def __init__(
        self, heads: Iterable[Entry], place: Place | Context, compiler: Compiler | None = None, apart: bool = False
    ) -> None:
        self.heads, self.compiler = list(heads), compiler
        self.place: Place = (lambda node: place) if isinstance(place, Context) else place
        self.nodes = walk(self.heads)
        self.variables = [n for n in self.nodes if n.op is None]
        changed = auxiliary(self.nodes)
        self.apart = self._losses() if apart else []
        self.kept: Kept | None = {} if apart else None
        self.stypes: Stypes = {}
        self.trained: set[int] | None = None  # nodes that backward passes visit; None: those of recorded runs, all
        self.kinds: list[str] | None = None  # the storage of the heads where it is not all dense
        self.states = [i for i, n in enumerate(self.variables) if id(n) in changed]
        self.unsized = unsized(self.nodes)
        self.fresh = len(self.heads) == 1 and _is_fresh(self.heads[0].node)
        self._codes: Recent[Any, tuple[Lowered, list[Any]]] = Recent(MOST_CODES)
        self._folding: Folding | bool | None = None
        self._plain: Callable[..., Any] | None = None  # the graph as it is, until a compiled program can be folded
        self._checked: set[Any] = set()

    @functools.cached_property
    def writes(self) -> bool:
        """Are variables changed even in inference?"""
        return any(_writes(node, self.trained) for node in self.nodes)

    def _losses(self) -> list[Node]:
        """Heads that are losses by a rule of their own, and nothing else."""
        used = {id(entry.node) for node in self.nodes for entry in node.inputs}
        heads = [entry.node for entry in self.heads]
        return [n for n in heads if n.op is not None and n.op.name in RULED and id(n) not in used]

    def code(self, train: bool, tensors: Sequence[torch.Tensor]) -> tuple[Lowered, list[Any]]:
        """The code for a mode, with the random streams it draws from; while kernels are off, the graph as it is."""
        key: Any = (train, tuple(t.shape for t in tensors)) if self.unsized else train
        if SWITCH.mode == OFF:
            key = OFF, key
        made = self._codes.get(key) or self._codes.again(key)
        if made is None:
            made = self._codes.keep(key, self._make(train, tensors))
        return made

    def _make(self, train: bool, tensors: Sequence[torch.Tensor]) -> tuple[Lowered, list[Any]]:
        shapes = self.shapes([tuple(t.shape) for t in tensors]) if self.unsized else None
        mirror = train and mirror_wanted(self.nodes)
        options: dict[str, Any] = {"kept": self.kept, "stypes": self.stypes, "trained": self.trained}
        lowered = lower(self.heads, train, self.place, shapes, self.variables, mirror, self.apart, **options)
        rewrite = SWITCH.mode != OFF
        if self.compiler is not None:
            code = lowered.module if train or not rewrite else compilable(lowered.module)
            lowered.run = self.compiler(code.as_module())
        elif rewrite and not mirror:
            module = with_packed_integers(fused(lowered.module))
            module = (ordered(module) if train else None) or module
            lowered.run, lowered.code = module.forward, module
        return lowered, [_stream(ctx) for ctx in lowered.streams]

    def steps(self, train: bool, tensors: Sequence[torch.Tensor]) -> tuple[Lowered, list[Any]]:
        """Code in which every operator is one call, for those who look at the values in between."""
        shapes = tuple(tuple(t.shape) for t in tensors) if self.unsized else None
        made = self._codes.again(("steps", train, shapes))
        if made is None:
            facts = self.shapes(shapes) if shapes is not None else None
            options: dict[str, Any] = {"kept": self.kept, "stypes": self.stypes, "trained": self.trained}
            lowered = lower(self.heads, train, self.place, facts, self.variables, **options)
            made = self._codes.keep(("steps", train, shapes), (lowered, [_stream(ctx) for ctx in lowered.streams]))
        return made

    def run(self, tensors: Sequence[torch.Tensor], train: bool) -> tuple[torch.Tensor, ...]:
        """The heads' values; torch's grad mode decides if they can be differentiated."""
        rewritten = SWITCH.mode != OFF
        known = None if self.unsized or not rewritten else self._codes.get(train)
        lowered, streams = known or self.code(train, tensors)
        run = lowered.run
        if rewritten and not train and self._folding is not False and not torch.is_grad_enabled():
            results = self._run_folded(lowered, tensors, streams)
            if results is not None:
                return results
            run = self._unfolded(lowered)
        try:
            return run(*tensors, *streams)
        except MXNetError as error:
            raise named(lowered, error, _running(error)) from error
        except FAILURES as error:
            raise lowered.explain([*tensors, *streams], error) from error
        finally:
            if train or self.writes or torch.is_grad_enabled():
                wrote_anywhere()

    @property
    def folding(self) -> Folding | bool | None:
        """The graph folded for inference, if there is one by now."""
        return self._folding

    def familiar(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Are they of the types of a run before, to be seen without a look at each?"""
        return isinstance(self._folding, Folding) and self._folding.familiar(tensors)

    def _run_folded(
        self, lowered: Lowered, tensors: Sequence[torch.Tensor], streams: list[Any]
    ) -> tuple[torch.Tensor, ...] | None:
        """The heads by the graph made for inference; None where it does not apply, or has to be explained."""
        if self._folding is None:
            self._folding = self._foldable() and fold(lowered, tensors, self.compiler)
        if not self._folding:
            return None
        ready = self._folding.layers(tensors)
        if ready is None:
            return None
        layers, same = ready
        if streams and not same():  # numbers must not be drawn in vain
            return self._folding.note(tensors)
        try:
            results = self._folding.run(tensors, streams, layers)
        except FAILURES:  # the graph as it is finds the operator to blame, and tells it
            results = None
        return results if same() else self._folding.note(tensors)

    def _foldable(self) -> bool:
        names = {node.op.name for node in self.nodes if node.op is not None}
        return not self.unsized and not names.isdisjoint(("Convolution", "FullyConnected"))

    def _unfolded(self, lowered: Lowered) -> Callable[..., Any]:
        """What runs the graph as it is: a compiler need not look at it if the next run will have it folded."""
        if self.compiler is None or not isinstance(self._folding, Folding) or not self._folding.expected:
            return lowered.run
        self._plain = self._plain or fused(lowered.module).forward
        return self._plain

    def shapes(self, given: Sequence[tuple[int, ...]]) -> Facts:
        """All shapes of the graph for inputs of these shapes."""
        names = {n.name: s for n, s in zip(self.variables, given, strict=True)}
        return shape_facts(self.heads, names)

    def check_types(self, types: tuple[str, ...]) -> None:
        """Refuse inputs whose dtypes do not fit together; each combination is looked at once."""
        if types not in self._checked:
            type_facts(self.heads, {n.name: t for n, t in zip(self.variables, types, strict=True)})
            self._checked.add(types)


def _is_fresh(node: Node) -> bool:
    """Does its result lie, for certain, in memory of its own, which no input has?"""
    while node.op is not None and node.op.name in ("Flatten", "Reshape"):
        node = node.inputs[0].node
    return node.op is not None and node.op.name in ("Convolution", "FullyConnected", "softmax", "log_softmax")


def _writes(node: Node, trained: set[int] | None) -> bool:
    """Does it change variables even in inference? Batch norms set a fixed gamma to one (`_ops.batch_norm.fixed`)."""
    op = node.op
    if op is None or op.mutates or "fix_gamma" not in op.attrs or not node.parsed.get("fix_gamma", True):
        return op is not None and bool(op.mutates)
    return "_set_gamma" not in op.injected or (trained is not None and id(node) in trained)


def named(lowered: Lowered, error: MXNetError, running: Iterable[str]) -> MXNetError:
    """An operator's own refusal with the name of the node, by the names of values in code that were being computed."""
    node = next((lowered.calls[name] for name in running if name in lowered.calls), None)
    if node is None or node.op is None or f"Error in operator {node.name}" in str(error):
        return error
    return type(error)(f"Error in operator {node.name}: {str(error).rstrip()} ({node.op.name})")


def _running(error: MXNetError) -> Iterator[str]:
    """What the lines of generated code were computing when the error came up, outermost first."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename.startswith((FILE, "<eval_with_key>")):  # torch's name for such code
            yield linecache.getline(frame.f_code.co_filename, line, frame.f_globals).split("=")[0].strip()


def _stream(ctx: Context) -> Any:
    from ..._core.streams import stream

    return stream(ctx.device_typeid, ctx.device_id)
