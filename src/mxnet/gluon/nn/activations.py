"""Layers that apply a function to every element."""

from ... import initializer
from ...util import is_np_array  # noqa: F401 - MXNet shows it here
from ..block import HybridBlock

__all__ = ["Activation", "LeakyReLU", "PReLU", "ELU", "SELU", "Swish", "GELU"]


class Activation(HybridBlock):
    """Applies an activation function to every element.

    Parameters
    ----------
    activation : {'relu', 'sigmoid', 'tanh', 'softrelu', 'softsign'}
        max(0, x), 1 / (1 + exp(-x)), tanh(x), log(1 + exp(x)) or x / (1 + |x|).

    Examples
    --------
    >>> mx.gluon.nn.Activation("softsign")(mx.nd.array([-1, 0, 3])).asnumpy()
    array([-0.5 ,  0.  ,  0.75], dtype=float32)
    """

    def __init__(self, activation, **kwargs):
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self):
        return self._act_type

    def hybrid_forward(self, F, x):
        return F.Activation(x, act_type=self._act_type, name="fwd")

    def __repr__(self):
        return f"{type(self).__name__}({self._act_type})"


class LeakyReLU(HybridBlock):
    """x where x > 0, else alpha · x.

    Parameters
    ----------
    alpha : float
        Slope for negative values, at least 0.

    Examples
    --------
    >>> mx.gluon.nn.LeakyReLU(0.1)(mx.nd.array([-2, 2])).asnumpy().round(3)
    array([-0.2,  2. ], dtype=float32)
    """

    def __init__(self, alpha, **kwargs):
        assert alpha >= 0, "Slope coefficient for LeakyReLU must be no less than 0."
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F, x):
        return F.LeakyReLU(x, act_type="leaky", slope=self._alpha, name="fwd")

    def __repr__(self):
        return f"{type(self).__name__}({self._alpha})"


class PReLU(HybridBlock):
    """x where x > 0, else alpha · x with a learned alpha.

    Parameters
    ----------
    alpha_initializer : Initializer, default Constant(0.25)
        How alpha is initialized.
    in_channels : int, default 1
        Number of alphas: 1 for all channels together, or the number of channels.

    Examples
    --------
    >>> layer = mx.gluon.nn.PReLU()
    >>> layer.initialize()
    >>> layer(mx.nd.array([[-2, 2]])).asnumpy()
    array([[-0.5,  2. ]], dtype=float32)
    """

    def __init__(self, alpha_initializer=initializer.Constant(0.25), in_channels=1, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.alpha = self.params.get("alpha", shape=(in_channels,), init=alpha_initializer)

    def hybrid_forward(self, F, x, alpha):
        return F.LeakyReLU(x, gamma=alpha, act_type="prelu", name="fwd")


class ELU(HybridBlock):
    """x where x > 0, else alpha · (exp(x) - 1).

    Parameters
    ----------
    alpha : float, default 1.0
        The value that large negative inputs approach, with its sign turned.

    Examples
    --------
    >>> mx.gluon.nn.ELU()(mx.nd.array([-1, 1])).asnumpy().round(4)
    array([-0.6321,  1.    ], dtype=float32)
    """

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F, x):
        return F.LeakyReLU(x, act_type="elu", slope=self._alpha)


class SELU(HybridBlock):
    """Scaled exponential linear unit: 1.0507 · (x where x > 0, else 1.6733 · (exp(x) - 1)).

    In a deep network it keeps the activations near mean 0 and variance 1.

    Parameters
    ----------
    prefix : str, optional
        Prefix of the block's name.
    params : ParameterDict, optional
        Not used; the layer has no parameters.

    Examples
    --------
    >>> mx.gluon.nn.SELU()(mx.nd.array([-1, 1])).asnumpy().round(4)
    array([-1.1113,  1.0507], dtype=float32)
    """

    def hybrid_forward(self, F, x):
        return F.LeakyReLU(x, act_type="selu", name="fwd")


class GELU(HybridBlock):
    """Gaussian error linear unit: x · Φ(x) with the normal distribution function Φ.

    Parameters
    ----------
    prefix : str, optional
        Prefix of the block's name.
    params : ParameterDict, optional
        Not used; the layer has no parameters.

    Examples
    --------
    >>> mx.gluon.nn.GELU()(mx.nd.array([-1, 1])).asnumpy().round(4)
    array([-0.1587,  0.8413], dtype=float32)
    """

    def hybrid_forward(self, F, x):
        return F.LeakyReLU(x, act_type="gelu", name="fwd")


class Swish(HybridBlock):
    """x · sigmoid(beta · x).

    Parameters
    ----------
    beta : float, default 1.0
        Factor inside the sigmoid.

    Examples
    --------
    >>> mx.gluon.nn.Swish()(mx.nd.array([-1, 1])).asnumpy().round(4)
    array([-0.2689,  0.7311], dtype=float32)
    """

    def __init__(self, beta=1.0, **kwargs):
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F, x):
        return x * F.sigmoid(self._beta * x, name="fwd")
