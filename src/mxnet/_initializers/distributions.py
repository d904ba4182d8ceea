"""Initializers that draw weights from a distribution."""

import numpy as np

from .. import random
from ..util import is_np_array
from .base import Initializer, register


def _fill_uniform(low, high, arr):
    _stream().uniform(low, high, arr.shape, out=arr)


def _fill_normal(mean, deviation, arr):
    _stream().normal(mean, deviation, arr.shape, out=arr)


def _stream():
    if is_np_array():
        from .. import numpy as mx_np

        return mx_np.random
    return random


@register
class Uniform(Initializer):
    """Draws weights from the uniform distribution on [-scale, scale).

    It is what `net.initialize()` uses if nothing else is given. The standard deviation is scale / √3.

    Parameters
    ----------
    scale : float, default 0.07
        Bound of the interval.

    Examples
    --------
    >>> weight = mx.nd.zeros((100, 100))
    >>> mx.init.Uniform(0.1)(mx.init.InitDesc("fc_weight"), weight)
    >>> bool(abs(weight).max().asscalar() < 0.1)
    True
    """

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, _, arr):
        _fill_uniform(-self.scale, self.scale, arr)


@register
class Normal(Initializer):
    """Draws weights from the normal distribution with mean 0.

    Biases and other parameters than weights keep the values that are usual for them, such as 0. The standard deviation
    does not depend on the size of the layer: `Xavier` and `MSRAPrelu` choose it by the number of inputs, which suits
    deep networks better.

    Parameters
    ----------
    sigma : float, default 0.01
        Standard deviation.

    Examples
    --------
    >>> weight = mx.nd.zeros((100, 100))
    >>> mx.init.Normal(2)(mx.init.InitDesc("fc_weight"), weight)
    >>> round(float(weight.asnumpy().std()))
    2
    >>> net = mx.gluon.nn.Dense(2, in_units=3)
    >>> net.initialize(mx.init.Normal(0.5))
    >>> net.bias.data().asnumpy()
    array([0., 0.], dtype=float32)
    """

    def __init__(self, sigma=0.01):
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, _, arr):
        _fill_normal(0, self.sigma, arr)


@register
class Orthogonal(Initializer):
    """Fills weights with a random matrix whose rows, or columns, are orthonormal, times `scale`.

    The weight is seen as a matrix with the first axis as rows. See Saxe et al., *Exact solutions to the nonlinear
    dynamics of learning in deep linear neural networks*, 2013.

    Parameters
    ----------
    scale : float
        Factor, the length of the rows.
    rand_type : {"uniform", "normal"}
        Distribution of the matrix that is orthogonalized by its singular value decomposition.

    Examples
    --------
    >>> weight = mx.nd.zeros((2, 3))
    >>> mx.init.Orthogonal(scale=1)(mx.init.InitDesc("fc_weight"), weight)
    >>> bool(np.allclose(mx.nd.dot(weight, weight.T).asnumpy(), np.eye(2), atol=1e-6))
    True
    """

    def __init__(self, scale=1.414, rand_type="uniform"):
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, _, arr):
        shape = (arr.shape[0], int(np.prod(arr.shape[1:])))
        noise = self._noise(shape).asnumpy()
        left, _, right = np.linalg.svd(noise, full_matrices=False)
        basis = left if left.shape == noise.shape else right
        arr[:] = self.scale * basis.reshape(arr.shape)

    def _noise(self, shape):
        if self.rand_type == "uniform":
            return random.uniform(-1.0, 1.0, shape=shape)
        if self.rand_type == "normal":
            return random.normal(0.0, 1.0, shape=shape)
        raise ValueError(f"rand_type must be 'uniform' or 'normal', not {self.rand_type!r}")


@register
class Xavier(Initializer):
    """Draws weights with a spread of sqrt(magnitude / fan), so that signals keep their scale from layer to layer.

    `fan_in` is the number of inputs that one output depends on, `fan_out` the number of outputs that one input
    reaches; a convolution counts every position of its kernel. See Glorot and Bengio, *Understanding the difficulty of
    training deep feedforward neural networks*, 2010.

    Parameters
    ----------
    rnd_type : {"uniform", "gaussian"}
        Uniform on [-scale, scale), or normal with standard deviation scale, where scale = sqrt(magnitude / fan).
    factor_type : {"avg", "in", "out"}
        What fan is: the mean of fan_in and fan_out, fan_in, or fan_out.
    magnitude : float
        Scale of the spread.

    Examples
    --------
    >>> weight = mx.nd.zeros((50, 50))
    >>> mx.init.Xavier(magnitude=2)(mx.init.InitDesc("fc_weight"), weight)
    >>> bool(abs(weight).max().asscalar() < (2 / 50) ** 0.5)
    True
    """

    def __init__(self, rnd_type="uniform", factor_type="avg", magnitude=3):
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name, arr):
        if len(arr.shape) < 2:
            raise ValueError(
                f"Xavier initializer cannot be applied to vector {name}. It requires at least 2D. Give the vector "
                "another one, as in bias_initializer='zeros', which is the default of a bias."
            )
        scale = np.sqrt(self.magnitude / self._fan(arr.shape))
        if self.rnd_type == "uniform":
            _fill_uniform(-scale, scale, arr)
        elif self.rnd_type == "gaussian":
            _fill_normal(0, scale, arr)
        else:
            raise ValueError(f"Unknown random type {self.rnd_type!r}; use uniform or gaussian")

    def _fan(self, shape):
        area = np.prod(shape[2:]) if len(shape) > 2 else 1.0
        fan_in, fan_out = shape[1] * area, shape[0] * area
        fans = {"avg": (fan_in + fan_out) / 2.0, "in": fan_in, "out": fan_out}
        if self.factor_type not in fans:
            raise ValueError(f"Incorrect factor type {self.factor_type!r}; use avg, in or out")
        return fans[self.factor_type]


@register
class MSRAPrelu(Xavier):
    """Gaussian :class:`Xavier` for layers followed by a (P)ReLU: magnitude = 2 / (1 + slope²).

    See He et al., *Delving deep into rectifiers*, 2015.

    Parameters
    ----------
    factor_type : {"avg", "in", "out"}
        As for :class:`Xavier`.
    slope : float
        Initial slope of the PReLU for negative inputs; 0 for a ReLU.

    Examples
    --------
    >>> mx.init.MSRAPrelu(slope=0).magnitude
    2.0
    """

    def __init__(self, factor_type="avg", slope=0.25):
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}
