"""Which GPUs there are, and why there is none: one sentence with what to install or to set."""

import warnings

import torch

from ..context import Context, virtual_gpus

_WARNED: set[str] = set()


def once(key: str, text: str) -> None:
    """Warn once in a process."""
    if key not in _WARNED:
        _WARNED.add(key)
        warnings.warn(text, stacklevel=3)


def device_of(ctx: Context) -> torch.device | None:
    """The torch device of a GPU context, real or virtual; None: there is none."""
    if torch.cuda.is_available():
        if virtual_gpus():
            once("virtual", _BESIDE.format(number=virtual_gpus(), real=torch.cuda.device_count()))
        return torch.device("cuda", ctx.device_id) if 0 <= ctx.device_id < torch.cuda.device_count() else None
    if torch.backends.mps.is_available():
        if virtual_gpus():
            once("virtual", _BESIDE_APPLES.format(number=virtual_gpus()))
        return torch.device("mps") if ctx.device_id == 0 else None
    return torch.device("cpu") if 0 <= ctx.device_id < virtual_gpus() else None


_BESIDE = (
    "MXNET_VIRTUAL_GPUS={number} has no effect beside {real} real GPU(s); unset it, or hide those with "
    "CUDA_VISIBLE_DEVICES="
)
_BESIDE_APPLES = "MXNET_VIRTUAL_GPUS={number} has no effect beside Apple's GPU; unset it, or use mx.cpu()"


def why_not(ctx: Context) -> str:
    """Why a GPU context cannot be used, and what to do."""
    if torch.cuda.is_available():
        number = torch.cuda.device_count()
        named = "gpu(0)" if number == 1 else f"gpu(0) to gpu({number - 1})"
        variable = "CUDA_VISIBLE_DEVICES" if torch.version.hip is None else "HIP_VISIBLE_DEVICES"
        seen = f"torch sees no other; look at {variable} if the machine has more"
        return f"{ctx} does not exist: this machine has {number} GPU{'s' * (number > 1)}, {named}; {seen}"
    if torch.backends.mps.is_available():
        return f"{ctx} does not exist: this machine has Apple's one GPU, gpu(0)"
    if virtual_gpus():
        return f"{ctx} does not exist: MXNET_VIRTUAL_GPUS={virtual_gpus()} makes gpu(0) to gpu({virtual_gpus() - 1})"
    return f"{ctx} is not available: {_no_gpu()}, use mx.cpu(), or set MXNET_VIRTUAL_GPUS=2 to run GPU code on the CPU"


def _no_gpu() -> str:
    if torch.version.cuda is None and torch.version.hip is None:
        return "this build of torch has neither CUDA nor ROCm; install one that has"
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:
        return _driver(str(error).strip().splitlines()[0])
    return _NO_DEVICE[torch.version.hip is not None]


_NO_DEVICE = (
    "CUDA finds no device; look at CUDA_VISIBLE_DEVICES and at what nvidia-smi shows",
    "ROCm finds no device; look at HIP_VISIBLE_DEVICES and at what rocm-smi shows",
)


def _driver(text: str) -> str:
    if "No CUDA GPUs" in text or "No HIP GPUs" in text:
        return _NO_DEVICE[torch.version.hip is not None]
    if torch.version.hip is not None:
        return f"ROCm cannot be started: {text}; look at what rocm-smi shows"
    if "too old" in text:
        return (
            f"the NVIDIA driver is too old for torch {torch.__version__} with CUDA {torch.version.cuda}; update the "
            f"driver, or install a build of torch for an older CUDA ({text})"
        )
    if "no NVIDIA driver" in text:
        return f"torch {torch.__version__} has CUDA, but there is no NVIDIA driver on this machine; install one"
    return f"CUDA cannot be started: {text}"
