"""Gradient arrays of executors: what `backward` computed is written into them, or added."""

import torch

from .._core.writes import wrote
from ..ndarray._sparse.invoke import store_gradient


class GradientArrays:
    """The arrays that `backward` delivers to; they take the gradients' memory instead of copying where they can."""

    def __init__(self, bound):
        self._arrays, self._reqs = bound.grads, bound.reqs
        self._own = {}  # argument -> the tensor that this executor put into its gradient array

    def deliver(self, arguments, gradients, seeds):
        """Write or add the arguments' gradients; no array may share memory with another or with a seed."""
        taken = {seed.data_ptr() for seed in seeds}
        given = self._own
        for arg, gradient in zip(arguments, gradients, strict=True):
            target = self._arrays[arg]
            if gradient is not None and given.get(arg) is not None and gradient.is_contiguous():
                start = gradient.data_ptr()
                if target._t is given[arg] and start not in taken:  # the common case: take the gradient as it is
                    taken.add(start)
                    target._t = given[arg] = gradient
                    continue
            self._store(arg, gradient, taken)

    def in_storage_of_array(self, arg, gradient):
        """A gradient as a dense tensor if the array for it is dense."""
        sparse = gradient is not None and gradient.is_sparse
        return gradient.to_dense() if sparse and self._arrays[arg].stype == "default" else gradient

    def _store(self, arg, gradient, taken):
        """Write or add a gradient; `taken` has the addresses of tensors that are in use."""
        target, req = self._arrays[arg], self._reqs[arg]
        if target.stype != "default":
            store_gradient(target, gradient, req)
        elif gradient is None:
            if req == "write":
                target[:] = 0
        elif req == "add":
            target._t.add_(gradient.to(target._t.dtype))
            wrote(target._t)
        else:
            self._replace(arg, target, gradient, taken)

    def _replace(self, arg, target, gradient, taken):
        """Give the gradient's memory to the array; copy instead if the array's memory may be shared."""
        memory = target._t
        mine = memory is self._own.get(arg) or not memory._is_view()
        if not mine or memory.dtype is not gradient.dtype or memory.shape != gradient.shape:
            memory.copy_(gradient.view(memory.shape))
            wrote(memory)
            return
        start = gradient.data_ptr()
        if start in taken:
            gradient = gradient.clone(memory_format=torch.contiguous_format)
        elif not gradient.is_contiguous():
            gradient = gradient.contiguous()
        taken.add(start)
        target._t = self._own[arg] = gradient
