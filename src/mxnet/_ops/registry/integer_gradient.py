"""Whole numbers with gradients, which MXNet has and torch has not: integers with a twin that torch differentiates.
Truth values are whole numbers, too.

A `Whole` is made where a program marks an integer array as a variable, or casts recorded numbers to integers. What
torch does to it is done to its twin in float64, too; other tensors never come here.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map_only


class _Stands(torch.autograd.Function):
    """`values`, whose gradient is that of `twin`."""

    @staticmethod
    def forward(ctx: Any, twin: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        ctx.kind = twin.dtype
        return values.to(torch.float64)

    @staticmethod
    def backward(ctx: Any, *heads: torch.Tensor) -> Any:
        return heads[0].to(ctx.kind), None


class Whole(torch.Tensor):
    """An integer tensor that is part of a graph: `root` is what torch knows of it."""

    root: torch.Tensor

    @property
    def twin(self) -> torch.Tensor:
        """The same numbers in float64, as part of the graph; memory may have been written since the last use."""
        return _Stands.apply(self.root, _plain(self))  # pyright: ignore[reportReturnType]

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in _ANSWERS:
            return _ANSWERS[func](args[0])
        with torch._C.DisableTorchFunctionSubclass():
            result = func(*args, **kwargs)
        if not torch.is_grad_enabled() or not isinstance(result, (torch.Tensor, tuple, list)):
            return result
        return _followed(func, result, args, kwargs)


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    with torch._C.DisableTorchFunctionSubclass():
        return torch.Tensor.detach(tensor)


_ANSWERS: dict[Any, Callable[[Any], Any]] = {
    torch.Tensor.requires_grad.__get__: lambda t: True,  # type: ignore[attr-defined]
    torch.Tensor.grad_fn.__get__: lambda t: t.root.grad_fn,  # type: ignore[attr-defined]
    torch.Tensor.data.__get__: _plain,  # type: ignore[attr-defined]
    torch.Tensor.detach: _plain,
}


def leaf(tensor: torch.Tensor) -> Whole:
    """An integer tensor as a leaf of graphs; its `root` has no memory of its own, and gets the gradients."""
    return tied(
        tensor, torch.zeros((), dtype=torch.float64, device=tensor.device).expand(tensor.shape).requires_grad_()
    )


def tied(tensor: torch.Tensor, root: torch.Tensor) -> Whole:
    """An integer tensor with the graph of `root`."""
    made: Any = torch.Tensor._make_subclass(Whole, tensor)  # type: ignore[attr-defined]
    made.root = root
    return made


def standing_for(tensor: torch.Tensor, value: torch.Tensor) -> Whole:
    """An integer tensor into which a recorded value was written: its gradient is the value's."""
    root = differentiable(value)
    return tied(tensor, root.reshape(tensor.shape) if root.numel() == tensor.numel() else root.expand(tensor.shape))


def differentiable(tensor: torch.Tensor) -> torch.Tensor:
    """What torch differentiates for this tensor."""
    return tensor.root if isinstance(tensor, Whole) else tensor


def plain(values: Any) -> Any:
    """A tensor, or several, without what is known of whole numbers' gradients."""
    return tree_map_only(Whole, _plain, values)


def _followed(func: Callable[..., Any], result: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """`result` with the graph of what `func` makes of the twins; without one where it makes nothing of them."""

    def follow(twin: Callable[[Whole], torch.Tensor]) -> Any:
        some, named = tree_map_only(Whole, twin, (args, kwargs))
        some = [a for a in some if not _is_whole_kind(a)]  # casts between integer types leave a twin as it is
        return func(*some, **{k: v for k, v in named.items() if not _is_whole_kind(v)})

    return _paired(result, lambda: follow(lambda t: t.twin), lambda: follow(_mask_or_twin))


def _mask_or_twin(tensor: Whole) -> torch.Tensor:
    """What a function takes that wants truth values, to choose by them."""
    return _plain(tensor) if tensor.dtype is torch.bool else tensor.twin


def with_rule(rule: Callable[..., Any], forward: Callable[..., Any], backward: Any, inputs: Any) -> Any:
    """An operator with a rule for its gradient: the values by themselves, the gradients by the twins."""
    with torch.no_grad():
        result = forward(*tree_map_only(Whole, _plain, list(inputs)))
    return _paired(result, lambda: rule(forward, backward, *tree_map_only(Whole, lambda t: t.twin, list(inputs))))


def _paired(result: Any, *ways: Callable[[], Any]) -> Any:
    twins = None
    for follow in ways:
        try:
            twins = follow()
            break
        except (RuntimeError, TypeError, IndexError, NotImplementedError):  # bits and indices have no gradient
            continue
    if twins is None:
        return result
    if isinstance(result, torch.Tensor):
        return _one(result, twins)
    return type(result)(map(_one, result, twins))


def _is_whole_kind(value: Any) -> bool:
    return isinstance(value, torch.dtype) and not value.is_floating_point


def _one(result: Any, twin: Any) -> Any:
    if not isinstance(twin, torch.Tensor) or not twin.requires_grad:
        return result
    return twin.to(result.dtype) if result.is_floating_point() else tied(result, twin)
