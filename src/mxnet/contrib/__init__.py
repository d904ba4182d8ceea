"""What MXNet keeps outside its stable API; submodules load when first used."""

from importlib import import_module as _import_module

_SUBMODULES = {
    name: name
    for name in "amp autograd io ndarray onnx quantization svrg_optimization symbol tensorboard text torch".split()
}
_SUBMODULES.update(nd="ndarray", quant="quantization", sym="symbol")


def __getattr__(name):
    if name not in _SUBMODULES:
        raise AttributeError(f"module 'mxnet.contrib' has no attribute '{name}'")
    return _import_module(f".{_SUBMODULES[name]}", __name__)


def __dir__():
    return sorted({*globals(), *_SUBMODULES})
