"""`mx.np`: arrays and functions with NumPy's semantics on the same engine."""

import numpy as _onp
from numpy import (
    bool_,
    e,
    euler_gamma,
    finfo,
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

from . import _internal, fallback, fallback_linalg, linalg, random
from ._builtin import *
from ._creation import *
from ._elementwise import *
from ._indexing import *
from ._joining import *
from ._methods import install as _install
from ._products import *
from ._reducing import *
from ._shaping import *
from .fallback import *
from .multiarray import ndarray

bool = bool
PZERO, NZERO, PINF, NINF, NAN, NaN = 0.0, -0.0, inf, -inf, nan, nan


def set_printoptions(precision=None, threshold=None, **kwarg):
    """Set how arrays are printed, by NumPy's options.

    Parameters
    ----------
    precision : int, optional
        The number of digits behind the point.
    threshold : int, optional
        The number of elements from which arrays are abbreviated.
    **kwarg
        NumPy's further options.

    Examples
    --------
    >>> from mxnet import np
    >>> np.set_printoptions(precision=3)
    >>> np.array([1 / 3])
    array([0.333])
    >>> np.set_printoptions(precision=8)
    """
    _onp.set_printoptions(precision=precision, threshold=threshold, **kwarg)


_install(ndarray)
