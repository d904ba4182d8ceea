"""`BucketingModule`: one module for each length of input, all sharing parameters."""

import functools
import logging
from typing import Any

import numpy as np

from .. import context as ctx
from .. import ndarray as nd
from .. import symbol as sym
from .._training.checkpoint import load_params, one_checkpoint, params_file
from ..initializer import Uniform
from ..name import NameManager
from .base_module import NOT_READY, BaseModule, _check_input_names
from .module import Module, ParameterModule, _names


def _of_current(described):
    """A property of the current bucket's module, named and described as the given one."""

    def read(self):
        self._assert_bound()
        return getattr(self._curr_module, described.fget.__name__)

    return property(read, doc=described.__doc__)


def _passed_on(method):
    """A method that calls that of the current bucket's module."""

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        self._assert_ready()
        return getattr(self._curr_module, method.__name__)(*args, **kwargs)

    return call


def _require(call, **arguments):
    for name, value in arguments.items():
        assert value is not None, f"{name} is required for BucketingModule.{call}"


class BucketingModule(ParameterModule):
    """A module for inputs of several lengths: one module for each length, a bucket, all with the same parameters.

    Each batch tells its bucket by `bucket_key`.

    Parameters
    ----------
    sym_gen : callable
        Takes a bucket's key and returns its symbol, data names and label names.
    default_bucket_key : object
        Key of the largest bucket. It is bound first, and the others share its memory.
    logger, context, work_load_list, fixed_param_names, state_names, group2ctxs, compression_params
        As for :class:`Module`.

    Examples
    --------
    >>> def network(length):
    ...     data = mx.sym.var("data").sum(axis=1, keepdims=True)
    ...     out = mx.sym.FullyConnected(data, num_hidden=2, name="fc")
    ...     return mx.sym.SoftmaxOutput(out, name="softmax"), ["data"], ["softmax_label"]
    >>> mod = mx.mod.BucketingModule(network, default_bucket_key=8)
    >>> mod.bind([("data", (2, 8))], [("softmax_label", (2,))])
    >>> mod.init_params()
    >>> data = [mx.nd.ones((2, 4))]
    >>> mod.forward(mx.io.DataBatch(data, [mx.nd.zeros((2,))], bucket_key=4,
    ...     provide_data=[("data", (2, 4))], provide_label=[("softmax_label", (2,))]))
    >>> mod.get_outputs()[0].shape
    (2, 2)
    """

    def __init__(
        self,
        sym_gen,
        default_bucket_key=None,
        logger=logging,
        context=ctx.cpu(),
        work_load_list=None,
        fixed_param_names=None,
        state_names=None,
        group2ctxs=None,
        compression_params=None,
    ):
        super().__init__(logger=logger)
        assert default_bucket_key is not None, "give default_bucket_key, that of the largest bucket"
        self._default_bucket_key = default_bucket_key
        self._sym_gen = sym_gen
        self._fixed_param_names, self._state_names = _names(fixed_param_names), _names(state_names)
        self._compression_params = compression_params
        self._context = context
        self._work_load_list = work_load_list
        self._group2ctxs = group2ctxs
        self._buckets, self._curr_module, self._curr_bucket_key = {}, None, None
        self._monitor = self._grad_req = None
        self._check_names()

    def _check_names(self):
        symbol, data_names, label_names = self._call_sym_gen(self._default_bucket_key)
        _check_input_names(symbol, _names(data_names), "data", True)
        _check_input_names(symbol, _names(label_names), "label", False)
        _check_input_names(symbol, self._state_names, "state", True)
        _check_input_names(symbol, self._fixed_param_names, "fixed_param", True)

    def _reset_bind(self):
        super()._reset_bind()
        self._buckets, self._curr_module, self._curr_bucket_key = {}, None, None

    def _call_sym_gen(self, *args, **kwargs):
        """Every bucket's symbol counts its names from the start, so that parameters are called the same."""
        with NameManager():
            return self._sym_gen(*args, **kwargs)

    def _make_module(self, bucket_key):
        symbol, data_names, label_names = self._call_sym_gen(bucket_key)
        return Module(
            symbol,
            data_names,
            label_names,
            logger=self.logger,
            context=self._context,
            work_load_list=self._work_load_list,
            fixed_param_names=self._fixed_param_names,
            state_names=self._state_names,
            group2ctxs=self._group2ctxs,
            compression_params=self._compression_params,
        )

    # ------------------------------------------------------------------ what it is
    @property
    def data_names(self):
        if self.binded:
            return self._curr_module.data_names
        return self._call_sym_gen(self._default_bucket_key)[1]

    @property
    def output_names(self):
        if self.binded:
            return self._curr_module.output_names
        return self._call_sym_gen(self._default_bucket_key)[0].list_outputs()

    data_shapes, label_shapes, output_shapes, symbol = map(
        _of_current, (BaseModule.data_shapes, BaseModule.label_shapes, BaseModule.output_shapes, BaseModule.symbol)
    )

    # ------------------------------------------------------------------ parameters
    def get_params(self):
        assert self.params_initialized, NOT_READY
        current, self._curr_module._params_dirty = self._curr_module, self._params_dirty
        self._params_dirty = False
        return current.get_params()

    def _overwrite_params(self, arg_params, aux_params, force_init, allow_extra):
        self._curr_module.set_params(arg_params, aux_params, True, force_init, allow_extra)

    def init_params(
        self,
        initializer: Any = Uniform(0.01),
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        if force_init or not self.params_initialized:
            self._assert_bound()
            self._curr_module.init_params(initializer, arg_params, aux_params, allow_missing, force_init, allow_extra)
            self._params_dirty, self.params_initialized = False, True

    # ------------------------------------------------------------------ setup
    def bind(
        self,
        data_shapes,
        label_shapes=None,
        for_training=True,
        inputs_need_grad=False,
        force_rebind=False,
        shared_module=None,
        grad_req="write",
    ):
        """Bind the default bucket; the others follow when they are needed."""
        params = self.get_params() if self.params_initialized else None
        if not self._begin_bind(force_rebind, for_training, inputs_need_grad):
            return
        assert shared_module is None, "the buckets share parameters among themselves only: shared_module must be None"
        self.binded, self._grad_req = True, grad_req
        key = self._default_bucket_key
        module = self._buckets.get(key) or self._make_module(key)
        module.bind(data_shapes, label_shapes, for_training, inputs_need_grad, grad_req=grad_req)
        self._curr_module, self._curr_bucket_key = module, key
        self._buckets[key] = module
        if params is not None:
            self.set_params(*params)

    def switch_bucket(self, bucket_key, data_shapes, label_shapes=None):
        """Use the module of a bucket from now on; it is made and bound at its first use. `forward` calls it for each
        batch.

        Parameters
        ----------
        bucket_key : int or tuple
            The key of the bucket, which `sym_gen` takes.
        data_shapes, label_shapes : list of DataDesc or of (str, tuple)
            Names and shapes of inputs and labels, as for `bind`.

        Examples
        --------
        >>> def sym_gen(length):
        ...     return mx.sym.var("data") * length, ["data"], None
        >>> mod = mx.mod.BucketingModule(sym_gen, default_bucket_key=8)
        >>> mod.bind([("data", (2, 8))], for_training=False)
        >>> mod.init_params()
        >>> mod.switch_bucket(4, [("data", (2, 4))])
        >>> mod.data_shapes[0].shape
        (2, 4)
        """
        assert self.binded, "call bind before switching bucket"
        module = self._buckets.get(bucket_key)
        known = module is not None
        if not known:
            module = self._make_module(bucket_key)
        if not module.binded:
            module.bind(
                data_shapes,
                label_shapes,
                self._curr_module.for_training,
                self._curr_module.inputs_need_grad,
                shared_module=self._buckets[self._default_bucket_key],
                grad_req=self._grad_req,
            )
            if not known and self._monitor is not None:
                module.install_monitor(self._monitor)
        self._buckets[bucket_key] = self._curr_module = module  # now that it could be bound
        self._curr_bucket_key = bucket_key

    def init_optimizer(
        self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), force_init=False
    ):
        if self._keeps_optimizer(force_init):
            return
        owner = self._curr_module
        owner.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
        for other in set(self._buckets.values()) - {owner}:
            other.borrow_optimizer(owner)
        self.optimizer_initialized = True

    # ------------------------------------------------------------------ computing
    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Bind the batch's bucket, then return to the current one."""
        self._assert_ready()
        current = self._curr_bucket_key
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._curr_module.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        self.switch_bucket(current, None, None)

    def forward(self, data_batch, is_train=None):
        self._assert_ready()
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._curr_module.forward(data_batch, is_train=is_train)

    def update(self):
        self._assert_ready(optimizer=True)
        self._params_dirty = True
        self._curr_module.update()

    backward, get_outputs, update_metric, get_states, set_states = map(
        _passed_on,
        (
            BaseModule.backward,
            BaseModule.get_outputs,
            BaseModule.update_metric,
            BaseModule.get_states,
            BaseModule.set_states,
        ),
    )

    def get_input_grads(self, merge_multi_context=True):
        self._assert_input_grads()
        return self._curr_module.get_input_grads(merge_multi_context)

    def install_monitor(self, mon):
        self._assert_bound()
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)

    # ------------------------------------------------------------------ files
    def save_checkpoint(self, prefix, epoch, remove_amp_cast=False):
        """Write the parameters and the symbol of every bucket that was used.

        Parameters
        ----------
        prefix : str
            Beginning of the file names.
        epoch : int
            Number of the checkpoint.
        remove_amp_cast : bool, default False
            Whether casts of mixed precision are removed from the symbols.

        Examples
        --------
        >>> def sym_gen(length):
        ...     return mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), ["data"], None
        >>> mod = mx.mod.BucketingModule(sym_gen, default_bucket_key=8)
        >>> mod.bind([("data", (2, 8))])
        >>> mod.init_params()
        >>> mod.save_checkpoint("buckets", 1)
        """
        assert len(self._buckets) > 0, "Empty BucketingModule cannot be saved"
        with one_checkpoint(prefix, epoch):
            self.save_params(params_file(prefix, epoch))
            for key in self._buckets:
                self._sym_gen(key)[0].save(f"{prefix}-{key}-symbol.json", remove_amp_cast=remove_amp_cast)
            nd.save(f"{prefix}.buckets", nd.array(list(self._buckets.keys()), dtype=np.int32))

    @staticmethod
    def load(prefix, epoch, sym_gen=None, default_bucket_key=None, **kwargs):
        """A module from the files that `save_checkpoint` wrote.

        Parameters
        ----------
        prefix : str
            Beginning of the file names.
        epoch : int
            Number of the checkpoint.
        sym_gen, default_bucket_key
            As for the class.
        **kwargs
            Further arguments of the class.

        Returns
        -------
        BucketingModule

        Examples
        --------
        >>> def sym_gen(length):
        ...     return mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), ["data"], None
        >>> mod = mx.mod.BucketingModule(sym_gen, default_bucket_key=8)
        >>> mod.bind([("data", (2, 8))])
        >>> mod.init_params()
        >>> mod.save_checkpoint("buckets", 1)
        >>> again = mx.mod.BucketingModule.load("buckets", 1, sym_gen=sym_gen, default_bucket_key=8)
        >>> again.bind([("data", (2, 8))], for_training=False)
        """
        _require("load", sym_gen=sym_gen, default_bucket_key=default_bucket_key)
        params = load_params(prefix, epoch)
        keys = nd.load(f"{prefix}.buckets")[0].asnumpy().astype("int32").tolist()
        symbols = {key: sym.load(f"{prefix}-{key}-symbol.json") for key in keys}
        module = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        module._take(symbols, sym_gen, params, kwargs)
        return module

    @staticmethod
    def load_dict(sym_dict=None, sym_gen=None, default_bucket_key=None, arg_params=None, aux_params=None, **kwargs):
        """A module from symbols and parameters.

        Parameters
        ----------
        sym_dict : dict of object to Symbol
            Symbol of each bucket.
        sym_gen, default_bucket_key
            As for the class.
        arg_params, aux_params : dict of str to NDArray
            Parameters and auxiliary states by name.
        **kwargs
            Further arguments of the class.

        Returns
        -------
        BucketingModule

        Examples
        --------
        >>> def sym_gen(length):
        ...     return mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), ["data"], None
        >>> parameters = {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}
        >>> symbols = {8: sym_gen(8)[0]}
        >>> mod = mx.mod.BucketingModule.load_dict(
        ...     sym_dict=symbols, sym_gen=sym_gen, default_bucket_key=8, arg_params=parameters, aux_params={}
        ... )
        >>> mod.bind([("data", (2, 3))], for_training=False)
        """
        given = {"sym_dict": sym_dict, "arg_params": arg_params, "aux_params": aux_params}
        _require("load_dict", **given, default_bucket_key=default_bucket_key)
        module = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        module._take(sym_dict, sym_gen, (arg_params, aux_params), kwargs)
        return module

    def _take(self, symbols, sym_gen, params, kwargs):
        for key, symbol in symbols.items():
            _, data_names, label_names = sym_gen(key)
            self._buckets[key] = Module(symbol, data_names, label_names, **kwargs)
        self._curr_module = self._buckets[self._default_bucket_key]
        self._curr_module._arg_params, self._curr_module._aux_params = params
        self._curr_module.params_initialized = True
        self.params_initialized = True
