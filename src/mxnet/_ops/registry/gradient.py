"""Gradient rules: operators whose gradient in MXNet differs from the one torch would compute."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..._kernels.runtime.autograd import CustomGradient
from .integer_gradient import IntegerWithGradient, apply_gradient_rule


class _Deferral(threading.local):
    requested = False


_DEFERRAL = _Deferral()


def with_deferred_rule(function: Callable[..., Any], *tensors: Any, **attrs: Any) -> Any:
    """Call an operator's function; its gradient rule is not recorded by torch but attached to the result.

    `result.deferred_rule` is then (rule, inputs). A caller that starts its backward pass at this operator applies the
    rule itself, so that torch's engine need not call back into Python.
    """
    _DEFERRAL.requested = True
    try:
        return function(*tensors, **attrs)
    finally:
        _DEFERRAL.requested = False


def _defer_rule(forward: Callable[..., Any], backward: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    _DEFERRAL.requested = False
    with torch.no_grad():
        result = forward(*inputs)
    result.deferred_rule = backward, inputs
    return result


def with_gradient(
    forward: Callable[..., Any],
    backward: Callable[[Any, Any, Any], Any],
    *inputs: torch.Tensor | None,
) -> Any:
    """`forward(*inputs)`, differentiated by `backward(inputs, outputs, heads)`.

    `backward` returns one gradient (or None) per input; trailing ones may be left out. Attributes belong in the two
    closures; tensors must be passed as `inputs`, which autograd saves: a closure would keep the graph alive.
    """
    if torch.is_grad_enabled():
        for t in inputs:  # a plain loop: this runs at every call of the operator
            if t is not None and t.requires_grad:
                if t.__class__ is IntegerWithGradient:
                    return apply_gradient_rule(with_gradient, forward, backward, inputs)
                if _DEFERRAL.requested:
                    return _defer_rule(forward, backward, inputs)
                return CustomGradient.apply(forward, backward, *inputs)
    return forward(*inputs)


def headless(rule: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a rule that does not read the head gradients: the gradient of a loss, or zeros."""
    rule.headless = True  # type: ignore[attr-defined]
    return rule


@headless
def _zeros(inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor], heads: Sequence[torch.Tensor]) -> Any:
    return [None if t is None else torch.zeros_like(t) for t in inputs]  # pyright: ignore[reportUnnecessaryComparison]


def _headless(node: Any) -> bool:
    return getattr(getattr(node, "rule", node), "headless", False)


def ignores_head(result: torch.Tensor) -> bool:
    """Does the operator that computed `result` ignore the head gradient?"""
    return _headless(result.grad_fn)


def reads_head(result: torch.Tensor) -> bool:
    """Does a head gradient of `result` reach a variable? If losses or blocks are on all paths, MXNet needs none."""
    if result.grad_fn is None:
        return result.requires_grad
    ahead: list[Any] = [result.grad_fn]
    seen: set[Any] = set(ahead)
    while ahead:
        node = ahead.pop()
        if _headless(node):
            continue
        if not node.next_functions:  # torch's mark of a leaf
            return True
        for function, _ in node.next_functions:
            if function is not None and function not in seen:
                seen.add(function)
                ahead.append(function)
    return False


def without_gradient(forward: Callable[..., Any], *inputs: torch.Tensor | None) -> Any:
    """`forward(*inputs)` with a gradient of zero. MXNet returns those zeros, so the result stays part of the graph."""
    return with_gradient(forward, _zeros, *inputs)


def _pass_and_zeros(inputs: Sequence[torch.Tensor], outputs: Any, heads: Sequence[torch.Tensor]) -> Any:
    return [heads[0], *(torch.zeros_like(t) for t in inputs[1:])]


def with_zero_gradients(result: torch.Tensor, *constants: torch.Tensor) -> torch.Tensor:
    """`result` as a part of the graph of `constants`, too: indices and conditions get a gradient of zeros in MXNet."""
    recorded = [t for t in constants if t.requires_grad and t.is_floating_point()]
    if not recorded or not torch.is_grad_enabled() or not result.is_floating_point():
        return result
    return CustomGradient.apply(lambda value, *_: value.view_as(value), _pass_and_zeros, result, *recorded)
