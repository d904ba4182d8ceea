"""The loops of modules: `fit`, `score` and `predict` over the methods that a module defines."""

import time
from typing import Any

import numpy as np

from .. import ndarray
from .._metrics.base import number as as_number
from .._training.checkpoint import BatchEndParam
from .._training.given import as_metric
from .._training.updates import StopTraining, call_all, tell_end
from ..base import _as_list  # noqa: F401 - MXNet shows it here, and modules of detectors take it
from ..context import cpu  # noqa: F401 - MXNet shows it here
from ..initializer import Uniform
from ..io import DataBatch, DataDesc, DataIter  # noqa: F401 - MXNet shows them here
from ._position import Position


def _labels(batch):
    """(labels, whether they are given device by device)."""
    if isinstance(batch, list):
        return [b.label for b in batch], True
    return batch.label, False


class Loops:
    """Training, scoring and predicting, batch by batch; `BaseModule` inherits them."""

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
        callbacks = epoch_end_callback, batch_end_callback, eval_end_callback, eval_batch_end_callback
        with Position(self, eval_metric, resume, resume_prefix, resume_every, *callbacks) as position:
            metrics, epochs = (eval_metric, validation_metric), range(position.begin(begin_epoch), num_epoch)
            self._fit_epochs(position, epochs, train_data, eval_data, *metrics, *callbacks, monitor, sparse_row_id_fn)
        tell_end(*callbacks)

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
