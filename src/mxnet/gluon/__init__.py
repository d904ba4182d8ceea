"""Gluon: networks made of blocks, their parameters, losses, and the trainer that updates them."""

import importlib

from .._core.errors import no_attribute as _no_attribute
from . import loss, nn, utils
from .block import Block, HybridBlock, SymbolBlock
from .parameter import Constant, DeferredInitializationError, Parameter, ParameterDict, tensor_types
from .trainer import Trainer

# Loaded on first use: a program that trains a small network needs neither the model zoo nor the data sets.
_LAZY = ("contrib", "data", "model_zoo", "rnn")


def __getattr__(name):
    if name in _LAZY:
        return importlib.import_module(f".{name}", __name__)
    raise _no_attribute(__name__, name)


def __dir__():
    return sorted([*globals(), *_LAZY])


__all__ = [
    "Block",
    "Constant",
    "DeferredInitializationError",
    "HybridBlock",
    "Parameter",
    "ParameterDict",
    "SymbolBlock",
    "Trainer",
    "loss",
    "nn",
    "tensor_types",
    "utils",
]
