"""Integer tensors with gradients, which MXNet has and torch has not. Booleans count as integers.

An `IntegerWithGradient` is made where a program marks an integer array as a variable, or casts recorded floats to
integers. Every torch function that is applied to it is also applied to its float shadow, the same values in float64,
which torch can differentiate. Ordinary tensors never come here.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map_only


class _FloatShadow(torch.autograd.Function):
    """`values` as float64; their gradient goes to `root`."""

    @staticmethod
    def forward(ctx: Any, root: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        ctx.dtype = root.dtype
        return values.to(torch.float64)

    @staticmethod
    def backward(ctx: Any, *heads: torch.Tensor) -> Any:
        return heads[0].to(ctx.dtype), None


class IntegerWithGradient(torch.Tensor):
    """An integer tensor that is part of an autograd graph through `root`, a float tensor of its shape."""

    root: torch.Tensor

    @property
    def float_shadow(self) -> torch.Tensor:
        """The same values in float64, as part of the graph. Made anew at each use: the memory may have been written."""
        return _FloatShadow.apply(self.root, _detached(self))  # pyright: ignore[reportReturnType]

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in _OVERRIDES:
            return _OVERRIDES[func](args[0])
        with torch._C.DisableTorchFunctionSubclass():
            result = func(*args, **kwargs)
        if not torch.is_grad_enabled() or not isinstance(result, (torch.Tensor, tuple, list)):
            return result
        return _apply_to_shadows(func, result, args, kwargs)


def _detached(tensor: torch.Tensor) -> torch.Tensor:
    with torch._C.DisableTorchFunctionSubclass():
        return torch.Tensor.detach(tensor)


_OVERRIDES: dict[Any, Callable[[Any], Any]] = {
    torch.Tensor.requires_grad.__get__: lambda t: True,  # type: ignore[attr-defined]
    torch.Tensor.grad_fn.__get__: lambda t: t.root.grad_fn,  # type: ignore[attr-defined]
    torch.Tensor.data.__get__: _detached,  # type: ignore[attr-defined]
    torch.Tensor.detach: _detached,
}


def leaf(tensor: torch.Tensor) -> IntegerWithGradient:
    """An integer tensor as a leaf of graphs; its `root` receives the gradients and has no memory of its own."""
    return with_root(
        tensor, torch.zeros((), dtype=torch.float64, device=tensor.device).expand(tensor.shape).requires_grad_()
    )


def with_root(tensor: torch.Tensor, root: torch.Tensor) -> IntegerWithGradient:
    """An integer tensor that is differentiated through `root`."""
    subclass: Any = torch.Tensor._make_subclass(IntegerWithGradient, tensor)  # type: ignore[attr-defined]
    subclass.root = root
    return subclass


def with_gradient_of(tensor: torch.Tensor, value: torch.Tensor) -> IntegerWithGradient:
    """An integer tensor into which a recorded value was written: its gradient is the value's."""
    root = differentiable(value)
    same_size = root.numel() == tensor.numel()
    return with_root(tensor, root.reshape(tensor.shape) if same_size else root.expand(tensor.shape))


def differentiable(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor that torch differentiates in place of this one."""
    return tensor.root if isinstance(tensor, IntegerWithGradient) else tensor


def plain(values: Any) -> Any:
    """A tensor, or several, with every `IntegerWithGradient` detached."""
    return tree_map_only(IntegerWithGradient, _detached, values)


def _apply_to_shadows(func: Callable[..., Any], result: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """`result` with the graph of `func` applied to the float shadows; without one where `func` refuses floats."""

    def call(shadow: Callable[[IntegerWithGradient], torch.Tensor]) -> Any:
        positional, named = tree_map_only(IntegerWithGradient, shadow, (args, kwargs))
        # Casts between integer types leave a shadow in float64.
        positional = [a for a in positional if not _is_integer_dtype(a)]
        return func(*positional, **{k: v for k, v in named.items() if not _is_integer_dtype(v)})

    return _attach_graph(result, lambda: call(lambda t: t.float_shadow), lambda: call(_mask_or_shadow))


def _mask_or_shadow(tensor: IntegerWithGradient) -> torch.Tensor:
    """The argument of a function that takes boolean masks beside values."""
    return _detached(tensor) if tensor.dtype is torch.bool else tensor.float_shadow


def apply_gradient_rule(rule: Callable[..., Any], forward: Callable[..., Any], backward: Any, inputs: Any) -> Any:
    """An operator with its own gradient rule: values from the integers themselves, gradients from the shadows."""
    with torch.no_grad():
        result = forward(*plain(list(inputs)))

    def on_shadows() -> Any:
        return rule(forward, backward, *tree_map_only(IntegerWithGradient, lambda t: t.float_shadow, list(inputs)))

    return _attach_graph(result, on_shadows)


def _attach_graph(result: Any, *attempts: Callable[[], Any]) -> Any:
    """`result` with the graph of the first attempt that does not raise."""
    shadows = None
    for attempt in attempts:
        try:
            shadows = attempt()
            break
        except (RuntimeError, TypeError, IndexError, NotImplementedError):  # bit operations and indices: no gradient
            continue
    if shadows is None:
        return result
    if isinstance(result, torch.Tensor):
        return _attach_to_tensor(result, shadows)
    return type(result)(map(_attach_to_tensor, result, shadows))


def _is_integer_dtype(value: Any) -> bool:
    return isinstance(value, torch.dtype) and not value.is_floating_point


def _attach_to_tensor(result: Any, shadow: Any) -> Any:
    if not isinstance(shadow, torch.Tensor) or not shadow.requires_grad:
        return result
    return shadow.to(result.dtype) if result.is_floating_point() else with_root(result, shadow)
