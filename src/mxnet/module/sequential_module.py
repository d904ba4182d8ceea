"""`SequentialModule`: modules in a row, each fed with the outputs of the one before."""

import copy
import logging
from typing import Any

from ..initializer import Uniform
from .base_module import BaseModule


class SequentialModule(BaseModule):
    """Modules in a row: the outputs of each are the inputs of the next.

    Parameters
    ----------
    logger : logging.Logger or module
        Where warnings are logged.

    Examples
    --------
    >>> features = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), label_names=None)
    >>> loss = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax"))
    >>> net = mx.mod.SequentialModule().add(features).add(loss, take_labels=True, auto_wiring=True)
    >>> data = mx.io.NDArrayIter(np.ones((4, 3)), np.zeros(4), batch_size=2)
    >>> net.fit(data, num_epoch=1)
    >>> net.predict(data).shape
    (4, 2)
    """

    META_TAKE_LABELS = "take_labels"
    META_AUTO_WIRING = "auto_wiring"
    _meta_keys = frozenset({META_TAKE_LABELS, META_AUTO_WIRING})

    def __init__(self, logger=logging):
        super().__init__(logger=logger)
        self._modules, self._metas = [], []
        self._data_shapes = self._label_shapes = None

    def add(self, module, **kwargs):
        """Append a module.

        Parameters
        ----------
        module : BaseModule
            The next module.
        take_labels : bool
            Whether it gets the labels of the batch.
        auto_wiring : bool
            Whether the outputs before it are renamed to its `data_names`.

        Returns
        -------
        SequentialModule
            This object, so that calls can be chained.

        Examples
        --------
        >>> mod = mx.mod.SequentialModule()
        >>> _ = mod.add(mx.mod.Module(mx.sym.var("data") * 2, label_names=None))
        >>> _ = mod.add(mx.mod.Module(mx.sym.var("data") + 1, label_names=None), auto_wiring=True)
        >>> mod.bind([("data", (1, 2))], for_training=False)
        >>> mod.init_params()
        >>> mod.forward(mx.io.DataBatch([mx.nd.array([[3, 4]])]))
        >>> mod.get_outputs()[0].asnumpy()
        array([[7., 9.]], dtype=float32)
        """
        self._modules.append(module)
        for key in kwargs:
            assert key in self._meta_keys, f'Unknown meta "{key}", a typo?'
        self._metas.append(kwargs)
        self.binded = self.params_initialized = self.optimizer_initialized = False
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
        self._assert_bound()
        return self._modules[0].data_shapes

    @property
    def label_shapes(self):
        self._assert_bound()
        return self._label_shapes

    @property
    def output_shapes(self):
        self._assert_bound()
        return self._modules[-1].output_shapes

    # ------------------------------------------------------------------ parameters
    def get_params(self):
        self._assert_ready()
        found = [module.get_params() for module in self._modules]
        return tuple({name: array for pair in found for name, array in pair[kind].items()} for kind in (0, 1))

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
        self._assert_bound()
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
        if not self._begin_bind(force_rebind, for_training, inputs_need_grad):
            return
        assert for_training or not inputs_need_grad, "gradients of inputs need for_training=True"
        assert shared_module is None, "Shared module is not supported"
        assert len(self._modules) > 0, "Attempting to bind an empty SequentialModule"
        self.binded = True
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
        if self._keeps_optimizer(force_init):
            return
        for module in self._modules:
            module.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
        self.optimizer_initialized = True

    # ------------------------------------------------------------------ computing
    def forward(self, data_batch, is_train=None):
        self._assert_ready()
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
        self._assert_ready()
        for module in reversed(self._modules):
            module.backward(out_grads=out_grads)
            if module is not self._modules[0]:
                out_grads = module.get_input_grads()

    def update(self):
        self._assert_ready(optimizer=True)
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context=True):
        self._assert_ready()
        return self._modules[-1].get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        self._assert_input_grads()
        return self._modules[0].get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        self._assert_ready()
        for meta, module in zip(self._metas, self._modules, strict=True):
            if meta.get(self.META_TAKE_LABELS, False):
                module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        self._assert_bound()
        for module in self._modules:
            module.install_monitor(mon)
