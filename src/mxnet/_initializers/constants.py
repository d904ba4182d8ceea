"""Initializers that need no random numbers: constants, interpolation, and the biases of an LSTM."""

from ..ndarray import NDArray
from .base import Initializer, alias, fill_constant, register


@register
@alias("zeros")
class Zero(Initializer):
    """Fills a parameter with zeros. Its name in `init="zeros"` is 'zeros'.

    Parameters
    ----------
    None

    Examples
    --------
    >>> weight = mx.nd.ones((2,))
    >>> mx.init.Zero()("weight", weight)
    >>> weight.asnumpy()
    array([0., 0.], dtype=float32)
    """

    def __init__(self):
        super().__init__()

    _init_weight = fill_constant(0)


@register
@alias("ones")
class One(Initializer):
    """Fills a parameter with ones. Its name in `init="ones"` is 'ones'.

    It suits scales, such as the gamma of a normalization, not the weights of a layer: units that start equal stay
    equal.

    Parameters
    ----------
    None

    Examples
    --------
    >>> weight = mx.nd.zeros((2,))
    >>> mx.init.One()("weight", weight)
    >>> weight.asnumpy()
    array([1., 1.], dtype=float32)
    """

    def __init__(self):
        super().__init__()

    _init_weight = fill_constant(1)


@register
class Constant(Initializer):
    """Fills weights with a given value.

    Parameters
    ----------
    value : float, list, numpy.ndarray or NDArray
        A number, or an array that broadcasts to the weight's shape.

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(1, in_units=2)
    >>> net.initialize(mx.init.Constant(0.5))
    >>> net.weight.data().asnumpy()
    array([[0.5, 0.5]], dtype=float32)
    """

    def __init__(self, value):
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, _, arr):
        arr[:] = self.value

    def dumps(self):
        """Name and value as JSON; an array is written as nested lists."""
        given = self._kwargs["value"]
        given = given.asnumpy() if isinstance(given, NDArray) else given
        self._kwargs["value"] = given.tolist() if hasattr(given, "tolist") else given
        return super().dumps()


@register
class Bilinear(Initializer):
    """The weights of bilinear interpolation, for transposed convolutions that enlarge images.

    The weight has shape (C, 1, k, k), and every channel gets the same k × k window. A transposed convolution with it,
    with `strides=s`, `kernel=2·s - s % 2`, `padding=⌈(s - 1) / 2⌉` and one group per channel, enlarges an image s times
    by bilinear interpolation.

    Parameters
    ----------
    None

    Examples
    --------
    >>> weight = mx.nd.zeros((1, 1, 4, 4))
    >>> mx.init.Bilinear()("weight", weight)
    >>> weight.asnumpy()[0, 0, 0]
    array([0.0625, 0.1875, 0.1875, 0.0625], dtype=float32)
    """

    def __init__(self):
        super().__init__()

    def _init_weight(self, name, arr):
        self._init_bilinear(name, arr)


@register
class LSTMBias(Initializer):
    """Fills the bias of an LSTM with zeros, and that of its forget gate with `forget_bias`.

    Parameters
    ----------
    forget_bias : float
        Value for the forget gate, the second quarter of the bias.

    Examples
    --------
    >>> bias = mx.nd.zeros((8,))
    >>> mx.init.LSTMBias(1.0)(mx.init.InitDesc("i2h_bias", {"__init__": "lstmbias"}), bias)
    >>> bias.asnumpy()
    array([0., 0., 1., 1., 0., 0., 0., 0.], dtype=float32)
    """

    def __init__(self, forget_bias=1.0):
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name, arr):
        arr[:] = 0.0
        hidden = arr.shape[0] // 4
        arr[hidden : 2 * hidden] = self.forget_bias
