"""Recording and training mode of a thread, and the scopes that set them."""

import torch

from .._core.modes import MODES


def is_recording():
    """Whether operations are being recorded in this thread.

    Parameters
    ----------
    None

    Returns
    -------
    bool

    Examples
    --------
    >>> mx.autograd.is_recording()
    False
    """
    return MODES.recording


def is_training():
    """Whether this thread runs networks in training mode.

    Parameters
    ----------
    None

    Returns
    -------
    bool

    Examples
    --------
    >>> with mx.autograd.record():
    ...     print(mx.autograd.is_training())
    True
    """
    return MODES.training


def set_recording(is_recording):
    """Turn recording on or off in this thread. Prefer the scopes `record` and `pause`, which restore the state.

    Parameters
    ----------
    is_recording : bool
        Whether to record from now on.

    Returns
    -------
    bool
        What it was before.

    Examples
    --------
    >>> before = mx.autograd.set_recording(True)
    >>> mx.autograd.set_recording(before)
    True
    """
    before, MODES.recording = MODES.recording, bool(is_recording)
    return before


def set_training(train_mode):
    """Turn training mode on or off in this thread.

    Parameters
    ----------
    train_mode : bool
        Whether networks run in training mode from now on.

    Returns
    -------
    bool
        What it was before.

    Examples
    --------
    >>> before = mx.autograd.set_training(True)
    >>> mx.autograd.set_training(before)
    True
    """
    before, MODES.training = MODES.training, bool(train_mode)
    return before


class Scope:
    """Sets the modes inside a `with`; None leaves one as it is. While recording, torch's own grad mode is on."""

    __slots__ = ("_before", "_record", "_train")

    def __init__(self, is_record, train_mode):
        self._record, self._train = is_record, train_mode

    def __enter__(self):
        self._before = (MODES.recording, MODES.training, torch.is_grad_enabled())
        if self._record is not None:
            MODES.recording = self._record
            if self._record:
                torch._C._set_grad_enabled(True)
        if self._train is not None:
            MODES.training = self._train

    def __exit__(self, *exc):
        MODES.recording, MODES.training, enabled = self._before
        torch._C._set_grad_enabled(enabled)


def record(train_mode=True):
    """Record operations in this scope, so that `backward()` can compute gradients.

    Parameters
    ----------
    train_mode : bool, default True
        Whether layers such as Dropout and BatchNorm behave as in training.

    Returns
    -------
    context manager

    Examples
    --------
    >>> x = mx.nd.array([1, 2, 3])
    >>> x.attach_grad()
    >>> with mx.autograd.record():
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad.asnumpy()
    array([2., 4., 6.], dtype=float32)
    """
    return Scope(True, train_mode)


def pause(train_mode=False):
    """Stop recording in this scope, for operations that need no gradient.

    Parameters
    ----------
    train_mode : bool, default False
        Whether layers behave as in training.

    Returns
    -------
    context manager

    Examples
    --------
    >>> with mx.autograd.record():
    ...     with mx.autograd.pause():
    ...         print(mx.autograd.is_recording())
    False
    """
    return Scope(False, train_mode)


def train_mode():
    """Training mode in this scope; recording stays as it is.

    Parameters
    ----------
    None

    Returns
    -------
    context manager

    Examples
    --------
    >>> with mx.autograd.train_mode():
    ...     print(mx.autograd.is_training(), mx.autograd.is_recording())
    True False
    """
    return Scope(None, True)


def predict_mode():
    """Prediction mode in this scope; recording stays as it is.

    Parameters
    ----------
    None

    Returns
    -------
    context manager

    Examples
    --------
    >>> with mx.autograd.record():
    ...     with mx.autograd.predict_mode():
    ...         print(mx.autograd.is_training(), mx.autograd.is_recording())
    False True
    """
    return Scope(None, False)
