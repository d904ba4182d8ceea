"""`mx.random`: seeding, and the functions of `mx.nd.random`. Streams can be saved and restored for an exact resume."""

import ctypes

import torch

from ._core import streams
from ._ops.registry.device import torch_device
from .base import integer_types
from .context import Context
from .ndarray.random import *  # noqa: F403
from .ndarray.random import __all__ as _functions

__all__ = [*_functions, "seed", "get_state", "set_state"]


def seed(seed_state, ctx="all"):
    """Seed the random numbers of all devices, or of one, which then draws the same whatever its number is.

    Operators on a GPU, and `LeakyReLU` with random slopes, draw from torch's generators, which are seeded along.

    Parameters
    ----------
    seed_state : int
        The seed.
    ctx : str or Context, default 'all'
        The device; 'all' means every device.

    Examples
    --------
    >>> mx.random.seed(7)
    >>> x = mx.nd.random.uniform(shape=(2,))
    >>> mx.random.seed(7)
    >>> (x == mx.nd.random.uniform(shape=(2,))).asnumpy()
    array([1., 1.], dtype=float32)
    """
    if not isinstance(seed_state, integer_types):
        raise ValueError(f"seed_state must be int, got {type(seed_state)}")
    number = ctypes.c_int(int(seed_state)).value  # MXNet hands over 32 bits
    if ctx == "all":
        streams.seed_all(number)
        torch.manual_seed(number)
        return
    context = Context(ctx)
    streams.seed_device(number, context.device_type, context.device_id)
    _seed_torch(torch_device(context), number)


def _seed_torch(device, number):
    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.cuda.manual_seed(number)
    elif device.type == "mps":
        torch.mps.manual_seed(number)
    else:
        torch.default_generator.manual_seed(number)


def get_state():
    """The state of every random stream, as plain values and NumPy arrays, for a checkpoint.

    Examples
    --------
    >>> state = mx.random.get_state()
    >>> x = mx.nd.random.uniform(shape=(2,))
    >>> mx.random.set_state(state)
    >>> (x == mx.nd.random.uniform(shape=(2,))).asnumpy()
    array([1., 1.], dtype=float32)
    """
    state = {"streams": streams.get_state(), "torch": torch.get_rng_state().numpy().copy()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        state["cuda"] = [s.numpy().copy() for s in torch.cuda.get_rng_state_all()]
    return state


def set_state(state):
    """Continue every random stream from a state that `get_state` returned.

    Parameters
    ----------
    state : dict
        The state.

    Examples
    --------
    >>> mx.random.set_state(mx.random.get_state())
    """
    streams.set_state(state["streams"])
    torch.set_rng_state(torch.from_numpy(state["torch"].copy()))
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([torch.from_numpy(s.copy()) for s in state["cuda"]])
