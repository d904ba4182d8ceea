"""Arrays that gradients are computed for: what `attach_grad` leaves on them, and how a gradient reaches its buffer."""

import torch

from .._core.errors import NameUnknown
from .._core.modes import MODES
from .._core.writes import wrote_anywhere
from .._ops.registry import integer_gradient


class Variable:
    """What `attach_grad` leaves on an array: the gradient buffer, how to deliver into it, is it new."""

    __slots__ = ("fresh", "grad", "handle", "req")

    def __init__(self, grad, req):
        self.grad, self.req, self.fresh, self.handle = grad, req, False, None

    def deliver(self, leaf):
        """Called by torch when a leaf's gradient is complete: write or add it."""
        gradient, leaf.grad = leaf.grad, None
        if gradient is None:  # the operator has none for this input: zero, as MXNet writes
            gradient = leaf.data.new_zeros(leaf.shape)
        if self.req == "add":
            self.grad._t.data.add_(gradient.to(self.grad._t.dtype))
        elif gradient.dim() == 2 and self.grad._t.dtype is gradient.dtype:
            self.grad._t = gradient  # a matrix: networks whose memory is all matrices have no large activations
        else:
            # The gradient lies between activations that are freed around it. Were it, even a small one, to stay there,
            # the C library could not join their places: ResNet-50 had 200 to 400 MB of them.
            self.grad._t.data.copy_(gradient)
        wrote_anywhere()
        self.fresh = True


class Skipped(Variable):
    """What `attach_grad("null")` leaves: a buffer that nothing goes to, and that a backward takes away, as in MXNet."""

    __slots__ = ("_epoch", "_grad")

    def __init__(self, grad):
        self._grad, self._epoch, self.req, self.fresh, self.handle = grad, MODES.epoch, "null", False, None

    @property
    def grad(self):
        """The buffer, until the next backward."""
        if self._epoch != MODES.epoch:
            self._grad = None
        return self._grad


class SparseVariable(Variable):
    """The same where the array or its gradient is sparse; a sparse array has a dense leaf, made when it is used."""

    __slots__ = ("root",)

    def __init__(self, grad, req):
        super().__init__(grad, req)
        self.root = None

    def deliver(self, leaf):
        """Write or add the gradient, which may be torch's sparse kind, in the storage asked for."""
        from ._sparse.invoke import store_gradient

        gradient, leaf.grad = leaf.grad, None
        store_gradient(self.grad, gradient, self.req)
        self.fresh = True

    def watch(self, tensor):
        """Let torch differentiate by `tensor`; operators look at the storage of its gradient."""
        tensor.requires_grad_(True)
        tensor.grad_stype = self.grad.stype
        self.handle = tensor.register_post_accumulate_grad_hook(self.deliver)
        return tensor

    def leaf(self, values):
        """The dense values of a sparse array, which may change from use to use, as part of the graph.

        All uses hang on one leaf without memory, so that their gradients are summed before they are delivered.
        """
        if not values.is_floating_point():
            return values
        if self.root is None:
            self.root = self.watch(values.new_zeros(()).expand(values.shape))
        used = _Use.apply(self.root, values)
        used.grad_stype = self.root.grad_stype
        return used


class _Use(torch.autograd.Function):
    """Values that stand for a leaf: its gradient is theirs."""

    @staticmethod
    def forward(ctx, leaf, values):
        return values.view_as(values)

    @staticmethod
    def backward(ctx, head):
        return head, None


def mark_variable(array, gradient, req):
    if req not in ("null", "write", "add"):
        raise NameUnknown(f"grad_req must be one of null, write, add, got {req!r}")
    if isinstance(array._ag, Variable) and array._ag.handle is not None:
        array._ag.handle.remove()
    if array.stype != "default":
        array._graph, array._ag = None, None if req == "null" else SparseVariable(gradient, req)
        return
    array._t = array._t.data
    array._ag = None
    if req == "null":
        array._ag = Skipped(gradient)  # may not be written while recording
        return
    if gradient.stype != "default":
        array._ag = SparseVariable(gradient, req)
        array._ag.watch(array._t)
        return
    variable = array._ag = Variable(gradient, req)
    if array._t.is_floating_point():
        root = array._t.requires_grad_(True)
    else:
        array._t = integer_gradient.leaf(array._t)
        root = array._t.root
    variable.handle = root.register_post_accumulate_grad_hook(variable.deliver)
