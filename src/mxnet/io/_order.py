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

    def epoch(self):
        positions = list(range(self._count))
        if self._engine is not None:
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
        self._rest = None
        self._over = False

    def restart(self):
        """The next batch is the first of a new epoch."""
        self._rest = None
        self._over = False

    def next(self):
        if self._over:
            self._over = False
            return None
        if self._rest is None:
            self._rest = self._epoch(0)
        taken, self._rest = self._rest[:self._size], self._rest[self._size:]
        if not taken:
            self._rest = None
            return None
        pad = self._size - len(taken)
        if pad:
            self._over, self._rest = True, None
            if self._round:
                self._fill(taken)
        positions, numbers = zip(*taken, strict=True)
        return list(positions), list(numbers), pad

    def _epoch(self, start):
        start = self._size if self._order.shuffled else start
        return [(position, start + position) for position in self._order.epoch()]

    def _fill(self, taken):
        while len(taken) < self._size:
            self._rest = self._epoch(len(taken))
            missing = self._size - len(taken)
            taken.extend(self._rest[:missing])
            self._rest = self._rest[missing:] or None

