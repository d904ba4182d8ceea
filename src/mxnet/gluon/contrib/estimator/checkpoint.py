"""Saving a network and its trainer while an estimator trains, and going on from there."""

import os
import re
import warnings

import numpy as np

from ...._formats import manifest
from ....metric import EvalMetric
from .event_handler import BatchEnd, EpochEnd, TrainBegin, comparison, worst

_NAME = "{prefix}-epoch{epoch}batch{batch}"
POSITION = r"-epoch(\d{1,12})batch(\d{1,15})"


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Saves every so many epochs or batches, keeps the newest, and the best by a metric if asked.

    Inside `Estimator.fit` a checkpoint also gets a `.progress` file, with random streams, metrics and the position,
    and a manifest that makes it valid: `fit(resume="auto")` goes on from the newest valid one.

    Parameters
    ----------
    model_dir : str
        The folder of the files.
    model_prefix : str, default 'model'
        The beginning of the files' names.
    monitor : EvalMetric, optional
        The metric to watch.
    verbose : int, default 0
        1 logs every file, 0 does not.
    save_best : bool, default False
        Whether the best checkpoint by `monitor` is kept as well.
    mode : str, default 'auto'
        min or max: which values are better; auto: by the metric's name.
    epoch_period : int, default 1
        The number of epochs between two checkpoints.
    batch_period : int, optional
        The number of batches between two checkpoints.
    max_checkpoints : int, default 5
        The number of checkpoints that are kept.
    resume_from_checkpoint : bool, default False
        Whether training goes on from the newest checkpoint.

    Examples
    --------
    >>> from mxnet.gluon.contrib.estimator import CheckpointHandler
    >>> handler = CheckpointHandler("models", epoch_period=1, max_checkpoints=3)
    """

    _counts = ("current_batch", "current_epoch", "best", "saved_checkpoints", "trained_epoch", "trained_batch")

    def __init__(
        self, model_dir, model_prefix="model", monitor=None, verbose=0, save_best=False, mode="auto", epoch_period=1,
        batch_period=None, max_checkpoints=5, resume_from_checkpoint=False,
    ):  # fmt: skip
        os.makedirs(model_dir, exist_ok=True)
        if save_best and not isinstance(monitor, EvalMetric):
            raise ValueError(
                "To save best model only, please provide one of the metric objects from estimator.train_metrics and "
                "estimator.val_metrics as monitor."
            )
        self.model_dir, self.model_prefix, self.monitor, self.verbose = model_dir, model_prefix, monitor, verbose
        self.save_best, self.max_checkpoints = save_best, max_checkpoints
        self.epoch_period, self.batch_period = epoch_period, batch_period
        self.resume_from_checkpoint = resume_from_checkpoint
        self.current_batch = self.current_epoch = 0
        self.trained_epoch = self.trained_batch = -1
        self.saved_checkpoints = []
        self._unsealed = None
        if save_best:
            self.monitor_op = comparison(monitor, mode, "ModelCheckpoint")
            self.best = worst(self.monitor_op)

    def train_begin(self, estimator, *args, **kwargs):
        """Start afresh, or from the newest checkpoint."""
        self.current_epoch = self.current_batch = 0
        if self.save_best:
            self.best = worst(self.monitor_op)
        if self.resume_from_checkpoint and not getattr(estimator, "_resumes", False):
            self._check_periods(estimator)
            self._resume_from_checkpoint(estimator)

    def _check_periods(self, estimator):
        right = bool(self.batch_period) == bool(estimator.max_batch) and bool(self.epoch_period) == bool(
            estimator.max_epoch
        )
        assert right, (
            "To use resume from checkpoint, you must only specify the same type of period you used for training. "
            "For example, if you are training based on number of epochs, "
            "you must save only based on epochs, and set batch_period to None."
        )

    def batch_end(self, estimator, *args, **kwargs):
        """Save if it is time; the symbol once, after the first batch."""
        if not self.current_batch:
            self._save_symbol(estimator)
        self._save_when_due(estimator, self.current_batch, self.batch_period)
        self.current_batch += 1

    def epoch_end(self, estimator, *args, **kwargs):
        """Save if it is time."""
        self._save_when_due(estimator, self.current_epoch, self.epoch_period)
        self.current_epoch += 1

    def _save_when_due(self, estimator, done, period):
        if period and not (done + 1) % period:
            self._save_checkpoint(estimator)

    def _numbers(self, estimator):
        """Epoch and batch of a checkpoint's name; they go on counting after a resumption."""
        if not self.resume_from_checkpoint:
            return self.current_epoch, self.current_batch
        extra = 0 if estimator.max_epoch else 1  # at an epoch's end the batch is already counted
        return self.current_epoch + self.trained_epoch + 1, self.current_batch + self.trained_batch + extra

    def _save_checkpoint(self, estimator):
        epoch, batch = self._numbers(estimator)
        prefix = _NAME.format(prefix=self.model_prefix, epoch=epoch, batch=batch)
        self._save_params_and_trainer(estimator, prefix)
        self._tell(
            estimator, "trained total %d batches, saving model at %s with prefix: %s", self.current_batch + 1,
            self.model_dir, prefix,
        )  # fmt: skip
        if self.save_best:
            self._save_if_best(estimator)

    def _tell(self, estimator, text, *args):
        if self.verbose > 0:
            estimator.logger.info("[Epoch %d] CheckpointHandler: " + text, self.current_epoch, *args)

    def _save_if_best(self, estimator):
        name, value = self.monitor.get()
        if np.isnan(value):
            warnings.warn(
                f"Skipping save best because {name} is not updated, make sure you pass one of the metric objects "
                "estimator.train_metrics and estimator.val_metrics as monitor",
                RuntimeWarning,
                stacklevel=2,
            )
        elif self.monitor_op(value, self.best):
            prefix = f"{self.model_prefix}-best"
            self._save_params_and_trainer(estimator, prefix)
            self._tell(
                estimator, "%s improved from %0.5f to %0.5f, updating best model at %s with prefix: %s", name,
                self.best, value, self.model_dir, prefix,
            )  # fmt: skip
            self.best = value
        else:
            self._tell(estimator, "%s did not improve from %0.5f, skipping updating best model", name, self.best)

    def _save_symbol(self, estimator):
        path = os.path.join(self.model_dir, f"{self.model_prefix}-symbol.json")
        graph = getattr(estimator.net, "_cached_graph", None)
        if graph:
            graph[1].save(path)
        else:
            estimator.logger.info(
                "Model architecture(symbol file) is not saved, please use HybridBlock to construct your model, "
                "and call net.hybridize() before passing to Estimator in order to save model architecture as %s.",
                path,
            )

    def _save_params_and_trainer(self, estimator, file_prefix):
        path = os.path.join(self.model_dir, file_prefix)
        estimator.net.save_parameters(f"{path}.params")
        estimator.trainer.save_states(f"{path}.states")
        if "best" in file_prefix:
            return
        self.saved_checkpoints = [name for name in self.saved_checkpoints if name != file_prefix] + [file_prefix]
        self._unsealed = path
        if not hasattr(estimator, "_resumes"):  # somebody else's loop: nobody will seal it
            self._forget_oldest()

    def save_now(self, estimator, between_epochs):
        """Save after all handlers have heard of a batch or an epoch, unless that was just done."""
        if not self.unsealed:
            back = (1, 0) if between_epochs else (0, 1)  # they have been counted already
            self.current_epoch, self.current_batch = self.current_epoch - back[0], self.current_batch - back[1]
            self._save_checkpoint(estimator)
            self.current_epoch, self.current_batch = self.current_epoch + back[0], self.current_batch + back[1]

    def seal(self, write_rest):
        """Make the files that were written last a valid checkpoint; only then older ones go."""
        path, self._unsealed = self._unsealed, None
        write_rest(path)
        manifest.declare(path, [f"{path}.{ending}" for ending in ("params", "states", "progress")])
        self._forget_oldest()

    @property
    def unsealed(self):
        """Whether files were written that are no checkpoint yet."""
        return self._unsealed is not None

    def _forget_oldest(self):
        while len(self.saved_checkpoints) > self.max_checkpoints:
            oldest = os.path.join(self.model_dir, self.saved_checkpoints.pop(0))
            manifest.remove(oldest)
            for suffix in (".params", ".states"):
                if os.path.exists(oldest + suffix):
                    os.remove(oldest + suffix)

    def sealed(self):
        """[((epoch, batch), path)] of the checkpoints with a manifest, ascending."""
        return manifest.sets(os.path.join(self.model_dir, self.model_prefix), POSITION)

    def _found(self):
        """(epoch, batch) of every checkpoint in the folder, ascending."""
        pattern = re.compile(rf"{re.escape(self.model_prefix)}-epoch(.*?)batch(.*?)\.params")
        found = []
        for name in os.listdir(self.model_dir):
            match = pattern.fullmatch(name)
            if match:
                try:
                    found.append((int(match[1]), int(match[2])))
                except ValueError:
                    raise ValueError(
                        f"Error parsing checkpoint file {name}: checkpoints are named "
                        "{model_name}-epoch{epoch_number}batch{batch_number}.params, each with a .states file"
                    ) from None
        return sorted(found)

    def _path(self, epoch, batch):
        return os.path.join(self.model_dir, _NAME.format(prefix=self.model_prefix, epoch=epoch, batch=batch))

    def _resume_from_checkpoint(self, estimator):
        found = self._found()
        whole = [numbers for numbers in found if os.path.exists(f"{self._path(*numbers)}.states")]
        found = whole or found  # a kill between two files leaves one of them
        if not found:
            amount = f"{estimator.max_batch} batches" if estimator.max_batch else f"{estimator.max_epoch} epochs"
            estimator.logger.info("CheckpointHandler: No checkpoint found, training from scratch for " + amount)
            return
        self.saved_checkpoints = [_NAME.format(prefix=self.model_prefix, epoch=e, batch=b) for e, b in found]
        self.trained_epoch, self.trained_batch = found[-1]
        left = self._remaining(estimator)
        path = self._path(*found[-1])
        manifest.verify(path)
        for suffix in (".params", ".states"):
            assert os.path.exists(path + suffix), f"Failed to load checkpoint, {path + suffix} does not exist"
        estimator.net.load_parameters(f"{path}.params", ctx=estimator.context)
        estimator.trainer.load_states(f"{path}.states")
        estimator.logger.warning(
            f"CheckpointHandler: Checkpoint resumed from epoch {self.trained_epoch} batch {self.trained_batch}, "
            f"continue to train for {left} "
        )

    def _remaining(self, estimator):
        """Shorten the training by what is done; says how much is left."""
        unit = "epoch" if estimator.max_epoch else "batch"
        limit, done = getattr(estimator, f"max_{unit}"), getattr(self, f"trained_{unit}")
        if done >= limit - 1:
            raise ValueError(
                f"Found checkpoint with maximum number of {unit} {limit} reached, please specify "
                "resume_from_checkpoint=False (default value) if you wan to train from scratch."
            )
        setattr(estimator, f"max_{unit}", limit - done - 1)
        return f"{limit - done - 1} {'epochs' if unit == 'epoch' else 'batches'}"
