"""`sym.contrib`: operators on trial, and control flow whose bodies become graphs inside a node."""

import math
from functools import partial as _partial

from .._core.attrs import python_number as _python_number
from .._core.nest import regroup as _regroup
from ..attribute import AttrScope
from ..base import check_call  # noqa: F401 - a name that MXNet's module shows
from . import _bodies, _internal, symbol
from ._space import lookup as _lookup
from .symbol import Symbol

_function, __dir__ = _lookup(globals(), "contrib")
__all__ = ["cond", "foreach", "rand_zipfian", "while_loop"]


def __getattr__(name):
    if name != "uniform":  # MXNet's module shows it
        return _function(name)
    from .random import uniform

    return uniform


def rand_zipfian(true_classes, num_sampled, range_max):
    """Classes drawn from a log-uniform distribution, and how often true and drawn classes are expected in a sample.

    Parameters
    ----------
    true_classes : Symbol
        The classes of the targets.
    num_sampled : int
        The number of classes to draw.
    range_max : int
        The number of classes.

    Returns
    -------
    list of Symbols
        The samples, and the expected counts of the true classes and of the samples.

    Examples
    --------
    >>> samples, true_count, sampled_count = mx.sym.contrib.rand_zipfian(mx.sym.var("x"), 4, 5)
    >>> true_count.eval(x=mx.nd.array([3]))[0].asnumpy()
    array([0.49815515])
    """
    from .random import uniform

    assert isinstance(true_classes, Symbol), f"unexpected type {type(true_classes)}"
    log_range = math.log(range_max + 1)
    drawn = uniform(0, log_range, shape=(num_sampled,), dtype="float64")
    sampled = (drawn.exp() - 1).astype("int64") % range_max

    def expected(classes):
        return ((classes + 2.0) / (classes + 1.0)).log() / log_range * num_sampled

    return sampled, expected(true_classes.astype("float64")), expected(sampled.astype("float64"))


# loops and branches


def foreach(body, data, init_states, name="foreach"):
    """Run `body` for each element of the first axis of `data`, handing states from step to step.

    Parameters
    ----------
    body : callable
        `body(element, states)` returns the output of a step and the new states.
    data : Symbol or list of Symbols
        What to go through.
    init_states : Symbol or list of Symbols
        The states before the first step.
    name : str, default 'foreach'
        The name of the new node.

    Returns
    -------
    (outputs, states)
        The outputs of all steps stacked along a new first axis, and the last states.

    Examples
    --------
    >>> def add(x, total):
    ...     return x + total, x + total
    >>> sums, total = mx.sym.contrib.foreach(add, mx.sym.var("x"), mx.sym.var("start"))
    >>> sums.eval(x=mx.nd.array([[1], [2], [3]]), start=mx.nd.array([0]))[0].asnumpy().ravel()
    array([1., 3., 6.], dtype=float32)
    """
    arrays, data_form = _bodies.flat(data, "foreach input")
    first, state_form = _bodies.flat(init_states, "foreach states")
    name = _bodies.unique_name(name)
    with AttrScope(__subgraph_name__=name):
        outputs, states = body(_bodies.inner_variables(arrays, data_form), _bodies.inner_variables(first, state_form))
        outputs, out_form = _bodies.flat(outputs, "foreach output")
        states, form = _bodies.flat(states, "foreach loop_vars")
        assert form == state_form, "The input and output loop_vars have different format"
        heads = [s._entries[0] for s in _bodies.outputs_and_states(outputs, states, name)]
    heads, sources = _bodies.cut(heads, name)
    names = _bodies.input_names(heads)
    data_locs = _used(arrays, names, "data")
    state_locs = _used(first, names, "state")
    taken = {*data_locs, *state_locs}
    remain = [i for i in range(len(names)) if i not in taken]
    entries = [s._entries[0] for s in (*arrays, *first)] + [sources[names[i]] for i in remain]
    count = len(outputs) + len(states)
    result = _bodies.call(
        "_foreach", entries, [heads], num_outputs=count, num_out_data=len(outputs), in_state_locs=state_locs,
        in_data_locs=data_locs, remain_locs=remain,
    )  # fmt: skip
    parts = [result[i] for i in range(count)]
    return _regroup(parts[: len(outputs)], out_form), _regroup(parts[len(outputs) :], form)


def _used(outer, names, kind):
    def unused(_):
        return AssertionError(f"the {kind} arrays have to be used in the loop body")

    return _places(outer, names, unused)


def _places(outer, names, unused):
    """Where each outer symbol is among the body's inputs; `unused` makes the error for the one that is not."""
    inner = [_bodies.inner_name(symbol_) for symbol_ in outer]
    for number, name in enumerate(inner, 1):
        if name not in names:
            raise unused(number)
    return [names.index(name) for name in inner]


def while_loop(cond, func, loop_vars, max_iterations=None, name="while_loop"):
    """Run `func` while `cond` holds, at most `max_iterations` times.

    Parameters
    ----------
    cond : callable
        `cond(*loop_vars)` returns a symbol of one element.
    func : callable
        `func(*loop_vars)` returns the output of a step and the new loop variables.
    loop_vars : Symbol or list of Symbols
        The loop variables before the first step.
    max_iterations : int, optional
        The greatest number of steps, which is also the length of the outputs.
    name : str, default 'while_loop'
        The name of the new node.

    Returns
    -------
    (outputs, loop_vars)
        The outputs stacked along a new first axis, and the last loop variables.

    Examples
    --------
    >>> outputs, (i, total) = mx.sym.contrib.while_loop(
    ...     cond=lambda i, total: i < 4,
    ...     func=lambda i, total: (total + i, (i + 1, total + i)),
    ...     loop_vars=(mx.sym.var("i"), mx.sym.var("total")),
    ...     max_iterations=5,
    ... )
    >>> total.eval(i=mx.nd.array([1]), total=mx.nd.array([0]))[0].asnumpy()
    array([6.], dtype=float32)
    """
    if max_iterations is None:
        raise ValueError("max_iterations should be specified")
    limit = _python_number(max_iterations, int, "max_iteration")
    first, form = _bodies.flat(loop_vars, "while loop_vars")
    if len(loop_vars) == 0:
        raise ValueError("loop_vars should contain at least one element")
    cond_heads, cond_sources, _, _ = _bodies.loop_body(first, form, _partial(_condition, cond), f"{name}_cond")
    heads, sources, count, out_form = _bodies.loop_body(first, form, _partial(_step, func, len(first)), f"{name}_func")
    inputs, inner = _bodies.Inputs(), {_bodies.inner_name(s): s._entries[0] for s in first}

    def locate(names, sources, part):
        # a loop variable changes from step to step, so it is no input of another name, even if both start alike
        return [inputs.place(n if n in inner else (part, n), inner.get(n) or sources[n]) for n in names]

    cond_locs = locate(_bodies.input_names(cond_heads), cond_sources, "cond")
    names = _bodies.input_names(heads)
    func_locs = locate(names, sources, "func")
    result = _bodies.call(
        "_while_loop", inputs.entries, [cond_heads, heads], max_iterations=limit, cond_input_locs=cond_locs,
        func_input_locs=func_locs, func_var_locs=_places(first, names, _unused), num_out_data=count,
        num_outputs=count + len(first),
    )  # fmt: skip
    parts = [result[i] for i in range(count + len(first))]
    return _regroup(parts[:count], out_form), _regroup(parts[count:], form)


def _condition(cond, variables):
    """What the condition's body gives: no outputs, one state."""
    result = cond(*variables)
    if not isinstance(result, Symbol):
        raise ValueError(f"Return of cond must be a Symbol, got {type(result)}")
    return [], [result], 0


def _step(func, count, variables):
    """What a step's body gives: outputs, the next loop variables, and the form of the outputs."""
    outputs, new = func(*variables)
    outputs, form = _bodies.flat([] if outputs is None else outputs, "while output")
    new, _ = _bodies.flat([] if new is None else new, "while loop_vars")
    if len(new) != count:
        raise ValueError(
            f"The number of loop_vars should be consistent during the loop: {count} went in, {len(new)} came out"
        )
    return outputs, new, form


def _unused(number):
    return ValueError(f"The {number}-th loop_var doesn't involve into the computation")


def cond(pred, then_func, else_func, name="cond"):
    """Run one of two functions, chosen by a condition.

    Parameters
    ----------
    pred : Symbol
        The condition, of one element; not zero means `then_func`.
    then_func : callable
        Returns the symbols to compute if the condition holds.
    else_func : callable
        Returns the symbols to compute if it does not.
    name : str, default 'cond'
        The name of the new node.

    Returns
    -------
    Symbol or list of Symbols

    Examples
    --------
    >>> x = mx.sym.var("x")
    >>> mx.sym.contrib.cond(x > 2, lambda: x * 10, lambda: x).eval(x=mx.nd.array([3]))[0].asnumpy()
    array([30.], dtype=float32)
    """
    parts = ((lambda: pred, "pred"), (then_func, "then"), (else_func, "else"))
    bodies = [_bodies.branch_body(function, f"{name}_{part}") for function, part in parts]
    if len(bodies[0][0]) != 1:
        raise ValueError(f"pred should always be a single output, it has {len(bodies[0][0])}")
    if len(bodies[1][0]) != len(bodies[2][0]):
        counts = " and ".join(str(len(heads)) for heads, _, _ in bodies[1:])
        raise ValueError(f"Number of outputs differs between then-branch and else-branch: {counts}")
    inputs = _bodies.Inputs()
    locs = [
        [inputs.place(n if sources[n].node.op is None else (part, n), sources[n]) for n in _bodies.input_names(heads)]
        for part, (heads, sources, _) in enumerate(bodies)
    ]
    result = _bodies.call(
        "_cond", inputs.entries, [heads for heads, _, _ in bodies], cond_input_locs=locs[0], then_input_locs=locs[1],
        else_input_locs=locs[2], num_outputs=len(bodies[1][0]),
    )  # fmt: skip
    return _regroup([result[i] for i in range(len(bodies[1][0]))], bodies[1][2])


# updates whose `rescale_grad` may be a number


def _scale(rescale_grad):
    return rescale_grad if isinstance(rescale_grad, Symbol) else symbol.full(shape=(1,), val=rescale_grad)


def adamw_update(
    weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0, clip_gradient=-1,
    out=None, name=None, **kwargs,
):  # fmt: skip
    """Node of one step of AdamW; `mx.nd.contrib.adamw_update` computes the same at once.

    Parameters
    ----------
    weight, grad, mean, var : Symbol
        The weight, its gradient, and the moving means of the gradient and of its square, which are updated in place.
    rescale_grad : float or Symbol
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
    out : optional
        Accepted for the sake of `mx.nd`.
    name : str, optional
        The name of the new node.
    **kwargs
        Further arguments of the operator.

    Returns
    -------
    Symbol
        The new weight.

    Examples
    --------
    >>> w, g, m, v = (mx.sym.var(name) for name in "wgmv")
    >>> step = mx.sym.contrib.adamw_update(w, g, m, v, 1.0, lr=0.1, eta=1.0)
    >>> ones, zeros = mx.nd.ones((2,)), mx.nd.zeros((2,))
    >>> bound = step.bind(mx.cpu(), {"w": ones, "g": ones}, aux_states={"m": zeros, "v": zeros.copy()})
    >>> bound.forward()[0].asnumpy()
    array([0.68377024, 0.68377024], dtype=float32)
    """
    return _internal._adamw_update(
        weight=weight, grad=grad, mean=mean, var=var, rescale_grad=_scale(rescale_grad), lr=lr, eta=eta, beta1=beta1,
        beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, out=out, name=name, **kwargs,
    )  # fmt: skip


def mp_adamw_update(
    weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9, beta2=0.999, epsilon=1e-8, wd=0,
    clip_gradient=-1, out=None, name=None, **kwargs,
):  # fmt: skip
    """Node of one step of AdamW on a half-precision weight with a float32 copy.

    Parameters
    ----------
    weight, grad, mean, var : Symbol
        The weight, its gradient, and the moving means of the gradient and of its square, which are updated in place.
    weight32 : Symbol
        The float32 copy of the weight, which is updated in place.
    rescale_grad : float or Symbol
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
    out : optional
        Accepted for the sake of `mx.nd`.
    name : str, optional
        The name of the new node.
    **kwargs
        Further arguments of the operator.

    Returns
    -------
    Symbol
        The new weight, of the type of `weight`.

    Examples
    --------
    >>> w, g, m, v, master = (mx.sym.var(name) for name in ("w", "g", "m", "v", "master"))
    >>> step = mx.sym.contrib.mp_adamw_update(w, g, m, v, master, 1.0, lr=0.1, eta=1.0, name="step")
    >>> step.list_arguments(), step.list_auxiliary_states()
    (['w', 'g'], ['m', 'v', 'master'])
    """
    return _internal._mp_adamw_update(
        weight=weight, grad=grad, mean=mean, var=var, weight32=weight32, rescale_grad=_scale(rescale_grad), lr=lr,
        eta=eta, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, out=out, name=name,
        **kwargs,
    )  # fmt: skip
