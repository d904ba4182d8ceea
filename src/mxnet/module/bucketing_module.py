"""`BucketingModule`: one module for each length of input, all sharing parameters."""

import logging
import warnings
from typing import Any

import numpy as np

from .. import context as ctx
from .. import ndarray as nd
from .. import symbol as sym
from .._training.checkpoint import load_params, one_checkpoint, params_file
from ..initializer import Uniform
from ..name import NameManager
from .base_module import NO_INPUT_GRADS, NOT_READY, BaseModule, _check_input_names
from .module import Module, _names


class BucketingModule(BaseModule):
    """`sym_gen(bucket_key)` gives (symbol, data names, label names) for each bucket.

    `default_bucket_key` is the bucket that is bound first, the largest, whose memory the others share; each batch says
    its bucket in `bucket_key`. The other arguments are those of `Module`.
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
        self._check_names()
        self._buckets = {}
        self._curr_module = None
        self._curr_bucket_key = None
        self._params_dirty = False
        self._monitor = None
        self._grad_req = None

    def _check_names(self):
        symbol, data_names, label_names = self._call_sym_gen(self._default_bucket_key)
        _check_input_names(symbol, _names(data_names), "data", True)
        _check_input_names(symbol, _names(label_names), "label", False)
        _check_input_names(symbol, self._state_names, "state", True)
        _check_input_names(symbol, self._fixed_param_names, "fixed_param", True)

    def _reset_bind(self):
        self.binded = False
        self._buckets = {}
        self._curr_module = None
        self._curr_bucket_key = None

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

    @property
    def data_shapes(self):
        assert self.binded, NOT_READY
        return self._curr_module.data_shapes

    @property
    def label_shapes(self):
        assert self.binded, NOT_READY
        return self._curr_module.label_shapes

    @property
    def output_shapes(self):
        assert self.binded, NOT_READY
        return self._curr_module.output_shapes

    @property
    def symbol(self):
        assert self.binded, NOT_READY
        return self._curr_module.symbol

    # ------------------------------------------------------------------ parameters
    def get_params(self):
        assert self.params_initialized, NOT_READY
        self._curr_module._params_dirty = self._params_dirty
        params = self._curr_module.get_params()
        self._params_dirty = False
        return params

    def set_params(self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False):
        if not allow_missing:
            super().set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
            return
        if self.params_initialized and not force_init:
            warnings.warn("Parameters already initialized and force_init=False. set_params call ignored.", stacklevel=2)
            return
        self._curr_module.set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
        self._params_dirty = True
        self.params_initialized = True

    def init_params(
        self,
        initializer: Any = Uniform(0.01),
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        if self.params_initialized and not force_init:
            return
        assert self.binded, "call bind before initializing the parameters"
        self._curr_module.init_params(initializer, arg_params, aux_params, allow_missing, force_init, allow_extra)
        self._params_dirty = False
        self.params_initialized = True

    def get_states(self, merge_multi_context=True):
        assert self.binded and self.params_initialized, NOT_READY
        return self._curr_module.get_states(merge_multi_context=merge_multi_context)

    def set_states(self, states=None, value=None):
        assert self.binded and self.params_initialized, NOT_READY
        self._curr_module.set_states(states, value)

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
        if force_rebind:
            self._reset_bind()
        if self.binded:
            self.logger.warning("Already bound, ignoring bind()")
            return
        assert shared_module is None, "shared_module for BucketingModule is not supported"
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self.binded = True
        self._grad_req = grad_req
        key = self._default_bucket_key
        module = self._buckets.get(key) or self._make_module(key)
        module.bind(data_shapes, label_shapes, for_training, inputs_need_grad, grad_req=grad_req)
        self._curr_module, self._curr_bucket_key = module, key
        self._buckets[key] = module
        if params is not None:
            self.set_params(*params)

    def switch_bucket(self, bucket_key, data_shapes, label_shapes=None):
        """Make `bucket_key` the current bucket, binding it if it is new."""
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
        assert self.binded and self.params_initialized, NOT_READY
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        self._curr_module.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
        for module in self._buckets.values():
            if module is not self._curr_module:
                module.borrow_optimizer(self._curr_module)
        self.optimizer_initialized = True

    # ------------------------------------------------------------------ computing
    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Bind the batch's bucket, then return to the current one."""
        assert self.binded and self.params_initialized, NOT_READY
        current = self._curr_bucket_key
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._curr_module.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        self.switch_bucket(current, None, None)

    def forward(self, data_batch, is_train=None):
        assert self.binded and self.params_initialized, NOT_READY
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data, data_batch.provide_label)
        self._curr_module.forward(data_batch, is_train=is_train)

    def backward(self, out_grads=None):
        assert self.binded and self.params_initialized, NOT_READY
        self._curr_module.backward(out_grads=out_grads)

    def update(self):
        assert self.binded and self.params_initialized and self.optimizer_initialized, NOT_READY
        self._params_dirty = True
        self._curr_module.update()

    def get_outputs(self, merge_multi_context=True):
        assert self.binded and self.params_initialized, NOT_READY
        return self._curr_module.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        assert self.binded and self.params_initialized and self.inputs_need_grad, NO_INPUT_GRADS
        return self._curr_module.get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        assert self.binded and self.params_initialized, NOT_READY
        self._curr_module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        assert self.binded, NOT_READY
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)

    # ------------------------------------------------------------------ files
    def save_checkpoint(self, prefix, epoch, remove_amp_cast=False):
        """Write the parameters, the symbol of each bucket, and the list of buckets."""
        assert len(self._buckets) > 0, "Empty BucketingModule cannot be saved"
        with one_checkpoint(prefix, epoch):
            self.save_params(params_file(prefix, epoch))
            for key in self._buckets:
                self._sym_gen(key)[0].save(f"{prefix}-{key}-symbol.json", remove_amp_cast=remove_amp_cast)
            nd.save(f"{prefix}.buckets", nd.array(list(self._buckets.keys()), dtype=np.int32))

    @staticmethod
    def load(prefix, epoch, sym_gen=None, default_bucket_key=None, **kwargs):
        """A module from what `save_checkpoint` wrote."""
        assert sym_gen is not None, "sym_gen is required for loading BucketingModule"
        assert default_bucket_key is not None, "default_bucket_key is required for loading BucketingModule"
        params = load_params(prefix, epoch)
        keys = nd.load(f"{prefix}.buckets")[0].asnumpy().astype("int32").tolist()
        symbols = {key: sym.load(f"{prefix}-{key}-symbol.json") for key in keys}
        module = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        module._take(symbols, sym_gen, params, kwargs)
        return module

    @staticmethod
    def load_dict(sym_dict=None, sym_gen=None, default_bucket_key=None, arg_params=None, aux_params=None, **kwargs):
        """A module from symbols by bucket key, and parameters."""
        assert sym_dict is not None, "sym_dict needs to be provided for BucketingModule.load_dict"
        assert arg_params is not None, "arg_params need to be provided for BucketingModule.load_dict"
        assert aux_params is not None, "aux_params need to be provided for BucketingModule.load_dict"
        assert default_bucket_key is not None, "default_bucket_key needs to be provided for BucketingModule.load_dict"
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
