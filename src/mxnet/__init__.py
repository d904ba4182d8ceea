"""ReMX: Apache MXNet's Python API on PyTorch's engine. Everything loads when it is first used."""

import sys as _sys
from importlib import import_module as _import_module

from ._core.conflict import check as _check
from ._core.environment import is_on as _is_on
from ._core.shims.later import load_later as _load_later
from ._core.version import MXNET_VERSION as __version__
from ._core.version import REMX_VERSION as __remx_version__

_check(__file__)

_SUBMODULES = frozenset(
    (
        "attribute autograd base callback checkpoint compat context contrib deploy engine error executor"
        " executor_manager gluon image initializer io kvstore libinfo log lr_scheduler metric misc model module"
        " monitor name ndarray notebook numpy numpy_extension onnx operator optimizer profiler random recordio"
        " registry rnn runtime symbol test_utils util visualization"
    ).split()
)
_ALIASES = {
    "nd": "ndarray", "sym": "symbol", "init": "initializer", "mod": "module", "kv": "kvstore", "kvs": "kvstore",
    "viz": "visualization", "mon": "monitor", "img": "image", "rnd": "random", "np": "numpy", "npx": "numpy_extension",
}  # fmt: skip
_NAMES = {
    "AttrScope": "attribute",
    "Context": "context",
    "MXNetError": "base",
    "NameManager": "name",
    "cpu": "context",
    "cpu_pinned": "context",
    "current_context": "context",
    "gpu": "context",
    "gpu_memory_info": "context",
    "num_gpus": "context",
    **dict.fromkeys(
        (
            "is_np_array is_np_shape np_array np_shape set_np_shape use_np use_np_array use_np_shape set_np reset_np"
        ).split(),
        "util",
    ),
}


_ELSEWHERE = {
    **dict.fromkeys(
        ("th", "torch"),
        ": it was the plug-in for Lua's Torch; PyTorch is reached by array.as_torch() and mx.contrib.torch",
    ),
    "rtc": ": it compiled CUDA kernels from text; write them with torch or Triton and call them on array.as_torch()",
}


def __getattr__(name):
    if name in _SUBMODULES:
        return _import_module(f".{name}", __name__)
    if name in _ALIASES:
        value = _import_module(f".{_ALIASES[name]}", __name__)
    elif name in _NAMES:
        value = getattr(_import_module(f".{_NAMES[name]}", __name__), name)
    else:
        from ._core.errors import no_attribute

        raise no_attribute("mxnet", name, _ELSEWHERE.get(name, ""))
    setattr(_sys.modules[__name__], name, value)
    return value


def __dir__():
    return sorted({*globals(), *_SUBMODULES, *_ALIASES, *_NAMES})


# MXNet has these in sys.modules after `import mxnet`, and programs (its opperf) look for them there
_load_later(f"{__name__}.ndarray", f"{__path__[0]}/ndarray", "_internal contrib image linalg op random sparse utils")
_load_later(f"{__name__}.symbol", f"{__path__[0]}/symbol", "_internal contrib image linalg op random sparse symbol")
if _is_on("MXNET_PROFILER_AUTOSTART"):
    _import_module(".profiler", __name__)  # which starts
