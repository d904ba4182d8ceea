"""`Estimator`: a network, a loss, a trainer and metrics, and the loop that brings them together."""

import copy
import logging
import sys
import warnings

from ...._core.progress import in_notebook
from ....context import Context, cpu, gpu, num_gpus
from ....metric import Loss as metric_loss
from ...data import DataLoader
from ...loss import Loss as gluon_loss
from ...trainer import Trainer
from ...utils import split_and_load
from .batch_processor import BatchProcessor
from .event_handler import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    StoppingHandler,
    TrainBegin,
    TrainEnd,
    ValidationHandler,
    _check_event_handlers,
)
from .history import HistoryHandler, NotebookHandler
from .resume import Resumption, with_checkpoints
from .utils import _check_handler_metric_ref, _check_metrics, _suggest_metric_for_loss

__all__ = ["Estimator"]

_NOT_A_LOADER = (
    "Estimator only support input as Gluon DataLoader. Alternatively, you can transform your DataIter or any NDArray "
    "into Gluon DataLoader. Refer to gluon.data.DataLoader"
)


def _console_logger():
    """A logger of the estimator's own, which writes to the standard output."""
    logger = logging.Logger("Estimator", logging.INFO)
    logger.addHandler(logging.StreamHandler(sys.stdout))
    return logger


class Estimator:
    """Trains a network with `fit` and measures it with `evaluate`; handlers do the rest.

    Parameters
    ----------
    net : Block
        The network.
    loss : Loss
        The loss.
    train_metrics : EvalMetric or list of EvalMetrics, optional
        The metrics of training; without them, those that suit the loss.
    val_metrics : EvalMetric or list of EvalMetrics, optional
        The metrics of validation; without them, those of training.
    initializer : Initializer, optional
        Initializes a network that has not been initialized.
    trainer : Trainer, optional
        The trainer; without it, SGD with learning rate 0.001.
    context : Context or list of Contexts, optional
        The devices; without them the first GPU, else the CPU.
    val_net : Block, optional
        The network of validation, if it is another one.
    val_loss : Loss, optional
        The loss of validation, if it is another one.
    batch_processor : BatchProcessor, optional
        What is done with one batch.
    accumulate : int, default 1
        The number of batches whose gradients make one update.
    clip_norm : float, optional
        The bound of the norm of all gradients together.

    Examples
    --------
    >>> from mxnet.gluon import contrib, data, loss, nn
    >>> net = nn.Dense(2)
    >>> estimator = contrib.estimator.Estimator(net, loss.SoftmaxCrossEntropyLoss(), mx.metric.Accuracy())
    >>> batches = data.DataLoader(data.ArrayDataset(np.ones((4, 3), "float32"), np.zeros(4)), batch_size=2)
    >>> estimator.fit(batches, epochs=1)
    Training begin: using optimizer SGD with current learning rate 0.0010
    ...
    Train finished using total 0s with 1 epochs. training accuracy: ...
    """

    logger = None

    def __init__(
        self, net, loss, train_metrics=None, val_metrics=None, initializer=None, trainer=None, context=None,
        val_net=None, val_loss=None, batch_processor=None, *, accumulate=1, clip_norm=None,
    ):  # fmt: skip
        self.net = net
        self.loss = self._check_loss(loss)
        self._train_metrics, self._val_metrics = _check_metrics(train_metrics), _check_metrics(val_metrics)
        self._add_default_training_metrics()
        self._add_validation_metrics()
        self.val_loss = self.loss if val_loss is None else self._check_loss(val_loss)
        self.val_net = net if val_net is None else val_net
        self.logger, self.context = _console_logger(), self._check_context(context)
        self._initialize(initializer)
        self._gradients = {"accumulate": accumulate, "clip_norm": clip_norm}
        GradientUpdateHandler(**self._gradients)  # tells wrong values now
        self.trainer = self._check_trainer(trainer)
        self.batch_processor = self._check_batch_processor(batch_processor)
        self._history = None

    # ------------------------------------------------------------------ what was given
    def _check_loss(self, loss):
        if not isinstance(loss, gluon_loss):
            raise ValueError(f"loss must be a Loss, refer to gluon.loss.Loss:{loss}")
        return loss

    def _check_context(self, context):
        gpus = [gpu(i) for i in range(num_gpus())]
        if not context:
            if len(gpus) > 1:
                warnings.warn(
                    "You have multiple GPUs, gpu(0) will be used by default. To utilize all your GPUs, specify context "
                    "as a list of gpus, e.g. context=[mx.gpu(0), mx.gpu(1)]",
                    stacklevel=3,
                )
            return gpus[:1] or [cpu()]
        contexts = [context] if isinstance(context, Context) else context
        if not isinstance(contexts, list) or not all(isinstance(c, Context) for c in contexts):
            raise ValueError(
                "context must be a Context or a list of Context, for example mx.cpu() or [mx.gpu(0), mx.gpu(1)], "
                f"refer to mxnet.Context:{context}"
            )
        for ctx in contexts:
            assert ctx in gpus or str(ctx).startswith("cpu"), (
                f"{ctx} is not available, please make sure your context is in one of: mx.cpu(), "
                f"{', '.join(map(str, gpus))}"
            )
        return contexts

    def _check_batch_processor(self, batch_processor):
        if batch_processor is None:
            return BatchProcessor()
        if not all(callable(getattr(batch_processor, name, None)) for name in ("fit_batch", "evaluate_batch")):
            raise ValueError("Customized Batch Processor must contain fit_batch() and evaluate_batch() methods")
        return batch_processor

    def _initialize(self, initializer):
        if not self._is_initialized():
            self.net.initialize(**({"init": initializer} if initializer else {}), ctx=self.context)
        elif initializer:
            warnings.warn(
                "Network already fully initialized, skipping initialization. You don't need to pass initializer if you "
                "already initialized your net. You can use net.initialize(init=your_initializer, force_reinit=True) "
                "to force re-initialize.",
                stacklevel=3,
            )

    def _is_initialized(self):
        for parameter in self.net.collect_params().values():
            try:
                parameter.list_ctx()
            except RuntimeError:
                return False
        return True

    def _check_trainer(self, trainer):
        if not trainer:
            warnings.warn("No trainer specified, default SGD optimizer with learning rate 0.001 is used.", stacklevel=3)
            on_store = None if self._gradients["clip_norm"] is None else False  # clipping comes before the update
            parameters = self.net.collect_params()
            return Trainer(parameters, "sgd", {"learning_rate": 0.001}, update_on_kvstore=on_store)
        if not isinstance(trainer, Trainer):
            raise ValueError(f"Trainer must be a Gluon Trainer instance, refer to gluon.Trainer:{trainer}")
        return trainer

    def _get_data_and_label(self, batch, ctx, batch_axis=0):
        return tuple(split_and_load(part, ctx_list=ctx, batch_axis=batch_axis) for part in (batch[0], batch[1]))

    # ------------------------------------------------------------------ metrics: their names tell the two kinds apart
    def _add_default_training_metrics(self):
        if not self._train_metrics:
            suggested = _suggest_metric_for_loss(self.loss)
            self._train_metrics = [suggested] if suggested else []
            self._train_metrics.append(metric_loss(self.loss.name.rstrip("1234567890")))
        for metric in self._train_metrics:
            metric.name = f"training {metric.name}"

    def _add_validation_metrics(self):
        if not self._val_metrics:
            self._val_metrics = [copy.deepcopy(metric) for metric in self._train_metrics]
        for metric in self._val_metrics:
            renamed = metric.name.replace("training", "validation")
            metric.name = f"validation {metric.name}" if renamed == metric.name else renamed

    @property
    def train_metrics(self):
        """The metrics of training, a list of EvalMetric.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import Estimator
        >>> estimator = Estimator(mx.gluon.nn.Dense(2), mx.gluon.loss.SoftmaxCrossEntropyLoss(), mx.metric.Accuracy())
        >>> [metric.name for metric in estimator.train_metrics]
        ['training accuracy']
        """
        return self._train_metrics

    @property
    def val_metrics(self):
        """The metrics of validation, a list of EvalMetric.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import Estimator
        >>> estimator = Estimator(mx.gluon.nn.Dense(2), mx.gluon.loss.SoftmaxCrossEntropyLoss(), mx.metric.Accuracy())
        >>> [metric.name for metric in estimator.val_metrics]
        ['validation accuracy']
        """
        return self._val_metrics

    # ------------------------------------------------------------------ the loops
    def evaluate(self, val_data, batch_axis=0, event_handlers=None):
        """Measure the network on validation data; the results are in `val_metrics`.

        Parameters
        ----------
        val_data : DataLoader
            Batches of data and labels.
        batch_axis : int, default 0
            The axis of the samples.
        event_handlers : EventHandler or list of EventHandler, optional
            What else is done at the beginning and end of the epoch and of each batch.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import Estimator
        >>> samples = mx.gluon.data.ArrayDataset(mx.nd.ones((4, 3)), mx.nd.zeros((4,)))
        >>> data = mx.gluon.data.DataLoader(samples, batch_size=2)
        >>> net = mx.gluon.nn.Dense(1, in_units=3)
        >>> estimator = Estimator(net, mx.gluon.loss.L2Loss(), mx.metric.MAE())
        >>> estimator.evaluate(data)
        Validation Begin
        [Epoch 0] Finished in ...s, validation mae: ...
        >>> len(estimator.val_metrics[0].get())
        2
        """
        if not isinstance(val_data, DataLoader):
            raise ValueError(_NOT_A_LOADER)
        for metric in self.val_metrics:
            metric.reset()
        handlers = self._prepare_default_validation_handlers(event_handlers)
        _, epoch_begin, batch_begin, batch_end, epoch_end, _ = self._categorize_handlers(handlers)
        self._tell(epoch_begin, "epoch_begin")
        for batch in val_data:
            self._tell(batch_begin, "batch_begin", batch=batch)
            _, label, pred, loss = self.batch_processor.evaluate_batch(self, batch, batch_axis)
            self._tell(batch_end, "batch_end", batch=batch, pred=pred, label=label, loss=loss)
        self._tell(epoch_end, "epoch_end")

    def fit(self, train_data, val_data=None, epochs=None, event_handlers=None, batches=None, batch_axis=0,
            resume=None, resume_dir="resume"):  # fmt: skip
        """Train for a number of epochs, or of batches.

        With `resume="auto"` a second call, in this process or in another one after a crash, continues from the newest
        complete checkpoint with the same results. The checkpoints are those of a `CheckpointHandler` among the
        handlers; without one, the estimator makes one that saves each epoch in `resume_dir`. With a
        `CheckpointHandler`, SIGTERM lets the batch end and saves it before the program ends.

        Parameters
        ----------
        train_data : DataLoader
            Batches of data and labels.
        val_data : DataLoader, optional
            Validation data, measured after each epoch.
        epochs : int, optional
            The number of epochs; give this or `batches`.
        event_handlers : EventHandler or list of EventHandler, optional
            What else is done at the beginning and end of training, epochs and batches.
        batches : int, optional
            The number of batches; give this or `epochs`.
        batch_axis : int, default 0
            The axis of the samples.
        resume : {"auto", None}
            Whether to continue an earlier run. Not in MXNet.
        resume_dir : str, default 'resume'
            The folder of the checkpoints. Not in MXNet.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import Estimator
        >>> samples = mx.gluon.data.ArrayDataset(mx.nd.ones((4, 3)), mx.nd.zeros((4,)))
        >>> data = mx.gluon.data.DataLoader(samples, batch_size=2)
        >>> net = mx.gluon.nn.Dense(1, in_units=3)
        >>> net.initialize()
        >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        >>> estimator = Estimator(net, mx.gluon.loss.L2Loss(), mx.metric.MAE(), trainer=trainer)
        >>> estimator.fit(data, epochs=2)
        Training begin: using optimizer SGD with current learning rate 0.1000
        Train for 2 epochs.
        ...
        >>> len(estimator.history["training mae"])
        2
        """
        if not isinstance(train_data, DataLoader):
            raise ValueError(_NOT_A_LOADER)
        if (not epochs) == (not batches):
            raise ValueError(
                "Fit only support exactly one type of iteration, train by number of epochs or number of batches. "
                "Please specify one and only one of: epochs or batches."
            )
        self.max_epoch, self.max_batch, self.batch_axis = epochs, batches, batch_axis
        event_handlers = with_checkpoints(resume, resume_dir, _check_event_handlers(event_handlers))
        handlers = self._prepare_default_handlers(val_data, event_handlers)
        handlers += self._watching(train_data)
        with Resumption(self, handlers, resume) as position:
            self._train(train_data, handlers, position)

    def _watching(self, train_data):
        """Handlers that keep the history and, in a notebook, show it; they come after all others."""
        self._history = HistoryHandler([*self.train_metrics, *self.val_metrics])
        if not in_notebook():
            return [self._history]
        return [self._history, NotebookHandler(self._history, len(train_data))]

    @property
    def history(self):
        """The values of the metrics after each epoch of the last `fit`, a dict of name to list; `mx.viz.plot_curves`
        draws it.

        Not in MXNet.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import Estimator
        >>> Estimator(mx.gluon.nn.Dense(2), mx.gluon.loss.L2Loss(), mx.metric.MAE()).history
        {}
        """
        return {} if self._history is None else self._history.history

    def _train(self, train_data, handlers, position):
        train_begin, epoch_begin, batch_begin, batch_end, epoch_end, train_end = self._categorize_handlers(handlers)
        self._tell(train_begin, "train_begin")
        stop = position.restore()
        while not stop:
            self._tell(epoch_begin, "epoch_begin")
            for batch in position.batches(train_data):
                self._tell(batch_begin, "batch_begin", batch=batch)
                _, label, pred, loss = self.batch_processor.fit_batch(self, batch, self.batch_axis)
                batch_stops = self._tell(batch_end, "batch_end", batch=batch, pred=pred, label=label, loss=loss)
                position.after_batch()
                if batch_stops:
                    break
            stop = self._tell(epoch_end, "epoch_end")
            position.after_epoch()
        self._tell(train_end, "train_end")

    def _tell(self, handlers, moment, **what):
        """Call every handler, whichever asks to stop; does one?"""
        answers = [getattr(handler, moment)(self, **what) for handler in handlers]
        return any(answers)

    def find_learning_rate(self, train_data, **options):
        """Train for some batches with rising learning rates and return the losses; the network is restored afterwards.

        Not in MXNet.

        Parameters
        ----------
        train_data : DataLoader
            Batches of data and labels.
        **options
            As for :func:`mxnet.gluon.contrib.estimator.find_learning_rate`.

        Examples
        --------
        >>> from mxnet.gluon.contrib.estimator import Estimator
        >>> samples = mx.gluon.data.ArrayDataset(mx.nd.ones((8, 3)), mx.nd.zeros((8,)))
        >>> data = mx.gluon.data.DataLoader(samples, batch_size=2)
        >>> net = mx.gluon.nn.Dense(1, in_units=3)
        >>> net.initialize()
        >>> trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        >>> estimator = Estimator(net, mx.gluon.loss.L2Loss(), mx.metric.MAE(), trainer=trainer)
        >>> found = estimator.find_learning_rate(data)
        """
        from .learning_rate import find_learning_rate

        return find_learning_rate(self, train_data, **options)

    # ------------------------------------------------------------------ handlers
    def _complete(self, event_handlers, defaults, known):
        """The user's handlers with the missing defaults; mixed ones must share metric objects."""
        handlers = _check_event_handlers(event_handlers)
        added = [make() for kind, make in defaults if kind is None or not any(isinstance(h, kind) for h in handlers)]
        mixed = handlers and added
        handlers.extend(added)
        if mixed:
            for handler in handlers:
                _check_handler_metric_ref(handler, known)
        handlers.sort(key=lambda handler: getattr(handler, "priority", 0))
        return handlers

    def _prepare_default_handlers(self, val_data, event_handlers):
        defaults = [
            (None, lambda: StoppingHandler(self.max_epoch, self.max_batch)),
            (GradientUpdateHandler, lambda: GradientUpdateHandler(**self._gradients)),
            (MetricHandler, lambda: MetricHandler(metrics=self.train_metrics)),
            (LoggingHandler, lambda: LoggingHandler(metrics=self.train_metrics)),
        ]
        if val_data:
            validation = (ValidationHandler, lambda: ValidationHandler(val_data=val_data, eval_fn=self.evaluate))
            defaults.insert(3, validation)
        return self._complete(event_handlers, defaults, set(self.train_metrics + self.val_metrics))

    def _prepare_default_validation_handlers(self, event_handlers):
        defaults = [
            (MetricHandler, lambda: MetricHandler(metrics=self.val_metrics)),
            (LoggingHandler, lambda: LoggingHandler(metrics=self.val_metrics)),
        ]
        return self._complete(event_handlers, defaults, set(self.val_metrics))

    def _categorize_handlers(self, event_handlers):
        kinds = (TrainBegin, EpochBegin, BatchBegin, BatchEnd, EpochEnd, TrainEnd)
        return tuple([handler for handler in event_handlers if isinstance(handler, kind)] for kind in kinds)
