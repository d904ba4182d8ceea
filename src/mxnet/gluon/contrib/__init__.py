"""Gluon's experimental parts; each loads when first used."""

from importlib import import_module as _import_module

_SUBMODULES = ("cnn", "data", "estimator", "nn", "rnn")


def __getattr__(name):
    if name not in _SUBMODULES:
        raise AttributeError(f"module 'mxnet.gluon.contrib' has no attribute '{name}'")
    return _import_module(f".{name}", __name__)


def __dir__():
    return sorted({*globals(), *_SUBMODULES})
