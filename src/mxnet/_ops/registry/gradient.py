"""Gradients that differ from torch's own: one rule class for all operators that need one."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..._kernels.runtime.autograd import CustomGradient
from .integer_gradient import Whole, with_rule


class _Apart(threading.local):
    wanted = False


_APART = _Apart()


def rule_apart(function: Callable[..., Any], *tensors: Any, **attrs: Any) -> Any:
    """What an operator returns; a rule that it has for its gradient is not recorded but left on the result.

    `result.rule` is then (rule, inputs), for callers who begin to differentiate here: that way torch need not enter
    Python again in the middle of its backward pass.
    """
    _APART.wanted = True
    try:
        return function(*tensors, **attrs)
    finally:
        _APART.wanted = False


def _leave_rule(forward: Callable[..., Any], backward: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    _APART.wanted = False
    with torch.no_grad():
        result = forward(*inputs)
    result.rule = backward, inputs
    return result


def with_gradient(
    forward: Callable[..., Any],
    backward: Callable[[Any, Any, Any], Any],
    *inputs: torch.Tensor | None,
) -> Any:
    """`forward(*inputs)`, differentiated by `backward(inputs, outputs, heads)`.

    `backward` returns a gradient (or None) per input; missing ones are None. Attributes belong in the two closures,
    tensors must come through `inputs`: the rule saves them, and a closure over them would keep the graph alive.
    """
    if torch.is_grad_enabled():
        for t in inputs:  # a loop, since this is on the way of every call
            if t is not None and t.requires_grad:
                if t.__class__ is Whole:
                    return with_rule(with_gradient, forward, backward, inputs)
                if _APART.wanted:
                    return _leave_rule(forward, backward, inputs)
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
    """Does the operator that made `result` compute its gradient without the one that comes from above?"""
    return _headless(result.grad_fn)


def reads_head(result: torch.Tensor) -> bool:
    """Does a gradient given for `result` reach a variable? If losses and blocks are on all ways, MXNet wants none."""
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
    """`forward(*inputs)` whose gradient is zero. MXNet delivers those zeros, so the result stays part of the graph."""
    return with_gradient(forward, _zeros, *inputs)
