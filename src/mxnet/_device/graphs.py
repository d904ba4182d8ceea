"""CUDA graphs: a function of tensors that is captured after some runs, and from then on replayed in one launch.

`MXNET_ENABLE_CUDA_GRAPHS=1` turns them on, for blocks hybridized with `static_alloc=True, static_shape=True`. A graph
holds for one signature: the mode, the shapes and types of the data, and the memory of the parameters, whose values may
change. In training there are two graphs, of the forward and of the backward pass. What cannot be captured (an operator
that waits for the device) is run as before, with one warning.
"""

import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from .._core.environment import is_on
from .._core.errors import MXNetError
from . import late

WARM_UPS = 3  # runs before a capture: libraries choose their algorithms and allocate in them
MOST = 8  # signatures of one function
Run = Callable[[list[Tensor]], Sequence[Tensor]]
_CAPTURES = threading.Lock()  # a process captures one graph at a time


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
        """The work of `run` as a graph. Other threads may use the device meanwhile.

        torch's own scope does not give the stream back if a capture fails: the scopes around it do.
        """
        graph, stream = torch.cuda.CUDAGraph(), self._stream(device)
        with (
            torch.cuda.device(device),
            torch.cuda.stream(torch.cuda.current_stream(device)),
            torch.cuda.graph(graph, pool, stream, capture_error_mode="thread_local"),
        ):
            results = run()
        return Captured(graph.replay, results, graph.pool())

    def _stream(self, device: torch.device) -> Any:
        if device not in self._streams:
            self._streams[device] = torch.cuda.Stream(device)
        return self._streams[device]


RUNTIME: Any = CudaGraphs()


def wanted(flags: dict[str, Any]) -> bool:
    """Do a block's flags and the environment ask for graphs?"""
    return bool(flags.get("static_alloc") and flags.get("static_shape")) and is_on("MXNET_ENABLE_CUDA_GRAPHS")


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

    def __init__(self, run: Run, tensors: Sequence[Tensor], changing: frozenset[int], repeatable: bool) -> None:
        super().__init__(run, tensors, changing)
        self.plain, self.repeatable = run, repeatable
        self._latest: Callable[[], Any] = lambda: None
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
        return torch.autograd.grad(outputs, leaves, self._heads, retain_graph=True, allow_unused=True)

    def busy(self) -> bool:
        """Are the activations of the last run still needed?"""
        last = self._latest()
        return last is not None and not last.done

    def __call__(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        return _Replay.apply(self, *tensors)  # type: ignore[no-any-return]

    def forward(self, tensors: Sequence[Tensor]) -> tuple["_Use", list[Any]]:
        """A mark of this run, and its results."""
        use = _Use()
        self._latest = weakref.ref(use)
        self._take(tensors)
        return use, self._replay(self._forward)

    def backward(self, use: "_Use", heads: Sequence[Tensor]) -> list[Tensor | None]:
        """A gradient for each input."""
        if self._latest() is not use:
            raise MXNetError(f"a later run has overwritten the activations of this one; {_ADVICE}")
        use.done = True
        given = [head for head, counts in zip(heads, self.differentiable, strict=True) if counts]
        torch._foreach_copy_(self._heads, given)
        found = iter(self._replay(self._backward))
        return [next(found) if t.requires_grad else None for t in self.inputs]


_ADVICE = "hybridize the block without static_shape, or set MXNET_ENABLE_CUDA_GRAPHS=0"


class _Use:
    """One run of a training graph, kept by torch's graph of it; `done` after its backward pass."""

    __slots__ = ("__weakref__", "done")

    def __init__(self) -> None:
        self.done = False


class _Replay(torch.autograd.Function):
    """A training graph as one node of torch's graph."""

    @staticmethod
    def forward(ctx: Any, graph: _Training, *tensors: Tensor) -> Any:
        ctx.graph = graph
        ctx.save_for_backward(*tensors)
        ctx.use, results = graph.forward(tensors)
        ctx.mark_non_differentiable(*(r for r, d in zip(results, graph.differentiable, strict=True) if not d))
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *heads: Tensor) -> Any:
        if torch.is_grad_enabled():
            return None, *_differentiable(ctx.graph, ctx.saved_tensors, heads)
        return None, *ctx.graph.backward(ctx.use, heads)


def _differentiable(graph: _Training, tensors: Sequence[Tensor], heads: Sequence[Tensor]) -> list[Any]:
    """Gradients that can be differentiated again: of another run, without a graph."""
    if not graph.repeatable:
        raise MXNetError(f"gradients of gradients need a second run, but this one draws or keeps states; {_ADVICE}")
    results = graph.plain(list(tensors))
    outputs, given = zip(*((r, h) for r, h in zip(results, heads, strict=True) if r.requires_grad), strict=True)
    leaves = [t for t in tensors if t.requires_grad]
    found = iter(torch.autograd.grad(outputs, leaves, given, create_graph=True, allow_unused=True))
    return [next(found) if t.requires_grad else None for t in tensors]


class _Signature:
    """One combination of shapes and parameters: how often it ran, then its graph."""

    def __init__(self) -> None:
        self.runs = 0
        self.graph: Any = None


class Graphed:
    """`run(tensors)` by graphs.

    `changing` are the places of the data among the tensors, all others are parameters; `repeatable` says that a second
    run would give the same results and leave no trace.
    """

    def __init__(self, run: Run, changing: Sequence[int], name: str, repeatable: bool = True) -> None:
        self._run, self._changing, self._name, self._repeatable = run, frozenset(changing), name, repeatable
        self._known: dict[Any, _Signature] = {}
        self._given_up = False
        self._lock = threading.Lock()  # data are copied into the graph's memory, and replayed, by one thread at a time

    def __call__(self, tensors: list[Tensor]) -> Sequence[Tensor]:
        """The results, in memory of their own; recorded if torch's grad mode is on."""
        if self._given_up or not tensors[0].is_cuda or late.capturing(tensors[0]):
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
        if signature.graph is None:
            signature.runs += 1
            if signature.runs > WARM_UPS and _capturable(tensors):
                signature.graph = self._captured(tensors, recorded)
        return None if recorded and signature.graph is not None and signature.graph.busy() else signature.graph

    def _signature(self, tensors: list[Tensor], recorded: bool) -> _Signature:
        facts = [
            (t.shape, t.dtype, t.device) if i in self._changing else (t.data_ptr(), t.shape, t.stride(), t.dtype)
            for i, t in enumerate(tensors)
        ]
        key = (*facts, *(t.requires_grad for t in tensors)) if recorded else tuple(facts)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MOST:
                self._known.pop(next(iter(self._known)))
            found = self._known[key] = _Signature()
        return found

    def _captured(self, tensors: list[Tensor], recorded: bool) -> Any:
        try:
            with _CAPTURES:
                if recorded:
                    return _Training(self._run, tensors, self._changing, self._repeatable)
                return _Inference(self._run, tensors, self._changing)
        except RuntimeError as error:
            self._given_up, self._known = True, {}
            reason = str(error).strip().splitlines()[0]
            warnings.warn(f"{self._name} runs without a CUDA graph: it cannot be captured ({reason})", stacklevel=3)
            return None


def _capturable(tensors: Sequence[Tensor]) -> bool:
    """Sparse gradients have as many rows as the data have different indices: no graph knows how many."""
    return all(getattr(t, "grad_stype", "default") == "default" for t in tensors)
