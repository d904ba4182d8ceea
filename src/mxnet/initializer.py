"""Initializers fill parameters with the values they hold before training."""

import json
import logging
import re
import warnings
from math import sqrt
from typing import Any

import numpy as np

from . import ndarray, random, registry
from ._core.advice.constructors import ExplainsArguments as _ExplainsArguments
from .ndarray import NDArray, load
from .util import is_np_array

# Rules are (prefix, suffix, hook): the first rule that fits a parameter's name says which hook fills the array.
_RULES = (
    ("", "weight", "_init_weight"),
    ("", "bias", "_init_bias"),
    ("", "gamma", "_init_gamma"),
    ("", "beta", "_init_beta"),
    ("", "min", "_init_zero"),
    ("", "max", "_init_one"),
    ("", "weight_quantize", "_init_quantized_weight"),
    ("", "bias_quantize", "_init_quantized_bias"),
)
# The rules for names that are plain strings, not `InitDesc`.
_STRING_RULES = (
    ("upsampling", "", "_init_bilinear"),
    ("stn_loc", "weight", "_init_zero"),
    ("stn_loc", "bias", "_init_loc_bias"),
    ("", "bias", "_init_bias"),
    ("", "gamma", "_init_gamma"),
    ("", "beta", "_init_beta"),
    ("", "weight", "_init_weight"),
    ("", "moving_mean", "_init_zero"),
    ("", "moving_var", "_init_one"),
    ("", "moving_inv_var", "_init_zero"),
    ("", "moving_avg", "_init_zero"),
    ("", "min", "_init_zero"),
    ("", "max", "_init_one"),
)
_NO_RULE = (None, None, "_init_default")


class InitDesc(str):
    """The name of a parameter, with what its symbol says about it.

    Parameters
    ----------
    name : str
        Name of the parameter; its ending selects how it is filled.
    attrs : dict of str to str, optional
        Attributes of the variable. `attrs["__init__"]` is an initializer (or its `dumps()`) of its own.
    global_init : Initializer, optional
        Initializer of the whole network, for initializers that fill a parameter part by part.

    Examples
    --------
    >>> weight = mx.nd.zeros((2, 2))
    >>> mx.init.Zero()(mx.init.InitDesc("fc_weight", {"__init__": mx.init.One().dumps()}), weight)
    >>> float(weight.sum().asscalar())
    4.0
    """

    def __new__(cls, name, attrs=None, global_init=None):
        described = super().__new__(cls, name)
        described.attrs = attrs or {}
        described.global_init = global_init
        return described


def _root_mean_square(array):
    return str((ndarray.norm(array) / sqrt(array.size)).asscalar())


def _fill_constant(value):
    """A hook that writes one value everywhere."""

    def hook(self, _, arr):
        arr[:] = value

    return hook


def _check_string_call(name, arr):
    warnings.warn(
        "\033[91mCalling an initializer with a plain name has been deprecated: "
        "pass mx.init.InitDesc(name) instead of the string.\033[0m",
        DeprecationWarning,
        stacklevel=4,
    )
    if not isinstance(name, str):
        raise TypeError(f"the name of a parameter must be a string, got {type(name)}")
    if not isinstance(arr, NDArray):
        raise TypeError(f"{name}: initializers fill an NDArray, got {type(arr)}")


class Initializer(_ExplainsArguments):
    """Base of all initializers: selects by the ending of a name how the parameter is filled.

    `weight` is filled by `_init_weight`, which subclasses override; `bias`, `beta` and `min` become zeros, `gamma` and
    `max` ones. Every such hook, `_init_bias(name, arr)` for example, can be overridden too. Programs use
    :class:`Xavier`, :class:`Normal` and the other subclasses, or write their own.

    Parameters
    ----------
    **kwargs
        Arguments of the subclass. `dumps` writes them, and two initializers of one class are equal if these are.

    Examples
    --------
    >>> @mx.init.register
    ... class Rows(mx.init.Initializer):
    ...     def _init_weight(self, name, arr):
    ...         arr[:] = np.arange(arr.shape[0]).reshape(-1, 1)
    >>> net = mx.gluon.nn.Dense(2, in_units=3)
    >>> net.initialize(init="rows")
    >>> net.weight.data().asnumpy()
    array([[0., 0., 0.],
           [1., 1., 1.]], dtype=float32)
    """

    def __init__(self, **kwargs):
        self._kwargs = kwargs
        self._verbose = False
        self._print_func = None

    def set_verbosity(self, verbose=False, print_func=None):
        """Switch logging of each initialization on or off.

        Parameters
        ----------
        verbose : bool
            Whether to log.
        print_func : callable, optional
            Computes the text logged for an array; by default its root mean square.

        Returns
        -------
        Initializer
            This object.

        Examples
        --------
        >>> initializer = mx.init.Xavier().set_verbosity(True)
        """
        self._verbose, self._print_func = verbose, print_func or _root_mean_square
        return self

    def _verbose_print(self, desc, init, arr):
        show = self._print_func if self._verbose else None
        if show is not None:
            logging.info("Initialized %s as %s: %s", desc, init, show(arr))

    def dumps(self):
        """Name and arguments as JSON, from which `mx.init.create` makes the initializer again.

        Examples
        --------
        >>> mx.init.Normal(0.5).dumps()
        '["normal", {"sigma": 0.5}]'
        """
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, desc, arr):
        """Fill `arr`, the parameter that `desc` describes.

        Parameters
        ----------
        desc : InitDesc or str
            Name of the parameter (a plain string is deprecated).
        arr : NDArray
            Array that is written.
        """
        if isinstance(desc, InitDesc):
            self._fill_described(desc, arr)
        else:
            self._legacy_init(desc, arr)

    def _fill_described(self, desc, arr):
        desc.global_init = self if desc.global_init is None else desc.global_init
        chosen = desc.attrs.get("__init__")
        if chosen:
            create(chosen)._init_weight(desc, arr)
        else:
            chosen = self._fill_by_rule(_RULES, desc, arr)
        if chosen is not None:
            self._verbose_print(desc, chosen, arr)

    def _fill_by_rule(self, rules, name, arr):
        """Call the hook of the first rule that fits; returns the suffix of that rule."""
        fitting = (rule for rule in rules if name.startswith(rule[0]) and name.endswith(rule[1]))
        _, suffix, hook = next(fitting, _NO_RULE)
        getattr(self, hook)(name, arr)
        return suffix

    def _legacy_init(self, name, arr):
        _check_string_call(name, arr)
        self._fill_by_rule(_STRING_RULES, name, arr)

    _init_zero = _init_bias = _init_beta = _init_quantized_bias = _fill_constant(0)
    _init_one = _init_gamma = _fill_constant(1)

    def _init_weight(self, name, arr):
        raise NotImplementedError(f"{type(self).__name__} must define _init_weight to fill {name}")

    def _init_quantized_weight(self, _, arr):
        arr[:] = np.int8(random.randint(-127, 127, dtype="int32").asnumpy())

    def _init_bilinear(self, _, arr):
        height, width = arr.shape[2], arr.shape[3]
        factor = np.ceil(width / 2.0)
        center = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        across = 1 - np.abs(np.arange(width) / factor - center)
        down = 1 - np.abs(np.arange(height) / factor - center)
        arr[:] = np.broadcast_to(np.outer(down, across).astype("float32"), arr.shape).copy()

    def _init_loc_bias(self, _, arr):
        """The identity of a spatial transformer: a 2 x 3 matrix with ones on its diagonal."""
        assert arr.shape[0] == 6, f"a spatial transformer has 6 parameters, got shape {arr.shape}"
        arr[:] = np.eye(2, 3).ravel()

    def _init_default(self, name, _):
        raise ValueError(
            f"Unknown initialization pattern for {name}: its name ends neither in weight, bias, gamma nor beta. "
            "Give it an initializer of its own: mx.sym.Variable(..., init=mx.init.Zero())"
        )

    def __eq__(self, other):
        if isinstance(other, Initializer):
            return (type(self), self._kwargs) == (type(other), other._kwargs)
        return NotImplemented


_register = registry.get_register_func(Initializer, "initializer")
create = registry.get_create_func(Initializer, "initializer")
alias = registry.get_alias_func(Initializer, "initializer")


def register(klass: Any) -> Any:
    """Class decorator that makes an initializer known by its lower-case name.

    Parameters
    ----------
    klass : type
        Subclass of :class:`Initializer`.

    Returns
    -------
    type
        The class.

    Examples
    --------
    >>> @mx.init.register
    ... class Twos(mx.init.Constant):
    ...     def __init__(self):
    ...         super().__init__(2)
    >>> mx.init.create("twos").value
    2
    """
    return _register(klass)


class Load:
    """Copies parameters from a file or a dict; names that it does not contain go to `default_init`.

    Parameters
    ----------
    param : str or dict of str to NDArray
        File written by `mx.nd.save`, or arrays by name. Prefixes `arg:` and `aux:` of checkpoints are removed.
    default_init : callable, optional
        Initializer of the names that are not found; without one such a name is an error.
    verbose : bool
        Whether to log where each parameter came from.

    Examples
    --------
    >>> init = mx.init.Load({"arg:fc_weight": mx.nd.ones((2,))}, default_init=mx.init.Zero())
    >>> weight = mx.nd.zeros((2,))
    >>> init("fc_weight", weight)
    >>> weight.asnumpy()
    array([1., 1.], dtype=float32)
    """

    def __init__(self, param, default_init=None, verbose=False):
        named = load(param) if isinstance(param, str) else param
        assert isinstance(named, dict), f"Load takes a file of named arrays or a dict, got {type(named)}"
        self.param = {re.sub("^(arg|aux):", "", name): array for name, array in named.items()}
        self.default_init, self.verbose = default_init, verbose

    def __call__(self, name, arr):
        if name in self.param:
            self._copy(name, arr)
        elif self.default_init is not None:
            self.default_init(name, arr)
            self._log("Initialized %s by default", name)
        else:
            raise AssertionError(
                f"Cannot Initialize {name}: the loaded parameters do not contain it and there is no default_init"
            )

    def _copy(self, name, arr):
        loaded = self.param[name]
        assert arr.shape == loaded.shape, (
            f"Parameter {name} cannot be initialized. Shape mismatch: it has {arr.shape}, the loaded one {loaded.shape}"
        )
        arr[:] = loaded
        self._log("Initialized %s by loading", name)

    def _log(self, message, name):
        if self.verbose:
            logging.info(message, name)


class Mixed:
    """Selects the initializer by regular expressions on the parameter's name; the first match wins.

    Parameters
    ----------
    patterns : list of str
        Regular expressions, matched at the beginning of the name.
    initializers : list of Initializer
        One for each pattern.

    Examples
    --------
    >>> init = mx.init.Mixed(["fc.*bias", ".*"], [mx.init.One(), mx.init.Zero()])
    >>> bias = mx.nd.zeros((2,))
    >>> init(mx.init.InitDesc("fc1_bias", {"__init__": "one"}), bias)
    >>> bias.asnumpy()
    array([1., 1.], dtype=float32)
    """

    def __init__(self, patterns, initializers):
        assert len(patterns) == len(initializers), (
            f"each pattern needs one initializer, got {len(patterns)} patterns and {len(initializers)} initializers"
        )
        self.map = [(re.compile(pattern), init) for pattern, init in zip(patterns, initializers, strict=True)]

    def __call__(self, name, arr):
        init = next((init for pattern, init in self.map if pattern.match(name)), None)
        if init is None:
            raise ValueError(
                f'Parameter name {name} did not match any pattern. Add the pattern ".*" with a default initializer '
                "as the last one."
            )
        init(name, arr)


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

    _init_weight = _fill_constant(0)


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

    _init_weight = _fill_constant(1)


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


def _fill_uniform(low, high, arr):
    _stream().uniform(low, high, arr.shape, out=arr)


def _fill_normal(mean, deviation, arr):
    _stream().normal(mean, deviation, arr.shape, out=arr)


def _stream():
    if is_np_array():
        from . import numpy as mx_np

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


@register
class FusedRNN(Initializer):
    """Fills the one parameter vector of a fused RNN, weight by weight and bias by bias.

    Parameters
    ----------
    init : Initializer, str or None
        Initializer of the parts; None for the initializer of the whole network.
    num_hidden, num_layers : int
        Size and number of layers, as given to `mx.rnn.FusedRNNCell`.
    mode : {"lstm", "gru", "rnn_relu", "rnn_tanh"}
        Kind of the cell.
    bidirectional : bool
        Whether the layers run in both directions.
    forget_bias : float
        Value for the bias of the forget gates of an LSTM.

    Examples
    --------
    >>> cell = mx.rnn.FusedRNNCell(2, mode="lstm", prefix="lstm_")
    >>> vector = mx.nd.zeros((8 * 3 + 8 * 2 + 16,))
    >>> init = mx.init.FusedRNN(mx.init.Zero(), 2, 1, "lstm", forget_bias=1.0)
    >>> init(mx.init.InitDesc("lstm_parameters", {"__init__": init.dumps()}), vector)
    >>> float(vector.sum().asscalar())
    4.0
    """

    def __init__(self, init, num_hidden, num_layers, mode, bidirectional=False, forget_bias=1.0):
        if isinstance(init, str):
            init = create(init)
        super().__init__(
            init=None if init is None else init.dumps(),
            num_hidden=num_hidden,
            num_layers=num_layers,
            mode=mode,
            bidirectional=bidirectional,
            forget_bias=forget_bias,
        )
        self._init, self._cell = init, (num_hidden, num_layers, mode, bidirectional)
        self._forget_bias = forget_bias if mode == "lstm" else None

    def _init_weight(self, desc, arr):
        from .rnn import rnn_cell

        cell = rnn_cell.FusedRNNCell(*self._cell, prefix="")
        parts = cell.unpack_weights({"parameters": arr})
        for name, part in parts.items():
            if self._forget_bias is not None and name.endswith("_f_bias"):
                part[:] = self._forget_bias
            else:
                (self._init or desc.global_init)(InitDesc(name, global_init=desc.global_init), part)
        arr[:] = cell.pack_weights(parts)["parameters"]
