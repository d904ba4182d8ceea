"""Devices: `cpu()`, `gpu()` and the `Context` that names one; a scope makes it the default."""

import re
import threading

from ._core.environment import whole_number
from ._core.errors import MXNetError, NameUnknown

__all__ = ["Context", "cpu", "cpu_pinned", "cpu_shared", "current_context", "gpu", "gpu_memory_info", "num_gpus"]


PINNED = 3  # the number of `cpu_pinned`


class _Scopes(threading.local):
    def __init__(self):
        self.stack = []
        self.default = None  # what the thread chose instead of the CPU


_SCOPES = _Scopes()


class _Default:
    """`Context._default_ctx`: its `value` is the calling thread's current context."""

    @property
    def value(self):
        return current_context()

    @value.setter
    def value(self, context):
        _SCOPES.default = context


class _ContextMeta(type):
    """Gives the class MXNet's attributes `Context.default_ctx` and `Context._default_ctx`."""

    _default_ctx = _Default()

    @property
    def default_ctx(cls):
        return current_context()

    @default_ctx.setter
    def default_ctx(cls, context):
        _SCOPES.default = context


class Context(metaclass=_ContextMeta):
    """A device: the CPU or a GPU.

    As a context manager it is the default for arrays that are created in its block. An operator computes where its
    inputs are, and all of them must be in one context; `x.as_in_context(ctx)` moves an array.

    Parameters
    ----------
    device_type : str or Context, default 'cpu'
        cpu, gpu, cpu_pinned or cpu_shared.
    device_id : int, default 0
        The number of the device.

    Examples
    --------
    >>> with mx.Context("cpu", 1):
    ...     mx.nd.ones((2,)).context
    cpu(1)
    >>> mx.cpu(0) == mx.Context("cpu", 0)
    True
    """

    devtype2str = {1: "cpu", 2: "gpu", 3: "cpu_pinned", 5: "cpu_shared"}
    devstr2type = {"cpu": 1, "gpu": 2, "cpu_pinned": 3, "cpu_shared": 5}
    _known: dict[tuple[int, int], "Context"] = {}
    # `home` is where results of operators on its arrays are: pinned and shared memory does not pass on
    __slots__ = ("__weakref__", "_torch", "device_id", "device_typeid", "home")

    def __new__(cls, device_type="cpu", device_id=0):
        if isinstance(device_type, Context):
            return device_type
        try:
            key = (cls.devstr2type[device_type], int(device_id))
        except KeyError:
            raise NameUnknown(f"unknown device type {device_type!r}; use one of {', '.join(cls.devstr2type)}") from None
        known = cls._known.get(key)
        if known is None:
            known = object.__new__(cls)
            known.device_typeid, known.device_id = key
            known._torch = None
            known.home = known if device_type in ("cpu", "gpu") else cls("cpu", device_id)
            known = cls._known.setdefault(key, known)
        return known

    def __init__(self, device_type="cpu", device_id=0):
        pass

    @property
    def device_type(self):
        """The kind of device: cpu, gpu, cpu_pinned or cpu_shared.

        Examples
        --------
        >>> mx.cpu().device_type
        'cpu'
        """
        return Context.devtype2str[self.device_typeid]

    def _key(self):
        return self.device_typeid, self.device_id

    def __eq__(self, other):
        return self is other or (isinstance(other, Context) and self._key() == other._key())

    def __hash__(self):
        return hash(self._key())

    def __str__(self):
        return f"{self.device_type}({self.device_id})"

    __repr__ = __str__

    def __reduce__(self):
        return Context, (self.device_type, self.device_id)

    def __enter__(self):
        _SCOPES.stack.append(self)
        return self

    def __exit__(self, *exc):
        _SCOPES.stack.pop()

    def empty_cache(self):
        """Give memory that is cached for this GPU back to the system.

        Examples
        --------
        >>> mx.cpu().empty_cache()
        """
        if self.device_type == "gpu":
            import torch

            if torch.cuda.is_available():
                if not 0 <= self.device_id < torch.cuda.device_count():
                    raise MXNetError(f"{self} has no memory to give back: no such GPU is available on this machine")
                with torch.cuda.device(self.device_id):
                    torch.cuda.empty_cache()
            elif torch.backends.mps.is_available():
                torch.mps.empty_cache()


def cpu(device_id=0):
    """The CPU.

    `mx.cpu()` stands for all processors and the main memory; an operator may use all threads. `cpu(0)` and `cpu(1)` are
    different contexts on the same memory, with which programs for several devices can be tested: arrays of one cannot
    be mixed with arrays of the other.

    Parameters
    ----------
    device_id : int, default 0
        A number that tells contexts apart; it selects no processor.

    Returns
    -------
    Context

    Examples
    --------
    >>> mx.nd.ones((2,), ctx=mx.cpu()).context
    cpu(0)
    >>> mx.cpu(1) == mx.cpu(0)
    False
    """
    return Context("cpu", device_id)


def cpu_pinned(device_id=0):
    """Memory of the CPU from which a GPU copies quickly.

    The pages of this memory are locked, so that a GPU reads them directly while the program continues. Data loaders use
    it for batches (`pin_memory=True`). Results of operators on such arrays are in ordinary memory, on `cpu`. Without a
    GPU it is ordinary memory.

    Parameters
    ----------
    device_id : int, default 0
        The number of the device.

    Returns
    -------
    Context

    Examples
    --------
    >>> mx.cpu_pinned()
    cpu_pinned(0)
    """
    return Context("cpu_pinned", device_id)


def cpu_shared(device_id=0):
    """Memory of the CPU that processes share.

    The worker processes of a DataLoader return batches in it, so that they are not copied. Results of operators on such
    arrays are in ordinary memory, on `cpu`.

    Parameters
    ----------
    device_id : int, default 0
        The number of the device.

    Returns
    -------
    Context

    Examples
    --------
    >>> mx.context.cpu_shared()
    cpu_shared(0)
    """
    return Context("cpu_shared", device_id)


def gpu(device_id=0):
    """A GPU.

    Making the context does not access the device: the error of a GPU that is not there is raised when the first array
    is created on it. `mx.context.num_gpus()` tells how many there are.

    Parameters
    ----------
    device_id : int, default 0
        The number of the GPU, counted from 0.

    Returns
    -------
    Context

    Examples
    --------
    >>> mx.gpu(1)
    gpu(1)
    >>> ctx = mx.gpu(0) if mx.context.num_gpus() else mx.cpu()
    >>> mx.nd.ones((2,), ctx=ctx).context == ctx
    True
    """
    return Context("gpu", device_id)


def virtual_gpus():
    """The number of virtual GPUs, which compute on the CPU; set by MXNET_VIRTUAL_GPUS.

    Examples
    --------
    >>> mx.context.virtual_gpus()
    0
    """
    return whole_number("MXNET_VIRTUAL_GPUS", 0, "how many GPUs the CPU stands for")


def num_gpus():
    """The number of GPUs that can be used.

    GPUs of NVIDIA and AMD are counted as torch sees them (`CUDA_VISIBLE_DEVICES` hides some); Apple's counts as one.
    Without any, it is the number of virtual GPUs in the variable MXNET_VIRTUAL_GPUS, or 0.

    Examples
    --------
    >>> mx.context.num_gpus() >= 0
    True
    """
    import torch

    if torch.cuda.is_available():
        return torch.cuda.device_count()
    if torch.backends.mps.is_available():
        return 1
    return virtual_gpus()


def gpu_memory_info(device_id=0):
    """The free and the total memory of a GPU, in bytes.

    Parameters
    ----------
    device_id : int, default 0
        The number of the device.

    Returns
    -------
    (int, int)

    Examples
    --------
    >>> free, total = mx.context.gpu_memory_info(0) if mx.context.num_gpus() else (0, 0)
    >>> free <= total
    True
    """
    import torch

    if torch.cuda.is_available() and 0 <= device_id < torch.cuda.device_count():
        return torch.cuda.mem_get_info(device_id)
    if torch.backends.mps.is_available() and device_id == 0:  # the CPU's memory, of which a part is recommended
        total = torch.mps.recommended_max_memory()
        return max(0, total - torch.mps.driver_allocated_memory()), total
    raise MXNetError(f"gpu({device_id}) has no memory to report: no such GPU is available on this machine")


_DEFAULT = Context("cpu", 0)


def current_context():
    """The default device: that of the innermost `with` block, or the CPU.

    Examples
    --------
    >>> mx.current_context()
    cpu(0)
    """
    stack = _SCOPES.stack
    return stack[-1] if stack else _SCOPES.default or _DEFAULT


def parse_context(text):
    """The context that a text such as 'gpu(1)' names.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    Context

    Examples
    --------
    >>> mx.context.parse_context("cpu(1)")
    cpu(1)
    """
    found = re.fullmatch(r"(\w+)\((\d+)\)", str(text))
    if found is None or found[1] not in Context.devstr2type:
        raise MXNetError(
            f"Invalid context string {text}: a context is mx.cpu(), mx.gpu(0) or a string such as 'cpu(0)'"
        )
    return Context(found[1], found[2])
