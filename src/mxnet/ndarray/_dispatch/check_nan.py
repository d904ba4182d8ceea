"""`MXNET_CHECK_NAN=1`: the first operator that makes a NaN out of numbers raises, and says from what and where.

Backward passes are watched too: every step of torch's graph that belongs to an operator gets a hook, which knows the
operator, its inputs and the block it ran in.
"""

import sys

import torch

from ..._core.environment import is_on
from ..._core.errors import MXNetError
from ..._ops.registry import observe


def _tensors(values):
    for value in values if isinstance(values, (tuple, list)) else (values,):
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.device.type != "meta":
            yield value.detach()


def _has_nan(values):
    return any(bool(torch.isnan(_values(tensor)).any()) for tensor in _tensors(values))


def _values(tensor):
    """The numbers that are there: of a sparse tensor, those it stores."""
    return tensor.coalesce().values() if tensor.layout is torch.sparse_coo else tensor


def _range(tensor):
    """Shape and extremes of an input, for the message."""
    if not isinstance(tensor, torch.Tensor):
        return repr(tensor)[:40]
    text = f"{str(tensor.dtype).removeprefix('torch.')}{tuple(tensor.shape)}"
    values = _values(tensor.detach())
    if values.numel() == 0:
        return f"{text} empty"
    return f"{text} from {values.min().item():.6g} to {values.max().item():.6g}"


def _ranges(tensors, what):
    return "; ".join(f"{what} {i}: {_range(tensor)}" for i, tensor in enumerate(tensors))


# -- where -------------------------------------------------------------------------------------------------------------


def _block(name):
    """The Gluon block that is running: the innermost one on the stack, or its child that made the graph's node."""
    frame = sys._getframe(2)
    while frame is not None:
        owner = frame.f_locals.get("self")
        if frame.f_code.co_name in ("forward", "hybrid_forward", "__call__") and hasattr(owner, "collect_params"):
            owner = _maker(owner, name)
            return f"in block {owner.name} ({type(owner).__name__})"
        frame = frame.f_back
    return "outside any block"


def _maker(block, name):
    """The innermost block below whose prefix a node's name begins with; in a hybridized net only the net is running."""
    for child in block._children.values():
        if name.startswith(child.prefix) and child.prefix != block.prefix:
            return _maker(child, name)
    return block


class _Call:
    """One call of an operator, for messages about it."""

    def __init__(self, op, name, tensors, attributes):
        self.op, self.attributes = op, attributes
        self.node = f" at node {name}" if name else ""
        self.block = _block(name)
        self.tensors = [t.detach() if isinstance(t, torch.Tensor) else t for t in tensors]

    def error(self, what, more=""):
        shown = {key: value for key, value in self.attributes.items() if not key.startswith("_")}
        ranges = "; ".join(filter(None, [_ranges(self.tensors, "input"), more]))
        return MXNetError(
            f"MXNET_CHECK_NAN: {what} {self.op.name}({shown}){self.node} made a NaN {self.block}. {ranges}"
        )

    def check_gradient(self, gradients, heads):
        """Called by torch after a step of the backward pass: from the gradients `heads` it made `gradients`."""
        if _has_nan(gradients) and not _has_nan(heads):
            raise self.error("the gradient of operator", _ranges(heads, "gradient of output"))


# -- watching ----------------------------------------------------------------------------------------------------------


def _node(tensor):
    """The step of torch's graph that a tensor's gradient goes to."""
    return torch.autograd.graph.get_gradient_edge(tensor).node


def _watch_backward(result, before, call):
    """Hook every step between the operator's results and what its inputs came from (`before`)."""
    results = result if isinstance(result, (tuple, list)) else (result,)
    waiting = [_node(t) for t in results if isinstance(t, torch.Tensor) and t.requires_grad]
    seen = set(before)
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            node.register_hook(call.check_gradient)
            waiting += [following for following, _ in node.next_functions]


def _checked(op, name=""):
    """The operator's function with a look at what it returns; creation of NaN on purpose has no numbers to blame."""
    function = op.fn

    def call(*tensors, **attributes):
        recorded = [t for t in tensors if isinstance(t, torch.Tensor) and t.requires_grad and torch.is_grad_enabled()]
        before = [_node(t) for t in recorded]  # asked first: an operator may write into its input
        numbers = any(True for _ in _tensors(tensors)) and not _has_nan(tensors)
        result = function(*tensors, **attributes)
        if numbers and _has_nan(result):
            raise _Call(op, name, tensors, attributes).error("operator")
        if recorded:
            _watch_backward(result, before, _Call(op, name, tensors, attributes))
        return result

    return call


def enable():
    """Check every operator from now on, and every one in graphs that are made from now on."""
    observe.watch(_checked, graphs=True)


def disable():
    """Check no more."""
    observe.unwatch(_checked)


def enable_if_asked():
    """Follow the environment variable."""
    if is_on("MXNET_CHECK_NAN"):
        enable()
