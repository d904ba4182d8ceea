"""`Estimator.fit(resume="auto")`: where the loop is, saved with the handlers' checkpoints and found again."""

from ...._formats import manifest
from ...._training import parts as kinds
from ...._training.feed import Feed
from ...._training.progress import set_streams, streams
from ...._training.run import newest
from ...._training.termination import Termination
from .checkpoint import CheckpointHandler

KEPT = 2


def with_checkpoints(mode, folder, handlers):
    """The handlers, with one that saves each epoch in `folder` if `mode` asks for resuming and none of them saves."""
    if mode not in ("auto", None):
        raise ValueError(f'resume must be "auto" or None, got {mode!r}')
    if mode is None or any(isinstance(handler, CheckpointHandler) for handler in handlers):
        return handlers
    return [*handlers, CheckpointHandler(folder, "estimator", max_checkpoints=KEPT)]


class Resumption:
    """The position of one `fit`: told of each batch and epoch after all handlers, it completes what they saved.

    Without a `CheckpointHandler` it does nothing.
    """

    def __init__(self, estimator, handlers, mode):
        self._estimator, self._handlers, self._resumes = estimator, handlers, mode == "auto"
        self._savers = [handler for handler in handlers if isinstance(handler, CheckpointHandler)]
        self._fresh = [s for s in self._savers if not self._resumes and not s.resume_from_checkpoint]
        self._termination = Termination(bool(self._savers))
        self._epoch = self._batch = 0
        self._feed = self._saved = None

    def __enter__(self):
        self._estimator._resumes = self._resumes
        self._termination.__enter__()
        if self._resumes:
            self._load()
        return self

    def __exit__(self, *error):
        self._termination.__exit__(*error)
        del self._estimator._resumes

    # ------------------------------------------------------------------ going on
    @property
    def _parts(self):
        return self._estimator.net, self._estimator.trainer

    @property
    def _metrics(self):
        return [*self._estimator.train_metrics, *self._estimator.val_metrics]

    def _load(self):
        found = newest(self._savers[0].sealed())
        if found is not None:
            self._saved = kinds.load(found[1], self._parts)
            self._epoch, self._batch = self._saved["epoch"], self._saved["batch"]
            self._estimator.logger.info("resumed after %d epochs and %d batches", self._epoch, self._batch)

    def restore(self):
        """After `train_begin`: bring handlers and metrics to where they were; whether nothing is left to train."""
        if self._saved is None:
            return False
        self._restore_counts()
        set_streams(self._saved["streams"])
        estimator = self._estimator
        over = (estimator.max_epoch and self._epoch >= estimator.max_epoch) or (
            estimator.max_batch and self._saved["batches"] >= estimator.max_batch
        )
        return bool(over or any(getattr(handler, "stop_training", False) for handler in self._handlers))

    def _restore_counts(self):
        for metric, kept in zip(self._metrics, self._saved["metrics"], strict=True):
            kinds.set_attributes(metric, kept)
        waiting = list(self._handlers)
        for name, state in self._saved["handlers"]:
            handler = next((each for each in waiting if type(each).__name__ == name), None)
            if handler is not None:
                waiting.remove(handler)
                handler.load_state_dict(state)

    def batches(self, loader):
        """The batches of this epoch that are left; counts are set again after `epoch_begin` has reset them."""
        if not self._savers:
            return loader
        saved, self._saved = self._saved, None
        self._feed = Feed(loader, saved and saved["feed"], self._batch)
        if self._batch:
            self._saved = saved
            self._restore_counts()
            set_streams(saved["streams"])
            self._saved = None
        return self._feed

    # ------------------------------------------------------------------ saving
    def after_batch(self):
        """All handlers have heard of a batch."""
        self._batch += 1
        self._complete(between_epochs=False)

    def after_epoch(self):
        """All handlers have heard of an epoch."""
        self._epoch, self._batch = self._epoch + 1, 0
        self._complete(between_epochs=True)

    def _complete(self, between_epochs):
        ending = self._termination.requested
        for saver in self._savers:
            if ending:
                saver.save_now(self._estimator, between_epochs)
            if saver.unsealed:
                self._end_others(saver)
                saver.seal(self._write_rest)
        if ending:
            self._termination.obey()

    def _end_others(self, saver):
        """A training that did not go on from earlier checkpoints ends them with its first: nobody resumes from them."""
        if saver in self._fresh:
            self._fresh.remove(saver)
            for _, stem in saver.sealed():
                manifest.withdraw(stem)

    def _write_rest(self, stem):
        feed = self._feed
        kinds.write_rest(
            stem,
            self._parts,
            epoch=self._epoch,
            batch=self._batch,
            batches=self._savers[0].current_batch,
            feed=feed.state() if self._batch else feed.state_between(),
            streams=streams(),
            metrics=[kinds.attributes(metric) for metric in self._metrics],
            handlers=[(type(handler).__name__, handler.state_dict()) for handler in self._handlers],
        )
