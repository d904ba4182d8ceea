"""`SVRGModule`: a Module with a second one that holds the weights of some epochs ago, to steady the gradients."""

import logging

from ... import context as ctx
from ... import optimizer as opt
from ..._training.updates import create_kvstore, index_names
from ...module import Module
from ...ndarray import zeros
from .svrg_optimizer import _SVRGOptimizer


def _check_frequency(update_freq):
    rule = "update_freq in SVRGModule must be {} integer to represent the frequency for calculating full gradients"
    if not isinstance(update_freq, int):
        raise TypeError(rule.format("an"))
    if update_freq <= 0:
        raise ValueError(rule.format("a positive"))
    return update_freq


class SVRGModule(Module):
    """A Module trained by variance-reduced gradients (SVRG).

    Parameters
    ----------
    symbol : Symbol
        The network.
    data_names : list of str, default ('data',)
        The names of the inputs.
    label_names : list of str, default ('softmax_label',)
        The names of the labels.
    logger : logging.Logger, default logging
        Where progress is logged.
    context : Context or list of Contexts, default ctx.cpu()
        The devices.
    work_load_list : list of float, optional
        The share of each device.
    fixed_param_names : list of str, optional
        Parameters that are not trained.
    state_names : list of str, optional
        Inputs that are states.
    group2ctxs : dict of str to Context, optional
        The devices of nodes with a `ctx_group`.
    compression_params : dict, optional
        How gradients are compressed between workers.
    update_freq : int, optional
        The number of epochs between two full gradients.

    Examples
    --------
    >>> from mxnet.contrib.svrg_optimization.svrg_module import SVRGModule
    >>> net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
    >>> module = SVRGModule(net, update_freq=2)
    >>> batches = mx.io.NDArrayIter(np.ones((4, 3)), np.zeros(4), batch_size=2)
    >>> module.fit(batches, num_epoch=1, optimizer_params={"learning_rate": 0.1})
    """

    def __init__(
        self,
        symbol,
        data_names=("data",),
        label_names=("softmax_label",),
        logger=logging,
        context=ctx.cpu(),
        work_load_list=None,
        fixed_param_names=None,
        state_names=None,
        group2ctxs=None,
        compression_params=None,
        update_freq=None,
    ):
        same = (logger, context, work_load_list, fixed_param_names, state_names, group2ctxs, compression_params)
        super().__init__(symbol, data_names, label_names, *same)
        self.update_freq = _check_frequency(update_freq)
        self._mod_aux = Module(symbol, data_names, label_names, *same)
        self._param_dict = None
        self._ctx_len = len(self._context)

    # ------------------------------------------------------------------ setup
    def _reset_bind(self):
        super()._reset_bind()
        self._mod_aux._reset_bind()

    def reshape(self, data_shapes, label_shapes=None):
        """Both modules take inputs of other shapes from now on."""
        super().reshape(data_shapes, label_shapes=label_shapes)
        self._mod_aux.reshape(data_shapes, label_shapes=label_shapes)

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
        """Bind this module, and for training the one with the old weights."""
        options = (for_training, inputs_need_grad, force_rebind, shared_module, grad_req)
        super().bind(data_shapes, label_shapes, *options)
        if for_training:
            self._mod_aux.bind(data_shapes, label_shapes, *options)

    def init_optimizer(
        self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), force_init=False
    ):
        """Install the optimizer; a store gets a second key for each parameter, for its full gradient."""
        arg_params = self.get_params()[0]
        self._param_dict = [{k: zeros(v.shape, ctx=c) for k, v in arg_params.items()} for c in self._context]
        svrg = self._create_optimizer(_SVRGOptimizer.__name__, optimizer, kvstore, optimizer_params)
        super().init_optimizer(kvstore, svrg, optimizer_params, force_init)
        for name in self._exec_group.param_names if self._kvstore else ():
            self._kvstore.init(f"{name}_full", zeros(arg_params[name].shape))

    def _create_optimizer(self, optimizer, default_opt, kvstore, optimizer_params):
        """The optimizer that tells parameters from full gradients by their names."""
        store, on_store = create_kvstore(kvstore, self._ctx_len, self._arg_params)
        batch_size = self._exec_group.batch_size
        if store and "dist" in store.type and "_sync" in store.type:
            batch_size *= store.num_workers
        names = index_names(self._exec_group.param_names, self._ctx_len, on_store)
        names.update(enumerate((f"{key}_full" for key in self._param_dict[0]), max(names) + 1))
        options = {"rescale_grad": 1.0 / batch_size, **dict(optimizer_params)}
        return opt.create(optimizer, default_optimizer=default_opt, param_idx2name=names, **options)

    # ------------------------------------------------------------------ computing
    def forward(self, data_batch, is_train=None):
        """Forward of both modules; of this one alone when not training."""
        super().forward(data_batch, is_train)
        if is_train:
            self._mod_aux.forward(data_batch, is_train)

    def backward(self, out_grads=None):
        """Gradients under the weights of now and under the old ones."""
        super().backward(out_grads)
        if self._mod_aux.binded:
            self._mod_aux.backward(out_grads)

    def update(self):
        """Update the parameters by the variance-reduced gradients."""
        self._update_svrg_gradients()
        super().update()

    def _update_svrg_gradients(self):
        for index, name in enumerate(self._exec_group.param_names):
            for device in range(self._ctx_len):
                old = self._mod_aux._exec_group.grad_arrays[index][device]
                grad = self._exec_group.grad_arrays[index][device]
                if grad is not None:
                    grad[:] = self._svrg_grads_update_rule(grad, old, self._param_dict[device][name])

    @staticmethod
    def _svrg_grads_update_rule(grad, old_grad, full_grad):
        """The batch's gradient, without what the old weights say of the batch, plus what they say of all data."""
        return grad - old_grad + full_grad

    def update_full_grads(self, train_data):
        """Keep the present weights as the snapshot, and compute their mean gradient over all the data.

        `fit` calls it every `update_freq` epochs.

        Parameters
        ----------
        train_data : DataIter
            The training data.

        Examples
        --------
        >>> from mxnet.contrib.svrg_optimization.svrg_module import SVRGModule
        >>> data = mx.io.NDArrayIter(np.ones((4, 3)), np.ones((4, 1)), batch_size=2, label_name="out_label")
        >>> net = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1), name="out")
        >>> mod = SVRGModule(net, label_names=["out_label"], update_freq=1)
        >>> mod.bind(data.provide_data, data.provide_label)
        >>> mod.init_params()
        >>> mod.init_optimizer()
        >>> mod.update_full_grads(data)
        """
        train_data.reset()
        self._average_gradients(train_data)

    def _average_gradients(self, train_data):
        self._mod_aux.set_params(*self.get_params())
        batches = 0
        for batch in train_data:
            self._mod_aux.forward(batch, is_train=True)
            self._mod_aux.backward()
            self._add_gradients()
            batches += 1 - (batch.pad or 0) / train_data.batch_size
        for name in self._exec_group.param_names:
            for averages in self._param_dict:
                averages[name] /= batches
            if self._kvstore:
                self._accumulate_kvstore(name, [averages[name] for averages in self._param_dict])

    def _add_gradients(self):
        """Sums go on from the last average, as MXNet's do."""
        for index, name in enumerate(self._exec_group.param_names):
            for device, sums in enumerate(self._param_dict):
                grad = self._mod_aux._exec_group.grad_arrays[index][device]
                if grad is not None:
                    sums[name] = sums[name] + grad

    def _accumulate_kvstore(self, key, value):
        """The average over all workers and devices, through the store."""
        self._kvstore.push(f"{key}_full", value)
        self._kvstore._barrier()
        self._kvstore.pull(f"{key}_full", value)
        self._allocate_gradients(key, value)

    def _allocate_gradients(self, key, value):
        for averages, summed in zip(self._param_dict, value, strict=True):
            averages[key] = summed / self._ctx_len

    def fit(self, train_data, *args, **kwargs):
        """As `Module.fit`; the data are read once more in the epochs that compute the full gradient."""
        train_data.reset()
        return super().fit(train_data, *args, **kwargs)

    def _train_epoch(self, epoch, train_data, *args):
        if epoch % self.update_freq == 0:
            self._average_gradients(train_data)
            train_data.reset()
        return super()._train_epoch(epoch, train_data, *args)

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Make both modules ready for a batch."""
        super().prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        self._mod_aux.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
