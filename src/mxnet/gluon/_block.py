"""`Block`: the base class of layers and networks, a tree of blocks with named parameters."""

import re
import warnings
from collections import OrderedDict, defaultdict
from typing import Any

from .. import initializer, ndarray
from .._core.advice.constructors import ExplainsArguments
from ..ndarray.utils import load_named
from . import _architecture
from ._children import Children
from ._parameter import Parameter
from ._parameter_dict import ParameterDict
from ._scope import _BlockScope
from ._summary import Summary
from .utils import HookHandle, _brief_print_list, _indent

# Attributes of blocks themselves; they hold no children that the user forgot to register.
BOOKKEEPING = frozenset(
    [
        "_children",
        "_reg_params",
        "_forward_hooks",
        "_forward_pre_hooks",
        "_cached_graph",
        "_cached_op_args",
        "_flags",
        "_backend_opts",
        "_in_format",
        "_out_format",
        "_kwargs",
    ]
)


class Block(ExplainsArguments):
    """Base class of layers and networks.

    A block that is assigned to an attribute becomes a child, and a parameter one of its parameters. Subclasses define
    `forward`.

    Parameters
    ----------
    prefix : str, optional
        Prefix of the names of the parameters.
    params : ParameterDict, optional
        Parameters to share with another block.

    Examples
    --------
    >>> class Twice(mx.gluon.Block):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         with self.name_scope():
    ...             self.layer = mx.gluon.nn.Dense(3)
    ...     def forward(self, x):
    ...         return self.layer(self.layer(x))
    >>> net = Twice(prefix="twice_")
    >>> net.initialize()
    >>> net(mx.nd.ones((2, 3))).shape
    (2, 3)
    >>> list(net.collect_params())
    ['twice_dense0_weight', 'twice_dense0_bias']
    """

    __module__ = "mxnet.gluon.block"

    def __init__(self, prefix=None, params=None):
        if prefix is not None and not isinstance(prefix, str):
            raise TypeError(
                f"prefix must be a str, got {type(prefix).__name__}; layers are given to a {type(self).__name__} by "
                "its method add, keyword arguments by their names"
            )
        self._empty_prefix = prefix == ""
        self._prefix, self._params = _BlockScope.create(prefix, params, self._alias())
        self._name = self._prefix.removesuffix("_")
        self._scope, self._children, self._reg_params = _BlockScope(self), Children(), {}
        self._forward_hooks, self._forward_pre_hooks = OrderedDict(), OrderedDict()

    def __repr__(self):
        return _describe(self, ((key, value) for key, value in self.__dict__.items() if isinstance(value, Block)))

    def _repr_html_(self):
        from ._notebook import html

        return html(self)

    def _check_begun(self):
        """A block whose class forgot `super().__init__()` has no place for children and parameters."""
        if "_children" not in self.__dict__:
            kind = type(self).__name__
            raise AttributeError(
                f"'{kind}' object has no attribute '_children': call super().__init__() first in {kind}.__init__"
            )

    def __setattr__(self, name, value):
        existing = getattr(self, name, None)
        if isinstance(existing, (Parameter, Block)) and not isinstance(value, type(existing)):
            raise TypeError(f"Changing attribute type for {name} from {type(existing)} to {type(value)}is not allowed.")
        if isinstance(value, (Block, Parameter)):
            self._check_begun()
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            assert name not in self._reg_params, (
                f"Overriding Parameter attribute {name} is not allowed. "
                "If you want to share parameters between blocks, please set "
                "'params' at Block construction instead."
            )
            self._reg_params[name] = value
            if value._owner is None:
                value._owner = f"'{self.name}' ({type(self).__name__})"
        super().__setattr__(name, value)

    def _alias(self):
        """The word that the automatic name is made from."""
        return type(self).__name__.lower()

    @property
    def prefix(self):
        """What the names of the block's parameters and children begin with.

        Examples
        --------
        >>> mx.gluon.nn.Dense(2, prefix="fc_").prefix
        'fc_'
        """
        return self._prefix

    @property
    def name(self):
        """The prefix without the underscore at its end.

        Examples
        --------
        >>> mx.gluon.nn.Dense(2, prefix="fc_").name
        'fc'
        """
        return self._name

    @property
    def params(self):
        """The block's own parameters, without those of its children.

        Examples
        --------
        >>> list(mx.gluon.nn.Dense(2, prefix="fc_").params)
        ['fc_weight', 'fc_bias']
        """
        return self._params

    def name_scope(self):
        """A scope in which new children and parameters get this block's prefix.

        Examples
        --------
        >>> class Net(mx.gluon.Block):
        ...     def __init__(self, **kwargs):
        ...         super().__init__(**kwargs)
        ...         with self.name_scope():
        ...             self.fc = mx.gluon.nn.Dense(2)
        >>> Net(prefix="net_").fc.name
        'net_dense0'
        """
        self._check_begun()
        return self._scope

    # ---- parameters ----

    def collect_params(self, select=None):
        """The parameters of the block and all its descendants.

        Parameters
        ----------
        select : str, optional
            A regular expression that the names must match.

        Returns
        -------
        ParameterDict

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3, prefix="fc_")
        >>> list(net.collect_params()), list(net.collect_params(".*bias"))
        (['fc_weight', 'fc_bias'], ['fc_bias'])
        """
        self._check_container_with_block()
        collected = ParameterDict(self._params.prefix)
        pattern = re.compile(select) if select else None
        collected.update({name: p for name, p in self.params.items() if pattern is None or pattern.match(name)})
        for child in self._children.values():
            collected.update(child.collect_params(select=select))
        return collected

    def _check_container_with_block(self):
        for key, value in self.__dict__.items():
            if not isinstance(value, (list, tuple, dict)) or not value or key in BOOKKEEPING or key.startswith("__"):
                continue
            if _holds_stranger(value, {id(child) for child in self._children.values()}):
                warnings.warn(
                    f'"{type(self).__name__}.{key}" is an unregistered container with Blocks. '
                    "Note that Blocks inside the list, tuple or dict will not be "
                    "registered automatically. Make sure to register them using "
                    "register_child() or switching to nn.Sequential/nn.HybridSequential instead. ",
                    stacklevel=3,
                )

    def _collect_params_with_prefix(self, prefix=""):
        """The parameters by their place in the tree: `features.0.weight`."""
        prefix += "." if prefix else ""
        collected = {prefix + key: param for key, param in self._reg_params.items()}
        for name, child in self._children.items():
            collected.update(child._collect_params_with_prefix(prefix + name))
        return collected

    def initialize(self, init: Any = initializer.Uniform(), ctx=None, verbose=False, force_reinit=False):
        """Initialize the parameters of the block and all its descendants.

        Parameters
        ----------
        init : Initializer or str, default initializer.Uniform()
            How parameters without an initializer of their own are initialized; uniform numbers of [-0.07, 0.07) without
            it.
        ctx : Context or list of Contexts, optional
            The devices; the current context without it.
        verbose : bool, default False
            Whether to log what is initialized.
        force_reinit : bool, default False
            Whether parameters that are initialized already are initialized again.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize(mx.init.One())
        >>> net.weight.data().asnumpy()
        array([[1., 1., 1.],
               [1., 1., 1.]], dtype=float32)
        """
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    def cast(self, dtype):
        """Convert all parameters to another data type.

        Parameters
        ----------
        dtype : str or type
            The data type.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.cast("float16")
        >>> net.weight.data().dtype.__name__
        'float16'
        """
        for child in self._children.values():
            child.cast(dtype)
        for param in self.params.values():
            param.cast(dtype)

    def save_parameters(self, filename, deduplicate=False):
        """Write the parameters to a file, under their places in the tree of blocks.

        Parameters
        ----------
        filename : str
            The name of the file.
        deduplicate : bool, default False
            Whether shared parameters are written once.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.save_parameters("net.params")
        >>> sorted(mx.nd.load("net.params"))
        ['bias', 'weight']
        """
        params = self._collect_params_with_prefix()
        if deduplicate:
            last_name = {param: name for name, param in params.items()}
            params = {name: param for param, name in last_name.items()}
        ndarray.save(filename, {name: param._saved() for name, param in params.items()})

    def load_parameters(
        self,
        filename,
        ctx=None,
        allow_missing=False,
        ignore_extra=False,
        cast_dtype=False,
        dtype_source="current",
    ):
        """Read what `save_parameters` (or the older `save_params`) wrote.

        Parameters
        ----------
        filename : str
            The name of the file.
        ctx : Context or list of Contexts, optional
            The devices; the current context without it.
        allow_missing : bool, default False
            Whether parameters that the file lacks keep their values.
        ignore_extra : bool, default False
            Whether the file may have parameters that the block lacks.
        cast_dtype : bool, default False
            Whether data types are converted where they differ.
        dtype_source : str, default 'current'
            current: the block's data types stay; saved: those of the file are taken.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.save_parameters("net.params")
        >>> other = mx.gluon.nn.Dense(2)
        >>> other.load_parameters("net.params")
        >>> (other.weight.data() == net.weight.data()).min().asscalar().item()
        1.0
        """
        loaded = load_named(filename)
        params = self._collect_params_with_prefix()
        if not loaded and not params:
            return
        if not any("." in name for name in loaded):
            self.collect_params().load(
                filename, ctx, allow_missing, ignore_extra, self.prefix, cast_dtype, dtype_source
            )
            return
        if not allow_missing:
            _check_none_missing(params, loaded, filename)
        for name, value in loaded.items():
            if name in params:
                params[name]._load_init(value, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)
            elif not ignore_extra:
                raise ValueError(
                    f"Parameter '{name}' loaded from file '{filename}' is not present in ParameterDict, "
                    f"which contains parameters {_brief_print_list(params)}. Set ignore_extra=True to ignore. "
                )

    def save_params(self, filename):
        """The older way of saving, under the parameters' names. Deprecated: use `save_parameters`.

        Parameters
        ----------
        filename : str
            The name of the file.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3, prefix="fc_")
        >>> net.initialize()
        >>> net.save_params("net.params")
        >>> sorted(mx.nd.load("net.params"))
        ['bias', 'weight']
        """
        warnings.warn(
            "save_params is deprecated. Please use save_parameters. "
            "Note that if you want load from SymbolBlock later, please use export instead. For details, see "
            "https://mxnet.apache.org/tutorials/gluon/save_load_params.html",
            stacklevel=2,
        )
        try:
            self.collect_params().save(filename, strip_prefix=self.prefix)
        except ValueError as error:
            raise ValueError(
                f"{error}\nsave_params is deprecated. Using save_parameters may resolve this error."
            ) from error

    def load_params(self, filename, ctx=None, allow_missing=False, ignore_extra=False):
        """The older name of `load_parameters`. Deprecated.

        Parameters
        ----------
        filename : str
            The name of the file.
        ctx : Context or list of Contexts, optional
            The devices; the current context without it.
        allow_missing : bool, default False
            Whether parameters that the file lacks keep their values.
        ignore_extra : bool, default False
            Whether the file may have parameters that the block lacks.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.save_parameters("net.params")
        >>> net.load_params("net.params")
        """
        warnings.warn("load_params is deprecated. Please use load_parameters.", stacklevel=2)
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    def save(self, prefix):
        """Write the tree of blocks to `prefix-model.json` and the parameters to `prefix-model.params`.

        Parameters
        ----------
        prefix : str
            The beginning of the files' names.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3, prefix="fc_")
        >>> net.initialize()
        >>> net.save("net")
        >>> mx.gluon.nn.Dense(2, in_units=3, prefix="fc_").load("net")
        """
        _architecture.save(self, prefix)

    def load(self, prefix):
        """Read what `save` wrote into a block that was built in the same way.

        Parameters
        ----------
        prefix : str
            The beginning of the files' names.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3, prefix="fc_")
        >>> net.initialize()
        >>> net.save("net")
        >>> mx.gluon.nn.Dense(2, in_units=3, prefix="fc_").load("net")
        """
        _architecture.load(self, prefix)

    # ---- the tree ----

    def register_child(self, block, name=None):
        """Make a block a child of this one, as setting an attribute does.

        Parameters
        ----------
        block : Block
            The child.
        name : str, optional
            Its name; the next number without it.

        Examples
        --------
        >>> net = mx.gluon.Block()
        >>> net.register_child(mx.gluon.nn.Dense(2), "fc")
        >>> list(net._children)
        [Dense(None -> 2, linear)]
        """
        self._children[str(len(self._children)) if name is None else name] = block

    def register_forward_pre_hook(self, hook):
        """Call `hook(block, inputs)` before every forward pass.

        Parameters
        ----------
        hook : callable
            The function.

        Returns
        -------
        HookHandle
            Its `detach` removes the hook.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> handle = net.register_forward_pre_hook(lambda block, inputs: print(inputs[0].shape))
        >>> y = net(mx.nd.ones((1, 3)))
        (1, 3)
        >>> handle.detach()
        """
        return _attached(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook):
        """Call `hook(block, inputs, outputs)` after every forward pass.

        Parameters
        ----------
        hook : callable
            The function.

        Returns
        -------
        HookHandle
            Its `detach` removes the hook.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> handle = net.register_forward_hook(lambda block, inputs, outputs: print(outputs.shape))
        >>> y = net(mx.nd.ones((1, 3)))
        (1, 2)
        >>> handle.detach()
        """
        return _attached(self._forward_hooks, hook)

    def register_op_hook(self, callback, monitor_all=False):
        """Call a function with the results of every operator of hybridized blocks.

        Parameters
        ----------
        callback : callable
            `callback(name, operator, array)`.
        monitor_all : bool, default False
            Whether inputs are shown as well.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3, prefix="fc_")
        >>> net.initialize()
        >>> net.hybridize()
        >>> net.register_op_hook(lambda node, operator, array: print(operator, array.shape))
        >>> y = net(mx.nd.ones((1, 3)))
        b'FullyConnected' (1, 2)
        """
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def apply(self, fn):
        """Call a function on every descendant, then on the block itself.

        Parameters
        ----------
        fn : callable
            The function of a block.

        Returns
        -------
        Block
            The block itself.

        Examples
        --------
        >>> net = mx.gluon.nn.Sequential()
        >>> net.add(mx.gluon.nn.Dense(2), mx.gluon.nn.Dense(3))
        >>> _ = net.apply(lambda block: print(type(block).__name__))
        Dense
        Dense
        Sequential
        """
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def hybridize(self, active=True, **kwargs):
        """Hybridize every child that can be; see `HybridBlock.hybridize`.

        Parameters
        ----------
        active : bool, default True
            Whether to switch it on.
        **kwargs
            Options of `HybridBlock.hybridize`.

        Examples
        --------
        >>> net = mx.gluon.nn.Sequential()
        >>> net.add(mx.gluon.nn.Dense(2, in_units=3))
        >>> net.hybridize()
        """
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    def __call__(self, *args):
        if self._forward_pre_hooks:
            for hook in list(self._forward_pre_hooks.values()):
                hook(self, args)
        out = self.forward(*args)
        if self._forward_hooks:
            for hook in list(self._forward_hooks.values()):
                hook(self, args, out)
        return out

    def forward(self, *args):
        """What the block computes; subclasses define it.

        Parameters
        ----------
        *args : NDArray
            The inputs.

        Returns
        -------
        NDArray or nested list of NDArrays

        Examples
        --------
        >>> class Double(mx.gluon.Block):
        ...     def forward(self, x):
        ...         return x * 2
        >>> Double()(mx.nd.array([1, 2])).asnumpy()
        array([2., 4.], dtype=float32)
        """
        raise NotImplementedError(f"{type(self).__name__} has no method forward(self, …) that says what it computes")

    def summary(self, *inputs):
        """Run the block and print a table of its layers, their outputs and parameters.

        Parameters
        ----------
        *inputs : NDArray
            The inputs.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> net.summary(mx.nd.ones((1, 3)))  # doctest: +ELLIPSIS
        --------------------------------------------------------------------------------
                Layer (type)                                Output Shape         Param #
        ================================================================================
                       Input                                      (1, 3)               0
                     Dense-1                                      (1, 2)               8
        ================================================================================
        Parameters in forward computation graph, duplicate included
           Total params: 8
           Trainable params: 8
           Non-trainable params: 0
        Shared params in forward computation graph: 0
        Unique parameters in model: 8
        --------------------------------------------------------------------------------
        """
        Summary(self, inputs).show()


def _attached(hooks, hook):
    handle = HookHandle()
    handle.attach(hooks, hook)
    return handle


def _describe(block, children):
    lines = "\n".join(f"  ({key}): {_indent(repr(child), 2)}" for key, child in children)
    return f"{type(block).__name__}(\n{lines}\n)"


def _holds_stranger(data, children):
    """Whether a list, tuple or dict, however nested, has a block that is not registered as a child."""
    if isinstance(data, Block):
        return id(data) not in children
    if isinstance(data, dict):
        data = data.values()
    elif not isinstance(data, (list, tuple)):
        return False
    return any(_holds_stranger(item, children) for item in data)


def _check_none_missing(params, loaded, filename):
    """A shared parameter may be in the file under any one of its names."""
    names = defaultdict(list)
    for name, param in params.items():
        names[param].append(name)
    for name, param in params.items():
        assert any(alias in loaded for alias in names[param]), (
            f"Parameter '{name}' is missing in file '{filename}', which contains parameters: "
            f"{_brief_print_list(loaded.keys())}. Set allow_missing=True to ignore missing parameters."
        )
