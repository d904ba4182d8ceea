"""Where `Module.fit` is: its checkpoints, going on from them, and SIGTERM."""

import os

from .._formats import manifest
from .._training.checkpoint import latest_checkpoint, load_params, states_file
from .._training.run import Run
from .._training.termination import Termination
from ..io._base import is_stateful


def _listed(callbacks):
    return callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]


def _modules(module):
    """The module, or those that a `SequentialModule` is made of."""
    return [inner for each in module._modules for inner in _modules(each)] if hasattr(module, "_modules") else [module]


def _prefix_of(callbacks):
    """The prefix of `do_checkpoint` or `module_checkpoint` among the callbacks of an epoch."""
    return next((callback.prefix for callback in _listed(callbacks) if hasattr(callback, "prefix")), None)


class Position:
    """Told of each batch and epoch of one `fit`, it saves; without a prefix it does nothing.

    Its sets are called `prefix-run-epoch-batch.…`, beside MXNet's checkpoints, which stay what they are.
    """

    def __init__(self, module, metric, mode, prefix, every, callbacks, *more_callbacks):
        if mode not in ("auto", None):
            raise ValueError(f'resume must be "auto" or None, got {mode!r}')
        self._module, self._resumes, self._first = module, mode == "auto", True
        self._prefix = prefix or _prefix_of(callbacks)
        if self._resumes and self._prefix is None:
            raise ValueError(
                'resume="auto" needs resume_prefix, or a callback of mx.callback.do_checkpoint or module_checkpoint'
            )
        all_callbacks = {id(each): each for group in (*more_callbacks, callbacks) for each in _listed(group)}
        counting = [callback for callback in all_callbacks.values() if is_stateful(callback)]
        parts = [each for each in _modules(module) if hasattr(each, "_updater") or hasattr(each, "_curr_module")]
        self._run = Run(f"{self._prefix}-run", *parts, metric, *counting, every=every if self._resumes else None)
        self._termination = Termination(self._prefix is not None)

    def __enter__(self):
        if self._prefix is not None:
            self._run.watch(self._termination.__enter__())
        return self

    def __exit__(self, *error):
        self._termination.__exit__(*error)

    @property
    def batch(self):
        """How many batches of this epoch are done."""
        return self._run.batch

    def begin(self, epoch):
        """The epoch to begin with, everything set as it was after the ones before."""
        self._run.epoch = epoch
        if self._resumes and not self._run.resume():
            self._run.epoch = self._from_checkpoint(epoch)
        return self._run.epoch

    def _from_checkpoint(self, epoch):
        """After a run that could not be resumed: MXNet's own checkpoint, which knows parameters, perhaps states."""
        done = latest_checkpoint(self._prefix)
        if done is None or done <= epoch:
            return epoch
        self._module.set_params(*load_params(self._prefix, done))
        path = states_file(self._prefix, done)
        if os.path.basename(path) in (manifest.read(manifest.epoch_stem(self._prefix, done)) or {}):
            self._module.load_optimizer_states(path)
        return done

    def batches(self, train_data):
        """The batches of this epoch that are left."""
        if self._prefix is None:
            return iter(train_data)
        first, self._first = self._first, False
        return self._run.feed(train_data, ahead=True, again=not first or self._run.has_resumed)

    def after_batch(self):
        """The callbacks have heard of a batch."""
        self._run.batch += 1
        if self._prefix is not None:
            self._forget_others()
            self._run.after_batch()

    def after_epoch(self, train_data, last):
        """The epoch is over, its callbacks and its validation too; the iterator is reset where the next one begins."""
        self._run.epoch, self._run.batch = self._run.epoch + 1, 0
        if self._prefix is not None:
            self._forget_others()
            self._run.after_epoch(saves=self._resumes)
        if self._prefix is None or last:
            train_data.reset()

    def _forget_others(self):
        """A run that does not go on from earlier ones ends them when it saves for the first time."""
        if not self._resumes and self._termination.requested:
            self._run.forget()
