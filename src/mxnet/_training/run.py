"""`mx.checkpoint.Run`: a training loop that can be killed at any moment and goes on as if it had not been."""

import os
import warnings

from .._core.errors import MXNetError
from .._formats import manifest
from ..metric import EvalMetric
from . import parts as kinds
from .feed import Feed
from .progress import set_streams, streams
from .termination import Termination

POSITION = r"-(\d{4,9})-(\d{6,12})"


def newest(found):
    """The last of [(numbers, stem)] that is whole and can be gone on from; damaged ones are told and passed over."""
    for numbers, stem in reversed(found):
        try:
            manifest.verify(stem, strict=True)
        except MXNetError as error:
            warnings.warn(f"{error} (an older checkpoint is used)", stacklevel=3)
            continue
        if os.path.exists(kinds.progress_file(stem)):
            return numbers, stem
    return None


class Run:
    """Checkpoints of a training loop, in files called `prefix-epoch-batch.…`, of which the newest `keep` stay.

    `parts` are whatever training changes: networks, trainers, modules, metrics, generators of NumPy, and objects with
    `state_dict()` and `load_state_dict(state)`. Random streams, the position and `values`, a dict for numbers and
    arrays of your own, are saved with them. A checkpoint is made after every epoch, and after every `every` batches.

    With `store`, a distributed kvstore, the first worker writes and all wait for it: each checkpoint is a step that all
    workers had. All go on from it, also if there are more or fewer of them now.

    Parameters
    ----------
    prefix : str
        The beginning of the files' names.
    *parts : Block, Trainer, Module, EvalMetric, …
        What training changes.
    every : int, optional
        The number of batches between two checkpoints within an epoch; None: none.
    keep : int, default 2
        The number of checkpoints that are kept.
    store : KVStore, optional
        A distributed store, whose workers train together.

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(2, in_units=3)
    >>> net.initialize()
    >>> run = mx.checkpoint.Run("run", net)
    """

    def __init__(self, prefix, *parts, every=None, keep=2, store=None):
        for part in parts:
            kinds.kind_of(part)
        folder = os.path.dirname(os.path.abspath(prefix))
        os.makedirs(folder, exist_ok=True)
        self.prefix, self.parts, self.every, self.keep, self.store = prefix, parts, every, max(1, keep), store
        self.epoch = self.batch = 0
        self.values = {}
        self._saved = self._feed = None
        self._begun = self.has_resumed = False
        self._termination = Termination(False)

    # ------------------------------------------------------------------ files
    def resume(self):
        """Restore everything from the newest complete checkpoint. `epochs` calls it.

        Returns
        -------
        bool
            Whether there was a checkpoint.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> mx.checkpoint.Run("resumed", net).save()
        >>> mx.checkpoint.Run("resumed", net).resume()
        True
        """
        self._begun = True
        found = newest(manifest.sets(self.prefix, POSITION))
        if found is None:
            return False
        tree = kinds.load(found[1], self.parts)
        self.epoch, self.batch, self.values = tree["epoch"], tree["batch"], tree["values"]
        self._saved = tree
        set_streams(tree["streams"])
        self.has_resumed = True
        return True

    def save(self):
        """Write a checkpoint now; older ones are removed once it is complete.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> mx.checkpoint.Run("saved_now", net).save()
        """
        if self.store is None or self.store.rank == 0:
            self._write()
        else:
            kinds.take_part(self.parts)
        if self.store is not None:
            self.store.barrier()

    def _write(self):
        feed = self._feed and (self._feed.state() if self.batch else self._feed.state_between())
        stem = f"{self.prefix}-{self.epoch:04d}-{self.batch:06d}"
        kinds.save(
            stem, self.parts, epoch=self.epoch, batch=self.batch, values=self.values, feed=feed, streams=streams()
        )
        for _, old in manifest.sets(self.prefix, POSITION)[: -self.keep]:
            if os.path.basename(old) != os.path.basename(stem):
                manifest.remove(old)

    def forget(self):
        """Remove all checkpoints of this prefix.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(2, in_units=3)
        >>> net.initialize()
        >>> run = mx.checkpoint.Run("forgotten", net)
        >>> run.save()
        >>> run.forget()
        >>> run.resume()
        False
        """
        for _, stem in manifest.sets(self.prefix, POSITION):
            manifest.remove(stem)

    # ------------------------------------------------------------------ loops
    def epochs(self, count):
        """Iterate over the epochs that are left of `count`; a checkpoint is saved at the end of each.

        The first call resumes from the latest checkpoint, if there is one. On SIGTERM the current batch is finished and
        saved, then the program ends.

        Parameters
        ----------
        count : int
            The number of epochs of the whole training, counted from its very beginning.

        Returns
        -------
        generator of int
            The number of each epoch, counted from 0.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> list(mx.checkpoint.Run("runs/epochs", net).epochs(2))
        [0, 1]
        >>> list(mx.checkpoint.Run("runs/epochs", net).epochs(3))  # two of them are done
        [2]
        """
        if not self._begun:
            self.resume()
        with Termination() as self._termination:
            while self.epoch < count:
                yield self.epoch
                self.epoch, self.batch = self.epoch + 1, 0
                self.after_epoch()

    def feed(self, source, ahead=False, again=None):
        """The `Feed` of this epoch: its beginning, or the rest of it after a crash."""
        saved, self._saved = self._saved or {}, None
        again = self.epoch > 0 if again is None else again
        self._feed = Feed(source, saved.get("feed"), self.batch, again, ahead)
        if self.batch:
            set_streams(saved["streams"])
        return self._feed

    def batches(self, source):
        """Iterate over the batches of this epoch that are left.

        At the beginning of an epoch, metrics of the run are reset, and so are iterators of `mx.io`. A checkpoint is
        saved every `every` batches.

        Parameters
        ----------
        source : DataLoader, DataIter or iterable
            Where the batches come from.

        Returns
        -------
        generator
            What `source` yields.

        Examples
        --------
        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> run = mx.checkpoint.Run("runs/batches", net)
        >>> loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(mx.nd.ones((4, 2))), batch_size=2)
        >>> for epoch in run.epochs(1):
        ...     print([batch.shape for batch in run.batches(loader)])
        [(2, 2), (2, 2)]
        """
        if not self.batch:
            for part in self.parts:
                if isinstance(part, EvalMetric):
                    part.reset()
        for batch in self.feed(source):
            yield batch
            self.batch += 1
            self.after_batch()

    # ------------------------------------------------------------------ for loops that are not these
    def watch(self, termination):
        """Take another's word for whether the program was told to end."""
        self._termination = termination

    def after_batch(self):
        """Save if it is time, or if the program was told to end."""
        self._save_if(self.every and self.batch % self.every == 0)

    def after_epoch(self, saves=True):
        """The same between epochs."""
        self._save_if(saves)

    def _save_if(self, due):
        ending = self._termination.requested
        if ending or due:
            self.save()
        if ending:
            self._termination.obey()
