"""What this build can do: the features MXNet reports, answered from torch and what is installed."""

import collections
import importlib.util
from contextlib import contextmanager

_NAMES = (
    "CUDA CUDNN NCCL CUDA_RTC TENSORRT CPU_SSE CPU_SSE2 CPU_SSE3 CPU_SSE4_1 CPU_SSE4_2 CPU_SSE4A CPU_AVX CPU_AVX2"
    " OPENMP SSE F16C JEMALLOC BLAS_OPEN BLAS_ATLAS BLAS_MKL BLAS_APPLE LAPACK MKLDNN OPENCV CAFFE PROFILER"
    " DIST_KVSTORE"
    " CXX14 INT64_TENSOR_SIZE SIGNAL_HANDLER DEBUG TVM_OP"
).split()


class Feature:
    """One capability: its name and whether it is there.

    Parameters
    ----------
    name : str
        The name.
    enabled : bool
        Whether it is there.

    Examples
    --------
    >>> mx.runtime.Feature("CUDA", False)
    ✖ CUDA
    """

    __slots__ = ("_enabled", "_name")

    def __init__(self, name, enabled):
        self._name, self._enabled = name, bool(enabled)

    @property
    def name(self):
        """The name of the capability.

        Examples
        --------
        >>> mx.runtime.Feature("CUDA", False).name
        'CUDA'
        """
        return self._name

    @property
    def enabled(self):
        """Whether the capability is there.

        Examples
        --------
        >>> mx.runtime.Feature("CUDA", False).enabled
        False
        """
        return self._enabled

    def __repr__(self):
        return f"{'✔' if self._enabled else '✖'} {self._name}"


def _enabled():
    import torch
    import torch.backends.cpu

    cuda = torch.cuda.is_available()
    flags = torch.__config__.show()
    avx = torch.backends.cpu.get_cpu_capability()
    return {
        "CUDA": cuda,
        "CUDNN": cuda and torch.backends.cudnn.is_available(),
        "NCCL": torch.distributed.is_available() and torch.distributed.is_nccl_available() and cuda,
        "OPENMP": torch.backends.openmp.is_available(),
        "BLAS_MKL": torch.backends.mkl.is_available(),
        "BLAS_OPEN": "OpenBLAS" in flags,
        "LAPACK": torch._C.has_lapack,
        "MKLDNN": torch.backends.mkldnn.is_available(),
        "OPENCV": importlib.util.find_spec("cv2") is not None,
        "DIST_KVSTORE": torch.distributed.is_available(),
        "CPU_AVX": avx.startswith("AVX"),
        "CPU_AVX2": avx.startswith(("AVX2", "AVX512")),
        "F16C": True,
        "PROFILER": True,
        "INT64_TENSOR_SIZE": True,
        "SIGNAL_HANDLER": True,
    }


def feature_list():
    """All capabilities with their state.

    Examples
    --------
    >>> "CUDA" in [feature.name for feature in mx.runtime.feature_list()]
    True
    """
    enabled = _enabled()
    return [Feature(name, enabled.get(name, False)) for name in _NAMES]


class Features(collections.OrderedDict):
    """The capabilities of this installation by name.

    Examples
    --------
    >>> mx.runtime.Features().is_enabled("OPENCV") in (True, False)
    True
    """

    instance = None

    def __new__(cls):
        if cls.instance is None:
            cls.instance = super().__new__(cls)
            collections.OrderedDict.__init__(cls.instance, ((f.name, f) for f in feature_list()))
        return cls.instance

    def __init__(self):
        pass

    def __repr__(self):
        return str(list(self.values()))

    def is_enabled(self, feature_name):
        """Whether a capability is there.

        Parameters
        ----------
        feature_name : str
            The name, in any case; an unknown one raises RuntimeError.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.runtime.Features().is_enabled("profiler")
        True
        """
        name = feature_name.upper()
        if name not in self:
            raise RuntimeError(f"Feature '{name}' is unknown, known features are: {list(self.keys())}")
        return self[name].enabled


def kernels():
    """List the CPU kernels of ReMX and their state on this machine.

    A kernel computes the same as torch's own operators in less time. Nothing is compiled for the answer.

    Returns
    -------
    list of (name, state, reason)
        `state` is "ready", "idle" (compiled once a program has enough work for it), "compiling", "unavailable"
        (`reason` says why) or "off" (see `kernels_off`).

    Examples
    --------
    >>> import mxnet as mx
    >>> [kernel.state for kernel in mx.runtime.kernels() if kernel.name == "elementwise.elu"][0] in ("idle", "ready")
    True
    """
    from ._kernels import all_kernels

    return [kernel.state() for kernel in all_kernels()]


@contextmanager
def kernels_off():
    """Compute with torch's own operators only, in this thread, as `MXNET_KERNELS=torch` does for a whole process.

    No kernel of ReMX runs, convolutions are not rewritten and networks are not folded. Results differ by rounding
    only; this is for finding out what computed them, and for comparing speed.

    Examples
    --------
    >>> import mxnet as mx
    >>> with mx.runtime.kernels_off():
    ...     print({kernel.state for kernel in mx.runtime.kernels()})
    {'off'}
    """
    from ._kernels.registry import kernels_off as off

    with off():
        yield
