"""Where a backward pass of an executor begins: the outputs, with the gradients they are given."""

import torch

from .._core.errors import MXNetError
from .._ops.registry import integer_gradient
from .._ops.registry.gradient import ignores_head, reads_head
from ..ndarray._dispatch.invoke import plain_tensor
from ..ndarray._sparse.invoke import attach_sparse_source, stored
from ..ndarray.ndarray import NDArray, wrap

_HEAD_NEEDED = (
    "Because the last operator is not Loss function, head_gradient is required when calling backward. "
    "If you are attempting to minimize the output as an objective, please modify your network and pass it through the "
    "make_loss symbol."
)


def head_gradients(given, names_of_outputs):
    """The gradients that `backward` got for the outputs, a list in their order; empty if it got none."""
    if given is None:
        return []
    if isinstance(given, NDArray):
        return [given]
    if isinstance(given, dict):
        return [given[name] for name in names_of_outputs()]
    for gradient in given:
        if not isinstance(gradient, NDArray):
            raise TypeError(f"inputs must be NDArray, got {type(gradient)}")
    return list(given)


def roots_and_seeds(outputs, heads, stypes, monitored, ctx):
    """Which tensors to start from and with what gradients.

    A loss starts at its inputs, with the gradients of its deferred rule. Losses, and what follows from them alone, need
    no gradient from outside.
    """
    roots, seeds = [], []
    for i, tensor in enumerate(outputs):
        rule = tensor.__dict__.pop("deferred_rule", None)
        if rule is not None:
            pairs = _inputs_of_loss(tensor, *rule)
        elif tensor.requires_grad:
            tensor = integer_gradient.differentiable(tensor)
            pairs = [(tensor, _seed(i, tensor, heads, stypes[i], monitored, ctx))]
        else:
            continue
        for root, seed in pairs:
            roots.append(root)
            seeds.append(seed)
    return roots, seeds


def _inputs_of_loss(output, begin, inputs):
    seeds = begin(inputs, (output,), ())
    pairs = zip(inputs, seeds, strict=False)
    return [(root, seed) for root, seed in pairs if seed is not None and root.requires_grad]


def _seed(number, tensor, heads, stype, monitored, ctx):
    """The gradient of an output: the one given for it, or ones where none is needed."""
    if not ignores_head(tensor):
        if number < len(heads):
            return _in_storage(_given(heads[number], tensor, number), stype, ctx)
        if reads_head(tensor) if monitored is None else monitored.reads_head(number):
            raise MXNetError(_HEAD_NEEDED)
    return torch.ones_like(tensor)


def _in_storage(seed, stype, ctx):
    """The gradient of a sparse head is sparse too, for operators that look at its storage."""
    return seed if stype == "default" else attach_sparse_source(seed, stored(wrap(seed, ctx), stype))


def _given(gradient, tensor, number):
    """The gradient of an output, which must have its shape."""
    seed = plain_tensor(gradient).detach()
    if seed.shape != tensor.shape:
        raise MXNetError(
            f"Check failed: from.shape() == to.shape(): operands shape mismatch from.shape = {list(seed.shape)} "
            f"to.shape={list(tensor.shape)}: the gradient of output {number} must have the output's shape"
        )
    return seed.to(tensor.device, tensor.dtype)
