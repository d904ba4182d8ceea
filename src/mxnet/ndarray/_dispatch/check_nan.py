"""`MXNET_CHECK_NAN=1`: the first operator that produces a NaN from inputs without NaN raises an error.

Backward passes are checked too: every node of torch's graph that belongs to an operator gets a hook, which knows the
operator, its inputs and the Gluon block it ran in.
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
    """The stored values of a tensor: all, or those of a sparse tensor."""
    return tensor.coalesce().values() if tensor.layout is torch.sparse_coo else tensor


def _range(tensor):
    """Dtype, shape, minimum and maximum of a tensor, for the message."""
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
    """The Gluon block that is running: the innermost one on the stack, or its child whose prefix the node has."""
    frame = sys._getframe(2)
    while frame is not None:
        owner = frame.f_locals.get("self")
        if frame.f_code.co_name in ("forward", "hybrid_forward", "__call__") and hasattr(owner, "collect_params"):
            owner = _innermost_block(owner, name)
            return f"in block {owner.name} ({type(owner).__name__})"
        frame = frame.f_back
    return "outside any block"


def _innermost_block(block, name):
    """The innermost child block whose prefix a node's name has; of a hybridized net only the root is on the stack."""
    for child in block._children.values():
        if name.startswith(child.prefix) and child.prefix != block.prefix:
            return _innermost_block(child, name)
    return block


class _Call:
    """One call of an operator, for messages about it."""

    def __init__(self, op, name, tensors, attributes):
        self.op, self.attributes = op, attributes
        self.node = f" at node {name}" if name else ""
        self.block = _block(name)
        self.tensors = [t.detach() if isinstance(t, torch.Tensor) else t for t in tensors]

    def error(self, what, more=""):
        attributes = {key: value for key, value in self.attributes.items() if not key.startswith("_")}
        ranges = "; ".join(filter(None, [_ranges(self.tensors, "input"), more]))
        return MXNetError(
            f"MXNET_CHECK_NAN: {what} {self.op.name}({attributes}){self.node} made a NaN {self.block}. {ranges}"
        )

    def check_gradient(self, gradients, heads):
        """The hook of a backward node, which computed `gradients` from the gradients `heads`."""
        if _has_nan(gradients) and not _has_nan(heads):
            raise self.error("the gradient of operator", _ranges(heads, "gradient of output"))


# -- watching ----------------------------------------------------------------------------------------------------------


def _node(tensor):
    """The node of torch's graph that receives a tensor's gradient."""
    return torch.autograd.graph.get_gradient_edge(tensor).node


def _watch_backward(result, before, call):
    """Put a hook on every backward node between the operator's results and its inputs' nodes (`before`)."""
    results = result if isinstance(result, (tuple, list)) else (result,)
    waiting = [_node(t) for t in results if isinstance(t, torch.Tensor) and t.requires_grad]
    seen = set(before)
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            node.register_hook(call.check_gradient)
            waiting += [following for following, _ in node.next_functions]


def _check_outputs(op, name=""):
    """The operator's function with a check of its results; operators without float inputs may create NaN."""
    function = op.fn

    def call(*tensors, **attributes):
        recorded = [t for t in tensors if isinstance(t, torch.Tensor) and t.requires_grad and torch.is_grad_enabled()]
        before = [_node(t) for t in recorded]  # before the call: an operator may write into its input
        numbers = any(True for _ in _tensors(tensors)) and not _has_nan(tensors)
        result = function(*tensors, **attributes)
        if numbers and _has_nan(result):
            raise _Call(op, name, tensors, attributes).error("operator")
        if recorded:
            _watch_backward(result, before, _Call(op, name, tensors, attributes))
        return result

    return call


def enable():
    """Check every operator from now on, also in graphs that are lowered from now on."""
    observe.watch(_check_outputs, graphs=True)


def disable():
    """Stop checking."""
    observe.unwatch(_check_outputs)


def enable_if_asked():
    """Enable the check if the environment variable is set."""
    if is_on("MXNET_CHECK_NAN"):
        enable()
