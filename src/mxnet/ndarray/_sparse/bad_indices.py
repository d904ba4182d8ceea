"""Sparse arrays whose indices lead out of them: they can be made and looked at, as in MXNet, but not computed with.

MXNet's `csr_matrix` and `row_sparse_array` take any indices, and `check_format` finds the wrong ones. Operators and
compiled kernels do not check each index, so such an array gives its parts to nobody; it is sound again when it is
written to.
"""

from ..._core.errors import MXNetError
from .array import BaseSparseNDArray, CSRNDArray, RowSparseNDArray

_STORED = BaseSparseNDArray._stored


class _BadIndices:
    """The parts of such an array."""

    __slots__ = ()

    @property
    def _parts(self):
        try:
            self.check_format()
        except MXNetError as error:
            raise MXNetError(f"a {self.stype} array of shape {self.shape} cannot be used: {error}") from None
        return _STORED.__get__(self)

    @_parts.setter
    def _parts(self, parts):
        _STORED.__set__(self, parts)
        self.__class__ = type(self).__mro__[2]


def _bad(cls):
    return type(cls)(cls.__name__, (_BadIndices, cls), {"__slots__": (), "__module__": cls.__module__})


_BAD = {cls: _bad(cls) for cls in (CSRNDArray, RowSparseNDArray)}


def checked(array):
    """The array; one that only guards its parts, if its indices lead out of it. Their order does not matter."""
    data, *indices = array._parts
    if data.device.type == "cpu" and not (_is_csr_inside if len(indices) == 2 else _is_inside)(array, *indices):
        array.__class__ = _BAD[type(array)]
    return array


def _is_inside(array, places, axis=0):
    if not len(places):
        return True
    least, most = places.aminmax()
    return int(least) >= 0 and int(most) < array.shape[axis]


def _is_csr_inside(array, columns, starts):
    if len(starts) != array.shape[0] + 1 or int(starts[0]) != 0 or int(starts[-1]) != len(columns):
        return False
    return bool((starts[1:] >= starts[:-1]).all()) and _is_inside(array, columns, 1)
