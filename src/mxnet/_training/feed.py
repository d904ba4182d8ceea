"""The batches of one epoch, and from where the same ones come again after a crash.

An iterator with `state_dict` says itself where it is. Anything else is begun again with the random streams as they were
when the epoch began, and moved forward by the batches that were done.
"""

from ..io._base import is_stateful
from .progress import set_streams, streams


def _samplers(source):
    """The samplers of a loader that keep something from one epoch to the next."""
    batches = getattr(source, "_batch_sampler", None)
    return [each for each in (batches, getattr(batches, "_sampler", None)) if is_stateful(each)]


class Feed:
    """An iterator over `source`. `saved` is the `state` of an earlier one, after `done` batches of the epoch.

    `again` resets an iterator of mx.io first, which an epoch that is not the first needs. With `ahead` the next batch
    is taken before the last one is done with: `state` is then the one before that batch.
    """

    def __init__(self, source, saved=None, done=0, again=False, ahead=False):
        self.source, self.done, self._ahead = source, done, ahead
        self._begin = self._before = self._held = None
        saved = saved or {}
        self._set(saved)
        if not is_stateful(source):
            if done:
                set_streams(saved["begin"])
            elif hasattr(source, "clean"):
                source.clean()  # a pass that was begun early would have drawn its order before this moment
            self._begin = {"begin": streams(), "samplers": [each.state_dict() for each in _samplers(source)]}
        if again and hasattr(source, "reset") and not (done and is_stateful(source)):
            source.reset()
        self._iterator = self._moved(saved.get("taken", done))
        if "fetch" in saved:
            self._before = saved
            set_streams(saved["fetch"])
            self._held = [next(self._iterator, None)]

    def _set(self, saved):
        if "source" in saved:
            self.source.load_state_dict(saved["source"])
        for sampler, state in zip(_samplers(self.source), saved.get("samplers", ()), strict=False):
            sampler.load_state_dict(state)

    def _moved(self, done):
        if is_stateful(self.source):
            return iter(self.source)
        if hasattr(self.source, "_iterate_from"):
            return self.source._iterate_from(done)
        iterator = iter(self.source)
        for _ in range(done):
            next(iterator, None)
        return iterator

    def __iter__(self):
        return self

    def __next__(self):
        if self._held:
            batch = self._held.pop()
            if batch is None:
                raise StopIteration
            return batch
        if self._ahead:
            self._before = {**self._here(), "fetch": streams()}
        return next(self._iterator)

    def _here(self):
        """This place; `taken` counts batches of which a loader left out every sample, too."""
        if is_stateful(self.source):
            return {"source": self.source.state_dict()}
        taken = getattr(self.source, "_taken", None)
        return self._begin if taken is None else {**self._begin, "taken": taken}

    def state(self):
        """What to give as `saved` later, inside the epoch."""
        return self._before if self._ahead else self._here()

    def state_between(self):
        """The same when the epoch is over and the next has not begun."""
        if is_stateful(self.source):
            return {"source": self.source.state_dict()}
        return {"samplers": [each.state_dict() for each in _samplers(self.source)]}
