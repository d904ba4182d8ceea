"""NumPy arrays of one element that are still numbers to `float`, `int` and `"%f" %`.

MXNet has no zero-dim arrays, so programs print `loss.mean().asnumpy()`, whose shape is (1,), as a number. NumPy did
that conversion until 2.4; arrays that come from here go on doing it. In everything else they are NumPy's: what is
computed from them is a scalar or an array of NumPy's, their class compares equal to `numpy.ndarray` and has its name.
"""

import numpy as np


class _Like(type):
    """The class of a class that counts as `numpy.ndarray`: `type(x) == numpy.ndarray`, and as a key of a dict."""

    def __eq__(cls, other):
        return other is np.ndarray or other is cls

    def __hash__(cls):
        return hash(np.ndarray)


class OneNumber(np.ndarray, metaclass=_Like):
    """An array like any other, except that one element in it is enough to be a number."""

    def __float__(self):
        return float(self.item()) if self.size == 1 else super().__float__()

    def __int__(self):
        return int(self.item()) if self.size == 1 else super().__int__()

    def __complex__(self):
        return complex(self.item()) if self.size == 1 else super().__complex__()

    def __array_wrap__(self, array, context=None, return_scalar=True):
        """What NumPy computed: a scalar where it returns one, else an array."""
        if array is self:
            return array  # it was computed in place
        if array.ndim == 0:
            return array[()] if return_scalar else array.view(np.ndarray)
        return array.view(OneNumber if array.size == 1 else np.ndarray)

    def squeeze(self, axis=None):
        """NumPy before 2 takes no scalar from `__array_wrap__` here."""
        return self.view(np.ndarray).squeeze(axis)

    def __repr__(self):
        return repr(self.view(np.ndarray))

    def __reduce__(self):
        return self.view(np.ndarray).__reduce__()

    def __reduce_ex__(self, protocol):
        return self.view(np.ndarray).__reduce_ex__(protocol)


OneNumber.__name__ = OneNumber.__qualname__ = "ndarray"
OneNumber.__module__ = "numpy"
