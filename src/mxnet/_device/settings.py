"""MXNet's settings of cuDNN and of tensor cores, which hold while ReMX computes: torch's own come back afterwards.

========================================== =============== =============================================================
variable                                   default         what it does
========================================== =============== =============================================================
MXNET_CUDNN_AUTOTUNE_DEFAULT               1               1 or 2: cuDNN tries its algorithms for each new shape; 0: not
MXNET_CUDA_ALLOW_TENSOR_CORE               1               0: convolutions of float32 never run in TF32
MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION 0               1: products of float32 may run in TF32
MXNET_ENFORCE_DETERMINISM                  0               1: only algorithms that give the same numbers each time
========================================== =============== =============================================================

torch keeps these settings for the whole process, not for a thread: `Scope` changes them only while a call runs.
"""

from typing import Any

import torch

from .._core.environment import is_on, whole_number

_C: Any = torch._C
_PRECISION = (("cuda", "matmul"), ("cuda", "conv"), ("cuda", "rnn"))


def autotune(tune: str | None = None) -> bool:
    """May cuDNN try its algorithms? The operator's `cudnn_tune`, else the environment says it."""
    if tune is not None:
        return tune != "off"
    return whole_number("MXNET_CUDNN_AUTOTUNE_DEFAULT", 1, "0, 1 or 2", below=3) > 0


def wanted(tune: str | None = None, off: bool = False) -> dict[str, Any]:
    """What MXNet's variables and an operator's attributes ask of torch."""
    tensor_cores = is_on("MXNET_CUDA_ALLOW_TENSOR_CORE", True)
    conversion = tensor_cores and is_on("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION")
    deterministic = is_on("MXNET_ENFORCE_DETERMINISM")
    library = "tf32" if tensor_cores else "ieee"
    return {
        "enabled": _C._get_cudnn_enabled() and not off,
        "benchmark": autotune(tune),
        "deterministic": deterministic or _C._get_cudnn_deterministic(),
        "algorithms": deterministic,
        "precision": ("tf32" if conversion else "ieee", library, library),
    }


def current() -> dict[str, Any]:
    """What torch has now."""
    return {
        "enabled": _C._get_cudnn_enabled(),
        "benchmark": _C._get_cudnn_benchmark(),
        "deterministic": _C._get_cudnn_deterministic(),
        "algorithms": (_C._get_deterministic_algorithms(), _C._get_deterministic_algorithms_warn_only()),
        "precision": _precision(),
    }


def _precision() -> tuple[Any, ...]:
    if hasattr(_C, "_get_fp32_precision_getter"):
        return tuple(_C._get_fp32_precision_getter(*which) for which in _PRECISION)
    return _C._get_cublas_allow_tf32(), _C._get_cudnn_allow_tf32()  # torch before 2.9


def _set_precision(values: tuple[Any, ...]) -> None:
    if hasattr(_C, "_set_fp32_precision_setter"):
        for which, value in zip(_PRECISION, values, strict=True):
            _C._set_fp32_precision_setter(*which, value)
    else:
        _C._set_cublas_allow_tf32(values[0] in (True, "tf32"))
        _C._set_cudnn_allow_tf32(values[1] in (True, "tf32"))


def apply(values: dict[str, Any]) -> None:
    """Make torch's settings these."""
    _C._set_cudnn_enabled(values["enabled"])
    _C._set_cudnn_benchmark(values["benchmark"])
    _C._set_cudnn_deterministic(values["deterministic"])
    algorithms = values["algorithms"]
    if isinstance(algorithms, tuple):
        _C._set_deterministic_algorithms(algorithms[0], warn_only=algorithms[1])
    elif algorithms:
        _C._set_deterministic_algorithms(True, warn_only=True)
    _set_precision(values["precision"])


class Scope:
    """MXNet's settings inside a `with`; nothing changes for calls on the CPU."""

    __slots__ = ("_active", "_before", "_off", "_tune")

    def __init__(self, active: bool, tune: str | None = None, off: bool = False) -> None:
        self._active, self._tune, self._off = active, tune, off

    def __enter__(self) -> None:
        if self._active:
            self._before = current()
            apply(wanted(self._tune, self._off))

    def __exit__(self, *error: object) -> None:
        if self._active:
            apply(self._before)
