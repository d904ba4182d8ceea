"""MXNet's settings of cuDNN and of tensor cores, which hold while ReMX computes: torch's own come back afterwards.

========================================== =============== =============================================================
variable                                   default         what it does
========================================== =============== =============================================================
MXNET_CUDNN_AUTOTUNE_DEFAULT               1               1 or 2: cuDNN tries its algorithms for each new shape; 0: not
MXNET_CUDA_ALLOW_TENSOR_CORE               1               0: convolutions of float32 never run in TF32
MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION 0               1: products of float32 may run in TF32
MXNET_ENFORCE_DETERMINISM                  0               1: only algorithms that give the same numbers each time
========================================== =============== =============================================================

torch keeps these settings for the whole process, not for a thread: `Scope` changes them only while a call runs. Torch
code of another thread sees them for that time.
"""

import os
import threading
from functools import lru_cache
from typing import Any, Literal

import torch
from torch import Tensor

from .._core.environment import means_yes
from .._core.errors import ValueRefused

_C: Any = torch._C
_VARIABLES = (
    "MXNET_CUDNN_AUTOTUNE_DEFAULT",
    "MXNET_CUDA_ALLOW_TENSOR_CORE",
    "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION",
    "MXNET_ENFORCE_DETERMINISM",
)
_NAMED = hasattr(_C, "_get_fp32_precision_getter")  # torch before 2.9 has one switch for each library
Settings = dict[str, Any]
Tuning = Literal["fastest", "limited_workspace", "off"] | None


def wanted(tune: Tuning = None, off: bool = False) -> Settings:
    """What MXNet's variables and an operator's `cudnn_tune` and `cudnn_off` ask of torch."""
    return _wanted(tune, off, *(os.environ.get(name) or "" for name in _VARIABLES))


@lru_cache(64)
def _wanted(tune: Tuning, off: bool, autotune: str, cores: str, conversion: str, determinism: str) -> Settings:
    if autotune not in ("", "0", "1", "2"):
        raise ValueRefused(f"MXNET_CUDNN_AUTOTUNE_DEFAULT must be 0, 1 or 2, got {autotune!r}")
    allowed = means_yes(cores, True)
    library = "tf32" if allowed else "ieee"
    settings: Settings = {
        "benchmark": tune != "off" if tune is not None else autotune != "0",
        "matmul": "tf32" if allowed and means_yes(conversion) else "ieee",
        "conv": library,
        "rnn": library,
    }
    if off:
        settings["enabled"] = False
    if means_yes(determinism):
        settings |= {"deterministic": True, "algorithms": (True, True)}
    return settings


def _get_precision(which: str) -> Any:
    if _NAMED:
        return _C._get_fp32_precision_getter("cuda", which)
    return "tf32" if (_C._get_cublas_allow_tf32() if which == "matmul" else _C._get_cudnn_allow_tf32()) else "ieee"


def _set_precision(which: str, value: str) -> None:
    if _NAMED:
        _C._set_fp32_precision_setter("cuda", which, value)
    elif which == "matmul":
        _C._set_cublas_allow_tf32(value == "tf32")
    else:
        _C._set_cudnn_allow_tf32(value == "tf32")


def get(name: str) -> Any:
    """One of torch's settings."""
    if name == "algorithms":
        return _C._get_deterministic_algorithms(), _C._get_deterministic_algorithms_warn_only()
    return _get_precision(name) if name in ("matmul", "conv", "rnn") else getattr(_C, f"_get_cudnn_{name}")()


def put(name: str, value: Any) -> None:
    """Change one of torch's settings."""
    if name == "algorithms":
        _C._set_deterministic_algorithms(value[0], warn_only=value[1])
    elif name in ("matmul", "conv", "rnn"):
        _set_precision(name, value)
    else:
        getattr(_C, f"_set_cudnn_{name}")(value)


_LOCK = threading.Lock()
_OPEN: list["Scope"] = []  # the scopes of all threads that hold now; the last one opened counts
_CHANGED: dict[str, tuple[Any, Any]] = {}  # settings they have changed: torch's own value, and the one put instead


class Scope:
    """MXNet's settings inside a `with`, torch's own behind the last one of all threads; not `active`: nothing happens.

    If scopes with different wishes overlap, in several threads, those of the last one opened hold. A setting that the
    program itself changes meanwhile stays as the program put it.
    """

    __slots__ = ("_active", "_off", "_settings", "_tune")

    def __init__(self, active: bool, tune: Tuning = None, off: bool = False) -> None:
        self._active, self._off = active, off
        self._tune: Tuning = tune

    def __enter__(self) -> None:
        if self._active:
            self._settings = wanted(self._tune, self._off)
            with _LOCK:
                _OPEN.append(self)
                _hold(self._settings)

    def __exit__(self, *error: object) -> None:
        if self._active:
            with _LOCK:
                _OPEN.remove(self)
                _hold(_OPEN[-1]._settings if _OPEN else {})


def _hold(settings: Settings) -> None:
    """Let `settings` hold, and torch's own for all else."""
    for name in [name for name in _CHANGED if name not in settings]:
        own, ours = _CHANGED.pop(name)
        if get(name) == ours:
            put(name, own)
    for name, value in settings.items():
        before = get(name)
        if before != value:
            own, ours = _CHANGED.get(name, (before, before))
            _CHANGED[name] = own if before == ours else before, value
            put(name, value)


def under(function: Any, arguments: tuple[Any, ...], tune: Tuning = None, off: bool = False) -> Any:
    """`function(*arguments)`, and its backward pass, under MXNet's settings, if its first argument is on a CUDA GPU."""
    if not arguments[0].is_cuda:
        return function(*arguments)
    with Scope(True, tune, off):
        result = function(*arguments)
    if tune is not None or off:
        _keep_for_backward(result, wanted(tune, off))
    return result


def _keep_for_backward(result: Tensor, settings: Settings) -> None:
    """Let one operator's gradient be computed under its own settings, within the scope of the whole backward pass.

    That scope puts back what a node leaves that fails: torch calls no hook behind it.
    """

    def hold(settings: Settings | None) -> None:
        with _LOCK:
            if _OPEN:
                _hold(_OPEN[-1]._settings if settings is None else settings)

    if result.grad_fn is not None:
        result.grad_fn.register_prehook(lambda heads: hold(settings))
        result.grad_fn.register_hook(lambda gradients, heads: hold(None))
