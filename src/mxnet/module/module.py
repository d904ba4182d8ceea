"""`Module`: a symbol bound to devices, with parameters and an optimizer."""

import logging
import warnings
from typing import Any

from .. import context as ctx
from .. import ndarray as nd
from .. import optimizer as opt
from .._core.errors import MXNetError
from .._formats.atomic import atomic_write
from .._training.checkpoint import load_checkpoint, one_checkpoint, params_file, states_file, symbol_file
from .._training.updates import (
    create_kvstore,
    index_names,
    indexed_weights,
    initialize_kvstore,
    load_into_store,
    update_params,
    update_params_on_kvstore,
)
from ..initializer import InitDesc, Uniform
from ..io import DataDesc
from ..ndarray import zeros
from ..optimizer import state_files
from .base_module import NOT_READY, BaseModule, _check_input_names, _parse_data_desc, shown
from .executor_group import DataParallelExecutorGroup

# What `borrow_optimizer` takes from another module.
OPTIMIZER_ATTRIBUTES = ("_optimizer", "_kvstore", "_update_on_kvstore", "_updater", "optimizer_initialized")


def _names(names):
    return [] if names is None else list(names)


def _check_shape(name, given, bound):
    if given.shape != bound.shape:
        raise MXNetError(
            f"parameter {name} has shape {given.shape} in what was given, and {bound.shape} in this network: "
            "the data was bound with other sizes, or the parameters are of another network"
        )


class ParameterModule(BaseModule):
    """Base of the modules whose parameters are on devices: `_overwrite_params` sets them there."""

    _params_dirty = False  # whether the devices have newer parameters than the CPU

    def _keeps_params(self, force_init, call):
        """Whether a call that sets the parameters has nothing to do."""
        keeps = self.params_initialized and not force_init
        if keeps:
            message = f"{call} is ignored: the parameters are initialized; force_init=True sets them again"
            warnings.warn(message, stacklevel=3)
        return keeps

    def set_params(self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False):
        if not allow_missing:
            super().set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
        elif not self._keeps_params(force_init, "set_params"):
            self._overwrite_params(arg_params, aux_params, force_init, allow_extra)
            # Parameters that were not given live on the devices alone.
            self._params_dirty = self.params_initialized = True


class Module(ParameterModule):
    """A symbol on one or several devices, with its parameters and its optimizer.

    `fit` does everything. By hand the order is `bind`, `init_params`, `init_optimizer`, and for each batch `forward`,
    `backward`, `update`.

    Parameters
    ----------
    symbol : Symbol
        Network.
    data_names, label_names : list of str
        Arguments of the symbol that batches fill; `label_names` may be None.
    logger : logging.Logger or module
        Where progress is logged.
    context : Context or list of Context
        Devices; a batch is divided among them.
    work_load_list : list of float, optional
        Share of the batch for each device; equal by default.
    fixed_param_names : list of str, optional
        Parameters that are not trained.
    state_names : list of str, optional
        Arguments of the symbol that `set_states` fills.
    group2ctxs : dict of str to Context, or list of these, optional
        Device of each group of the symbol (its attribute `ctx_group`).
    compression_params : dict, optional
        How gradients are compressed on their way to other machines.

    Examples
    --------
    >>> net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
    >>> mod = mx.mod.Module(net)
    >>> mod.bind(data_shapes=[("data", (1, 3))], label_shapes=[("softmax_label", (1,))])
    >>> mod.init_params(mx.init.Zero())
    >>> mod.forward(mx.io.DataBatch([mx.nd.ones((1, 3))]), is_train=False)
    >>> mod.get_outputs()[0].asnumpy()
    array([[0.5, 0.5]], dtype=float32)
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
    ):
        super().__init__(logger=logger)
        self._context = [context] if isinstance(context, ctx.Context) else context
        self._work_load_list = [1] * len(self._context) if work_load_list is None else work_load_list
        assert len(self._work_load_list) == len(self._context), (
            f"{len(self._work_load_list)} work loads for {len(self._context)} contexts"
        )
        self._group2ctxs = group2ctxs
        self._symbol = symbol
        self._data_names, self._label_names = _names(data_names), _names(label_names)
        self._state_names, self._fixed_param_names = _names(state_names), _names(fixed_param_names)
        _check_input_names(symbol, self._data_names, "data", True)
        _check_input_names(symbol, self._label_names, "label", False)
        _check_input_names(symbol, self._state_names, "state", True)
        _check_input_names(symbol, self._fixed_param_names, "fixed_param", True)
        inputs = self._data_names + self._label_names + self._state_names
        self._param_names = [x for x in symbol.list_arguments() if x not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        self._arg_params = self._aux_params = None
        self._params_dirty = False
        self._compression_params = compression_params
        self._optimizer = self._kvstore = self._update_on_kvstore = self._updater = None
        self._preload_opt_states = None
        self._grad_req = None
        self._exec_group = self._data_shapes = self._label_shapes = None

    # ------------------------------------------------------------------ files
    @staticmethod
    def load(prefix, epoch, load_optimizer_states=False, **kwargs):
        """A module from a checkpoint; optimizer states are read when the optimizer is made.

        Parameters
        ----------
        prefix : str
            Beginning of the file names, as given to `save_checkpoint`.
        epoch : int
            Number of the checkpoint.
        load_optimizer_states : bool
            Whether to continue with the states of the optimizer, too.
        **kwargs
            Further arguments of :class:`Module`.

        Returns
        -------
        Module

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> parameters = {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}
        >>> mx.model.save_checkpoint("fc", 1, net, parameters, {})
        >>> mod = mx.mod.Module.load("fc", 1, label_names=None)
        >>> mod.bind([("data", (1, 3))], for_training=False)
        >>> mod.predict(mx.nd.ones((1, 3))).asnumpy()
        array([[3., 3.]], dtype=float32)
        """
        symbol, args, auxs = load_checkpoint(prefix, epoch)
        mod = Module(symbol=symbol, **kwargs)
        mod._arg_params, mod._aux_params = args, auxs
        mod.params_initialized = True
        if load_optimizer_states:
            mod._preload_opt_states = states_file(prefix, epoch)
        return mod

    def save_checkpoint(self, prefix, epoch, save_optimizer_states=False, remove_amp_cast=True):
        """Write `prefix-symbol.json` and `prefix-0001.params`.

        Parameters
        ----------
        prefix : str
            Beginning of the file names.
        epoch : int
            Number of the checkpoint.
        save_optimizer_states : bool
            Whether to write the states of the optimizer, `prefix-0001.states`, too.
        remove_amp_cast : bool
            Whether casts of mixed precision are removed from the symbol.

        Examples
        --------
        >>> import glob
        >>> mod = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), label_names=None)
        >>> mod.bind([("data", (1, 3))])
        >>> mod.init_params()
        >>> mod.save_checkpoint("saved", epoch=3)
        >>> sorted(glob.glob("saved-*"))  # the manifest, which MXNet does not write, has checksums of the others
        ['saved-0003.manifest.json', 'saved-0003.params', 'saved-symbol.json']
        """
        with one_checkpoint(prefix, epoch):
            self._symbol.save(symbol_file(prefix), remove_amp_cast=remove_amp_cast)
            self.save_params(params_file(prefix, epoch))
            logging.info('Saved checkpoint to "%s"', params_file(prefix, epoch))
            if save_optimizer_states:
                self.save_optimizer_states(states_file(prefix, epoch))
                logging.info('Saved optimizer state to "%s"', states_file(prefix, epoch))

    def save_optimizer_states(self, fname, pickled=False):
        """Write the states of the optimizer, such as momenta, to a file; after `init_optimizer`.

        Parameters
        ----------
        fname : str
            Path of the file.
        pickled : bool, default False
            Whether to write a pickle, as MXNet does and reads; otherwise the file holds no code. Not in MXNet.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), label_names=None)
        >>> mod.bind([("data", (1, 3))])
        >>> mod.init_params()
        >>> mod.init_optimizer(optimizer="adam")
        >>> mod.save_optimizer_states("adam.states")
        >>> mod.load_optimizer_states("adam.states")
        """
        assert self.optimizer_initialized, NOT_READY
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname, **({"pickled": True} if pickled else {}))
        else:
            with atomic_write(fname) as file:
                file.write(self._updater.get_states(pickled=pickled))

    def load_optimizer_states(self, fname, trust=False):
        """Read the states of the optimizer from a file; after `init_optimizer`.

        Parameters
        ----------
        fname : str
            Path of a file that `save_optimizer_states` wrote, here or in MXNet.
        trust : bool, default False
            Whether a pickle that is not one of MXNet's own may run its code. Not in MXNet.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), label_names=None)
        >>> mod.bind([("data", (1, 3))])
        >>> mod.init_params()
        >>> mod.init_optimizer(optimizer="adam")
        >>> mod.save_optimizer_states("adam.states")
        >>> mod.load_optimizer_states("adam.states")
        """
        assert self.optimizer_initialized, NOT_READY
        if self._update_on_kvstore:
            load_into_store(self._kvstore, fname, trust, self._exec_group.param_names)
        else:
            with state_files.opened(fname) as file:
                self._updater.set_states(file.read(), trust, self._indexed_weights())

    def _indexed_weights(self):
        """{index: (name, weight)}, as the updater counts them."""
        group = self._exec_group
        return indexed_weights(group.param_names, group.param_arrays, len(self._context))

    # ------------------------------------------------------------------ what it is
    data_names = shown("_data_names", BaseModule.data_names.__doc__)
    output_names = shown("_output_names", BaseModule.output_names.__doc__)
    data_shapes = shown("_data_shapes", BaseModule.data_shapes.__doc__, bound=True)
    label_shapes = shown("_label_shapes", BaseModule.label_shapes.__doc__, bound=True)

    @property
    def label_names(self):
        """Names of the labels, a list of str.

        Examples
        --------
        >>> mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax")).label_names
        ['softmax_label']
        """
        return self._label_names

    @property
    def output_shapes(self):
        self._assert_bound()
        return self._exec_group.get_output_shapes()

    # ------------------------------------------------------------------ parameters
    def get_params(self):
        assert self.params_initialized, NOT_READY
        if self._params_dirty:  # the devices have newer ones
            self._sync_params_from_devices()
        return self._arg_params, self._aux_params

    def init_params(
        self,
        initializer: Any = Uniform(0.01),
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        if self._keeps_params(force_init, "init_params"):
            return
        self._assert_bound()
        attributes = self._symbol.attr_dict()
        for own, given in ((self._arg_params, arg_params), (self._aux_params, aux_params)):
            for name, array in sorted(own.items()):
                desc = InitDesc(name, attributes.get(name))
                self._init_param(desc, array, given, initializer, allow_missing)
        self.params_initialized = True
        self._params_dirty = False
        self._exec_group.set_params(self._arg_params, self._aux_params, allow_extra=allow_extra)

    @staticmethod
    def _init_param(desc, array, given, initializer, allow_missing):
        if given is not None and desc in given:
            if given[desc] is not array:
                _check_shape(desc, given[desc], array)
                given[desc].copyto(array)
            return
        if given is not None and not allow_missing:
            raise RuntimeError(f"{desc} is not presented: what was given lacks it; allow_missing=True initializes it")
        if given is None or initializer is not None:
            initializer(desc, array)

    def _overwrite_params(self, arg_params, aux_params, force_init, allow_extra):
        self._exec_group.set_params(arg_params, aux_params, allow_extra=allow_extra)

    def _sync_params_from_devices(self):
        self._exec_group.get_params(self._arg_params, self._aux_params)
        if self._kvstore and self._update_on_kvstore:
            self._pull_sparse_params()
        self._params_dirty = False

    def _pull_sparse_params(self):
        """Row-sparse parameters live in the key-value store: pull all their rows."""
        sparse = {name: array for name, array in self._arg_params.items() if array.stype == "row_sparse"}
        for name in sorted(sparse):
            every_row = nd.arange(0, sparse[name].shape[0], dtype="int64")
            self._kvstore.row_sparse_pull(name, sparse[name], row_ids=every_row)

    # ------------------------------------------------------------------ setup
    def _reset_bind(self):
        super()._reset_bind()
        self._exec_group = self._data_shapes = self._label_shapes = None

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
        self._grad_req = grad_req
        self._data_shapes, self._label_shapes = _parse_data_desc(
            self.data_names, self.label_names, data_shapes, label_shapes
        )
        self._exec_group = DataParallelExecutorGroup(
            self._symbol,
            self._context,
            self._work_load_list,
            self._data_shapes,
            self._label_shapes,
            self._param_names,
            for_training,
            inputs_need_grad,
            self._shared_group(shared_module),
            logger=self.logger,
            fixed_param_names=self._fixed_param_names,
            grad_req=grad_req,
            group2ctxs=self._group2ctxs,
            state_names=self._state_names,
        )
        self._total_exec_bytes = self._exec_group._total_exec_bytes
        self._bind_params(shared_module)
        if shared_module is not None and shared_module.optimizer_initialized:
            self.borrow_optimizer(shared_module)
        self.binded = True

    def _shared_group(self, shared_module):
        if shared_module is None:
            return None
        assert isinstance(shared_module, Module) and shared_module.binded and shared_module.params_initialized
        assert len(shared_module._exec_group.execs) >= len(self._context)
        return shared_module._exec_group

    def _bind_params(self, shared_module):
        """Take the other module's parameters, or hand ours to the devices, or make new ones."""
        group = self._exec_group
        if shared_module is not None:
            self.params_initialized = True
            self._arg_params, self._aux_params = shared_module._arg_params, shared_module._aux_params
        elif self.params_initialized:
            group.set_params(self._arg_params, self._aux_params)
        else:
            assert self._arg_params is None and self._aux_params is None
            self._arg_params = {
                name: zeros(shape=a[0].shape, dtype=a[0].dtype, stype=a[0].stype)
                for name, a in zip(self._param_names, group.param_arrays, strict=True)
            }
            self._aux_params = {
                name: zeros(a[0].shape, dtype=a[0].dtype)
                for name, a in zip(self._aux_names, group.aux_arrays, strict=True)
            }

    def reshape(self, data_shapes, label_shapes=None):
        """Take inputs of other shapes from now on; parameters and optimizer stay. `forward` calls it when a batch has a
        new shape.

        Parameters
        ----------
        data_shapes, label_shapes : list of DataDesc or of (str, tuple)
            Names and shapes of inputs and labels, as for `bind`.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") * 2, label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.reshape([("data", (7, 3))])
        >>> mod.output_shapes[0][1]
        (7, 3)
        """
        self._assert_bound()
        self._data_shapes, self._label_shapes = _parse_data_desc(
            self.data_names, self.label_names, data_shapes, label_shapes
        )
        self._exec_group.reshape(self._data_shapes, self._label_shapes)

    def init_optimizer(
        self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), force_init=False
    ):
        if self._keeps_optimizer(force_init):
            return
        arg_params, _ = self.get_params()
        kvstore, update_on_kvstore = create_kvstore(kvstore, len(self._context), arg_params)
        self._optimizer = self._make_optimizer(optimizer, optimizer_params, kvstore, update_on_kvstore)
        self._kvstore = kvstore
        self._update_on_kvstore = update_on_kvstore
        self._updater = None if update_on_kvstore else opt.get_updater(self._optimizer)
        if kvstore:
            self._fill_kvstore()
        self.optimizer_initialized = True
        if self._preload_opt_states is not None:
            self.load_optimizer_states(self._preload_opt_states)
            self._preload_opt_states = None

    def _fill_kvstore(self):
        if self._compression_params:
            self._kvstore.set_gradient_compression(self._compression_params)
        if self._update_on_kvstore:
            self._kvstore.set_optimizer(self._optimizer)
        initialize_kvstore(
            self._kvstore,
            self._exec_group.param_arrays,
            self._arg_params,
            self._param_names,
            self._update_on_kvstore,
        )

    def _make_optimizer(self, optimizer, optimizer_params, kvstore, update_on_kvstore):
        batch_size = self._exec_group.batch_size
        if kvstore and "dist" in kvstore.type and "_sync" in kvstore.type:
            batch_size *= kvstore.num_workers
        rescale_grad = 1.0 / batch_size
        names = index_names(self._exec_group.param_names, len(self._context), update_on_kvstore)
        if isinstance(optimizer, str):
            options = {"rescale_grad": rescale_grad, **dict(optimizer_params)}
            return opt.create(optimizer, sym=self.symbol, param_idx2name=names, **options)
        assert isinstance(optimizer, opt.Optimizer), f"optimizer is a name or an Optimizer, got {type(optimizer)}"
        if optimizer.rescale_grad != rescale_grad:
            warnings.warn(
                f"the optimizer was made with rescale_grad={optimizer.rescale_grad}, but the mean over a batch needs "
                f"1.0/batch_size/num_workers = {rescale_grad}. Is this intended?",
                stacklevel=3,
            )
        if not optimizer.idx2name:
            optimizer.idx2name = names.copy()
        return optimizer

    def borrow_optimizer(self, shared_module):
        """Use the optimizer of another module, with its states.

        Parameters
        ----------
        shared_module : Module
            Module whose optimizer is initialized.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> first, second = (mx.mod.Module(net, label_names=None) for _ in range(2))
        >>> first.bind([("data", (4, 3))])
        >>> first.init_params()
        >>> first.init_optimizer(optimizer="adam")
        >>> second.borrow_optimizer(first)
        >>> second.optimizer_initialized
        True
        """
        assert shared_module.optimizer_initialized, "the other module has no optimizer: call its init_optimizer first"
        for name in OPTIMIZER_ATTRIBUTES:
            setattr(self, name, getattr(shared_module, name))

    # ------------------------------------------------------------------ computing
    def forward(self, data_batch, is_train=None):
        self._assert_ready()
        shapes = _batch_shapes(data_batch)
        if shapes != tuple(x.shape for x in self._data_shapes):
            self.reshape(*self._new_shapes(data_batch, shapes))
        self._exec_group.forward(data_batch, is_train)

    def _new_shapes(self, batch, shapes):
        """Descriptions of data and labels of a batch whose shapes are new."""
        data = getattr(batch, "provide_data", None) or [
            DataDesc(x.name, shape, x.dtype, x.layout) for x, shape in zip(self._data_shapes, shapes, strict=True)
        ]
        label = getattr(batch, "provide_label", None)
        if not label and getattr(batch, "label", None):
            label = [
                DataDesc(x.name, array.shape, x.dtype, x.layout)
                for x, array in zip(self._label_shapes, batch.label, strict=False)
            ]
        return data, label or None

    def backward(self, out_grads=None):
        self._assert_ready()
        self._exec_group.backward(out_grads=out_grads)

    def update(self):
        self._assert_ready(optimizer=True)
        self._params_dirty = True
        group = self._exec_group
        if self._update_on_kvstore:
            update_params_on_kvstore(group.param_arrays, group.grad_arrays, self._kvstore, group.param_names)
        else:
            update_params(
                group.param_arrays,
                group.grad_arrays,
                updater=self._updater,
                num_device=len(self._context),
                kvstore=self._kvstore,
                param_names=group.param_names,
            )

    def get_outputs(self, merge_multi_context=True):
        self._assert_ready()
        return self._exec_group.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        self._assert_input_grads()
        return self._exec_group.get_input_grads(merge_multi_context=merge_multi_context)

    def get_states(self, merge_multi_context=True):
        self._assert_ready()
        return self._exec_group.get_states(merge_multi_context=merge_multi_context)

    def set_states(self, states=None, value=None):
        self._assert_ready()
        self._exec_group.set_states(states, value)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        self._exec_group.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        self._assert_bound()
        self._exec_group.install_monitor(mon)

    def prepare(self, data_batch, sparse_row_id_fn=None):
        self._assert_bound()
        if sparse_row_id_fn is None:
            return
        if not self._kvstore or not self._update_on_kvstore:
            _warn("sparse_row_id_fn is not called: the parameters are not updated in a KVStore")
            return
        row_ids = sparse_row_id_fn(data_batch)
        assert isinstance(row_ids, dict), "Expected dict output from sparse_row_id_fn"
        for name, rows in row_ids.items():
            index = self._exec_group.param_names.index(name)
            arrays = self._exec_group.param_arrays[index]
            if arrays[0].stype != "row_sparse":
                _warn(f"{name} is not row_sparse, so no rows of it are pulled")
            else:
                self._kvstore.row_sparse_pull(name, arrays, row_ids=rows, priority=-index)


def _warn(message):
    warnings.warn(UserWarning(message), stacklevel=3)


def _batch_shapes(data_batch):
    """The shapes of a batch's arrays; of a list of batches, as if they were joined."""
    if not isinstance(data_batch, list):
        return tuple(array.shape for array in data_batch.data)
    assert data_batch, "Encountered empty data batch"
    shapes = []
    for arrays in zip(*[batch.data for batch in data_batch], strict=True):
        shape = arrays[0].shape
        assert all(a.shape == shape for a in arrays), "the batches of a list must have one shape"
        shapes.append((len(data_batch) * shape[0], *shape[1:]))
    return tuple(shapes)
