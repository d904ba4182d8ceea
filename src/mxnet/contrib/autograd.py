"""The first form of automatic differentiation, before `mx.autograd`; kept for old programs."""

import functools

from .. import autograd as _autograd
from ..autograd import mark_variables, set_training  # noqa: F401
from ..base import c_array, c_array_buf, c_handle_array, check_call, mx_uint  # noqa: F401
from ..ndarray import NDArray, zeros_like


def set_is_training(is_train):
    """Turn training mode and recording on or off together; returns what training was."""
    _autograd.set_recording(is_train)
    return _autograd.set_training(is_train)


class TrainingStateScope:
    """Training mode and recording inside a `with`."""

    def __init__(self, enter_state):
        self._enter_state = enter_state

    def __enter__(self):
        self._scope = _autograd._Scope(self._enter_state, self._enter_state)
        self._scope.__enter__()

    def __exit__(self, ptype, value, trace):
        self._scope.__exit__(ptype, value, trace)


def train_section():
    """Record and train in this scope."""
    return TrainingStateScope(True)


def test_section():
    """Neither record nor train in this scope."""
    return TrainingStateScope(False)


def backward(outputs, out_grads=None, retain_graph=False):
    """Gradients of a list of arrays, into the buffers of the variables they came from."""
    _autograd.backward(outputs, out_grads, retain_graph)


def compute_gradient(outputs):
    """The old name of `backward`."""
    backward(outputs)


def grad_and_loss(func, argnum=None):
    """A function that gives the gradients of `func` with respect to its arguments, and its result."""
    places = argnum if argnum is None or isinstance(argnum, list) else [argnum]

    @functools.wraps(func)
    def wrapped(*args):
        variables = list(args) if places is None else [args[i] for i in places]
        kinds = [type(v) for v in variables if not isinstance(v, NDArray)]
        assert not kinds, f"gradients are computed with respect to NDArrays, got {kinds}"
        grads = list(map(zeros_like, variables))
        mark_variables(variables, grads)
        with train_section():
            result = func(*args)
        backward([result] if isinstance(result, NDArray) else result)
        return grads, result

    return wrapped


def grad(func, argnum=None):
    """A function that gives the gradients of `func` with respect to its arguments."""
    both = grad_and_loss(func, argnum)

    @functools.wraps(both)
    def wrapped(*args):
        return both(*args)[0]

    return wrapped
