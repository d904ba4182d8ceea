"""`mx.np`: arrays and functions with NumPy's semantics on the same engine."""

import numpy as _onp
from numpy import (  # noqa: F401 - MXNet shows NumPy's own constants and types here
    bool_,
    e,
    euler_gamma,
    float16,
    float32,
    float64,
    inf,
    int8,
    int32,
    int64,
    nan,
    newaxis,
    pi,
    uint8,
)

from . import linalg, random  # noqa: F401
from ._creation import *  # noqa: F403
from ._elementwise import *  # noqa: F403
from ._fallback import *  # noqa: F403
from ._methods import install as _install
from ._products import *  # noqa: F403
from ._reducing import *  # noqa: F403
from ._shaping import *  # noqa: F403
from .multiarray import ndarray

bool = bool  # noqa: A001 - NumPy 1 and MXNet show Python's own here
PZERO, NZERO, PINF, NINF, NAN = 0.0, -0.0, inf, -inf, nan


def set_printoptions(precision=None, threshold=None, **kwarg):
    """How arrays are printed: NumPy's own options."""
    _onp.set_printoptions(precision=precision, threshold=threshold, **kwarg)


_install(ndarray)
