"""Functions with a gradient of their own: one `torch.autograd.Function` for kernels and operators alike."""

from collections.abc import Callable
from typing import Any

import torch

Backward = Callable[[Any, Any, Any], Any]  # (inputs, outputs, heads) -> a gradient or None for each input


class CustomGradient(torch.autograd.Function):
    """`forward(*inputs)`, differentiated by `backward(inputs, outputs, heads)`; inputs and outputs are saved."""

    @staticmethod
    def forward(ctx: Any, forward: Callable[..., Any], backward: Backward, *inputs: Any) -> Any:
        result = forward(*inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        ctx.rule, ctx.number = backward, len(inputs)
        ctx.save_for_backward(*inputs, *outputs)
        return result

    @staticmethod
    def backward(ctx: Any, *heads: torch.Tensor) -> Any:
        saved = ctx.saved_tensors
        grads = ctx.rule(saved[: ctx.number], saved[ctx.number :], heads)
        if not isinstance(grads, (tuple, list)):
            grads = (grads,)
        return (None, None, *grads, *[None] * (ctx.number - len(grads)))


def with_gradient(forward: Callable[..., Any], backward: Backward, *inputs: torch.Tensor | None) -> Any:
    """`forward(*inputs)`; `backward` computes the gradients if any input requires one."""
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in inputs):
        return CustomGradient.apply(forward, backward, *inputs)
    return forward(*inputs)
