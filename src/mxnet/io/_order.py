"""In what order samples are read: shuffling, batches, and what happens between epochs."""

from ._random import MAGIC, Engine


class Order:
    """An endless sequence of epochs over positions 0…count-1, shuffled by MXNet's engine if asked."""

    def __init__(self, count, shuffle=False, seed=0):
        self._count = count
        self._engine = Engine(MAGIC + seed) if shuffle else None

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
        positions = range(self._count)
        if self._engine is not None:
            positions = list(positions)
            self._engine.shuffle(positions)
        return positions


class Batches:
    """Cuts epochs into batches: `next` gives (positions, numbers, pad), or None where an epoch ends.

    With `round_batch` the last batch is completed from the next epoch, which then goes on from there. Numbers are
    positions as MXNet counts them: moved by the row at which the epoch begins, or by a batch if it is shuffled.
    """

    def __init__(self, order, batch_size, round_batch):
        self._order = order
        self._size = batch_size
        self._round = round_batch
        self.restart()

    def restart(self):
        """The next batch is the first of a new epoch."""
        self._epoch = None
        self._ended = False

    def next(self):
        if self._ended:
            self._ended = False
            return None
        if self._epoch is None:
            self._begin(0)
        positions, numbers = self._take(self._size)
        if not positions:
            self._epoch = None
            return None
        pad = self._size - len(positions)
        if pad:
            self._ended, self._epoch = True, None
            while self._round and len(positions) < self._size:
                self._begin(len(positions))
                for whole, more in zip((positions, numbers), self._take(self._size - len(positions)), strict=True):
                    whole.extend(more)
        return positions, numbers, pad

    def state_dict(self):
        """Where it is: the engine as it was before this epoch was shuffled, and how far the epoch has been cut."""
        if self._epoch is None:
            return {"engine": self._order.get_state(), "ended": self._ended, "epoch": None}
        return {"engine": self._origin, "ended": self._ended, "epoch": (self._cursor, self._shift)}

    def load_state_dict(self, state):
        """Continue from what `state_dict` returned."""
        self._order.set_state(state["engine"])
        self._ended, self._epoch = state["ended"], None
        if state["epoch"] is not None:
            self._begin(0)
            self._cursor, self._shift = state["epoch"]

    def _begin(self, row):
        self._origin = self._order.get_state()
        self._epoch = self._order.epoch()
        self._cursor = 0
        self._shift = self._size if self._order.shuffled else row

    def _take(self, count):
        """The next positions of the epoch and their numbers; an epoch that a fill used up is forgotten."""
        positions = list(self._epoch[self._cursor : self._cursor + count])
        self._cursor += len(positions)
        numbers = [position + self._shift for position in positions]
        if self._ended and self._cursor >= len(self._epoch):
            self._epoch = None
        return positions, numbers
