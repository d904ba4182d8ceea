"""Loaded optimizer states, compared with the parameters that they are for before anything keeps them."""

import contextlib
import warnings
from numbers import Number, Real

from .._core.dtypes import dtype_name
from .._core.errors import MXNetError
from ..lr_scheduler import LRScheduler
from ..ndarray import NDArray
from .base import Optimizer


def check_keys(states, weights):
    """Refuse states of parameters that are not there.

    A module numbers its parameters on one device and names them on several. MXNet takes states of the other kind and
    does not use them; so does ReMX, with a warning.
    """
    unknown = [key for key in states if key not in weights]
    if unknown and _of_other_devices(unknown, weights):
        warnings.warn(
            f"the optimizer states were saved with another number of devices: they are kept for {_shown(unknown)}, "
            f"but this module updates {_shown(weights)}. As in MXNet, they are not used: momentum and other states "
            "start from zero",
            stacklevel=2,
        )
    elif unknown:
        raise MXNetError(
            f"the optimizer states are of other parameters: there are states for {_shown(unknown)}, the parameters are "
            f"{_shown(weights)}; load the file that was saved with this network"
        )


def _of_other_devices(keys, weights):
    """Are `keys` names of parameters that are counted in `weights`, or numbers of parameters that are named there?"""
    if all(isinstance(key, int) for key in keys):
        return bool(weights) and all(isinstance(key, str) for key in weights)
    return {name for name, _ in weights.values()}.issuperset(keys)


def _shown(keys):
    keys = list(keys)
    return ", ".join(map(repr, keys[:5])) + (", …" if len(keys) > 5 else "")


def check_state(optimizer, index, name, weight, state):
    """Refuse a state that differs from a fresh one of this weight in its parts, their shapes or dtypes."""
    fresh = optimizer.create_state_multi_precision(index, weight)
    wrong = _difference(fresh, state, weight.shape if hasattr(optimizer, "momentum") else None)
    if wrong:
        raise MXNetError(
            f"the optimizer state of parameter {name!r} ({index!r}) does not fit {type(optimizer).__name__} and a "
            f"weight of shape {weight.shape} and {dtype_name(weight.dtype)}: {wrong}"
        )


def _difference(fresh, state, momentum):
    """What differs, in words. A momentum may be zero by now: then a state of the shape `momentum` is not needed."""
    if fresh is None or state is None:
        unused = fresh is None and isinstance(state, NDArray) and state.shape == momentum
        return "" if fresh is state or unused else f"expected {_described(fresh)}, got {_described(state)}"
    if isinstance(fresh, (tuple, list)) and isinstance(state, (tuple, list)) and len(fresh) == len(state):
        found = (_difference(a, b, momentum) for a, b in zip(fresh, state, strict=True))
        return next(filter(None, found), "")
    if isinstance(fresh, dict) and isinstance(state, dict) and fresh.keys() == state.keys():
        return next(filter(None, (_difference(fresh[key], state[key], momentum) for key in fresh)), "")
    return "" if _described(fresh) == _described(state) else f"expected {_described(fresh)}, got {_described(state)}"


def _described(value):
    if isinstance(value, NDArray):
        kind = "" if value.stype == "default" else f"{value.stype} "
        return f"a {kind}{dtype_name(value.dtype)} array of shape {value.shape}"
    if isinstance(value, (tuple, list)):
        return f"{len(value)} parts"
    if isinstance(value, dict):
        return f"a dict of {_shown(value)}"
    if isinstance(value, Number):
        return "a number"
    return "nothing" if value is None else f"a value of type {type(value).__name__}"


# -- the optimizer that a file may hold --------------------------------------------------------------------------------


def check_optimizer(optimizer):
    """Complete and check the attributes of an optimizer that was made without its constructor."""
    for made, base in ((optimizer, Optimizer), (getattr(optimizer, "lr_scheduler", None), LRScheduler)):
        if type(made) is base:
            raise MXNetError(
                f"the states hold an {base.__name__} of no kind, the base class of all, which does nothing"
            )
    try:
        fresh = type(optimizer)()
    except TypeError:  # an optimizer of the program's own that needs arguments
        return
    for name, usual in vars(fresh).items():
        if name not in vars(optimizer):
            setattr(optimizer, name, usual)  # MXNet's older versions did not have it
        elif not _fits(name, getattr(optimizer, name), usual):
            given = _described(getattr(optimizer, name))
            raise MXNetError(f"the optimizer in the states has {given} for {name}, which is {_described(usual)}")
    if not fresh.aggregate_num:  # it, or this process, updates one weight at a time
        optimizer.aggregate_num = 0
    if optimizer.lr_scheduler is not None:
        _check_schedule(optimizer.lr_scheduler)
    elif optimizer.lr is None:
        raise MXNetError("the optimizer in the states has no learning rate and no schedule that would tell one")
    optimizer._check_loaded()


# What schedules count by: whole numbers, at least so large. A step of none would never end.
_COUNTED = {"step": 1, "count": 0, "cur_step_ind": 0, "max_update": 1, "max_steps": 0, "warmup_steps": 0}


def _check_schedule(schedule):
    """Compare the attributes of a schedule that was made without its constructor with those of a fresh one."""
    fresh = _fresh_schedule(type(schedule))
    for name, usual in vars(fresh).items() if fresh is not None else ():
        given = vars(schedule).get(name)
        if not _alike(name, given, usual):
            raise MXNetError(
                f"the {type(schedule).__name__} in the states has {_described(given)} for {name}, which is "
                f"{_described(usual)}{f' of at least {_COUNTED[name]}' if name in _COUNTED else ''}"
            )


def _alike(name, given, usual):
    if isinstance(usual, list):
        return isinstance(given, list) and all(_alike(name, part, usual[0]) for part in given)
    if name in _COUNTED:
        return isinstance(given, int) and given >= _COUNTED[name]
    return isinstance(given, Real) if isinstance(usual, Real) else type(given) is type(usual)


def _fresh_schedule(kind):
    """One with the least arguments that its class takes; None for a class of the program's own that takes others."""
    for arguments in ((), (1,), ([1],)):
        with contextlib.suppress(TypeError, ValueError, AssertionError):
            return kind(*arguments)
    return None


def _fits(name, given, usual):
    if name == "lr_scheduler":
        return given is None or isinstance(given, LRScheduler)
    if name == "_all_index_update_counts":
        return isinstance(given, dict) and all(isinstance(v, dict) and _counts(v) for v in given.values())
    if name == "_index_update_count":
        return isinstance(given, dict) and _counts(given)
    if name in ("lr_mult", "wd_mult"):
        return isinstance(given, dict) and all(isinstance(v, Number) for v in given.values())
    if name == "aggregate_num":
        return isinstance(given, int) and given >= 0
    if name == "lr":
        return given is None or isinstance(given, Number)
    if isinstance(usual, dict):
        return isinstance(given, dict)
    if isinstance(usual, Number):
        return isinstance(given, Number) or (given is None and not isinstance(usual, bool))
    return usual is not None or given is None or isinstance(given, Number)


def _counts(values):
    return all(isinstance(v, int) for v in values.values())
