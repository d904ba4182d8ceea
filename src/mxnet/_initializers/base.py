"""`Initializer`, the base of all: selects by a parameter's name how it is filled; and the register of initializers."""

import json
import logging
import warnings
from math import sqrt
from typing import Any

import numpy as np

from .. import ndarray, random, registry
from .._core.advice.constructors import ExplainsArguments as _ExplainsArguments
from ..ndarray import NDArray

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


def fill_constant(value):
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

    _init_zero = _init_bias = _init_beta = _init_quantized_bias = fill_constant(0)
    _init_one = _init_gamma = fill_constant(1)

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
