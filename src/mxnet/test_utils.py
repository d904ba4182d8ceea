"""MXNet's test helpers: comparisons, random inputs, gradient checks, statistics; users' own tests import them."""

import bz2  # noqa: F401 - programs take these modules from here
import errno  # noqa: F401
import gzip  # noqa: F401
import json  # noqa: F401
import logging  # noqa: F401
import numbers  # noqa: F401
import os  # noqa: F401
import platform  # noqa: F401
import struct  # noqa: F401
import sys  # noqa: F401
import sys as _sys
import time  # noqa: F401
import traceback  # noqa: F401
import zipfile  # noqa: F401
from importlib import import_module as _import_module

import numpy as np  # noqa: F401 - programs take it from here
import numpy.random as rnd  # noqa: F401
import numpy.testing as npt  # noqa: F401

import mxnet as mx  # noqa: F401

from ._testing.comparison import *  # noqa: F403
from ._testing.generation import *  # noqa: F403
from ._testing.statistics import *  # noqa: F403
from ._testing.surroundings import *  # noqa: F403
from .context import Context, current_context  # noqa: F401
from .ndarray import array  # noqa: F401
from .runtime import Features  # noqa: F401
from .util import get_cuda_compute_capability, getenv, setenv, use_np  # noqa: F401

# these need symbols or Gluon, which load only when asked for
_LATER = {
    **dict.fromkeys(
        "Symbol simple_forward numeric_grad check_numeric_gradient check_symbolic_forward check_symbolic_backward"
        " check_speed check_consistency same_symbol_structure np_symbol".split(),
        "symbolic",
    ),
    **dict.fromkeys("DummyIter compare_optimizer check_gluon_hybridize_consistency".split(), "networks"),
}
__all__ = [n for n in globals() if not n.startswith("_")] + list(_LATER)


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module 'mxnet.test_utils' has no attribute '{name}'")
    value = getattr(_import_module(f"._testing.{_LATER[name]}", "mxnet"), name)
    setattr(_sys.modules[__name__], name, value)
    return value
