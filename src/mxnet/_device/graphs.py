"""CUDA graphs: a function of tensors that is captured after some runs, and from then on replayed in one launch.

Blocks hybridized with `static_alloc=True, static_shape=True` run by them; `MXNET_ENABLE_CUDA_GRAPHS=0` turns them off.
A graph holds for one signature: the mode, the shapes and types of the data, and the memory of the parameters, whose
values may change. In training there are two graphs, of the forward and of the backward pass. What cannot be captured
(an operator that waits for the device) is run as before, with one warning.
"""

import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import is_
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .._core.environment import is_on
from . import late
from .backward import BackwardPass
from .waiting import ENGINE

WARM_UPS = 3  # runs before a capture: libraries choose their algorithms and allocate in them
MOST = 8  # signatures of one function, and so its graphs
Run = Callable[[list[Tensor]], Sequence[Tensor]]
_CAPTURES = threading.Lock()  # a process captures one graph at a time
_C: Any = torch._C
_END_ALLOCATION = "_cuda_endAllocateToPool"
if not hasattr(_C, _END_ALLOCATION):  # torch 2.6
    _END_ALLOCATION = "_cuda_endAllocateCurrentStreamToPool"


class Captured(NamedTuple):
    """A graph: `replay()` does its work again, on the memory of the capture, and so writes `results` again."""

    replay: Callable[[], None]
    results: Sequence[Any]
    pool: Any  # memory that another graph may share, which is replayed by turns with this one


class CudaGraphs:
    """Captures by torch."""

    def __init__(self) -> None:
        self._streams: dict[torch.device, Any] = {}

    def capture(self, run: Callable[[], Sequence[Any]], device: torch.device, pool: Any = None) -> Captured:
        """The work of `run` as a graph. Other threads may use the device meanwhile."""
        pool = pool or torch.cuda.graph_pool_handle()
        try:
            return self._captured(run, device, pool)
        except RuntimeError:
            self._recover(device, pool)
            raise

    def _captured(self, run: Callable[[], Sequence[Any]], device: torch.device, pool: Any) -> Captured:
        """torch's own scope does not give the stream back if a capture fails: the scopes around it do."""
        graph, stream = torch.cuda.CUDAGraph(), self._stream(device)
        with (
            torch.cuda.device(device),
            torch.cuda.stream(torch.cuda.current_stream(device)),
            torch.cuda.graph(graph, pool, stream, capture_error_mode="thread_local"),
        ):
            results = run()
        return Captured(graph.replay, results, pool)

    def _recover(self, device: torch.device, pool: Any) -> None:
        """Undo what a failed capture leaves behind in torch before 2.12, where it ends in the middle.

        The allocator takes the capture for unfinished and never again frees memory that two streams have used. The
        random generator refuses to draw outside of a graph until a capture has ended as it should: one is made.
        """
        with suppress(RuntimeError):  # newer versions have ended it
            getattr(_C, _END_ALLOCATION)(device.index, pool)
        number = torch.zeros(1, device=device)
        with suppress(RuntimeError):
            self._captured(lambda: [number.add_(1)], device, torch.cuda.graph_pool_handle())

    def _stream(self, device: torch.device) -> Any:
        if device not in self._streams:
            self._streams[device] = torch.cuda.Stream(device)
        return self._streams[device]


RUNTIME: Any = CudaGraphs()


def wanted(flags: dict[str, Any]) -> bool:
    """Do a block's flags ask for graphs? The naive engine runs each operator alone."""
    static = bool(flags.get("static_alloc") and flags.get("static_shape"))
    return static and late.can_capture() and not ENGINE.naive and is_on("MXNET_ENABLE_CUDA_GRAPHS", True)


class _Graph:
    """A captured run: its own copies of the data, and the parameters themselves."""

    def __init__(self, run: Run, tensors: Sequence[Tensor], changing: frozenset[int]) -> None:
        self._changing, self._device = changing, tensors[0].device
        with torch.no_grad():
            self.inputs = [t.detach().clone() if i in changing else t.detach() for i, t in enumerate(tensors)]
        self.conditions = late.Conditions(self._device)

    def _capture(self, run: Callable[[], Sequence[Any]], pool: Any = None) -> Captured:
        with self.conditions:
            return RUNTIME.capture(run, self._device, pool)

    def _replay(self, captured: Captured) -> list[Any]:
        """The results of one more run, in memory of their own."""
        captured.replay()
        self.conditions.look_later()
        return _copies(captured.results)

    def _take(self, tensors: Sequence[Tensor]) -> None:
        for i in self._changing:
            self.inputs[i].data.copy_(tensors[i].detach())


def _copies(tensors: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Copies of those that are there, by few launches."""
    there = [t for t in tensors if t is not None]
    made = [torch.empty_like(t) for t in there]
    if there:
        torch._foreach_copy_(made, there)
    copies = iter(made)
    return [None if t is None else next(copies) for t in tensors]


class _Inference(_Graph):
    """A run without gradients."""

    def __init__(self, run: Run, tensors: Sequence[Tensor], changing: frozenset[int]) -> None:
        super().__init__(run, tensors, changing)
        with torch.no_grad():
            self._forward = self._capture(lambda: run(self.inputs))

    def __call__(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        with torch.no_grad():
            self._take(tensors)
            return self._replay(self._forward)


class _Training(_Graph):
    """A recorded run and its gradients. Activations stay in the graphs' memory until the next run overwrites them."""

    def __init__(self, run: Run, tensors: Sequence[Tensor], changing: frozenset[int]) -> None:
        super().__init__(run, tensors, changing)
        self._run = run
        self._latest: Callable[[], Any] = lambda: None  # torch's node of the last run, if it still lives
        for mine, given in zip(self.inputs, tensors, strict=True):
            mine.requires_grad_(given.requires_grad)
        with torch.enable_grad():
            forward = self._capture(lambda: run(self.inputs))
        self.differentiable = [r.requires_grad for r in forward.results]
        outputs = [r for r in forward.results if r.requires_grad]
        leaves = [t for t in self.inputs if t.requires_grad]
        self._heads = [torch.zeros_like(r) for r in outputs]
        self._backward = self._capture(lambda: self._gradients(outputs, leaves), forward.pool)
        self._forward = forward._replace(results=[r.detach() for r in forward.results])  # forgets torch's own graph

    def _gradients(self, outputs: list[Tensor], leaves: list[Tensor]) -> Sequence[Any]:
        """The graph is retained: a program may run backward twice, so activations must not be overwritten by it."""
        if not outputs:
            return [None] * len(leaves)
        with BackwardPass():
            return torch.autograd.grad(outputs, leaves, self._heads, retain_graph=True, allow_unused=True)

    def busy(self) -> bool:
        """May the last run still be differentiated? Not if nobody holds its node, or a backward pass has freed it."""
        node = self._latest()
        if node is None:
            return False
        try:
            return node.saved_tensors is not None
        except RuntimeError as error:  # freed; or an input was changed since, which does not concern a replay
            return "already been freed" not in str(error)

    def __call__(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        return _Replay.apply(self, *tensors)  # type: ignore[no-any-return]

    def forward(self, node: Any, tensors: Sequence[Tensor]) -> list[Any]:
        """The results of a run; `node` stands for it in torch's graph."""
        self._latest = weakref.ref(node)
        self._take(tensors)
        return self._replay(self._forward)

    def backward(self, heads: Sequence[Tensor]) -> list[Tensor | None]:
        """A gradient for each input of the last run."""
        given = [head for head, counts in zip(heads, self.differentiable, strict=True) if counts]
        torch._foreach_copy_(self._heads, given)
        found = iter(self._replay(self._backward))
        return [next(found) if t.requires_grad else None for t in self.inputs]

    def again(self, tensors: Sequence[Tensor], random: Tensor) -> Sequence[Tensor]:
        """The same run without a graph, which draws the same numbers. States are written by backward passes only."""
        with torch.random.fork_rng([self._device]):
            torch.cuda.set_rng_state(random, self._device)
            return self._run(list(tensors))


class _Replay(torch.autograd.Function):
    """A training graph as one node of torch's graph."""

    @staticmethod
    def forward(ctx: Any, graph: _Training, *tensors: Tensor) -> Any:
        ctx.graph = graph
        ctx.save_for_backward(*tensors)
        ctx.random = torch.cuda.get_rng_state(tensors[0].device)
        results = graph.forward(ctx, tensors)
        ctx.mark_non_differentiable(*(r for r, d in zip(results, graph.differentiable, strict=True) if not d))
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *heads: Tensor) -> Any:
        if torch.is_grad_enabled():
            return None, *_differentiable(ctx, heads)
        return None, *ctx.graph.backward(heads)


def _differentiable(ctx: Any, heads: Sequence[Tensor]) -> list[Any]:
    """Gradients that can be differentiated again: of another run, without a graph."""
    tensors = ctx.saved_tensors
    results = ctx.graph.again(tensors, ctx.random)
    outputs, given = zip(*((r, h) for r, h in zip(results, heads, strict=True) if r.requires_grad), strict=True)
    leaves = [t for t in tensors if t.requires_grad]
    found = iter(torch.autograd.grad(outputs, leaves, given, create_graph=True, allow_unused=True))
    return [next(found) if t.requires_grad else None for t in tensors]


class _Signature:
    """One combination of shapes and parameters' memory: how often it ran, then its graph."""

    def __init__(self, memory: tuple[Any, ...]) -> None:
        self.memory = memory
        self.runs = 0
        self.graph: Any = None


class Graphed:
    """`run(tensors)` by graphs, for `count` tensors.

    `changing` are the places of the data among the tensors, all others are parameters.
    """

    def __init__(self, run: Run, count: int, changing: Sequence[int], name: str) -> None:
        self._run, self._changing, self._name = run, frozenset(changing), name
        self._places = sorted(self._changing), [i for i in range(count) if i not in self._changing]
        self._last: tuple[list[Tensor], list[int], tuple[Any, ...]] = [], [], ()
        self._known: dict[Any, _Signature] = {}
        self._given_up = False
        self._lock = threading.Lock()  # data are copied into the graph's memory, and replayed, by one thread at a time

    def __call__(self, tensors: list[Tensor]) -> Sequence[Tensor]:
        """The results, in memory of their own; recorded if torch's grad mode is on."""
        if self._given_up or not tensors or not tensors[0].is_cuda or late.capturing(tensors[0]):
            return self._run(tensors)
        with self._lock:
            graph = self._graph(tensors)
            if graph is not None:
                return graph(tensors)
        return self._run(tensors)

    def _graph(self, tensors: list[Tensor]) -> Any:
        """The graph to replay; None: not yet, or the last run of it still needs its memory."""
        recorded = torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
        signature = self._signature(tensors, recorded)
        if signature is None:
            return None
        if signature.graph is None:
            signature.runs += 1
            if signature.runs > WARM_UPS and _capturable(tensors):
                signature.graph = self._captured(tensors, recorded)
        return None if recorded and signature.graph is not None and signature.graph.busy() else signature.graph

    def _signature(self, tensors: list[Tensor], recorded: bool) -> _Signature | None:
        memory = self._memory([tensors[i] for i in self._places[1]])
        facts = (memory, *((t.shape, t.dtype, t.device) for t in map(tensors.__getitem__, self._places[0])))
        key = (*facts, *(t.requires_grad for t in tensors)) if recorded else facts
        found = self._known.get(key)
        if found is None and self._has_room(memory):
            found = self._known[key] = _Signature(memory)
        return found

    def _has_room(self, memory: tuple[Any, ...]) -> bool:
        """May one more signature be known? Graphs of this memory stay: shapes that keep changing run without graphs."""
        if len(self._known) >= MOST:
            for key, known in list(self._known.items()):
                if known.graph is None or known.memory != memory:
                    del self._known[key]
                    break
        return len(self._known) < MOST

    def _memory(self, parameters: list[Tensor]) -> tuple[Any, ...]:
        """Where the parameters are. A network has hundreds: the same tensors as before are not described again."""
        addresses = [t.data_ptr() for t in parameters]
        before, seen, facts = self._last
        if addresses != seen or not all(map(is_, parameters, before)):
            facts = tuple((a, t.shape, t.stride(), t.dtype) for a, t in zip(addresses, parameters, strict=True))
            self._last = parameters, addresses, facts
        return facts

    def _captured(self, tensors: list[Tensor], recorded: bool) -> Any:
        try:
            with _CAPTURES:
                if recorded:
                    return _Training(self._run, tensors, self._changing)
                return _Inference(self._run, tensors, self._changing)
        except RuntimeError as error:
            self._given_up, self._known = True, {}
            reason = str(error).strip().splitlines()[0].split(". ")[0]
            warnings.warn(f"{self._name} runs without a CUDA graph: it cannot be captured ({reason})", stacklevel=3)
            return None


def _capturable(tensors: Sequence[Tensor]) -> bool:
    """Sparse gradients have as many rows as the data have different indices: no graph knows how many."""
    return all(getattr(t, "grad_stype", "default") == "default" for t in tensors)
