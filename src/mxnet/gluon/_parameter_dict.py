"""Dictionaries of parameters: sharing, prefixes, files."""

from collections import OrderedDict, defaultdict
from typing import Any

import numpy as np

from .. import initializer, ndarray
from .._core.dtypes import dtype_name
from .._core.errors import NameUnknown
from ..ndarray.utils import load_named
from ..util import is_np_array
from ._constant import Constant
from ._parameter import Parameter
from .utils import _brief_print_list, _indent

NAMING = "https://mxnet.io/api/python/docs/tutorials/packages/gluon/blocks/naming.html"


def _other_network(filename, network):
    """The names on both sides, where a file does not fit."""
    names = _brief_print_list(list(load_named(filename)))
    return (
        f"The file has the parameters {names}, the network has {_brief_print_list(network.keys())}: build the same "
        "network that was saved, or load the file into the part of it that was."
    )


class ParameterDict:
    """The parameters of a block or of a whole network, by name.

    Parameters
    ----------
    prefix : str, default ''
        What `get` puts before the names of the parameters it makes.
    shared : ParameterDict, optional
        Where `get` looks for a parameter before it makes one.

    Examples
    --------
    >>> params = mx.gluon.ParameterDict("net_")
    >>> params.get("weight", shape=(2, 3)).name
    'net_weight'
    >>> params.initialize()
    >>> params["net_weight"].data().shape
    (2, 3)
    """

    __module__ = "mxnet.gluon.parameter"

    def __init__(self, prefix="", shared=None):
        self._prefix = prefix
        self._params = OrderedDict()
        self._shared = shared

    def __repr__(self):
        name = self._prefix + " " if self._prefix else ""
        return "{}(\n{}\n)".format(name, "\n".join(_indent(f"  {param}", 2) for param in self.values()))

    def __getitem__(self, key):
        try:
            return self._params[key]
        except KeyError:
            raise NameUnknown(f"{key!r} is no parameter here; there are: {_brief_print_list(self._params)}") from None

    def __iter__(self):
        return iter(self._params)

    def __contains__(self, key):
        return key in self._params

    def items(self):
        """(name, parameter) pairs, in the order they were made.

        Examples
        --------
        >>> dict(mx.gluon.nn.Dense(2, prefix="fc_").collect_params().items()).keys()
        dict_keys(['fc_weight', 'fc_bias'])
        """
        return self._params.items()

    def keys(self):
        """The names, with the prefix.

        Examples
        --------
        >>> list(mx.gluon.nn.Dense(2, prefix="fc_").collect_params().keys())
        ['fc_weight', 'fc_bias']
        """
        return self._params.keys()

    def values(self):
        """The parameters, in the order they were made.

        Examples
        --------
        >>> [p.name for p in mx.gluon.nn.Dense(2, prefix="fc_").collect_params().values()]
        ['fc_weight', 'fc_bias']
        """
        return self._params.values()

    @property
    def prefix(self):
        """What `get` puts before a name.

        Examples
        --------
        >>> mx.gluon.ParameterDict("net_").prefix
        'net_'
        """
        return self._prefix

    def _get_impl(self, name):
        if name not in self._params and self._shared is not None and name in self._shared._params:
            self._params[name] = self._shared._params[name]
        return self._params.get(name)

    def get(self, name, **kwargs):
        """The parameter with a name: the one that is there or in the shared dictionary, or else a new one.

        Parameters
        ----------
        name : str
            The name without the prefix.
        **kwargs
            Arguments of `Parameter`; those of an existing one must agree.

        Returns
        -------
        Parameter

        Examples
        --------
        >>> params = mx.gluon.ParameterDict("net_")
        >>> params.get("weight", shape=(2, 3)).name
        'net_weight'
        """
        name = self.prefix + name
        param = self._get_impl(name)
        if param is None:
            param = self._params[name] = Parameter(name, **kwargs)
            return param
        for key, desired in kwargs.items():
            _reconcile(param, key, desired)
        return param

    def get_constant(self, name, value=None):
        """The constant with a name, made from a value if it is not there.

        Parameters
        ----------
        name : str
            The name without the prefix.
        value : array_like, optional
            The value.

        Returns
        -------
        Constant

        Examples
        --------
        >>> params = mx.gluon.ParameterDict("net_")
        >>> params.get_constant("scale", [1, 2]).name
        'net_scale'
        """
        full = self.prefix + name
        known = self._get_impl(full)
        if known is not None:
            if value is not None:
                _check_same_constant(known, value)
            return known
        if value is None:
            raise KeyError(f"No constant named '{full}'. Please specify value if you want to create a new constant.")
        made = self._params[full] = Constant(full, value)
        return made

    def update(self, other):
        """Take over all parameters of another dictionary.

        Parameters
        ----------
        other : ParameterDict
            The other dictionary.

        Examples
        --------
        >>> params = mx.gluon.ParameterDict()
        >>> params.update(mx.gluon.nn.Dense(2, prefix="fc_").collect_params())
        >>> list(params.keys())
        ['fc_weight', 'fc_bias']
        """
        for name, param in other.items():
            assert self._params.get(name, param) is param, (
                f"Cannot update self with other because they have different Parameters with the same name '{name}'"
            )
        self._params.update(other.items())

    def initialize(self, init: Any = initializer.Uniform(), ctx=None, verbose=False, force_reinit=False):
        """Initialize every parameter.

        Parameters
        ----------
        init : Initializer or str, default initializer.Uniform()
            How parameters without an initializer of their own are initialized; uniform numbers of [-0.07, 0.07) without
            it.
        ctx : Context or list of Contexts, optional
            The devices.
        verbose : bool, default False
            Whether to log what is initialized.
        force_reinit : bool, default False
            Whether parameters that are initialized already are initialized again.

        Examples
        --------
        >>> params = mx.gluon.ParameterDict("net_")
        >>> weight = params.get("weight", shape=(2,))
        >>> params.initialize(mx.init.One())
        >>> weight.data().asnumpy()
        array([1., 1.], dtype=float32)
        """
        if verbose:
            init.set_verbosity(verbose=verbose)
        for param in self.values():
            param.initialize(None, ctx, init, force_reinit=force_reinit)

    def zero_grad(self):
        """Set all gradients to zero.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.collect_params().zero_grad()
        """
        dense = defaultdict(list)
        for param in self.values():
            for grad in param._grad or ():
                if grad.stype == "default" and not is_np_array():
                    dense[grad.ctx].append(grad)
                else:
                    ndarray.zeros_like(grad, out=grad)
        for grads in dense.values():
            ndarray.reset_arrays(*grads, num_arrays=len(grads))

    def reset_ctx(self, ctx):
        """Move all parameters to other devices.

        Parameters
        ----------
        ctx : Context or list of Contexts
            The devices.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.collect_params().reset_ctx(mx.cpu(1))
        >>> net.collect_params().list_ctx()
        [cpu(1)]
        """
        for param in self.values():
            param.reset_ctx(ctx)

    def list_ctx(self):
        """The devices that any parameter is on.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.collect_params().list_ctx()
        [cpu(0)]
        """
        return list(dict.fromkeys(ctx for param in self.values() for ctx in param.list_ctx()))

    def setattr(self, name, value):
        """Set an attribute of every parameter, such as `grad_req` or `lr_mult`.

        Parameters
        ----------
        name : str
            The attribute.
        value : object
            Its value.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.collect_params().setattr("grad_req", "null")
        >>> net.weight.grad_req
        'null'
        """
        for param in self.values():
            setattr(param, name, value)

    def save(self, filename, strip_prefix=""):
        """Write all parameters to a file.

        Parameters
        ----------
        filename : str
            The name of the file.
        strip_prefix : str, default ''
            A prefix that the names lose in the file.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3, prefix="fc_")
        >>> net.initialize()
        >>> net.collect_params().save("net.params", strip_prefix="fc_")
        >>> sorted(mx.nd.load("net.params"))
        ['bias', 'weight']
        """
        arrays = {}
        for param in self.values():
            if not param.name.startswith(strip_prefix):
                raise ValueError(
                    f"Prefix '{strip_prefix}' is to be striped before saving, but Parameter's "
                    f"name '{param.name}' does not start with '{strip_prefix}'. "
                    "this may be due to your Block shares parameters from other "
                    "Blocks or you forgot to use 'with name_scope()' when creating "
                    f"child blocks. For more info on naming, please see {NAMING}"
                )
            arrays[param.name[len(strip_prefix) :]] = param._saved()
        ndarray.save(filename, arrays)

    def load(
        self,
        filename,
        ctx=None,
        allow_missing=False,
        ignore_extra=False,
        restore_prefix="",
        cast_dtype=False,
        dtype_source="current",
    ):
        """Read the parameters from a file.

        Parameters
        ----------
        filename : str
            The name of the file.
        ctx : Context or list of Contexts, optional
            The devices.
        allow_missing : bool, default False
            Whether parameters that the file lacks keep their values.
        ignore_extra : bool, default False
            Whether the file may have parameters that the block lacks.
        restore_prefix : str, default ''
            What comes before the names of the file.
        cast_dtype : bool, default False
            Whether data types are converted where they differ.
        dtype_source : str, default 'current'
            current: the block's data types stay; saved: those of the file are taken.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3, prefix="fc_")
        >>> net.initialize()
        >>> net.collect_params().save("net.params")
        >>> net.collect_params().load("net.params")
        """
        for name in self.keys() if restore_prefix else ():
            assert name.startswith(restore_prefix), (
                f"restore_prefix is '{restore_prefix}' but Parameters name '{name}' does not start "
                f"with '{restore_prefix}'. For more info on naming, please see {NAMING}\n"
                f"{_other_network(filename, self)}"
            )
        loaded = load_named(filename)
        self.load_dict(loaded, ctx, allow_missing, ignore_extra, restore_prefix, filename, cast_dtype, dtype_source)

    def load_dict(
        self,
        param_dict,
        ctx=None,
        allow_missing=False,
        ignore_extra=False,
        restore_prefix="",
        filename=None,
        cast_dtype=False,
        dtype_source="current",
    ):
        """Take the values of a dictionary of arrays.

        Parameters
        ----------
        param_dict : dict of str to NDArray
            The values.
        ctx : Context or list of Contexts, optional
            The devices.
        allow_missing : bool, default False
            Whether parameters that the file lacks keep their values.
        ignore_extra : bool, default False
            Whether the file may have parameters that the block lacks.
        restore_prefix : str, default ''
            What comes before the names of the file.
        filename : str, optional
            The name of a file, for messages.
        cast_dtype : bool, default False
            Whether data types are converted where they differ.
        dtype_source : str, default 'current'
            current: the block's data types stay; saved: those of the file are taken.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3, prefix="fc_")
        >>> net.collect_params().load_dict({"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}, mx.cpu())
        """
        pairs = param_dict.items() if isinstance(param_dict, dict) else param_dict
        arrays = {restore_prefix + name.removeprefix("arg:").removeprefix("aux:"): value for name, value in pairs}
        source = f"file: {filename}" if filename else "param_dict"
        cut = len(restore_prefix)
        advice = (
            "Please make sure source and target networks have the same prefix. "
            f"For more info on naming, please see {NAMING}"
        )
        for name in () if allow_missing else self.keys():
            assert name in arrays, (
                f"Parameter '{name[cut:]}' is missing in {source}, which contains parameters: "
                f"{_brief_print_list(arrays.keys())}. {advice}"
            )
        for name, value in arrays.items():
            if name in self._params:
                self[name]._load_init(value, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)
                continue
            assert ignore_extra, (
                f"Parameter '{name[cut:]}' loaded from {source} is not present in ParameterDict, "
                f"choices are: {_brief_print_list(self.keys())}. Set ignore_extra to True to ignore. {advice}"
            )


def _check_same_constant(param, value):
    """Raise if the parameter is not a constant of this value."""
    assert isinstance(param, Constant), f"Parameter '{param.name}' already exists but it is not a constant."
    value = value.asnumpy() if isinstance(value, ndarray.NDArray) else np.asarray(value)
    assert param.shape == value.shape and (param.value.asnumpy() == value).all(), (
        f"Constant '{param.name}' already exists but it's value doesn't match new value"
    )


def _reconcile(param, key, desired):
    """Let a parameter that is asked for again agree with what is asked: fill what was open, reject the rest."""
    existing = getattr(param, key, None)
    if existing is None:
        setattr(param, key, desired)
        return
    if key == "shape" and len(desired) == len(existing):
        pairs = list(zip(desired, existing, strict=True))
        if all(new == old or new <= 0 or old <= 0 for new, old in pairs):
            param._shape = tuple(old if new in (0, -1) else new for new, old in pairs)
            return
    if key == "dtype" and dtype_name(desired) == dtype_name(existing):
        return
    assert desired is None or desired == existing, (
        f"Cannot retrieve Parameter '{param.name}' because desired attribute does not match with stored "
        f"for attribute '{key}': desired '{desired}' vs stored '{existing}'."
    )
