"""In what order samples are read: shuffling, batches, and what happens between epochs."""

import bisect
from typing import NamedTuple

from ._random import MAGIC, Engine


class Place(NamedTuple):
    """A sample to be read: its position, its number as MXNet counts, and how many epochs had begun then."""

    position: int
    number: int
    epoch: int


class Order:
    """An endless sequence of epochs over positions 0…count-1, shuffled by MXNet's engine if asked.

    `starts` are the positions at which chunks begin: each is shuffled by itself, as it is all that MXNet has read.
    Without, samples are read one by one, in the order of the whole.
    """

    def __init__(self, count, shuffle=False, seed=MAGIC, starts=None):
        self._count = count
        self._engine = Engine(seed) if shuffle else None
        self.starts = starts

    @property
    def shuffled(self):
        return self._engine is not None

    def get_state(self):
        """Where the engine is; None without one."""
        return self._engine and self._engine.get_state()

    def set_state(self, state):
        """Continue from what `get_state` returned."""
        if self._engine is not None:
            self._engine.set_state(state)

    def epoch(self):
        if self._engine is None:
            return range(self._count)
        positions = []
        for begin in self.starts or [0]:
            chunk = list(self.chunk(begin))
            self._engine.shuffle(chunk)
            positions += chunk
        return positions

    def chunk(self, position):
        """The positions that are read together with this one."""
        starts = self.starts or [0]
        last = bisect.bisect_right(starts, position)
        return range(starts[last - 1], starts[last] if last < len(starts) else self._count)


class Batches:
    """Cuts epochs into batches: `next` gives (places, pad), or None where an epoch ends.

    With `round_batch` the last batch is completed from the next epoch, which then goes on from there.
    """

    def __init__(self, order, batch_size, round_batch):
        self._order = order
        self._size = batch_size
        self._round = round_batch
        self._epochs = 0
        self.restart()

    def restart(self):
        """The next batch is the first of a new epoch."""
        self._epoch = None
        self._ended = False

    def skip(self):
        """Begin an epoch and leave it."""
        self._begin(0)
        self.restart()

    def next(self):
        if self._ended:
            self._ended = False
            return None
        if self._epoch is None:
            self._begin(0)
        places = self._take(self._size)
        if not places:
            self._epoch = None
            return None
        pad = self._size - len(places)
        if pad:
            self._ended, self._epoch = True, None
            while self._round and len(places) < self._size:
                self._begin(len(places))
                places += self._take(self._size - len(places))
        return places, pad

    def state_dict(self):
        """Where it is: the engine as it was before this epoch was shuffled, and how far the epoch has been cut."""
        if self._epoch is None:
            return {"engine": self._order.get_state(), "ended": self._ended, "epoch": None, "epochs": self._epochs}
        place = self._cursor, self._row
        return {"engine": self._origin, "ended": self._ended, "epoch": place, "epochs": self._epochs}

    def load_state_dict(self, state):
        """Continue from what `state_dict` returned."""
        self._order.set_state(state["engine"])
        self._ended, self._epoch = state["ended"], None
        if state["epoch"] is not None:
            self._begin(0)
            self._cursor, self._row = state["epoch"]
        self._epochs = state.get("epochs", self._epochs)  # checkpoints of earlier versions do not have it

    def _begin(self, row):
        self._origin = self._order.get_state()
        self._epoch = self._order.epoch()
        self._cursor, self._row = 0, row
        self._epochs += 1

    def _take(self, count):
        """The next places of the epoch; an epoch that a fill used up is forgotten."""
        positions = self._epoch[self._cursor : self._cursor + count]
        places = [
            Place(position, self._number(cursor, position), self._epochs)
            for cursor, position in enumerate(positions, self._cursor)
        ]
        self._cursor += len(places)
        if self._ended and self._cursor >= len(self._epoch):
            self._epoch = None
        return places

    def _number(self, cursor, position):
        """MXNet counts from the row at which a chunk begins, or from the end of the batch if it is shuffled."""
        if self._order.starts is None:
            return (self._row + cursor) % self._size
        begin = self._order.chunk(position).start
        return position - begin + (self._size if self._order.shuffled else (self._row + begin) % self._size)
