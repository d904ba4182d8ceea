"""`SequentialModule`: modules in a row, each fed with the outputs of the one before."""

import copy
import logging
from typing import Any

from ..initializer import Uniform
from .base_module import NO_INPUT_GRADS, NOT_READY, BaseModule


class SequentialModule(BaseModule):
    """Add modules with `add(module, take_labels=…, auto_wiring=…)`."""

    META_TAKE_LABELS = "take_labels"
    META_AUTO_WIRING = "auto_wiring"

    def __init__(self, logger=logging):
        super().__init__(logger=logger)
        self._modules = []
        self._metas = []
        self._label_shapes = None
        self._data_shapes = None
        self._meta_keys = {getattr(self, name) for name in dir(SequentialModule) if name.startswith("META_")}

    def add(self, module, **kwargs):
        """Append a module: does it take the labels, are its inputs renamed to fit? Returns self."""
        self._modules.append(module)
        for key in kwargs:
            assert key in self._meta_keys, f'Unknown meta "{key}", a typo?'
        self._metas.append(kwargs)
        self.binded = False
        self.params_initialized = False
        self.optimizer_initialized = False
        return self

    # ------------------------------------------------------------------ what it is
    @property
    def data_names(self):
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self):
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self):
        assert self.binded, NOT_READY
        return self._modules[0].data_shapes

    @property
    def label_shapes(self):
        assert self.binded, NOT_READY
        return self._label_shapes

    @property
    def output_shapes(self):
        assert self.binded, NOT_READY
        return self._modules[-1].output_shapes

    # ------------------------------------------------------------------ parameters
    def get_params(self):
        assert self.binded and self.params_initialized, NOT_READY
        args, auxs = {}, {}
        for module in self._modules:
            arg, aux = module.get_params()
            args.update(arg)
            auxs.update(aux)
        return args, auxs

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
        owners = {}
        for layer, module in enumerate(self._modules):
            module.init_params(initializer, arg_params, aux_params, allow_missing, force_init, allow_extra)
            for kind, params in zip(("arg", "aux"), module.get_params(), strict=True):
                for name in params:
                    self._check_name(owners, (kind, name), layer)
        self.params_initialized = True

    def _check_name(self, owners, key, layer):
        assert key not in owners, (
            f'Duplicated parameter names: name "{key[1]}" in layer {layer} ({type(self._modules[layer])}) is already '
            f"used in layer {owners[key]} ({type(self._modules[owners[key]])})."
        )
        owners[key] = layer

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
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        assert for_training is True or not inputs_need_grad, "gradients of inputs need for_training=True"
        assert shared_module is None, "Shared module is not supported"
        assert len(self._modules) > 0, "Attempting to bind an empty SequentialModule"
        self.binded = True
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        takers = [meta.get(self.META_TAKE_LABELS, False) for meta in self._metas]
        self._label_shapes = label_shapes if any(takers) else None
        for layer, (module, meta) in enumerate(zip(self._modules, self._metas, strict=True)):
            if meta.get(self.META_AUTO_WIRING, False):
                assert len(module.data_names) == len(data_shapes), (
                    f"layer {layer} takes {module.data_names}, it is given {[x[0] for x in data_shapes]}"
                )
                data_shapes = [(n, x[1]) for n, x in zip(module.data_names, data_shapes, strict=True)]
            module.bind(
                data_shapes=data_shapes,
                label_shapes=label_shapes if takers[layer] else None,
                for_training=for_training,
                inputs_need_grad=bool(inputs_need_grad or (for_training and layer > 0)),
                force_rebind=force_rebind,
                grad_req=grad_req,
            )
            data_shapes = module.output_shapes

    def init_optimizer(
        self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), force_init=False
    ):
        assert self.binded and self.params_initialized, NOT_READY
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        for module in self._modules:
            module.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
        self.optimizer_initialized = True

    # ------------------------------------------------------------------ computing
    def forward(self, data_batch, is_train=None):
        assert self.binded and self.params_initialized, NOT_READY
        batch = copy.copy(data_batch)
        for module in self._modules[:-1]:
            module.forward(batch, is_train=is_train)
            batch.data = module.get_outputs()
            if hasattr(batch, "provide_data"):
                names = [x[0] for x in module.output_shapes]
                assert len(names) == len(batch.data)
                batch.provide_data = [(name, x.shape) for name, x in zip(names, batch.data, strict=True)]
        self._modules[-1].forward(batch, is_train=is_train)

    def backward(self, out_grads=None):
        assert self.binded and self.params_initialized, NOT_READY
        for module in reversed(self._modules):
            module.backward(out_grads=out_grads)
            if module is not self._modules[0]:
                out_grads = module.get_input_grads()

    def update(self):
        assert self.binded and self.params_initialized and self.optimizer_initialized, NOT_READY
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context=True):
        assert self.binded and self.params_initialized, NOT_READY
        return self._modules[-1].get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        assert self.binded and self.params_initialized and self.inputs_need_grad, NO_INPUT_GRADS
        return self._modules[0].get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        assert self.binded and self.params_initialized, NOT_READY
        for meta, module in zip(self._metas, self._modules, strict=True):
            if meta.get(self.META_TAKE_LABELS, False):
                module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        assert self.binded, NOT_READY
        for module in self._modules:
            module.install_monitor(mon)
