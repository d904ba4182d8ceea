"""`autograd.Function`: operations whose gradients a program computes itself."""

from typing import Any

import torch

from .._core.errors import MXNetError
from .._core.modes import MODES
from .._device.backward import as_the_caller
from ..ndarray._dispatch.invoke import graph_tensor, plain_tensor
from ..ndarray.ndarray import NDArray, wrap
from .modes import pause


class Function:
    """An operation with a gradient of your own: subclasses define `forward` and `backward`.

    Parameters
    ----------
    None

    Examples
    --------
    >>> class Sigmoid(mx.autograd.Function):
    ...     def forward(self, x):
    ...         y = 1 / (1 + mx.nd.exp(-x))
    ...         self.save_for_backward(y)
    ...         return y
    ...     def backward(self, dy):
    ...         y, = self.saved_tensors
    ...         return dy * y * (1 - y)
    >>> x = mx.nd.zeros((1,))
    >>> x.attach_grad()
    >>> with mx.autograd.record():
    ...     y = Sigmoid()(x)
    >>> y.backward()
    >>> x.grad.asnumpy()
    array([0.25], dtype=float32)
    """

    __module__ = "mxnet.autograd"

    def __init__(self):
        self._used = False
        self.saved_tensors = ()

    def save_for_backward(self, *args):
        """Keep arrays for `backward`, which finds them in `self.saved_tensors`.

        Parameters
        ----------
        *args : NDArray
            The arrays, usually inputs or outputs of `forward`.

        Examples
        --------
        >>> function = mx.autograd.Function()
        >>> function.save_for_backward(mx.nd.ones((2,)))
        >>> len(function.saved_tensors)
        1
        """
        self.saved_tensors = args

    def forward(self, *inputs):
        """Compute the outputs; a subclass defines it. Operations inside it are not recorded.

        Parameters
        ----------
        *inputs : NDArray
            The arguments of the call.

        Returns
        -------
        NDArray or tuple of NDArray

        Examples
        --------
        >>> class Double(mx.autograd.Function):
        ...     def forward(self, x):
        ...         return x * 2
        >>> Double()(mx.nd.array([3])).asnumpy()
        array([6.], dtype=float32)
        """
        raise NotImplementedError

    def backward(self, *output_grads):
        """Compute the gradients of the inputs; a subclass defines it.

        Parameters
        ----------
        *output_grads : NDArray
            The gradients of the outputs, one for each.

        Returns
        -------
        NDArray or tuple of NDArray
            The gradients of the inputs, one for each.

        Examples
        --------
        >>> class Double(mx.autograd.Function):
        ...     def forward(self, x):
        ...         return x * 2
        ...     def backward(self, dy):
        ...         return dy * 2
        >>> x = mx.nd.array([3])
        >>> x.attach_grad()
        >>> with mx.autograd.record():
        ...     y = Double()(x)
        >>> y.backward()
        >>> x.grad.asnumpy()
        array([2.], dtype=float32)
        """
        raise NotImplementedError(f"{type(self).__name__} has no backward method: write one to differentiate it")

    def __call__(self, *inputs) -> Any:
        if self._used:
            raise AssertionError("Each Function instance can only be called once. Please create another instance.")
        with pause(train_mode=MODES.training):
            outputs = self.forward(*inputs)
        if not MODES.recording:
            return outputs
        self._used = True
        if not all(isinstance(x, NDArray) for x in inputs):
            raise MXNetError(
                f"{type(self).__name__} is an autograd.Function, which records arrays only: leave the block "
                "that calls it without hybridize(), or write the operation as an mx.operator.CustomOp"
            )
        single = isinstance(outputs, NDArray)
        recorded = record_function(self._gradients, list(inputs), [outputs] if single else list(outputs))
        if single:
            return recorded[0]
        return tuple(recorded) if isinstance(outputs, tuple) else recorded

    def _gradients(self, heads):
        grads = self.backward(*heads)
        return [grads] if isinstance(grads, NDArray) else list(grads)


class _Node(torch.autograd.Function):
    """A node in torch's graph whose gradient is computed on NDArrays."""

    @staticmethod
    def forward(ctx, compute, contexts, outputs, *inputs):
        ctx.compute, ctx.contexts, ctx.number = compute, contexts, len(inputs)
        return tuple(outputs)

    @staticmethod
    def backward(ctx, *heads):
        with as_the_caller(), pause(train_mode=MODES.training):
            # torch may hand over an expanded number or a view; arrays lie in one piece, whoever gets their memory
            grads = ctx.compute([wrap(h.contiguous(), c) for h, c in zip(heads, ctx.contexts, strict=True)])
        if len(grads) != ctx.number:
            raise MXNetError(f"backward must return one gradient for each of the {ctx.number} inputs, got {len(grads)}")
        return None, None, None, *[None if g is None else plain_tensor(g) for g in grads]


def record_function(compute, inputs, outputs):
    """Tie `outputs` to `inputs` with `compute(head gradients) -> input gradients`; returns the recorded outputs."""
    tensors = [graph_tensor(x) for x in inputs]
    if not any(t.requires_grad for t in tensors):
        return outputs
    contexts = [o._ctx for o in outputs]
    fresh = [o._t.detach() for o in outputs]
    recorded = _Node.apply(compute, contexts, fresh, *tensors)
    return [wrap(r, c, MODES.epoch) for r, c in zip(recorded, contexts, strict=True)]
