"""`FeedForward`: the first training interface, kept for the programs that use it."""

import logging
import sys
import time
import warnings
from typing import Any

import numpy as np

from . import io
from . import ndarray as nd
from . import optimizer as opt
from . import symbol as sym
from ._training.checkpoint import BatchEndParam, load_checkpoint, save_checkpoint
from ._training.given import as_descriptions, as_metric
from ._training.updates import (
    call_all,
    create_kvstore,
    index_names,
    initialize_kvstore,
    update_params,
    update_params_on_kvstore,
)
from .base import mx_real_t
from .callback import LogValidationMetricsCallback
from .context import Context, cpu
from .executor_manager import DataParallelExecutorManager, _check_arguments, _load_data
from .initializer import Uniform
from .io import DataDesc

# scikit-learn's tools accept the class if the program uses them; it is not worth loading otherwise.
BASE_ESTIMATOR = getattr(sys.modules.get("sklearn.base"), "BaseEstimator", object)


class _Loop:
    """The training loop of `FeedForward`: epochs of batches, on several devices."""

    def __init__(self, manager, train_data, eval_data, eval_metric, epoch_size, logger, monitor):
        self.manager, self.train_data, self.eval_data = manager, train_data, eval_data
        self.metric, self.epoch_size, self.logger, self.monitor = eval_metric, epoch_size, logger, monitor
        self.kvstore = self.updater = None

    def set_optimizer(self, optimizer, kvstore, update_on_kvstore, arg_params):
        self.kvstore = kvstore
        if update_on_kvstore:
            kvstore.set_optimizer(optimizer)
        else:
            self.updater = opt.get_updater(optimizer)
        if kvstore:
            names = self.manager.param_names
            initialize_kvstore(kvstore, self.manager.param_arrays, arg_params, names, update_on_kvstore)

    def _update(self):
        manager = self.manager
        arrays = (manager.param_arrays, manager.grad_arrays)
        if self.updater is None:
            update_params_on_kvstore(*arrays, self.kvstore, manager.param_names)
        else:
            update_params(*arrays, self.updater, len(manager.ctx), self.kvstore, manager.param_names)

    def _batch(self, batch):
        self.manager.load_data_batch(batch)
        if self.monitor is not None:
            self.monitor.tic()
        self.manager.forward(is_train=True)
        self.manager.backward()
        self._update()
        if self.monitor is not None:
            self.monitor.toc_print()
        self.manager.update_metric(self.metric, batch.label)

    def _batches(self, epoch):
        """Batches until the epoch is full; the iterator starts again when it ends."""
        count = 0
        while True:
            for batch in self.train_data:
                yield batch
                count += 1
                if self.epoch_size is not None and count >= self.epoch_size:
                    return
            self.logger.info("Epoch[%d] Resetting Data Iterator", epoch)
            self.train_data.reset()
            if self.epoch_size is None:
                return

    def train(self, epoch, batch_end_callback):
        started = time.time()
        self.metric.reset()
        for nbatch, batch in enumerate(self._batches(epoch), 1):
            self._batch(batch)
            call_all(batch_end_callback, BatchEndParam(epoch, nbatch, self.metric, locals()))
        self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - started)

    def evaluate(self, epoch, batch_callback, end_callback):
        self.metric.reset()
        self.eval_data.reset()
        count = 0
        for count, batch in enumerate(self.eval_data, 1):
            self.manager.load_data_batch(batch)
            self.manager.forward(is_train=False)
            self.manager.update_metric(self.metric, batch.label)
            call_all(batch_callback, BatchEndParam(epoch, count - 1, self.metric, locals()))
        call_all(end_callback, BatchEndParam(epoch, count, self.metric, locals()))
        self.eval_data.reset()


def train_multi_device(
    symbol, ctx, arg_names, param_names, aux_names, arg_params, aux_params, begin_epoch, end_epoch, epoch_size,
    optimizer, kvstore, update_on_kvstore, train_data, eval_data=None, eval_metric=None, epoch_end_callback=None,
    batch_end_callback=None, logger=None, work_load_list=None, monitor=None, eval_end_callback=None,
    eval_batch_end_callback=None, sym_gen=None,
):  # fmt: skip
    """Train a symbol on the devices `ctx`; `arg_params` and `aux_params` are where it starts and what it learns."""
    logger = logger or logging
    manager = DataParallelExecutorManager(
        symbol, ctx, train_data, arg_names, param_names, aux_names, work_load_list, logger, sym_gen
    )
    if monitor:
        manager.install_monitor(monitor)
    manager.set_params(arg_params, aux_params)
    loop = _Loop(manager, train_data, eval_data, eval_metric, epoch_size, logger, monitor)
    loop.set_optimizer(optimizer, kvstore, update_on_kvstore, arg_params)
    train_data.reset()
    for epoch in range(begin_epoch, end_epoch):
        loop.train(epoch, batch_end_callback)
        if epoch_end_callback or epoch + 1 == end_epoch:
            manager.copy_to(arg_params, aux_params)
        call_all(epoch_end_callback, epoch, symbol, arg_params, aux_params)
        if eval_data:
            loop.evaluate(epoch, eval_batch_end_callback, eval_end_callback)


class FeedForward(BASE_ESTIMATOR):
    """A symbol with its parameters, trained by `fit`. Deprecated: `mx.mod.Module` replaces it.

    Parameters
    ----------
    symbol : Symbol or callable
        Network, or a function that makes the network of a bucket from its key.
    ctx : Context or list of Context, optional
        Devices; the CPU by default.
    num_epoch : int, optional
        Number of epochs that `fit` trains.
    epoch_size : int, optional
        Number of batches of an epoch; by default all that the iterator has.
    optimizer : str or Optimizer
        Optimizer, or its name.
    initializer : Initializer
        Fills the parameters that are not given.
    numpy_batch_size : int
        Batch size for data given as arrays.
    arg_params, aux_params : dict of str to NDArray, optional
        Values to begin with.
    allow_extra_params : bool
        Whether parameters that the symbol does not have are ignored.
    begin_epoch : int
        Number of the first epoch.
    **kwargs
        Arguments of the optimizer.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> X, y = np.array([[0.0, 1], [1, 0]]), np.array([1, 0])
    >>> net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
    >>> model = mx.model.FeedForward(net, num_epoch=20, learning_rate=1.0)
    >>> model.fit(X, y)
    >>> model.predict(X).argmax(axis=1)
    array([1, 0])
    """

    def __init__(
        self,
        symbol,
        ctx=None,
        num_epoch=None,
        epoch_size=None,
        optimizer="sgd",
        initializer: Any = Uniform(0.01),
        numpy_batch_size=128,
        arg_params=None,
        aux_params=None,
        allow_extra_params=False,
        begin_epoch=0,
        **kwargs,
    ):
        warnings.warn(
            "\033[91mmxnet.model.FeedForward has been deprecated. Please use mxnet.mod.Module instead.\033[0m",
            DeprecationWarning,
            stacklevel=2,
        )
        is_symbol = isinstance(symbol, sym.Symbol)
        assert is_symbol or callable(symbol), f"symbol must be a Symbol or a function of a bucket key, got {symbol!r}"
        self.symbol, self.sym_gen = (symbol, None) if is_symbol else (None, symbol)
        self.optimizer, self.kwargs, self.initializer = optimizer, kwargs.copy(), initializer
        self.num_epoch, self.begin_epoch, self.epoch_size = num_epoch, begin_epoch, epoch_size
        self.ctx = [cpu()] if ctx is None else [ctx] if isinstance(ctx, Context) else ctx
        self.numpy_batch_size = numpy_batch_size
        self.arg_params, self.aux_params, self.allow_extra_params = arg_params, aux_params, allow_extra_params
        self._pred_exec, self.argument_checked = None, False
        if is_symbol:
            self._check_arguments()

    def _check_arguments(self):
        """Check the names of the symbol's arguments, once, and drop parameters that are none of them."""
        if not self.argument_checked:
            _check_arguments(self.symbol)
            self.argument_checked = True
            if self.allow_extra_params:
                self.arg_params = _only(self.arg_params, self.symbol.list_arguments())
                self.aux_params = _only(self.aux_params, self.symbol.list_auxiliary_states())

    @staticmethod
    def _is_data_arg(name):
        return name.endswith(("data", "label"))

    def _init_params(self, inputs, overwrite=False):
        """Make and fill the parameters; returns the names of arguments, parameters and auxiliary states."""
        inputs = as_descriptions(inputs)
        shapes = {x.name: x.shape for x in inputs}
        arg_shapes, _, aux_shapes = self.symbol.infer_shape(**shapes)
        arg_types, _, aux_types = self.symbol.infer_type(**{x.name: x.dtype for x in inputs})
        args, auxs = self.symbol.list_arguments(), self.symbol.list_auxiliary_states()
        assert arg_shapes is not None and arg_types is not None
        made = {n: nd.zeros(s, dtype=t) for n, s, t in zip(args, arg_shapes, arg_types, strict=True)
                if n not in shapes}  # fmt: skip
        made_aux = {n: nd.zeros(s, dtype=t) for n, s, t in zip(auxs, aux_shapes, aux_types, strict=True)}
        self._fill(made, None if overwrite else self.arg_params)
        self._fill(made_aux, None if overwrite else self.aux_params)
        self.arg_params, self.aux_params = made, made_aux
        return args, list(made), auxs

    def _fill(self, arrays, known):
        for name, array in arrays.items():
            if known and name in known:
                array[:] = known[name]
            else:
                self.initializer(name, array)

    def __getstate__(self):
        return {**self.__dict__, "_pred_exec": None}

    def __setstate__(self, state):
        self.__dict__.update(state)

    def _init_predictor(self, input_shapes, type_dict=None):
        """Bind the symbol for inputs of these shapes, unless it is bound for them."""
        shapes = {name: array.shape for name, array in self.arg_params.items()}
        shapes.update({x[0]: x[1] for x in input_shapes})
        if not self._fits(shapes):
            _check_arguments(self.symbol)
            self._pred_exec = self.symbol.simple_bind(self.ctx[0], grad_req="null", type_dict=type_dict, **shapes)
            self._pred_exec.copy_params_from(self.arg_params, self.aux_params)

    def _fits(self, shapes):
        if self._pred_exec is None:
            return False
        needed, _, _ = self.symbol.infer_shape(**shapes)
        assert needed is not None, f"the shapes {shapes} do not determine those of all arguments"
        return needed == [array.shape for array in self._pred_exec.arg_arrays]

    def _init_iter(self, X, y, is_train):
        """An iterator over arrays; an iterator passes as it is."""
        if isinstance(X, io.DataIter):
            return X
        if not isinstance(X, (np.ndarray, nd.NDArray)):
            raise TypeError(f"X must be a DataIter or an array of NDArray or NumPy, got {type(X)}")
        y = _labels(X, y, required=is_train)
        size = min(X.shape[0], self.numpy_batch_size)
        if is_train:
            return io.NDArrayIter(X, y, size, shuffle=True, last_batch_handle="roll_over")
        return io.NDArrayIter(X, y, size, shuffle=False)

    def _init_eval_iter(self, eval_data):
        if eval_data is None or isinstance(eval_data, io.DataIter):
            return eval_data
        if not (isinstance(eval_data, (tuple, list)) and len(eval_data) == 2):
            raise TypeError(f"eval_data must be a DataIter or a pair of data and labels, got {type(eval_data)}")
        data, label = (np.array(part) if isinstance(part, list) else part for part in eval_data)
        if data is None:
            raise ValueError("Eval data is NONE")
        if label is None and isinstance(data, io.DataIter):
            return data
        return self._init_iter(data, label, is_train=True)

    def _forward_batches(self, data, num_batch, reset):
        """Run each batch through the predictor."""
        if reset:
            data.reset()
        types = {name: array.dtype for name, array in self.arg_params.items()}
        types.update({x[0]: x.dtype if isinstance(x, DataDesc) else mx_real_t for x in data.provide_data})
        self._init_predictor(data.provide_data, types)
        inputs = [self._pred_exec.arg_dict[x[0]] for x in data.provide_data]
        for number, batch in enumerate(data):
            if number == num_batch:
                return
            _load_data(batch, inputs)
            self._pred_exec.forward(is_train=False)
            yield number, batch

    def predict(self, X, num_batch=None, return_data=False, reset=True):
        """The outputs of the network.

        Parameters
        ----------
        X : DataIter or array
            Inputs.
        num_batch : int, optional
            How many batches to compute; all by default.
        return_data : bool
            Whether to return data and labels too.
        reset : bool
            Whether the iterator begins anew.

        Returns
        -------
        numpy.ndarray, or list of them for several outputs
            With `return_data`, a tuple of outputs, data and labels.

        Examples
        --------
        >>> model = mx.model.FeedForward(mx.sym.var("data") * 2, arg_params={}, aux_params={}, numpy_batch_size=2)
        >>> model.predict(np.ones((2, 3)))
        array([[2., 2., 2.],
               [2., 2., 2.]], dtype=float32)
        """
        data = self._init_iter(X, None, is_train=False)
        rows = []
        for _, batch in self._forward_batches(data, num_batch, reset):
            size = data.batch_size - batch.pad
            groups = [self._pred_exec.outputs, *([batch.data, batch.label] if return_data else [])]
            rows.append([[array[0:size].asnumpy() for array in group] for group in groups])
        joined = [_joined([row[k] for row in rows]) for k in range(3 if return_data else 1)]
        return tuple(joined) if return_data else joined[0]

    def score(self, X, eval_metric="acc", num_batch=None, batch_end_callback=None, reset=True):
        """The value of a metric on data.

        Parameters
        ----------
        X : DataIter
            Inputs and labels.
        eval_metric : EvalMetric or what `mx.metric.create` takes
            Metric.
        num_batch : int, optional
            How many batches to count; all by default.
        batch_end_callback : callable or list of callable, optional
            Called after each batch.
        reset : bool
            Whether the iterator begins anew.

        Returns
        -------
        float

        Examples
        --------
        >>> net = mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax")
        >>> model = mx.model.FeedForward(net, arg_params={}, aux_params={})
        >>> float(model.score(mx.io.NDArrayIter(np.eye(2), np.array([0, 1]), batch_size=2)))
        1.0
        """
        eval_metric = as_metric(eval_metric)
        data = self._init_iter(X, None, is_train=False)
        for number, batch in self._forward_batches(data, num_batch, reset):
            eval_metric.update(batch.label, self._pred_exec.outputs)
            call_all(batch_end_callback, BatchEndParam(0, number, eval_metric, locals()))
        return eval_metric.get()[1]

    def fit(
        self,
        X,
        y=None,
        eval_data=None,
        eval_metric="acc",
        epoch_end_callback=None,
        batch_end_callback=None,
        kvstore="local",
        logger=None,
        work_load_list=None,
        monitor=None,
        eval_end_callback=LogValidationMetricsCallback(),
        eval_batch_end_callback=None,
    ):
        """Train from `begin_epoch` to `num_epoch`.

        Parameters
        ----------
        X : DataIter or array
            Training data.
        y : array, optional
            Labels, if `X` is an array.
        eval_data : DataIter or (data, label), optional
            Validation data, scored after each epoch.
        eval_metric : EvalMetric or what `mx.metric.create` takes
            Metric of training and validation.
        epoch_end_callback, batch_end_callback : callable or list of callable, optional
            Called after each epoch with (epoch, symbol, arg_params, aux_params), after each batch with a
            `BatchEndParam`.
        kvstore : str or KVStore
            How gradients of several devices are put together.
        logger : logging.Logger, optional
            Where progress is logged.
        work_load_list : list of float, optional
            Share of the batch for each device.
        monitor : Monitor, optional
            Watches the arrays of the network.
        eval_end_callback, eval_batch_end_callback : callable or list of callable, optional
            Called after each evaluation and after each of its batches.

        Examples
        --------
        >>> net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
        >>> model = mx.model.FeedForward(net, num_epoch=1, numpy_batch_size=2)
        >>> _ = model.fit(np.ones((4, 3)), np.array([0, 1, 0, 1]))
        >>> model.predict(np.ones((2, 3))).shape
        (2, 2)
        """
        logger = logger or logging
        data, eval_data = self._init_iter(X, y, is_train=True), self._init_eval_iter(eval_data)
        if self.sym_gen:
            self.symbol = self.sym_gen(data.default_bucket_key)
            self._check_arguments()
        args, params, auxs = self._init_params([*data.provide_data, *data.provide_label])
        kvstore, update_on_kvstore = create_kvstore(kvstore, len(self.ctx), self.arg_params)
        optimizer = self._make_optimizer(params, data.batch_size, kvstore, update_on_kvstore)
        train_multi_device(
            self.symbol, self.ctx, args, params, auxs, self.arg_params, self.aux_params, self.begin_epoch,
            self.num_epoch, self.epoch_size, optimizer, kvstore, update_on_kvstore, data, eval_data,
            as_metric(eval_metric), epoch_end_callback, batch_end_callback, logger, work_load_list, monitor,
            eval_end_callback, eval_batch_end_callback, self.sym_gen,
        )  # fmt: skip

    def _make_optimizer(self, param_names, batch_size, kvstore, update_on_kvstore):
        names = index_names(param_names, len(self.ctx), update_on_kvstore)
        self.kwargs["sym"], self.kwargs["param_idx2name"] = self.symbol, names
        if isinstance(self.optimizer, str):
            if kvstore and "dist" in kvstore.type and "_async" not in kvstore.type:
                batch_size *= kvstore.num_workers
            return opt.create(self.optimizer, rescale_grad=1.0 / batch_size, **self.kwargs)
        if not self.optimizer.idx2name:
            self.optimizer.idx2name = names.copy()
        return self.optimizer

    def save(self, prefix, epoch=None, remove_amp_cast=True):
        """Write a checkpoint: `prefix-symbol.json` and `prefix-0001.params`.

        Parameters
        ----------
        prefix : str
            Beginning of the file names.
        epoch : int, optional
            Number of the checkpoint; `num_epoch` by default.
        remove_amp_cast : bool
            Whether casts of mixed precision are removed from the symbol.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> parameters = {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}
        >>> mx.model.FeedForward(net, arg_params=parameters, aux_params={}).save("fc", epoch=1)
        >>> mx.model.FeedForward.load("fc", 1).predict(mx.io.NDArrayIter(np.ones((1, 3)), batch_size=1))
        array([[3., 3.]], dtype=float32)
        """
        epoch = self.num_epoch if epoch is None else epoch
        assert epoch is not None
        save_checkpoint(prefix, epoch, self.symbol, self.arg_params, self.aux_params, remove_amp_cast)

    @staticmethod
    def load(prefix, epoch, ctx=None, **kwargs):
        """A model from a checkpoint; `fit` continues with the epoch after it.

        Parameters
        ----------
        prefix : str
            Beginning of the file names, as given to `save`.
        epoch : int
            Number of the checkpoint.
        ctx : Context or list of Context, optional
            Devices; the CPU by default.
        **kwargs
            Further arguments of :class:`FeedForward`.

        Returns
        -------
        FeedForward

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> mx.model.save_checkpoint("fc", 1, net, {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}, {})
        >>> mx.model.FeedForward.load("fc", 1).predict(mx.io.NDArrayIter(np.ones((1, 3)), batch_size=1))
        array([[3., 3.]], dtype=float32)
        """
        symbol, args, auxs = load_checkpoint(prefix, epoch)
        return FeedForward(symbol, ctx, begin_epoch=epoch, arg_params=args, aux_params=auxs, **kwargs)

    @staticmethod
    def create(
        symbol,
        X,
        y=None,
        ctx=None,
        num_epoch=None,
        epoch_size=None,
        optimizer="sgd",
        initializer: Any = Uniform(0.01),
        eval_data=None,
        eval_metric="acc",
        epoch_end_callback=None,
        batch_end_callback=None,
        kvstore="local",
        logger=None,
        work_load_list=None,
        eval_end_callback=LogValidationMetricsCallback(),
        eval_batch_end_callback=None,
        **kwargs,
    ):
        """Make a model and train it in one call.

        Parameters
        ----------
        symbol : Symbol
            The network.
        X, y : DataIter or array, and array of labels
            The training data, as for `fit`.
        ctx, num_epoch, epoch_size, optimizer, initializer, **kwargs
            As for the class.
        eval_data, eval_metric, epoch_end_callback, batch_end_callback, kvstore, logger, work_load_list,
        eval_end_callback
            As for `fit`.
        eval_batch_end_callback : callable, optional
            Called after each batch of the evaluation.

        Returns
        -------
        FeedForward

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> net = mx.sym.SoftmaxOutput(net, name="softmax")
        >>> data = mx.io.NDArrayIter(np.ones((4, 3)), np.array([0, 1, 0, 1]), batch_size=2)
        >>> model = mx.model.FeedForward.create(net, data, num_epoch=1, learning_rate=0.1)
        >>> sorted(model.arg_params)
        ['fc_bias', 'fc_weight']
        """
        made = FeedForward(symbol, ctx, num_epoch, epoch_size, optimizer, initializer, **kwargs)
        made.fit(
            X, y, eval_data, eval_metric, epoch_end_callback, batch_end_callback, kvstore, logger, work_load_list,
            eval_end_callback=eval_end_callback, eval_batch_end_callback=eval_batch_end_callback,
        )  # fmt: skip
        return made


def _labels(X, y, required):
    """Labels for the samples of `X` as a vector; zeros where there are none and none are required."""
    if y is None and not required:
        y = np.zeros(X.shape[0])
    elif y is None:
        raise ValueError("training on an array X needs labels: pass y, or a DataIter as X")
    if not isinstance(y, (np.ndarray, nd.NDArray)):
        raise TypeError(f"y must be an array of NDArray or NumPy, got {type(y)}")
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} samples, y has {y.shape[0]} labels")
    if tuple(y.shape[1:]) not in ((), (1,)):
        raise ValueError(f"y must have shape (n,) or (n, 1), got {y.shape}")
    return y if len(y.shape) == 1 else y.reshape((-1,))


def _only(params, names):
    return params and {k: v for k, v in params.items() if k in set(names)}


def _joined(groups):
    """Each array of the groups, its batches joined; alone if there is one."""
    arrays = [np.concatenate(parts) for parts in zip(*groups, strict=True)]
    return arrays[0] if len(arrays) == 1 else arrays
