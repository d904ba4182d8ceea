"""Inductor's code called without what torch.compile does around it at every call.

torch.compile finds out by Dynamo what a Python function computes, and asks at each call if that still holds: 60 µs for
a small network. A lowered graph is known to compute the same for inputs of the same form, so that it can be handed to
Inductor as it is. Only predictions go this way, of at most two forms of inputs; the rest is torch.compile's.
"""

import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.fx as fx

from ..inference.packed_weights import Reordered, in_order, take_out

Form = tuple[Any, ...]

FORMS = 2  # whole batches and the last one; torch.compile makes code for sizes that change more often
# What a graph may hold that Inductor cannot follow; torch.compile then says why, or finds another way.
REFUSALS = (RuntimeError, TypeError, ValueError, AttributeError, AssertionError, LookupError)
# Functions of these modules compute the same whenever they are called; a user's own operator need not.
STEADY = ("mxnet._ops.", "mxnet._graph.", "_operator", "torch.", "math")
UNSTEADY = ("mxnet._ops.custom",)


def form(tensor: torch.Tensor) -> Form:
    """What compiled code relies on."""
    return tensor.__class__, tensor.shape, tensor.stride(), tensor.dtype, tensor.device


class Code:
    """Compiled code for inputs of certain forms; those that were there the last time need no second look."""

    def __init__(self, run: Callable[..., Any], inputs: Sequence[torch.Tensor]) -> None:
        from torch._C._dynamo.guards import GlobalStateGuard

        self.run = run
        self.forms = list(map(form, inputs))
        self.last = list(map(weakref.ref, inputs))
        self.state = GlobalStateGuard()

    def fits(self, inputs: Sequence[torch.Tensor]) -> bool:
        """May the code run on these, in torch's settings as they are now?"""
        if not self.state.check():
            return False
        last = self.last
        for i, tensor in enumerate(inputs):
            if last[i]() is not tensor:
                if form(tensor) != self.forms[i]:
                    return False
                last[i] = weakref.ref(tensor)
        return True


class Direct:
    """A lowered graph, compiled: for predictions by Inductor at once, else by `general`, torch.compile's function."""

    def __init__(self, graph: Any, general: Callable[..., Any], options: dict[str, Any] | None) -> None:
        self.graph, self.general, self.options = graph, general, options
        self.codes: list[Code] = []
        self.able = isinstance(graph, fx.GraphModule) and all(map(_steady, graph.graph.nodes))

    def __call__(self, *inputs: Any) -> Any:
        if not self.able or torch.is_grad_enabled():
            return self.general(*inputs)
        for code in self.codes:
            if code.fits(inputs):
                return code.run(*inputs)
        made = self._made(inputs) if len(self.codes) < FORMS else None
        return self.general(*inputs) if made is None else made.run(*inputs)

    def _made(self, inputs: Sequence[Any]) -> Code | None:
        """Code for these inputs; None, also from now on, where only torch.compile can tell what the graph does."""
        if not all(t.__class__ is torch.Tensor for t in inputs):
            return None
        from torch.fx.experimental.proxy_tensor import make_fx  # which takes half a second

        plain = [t.detach() for t in inputs]
        try:
            with _compiling():
                traced = make_fx(self.graph, tracing_mode="fake")(*plain)
            if not any(map(_writes_inputs, traced.graph.nodes)):
                self.codes.append(Code(self._compiled(traced, plain, inputs), inputs))
                return self.codes[-1]
        except REFUSALS:
            pass
        self.able = False
        return None

    def _compiled(self, traced: fx.GraphModule, plain: list[Any], inputs: Sequence[torch.Tensor]) -> Any:
        """Inductor's code; weights, which are inputs with gradients, come to it in the order that it wants."""
        places = take_out(traced.graph, [t.requires_grad for t in inputs])
        for i in places:
            plain[i] = in_order(plain[i])
        traced.recompile()
        run: Any = torch._inductor.compile(traced, plain, self.options)  # pyright: ignore[reportPrivateUsage]
        return Reordered(run, places).run if places else run


def _steady(node: fx.Node) -> bool:
    if node.op != "call_function":
        return node.op in ("placeholder", "output", "call_method")
    module = f"{getattr(node.target, '__module__', None)}."
    return module.startswith(STEADY) and not module.startswith(UNSTEADY)


def _writes_inputs(node: fx.Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    given = [a for a in node.args if isinstance(a, fx.Node) and a.op == "placeholder"]
    return bool(given) and schema is not None and schema.is_mutable


@contextmanager
def _compiling() -> Generator[None]:
    """Operators choose between their ways by asking torch if it compiles."""
    before = torch.compiler._is_compiling_flag  # pyright: ignore[reportPrivateUsage]
    torch.compiler._is_compiling_flag = True  # pyright: ignore[reportPrivateUsage]
    try:
        yield
    finally:
        torch.compiler._is_compiling_flag = before  # pyright: ignore[reportPrivateUsage]
