"""Automatic differentiation: MXNet's tape and modes, on torch's graph."""

import sys
from types import CodeType
from typing import TYPE_CHECKING

import torch

from ._autograd import modes as _modes
from ._autograd.function import Function, record_function  # noqa: F401 - public names here
from ._autograd.modes import (  # noqa: F401
    is_recording,
    is_training,
    pause,
    predict_mode,
    record,
    set_recording,
    set_training,
    train_mode,
)
from ._core.errors import MXNetError
from ._core.machine.heap import keep_freed
from ._core.modes import MODES
from ._core.writes import wrote_anywhere
from ._device.backward import BackwardPass
from ._device.errors import explained, tells_exhaustion
from ._device.waiting import ENGINE, wait_for_all
from ._ops.elementwise.identity import to_dtype
from ._ops.registry import integer_gradient
from .base import MXCallbackList, c_array, c_array_buf, c_handle_array, check_call  # noqa: F401 - public names here
from .ndarray._dispatch.invoke import CONSUMED, graph_tensor, in_graph
from .ndarray._variables import Variable as _Variable
from .ndarray._variables import mark_variable as _mark_variable
from .ndarray.ndarray import NDArray, wrap

NOT_IN_GRAPH = (
    "Check failed: !AGInfo::IsNone(*i): Cannot differentiate node because it is not in a computational graph. "
    "You need to set is_recording to true or use autograd.record() to save computational graphs for backward. "
    "If you want to differentiate the same graph twice, you need to pass retain_graph=True to backward."
)
NO_INPUTS = (
    "Check failed: xs.size() > 0 (0 vs. 0) : There are no inputs in computation graph that require gradients. "
    "The list of heads is empty."
)
_run_backward = torch.autograd.Variable._execution_engine.run_backward
_Leaf = torch._C._functions.AccumulateGrad
_RecordingStateScope = _modes.Scope  # MXNet's name


# ---------------------------------------------------------------------- variables


def mark_variables(variables, gradients, grad_reqs="write"):
    """Make arrays variables, with the buffers that their gradients are written to. `attach_grad` does it for one array.

    Parameters
    ----------
    variables : NDArray or list of NDArray
        The arrays to differentiate by.
    gradients : NDArray or list of NDArray
        The buffers, of the same shapes.
    grad_reqs : str or list of str, default 'write'
        'write' replaces a gradient, 'add' adds to it, 'null' computes none.

    Examples
    --------
    >>> x, g = mx.nd.array([3]), mx.nd.zeros((1,))
    >>> mx.autograd.mark_variables(x, g)
    >>> with mx.autograd.record():
    ...     y = x * x
    >>> y.backward()
    >>> g.asnumpy()
    array([6.], dtype=float32)
    """
    if isinstance(variables, NDArray):
        variables, gradients = [variables], [gradients]
    if isinstance(grad_reqs, str):
        grad_reqs = [grad_reqs] * len(variables)
    for array, gradient, req in zip(variables, gradients, grad_reqs, strict=True):
        _mark_variable(array, gradient, req)


# ---------------------------------------------------------------------- differentiation
_NOT_RECORDED = " Here nothing was recorded: compute the loss inside `with autograd.record():`."
_USED_UP = " Here backward has already run on this graph, and has freed it."


def _heads(heads, head_grads):
    heads = [heads] if isinstance(heads, NDArray) else list(heads)
    if head_grads is None:
        head_grads = [None] * len(heads)
    elif isinstance(head_grads, NDArray):
        head_grads = [head_grads]
    if len(heads) != len(head_grads):
        raise AssertionError(
            f"heads and head_grads must be lists of the same length, got {len(heads)} and {len(head_grads)}"
        )
    tensors, seeds = [], []
    for head, seed in zip(heads, head_grads, strict=True):
        mark = head._ag
        t = graph_tensor(head)
        if not t.requires_grad:
            if isinstance(head._ag, _Variable) or head._ag == MODES.epoch:
                continue  # recorded, but nothing differentiable leads to it
            raise MXNetError(NOT_IN_GRAPH + (_USED_UP if isinstance(mark, int) else _NOT_RECORDED))
        t = integer_gradient.differentiable(t)
        tensors.append(t)
        seeds.append(_ones(t.data) if seed is None else _seed(seed, t, head._ctx))
    return tensors, seeds


_ones = tells_exhaustion(torch.ones_like)


def _seed(seed, tensor, ctx):
    if not isinstance(seed, NDArray):
        raise TypeError(f"a head gradient must be an NDArray, got {type(seed)}")
    if seed.stype != "default":
        from .ndarray._sparse.invoke import attach_sparse_source

        sparse, seed = seed, seed.tostype("default")
        attach_sparse_source(seed._t, sparse)
    if seed._t.device != tensor.device:
        raise MXNetError(f"a head gradient is in {seed._ctx}, its head in {ctx}; move it with as_in_context")
    if seed._t.shape != tensor.shape:
        if seed._t.numel() < tensor.numel():
            raise MXNetError(
                f"a head gradient must have its head's shape: got {tuple(seed._t.shape)} for {tuple(tensor.shape)}"
            )
        seed = wrap(seed._t.reshape(-1)[: tensor.numel()].view(tensor.shape), seed._ctx)  # MXNet reads what it needs
    return seed._t if seed._t.dtype is tensor.dtype else seed._t.to(tensor.dtype)


def _consume(tensors):
    """Mark a graph as used up, so that what came from it counts as constant from now on.

    Leaves are common to many graphs, and stay as they are.
    """
    stack = [t.grad_fn for t in tensors]
    while stack:
        node = stack.pop()
        if node is None or node.__class__ is _Leaf:
            continue
        marks = node.metadata
        if CONSUMED not in marks:
            marks[CONSUMED] = True
            stack += [n for n, _ in node.next_functions]
    MODES.epoch += 1


def backward(heads, head_grads=None, retain_graph=False, train_mode=True):  # noqa: F811
    """Compute the gradients of `heads` and write them into the buffers of the variables they depend on.

    Parameters
    ----------
    heads : NDArray or list of NDArray
        The results to differentiate.
    head_grads : NDArray, list or None
        The gradients of the heads, of their shapes; None means ones.
    retain_graph : bool, default False
        Whether the recording is kept, so that `backward` can be called again.
    train_mode : bool, default True
        Whether the backward pass is that of training.

    Examples
    --------
    >>> x = mx.nd.array([1, 2])
    >>> x.attach_grad()
    >>> with mx.autograd.record():
    ...     y = 3 * x
    >>> mx.autograd.backward([y], [mx.nd.array([1, 10])])
    >>> x.grad.asnumpy()
    array([ 3., 30.], dtype=float32)
    """
    tensors, seeds = _heads(heads, head_grads)
    if not tensors:
        if isinstance(heads, (list, tuple)) and not heads:
            raise MXNetError(NO_INPUTS)
        return
    keep_freed()
    before = MODES.recording, MODES.training
    MODES.recording, MODES.training = False, train_mode
    try:
        seeds = tuple([seed.detach() if seed.requires_grad else seed for seed in seeds])
        with BackwardPass():
            _run_backward(tuple(tensors), seeds, retain_graph, False, (), True, True)
        if ENGINE.naive:
            wait_for_all()
    except RuntimeError as error:
        raise _explained(error) from None
    finally:
        MODES.recording, MODES.training = before
        wrote_anywhere()  # gradients, and states of layers
    if not retain_graph:
        _consume(tensors)


def _explained(error):
    text = str(error) or type(error).__name__
    if isinstance(error, MXNetError):
        return error
    if "second time" in text or "does not require grad" in text:
        return MXNetError(NOT_IN_GRAPH + _USED_UP)
    return MXNetError(f"Error while differentiating: {explained(error)}")


def grad(heads, variables, head_grads=None, retain_graph=None, create_graph=False, train_mode=True):  # noqa: F811
    """Compute the gradients of `heads` with respect to `variables` as new arrays.

    Parameters
    ----------
    heads : NDArray or list of NDArray
        The results to differentiate.
    variables : NDArray or list of NDArray
        What to differentiate by; they must have been marked before the recording (`attach_grad`).
    head_grads : NDArray, list or None
        The gradients of the heads; None means ones.
    retain_graph : bool, optional
        Whether the recording is kept; None means as `create_graph`.
    create_graph : bool, default False
        Whether the gradients are recorded themselves, for gradients of higher order.
    train_mode : bool, default True
        Whether the backward pass is that of training.

    Returns
    -------
    NDArray or list of NDArray

    Examples
    --------
    >>> x = mx.nd.array([2.0])
    >>> x.attach_grad()
    >>> with mx.autograd.record():
    ...     y = x ** 3
    ...     first = mx.autograd.grad(y, x, create_graph=True)[0]
    >>> first.backward()  # the second derivative, 6 x
    >>> first.asnumpy(), x.grad.asnumpy()
    (array([12.], dtype=float32), array([12.], dtype=float32))
    """
    variables = [variables] if isinstance(variables, NDArray) else list(variables)
    if not variables:
        raise AssertionError("variables cannot be an empty list.")
    _check_marked(variables)
    tensors, seeds = _heads(heads, head_grads)
    retain = create_graph if retain_graph is None else retain_graph
    before = MODES.recording, MODES.training
    MODES.recording, MODES.training = create_graph, train_mode
    try:
        with torch.set_grad_enabled(create_graph):
            leaves = [integer_gradient.differentiable(graph_tensor(v)) for v in variables]
            # heads without a tensor are constants: nothing leads from them to a variable
            grads = [None] * len(leaves)
            if tensors:
                with BackwardPass():
                    grads = torch.autograd.grad(tensors, leaves, seeds, retain, create_graph, allow_unused=True)
    except RuntimeError as error:
        raise _explained(error) from None
    finally:
        MODES.recording, MODES.training = before
        wrote_anywhere()
    if not retain:
        _consume(tensors)
    # a list also for a single variable, as MXNet returns it
    return [_gradient(g, v, create_graph) for g, v in zip(grads, variables, strict=True)]


def _check_marked(variables):
    for number, variable in enumerate(variables, 1):
        if not graph_tensor(variable).requires_grad:
            raise MXNetError(
                f"Cannot differentiate with respect to the {number}-th variable because it does not require gradient. "
                "Mark it with attach_grad before it is used."
            )


def _gradient(gradient, variable, keep):
    if gradient is None or gradient._is_zerotensor():
        gradient = torch.zeros_like(graph_tensor(variable).data)
    if gradient.is_sparse:
        gradient = gradient.to_dense()
    if gradient.dtype is not variable._t.dtype:
        gradient = to_dtype(gradient, variable._t.dtype)
    recorded = keep and gradient.requires_grad
    return wrap(gradient if recorded else gradient.detach(), variable._ctx, MODES.epoch if keep else None)


def _get_symbol(x):
    """The symbol of what was recorded to compute an array; inputs are called `var` and a number, in their order.

    Histories are kept only from the moment at which a program names this function
    (`from mxnet.autograd import get_symbol`), because keeping them costs half a microsecond for each operation. What a
    hybridized block computed is known in any case.

    Parameters
    ----------
    x : NDArray
        A result of recorded operations.

    Returns
    -------
    Symbol

    Examples
    --------
    >>> get_symbol = mx.autograd.get_symbol  # from here on, histories are kept
    >>> x = mx.nd.array([1, 2])
    >>> x.attach_grad()
    >>> with mx.autograd.record():
    ...     y = mx.nd.relu(x)
    >>> len(get_symbol(y).list_arguments())
    1
    """
    from .ndarray._dispatch.history import GraphRebuilder, origin
    from .symbol import Symbol

    if not isinstance(x, NDArray):
        raise TypeError(f"get_symbol: Invalid argument type, expecting {NDArray}, got {type(x)}")
    if not in_graph(x):
        raise MXNetError("NDArray is not part of a computation graph. Did you forget to turn on recording?")
    return Symbol([GraphRebuilder().entry(origin(x))])


_get_symbol.__name__ = _get_symbol.__qualname__ = "get_symbol"
if TYPE_CHECKING:
    get_symbol = _get_symbol


def __getattr__(name):
    if name == "Symbol":  # a name that MXNet's module shows
        from .symbol import Symbol

        return Symbol
    if name != "get_symbol":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _mentions(sys._getframe(1).f_code, name):
        from .ndarray._dispatch.history import record_history

        record_history()
        globals()[name] = _get_symbol
    return _get_symbol


def _mentions(code, name):
    """Does a program, or a function in it, have the name? One that imports `*` or goes through all names has not."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return name in code.co_names or name in code.co_consts or any(_mentions(each, name) for each in inner)


def __dir__():
    return sorted({*globals(), "get_symbol"})


__all__ = [name for name in __dir__() if not name.startswith("_")]
