"""`nd.contrib`: operators on trial, control flow in Python, and updates that take a number where an array is meant."""

import math

import numpy as np

from .._core.attrs import python_number as _python_number
from .._core.nest import flatten as _flatten
from .._core.nest import regroup as _regroup
from ..base import _as_list
from ..context import current_context
from ._dispatch.generated import generated_function as _generated_function
from ._dispatch.namespaces import module_attributes as _module_attributes
from ._sparse.graph_sampling import (
    dgl_adjacency,
    dgl_csr_neighbor_non_uniform_sample,
    dgl_csr_neighbor_uniform_sample,
    dgl_graph_compact,
    dgl_subgraph,
    edge_id,
)
from .ndarray import NDArray

_lookup, __dir__ = _module_attributes(__name__, "contrib")
__all__ = [
    "cond", "dgl_adjacency", "dgl_csr_neighbor_non_uniform_sample", "dgl_csr_neighbor_uniform_sample",
    "dgl_graph_compact", "dgl_subgraph", "edge_id", "foreach", "isfinite", "isinf", "isnan", "rand_zipfian",
    "while_loop",
]  # fmt: skip


def __getattr__(name):
    if name != "uniform":  # MXNet's module shows it
        return _lookup(name)
    from .random import uniform

    return uniform


def _flat(value, what):
    return _flatten(value, NDArray, "NDArray", what)


def foreach(body, data, init_states):
    """Run `body` for each element of the first axis of `data`, handing states from step to step.

    Parameters
    ----------
    body : callable
        `body(element, states)` returns the output of a step and the new states.
    data : NDArray or list of NDArrays
        What to go through.
    init_states : NDArray or list of NDArrays
        The states before the first step.

    Returns
    -------
    (outputs, states)
        The outputs of all steps stacked along a new first axis, and the last states.

    Examples
    --------
    >>> def add(x, total):
    ...     return x + total, x + total
    >>> sums, total = mx.nd.contrib.foreach(add, mx.nd.array([1, 2, 3]), mx.nd.array([0]))
    >>> sums.asnumpy().ravel(), total.asnumpy()
    (array([1., 3., 6.], dtype=float32), array([6.], dtype=float32))
    """
    _flat(data, "foreach input")
    _flat(init_states, "foreach states")
    single = isinstance(data, NDArray)
    states, steps, form = init_states, [], 0
    for i in range(len(data) if single else len(data[0])):
        outputs, states = body(data[i] if single else [d[i] for d in data], states)
        outputs, form = _flat(outputs, "foreach output")
        steps.append(outputs)
    stacked = [_generated_function("stack")(*parts) for parts in zip(*steps, strict=True)]
    return _regroup(stacked, form) if steps else [], states


def while_loop(cond, func, loop_vars, max_iterations=None):
    """Run `func` while `cond` holds, at most `max_iterations` times.

    Parameters
    ----------
    cond : callable
        `cond(*loop_vars)` returns a number or an array of one element.
    func : callable
        `func(*loop_vars)` returns the output of a step and the new loop variables.
    loop_vars : NDArray or list of NDArrays
        The loop variables before the first step.
    max_iterations : int, optional
        The greatest number of steps, which is also the length of the outputs.

    Returns
    -------
    (outputs, loop_vars)
        The outputs stacked along a new first axis, and the last loop variables.

    Examples
    --------
    >>> outputs, (i, total) = mx.nd.contrib.while_loop(
    ...     cond=lambda i, total: i < 4,
    ...     func=lambda i, total: (total + i, (i + 1, total + i)),
    ...     loop_vars=(mx.nd.array([1]), mx.nd.array([0])),
    ...     max_iterations=5,
    ... )
    >>> total.asnumpy()
    array([6.], dtype=float32)
    """
    if max_iterations is None:
        raise ValueError("max_iterations should be specified")
    limit = _python_number(max_iterations, int, "max_iteration")
    if len(loop_vars) == 0:
        raise ValueError("loop_vars should contain at least one element")
    single = isinstance(loop_vars, NDArray)
    variables, steps, form = _as_list(loop_vars), [], None
    while len(steps) < limit and _python_number(cond(*variables), bool, "Return value of cond"):
        output, variables = _step(func, variables)
        output, form = _flat(output, "while output")
        steps.append(output)
        if len(output) != len(steps[0]):
            raise ValueError("Number of elements in step_output should be the same in each step")
    stacked = [_stack_padded(parts, limit, i) for i, parts in enumerate(zip(*steps, strict=True), 1)]
    if form is not None:
        stacked = _regroup(stacked, form)
    return stacked, variables[0] if single else variables


def _step(func, variables):
    output, new = func(*variables)
    new = _as_list([] if new is None else new)
    if len(new) != len(variables):
        raise ValueError("The length of loop_vars should be consistent during the loop")
    return [] if output is None else output, new


def _stack_padded(parts, limit, number):
    if len({p.shape for p in parts}) > 1:
        shapes = [f"  Step {i}, shape is {p.shape}" for i, p in enumerate(parts)]
        raise ValueError(
            "\n".join([f"Shapes of {number}-th elements in step_outputs are inconsistent, which are:", *shapes])
        )
    items = [p.expand_dims(0) for p in parts]
    missing = limit - len(items)
    if missing:
        from .functions import zeros

        items.append(zeros((missing, *parts[0].shape), ctx=parts[0].context, dtype=parts[0].dtype))
    return _generated_function("concat")(*items, dim=0)


def cond(pred, then_func, else_func):
    """Run one of two functions, chosen by a condition.

    Parameters
    ----------
    pred : NDArray or callable
        The condition, an array of one element; not zero means `then_func`.
    then_func : callable
        What to run if the condition holds.
    else_func : callable
        What to run if it does not.

    Returns
    -------
    NDArray or list of NDArrays
        What the function returned.

    Examples
    --------
    >>> x = mx.nd.array([3])
    >>> mx.nd.contrib.cond(x > 2, lambda: x * 10, lambda: x).asnumpy()
    array([30.], dtype=float32)
    """
    return then_func() if _python_number(pred, bool, "pred") else else_func()


def isinf(data):
    """1 where an element is infinite, 0 elsewhere.

    Parameters
    ----------
    data : NDArray
        The input.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.nd.contrib.isinf(mx.nd.array([1, float("inf")])).asnumpy()
    array([0., 1.], dtype=float32)
    """
    return data.abs() == np.inf


def isnan(data):
    """1 where an element is NaN, 0 elsewhere.

    Parameters
    ----------
    data : NDArray
        The input.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.nd.contrib.isnan(mx.nd.array([1, float("nan")])).asnumpy()
    array([0., 1.], dtype=float32)
    """
    return data != data


def isfinite(data):
    """1 where an element is a finite number, 0 elsewhere.

    Parameters
    ----------
    data : NDArray
        The input.

    Returns
    -------
    NDArray

    Examples
    --------
    >>> mx.nd.contrib.isfinite(mx.nd.array([1, float("inf"), float("nan")])).asnumpy()
    array([1., 0., 0.], dtype=float32)
    """
    from .functions import logical_and

    return logical_and(data.abs() != np.inf, data == data)


def rand_zipfian(true_classes, num_sampled, range_max, ctx=None):
    """Classes drawn from a log-uniform distribution, and how often true and drawn classes are expected in a sample.

    Parameters
    ----------
    true_classes : NDArray
        The classes of the targets.
    num_sampled : int
        The number of classes to draw.
    range_max : int
        The number of classes.
    ctx : Context, optional
        The device; the current context without it.

    Returns
    -------
    (samples, expected count of true classes, expected count of samples)
        Arrays for a sampled softmax.

    Examples
    --------
    >>> mx.random.seed(0)
    >>> samples, true_count, sampled_count = mx.nd.contrib.rand_zipfian(mx.nd.array([3]), 4, 5)
    >>> samples.shape, true_count.asnumpy()
    ((4,), array([0.49815515]))
    """
    from .random import uniform

    ctx = current_context() if ctx is None else ctx
    log_range = math.log(range_max + 1)
    drawn = uniform(0, log_range, shape=(num_sampled,), dtype="float64", ctx=ctx)
    sampled = (drawn.exp() - 1).astype("int64") % range_max

    def expected(classes):
        return ((classes + 2.0) / (classes + 1.0)).log() / log_range * num_sampled

    return sampled, expected(true_classes.as_in_context(ctx).astype("float64")), expected(sampled.astype("float64"))


# Updates whose `rescale_grad` may be a number or an array, and those of several weights at once.


def _scale(rescale_grad, ctx):
    if isinstance(rescale_grad, NDArray):
        return rescale_grad.as_in_context(ctx)
    from .functions import full

    return full(shape=(1,), val=rescale_grad, ctx=ctx)


def _interleaved(*groups):
    return [array for together in zip(*groups, strict=True) for array in together]


def adamw_update(
    weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0, clip_gradient=-1,
    out=None, name=None, **kwargs,
):  # fmt: skip
    """One step of AdamW.

    Parameters
    ----------
    weight : NDArray
        The weight.
    grad : NDArray
        The gradient.
    mean : NDArray
        The moving mean of the gradient, which is updated in place.
    var : NDArray
        The moving mean of the squared gradient, which is updated in place.
    rescale_grad : float or NDArray
        A factor of the gradient; if it is 0 or not finite, nothing is updated.
    lr : float
        The learning rate.
    eta : float
        A factor of the whole step.
    beta1 : float, default 0.9
        The decay of the moving mean.
    beta2 : float, default 0.999
        The decay of the moving mean of squares.
    epsilon : float, default 1e-08
        A small number that is added to the root.
    wd : float, default 0
        The weight decay.
    clip_gradient : float, default -1
        Gradients are limited to [-clip_gradient, clip_gradient]; negative: no limit.
    out : NDArray or list of NDArrays, optional
        Where to write the new weights.
    name : str, optional
        Ignored here.
    **kwargs
        Further arguments of the operator.

    Examples
    --------
    >>> weight, mean, var = mx.nd.ones((2,)), mx.nd.zeros((2,)), mx.nd.zeros((2,))
    >>> mx.nd.contrib.adamw_update(weight, mx.nd.ones((2,)), mean, var, 1.0, lr=0.1, eta=1.0, out=weight).asnumpy()
    array([0.68377024, 0.68377024], dtype=float32)
    """
    scale = _scale(rescale_grad, weight.context)
    return _generated_function("_adamw_update")(
        weight, grad, mean, var, scale, lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd,
        clip_gradient=clip_gradient, out=out, name=name, **kwargs,
    )  # fmt: skip


def mp_adamw_update(
    weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0,
    clip_gradient=-1, out=None, name=None, **kwargs,
):  # fmt: skip
    """One step of AdamW on half-precision weights with a single-precision master copy.

    Parameters
    ----------
    weight : NDArray
        The weight.
    grad : NDArray
        The gradient.
    mean : NDArray
        The moving mean of the gradient, which is updated in place.
    var : NDArray
        The moving mean of the squared gradient, which is updated in place.
    weight32 : NDArray
        The float32 master copy of the weight, which is updated in place.
    rescale_grad : float or NDArray
        A factor of the gradient; if it is 0 or not finite, nothing is updated.
    lr : float
        The learning rate.
    eta : float
        A factor of the whole step.
    beta1 : float, default 0.9
        The decay of the moving mean.
    beta2 : float, default 0.999
        The decay of the moving mean of squares.
    epsilon : float, default 1e-08
        A small number that is added to the root.
    wd : float, default 0
        The weight decay.
    clip_gradient : float, default -1
        Gradients are limited to [-clip_gradient, clip_gradient]; negative: no limit.
    out : NDArray or list of NDArrays, optional
        Where to write the new weights.
    name : str, optional
        Ignored here.
    **kwargs
        Further arguments of the operator.

    Examples
    --------
    >>> weight, master = mx.nd.ones((2,), dtype="float16"), mx.nd.ones((2,))
    >>> grad, mean, var = mx.nd.ones((2,), dtype="float16"), mx.nd.zeros((2,)), mx.nd.zeros((2,))
    >>> mx.nd.contrib.mp_adamw_update(weight, grad, mean, var, master, 1.0, lr=0.1, eta=1.0, out=weight).dtype
    <class 'numpy.float16'>
    """
    scale = _scale(rescale_grad, weight.context)
    return _generated_function("_mp_adamw_update")(
        weight, grad, mean, var, weight32, scale, lr=lr, eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd,
        clip_gradient=clip_gradient, out=out, name=name, **kwargs,
    )  # fmt: skip


def multi_adamw_update(weights, grads, mean, var, rescale_grad, lrs, wds, etas, out=None, name=None, size=0, **kwargs):
    """One step of AdamW on several weights.

    Parameters
    ----------
    weights : list of NDArrays
        The weights.
    grads : list of NDArrays
        The gradients.
    mean : NDArray
        The moving mean of the gradient, which is updated in place.
    var : NDArray
        The moving mean of the squared gradient, which is updated in place.
    rescale_grad : float or NDArray
        A factor of the gradient; if it is 0 or not finite, nothing is updated.
    lrs : tuple of float
        The learning rates.
    wds : tuple of float
        The weight decays.
    etas : tuple of float
        A factor of each step.
    out : NDArray or list of NDArrays, optional
        Where to write the new weights.
    name : str, optional
        Ignored here.
    size : int, default 0
        The number of weights; 0: all.
    **kwargs
        Further arguments of the operator.

    Examples
    --------
    >>> weight, mean, var = mx.nd.ones((2,)), mx.nd.zeros((2,)), mx.nd.zeros((2,))
    >>> state = [[weight], [mx.nd.ones((2,))], [mean], [var]]
    >>> mx.nd.contrib.multi_adamw_update(*state, 1.0, lrs=(0.1,), wds=(0,), etas=(1,), out=weight).asnumpy()
    array([0.68377024, 0.68377024], dtype=float32)
    """
    arrays = [*_interleaved(weights, grads, mean, var), _scale(rescale_grad, weights[0].context)]
    return _generated_function("_multi_adamw_update")(
        *arrays, out=out, num_weights=size or len(weights), lrs=lrs, wds=wds, etas=etas, name=name, **kwargs
    )


def multi_mp_adamw_update(
    weights, grads, mean, var, weights32, rescale_grad, lrs, wds, etas, out=None, name=None, size=0, **kwargs
):
    """One step of AdamW on several half-precision weights with single-precision master copies.

    Parameters
    ----------
    weights : list of NDArrays
        The weights.
    grads : list of NDArrays
        The gradients.
    mean : NDArray
        The moving mean of the gradient, which is updated in place.
    var : NDArray
        The moving mean of the squared gradient, which is updated in place.
    weights32 : list of NDArrays
        The float32 master copies of the weights.
    rescale_grad : float or NDArray
        A factor of the gradient; if it is 0 or not finite, nothing is updated.
    lrs : tuple of float
        The learning rates.
    wds : tuple of float
        The weight decays.
    etas : tuple of float
        A factor of each step.
    out : NDArray or list of NDArrays, optional
        Where to write the new weights.
    name : str, optional
        Ignored here.
    size : int, default 0
        The number of weights; 0: all.
    **kwargs
        Further arguments of the operator.

    Examples
    --------
    >>> weight, grad = mx.nd.ones((2,), dtype="float16"), mx.nd.ones((2,), dtype="float16")
    >>> state = [[weight], [grad], [mx.nd.zeros((2,))], [mx.nd.zeros((2,))], [mx.nd.ones((2,))]]
    >>> mx.nd.contrib.multi_mp_adamw_update(*state, 1.0, lrs=(0.1,), wds=(0,), etas=(1,), out=weight).dtype
    <class 'numpy.float16'>
    """
    arrays = [*_interleaved(weights, grads, mean, var, weights32), _scale(rescale_grad, weights[0].context)]
    return _generated_function("_multi_mp_adamw_update")(
        *arrays, out=out, num_weights=size or len(weights), lrs=lrs, wds=wds, etas=etas, name=name, **kwargs
    )


def multi_lamb_update(weights, grads, mean, var, step_count, lrs, wds, out=None, num_tensors=0, **kwargs):
    """One step of LAMB on several weights.

    Parameters
    ----------
    weights : list of NDArrays
        The weights.
    grads : list of NDArrays
        The gradients.
    mean : NDArray
        The moving mean of the gradient, which is updated in place.
    var : NDArray
        The moving mean of the squared gradient, which is updated in place.
    step_count : tuple of int
        The number of this step, from 1.
    lrs : tuple of float
        The learning rates.
    wds : tuple of float
        The weight decays.
    out : NDArray or list of NDArrays, optional
        Where to write the new weights.
    num_tensors : int, default 0
        The number of weights; 0: all.
    **kwargs
        Further arguments of the operator.

    Examples
    --------
    >>> weight, mean, var = mx.nd.ones((2,)), mx.nd.zeros((2,)), mx.nd.zeros((2,))
    >>> state = [[weight], [mx.nd.ones((2,))], [mean], [var]]
    >>> mx.nd.contrib.multi_lamb_update(*state, step_count=(1,), lrs=(0.1,), wds=(0,), out=weight).asnumpy()
    array([0.9, 0.9], dtype=float32)
    """
    return _generated_function("_multi_lamb_update")(
        *_interleaved(weights, grads, mean, var), out=out, num_tensors=num_tensors or len(weights),
        step_count=step_count, learning_rates=lrs, wds=wds, **kwargs,
    )  # fmt: skip


def multi_mp_lamb_update(weights, grads, mean, var, weights32, step_count, lrs, wds, out=None, num_tensors=0, **kwargs):
    """One step of LAMB on several half-precision weights with single-precision master copies.

    Parameters
    ----------
    weights : list of NDArrays
        The weights.
    grads : list of NDArrays
        The gradients.
    mean : NDArray
        The moving mean of the gradient, which is updated in place.
    var : NDArray
        The moving mean of the squared gradient, which is updated in place.
    weights32 : list of NDArrays
        The float32 master copies of the weights.
    step_count : tuple of int
        The number of this step, from 1.
    lrs : tuple of float
        The learning rates.
    wds : tuple of float
        The weight decays.
    out : NDArray or list of NDArrays, optional
        Where to write the new weights.
    num_tensors : int, default 0
        The number of weights; 0: all.
    **kwargs
        Further arguments of the operator.

    Examples
    --------
    >>> weight, grad = mx.nd.ones((2,), dtype="float16"), mx.nd.ones((2,), dtype="float16")
    >>> state = [[weight], [grad], [mx.nd.zeros((2,))], [mx.nd.zeros((2,))], [mx.nd.ones((2,))]]
    >>> mx.nd.contrib.multi_mp_lamb_update(*state, step_count=(1,), lrs=(0.1,), wds=(0,), out=weight).dtype
    <class 'numpy.float16'>
    """
    return _generated_function("_multi_mp_lamb_update")(
        *_interleaved(weights, grads, mean, var, weights32), out=out, num_tensors=num_tensors or len(weights),
        step_count=step_count, learning_rates=lrs, wds=wds, **kwargs,
    )  # fmt: skip
