"""CUDA graphs: a function of tensors that is captured after some runs, and from then on replayed in one launch.

`MXNET_ENABLE_CUDA_GRAPHS=1` turns them on, for blocks hybridized with `static_alloc=True, static_shape=True`, in
prediction. A graph holds for one signature: the shapes and types of the data, and the memory of the parameters, whose
values may change. What cannot be captured (an operator that waits for the device) is run as before, with one warning.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .._core.environment import is_on
from . import late

WARM_UPS = 3  # runs before a capture: libraries choose their algorithms and allocate in them
MOST = 8  # signatures of one function
Run = Callable[[list[Tensor]], Sequence[Tensor]]
Replay = Callable[[], None]


class CudaGraphs:
    """Captures by torch. Tests have another one, which runs the function again."""

    def capture(self, run: Callable[[], Sequence[Tensor]]) -> tuple[Replay, Sequence[Tensor]]:
        """What replays the work of `run`, and the results that a replay writes into."""
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            results = run()
        return graph.replay, results


RUNTIME: Any = CudaGraphs()


def wanted(flags: dict[str, Any]) -> bool:
    """Do a block's flags and the environment ask for graphs?"""
    return bool(flags.get("static_alloc") and flags.get("static_shape")) and is_on("MXNET_ENABLE_CUDA_GRAPHS")


class _Signature:
    """One combination of shapes and parameters: how often it ran, then its graph."""

    def __init__(self) -> None:
        self.runs, self.replay = 0, None
        self.inputs: list[Tensor] = []
        self.results: Sequence[Tensor] = ()


class Graphed:
    """`run(tensors)` by graphs; `changing` are the places of the data among the tensors, all others are parameters."""

    def __init__(self, run: Run, changing: Sequence[int], name: str) -> None:
        self._run, self._changing, self._name = run, frozenset(changing), name
        self._known: dict[Any, _Signature] = {}
        self._given_up = False

    def __call__(self, tensors: list[Tensor]) -> Sequence[Tensor]:
        """The results, in memory of their own."""
        if self._given_up or not tensors[0].is_cuda or late.capturing(tensors[0]):
            return self._run(tensors)
        signature = self._signature(tensors)
        if signature.replay is None:
            signature.runs += 1
            if signature.runs <= WARM_UPS or not self._captured(signature, tensors):
                return self._run(tensors)
        for i in self._changing:
            signature.inputs[i].copy_(tensors[i])
        signature.replay()  # type: ignore[misc]
        return [result.clone() for result in signature.results]

    def _signature(self, tensors: list[Tensor]) -> _Signature:
        facts = [
            (t.shape, t.dtype, t.device) if i in self._changing else (t.data_ptr(), t.shape, t.stride(), t.dtype)
            for i, t in enumerate(tensors)
        ]
        key = tuple(facts)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MOST:
                self._known.pop(next(iter(self._known)))
            found = self._known[key] = _Signature()
        return found

    def _captured(self, signature: _Signature, tensors: list[Tensor]) -> bool:
        signature.inputs = [t.clone() if i in self._changing else t for i, t in enumerate(tensors)]
        try:
            signature.replay, signature.results = RUNTIME.capture(lambda: self._run(signature.inputs))
        except RuntimeError as error:
            self._given_up, self._known = True, {}
            reason = str(error).strip().splitlines()[0]
            warnings.warn(f"{self._name} runs without a CUDA graph: it cannot be captured ({reason})", stacklevel=2)
            return False
        return True
