"""What a device reports, in words: memory that is exhausted, and failures of operators that ran some time ago."""

import functools
import re
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from .._core.errors import MXNetError

_Function = TypeVar("_Function", bound=Callable[..., Any])
LATE = ("CUDA error", "device-side assert", "HIP error", "cuBLAS error", "CUBLAS_STATUS", "CUDNN_STATUS")
_BEYOND_MEMORY = ("can't allocate memory", "Storage size calculation overflowed", "Overflow when unpacking long")
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def readable(size: int) -> str:
    """Bytes in the unit a person would choose."""
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.2f} {name}"
    return f"{size} bytes"


def is_out_of_memory(error: BaseException) -> bool:
    """Is a GPU's memory exhausted?"""
    return isinstance(error, torch.cuda.OutOfMemoryError) or "out of memory" in str(error).lower()


def is_beyond_memory(error: BaseException) -> bool:
    """Was more asked for than this machine's memory, or any, has? torch and NumPy say so in different ways."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in _BEYOND_MEMORY)


def lacks_float64(error: BaseException) -> bool:
    """Was an array of float64 asked for on an Apple GPU?"""
    return isinstance(error, TypeError) and "MPS" in str(error) and "float64" in str(error)


def exhaustion(error: Exception) -> Exception:
    """An MXNetError if it was for want of memory, or of float64, else the error itself."""
    if isinstance(error, MXNetError):
        return error
    told = is_out_of_memory(error) or is_beyond_memory(error) or lacks_float64(error)
    return MXNetError(explained(error)) if told else error


def tells_exhaustion(function: _Function) -> _Function:
    """A function whose copies and results may not fit the memory or the device, told in MXNet's class of errors."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (RuntimeError, MemoryError, TypeError) as error:
            raise exhaustion(error) from None

    return call  # type: ignore[return-value]


def is_late(error: BaseException) -> bool:
    """Was it an earlier operator that failed?"""
    return isinstance(error, RuntimeError) and any(mark in str(error) for mark in LATE)


def explained(error: BaseException) -> str:
    """The text of what torch raised, with what to do about it."""
    text = str(error).strip()
    if lacks_float64(error):
        return "Apple's GPUs have no float64: use float32 there, or compute on mx.cpu()"
    if is_beyond_memory(error):
        return _beyond_memory(text)
    if is_out_of_memory(error):
        return _out_of_memory(text)
    if "no kernel image" in text:
        return _unknown_gpu()
    if torch.cuda._is_in_bad_fork() and ("CUDA" in text or is_late(error)):
        return _FORKED
    if is_late(error):
        return _late(text)
    return _in_our_words(text)


# torch's sentences about shapes and types, and ours: arrays, axes and inputs instead of tensors, dimensions and mat1.
_SENTENCES: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (
        r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        r"matrices of shapes (\1, \2) and (\3, \4) cannot be multiplied: the inner sizes \2 and \3 differ",
    ),
    (
        r"running_mean should contain (\d+) elements not (\d+)",
        r"data with \1 channels does not fit gamma, beta and moving statistics of \2 elements",
    ),
    (
        r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
        r"the sizes \1 and \2 of axis \3 differ, and neither is 1",
    ),
    (
        r"Sizes of tensors must match except in dimension (\d+)\. Expected size (\d+) but got size (\d+) for tensor "
        r"number (\d+) in the list\.",
        r"input \4, counted from 0, has size \3 where input 0 has \2; only axis \1 may differ",
    ),
    (
        r"contracted dimensions need to match, but first has size (\d+) in dim (-?\d+) and second has size (\d+) "
        r"in dim (-?\d+)",
        r"the sizes to sum over differ: \1 on axis \2 of the first input, \3 on axis \4 of the second",
    ),
    (
        r"einsum\(\): subscript (\w) has size (\d+) for operand (\d+) which does not broadcast with previously "
        r"seen size (\d+)",
        r"the letter \1 has size \4 first and size \2 in input \3, counted from 0",
    ),
    (
        r"Given groups=(\d+), weight of size (\[.*?\]), expected input(\[.*?\]) to have (\d+) channels, but got (\d+) "
        r"channels instead",
        r"data of shape \3 has \5 channels, the weight of shape \2 with num_group=\1 needs \4",
    ),
    (
        r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)",
        r"axis \3 does not exist: the axes of the input are numbered from \1 to \2",
    ),
    (
        r"\w+\(\): Expected reduction dim (-?\d+) to have non-zero size\.",
        r"axis \1 has no elements, so there is no largest or smallest one",
    ),
    (
        r"\w+\(\): Expected reduction dim to be specified for input\.numel\(\) == 0\. Specify the reduction dim "
        r"with the 'dim' argument\.",
        r"the array has no elements, so there is no largest or smallest one",
    ),
    (
        r"[\w.]+: Expected a floating point or complex tensor as input\. Got \w+",
        r"the input must be of a floating-point type; convert it with astype('float32')",
    ),
    (r"\"(\w+?)(?:_cpu|_cuda)?\" not implemented for '(\w+)'", lambda found: _unsupported(*found.groups())),
]
_TYPES = {
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Bool": "bool", "Byte": "uint8",
    "Char": "int8", "Int": "int32", "Long": "int64",
}  # fmt: skip


def _unsupported(function: str, kind: str) -> str:
    return f"{function} has no implementation for {_TYPES.get(kind, kind)}; convert the input with astype"


def _in_our_words(text: str) -> str:
    for theirs, ours in _SENTENCES:
        text = re.sub(theirs, ours, text)
    return text


def _beyond_memory(text: str) -> str:
    asked = re.search(r"tried to allocate (\d+) bytes|Unable to allocate ([\d.]+ \w+)", text)
    if asked is None:
        return "an array of this shape needs more memory than there is"
    size = readable(int(asked[1])) if asked[1] else asked[2]
    return f"the memory for an array of {size} cannot be allocated: use smaller arrays, or drop those no longer needed"


def _out_of_memory(text: str) -> str:
    asked = text.split(" If reserved but unallocated")[0].split(" See documentation")[0].rstrip(". ")
    return (
        f"{asked}. {_state()}Use a smaller batch, compute activations again in the backward pass "
        "(MXNET_BACKWARD_DO_MIRROR=1), drop arrays that are not needed any more, or call ctx.empty_cache() if other "
        "programs or libraries share the GPU"
    )


def _state() -> str:
    if not torch.cuda.is_available():
        return ""
    parts: list[str] = []
    for number in range(torch.cuda.device_count()):
        free, total = torch.cuda.mem_get_info(number)
        held = torch.cuda.memory_allocated(number)
        parts.append(
            f"gpu({number}): {readable(held)} in arrays, {readable(free)} free for new ones and other programs, "
            f"{readable(total)} in all"
        )
    return "; ".join(parts) + ". "


def _unknown_gpu() -> str:
    kind, capability = torch.cuda.get_device_name(), ".".join(map(str, torch.cuda.get_device_capability()))
    return (
        f"torch {torch.__version__} has no kernels for this GPU ({kind}, compute capability {capability}); install a "
        "build of torch for it: older GPUs need one for an older CUDA, see the selector on pytorch.org"
    )


_FORKED = (
    "a forked process, such as a worker of a DataLoader, cannot use a GPU that its parent process has used: let "
    "datasets and transforms work on arrays of the CPU and copy the batches with as_in_context, or use threads "
    "(DataLoader(thread_pool=True))"
)


def _late(text: str) -> str:
    first = text.splitlines()[0] if text else "the device failed"
    return (
        f"{first}. The GPU reports this late: an operator that ran before may have failed. Run the program again with "
        "MXNET_ENGINE_TYPE=NaiveEngine, which waits after each operator, to see which; after such an error the process "
        "cannot use the GPU any more"
    )
