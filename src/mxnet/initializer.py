"""Initializers: what parameters hold before training."""

import json
import logging
import re
import warnings
from math import sqrt
from typing import Any

import numpy as np

from . import ndarray, random, registry
from .ndarray import NDArray, load
from .util import is_np_array


class InitDesc(str):
    """A parameter's name, with its symbol attributes and the initializer of the whole network."""

    def __new__(cls, name, attrs=None, global_init=None):
        described = super().__new__(cls, name)
        described.attrs = attrs or {}
        described.global_init = global_init
        return described


def _root_mean_square(array):
    return str((ndarray.norm(array) / sqrt(array.size)).asscalar())


class Initializer:
    """Fills an array by the ending of its name; subclasses override `_init_weight` (or any other `_init_…`)."""

    # What the ending of a name means, in MXNet's order: (ending, method, word in the log).
    _ENDINGS = (
        ("weight", "_init_weight"),
        ("bias", "_init_bias"),
        ("gamma", "_init_gamma"),
        ("beta", "_init_beta"),
        ("min", "_init_zero"),
        ("max", "_init_one"),
        ("weight_quantize", "_init_quantized_weight"),
        ("bias_quantize", "_init_quantized_bias"),
    )
    # The older rule, for plain strings: (beginning, ending, method).
    _LEGACY = (
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

    def __init__(self, **kwargs):
        self._kwargs = kwargs
        self._verbose = False
        self._print_func = None

    def set_verbosity(self, verbose=False, print_func=None):
        """Log every initialization with a statistic of the array (its root mean square, if none is given)."""
        self._verbose = verbose
        self._print_func = print_func or _root_mean_square
        return self

    def _verbose_print(self, desc, init, arr):
        if self._verbose and self._print_func:
            logging.info("Initialized %s as %s: %s", desc, init, self._print_func(arr))

    def dumps(self):
        """Name and arguments as JSON, which `create` reads."""
        return json.dumps([self.__class__.__name__.lower(), self._kwargs])

    def __call__(self, desc, arr):
        """Fill `arr`, the parameter that `desc` describes."""
        if not isinstance(desc, InitDesc):
            self._legacy_init(desc, arr)
            return
        if desc.global_init is None:
            desc.global_init = self
        own = desc.attrs.get("__init__", "")
        if own:
            create(own)._init_weight(desc, arr)
            self._verbose_print(desc, own, arr)
            return
        for ending, method in self._ENDINGS:
            if desc.endswith(ending):
                getattr(self, method)(desc, arr)
                self._verbose_print(desc, ending, arr)
                return
        self._init_default(desc, arr)

    def _legacy_init(self, name, arr):
        warnings.warn(
            "\033[91mCalling initializer with init(str, NDArray) has been deprecated. "
            "please use init(mx.init.InitDesc(...), NDArray) instead.\033[0m",
            DeprecationWarning,
            stacklevel=3,
        )
        if not isinstance(name, str):
            raise TypeError(f"name must be string, got {type(name)}")
        if not isinstance(arr, NDArray):
            raise TypeError(f"arr must be NDArray, got {type(arr)}")
        for beginning, ending, method in self._LEGACY:
            if name.startswith(beginning) and name.endswith(ending):
                getattr(self, method)(name, arr)
                return
        self._init_default(name, arr)

    def _init_bilinear(self, _, arr):
        height, width = arr.shape[2], arr.shape[3]
        factor = np.ceil(width / 2.0)
        center = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        across = 1 - np.abs(np.arange(width) / factor - center)
        down = 1 - np.abs(np.arange(height) / factor - center)
        arr[:] = np.broadcast_to(np.outer(down, across).astype("float32"), arr.shape).copy()

    def _init_loc_bias(self, _, arr):
        assert arr.shape[0] == 6
        arr[:] = np.array([1.0, 0, 0, 0, 1.0, 0])

    def _init_zero(self, _, arr):
        arr[:] = 0.0

    def _init_one(self, _, arr):
        arr[:] = 1.0

    def _init_bias(self, _, arr):
        arr[:] = 0.0

    def _init_quantized_bias(self, _, arr):
        arr[:] = 0

    def _init_gamma(self, _, arr):
        arr[:] = 1.0

    def _init_beta(self, _, arr):
        arr[:] = 0.0

    def _init_weight(self, name, arr):
        raise NotImplementedError("Must override it")

    def _init_quantized_weight(self, _, arr):
        arr[:] = np.int8(random.randint(-127, 127, dtype="int32").asnumpy())

    def _init_default(self, name, _):
        raise ValueError(
            f"Unknown initialization pattern for {name}. Default initialization is now limited to "
            '"weight", "bias", "gamma" (1.0), and "beta" (0.0). '
            "Please use mx.sym.Variable(init=mx.init.*) to set initialization pattern"
        )

    def __eq__(self, other):
        if not isinstance(other, Initializer):
            return NotImplemented
        return type(self) is type(other) and self._kwargs == other._kwargs


_register = registry.get_register_func(Initializer, "initializer")
alias = registry.get_alias_func(Initializer, "initializer")
create = registry.get_create_func(Initializer, "initializer")


def register(klass: Any) -> Any:
    """Make an initializer class known by its lower-case name."""
    return _register(klass)


class Load:
    """Fills parameters from a file or a dict; names that are not there go to `default_init`."""

    def __init__(self, param, default_init=None, verbose=False):
        if isinstance(param, str):
            param = load(param)
        assert isinstance(param, dict)
        self.param = {n[4:] if n.startswith(("arg:", "aux:")) else n: a for n, a in param.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name, arr):
        if name in self.param:
            loaded = self.param[name]
            assert arr.shape == loaded.shape, (
                f"Parameter {name} cannot be initialized from loading. "
                f"Shape mismatch, target {arr.shape} vs loaded {loaded.shape}"
            )
            arr[:] = loaded
            self._log("Initialized %s by loading", name)
        else:
            assert self.default_init is not None, (
                f"Cannot Initialize {name}. Not found in loaded param and no default Initializer is provided."
            )
            self.default_init(name, arr)
            self._log("Initialized %s by default", name)

    def _log(self, message, name):
        if self.verbose:
            logging.info(message, name)


class Mixed:
    """The first initializer whose pattern matches the beginning of the name."""

    def __init__(self, patterns, initializers):
        assert len(patterns) == len(initializers)
        self.map = list(zip([re.compile(p) for p in patterns], initializers, strict=True))

    def __call__(self, name, arr):
        for pattern, initializer in self.map:
            if pattern.match(name):
                initializer(name, arr)
                return
        raise ValueError(
            f"Parameter name {name} did not match any pattern. Consider "
            'adding a ".*" pattern at the end with default Initializer.'
        )


@register
@alias("zeros")
class Zero(Initializer):
    """All zeros."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        arr[:] = 0


@register
@alias("ones")
class One(Initializer):
    """All ones."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, _, arr):
        arr[:] = 1


@register
class Constant(Initializer):
    """One value everywhere, or an array of values."""

    def __init__(self, value):
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, _, arr):
        arr[:] = self.value

    def dumps(self):
        value = self._kwargs["value"]
        if not np.isscalar(value):
            self._kwargs["value"] = (value if isinstance(value, np.ndarray) else value.asnumpy()).tolist()
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
    """Uniform in [-scale, scale)."""

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, _, arr):
        _fill_uniform(-self.scale, self.scale, arr)


@register
class Normal(Initializer):
    """Normal with mean 0 and standard deviation `sigma`."""

    def __init__(self, sigma=0.01):
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, _, arr):
        _fill_normal(0, self.sigma, arr)


@register
class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns, times `scale`."""

    def __init__(self, scale=1.414, rand_type="uniform"):
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, _, arr):
        shape = (arr.shape[0], int(np.prod(arr.shape[1:])))
        if self.rand_type == "uniform":
            noise = random.uniform(-1.0, 1.0, shape=shape).asnumpy()
        elif self.rand_type == "normal":
            noise = random.normal(0.0, 1.0, shape=shape).asnumpy()
        else:
            raise ValueError(f"rand_type must be 'uniform' or 'normal', not {self.rand_type!r}")
        left, _, right = np.linalg.svd(noise, full_matrices=False)
        basis = left if left.shape == noise.shape else right
        arr[:] = self.scale * basis.reshape(arr.shape)


@register
class Xavier(Initializer):
    """Random with a spread of sqrt(magnitude / fan), so that signals keep their size through the layers."""

    def __init__(self, rnd_type="uniform", factor_type="avg", magnitude=3):
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name, arr):
        if len(arr.shape) < 2:
            raise ValueError(f"Xavier initializer cannot be applied to vector {name}. It requires at least 2D.")
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
    """Xavier for layers followed by (P)ReLU with the given slope."""

    def __init__(self, factor_type="avg", slope=0.25):
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Bilinear(Initializer):
    """The kernel of bilinear interpolation, for deconvolutions that enlarge."""

    def __init__(self):
        super().__init__()

    def _init_weight(self, name, arr):
        self._init_bilinear(name, arr)


@register
class LSTMBias(Initializer):
    """Zeros, but `forget_bias` at the forget gate."""

    def __init__(self, forget_bias=1.0):
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name, arr):
        arr[:] = 0.0
        hidden = arr.shape[0] // 4
        arr[hidden : 2 * hidden] = self.forget_bias


@register
class FusedRNN(Initializer):
    """Fills the one parameter vector of a fused RNN, part by part."""

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
        self._init = init
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._forget_bias = forget_bias

    def _init_weight(self, desc, arr):
        from .rnn import rnn_cell

        cell = rnn_cell.FusedRNNCell(
            self._num_hidden,
            self._num_layers,
            self._mode,
            self._bidirectional,
            forget_bias=self._forget_bias,
            prefix="",
        )
        parts = cell.unpack_weights({"parameters": arr})
        for name, part in parts.items():
            if self._mode == "lstm" and name.endswith("_f_bias"):
                part[:] = self._forget_bias
            else:
                (self._init or desc.global_init)(InitDesc(name, global_init=desc.global_init), part)
        arr[:] = cell.pack_weights(parts)["parameters"]
