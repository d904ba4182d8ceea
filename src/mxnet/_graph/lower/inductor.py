"""Inductor without Dynamo: compiled graphs are called without the guards that torch.compile checks at every call.

Dynamo traces a Python function and evaluates its guards at each call, which takes 60 µs for a small network. A lowered
graph always computes the same for inputs of the same signature, so it is handed to Inductor directly. This is done for
inference only, and for at most two input signatures; everything else goes through torch.compile.
"""

import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.fx as fx

from ..inference.packed_weights import Reordered, in_order, take_out

Signature = tuple[Any, ...]

MAX_SIGNATURES = 2  # full batches and the last one; torch.compile has dynamic shapes for sizes that change more often
# Errors of tracing or compilation; torch.compile then runs the graph, or reports the error.
UNSUPPORTED = (RuntimeError, TypeError, ValueError, AttributeError, AssertionError, LookupError)
# Functions of these modules always compute the same; a user's own operator need not.
PURE_MODULES = ("mxnet._ops.", "mxnet._graph.", "_operator", "torch.", "math")
IMPURE_MODULES = ("mxnet._ops.custom",)


def signature(tensor: torch.Tensor) -> Signature:
    """The properties of an input that compiled code is specialized for."""
    return tensor.__class__, tensor.shape, tensor.stride(), tensor.dtype, tensor.device


class CompiledGraph:
    """Compiled code with the signatures of its inputs; tensors seen in the last call are not checked again."""

    def __init__(self, run: Callable[..., Any], inputs: Sequence[torch.Tensor]) -> None:
        from torch._C._dynamo.guards import GlobalStateGuard

        self.run = run
        self.signatures = list(map(signature, inputs))
        self.last = list(map(weakref.ref, inputs))
        self.state = GlobalStateGuard()

    def fits(self, inputs: Sequence[torch.Tensor]) -> bool:
        """May the code run on these inputs under torch's current global settings?"""
        if not self.state.check():
            return False
        last = self.last
        for i, tensor in enumerate(inputs):
            if last[i]() is not tensor:
                if signature(tensor) != self.signatures[i]:
                    return False
                last[i] = weakref.ref(tensor)
        return True


class InductorGraph:
    """A compiled graph: by Inductor directly for inference, else by `general`, the function from torch.compile."""

    def __init__(self, graph: Any, general: Callable[..., Any], options: dict[str, Any] | None) -> None:
        self.graph, self.general, self.options = graph, general, options
        self.compiled: list[CompiledGraph] = []
        self.supported = isinstance(graph, fx.GraphModule) and all(map(_is_pure, graph.graph.nodes))

    def __call__(self, *inputs: Any) -> Any:
        if not self.supported or torch.is_grad_enabled():
            return self.general(*inputs)
        for code in self.compiled:
            if code.fits(inputs):
                return code.run(*inputs)
        new = self._compile(inputs) if len(self.compiled) < MAX_SIGNATURES else None
        return self.general(*inputs) if new is None else new.run(*inputs)

    def _compile(self, inputs: Sequence[Any]) -> CompiledGraph | None:
        """Compile for these inputs; None, from now on too, if the graph needs torch.compile."""
        if not all(t.__class__ is torch.Tensor for t in inputs):
            return None
        from torch.fx.experimental.proxy_tensor import make_fx  # imported late: it takes half a second

        plain = [t.detach() for t in inputs]
        try:
            with _compiling_flag():
                traced = make_fx(self.graph, tracing_mode="fake")(*plain)
            if not any(map(_writes_inputs, traced.graph.nodes)):
                self.compiled.append(CompiledGraph(self._inductor_code(traced, plain, inputs), inputs))
                return self.compiled[-1]
        except UNSUPPORTED:
            pass
        self.supported = False
        return None

    def _inductor_code(self, traced: fx.GraphModule, plain: list[Any], inputs: Sequence[torch.Tensor]) -> Any:
        """Inductor's code; weights, the inputs with gradients, are passed in the memory order that it prefers."""
        positions = take_out(traced.graph, [t.requires_grad for t in inputs])
        for i in positions:
            plain[i] = in_order(plain[i])
        traced.recompile()
        run: Any = torch._inductor.compile(traced, plain, self.options)  # pyright: ignore[reportPrivateUsage]
        return Reordered(run, positions).run if positions else run


def _is_pure(node: fx.Node) -> bool:
    if node.op != "call_function":
        return node.op in ("placeholder", "output", "call_method")
    module = f"{getattr(node.target, '__module__', None)}."
    return module.startswith(PURE_MODULES) and not module.startswith(IMPURE_MODULES)


def _writes_inputs(node: fx.Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    given = [a for a in node.args if isinstance(a, fx.Node) and a.op == "placeholder"]
    return bool(given) and schema is not None and schema.is_mutable


@contextmanager
def _compiling_flag() -> Generator[None]:
    """Set the flag by which operators see that torch is compiling, and choose traceable implementations."""
    before = torch.compiler._is_compiling_flag  # pyright: ignore[reportPrivateUsage]
    torch.compiler._is_compiling_flag = True  # pyright: ignore[reportPrivateUsage]
    try:
        yield
    finally:
        torch.compiler._is_compiling_flag = before  # pyright: ignore[reportPrivateUsage]
