"""Parameters of blocks: their arrays on every context, their gradients, and when these are made."""

import warnings
from collections.abc import Iterable
from typing import Any

from .. import autograd, context, initializer, ndarray, symbol
from .._core.dtypes import dtype_name
from ..base import MXNetError, mx_real_t
from ..context import Context, cpu
from ..util import is_np_array, is_np_shape
from .utils import shape_is_known

STORAGE_TYPES = ("default", "row_sparse", "csr")


class DeferredInitializationError(MXNetError):
    """A parameter was read before the first forward pass told its shape."""

    __module__ = "mxnet.gluon.parameter"


class Parameter:
    """A weight of a block: a named array with a gradient, once for every context it is initialized on.

    Parameters
    ----------
    name : str
        Name of the parameter.
    grad_req : {"write", "add", "null"}
        What `backward` does with the gradient: overwrite it, add to it, or compute none.
    shape : int or tuple of int, optional
        Shape; a size of 0 is not known yet.
    dtype : numpy.dtype or str
        Type of the elements.
    lr_mult, wd_mult : float
        Factors of the learning rate and of the weight decay.
    init : Initializer, optional
        Initializer of its own.
    allow_deferred_init : bool
        Whether sizes that are not known are found in the first forward pass.
    differentiable : bool
        Whether there is a gradient at all.
    stype, grad_stype : {"default", "row_sparse", "csr"}
        Storage of the array and of its gradient.

    Examples
    --------
    >>> weight = mx.gluon.Parameter("weight", shape=(2, 2), init=mx.init.One())
    >>> weight.initialize()
    >>> with mx.autograd.record():
    ...     loss = (3 * weight.data()).sum()
    >>> loss.backward()
    >>> weight.grad().asnumpy()
    array([[3., 3.],
           [3., 3.]], dtype=float32)
    """

    __module__ = "mxnet.gluon.parameter"
    _kind = "Parameter"
    _owner = None  # the block that registered it, for messages
    requests_changed = 0  # how often any `grad_req` did: trainers look them up again then

    def __init__(
        self,
        name,
        grad_req="write",
        shape=None,
        dtype=mx_real_t,
        lr_mult=1.0,
        wd_mult=1.0,
        init=None,
        allow_deferred_init=False,
        differentiable=True,
        stype="default",
        grad_stype="default",
    ):
        self._var = self._data = self._grad = self._ctx_list = self._ctx_map = self._trainer = None
        self._deferred_init = ()
        self._differentiable = differentiable
        self._allow_deferred_init = allow_deferred_init
        self._grad_req = None
        self._shape = (shape,) if isinstance(shape, int) else shape
        self.name = name
        self._dtype = dtype
        self.lr_mult = lr_mult
        self.wd_mult = wd_mult
        self.grad_req = grad_req
        self.init = init
        for kind, value in (("grad_stype", grad_stype), ("stype", stype)):
            assert value in STORAGE_TYPES, (
                f"{kind} for Parameter '{name}' must be one of 'default', 'row_sparse', or 'csr', but got '{value}'"
            )
        self._grad_stype = grad_stype
        self._stype = stype

    def __repr__(self):
        return f"{self._kind} {self.name} (shape={self.shape}, dtype={self.dtype})"

    def __getstate__(self):
        return {**self.__dict__, "_var": None, "_trainer": None}

    def __setstate__(self, state):
        self.__dict__.update(state)
        if self._grad is not None:  # copying and pickling separate an array from its gradient
            autograd.mark_variables(self._data, self._grad, self.grad_req)

    @property
    def grad_req(self):
        """What `backward` does with the gradient: "write" it, "add" it to what is there, or "null": there is no
        gradient.

        Setting it takes effect at once; "null" freezes the parameter.

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(2,))
        >>> weight.initialize()
        >>> weight.grad_req
        'write'
        >>> weight.grad_req = "null"
        >>> weight.grad()
        Traceback (most recent call last):
            ...
        RuntimeError: Cannot get gradient array for Parameter 'weight' because grad_req='null'
        """
        return self._grad_req

    @grad_req.setter
    def grad_req(self, req):
        assert req in ("write", "add", "null"), f"grad_req must be one of 'write', 'add', or 'null', but got '{req}'"
        if not self._differentiable:
            req = "null"
        if self._grad_req == req:
            return
        self._grad_req = req
        Parameter.requests_changed += 1
        if self._data is not None:
            self._follow_request()

    def _follow_request(self):
        """Make gradients, or drop those that are not wanted any more."""
        if self._grad_req == "null" and self._grad is not None:
            self._data, self._grad = [array.detach() for array in self._data], None
        else:
            self._init_grad()

    dtype = property(
        lambda self: self._dtype,
        lambda self, dtype: self.cast(dtype),
        doc="""The type of the elements; setting it converts value and gradient.

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(2,))
        >>> weight.dtype = "float16"
        >>> weight.dtype
        'float16'
        """,
    )

    @property
    def shape(self):
        """The shape, a tuple of int; 0 (under NumPy shape semantics -1) marks a size that the first forward pass will
        tell.

        Setting it fills in unknown sizes; a known size cannot change.

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(4, 0), allow_deferred_init=True)
        >>> weight.shape = (4, 3)
        >>> weight.shape
        (4, 3)
        """
        if self._shape is None or not is_np_shape():
            return self._shape
        return tuple(-1 if size == 0 else size for size in self._shape)

    @shape.setter
    def shape(self, new_shape):
        known = self._shape
        assert known is None or (
            len(known) == len(new_shape) and all(old in (-1, 0, new) for new, old in zip(new_shape, known, strict=True))
        ), f"Expected shape {new_shape} is incompatible with given shape {known}. {self!r} cannot take it."
        self._shape = new_shape

    # ---- initialization ----

    def initialize(self, init=None, ctx=None, default_init: Any = initializer.Uniform(), force_reinit=False):
        """Make and fill the arrays; those of unknown shape in the first forward pass.

        Parameters
        ----------
        init : Initializer, optional
            Initializer; by default the parameter's own one.
        ctx : Context or list of Context, optional
            Where the parameter lives; by default the current context.
        default_init : Initializer
            Initializer of a parameter without one of its own.
        force_reinit : bool
            Whether a parameter that has values gets new ones.

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(2,))
        >>> weight.initialize(mx.init.Constant(5), ctx=mx.cpu())
        >>> weight.data().asnumpy()
        array([5., 5.], dtype=float32)
        """
        if self._data is not None and not force_reinit:
            warnings.warn(
                f"Parameter '{self.name}' is already initialized, ignoring. Set force_reinit=True to re-initialize.",
                stacklevel=2,
            )
            return
        self._data = self._grad = None
        if init is None:
            init = default_init if self.init is None else self.init
        known = shape_is_known(self.shape)
        if not known and not self._allow_deferred_init:
            raise ValueError(f"Cannot initialize Parameter '{self.name}' because it has invalid shape: {self.shape}.")
        self._deferred_init = (init, _contexts(ctx), default_init, None)
        if known:
            self._finish_deferred_init()

    def _finish_deferred_init(self):
        if not self._deferred_init:
            return
        init, ctx, default_init, data = self._deferred_init
        self._deferred_init = ()
        assert shape_is_known(self.shape), (
            f"Cannot initialize Parameter '{self.name}' because it has invalid shape: {self.shape}. "
            "Please specify in_units, in_channels, etc for `Block`s."
        )
        with autograd.pause():
            if data is None:
                data = self._zeros(self.shape, self.dtype, cpu(), self._stype)
                desc = initializer.InitDesc(self.name, {"__init__": init})
                initializer.create(default_init)(desc, data)
            self._init_impl(data, ctx)

    @staticmethod
    def _zeros(shape, dtype, ctx, stype):
        if not is_np_array():
            return ndarray.zeros(shape, dtype=dtype, ctx=ctx, stype=stype)
        if stype != "default":
            raise ValueError(f"mxnet.numpy.zeros does not support stype = {stype}")
        from .. import numpy as mx_np

        return mx_np.zeros(shape, dtype=dtype, ctx=ctx)

    def _init_impl(self, data, ctx_list):
        """Copy `data` to every context and make the gradients."""
        self._ctx_list = contexts = list(ctx_list)
        self._ctx_map = places(contexts)
        self._data = [data.copyto(ctx) for ctx in contexts]
        self._init_grad()

    def _init_grad(self):
        """Gradients of zeros beside the arrays, none if none are wanted."""
        self._grad = None
        if self.grad_req != "null":
            self._grad = [self._zeros(a.shape, a.dtype, a.ctx, self._grad_stype) for a in self._data]
            autograd.mark_variables(self._data, self._grad, self.grad_req)

    def _load_init(self, data, ctx, cast_dtype=False, dtype_source="current"):
        """Take `data` out of a file as the value, initializing on `ctx` if that has not happened yet."""
        if cast_dtype:
            assert dtype_source in ("current", "saved")
        self._check_loaded_shape(data)
        data = self._in_own_dtype(data, cast_dtype, dtype_source)
        if self._stype != data.stype:
            data = data.tostype(self._stype)
        ctx = [ctx] if isinstance(ctx, Context) else ctx
        if self._data is not None or self._deferred_init:
            assert ctx is None or set(ctx) == set(self.list_ctx()), (
                f"Failed to load Parameter '{self.name}' on {ctx} because it was "
                f"previous initialized on {self.list_ctx()}."
            )
        if self._data is not None:
            self.set_data(data)
        else:
            self._init_impl(data, self._deferred_init[1] if self._deferred_init else ctx or [cpu()])
        self._deferred_init = ()

    def _check_loaded_shape(self, data):
        if not self.shape:
            return
        unknown = -1 if is_np_shape() else 0
        pairs = list(zip(self.shape, data.shape, strict=False))
        assert all(own in (unknown, loaded) for own, loaded in pairs), (
            f"Failed loading Parameter '{self.name}' from saved params: "
            f"shape incompatible expected {self.shape} vs saved {data.shape}; the network that was saved had other "
            "sizes: build it with the same ones, or leave this layer out and train it anew"
        )
        self.shape = tuple(loaded if own == unknown else own for own, loaded in pairs)

    def _in_own_dtype(self, data, cast_dtype, dtype_source):
        if not self.dtype or dtype_name(self.dtype) == dtype_name(data.dtype):
            return data
        assert cast_dtype, (
            f"Failed loading Parameter '{self.name}' from saved params: "
            f"dtype incompatible expected {self.dtype} vs saved {data.dtype}. "
            "Set cast_dtype=True to cast the dtype of saved params."
        )
        if dtype_source == "current":
            return data.astype(self.dtype, copy=False)
        self.dtype = data.dtype
        return data

    def reset_ctx(self, ctx):
        """Move the parameter to other contexts; its value is the mean over those it was on.

        Parameters
        ----------
        ctx : Context or list of Context
            Where it lives from now on.

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(2,))
        >>> weight.initialize(ctx=mx.cpu(0))
        >>> weight.reset_ctx([mx.cpu(0), mx.cpu(1)])
        >>> weight.list_ctx()
        [cpu(0), cpu(1)]
        """
        contexts = _contexts(ctx)
        if not self._data and not self._deferred_init:
            raise ValueError(f"Parameter '{self.name}' has no context to reset: call initialize first")
        if self._data:
            with autograd.pause():
                self._init_impl(self._reduce(), contexts)
        else:  # it is initialized there when its shape is known
            init, _, *rest = self._deferred_init
            self._deferred_init = (init, contexts, *rest)

    # ---- reading ----

    def _check_and_get(self, arrays, ctx):
        if arrays is None:
            raise self._why_absent()
        if ctx is list:
            return arrays
        if ctx is None:
            if len(arrays) == 1:
                return arrays[0]
            ctx = context.current_context()
        numbers = self._ctx_map[ctx.device_typeid & 1]
        place = numbers[ctx.device_id] if ctx.device_id < len(numbers) else None
        if place is not None:
            return arrays[place]
        raise RuntimeError(
            f"Parameter '{self.name}' was not initialized on context {ctx}. "
            f"It was only initialized on {self._ctx_list}. Move the data there with x.as_in_context, or initialize "
            "the network on every context it is used on: net.initialize(ctx=[…])."
        )

    def _why_absent(self):
        if self._deferred_init:
            block = f" The block that was never called is {self._owner}:" if self._owner else ""
            advice = " call it, or the network that contains it, once with a batch before this line." if block else ""
            return DeferredInitializationError(
                f"Parameter '{self.name}' has not been initialized yet because initialization was "
                "deferred. Actual initialization happens during the first forward pass. "
                "Please pass one batch of data through the network before accessing Parameters. "
                "You can also avoid deferred initialization by specifying in_units, "
                f"num_features, etc., for network layers.{block}{advice}"
            )
        return RuntimeError(
            f"Parameter '{self.name}' has not been initialized. Note that "
            "you should initialize parameters and create Trainer "
            "with Block.collect_params() instead of Block.params "
            "because the later does not include Parameters of "
            "nested child Blocks. Call initialize() on the network before its first use."
        )

    def data(self, ctx=None) -> Any:
        """The value on one context: the array itself, not a copy.

        Raises DeferredInitializationError while the shape is unknown, and RuntimeError before `initialize`.

        Parameters
        ----------
        ctx : Context, optional
            By default the only context of the parameter, or the current one if it has several.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(2,), init="ones")
        >>> weight.initialize()
        >>> weight.data().asnumpy()
        array([1., 1.], dtype=float32)
        """
        arrays = self._data
        if self._stype == "default":
            if arrays is not None and len(arrays) == 1 and (ctx is None or ctx is self._ctx_list[0]):
                return arrays[0]
        else:
            raise RuntimeError(
                f"Cannot return a copy of Parameter '{self.name}' on ctx {ctx} via data() "
                f"because its storage type is {self._stype}. Please use row_sparse_data() instead."
            )
        return self._check_and_get(arrays, ctx)

    def list_data(self):
        """The values on all contexts, a list of NDArray in the order of `list_ctx`.

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(2,), init="ones")
        >>> weight.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
        >>> [array.context for array in weight.list_data()]
        [cpu(0), cpu(1)]
        """
        if self._stype != "default":
            raise RuntimeError(
                f"Cannot return copies of Parameter '{self.name}' on all contexts via "
                f"list_data() because its storage type is {self._stype}. Please use row_sparse_data() instead."
            )
        return self._check_and_get(self._data, list)

    def row_sparse_data(self, row_id):
        """Fetch rows of a parameter with `stype="row_sparse"` on the context of `row_id`.

        Such a parameter lives in the key-value store of its Trainer, so a Trainer must exist.

        Parameters
        ----------
        row_id : NDArray
            The numbers of the rows, integers in any order.

        Returns
        -------
        NDArray
            The array of the parameter, which holds these rows.

        Examples
        --------
        >>> stored = {"stype": "row_sparse", "grad_stype": "row_sparse"}
        >>> weight = mx.gluon.Parameter("weight", shape=(4, 2), init="ones", **stored)
        >>> weight.initialize()
        >>> trainer = mx.gluon.Trainer([weight], "sgd")
        >>> weight.row_sparse_data(mx.nd.array([1, 3])).indices.asnumpy().tolist()
        [1, 3]
        """
        if self._stype != "row_sparse":
            raise RuntimeError(
                f"Cannot return a copy of Parameter {self.name} via row_sparse_data() "
                f"because its storage type is {self._stype}. Please use data() instead."
            )
        return self._get_row_sparse(self._data, row_id.ctx, row_id)

    def list_row_sparse_data(self, row_id):
        """Fetch rows of a parameter with `stype="row_sparse"` on every context.

        Parameters
        ----------
        row_id : NDArray
            The numbers of the rows, integers in any order.

        Returns
        -------
        list of NDArray
            An array for each context, in the order of `list_ctx`.

        Examples
        --------
        >>> stored = {"stype": "row_sparse", "grad_stype": "row_sparse"}
        >>> weight = mx.gluon.Parameter("weight", shape=(4, 2), init="ones", **stored)
        >>> weight.initialize()
        >>> trainer = mx.gluon.Trainer([weight], "sgd")
        >>> [rows.indices.asnumpy().tolist() for rows in weight.list_row_sparse_data(mx.nd.array([0, 2]))]
        [[0, 2]]
        """
        if self._stype != "row_sparse":
            raise RuntimeError(
                f"Cannot return copies of Parameter '{self.name}' on all contexts via "
                f"list_row_sparse_data() because its storage type is {self._stype}. Please use data() instead."
            )
        return self._get_row_sparse(self._data, list, row_id)

    def _get_row_sparse(self, arrays, ctx, row_id):
        if not isinstance(row_id, ndarray.NDArray):
            raise TypeError(f"row_id must have NDArray type, but {type(row_id)} is given")
        if not self._trainer:
            raise RuntimeError(
                f"Cannot get row_sparse data for Parameter '{self.name}' when no Trainer is created with it."
            )
        results = self._check_and_get(arrays, ctx)
        self._trainer._row_sparse_pull(self, results, row_id)
        return results

    def grad(self, ctx=None) -> Any:
        """The gradient on one context: the array that `backward` writes into.

        Parameters
        ----------
        ctx : Context, optional
            By default the only context of the parameter, or the current one if it has several.

        Returns
        -------
        NDArray

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(2,), init="ones")
        >>> weight.initialize()
        >>> with mx.autograd.record():
        ...     loss = (weight.data() * mx.nd.array([3, 4])).sum()
        >>> loss.backward()
        >>> weight.grad().asnumpy()
        array([3., 4.], dtype=float32)
        """
        return self._check_and_get(self._gradients(), ctx)

    def list_grad(self):
        """The gradients on all contexts, a list of NDArray in the order of `list_ctx`.

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(2,))
        >>> weight.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
        >>> [grad.asnumpy().tolist() for grad in weight.list_grad()]
        [[0.0, 0.0], [0.0, 0.0]]
        """
        return self._check_and_get(self._gradients(), list)

    def _gradients(self):
        if self._data is not None and self._grad is None:
            raise RuntimeError(f"Cannot get gradient array for Parameter '{self.name}' because grad_req='null'")
        return self._grad

    def list_ctx(self):
        """The contexts that the parameter is on; while its initialization is deferred, those it will be on.

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(2,))
        >>> weight.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
        >>> weight.list_ctx()
        [cpu(0), cpu(1)]
        """
        if self._data is not None:
            return self._ctx_list
        if self._deferred_init:
            return self._deferred_init[1]
        raise RuntimeError(
            f"Parameter '{self.name}' has not been initialized. Call initialize() on the network before its first use."
        )

    def _reduce(self):
        """The value on the CPU: the mean over the contexts, or all rows of a sparse parameter."""
        if self._stype != "default":
            rows = ndarray.arange(0, self.shape[0], dtype="int64", ctx=cpu())
            data = ndarray.zeros(self.shape, stype="row_sparse", ctx=cpu())
            self._trainer._row_sparse_pull(self, data, rows, full_idx=True)
            return data
        copies = [array.copyto(cpu()) for array in self.list_data()]
        if len(copies) == 1:
            return copies[0]
        return (sum(copies) if is_np_array() else ndarray.add_n(*copies)) / len(copies)

    def _saved(self):
        """The value to write into a file: the array itself where it is the only one, and on the CPU."""
        if self._stype == "default" and len(self.list_data()) == 1:
            return self.list_data()[0].as_in_context(cpu())
        return self._reduce()

    def var(self):
        """The variable that represents this parameter in a symbolic graph, with its shape, dtype and multipliers.

        Examples
        --------
        >>> mx.gluon.Parameter("weight", shape=(2,)).var()
        <Symbol weight>
        """
        if self._var is None:
            self._var = symbol.var(
                self.name,
                shape=self.shape,
                dtype=self.dtype,
                lr_mult=self.lr_mult,
                wd_mult=self.wd_mult,
                init=self.init,
                stype=self._stype,
            )
        return self._var

    # ---- writing ----

    def set_data(self, data):
        """Set the value on all contexts.

        Before a deferred initialization has happened, the value is kept and used in place of the initializer.

        Parameters
        ----------
        data : NDArray or numpy.ndarray
            The new value, of the parameter's shape; it is cast to the parameter's dtype.

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(2,))
        >>> weight.initialize()
        >>> weight.set_data(mx.nd.array([5, 6]))
        >>> weight.data().asnumpy()
        array([5., 6.], dtype=float32)
        """
        self.shape = data.shape
        if self._data is None:
            assert self._deferred_init, f"Parameter '{self.name}' has not been initialized"
            self._deferred_init = (*self._deferred_init[:3], data)
            return
        trainer = self._trainer
        if trainer and trainer._kv_initialized and trainer._update_on_kvstore and self not in trainer._params_to_init:
            trainer._reset_kvstore()  # the store holds a copy of the old value
        for array in self._data:
            array[:] = data

    def zero_grad(self):
        """Set the gradients on all contexts to zero; needed with `grad_req="add"`. Without gradients nothing happens.

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(2,), init="ones", grad_req="add")
        >>> weight.initialize()
        >>> for _ in range(2):
        ...     with mx.autograd.record():
        ...         loss = weight.data().sum()
        ...     loss.backward()
        >>> weight.grad().asnumpy()
        array([2., 2.], dtype=float32)
        >>> weight.zero_grad()
        >>> weight.grad().asnumpy()
        array([0., 0.], dtype=float32)
        """
        for grad in self._grad or ():
            ndarray.zeros_like(grad, out=grad)

    def cast(self, dtype):
        """Convert value and gradient to another type.

        Parameters
        ----------
        dtype : numpy.dtype or str
            Type of the elements from now on.

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(2,))
        >>> weight.initialize()
        >>> weight.cast("float16")
        >>> weight.data().dtype
        <class 'numpy.float16'>
        """
        self._dtype = dtype
        self._var = None
        if self._data is None:
            return
        with autograd.pause():
            self._data = [array.astype(dtype) for array in self._data]
            if self._grad is not None:
                self._grad = [array.astype(dtype) for array in self._grad]
                autograd.mark_variables(self._data, self._grad, self.grad_req)

    def _set_trainer(self, trainer):
        if self._stype != "default" and self._trainer and trainer and self._trainer is not trainer:
            raise RuntimeError(
                f"Failed to set the trainer for Parameter '{self.name}' because it was already set. "
                f"More than one trainers for a {self._stype} Parameter is not supported."
            )
        self._trainer = trainer


def _contexts(ctx):
    """A list of contexts out of one, several, or none (the current one)."""
    if ctx is None:
        return [context.current_context()]
    if isinstance(ctx, Context):
        return [ctx]
    if isinstance(ctx, Iterable) and not isinstance(ctx, str):
        return ctx
    kind = AttributeError if isinstance(ctx, str) else TypeError  # MXNet's, which fails to find a device in it
    raise kind(f"ctx must be a Context or a list of them, such as mx.cpu() or [mx.gpu(0), mx.gpu(1)], got {ctx!r}")


def places(contexts):
    """Where the array of each device is: for GPUs and for CPUs, pinned and shared memory too, by their numbers.

    Libraries read this to put arrays of their own in a parameter's place (MXFusion, Xfer), so it has MXNet's form.
    """
    found = [[], []]
    for i, ctx in enumerate(contexts):
        numbers = found[ctx.device_typeid & 1]
        numbers.extend([None] * (ctx.device_id + 1 - len(numbers)))
        numbers[ctx.device_id] = i
    return found
