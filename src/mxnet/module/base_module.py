"""The base of modules: loops for training, scoring and predicting over methods that subclasses define."""

import logging
import time
import warnings
from typing import Any

import numpy as np

from .. import ndarray
from .._metrics.base import number as as_number
from .._training.checkpoint import BatchEndParam, save_param_dicts, split_param_dict
from .._training.given import as_descriptions, as_metric
from .._training.updates import StopTraining, call_all, tell_end
from ..base import _as_list  # noqa: F401 - MXNet shows it here, and modules of detectors take it
from ..context import cpu  # noqa: F401 - MXNet shows it here
from ..initializer import Uniform
from ..io import DataBatch, DataDesc, DataIter  # noqa: F401 - MXNet shows them here
from ..ndarray.utils import load_named
from ._position import Position

NOT_READY = "call bind, then init_params, and init_optimizer before update; fit does all of it"
NO_INPUT_GRADS = "there are gradients of inputs after bind(…, inputs_need_grad=True), init_params and backward"
PARAMETER_ENDINGS = ("_weight", "_bias", "_gamma", "_beta")


def _complain(message, throw):
    if throw:
        raise ValueError(message)
    warnings.warn(message, stacklevel=3)


def _check_input_names(symbol, names, typename, throw):
    """Names given to a module must be arguments of its symbol."""
    arguments = symbol.list_arguments()
    for name in names:
        if name not in arguments:
            candidates = "\n\t".join(a for a in arguments if not a.endswith(PARAMETER_ENDINGS))
            _complain(
                f"\033[91mYou created Module with Module(..., {typename}_names={names}) but input with name "
                f"'{name}' is not found in symbol.list_arguments(). Did you mean one of:\n\t{candidates}\033[0m",
                throw,
            )


def _check_names_match(data_names, data_shapes, name, throw):
    if sorted(data_names) != sorted(x[0] for x in data_shapes):
        _complain(
            f"Data provided by {name}_shapes don't match names specified by {name}_names "
            f"({data_shapes} vs. {data_names}); name them alike: {name}_name= of the iterator, "
            f"{name}_names= of the Module",
            throw,
        )


def _parse_data_desc(data_names, label_names, data_shapes, label_shapes):
    """Shapes as `DataDesc`, their names checked."""
    data_shapes = as_descriptions(data_shapes)
    _check_names_match(data_names, data_shapes, "data", True)
    if label_shapes is not None:
        label_shapes = as_descriptions(label_shapes)
    _check_names_match(label_names, label_shapes or [], "label", False)
    return data_shapes, label_shapes


def _labels(batch):
    """(labels, whether they are given device by device)."""
    if isinstance(batch, list):
        return [b.label for b in batch], True
    return batch.label, False


def shown(attribute, doc, bound=False):
    """A property that reads an attribute; if `bound`, only after `bind`."""

    def read(self):
        assert self.binded or not bound, NOT_READY
        return getattr(self, attribute)

    return property(read, doc=doc)


class BaseModule:
    """Base of all modules: the loops `fit`, `score` and `predict`, over methods that subclasses define.

    Subclasses define binding (`bind`, `init_params`, `init_optimizer`), computing (`forward`, `backward`,
    `get_outputs`, `get_input_grads`), updating (`update`, `update_metric`) and the properties that describe inputs and
    outputs. :class:`Module` is the usual one.

    Parameters
    ----------
    logger : logging.Logger or module
        Where progress is logged.

    Examples
    --------
    >>> data = mx.io.NDArrayIter(np.ones((4, 3)), np.array([0, 1, 0, 1]), batch_size=2)
    >>> net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
    >>> mod = mx.mod.Module(net)
    >>> mod.fit(data, num_epoch=1)
    >>> mod.predict(data).shape
    (4, 2)
    """

    binded = for_training = inputs_need_grad = params_initialized = optimizer_initialized = False
    _symbol, _total_exec_bytes = None, 0

    def __init__(self, logger=logging):
        self.logger = logger

    # ------------------------------------------------------------------ guards
    def _assert_bound(self):
        assert self.binded, NOT_READY

    def _assert_ready(self, optimizer=False):
        """Bound, with parameters and, to update them, an optimizer."""
        assert self.binded and self.params_initialized and (self.optimizer_initialized or not optimizer), NOT_READY

    def _assert_input_grads(self):
        assert self.binded and self.params_initialized and self.inputs_need_grad, NO_INPUT_GRADS

    def _reset_bind(self):
        self.binded = False

    def _begin_bind(self, force_rebind, for_training, inputs_need_grad):
        """Whether `bind` has something to do: a module that is bound stays so, unless it is forced."""
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return False
        if force_rebind:
            self._reset_bind()
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        return True

    def _keeps_optimizer(self, force_init):
        """Whether `init_optimizer` has nothing to do."""
        self._assert_ready()
        keeps = self.optimizer_initialized and not force_init
        if keeps:
            self.logger.warning("optimizer already initialized, ignoring.")
        return keeps

    # ------------------------------------------------------------------ loops
    def forward_backward(self, data_batch):
        """Compute outputs, in training mode, and gradients of a batch.

        Parameters
        ----------
        data_batch : DataBatch
            Inputs and labels.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc")
        >>> mod = mx.mod.Module(mx.sym.LinearRegressionOutput(net, name="out"), label_names=["out_label"])
        >>> mod.bind([("data", (2, 3))], [("out_label", (2, 1))])
        >>> mod.init_params(mx.init.One())
        >>> mod.forward_backward(mx.io.DataBatch([mx.nd.ones((2, 3))], [mx.nd.zeros((2, 1))]))
        >>> mod.get_outputs()[0].asnumpy()
        array([[3.],
               [3.]], dtype=float32)
        """
        self.forward(data_batch, True)
        self.backward()

    def _forwarded(self, data, num_batch, reset, sparse_row_id_fn):
        """(number, batch) for each batch, after it has been computed."""
        self._assert_ready()
        if reset:
            data.reset()
        for number, batch in enumerate(data):
            if num_batch is not None and number == num_batch:
                return
            self.prepare(batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(batch, is_train=False)
            yield number, batch

    def score(
        self,
        eval_data,
        eval_metric,
        num_batch=None,
        batch_end_callback=None,
        score_end_callback=None,
        reset=True,
        epoch=0,
        sparse_row_id_fn=None,
    ):
        """Compute a metric on data.

        Parameters
        ----------
        eval_data : DataIter
            Inputs and labels.
        eval_metric : EvalMetric or what `mx.metric.create` takes
            Metric; it is reset first.
        num_batch : int, optional
            How many batches to count; all by default.
        batch_end_callback, score_end_callback : callable or list of callable, optional
            Called with a `BatchEndParam` after each batch, and at the end.
        reset : bool
            Whether the iterator begins anew.
        epoch : int
            Number passed to the callbacks.
        sparse_row_id_fn : callable, optional
            Takes a batch and returns which rows of row-sparse parameters it needs, by name.

        Returns
        -------
        list of (str, float)
            Names and values of the metric.

        Examples
        --------
        >>> data = mx.io.NDArrayIter(np.eye(2), np.array([0, 1]), batch_size=1)
        >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax"))
        >>> mod.bind(data.provide_data, data.provide_label)
        >>> mod.init_params()
        >>> mod.score(data, "acc")
        [('accuracy', 1.0)]
        """
        eval_metric = as_metric(eval_metric)
        eval_metric.reset()
        count = 0
        for nbatch, eval_batch in self._forwarded(eval_data, num_batch, reset, sparse_row_id_fn):
            self.update_metric(eval_metric, *_labels(eval_batch))
            call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            count += 1
        call_all(score_end_callback, BatchEndParam(epoch, count, eval_metric, locals()))
        return eval_metric.get_name_value()

    def _unpadded(self, batch):
        return [out[0 : out.shape[0] - (batch.pad or 0)] for out in self.get_outputs()]

    def iter_predict(self, eval_data, num_batch=None, reset=True, sparse_row_id_fn=None):
        """Compute the outputs batch by batch.

        Parameters
        ----------
        eval_data : DataIter
            Inputs.
        num_batch : int, optional
            How many batches to compute; all by default.
        reset : bool
            Whether the iterator begins anew.
        sparse_row_id_fn : callable, optional
            As for `score`.

        Yields
        ------
        (list of NDArray, int, DataBatch)
            Outputs without padding, number of the batch, and the batch.

        Examples
        --------
        >>> data = mx.io.NDArrayIter(np.ones((3, 2)), batch_size=2)
        >>> mod = mx.mod.Module(mx.sym.var("data") * 2, label_names=None)
        >>> mod.bind(data.provide_data, for_training=False)
        >>> mod.init_params()
        >>> [(number, outputs[0].shape) for outputs, number, batch in mod.iter_predict(data)]
        [(0, (2, 2)), (1, (1, 2))]
        """
        for nbatch, batch in self._forwarded(eval_data, num_batch, reset, sparse_row_id_fn):
            yield self._unpadded(batch), nbatch, batch

    def predict(
        self, eval_data, num_batch=None, merge_batches=True, reset=True, always_output_list=False, sparse_row_id_fn=None
    ):
        """Compute the outputs for data.

        Parameters
        ----------
        eval_data : DataIter, NDArray or numpy.ndarray
            Inputs; an array is one batch.
        num_batch : int, optional
            How many batches to compute; all by default.
        merge_batches : bool
            Whether the outputs of all batches are joined, or given as a list for each batch.
        reset : bool
            Whether the iterator begins anew.
        always_output_list : bool
            Whether a single output is in a list too.
        sparse_row_id_fn : callable, optional
            As for `score`.

        Returns
        -------
        NDArray or list of NDArray, or list of lists of NDArray without `merge_batches`

        Examples
        --------
        >>> data = mx.io.NDArrayIter(np.ones((3, 2)), batch_size=2)
        >>> mod = mx.mod.Module(mx.sym.var("data") * 2, label_names=None)
        >>> mod.bind(data.provide_data, for_training=False)
        >>> mod.init_params()
        >>> mod.predict(data).shape
        (3, 2)
        """
        self._assert_ready()
        if isinstance(eval_data, (ndarray.NDArray, np.ndarray)):
            data = ndarray.array(eval_data) if isinstance(eval_data, np.ndarray) else eval_data
            self.forward(DataBatch([data]))
            return self.get_outputs()[0]
        if not isinstance(eval_data, DataIter):
            raise ValueError(f"predict takes a DataIter or an array, got {type(eval_data)}")
        found = [
            [out.copy() for out in self._unpadded(batch)]
            for _, batch in self._forwarded(eval_data, num_batch, reset, sparse_row_id_fn)
        ]
        return self._merge(found, always_output_list) if merge_batches and found else found

    @staticmethod
    def _merge(found, always_output_list):
        assert len({len(outputs) for outputs in found}) == 1, (
            "Cannot merge batches with different numbers of outputs; merge_batches=False returns each batch"
        )
        merged = [ndarray.concatenate(list(parts)) for parts in zip(*found, strict=True)]
        return merged[0] if len(merged) == 1 and not always_output_list else merged

    def fit(
        self,
        train_data,
        eval_data=None,
        eval_metric="acc",
        epoch_end_callback=None,
        batch_end_callback=None,
        kvstore="local",
        optimizer="sgd",
        optimizer_params=(("learning_rate", 0.01),),
        eval_end_callback=None,
        eval_batch_end_callback=None,
        initializer: Any = Uniform(0.01),
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_rebind=False,
        force_init=False,
        begin_epoch=0,
        num_epoch=None,
        validation_metric=None,
        monitor=None,
        sparse_row_id_fn=None,
        resume=None,
        resume_prefix=None,
        resume_every=None,
    ):
        """Train: bind, initialize, then epochs of forward, backward and update.

        With `resume="auto"` the state of training is saved under `resume_prefix` after each epoch and after every
        `resume_every` batches. Another call, in this process or in another one after a crash, continues from there
        with the same results. Whenever there is such a prefix, SIGTERM lets the current batch end and saves it before
        the program ends.

        Parameters
        ----------
        train_data : DataIter
            Training data.
        eval_data : DataIter, optional
            Validation data, scored after each epoch.
        eval_metric : EvalMetric or what `mx.metric.create` takes
            Metric of training.
        epoch_end_callback : callable or list of callable, optional
            Called after each epoch with (epoch, symbol, arg_params, aux_params).
        batch_end_callback : callable or list of callable, optional
            Called after each batch with a `BatchEndParam`.
        kvstore, optimizer, optimizer_params
            As for `init_optimizer`.
        eval_end_callback, eval_batch_end_callback : callable or list of callable, optional
            Called after each evaluation, and after each of its batches.
        initializer, arg_params, aux_params, allow_missing, force_init
            As for `init_params`.
        force_rebind : bool
            As for `bind`.
        begin_epoch, num_epoch : int
            First epoch, and the one that is not trained any more.
        validation_metric : EvalMetric or what `mx.metric.create` takes, optional
            Metric of validation; by default `eval_metric`.
        monitor : Monitor, optional
            Watches the arrays of the network.
        sparse_row_id_fn : callable, optional
            As for `prepare`.
        resume : {"auto", None}
            Whether to continue an earlier run.
        resume_prefix : str, optional
            Beginning of the file names; by default that of a checkpoint callback.
        resume_every : int, optional
            Number of batches between saves within an epoch.

        Examples
        --------
        >>> data = mx.io.NDArrayIter(np.ones((4, 3)), np.array([0, 1, 0, 1]), batch_size=2)
        >>> net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), name="softmax")
        >>> mod = mx.mod.Module(net)
        >>> mod.fit(data, num_epoch=2, optimizer="adam", optimizer_params={"learning_rate": 0.01})
        >>> mod.score(data, "acc")
        [('accuracy', 0.5)]
        """
        assert num_epoch is not None, "please specify number of epochs: fit(..., num_epoch=10)"
        self.bind(train_data.provide_data, train_data.provide_label, for_training=True, force_rebind=force_rebind)
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(initializer, arg_params, aux_params, allow_missing=allow_missing, force_init=force_init)
        self.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params)
        validation_metric = eval_metric if validation_metric is None else validation_metric
        eval_metric = as_metric(eval_metric)
        with Position(
            self,
            eval_metric,
            resume,
            resume_prefix,
            resume_every,
            epoch_end_callback,
            batch_end_callback,
            eval_end_callback,
            eval_batch_end_callback,
        ) as position:
            self._fit_epochs(
                position, range(position.begin(begin_epoch), num_epoch), train_data, eval_data, eval_metric,
                validation_metric, epoch_end_callback, batch_end_callback, eval_end_callback, eval_batch_end_callback,
                monitor, sparse_row_id_fn,
            )  # fmt: skip
        tell_end(epoch_end_callback, batch_end_callback, eval_end_callback, eval_batch_end_callback)

    def _fit_epochs(
        self, position, epochs, train_data, eval_data, eval_metric, validation_metric, epoch_end_callback,
        batch_end_callback, eval_end_callback, eval_batch_end_callback, monitor, sparse_row_id_fn,
    ):  # fmt: skip
        for epoch in epochs:
            started = time.time()
            results = self._train_epoch(
                epoch, train_data, eval_metric, batch_end_callback, monitor, sparse_row_id_fn, position
            )
            for name, value in results:
                self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, as_number(value))
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - started)
            # From the devices and back to them, so that they agree and `get_params` is up to date.
            arg_params, aux_params = self.get_params()
            self.set_params(arg_params, aux_params)
            stopped = False
            try:
                call_all(epoch_end_callback, epoch, self.symbol, arg_params, aux_params)
                if eval_data is not None:
                    self._validate(epoch, eval_data, validation_metric, eval_end_callback, eval_batch_end_callback)
            except StopTraining:
                stopped = True
            position.after_epoch(train_data, last=stopped or epoch == epochs[-1])
            if stopped:
                break

    def _validate(self, epoch, eval_data, metric, end_callback, batch_callback):
        for name, value in self.score(
            eval_data, metric, score_end_callback=end_callback, batch_end_callback=batch_callback, epoch=epoch
        ):
            self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, as_number(value))

    def _train_epoch(self, epoch, train_data, eval_metric, batch_end_callback, monitor, sparse_row_id_fn, position):
        """All batches once; returns the metric's global values. The next batch loads while this one computes."""
        nbatch = position.batch
        if nbatch == 0:
            eval_metric.reset()
        batches = position.batches(train_data)
        data_batch = next(batches) if nbatch == 0 else next(batches, None)
        results = eval_metric.get_global_name_value() if data_batch is None else []
        while data_batch is not None:
            if monitor is not None:
                monitor.tic()
            self.forward_backward(data_batch)
            self.update()
            self.update_metric(eval_metric, *_labels(data_batch))
            following = next(batches, None)
            if following is not None:
                self.prepare(following, sparse_row_id_fn=sparse_row_id_fn)
            if monitor is not None:
                monitor.toc_print()
            if following is None:
                results = eval_metric.get_global_name_value()
            call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            data_batch, nbatch = following, nbatch + 1
            position.after_batch()
        return results

    # ------------------------------------------------------------------ what it is
    @property
    def data_names(self):
        """Names of the inputs, a list of str.

        Examples
        --------
        >>> mx.mod.Module(mx.sym.var("data") * 2, label_names=None).data_names
        ['data']
        """
        raise NotImplementedError

    @property
    def output_names(self):
        """Names of the outputs, a list of str.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> mx.mod.Module(net, label_names=None).output_names
        ['fc_output']
        """
        raise NotImplementedError

    @property
    def data_shapes(self):
        """Descriptions of the inputs, a list of DataDesc; known after `bind`.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") * 2, label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.data_shapes
        [DataDesc[data,(4, 3),<class 'numpy.float32'>,NCHW]]
        """
        raise NotImplementedError

    @property
    def label_shapes(self):
        """Descriptions of the labels, a list of DataDesc, or None without labels; known after `bind`.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax"))
        >>> mod.bind([("data", (4, 3))], [("softmax_label", (4,))])
        >>> mod.label_shapes
        [DataDesc[softmax_label,(4,),<class 'numpy.float32'>,NCHW]]
        """
        raise NotImplementedError

    @property
    def output_shapes(self):
        """Name and shape of each output, a list of pairs; known after `bind`.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> mod = mx.mod.Module(net, label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.output_shapes
        [('fc_output', (4, 2))]
        """
        raise NotImplementedError

    @property
    def symbol(self):
        """The symbol that the module computes.

        Examples
        --------
        >>> mx.mod.Module(mx.sym.var("data"), label_names=None).symbol
        <Symbol data>
        """
        return self._symbol

    # ------------------------------------------------------------------ parameters
    def get_params(self):
        """The parameters and auxiliary states.

        Returns
        -------
        (dict of str to NDArray, dict of str to NDArray)
            Arrays on the CPU.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.init_params(mx.init.One())
        >>> arg_params, aux_params = mod.get_params()
        >>> arg_params["fc_weight"].shape
        (2, 3)
        """
        raise NotImplementedError

    def init_params(
        self,
        initializer: Any = Uniform(0.01),
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        """Give the parameters their first values.

        Parameters
        ----------
        initializer : Initializer
            Fills what is not given.
        arg_params, aux_params : dict of str to NDArray, optional
            Given values by name.
        allow_missing : bool
            Whether values may be missing among those given.
        force_init : bool
            Whether parameters that have values get new ones.
        allow_extra : bool
            Whether values of names that the module does not have are ignored.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.init_params(mx.init.Zero(), arg_params={"fc_weight": mx.nd.ones((2, 3))}, allow_missing=True)
        >>> mod.get_params()[0]["fc_weight"].asnumpy().tolist()
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
        """
        raise NotImplementedError

    def set_params(self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False):
        """Set the parameters.

        Parameters
        ----------
        arg_params, aux_params : dict of str to NDArray
            Values by name.
        allow_missing : bool
            Whether parameters that are not given keep their values.
        force_init : bool
            Whether to overwrite parameters that have values.
        allow_extra : bool
            Whether values of names that the module does not have are ignored.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.set_params({"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}, {})
        >>> mod.get_params()[0]["fc_weight"].asnumpy().tolist()
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
        """
        self.init_params(
            initializer=None,
            arg_params=arg_params,
            aux_params=aux_params,
            allow_missing=allow_missing,
            force_init=force_init,
            allow_extra=allow_extra,
        )

    def save_params(self, fname):
        """Write parameters and auxiliary states to a file that `load_params` reads.

        Parameters
        ----------
        fname : str
            Path of the file.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.init_params()
        >>> mod.save_params("fc.params")
        >>> sorted(mx.nd.load("fc.params"))
        ['arg:fc_bias', 'arg:fc_weight']
        """
        save_param_dicts(fname, *self.get_params())

    def load_params(self, fname):
        """Set the parameters to those of a file.

        Parameters
        ----------
        fname : str
            Path of a file that `save_params` wrote.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc"), label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mx.nd.save("fc.params", {"arg:fc_weight": mx.nd.ones((2, 3)), "arg:fc_bias": mx.nd.zeros((2,))})
        >>> mod.load_params("fc.params")
        >>> mod.get_params()[0]["fc_weight"].asnumpy().tolist()
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
        """

        def refuse(name):
            raise ValueError(f"Invalid param file {fname}: {name!r} begins with neither arg: nor aux:")

        self.set_params(*split_param_dict(load_named(fname), refuse))

    def get_states(self, merge_multi_context=True):
        """The states, arrays that are kept from batch to batch, of modules that have any.

        Parameters
        ----------
        merge_multi_context : bool
            Must be False.

        Returns
        -------
        list of lists of NDArray
            For each state an array on every device.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") + mx.sym.var("h"), label_names=None, state_names=["h"])
        >>> mod.bind([("data", (4, 3))], for_training=False)
        >>> mod.init_params()
        >>> mod.get_states(merge_multi_context=False)[0][0].shape
        (4, 3)
        """
        self._assert_ready()
        assert not merge_multi_context
        return []

    def set_states(self, states=None, value=None):
        """Set the states of modules that have any; exactly one argument is given.

        Parameters
        ----------
        states : list of lists of NDArray, optional
            For each state an array for every device.
        value : float, optional
            A value for all of them.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") + mx.sym.var("h"), label_names=None, state_names=["h"])
        >>> mod.bind([("data", (1, 3))], for_training=False)
        >>> mod.init_params()
        >>> mod.set_states(value=5)
        >>> mod.forward(mx.io.DataBatch([mx.nd.ones((1, 3))]))
        >>> mod.get_outputs()[0].asnumpy()
        array([[6., 6., 6.]], dtype=float32)
        """
        self._assert_ready()
        assert not states and not value

    def install_monitor(self, mon):
        """Let a monitor collect statistics of the outputs of all operators; after `bind`.

        Parameters
        ----------
        mon : Monitor
            The monitor, see :class:`mxnet.monitor.Monitor`.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> mod = mx.mod.Module(net, label_names=None)
        >>> mod.bind([("data", (1, 3))])
        >>> mod.init_params(mx.init.One())
        >>> monitor = mx.mon.Monitor(1, pattern="fc_output")
        >>> mod.install_monitor(monitor)
        >>> monitor.tic()
        >>> mod.forward(mx.io.DataBatch([mx.nd.ones((1, 3))]))
        >>> [(name, value.strip()) for _, name, value in monitor.toc()]
        [('fc_output', '3.0')]
        """
        raise NotImplementedError

    # ------------------------------------------------------------------ computing
    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Prepare for a batch before `forward` gets it.

        Parameters
        ----------
        data_batch : DataBatch
            The batch.
        sparse_row_id_fn : callable, optional
            Takes the batch and returns which rows of row-sparse parameters it needs, by name.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") * 2, label_names=None)
        >>> mod.bind([("data", (1, 3))])
        >>> mod.init_params()
        >>> mod.prepare(mx.io.DataBatch([mx.nd.ones((1, 3))]))
        """
        if sparse_row_id_fn is not None:
            warnings.warn(UserWarning("sparse_row_id_fn is not invoked for BaseModule."), stacklevel=2)

    def forward(self, data_batch, is_train=None):
        """Compute the outputs for a batch.

        Parameters
        ----------
        data_batch : DataBatch
            Inputs and, for training, labels.
        is_train : bool, optional
            Whether layers such as Dropout behave as in training; by default as given to `bind`.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") * 2, label_names=None)
        >>> mod.bind([("data", (1, 3))])
        >>> mod.init_params()
        >>> mod.forward(mx.io.DataBatch([mx.nd.ones((1, 3))]), is_train=False)
        >>> mod.get_outputs()[0].asnumpy()
        array([[2., 2., 2.]], dtype=float32)
        """
        raise NotImplementedError

    def backward(self, out_grads=None):
        """Compute the gradients of what `forward` computed.

        Parameters
        ----------
        out_grads : NDArray or list of NDArray, optional
            Gradients of the outputs, for networks whose outputs are not losses.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") * 2, label_names=None)
        >>> mod.bind([("data", (1, 3))], inputs_need_grad=True)
        >>> mod.init_params()
        >>> mod.forward(mx.io.DataBatch([mx.nd.ones((1, 3))]), is_train=True)
        >>> mod.backward([mx.nd.array([[1, 10, 100]])])
        >>> mod.get_input_grads()[0].asnumpy()
        array([[  2.,  20., 200.]], dtype=float32)
        """
        raise NotImplementedError

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last `forward`.

        Parameters
        ----------
        merge_multi_context : bool
            Whether parts on several devices are joined.

        Returns
        -------
        list of NDArray, or list of lists of NDArray without `merge_multi_context`

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") * 2, label_names=None, context=[mx.cpu(0), mx.cpu(1)])
        >>> mod.bind([("data", (4, 3))], for_training=False)
        >>> mod.init_params()
        >>> mod.forward(mx.io.DataBatch([mx.nd.ones((4, 3))]))
        >>> mod.get_outputs()[0].shape, [part.shape for part in mod.get_outputs(merge_multi_context=False)[0]]
        ((4, 3), [(2, 3), (2, 3)])
        """
        raise NotImplementedError

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the inputs that the last `backward` computed.

        Parameters
        ----------
        merge_multi_context : bool
            Whether parts on several devices are joined.

        Returns
        -------
        list of NDArray, or list of lists of NDArray without `merge_multi_context`

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.var("data") ** 2, label_names=None)
        >>> mod.bind([("data", (1, 2))], inputs_need_grad=True)
        >>> mod.init_params()
        >>> mod.forward(mx.io.DataBatch([mx.nd.array([[3, 4]])]), is_train=True)
        >>> mod.backward([mx.nd.ones((1, 2))])
        >>> mod.get_input_grads()[0].asnumpy()
        array([[6., 8.]], dtype=float32)
        """
        raise NotImplementedError

    def update(self):
        """Update the parameters with the gradients of the last `backward`; after `init_optimizer`.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, no_bias=True, name="fc")
        >>> mod = mx.mod.Module(net, label_names=None)
        >>> mod.bind([("data", (1, 2))])
        >>> mod.init_params(mx.init.One())
        >>> mod.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.5})
        >>> mod.forward(mx.io.DataBatch([mx.nd.array([[1, 2]])]), is_train=True)
        >>> mod.backward([mx.nd.ones((1, 1))])
        >>> mod.update()
        >>> mod.get_params()[0]["fc_weight"].asnumpy()
        array([[0.5, 0. ]], dtype=float32)
        """
        raise NotImplementedError

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Count the outputs of the last `forward` in a metric.

        Parameters
        ----------
        eval_metric : EvalMetric
            Metric.
        labels : list of NDArray
            Labels of the batch.
        pre_sliced : bool
            Whether `labels` is a list of such lists, one for each device.

        Examples
        --------
        >>> mod = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.var("data"), name="softmax"))
        >>> mod.bind([("data", (2, 2))], [("softmax_label", (2,))])
        >>> mod.init_params()
        >>> batch = mx.io.DataBatch([mx.nd.array([[5, 0], [5, 0]])], [mx.nd.array([0, 1])])
        >>> mod.forward(batch, is_train=False)
        >>> metric = mx.metric.Accuracy()
        >>> mod.update_metric(metric, batch.label)
        >>> metric.get()
        ('accuracy', 0.5)
        """
        raise NotImplementedError

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
        """Make the executors for inputs of given shapes; before anything can be computed.

        Parameters
        ----------
        data_shapes, label_shapes : list of DataDesc or of (str, tuple)
            Names and shapes of inputs and labels, as an iterator's `provide_data` and `provide_label` have them.
        for_training : bool
            Whether gradients will be computed.
        inputs_need_grad : bool
            Whether those of the inputs too.
        force_rebind : bool
            Whether to bind again if it is bound.
        shared_module : BaseModule, optional
            Module whose parameters and memory are used.
        grad_req : str, list of str or dict of str to str
            "write", "add" or "null" for each argument's gradient, or one for all.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> mod = mx.mod.Module(net, label_names=None)
        >>> mod.bind(data_shapes=[("data", (4, 3))])
        >>> mod.binded, mod.output_shapes
        (True, [('fc_output', (4, 2))])
        """
        raise NotImplementedError

    def init_optimizer(
        self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), force_init=False
    ):
        """Make the optimizer and, if several devices need one, the key-value store.

        Parameters
        ----------
        kvstore : str or KVStore
            Puts together the gradients of several devices or machines.
        optimizer : str or Optimizer
            Optimizer, or its name.
        optimizer_params : dict, or pairs of names and values
            Arguments of the optimizer.
        force_init : bool
            Whether to replace an optimizer.

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
        >>> mod = mx.mod.Module(net, label_names=None)
        >>> mod.bind([("data", (4, 3))])
        >>> mod.init_params()
        >>> mod.init_optimizer(optimizer="adam", optimizer_params={"learning_rate": 0.01})
        >>> mod.optimizer_initialized
        True
        """
        raise NotImplementedError
