"""Initializers that choose another one, or stored values, by the name of the parameter."""

import logging
import re

from ..ndarray import load


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
