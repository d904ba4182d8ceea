"""`Constant`: a parameter that is not trained."""

import warnings

from .. import initializer, ndarray
from ..util import default_array
from ._parameter import Parameter


class _Given(initializer.Initializer):
    """Initializes with an array that is there already."""

    def __init__(self, name, value):
        super().__init__()
        self._name, self._value = name, value

    def _init_weight(self, _, arr):
        self._value.copyto(arr)

    def dumps(self):
        return self._name


class Constant(Parameter):
    """A parameter without gradient that is not trained; `set_data` can still change it.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : NDArray, numpy.ndarray or list
        Its value.

    Examples
    --------
    >>> scale = mx.gluon.Constant("scale", [1, 2])
    >>> scale.initialize()
    >>> scale.data().asnumpy()
    array([1., 2.], dtype=float32)
    """

    __module__ = "mxnet.gluon.parameter"
    _kind = "Constant"

    def __init__(self, name, value):
        self.value = value if isinstance(value, ndarray.NDArray) else default_array(value)
        init = _Given(f"Constant_{name}", self.value)
        super().__init__(name, grad_req="null", shape=self.value.shape, dtype=self.value.dtype, init=init)

    @property
    def grad_req(self):
        """Always "null": a constant has no gradient. Setting anything else warns and changes nothing.

        Examples
        --------
        >>> mx.gluon.Constant("scale", [1, 2]).grad_req
        'null'
        """
        return "null"

    @grad_req.setter
    def grad_req(self, req):
        if req != "null":
            warnings.warn(
                f'Constant parameter "{self.name}" does not support grad_req other than "null", '
                f'and new value "{req}" is ignored.',
                stacklevel=2,
            )
