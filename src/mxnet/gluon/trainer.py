"""The trainer: sums the gradients of all contexts and lets an optimizer update the parameters with them."""

from itertools import compress
from typing import Any

from .. import autograd
from .. import optimizer as opt
from .._core.advice.constructors import ExplainsArguments
from .._device.errors import tells_exhaustion
from .._formats.atomic import write_file
from ..kvstore import KVStore
from ..optimizer import state_files
from .parameter import Parameter, ParameterDict

__all__ = ["Trainer"]


class Trainer(ExplainsArguments):
    """Applies an optimizer to a set of parameters after each backward pass.

    `step(batch_size)` divides the gradients by the batch size, sums them over the contexts and updates the parameters.

    Parameters
    ----------
    params : ParameterDict, dict or list of Parameter
        The parameters to train, usually `net.collect_params()`.
    optimizer : str or Optimizer
        The update rule.
    optimizer_params : dict, optional
        Arguments of the optimizer if it is given by name, such as {'learning_rate': 0.1}.
    kvstore : str, KVStore or None, default 'device'
        The store that sums gradients over contexts and machines.
    compression_params : dict, optional
        Gradient compression, such as {'type': '2bit', 'threshold': 0.5}.
    update_on_kvstore : bool, optional
        Whether the store runs the optimizer; None lets the kind of store decide.
    shard_optimizer : bool, default False
        Whether each worker keeps only its part of the optimizer's states, and of weights stored as row_sparse arrays;
        for a `dist_sync` store. Not in MXNet.

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(1, in_units=2, weight_initializer="ones")
    >>> net.initialize()
    >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    >>> with mx.autograd.record():
    ...     loss = net(mx.nd.array([[1, 2]]))
    >>> loss.backward()
    >>> trainer.step(batch_size=1)
    >>> net.weight.data().asnumpy()
    array([[0.5, 0. ]], dtype=float32)
    """

    _elsewhere = dict.fromkeys(
        ("learning_rate", "lr", "momentum", "wd", "weight_decay", "lr_scheduler", "clip_gradient"),
        "arguments of the optimizer go into a dict: Trainer(params, 'sgd', {'learning_rate': 0.1})",
    )

    def __init__(
        self,
        params,
        optimizer,
        optimizer_params=None,
        kvstore: Any = "device",
        compression_params=None,
        update_on_kvstore=None,
        shard_optimizer=False,
    ):
        self._params = _parameter_list(params)
        self._param2idx = {param.name: i for i, param in enumerate(self._params)}
        for param in self._params:
            param._set_trainer(self)
        self._contains_sparse_weight = any(param._stype != "default" for param in self._params)
        self._contains_sparse_grad = any(param._grad_stype != "default" for param in self._params)
        self._compression_params, self._shard_optimizer = compression_params, shard_optimizer
        self._contexts = self._check_contexts()
        self._requests = None
        self._init_optimizer(optimizer, optimizer_params or {})
        self._scale = self._optimizer.rescale_grad
        self._kvstore_params = {"kvstore": kvstore, "update_on_kvstore": update_on_kvstore}
        self._kvstore = None
        self._reset_kvstore()

    def _check_contexts(self):
        contexts = None
        for param in self._params:
            ctx = param.list_ctx()
            assert contexts is None or contexts == ctx, (
                "All Parameters must be initialized on the same set of contexts, "
                f"but Parameter {param.name} is initialized on {ctx} while previous Parameters "
                f"are initialized on {contexts}."
            )
            contexts = ctx
        return contexts

    def _init_optimizer(self, optimizer, optimizer_params):
        # The parameters themselves, not copies, so that a later change of their lr_mult or wd_mult takes effect.
        param_dict = dict(enumerate(self._params))
        if isinstance(optimizer, opt.Optimizer):
            assert not optimizer_params, (
                "optimizer_params must be None if optimizer is an instance of Optimizer instead of str"
            )
            self._optimizer = optimizer
            optimizer.param_dict = param_dict
        else:
            self._optimizer = opt.create(optimizer, param_dict=param_dict, **optimizer_params)
        self._updaters = [opt.get_updater(self._optimizer) for _ in self._contexts or ()]

    # ---- the store ----

    def _reset_kvstore(self):
        if self._kvstore and "dist" in self._kvstore.type:
            raise RuntimeError("Cannot reset distributed KVStore.")
        self._kvstore = self._distributed = self._update_on_kvstore = None
        self._kv_initialized, self._params_to_init = False, list(self._params)

    def _init_kvstore(self):
        if self._contains_sparse_weight:
            kvstore, on_kvstore = self._store_of_sparse_weights()
        elif self._contains_sparse_grad:
            kvstore, on_kvstore = self._store_of_sparse_gradients()
        else:
            kvstore, on_kvstore = self._store_of_dense()
        if self._shard_optimizer:
            kvstore, on_kvstore = self._sharded(kvstore, on_kvstore)
        if kvstore:
            if self._compression_params:
                kvstore.set_gradient_compression(self._compression_params)
            if on_kvstore:
                kvstore.set_optimizer(self._optimizer)
        self._kvstore = kvstore or None
        self._update_on_kvstore = on_kvstore if kvstore else None
        self._kv_initialized = True

    def _store_of_sparse_weights(self):
        """Sparse weights live in the store, so it must exist and update them."""
        from ..model import _create_sparse_kvstore

        kvstore, on_kvstore = _create_sparse_kvstore(self._kvstore_params["kvstore"])
        self._distributed = "dist" in kvstore.type
        if self._kvstore_params["update_on_kvstore"] is False:
            raise ValueError("Cannot set update_on_kvstore=False when sparse weights are present.")
        return kvstore, on_kvstore

    def _store_of_sparse_gradients(self):
        """On one machine sparse gradients are summed and pulled back; between machines the weights are pulled."""
        wish = self._kvstore_params["update_on_kvstore"]
        kvstore, _ = self._create_store()
        if wish is False and self._distributed:
            raise ValueError("Cannot set update_on_kvstore=False on dist kvstore when sparse gradients are present.")
        if kvstore is not None and not isinstance(kvstore, KVStore):
            raise ValueError(f"Cannot use {type(kvstore)} for multi-device training with sparse gradients")
        return kvstore, self._distributed if wish is None else wish

    def _store_of_dense(self):
        wish = self._kvstore_params["update_on_kvstore"]
        kvstore, on_kvstore = self._create_store()
        if self._distributed and "async" in kvstore.type:
            on_kvstore = True
            if wish is False:
                raise ValueError("Please set update_on_kvstore=True when training in async mode.")
        if wish is not None:
            on_kvstore = wish
        if on_kvstore and kvstore and not kvstore.is_capable("optimizer"):
            if wish:
                raise ValueError(f"Please set update_on_kvstore=False when training with {type(kvstore)}")
            on_kvstore = False
        return kvstore, on_kvstore

    def _sharded(self, kvstore, on_kvstore):
        """The store with shards of the states; it updates where sparse arrays make it, or if that was asked for."""
        if not self._distributed or "async" in kvstore.type:
            kind = kvstore.type if kvstore else self._kvstore_params["kvstore"]
            raise ValueError(f"shard_optimizer=True needs a dist_sync or dist_device_sync kvstore, not {kind!r}")
        from ..kvstore.sharded import ShardedStore

        sparse = self._contains_sparse_weight or self._contains_sparse_grad
        on_kvstore = on_kvstore and (sparse or self._kvstore_params["update_on_kvstore"] is True)
        store = ShardedStore(kvstore, self._optimizer, on_kvstore)
        store.sparse_gradients = {i for i, p in enumerate(self._params) if p._grad_stype != "default"}
        return store, on_kvstore

    def _create_store(self):
        from ..model import _create_kvstore

        first = self._contexts[0]
        arrays = {param.name: param.data(first) for param in self._params}
        kvstore, on_kvstore = _create_kvstore(self._kvstore_params["kvstore"], len(self._contexts), arrays)
        self._distributed = bool(kvstore) and "dist" in kvstore.type
        return kvstore, on_kvstore

    def _init_params(self):
        """Put those parameters into the store whose shapes are known by now."""
        assert self._kv_initialized, "Cannot initialize parameters in KVStore when KVStore is not initialized."
        new, self._params_to_init = self._params_to_init if self._kvstore else [], []
        for param in new:
            if param._deferred_init:
                self._params_to_init.append(param)
            else:
                self._store(self._param2idx[param.name], param._check_and_get(param._data, list), param._stype)

    def _store(self, index, copies, stype):
        """Put a parameter into the store. Dense ones come back to all devices; rows of sparse ones when asked for."""
        if stype == "default":
            self._kvstore.broadcast(index, copies[0], copies)
        else:
            self._kvstore.init(index, copies[0])

    def _prepare(self):
        if not self._kv_initialized:
            self._init_kvstore()
        if self._params_to_init:
            self._init_params()

    def _row_sparse_pull(self, parameter, out, row_id, full_idx=False):
        index = self._param2idx[parameter.name]
        with autograd.pause():  # a network pulls its rows in the forward pass, and that is no part of the graph
            self._prepare()
            if full_idx and "dist" not in self._kvstore.type:
                assert row_id.size == out.shape[0]
                self._kvstore.pull(index, out=out, priority=-index, ignore_sparse=False)
            else:
                self._kvstore.row_sparse_pull(index, out=out, row_ids=row_id, priority=-index)

    # ---- learning rate ----

    @property
    def learning_rate(self):
        """The learning rate of the next update, a float; a scheduler computes it from the number of updates.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5}).learning_rate
        0.5
        """
        if not isinstance(self._optimizer, opt.Optimizer):
            raise UserWarning("Optimizer has to be defined before its learning rate can be accessed.")
        return self._optimizer.learning_rate

    @property
    def optimizer(self):
        """The :class:`mxnet.optimizer.Optimizer` that updates the parameters.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> type(mx.gluon.Trainer(net.collect_params(), "adam").optimizer).__name__
        'Adam'
        """
        if isinstance(self._optimizer, opt.Optimizer):
            return self._optimizer
        raise UserWarning("Optimizer has not been initialized yet")

    def set_learning_rate(self, lr):
        """Set the learning rate of the following updates.

        An optimizer with an `lr_scheduler` computes its own learning rate; setting it raises UserWarning.

        Parameters
        ----------
        lr : float
            The new learning rate.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
        >>> trainer.set_learning_rate(trainer.learning_rate * 0.1)
        >>> trainer.learning_rate
        0.05
        """
        if not isinstance(self._optimizer, opt.Optimizer):
            raise UserWarning("Optimizer has to be defined before its learning rate is mutated.")
        self._optimizer.set_learning_rate(lr)

    # ---- steps ----

    @tells_exhaustion
    def step(self, batch_size, ignore_stale_grad=False):
        """Update all parameters once with their gradients.

        The gradients are summed over the contexts and workers, divided by `batch_size`, and given to the optimizer.
        Call it after `backward()` and outside `autograd.record()`. It equals `allreduce_grads()` followed by
        `update(batch_size)`.

        Parameters
        ----------
        batch_size : int
            The number of samples that the summed gradients come from, over all contexts of this worker.
        ignore_stale_grad : bool, default False
            What happens to a parameter whose gradient is older than the last step: False raises UserWarning, True skips
            it.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(1, in_units=2, weight_initializer="ones")
        >>> net.initialize()
        >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1})
        >>> with mx.autograd.record():
        ...     loss = net(mx.nd.array([[1, 2], [3, 4]])).sum()
        >>> loss.backward()
        >>> trainer.step(batch_size=2)
        >>> net.weight.data().asnumpy()  # 1 - (1 + 3) / 2 and 1 - (2 + 4) / 2
        array([[-1., -2.]], dtype=float32)
        """
        self._check_and_rescale_grad(self._scale / batch_size)
        self._prepare()
        self._allreduce_grads()
        self._update(ignore_stale_grad)

    @tells_exhaustion
    def allreduce_grads(self):
        """Sum the gradients over all contexts and workers, without an update.

        Use it with `update` in place of `step` where the summed gradients are changed first, for example clipped by
        their norm. It needs `update_on_kvstore=False`.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
        >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd", update_on_kvstore=False)
        >>> with mx.autograd.record():
        ...     losses = [net(mx.nd.array([[n, n]], ctx=mx.cpu(n))) for n in (0, 1)]
        >>> mx.autograd.backward(losses)
        >>> trainer.allreduce_grads()
        >>> [grad.asnumpy().tolist() for grad in net.weight.list_grad()]
        [[[1.0, 1.0]], [[1.0, 1.0]]]
        """
        self._prepare()
        self._check_not_on_kvstore("allreduce_grads()")
        self._allreduce_grads()

    @tells_exhaustion
    def update(self, batch_size, ignore_stale_grad=False):
        """Update the parameters with the gradients as they are: the second half of `step`, after `allreduce_grads`.

        It needs `update_on_kvstore=False`.

        Parameters
        ----------
        batch_size : int
            The gradients are divided by this number.
        ignore_stale_grad : bool, default False
            What happens to a parameter whose gradient is older than the last step: False raises UserWarning, True skips
            it.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(1, in_units=2, weight_initializer="ones")
        >>> net.initialize()
        >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1}, update_on_kvstore=False)
        >>> with mx.autograd.record():
        ...     loss = net(mx.nd.array([[3, 4]]))
        >>> loss.backward()
        >>> trainer.allreduce_grads()
        >>> norm = mx.gluon.utils.clip_global_norm([net.weight.grad()], 1)
        >>> trainer.update(batch_size=1)
        >>> float(norm), net.weight.data().asnumpy()
        (5.0, array([[0.4, 0.2]], dtype=float32))
        """
        self._prepare()
        self._check_not_on_kvstore("update()")
        self._check_and_rescale_grad(self._scale / batch_size)
        self._update(ignore_stale_grad)

    def _check_not_on_kvstore(self, what):
        assert not (self._kvstore and self._update_on_kvstore), (
            f"{what} when parameters are updated on kvstore is not supported. "
            "Try setting `update_on_kvstore` to False when creating trainer."
        )

    def _check_and_rescale_grad(self, scale):
        scale = float(scale)  # the size may be an array, such as the number of words in a batch
        sent = self._update_on_kvstore and self._distributed and self._kv_initialized
        if sent and self._optimizer.rescale_grad != scale:
            raise UserWarning(
                "Possible change in the `batch_size` from previous `step` detected. Optimizer gradient normalizing "
                "factor will not change w.r.t new batch_size when update_on_kvstore=True and when distributed "
                "kvstore is used."
            )
        self._optimizer.rescale_grad = scale

    def _allreduce_grads(self):
        if not self._kvstore:
            return
        dense = []
        for i, param in enumerate(self._params):
            if param.grad_req == "null":
                continue
            grads = param.list_grad()
            if grads[0].stype == "default":
                dense.append((i, grads, param.list_data()))
                continue
            self._kvstore.push(i, grads, priority=-i)
            if param._stype == "default":
                target = param.list_data() if self._update_on_kvstore else grads
                self._kvstore.pull(i, target, priority=-i, ignore_sparse=self._distributed)
        if dense:
            self._exchange(*zip(*dense, strict=True))

    def _exchange(self, keys, grads, weights):
        """Sum dense gradients; MXNet's own stores take all in one call, and may send the next ones ahead."""
        outs = weights if self._update_on_kvstore else grads
        if isinstance(self._kvstore, KVStore):
            self._kvstore.pushpull(keys, grads, out=outs)
            if not self._params_to_init:
                self._kvstore.watch(keys, weights)
            return
        for key, grad, out in zip(keys, grads, outs, strict=True):
            where = {"out": out} if self._update_on_kvstore else {}
            self._kvstore.pushpull(key, grad, priority=-key, **where)

    def _update(self, ignore_stale_grad=False):
        scaler = getattr(self, "_amp_loss_scaler", None)
        if scaler is not None and scaler.has_overflow(self._params):
            return
        work = [self._fresh(place, ignore_stale_grad) for place in range(len(self._updaters))]
        if self._kvstore and self._update_on_kvstore:
            return
        for updater, (indices, grads, weights) in zip(self._updaters, work, strict=True):
            for array in weights:
                array._ag.fresh = False
            if indices and not self._shard_optimizer:  # all at once: the optimizer may use one kernel for many
                updater(indices, grads, weights)
        if self._shard_optimizer:
            self._update_shards(work)

    def _update_shards(self, work):
        """Update in the first context; the other workers and contexts get what was updated, fresh or not."""
        self._kvstore.update(self._updaters[0], *work[0])
        indices, params = self._learning()
        self._kvstore.gather(indices, [param._data[0] for param in params])
        for param in params:
            for copy in param._data[1:]:
                param._data[0].copyto(copy)

    def _learning(self):
        """Indices and parameters that have gradients; looked up again when a `grad_req` has changed."""
        seen = Parameter.requests_changed, len(self._params)
        if seen != self._requests:
            indices = [i for i, param in enumerate(self._params) if param.grad_req != "null"]
            self._requests, self._learners = seen, (indices, [self._params[i] for i in indices])
        return self._learners

    def _fresh(self, place, ignore_stale_grad):
        """(indices, gradients, weights) with new gradients in the context at `place` of each parameter's list."""
        indices, params = self._learning()
        weights = [(p._data or p._check_and_get(p._data, list))[place] for p in params]
        try:
            fresh = [array._ag.fresh for array in weights]  # what _fresh_grad reads
        except AttributeError:
            fresh = [array._fresh_grad for array in weights]
        if False in fresh:
            if not ignore_stale_grad:
                stale = fresh.index(False)
                raise self._stale(params[stale], weights[stale])
            indices, params, weights = (list(compress(part, fresh)) for part in (indices, params, weights))
        return indices, [p._grad[place] for p in params], weights

    def _stale(self, param, array):
        cause = _probable_cause(param, [p for p in self._params if p.grad_req != "null"])
        return UserWarning(
            f"Gradient of Parameter `{param.name}` on context {array.context} has not been updated "
            "by backward since last `step`. This could mean a bug in your "
            "model that made it only use a subset of the Parameters (Blocks) "
            "for this iteration. If you are intentionally only using a subset, "
            "call step with ignore_stale_grad=True to suppress this "
            f"warning and skip updating of Parameters with stale gradient. Probable cause: {cause}"
        )

    # ---- files ----

    def save_states(self, fname, pickled=False):
        """Write the optimizer and its states, such as momenta, to a file.

        With `shard_optimizer` all workers must call this; the first one writes the file.

        Parameters
        ----------
        fname : str
            Path of the file.
        pickled : bool, default False
            Whether to write a pickle, as MXNet does and reads; otherwise the file holds no code. Not in MXNet.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> trainer = mx.gluon.Trainer(net.collect_params(), "adam")
        >>> trainer.save_states("adam.states")
        >>> trainer.load_states("adam.states")
        """
        assert self._optimizer is not None
        self._prepare()
        if self._shard_optimizer:
            self._kvstore.save_states(self._sharded_updater(), fname, pickled=pickled)
        elif self._update_on_kvstore:
            assert not self._params_to_init, (
                "Cannot save trainer states when some parameters are not yet initialized in kvstore."
            )
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True, **({"pickled": True} if pickled else {}))
        else:
            write_file(fname, self._updaters[0].get_states(True, pickled))

    def load_states(self, fname, trust=False):
        """Read what `save_states` wrote, here or in MXNet.

        The learning rate, the states and the counts of updates are those of the file; `lr_mult` and `wd_mult` stay
        those of this trainer's parameters. States that do not fit the parameters are refused before anything changes.

        Parameters
        ----------
        fname : str
            Path of the file.
        trust : bool, default False
            Whether a pickle that is not one of MXNet's own may run its code. Not in MXNet.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.3}).save_states("sgd.states")
        >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        >>> trainer.load_states("sgd.states")
        >>> trainer.learning_rate
        0.3
        """
        self._prepare()
        if self._shard_optimizer:
            updater = self._sharded_updater()
            self._kvstore.load_states(updater, fname, self._weights(0), trust)
            self._optimizer = updater.optimizer
        elif self._update_on_kvstore:
            from .._training.updates import load_into_store

            load_into_store(self._kvstore, fname, trust, range(len(self._params)))
            self._optimizer = self._kvstore._updater.optimizer
        else:
            with state_files.opened(fname) as file:
                states = file.read()
                for place, updater in enumerate(self._updaters):
                    updater.set_states(states, trust, self._weights(place))
                    updater.optimizer = self._updaters[0].optimizer
            self._optimizer = self._updaters[0].optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))

    def _sharded_updater(self):
        return self._kvstore._updater if self._update_on_kvstore else self._updaters[0]

    def _weights(self, place):
        """{index: (name, weight)} in the context at `place`; None for a weight whose shape is not known yet."""
        return {i: (p.name, p._data[place] if p._data else None) for i, p in enumerate(self._params)}


def _parameter_list(params):
    """The parameters in order; those of a dictionary by name, so that every process has them in the same order."""
    if isinstance(params, (dict, ParameterDict)):
        params = [params[name] for name in sorted(params.keys())]
    if not isinstance(params, (list, tuple)):
        advice = " Pass net.collect_params()." if hasattr(params, "collect_params") else ""
        raise ValueError(f"First argument must be a list or dict of Parameters, got {type(params)}.{advice}")
    for param in params:
        if not isinstance(param, Parameter):
            raise ValueError(f"First argument must be a list or dict of Parameters, got list of {type(param)}.")
    return list(params)


def _probable_cause(param, params):
    """Which of the usual mistakes it is, judged by how many gradients are stale."""
    fresh = sum(all(array._fresh_grad for array in other._data) for other in params)
    if fresh == 0:
        return (
            "no parameter has a new gradient: loss.backward() was not called since the last step, "
            "or the forward pass was not inside `with autograd.record():`."
        )
    owner = f"the block {param._owner}" if param._owner else f"'{param.name}'"
    return (
        f"{owner} took no part in the loss that backward was called on, or not on every context "
        f"({len(params) - fresh} of {len(params)} parameters are stale)."
    )
