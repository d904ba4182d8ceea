"""Methods of `mx.np.ndarray` that are functions of `mx.np` or `mx.npx`."""

from . import _builtin, _elementwise, _indexing, _joining, _products, _reducing, _shaping

_REDUCING = "argmax argmin argsort mean std var".split()
_ELEMENTWISE = (
    "abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh degrees exp expm1 fix floor log log10 log1p"
    " log2 radians reciprocal rint sign sin sinh sqrt square tan tanh trunc round"
).split()
_SHAPING = "swapaxes expand_dims flip tile".split()
_INDEXING = "nonzero take".split()
_FAMILIES = (
    (_reducing, _REDUCING),
    (_elementwise, _ELEMENTWISE),
    (_shaping, _SHAPING),
    (_indexing, _INDEXING),
    (_joining, ["split"]),
)


def _clip(self, min=None, max=None, out=None):
    """Every element limited to [min, max].

    Parameters
    ----------
    min : number, optional
        The lower bound.
    max : number, optional
        The upper bound.
    out : ndarray, optional
        Where to write the result, of its shape and type.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.array([-1, 0.5, 2]).clip(0, 1)
    array([0. , 0.5, 1. ])
    """
    return _elementwise.clip(self, min, max, out)


def _sort(self, axis=-1, kind=None, order=None):
    """Sort along an axis, in place.

    Parameters
    ----------
    axis : int, default -1
        The axis.
    kind : str, optional
        Ignored: the order of equal elements is kept.
    order : str, optional
        Not supported; leave it None.

    Examples
    --------
    >>> from mxnet import np
    >>> x = np.array([3, 1, 2])
    >>> x.sort()
    >>> x
    array([1., 2., 3.])
    """
    self[...] = _reducing.sort(self, axis, kind, order)


def _sum(self, axis=None, dtype=None, out=None, keepdims=False):
    """The sum over axes.

    Parameters
    ----------
    axis : int or tuple of int, optional
        The axes to reduce; None: all.
    dtype : str or type, optional
        The data type of the result.
    out : ndarray, optional
        Where to write the result, of its shape and type.
    keepdims : bool, default False
        Whether reduced axes stay with length 1.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.array([[1, 2], [3, 4]]).sum(axis=1)
    array([3., 7.])
    """
    return _builtin.sum(self, axis=axis, dtype=dtype, keepdims=keepdims, out=out)


def _prod(self, axis=None, dtype=None, out=None, keepdims=False):
    """The product over axes.

    Parameters
    ----------
    axis : int or tuple of int, optional
        The axes to reduce; None: all.
    dtype : str or type, optional
        The data type of the result.
    out : ndarray, optional
        Where to write the result, of its shape and type.
    keepdims : bool, default False
        Whether reduced axes stay with length 1.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> from mxnet import np
    >>> np.array([[1, 2], [3, 4]]).prod(axis=1)
    array([ 2., 12.])
    """
    return _builtin.prod(self, axis=axis, dtype=dtype, keepdims=keepdims, out=out)


def _truth(function):
    def method(self, axis=None, out=None, keepdims=False):
        return function(self, axis=axis, keepdims=keepdims, out=out)

    method.__name__, method.__doc__ = function.__name__, function.__doc__
    return method


def install(cls):
    """Give the class its methods."""
    for family, names in _FAMILIES:
        for name in names:
            setattr(cls, name, getattr(family, name))
    for name in ("all", "any", "max", "min"):  # their arguments come in another order here
        setattr(cls, name, _truth(getattr(_builtin, name)))
    for name in ("cumsum", "diag", "dot", "repeat"):
        setattr(cls, name, getattr(_builtin, name))
    cls.clip, cls.sort, cls.sum, cls.prod = _clip, _sort, _sum, _prod
    cls.__matmul__ = _products.matmul
    cls.__rmatmul__ = lambda self, other: _products.matmul(other, self)
