"""NumPy arrays of one element that are still numbers to `float`, `int` and `"%f" %`.

MXNet has no zero-dim arrays, so programs print `loss.mean().asnumpy()`, whose shape is (1,), as a number. NumPy did
that conversion until 2.4; arrays that come from here go on doing it.
"""

import numpy as np


class OneNumber(np.ndarray):
    """An array like any other, except that one element in it is enough to be a number."""

    def __float__(self):
        return float(self.item()) if self.size == 1 else super().__float__()

    def __int__(self):
        return int(self.item()) if self.size == 1 else super().__int__()

    def __complex__(self):
        return complex(self.item()) if self.size == 1 else super().__complex__()

    def __repr__(self):
        return repr(self.view(np.ndarray))

    def __reduce__(self):
        return self.view(np.ndarray).__reduce__()
