"""What all modules have: the loops of training, scoring and predicting, over an interface that subclasses fill."""

import logging
import time
import warnings
from typing import Any

import numpy as np

from .. import ndarray
from .._training.checkpoint import BatchEndParam, save_param_dicts, split_param_dict
from .._training.given import as_descriptions, as_metric
from .._training.updates import call_all
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


class BaseModule:
    """A network that computes, learns and predicts. Subclasses fill in binding, computing and updating."""

    def __init__(self, logger=logging):
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol = None
        self._total_exec_bytes = 0

    # ------------------------------------------------------------------ loops
    def forward_backward(self, data_batch):
        """One batch forward, in training mode, and backward."""
        self.forward(data_batch, is_train=True)
        self.backward()

    def _forwarded(self, data, num_batch, reset, sparse_row_id_fn):
        """(number, batch) for each batch, after it has been computed."""
        assert self.binded and self.params_initialized, NOT_READY
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
        """[(name, value)] of the metric on `eval_data`."""
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
        """Yield (outputs, batch number, batch)."""
        for nbatch, batch in self._forwarded(eval_data, num_batch, reset, sparse_row_id_fn):
            yield self._unpadded(batch), nbatch, batch

    def predict(
        self, eval_data, num_batch=None, merge_batches=True, reset=True, always_output_list=False, sparse_row_id_fn=None
    ):
        """The outputs for an array or an iterator: joined over batches, or a list for each batch."""
        assert self.binded and self.params_initialized, NOT_READY
        if isinstance(eval_data, (ndarray.NDArray, np.ndarray)):
            data = ndarray.array(eval_data) if isinstance(eval_data, np.ndarray) else eval_data
            self.forward(DataBatch([data]))
            return self.get_outputs()[0]
        if not isinstance(eval_data, DataIter):
            raise ValueError(f"eval_data must be of type NDArray or DataIter, got {type(eval_data)}")
        found = [
            [out.copy() for out in self._unpadded(batch)]
            for _, batch in self._forwarded(eval_data, num_batch, reset, sparse_row_id_fn)
        ]
        return self._merge(found, always_output_list) if merge_batches and found else found

    @staticmethod
    def _merge(found, always_output_list):
        assert len({len(outputs) for outputs in found}) == 1, (
            "Cannot merge batches, as num of outputs is not the same in mini-batches. Maybe bucketing is used?"
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
        """Train from `begin_epoch` to `num_epoch`: bind, initialize, then epochs of forward, backward, update.

        With `resume="auto"` everything is saved under `resume_prefix` (if not given, that of a checkpoint callback)
        after each epoch and after every `resume_every` batches, and another call, in this process or in another after a
        crash, goes on from there as if nothing had happened. Whenever there is such a prefix, SIGTERM lets the batch
        end and saves it before the program ends.
        """
        assert num_epoch is not None, "please specify number of epochs"
        self.bind(train_data.provide_data, train_data.provide_label, for_training=True, force_rebind=force_rebind)
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(initializer, arg_params, aux_params, allow_missing=allow_missing, force_init=force_init)
        self.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params)
        validation_metric = eval_metric if validation_metric is None else validation_metric
        eval_metric = as_metric(eval_metric)
        with Position(
            self, eval_metric, resume, resume_prefix, resume_every, epoch_end_callback, batch_end_callback
        ) as position:
            self._fit_epochs(
                position, range(position.begin(begin_epoch), num_epoch), train_data, eval_data, eval_metric,
                validation_metric, epoch_end_callback, batch_end_callback, eval_end_callback, eval_batch_end_callback,
                monitor, sparse_row_id_fn,
            )  # fmt: skip

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
                self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, value)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - started)
            # From the devices and back to them, so that they agree and `get_params` is up to date.
            arg_params, aux_params = self.get_params()
            self.set_params(arg_params, aux_params)
            call_all(epoch_end_callback, epoch, self.symbol, arg_params, aux_params)
            if eval_data is not None:
                for name, value in self.score(
                    eval_data,
                    validation_metric,
                    score_end_callback=eval_end_callback,
                    batch_end_callback=eval_batch_end_callback,
                    epoch=epoch,
                ):
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, value)
            position.after_epoch(train_data, last=epoch == epochs[-1])

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
        """Names of the inputs."""
        raise NotImplementedError

    @property
    def output_names(self):
        """Names of the outputs."""
        raise NotImplementedError

    @property
    def data_shapes(self):
        """Descriptions of the inputs."""
        raise NotImplementedError

    @property
    def label_shapes(self):
        """Descriptions of the labels."""
        raise NotImplementedError

    @property
    def output_shapes(self):
        """[(name, shape)] of the outputs."""
        raise NotImplementedError

    @property
    def symbol(self):
        """The symbol it computes."""
        return self._symbol

    # ------------------------------------------------------------------ parameters
    def get_params(self):
        """(arg_params, aux_params), dicts of arrays on the CPU."""
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
        """Fill the parameters, from the given ones or by the initializer."""
        raise NotImplementedError

    def set_params(self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False):
        """Take the given parameters."""
        self.init_params(
            initializer=None,
            arg_params=arg_params,
            aux_params=aux_params,
            allow_missing=allow_missing,
            force_init=force_init,
            allow_extra=allow_extra,
        )

    def save_params(self, fname):
        """Write the parameters to a file."""
        save_param_dicts(fname, *self.get_params())

    def load_params(self, fname):
        """Take the parameters from a file."""

        def refuse(name):
            raise ValueError(f"Invalid param file {fname}: {name!r} begins with neither arg: nor aux:")

        self.set_params(*split_param_dict(load_named(fname), refuse))

    def get_states(self, merge_multi_context=True):
        """The states, for modules that have any."""
        assert self.binded and self.params_initialized, NOT_READY
        assert not merge_multi_context
        return []

    def set_states(self, states=None, value=None):
        """Set the states, for modules that have any."""
        assert self.binded and self.params_initialized, NOT_READY
        assert not states and not value

    def install_monitor(self, mon):
        """Let `mon` watch the outputs of all operators."""
        raise NotImplementedError

    # ------------------------------------------------------------------ computing
    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Make ready for a batch, before `forward` gets it."""
        if sparse_row_id_fn is not None:
            warnings.warn(UserWarning("sparse_row_id_fn is not invoked for BaseModule."), stacklevel=2)

    def forward(self, data_batch, is_train=None):
        """Compute the outputs for a batch."""
        raise NotImplementedError

    def backward(self, out_grads=None):
        """Compute gradients."""
        raise NotImplementedError

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last `forward`."""
        raise NotImplementedError

    def get_input_grads(self, merge_multi_context=True):
        """Gradients of the inputs, after `backward`."""
        raise NotImplementedError

    def update(self):
        """Update the parameters by their gradients."""
        raise NotImplementedError

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Count the last outputs into the metric."""
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
        """Make executors for inputs of these shapes."""
        raise NotImplementedError

    def init_optimizer(
        self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), force_init=False
    ):
        """Make the optimizer, and the key-value store if several devices need one."""
        raise NotImplementedError
