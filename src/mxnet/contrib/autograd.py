"""The first form of automatic differentiation, before `mx.autograd`; kept for old programs."""

import functools

from .. import autograd as _autograd
from ..autograd import mark_variables, set_training  # noqa: F401
from ..base import c_array, c_array_buf, c_handle_array, check_call, mx_uint  # noqa: F401
from ..ndarray import NDArray, zeros_like


def set_is_training(is_train):
    """Switch training mode and recording on or off together.

    Parameters
    ----------
    is_train : bool
        Whether they are on.

    Returns
    -------
    bool
        Whether training was on.

    Examples
    --------
    >>> before = mx.contrib.autograd.set_is_training(True)
    >>> mx.contrib.autograd.set_is_training(before)
    True
    """
    _autograd.set_recording(is_train)
    return _autograd.set_training(is_train)


class TrainingStateScope:
    """A scope in which training mode and recording are on or off.

    Parameters
    ----------
    enter_state : bool
        Whether they are on inside.

    Examples
    --------
    >>> with mx.contrib.autograd.TrainingStateScope(True):
    ...     mx.autograd.is_training()
    True
    """

    def __init__(self, enter_state):
        self._enter_state = enter_state

    def __enter__(self):
        self._scope = _autograd._RecordingStateScope(self._enter_state, self._enter_state)
        self._scope.__enter__()

    def __exit__(self, ptype, value, trace):
        self._scope.__exit__(ptype, value, trace)


def train_section():
    """A scope in which training mode and recording are on.

    Examples
    --------
    >>> with mx.contrib.autograd.train_section():
    ...     mx.autograd.is_recording()
    True
    """
    return TrainingStateScope(True)


def test_section():
    """A scope in which training mode and recording are off.

    Examples
    --------
    >>> with mx.contrib.autograd.test_section():
    ...     mx.autograd.is_recording()
    False
    """
    return TrainingStateScope(False)


def backward(outputs, out_grads=None, retain_graph=False):
    """Compute the gradients of arrays with respect to their variables.

    Parameters
    ----------
    outputs : list of NDArrays
        The arrays.
    out_grads : list of NDArrays, optional
        Their gradients; ones without it.
    retain_graph : bool, default False
        Whether the recorded graph is kept for another `backward`.

    Examples
    --------
    >>> x = mx.nd.array([1, 2])
    >>> x.attach_grad()
    >>> with mx.contrib.autograd.train_section():
    ...     y = x * x
    >>> mx.contrib.autograd.backward([y])
    >>> x.grad.asnumpy()
    array([2., 4.], dtype=float32)
    """
    _autograd.backward(outputs, out_grads, retain_graph)


def compute_gradient(outputs):
    """The old name of `backward`.

    Parameters
    ----------
    outputs : list of NDArrays
        The arrays.

    Examples
    --------
    >>> x = mx.nd.array([1, 2])
    >>> x.attach_grad()
    >>> with mx.contrib.autograd.train_section():
    ...     y = x * 3
    >>> mx.contrib.autograd.compute_gradient([y])
    >>> x.grad.asnumpy()
    array([3., 3.], dtype=float32)
    """
    backward(outputs)


def grad_and_loss(func, argnum=None):
    """A function that returns the gradients of `func` with respect to its arguments, and its result.

    Parameters
    ----------
    func : callable
        The function of arrays.
    argnum : int or list of int, optional
        The arguments to differentiate by; None: all.

    Returns
    -------
    callable

    Examples
    --------
    >>> gradients, result = mx.contrib.autograd.grad_and_loss(lambda x: x * x)(mx.nd.array([1, 2]))
    >>> gradients[0].asnumpy(), result.asnumpy()
    (array([2., 4.], dtype=float32), array([1., 4.], dtype=float32))
    """
    places = argnum if argnum is None or isinstance(argnum, list) else [argnum]

    @functools.wraps(func)
    def wrapped(*args):
        variables = list(args) if places is None else [args[i] for i in places]
        kinds = [type(v) for v in variables if not isinstance(v, NDArray)]
        assert not kinds, f"gradients are computed with respect to NDArrays, got {kinds}"
        grads = list(map(zeros_like, variables))
        mark_variables(variables, grads)
        with train_section():
            made = func(*args)
        backward(made if isinstance(made, (list, tuple)) else [made])
        return grads, made

    return wrapped


def grad(func, argnum=None):
    """A function that returns the gradients of `func` with respect to its arguments.

    Parameters
    ----------
    func : callable
        The function of arrays.
    argnum : int or list of int, optional
        The arguments to differentiate by; None: all.

    Returns
    -------
    callable

    Examples
    --------
    >>> mx.contrib.autograd.grad(lambda x: x * x)(mx.nd.array([1, 2]))[0].asnumpy()
    array([2., 4.], dtype=float32)
    """

    @functools.wraps(func)
    def gradients(*args):
        found, _ = grad_and_loss(func, argnum)(*args)
        return found

    return gradients
