"""`Estimator.fit(resume="auto")`: everything is saved after each epoch, and training goes on where it ended."""

import os

from ...._formats import manifest
from ...._training.progress import load_progress, save_progress
from .event_handler import EpochEnd

KEPT = 2


class Resumption(EpochEnd):
    """Saves parameters, trainer (with its schedule) and random streams; all become visible at once by a manifest."""

    priority = float("-inf")

    def __init__(self, mode, folder):
        if mode != "auto":
            raise ValueError(f'resume must be "auto" or None, got {mode!r}')
        os.makedirs(folder, exist_ok=True)
        self.prefix, self.epoch = os.path.join(folder, "estimator"), 0

    def _files(self, epoch):
        return [f"{self.prefix}-{epoch:04d}.{ending}" for ending in ("params", "states", "progress")]

    def restore(self, estimator):
        """Go back to the newest whole checkpoint, if any; whether there is anything left to train."""
        if not estimator.max_epoch:
            raise ValueError('resume="auto" counts epochs: say epochs, not batches')
        done = manifest.latest(self.prefix)
        if done is None:
            return True
        manifest.verify(self.prefix, done)
        params, states, progress = self._files(done)
        estimator.net.load_parameters(params, ctx=estimator.context)
        estimator.trainer.load_states(states)
        self.epoch = load_progress(progress)["epoch"]
        estimator.logger.info("resumed after epoch %d of %d", self.epoch, estimator.max_epoch)
        estimator.max_epoch -= self.epoch
        return estimator.max_epoch > 0

    def epoch_end(self, estimator, *args, **kwargs):
        """Save; the manifest comes last."""
        self.epoch += 1
        files = self._files(self.epoch)
        estimator.net.save_parameters(files[0])
        estimator.trainer.save_states(files[1])
        save_progress(files[2], epoch=self.epoch)
        manifest.write(self.prefix, self.epoch, files)
        self._forget(self.epoch - KEPT)

    def _forget(self, epoch):
        manifest.withdraw(self.prefix, epoch)
        for path in self._files(epoch):
            if os.path.exists(path):
                os.remove(path)
