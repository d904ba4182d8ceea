"""Banks of mt19937 engines, computed side by side: word for word what C++'s `std::mt19937` gives for the same seeds."""

import numpy as np

Words = np.ndarray  # of uint32
WORD = np.uint32
LENGTH, MIDDLE = 624, 397
GROUP = 64  # engines advanced at a time: their states and the scratch stay in the second-level cache

_ONE, _LOW = WORD(1), WORD(0x7FFFFFFF)
_MATRIX, _MASK_B, _MASK_C = WORD(0x9908B0DF), WORD(0x9D2C5680), WORD(0xEFC60000)
_SEED_FACTOR = WORD(1812433253)


def seeded(seeds: Words) -> Words:
    """The initial states, one column for each seed."""
    if len(seeds) == 1:
        state: dict[str, dict[str, Words]] = np.random.RandomState(int(seeds[0])).get_state(legacy=False)  # type: ignore[assignment]
        return state["state"]["key"].astype(WORD)[:, None]
    states = np.empty((LENGTH, len(seeds)), WORD)
    states[0] = seeds
    mixed = np.empty(len(seeds), WORD)
    for i in range(1, LENGTH):
        np.right_shift(states[i - 1], WORD(30), out=mixed)
        np.bitwise_xor(mixed, states[i - 1], out=mixed)
        np.multiply(mixed, _SEED_FACTOR, out=mixed)
        np.add(mixed, WORD(i), out=states[i])
    return states


def _twist_part(states: Words, part: slice, following: Words, source: Words, a: Words, b: Words) -> None:
    current = states[part]
    a, b = a[: len(current)], b[: len(current)]
    np.bitwise_xor(current, following, out=a)
    np.bitwise_and(a, _LOW, out=a)
    np.bitwise_xor(a, current, out=a)
    np.bitwise_and(a, _ONE, out=b)
    np.multiply(b, _MATRIX, out=b)
    np.right_shift(a, _ONE, out=a)
    np.bitwise_xor(a, b, out=a)
    np.bitwise_xor(a, source, out=current)


def twist(states: Words, a: Words, b: Words) -> None:
    """Advance every column to its next 624 words, in place; word k needs word k+397, hence the runs of 227."""
    reach = LENGTH - MIDDLE
    for start in range(0, LENGTH - 1, reach):
        stop = min(start + reach, LENGTH - 1)
        origin = MIDDLE if start == 0 else start - reach
        source = states[origin : origin + stop - start]
        _twist_part(states, slice(start, stop), states[start + 1 : stop + 1], source, a, b)
    _twist_part(states, slice(LENGTH - 1, LENGTH), states[:1], states[MIDDLE - 1 : MIDDLE], a, b)


def temper(states: Words, out: Words, scratch: Words) -> None:
    """The words that states stand for."""
    np.right_shift(states, WORD(11), out=scratch)
    np.bitwise_xor(states, scratch, out=out)
    for shift, mask in ((7, _MASK_B), (15, _MASK_C)):
        np.left_shift(out, WORD(shift), out=scratch)
        np.bitwise_and(scratch, mask, out=scratch)
        np.bitwise_xor(out, scratch, out=out)
    np.right_shift(out, WORD(18), out=scratch)
    np.bitwise_xor(out, scratch, out=out)


class Bank:
    """A row of engines, engine i seeded with `seed + i`; each keeps the words it has made and nobody has taken.

    Engines live in groups; a group's states are a matrix with a column for each engine, which makes every step of the
    recurrence one run over contiguous memory.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Start over. States are made when an engine is first used: seeding is free, a small draw costs one group."""
        self._state: dict[str, object] | None = None  # of the last `get_state`, while nothing is drawn
        self.seed = seed & 0xFFFFFFFF
        self.groups: list[Words] = []
        self.unread: list[Words] = []
        self.even: list[Words | None] = []  # a group's unread words in one matrix, while all engines have as many

    def _prepare(self, engines: int) -> None:
        """Seed the groups that hold the first `engines` engines."""
        ready = len(self.unread)
        if engines > ready:
            stop = min(self.size, -(-engines // GROUP) * GROUP)
            seeds = (np.arange(ready, stop, dtype=np.int64) + self.seed).astype(WORD)
            states = seeded(seeds)
            self.groups += [np.ascontiguousarray(states[:, i : i + GROUP]) for i in range(0, stop - ready, GROUP)]
            self.unread += [np.empty(0, WORD)] * (stop - ready)
            self.even += [None] * (len(self.groups) - len(self.even))

    def take(self, first: int, stop: int, number: int) -> Words:
        """The next `number` words of the engines `first` to `stop`, a row for each."""
        self._state = None
        self._prepare(stop)
        words = np.empty((stop - first, number), WORD)
        start = first
        while start < stop:
            end = min((start // GROUP + 1) * GROUP, stop)
            self._take_group(start, end, words[start - first : end - first])
            start = end
        return words

    def _take_group(self, first: int, stop: int, words: Words) -> None:
        number, group = words.shape[1], first // GROUP
        kept = self.even[group]
        if kept is not None and len(kept) == len(words):
            done = min(kept.shape[1], number)
            words[:, :done], self.even[group] = kept[:, :done], kept[:, done:]
            if done < number:
                self._fill(first, stop, words[:, done:], -(-(number - done) // LENGTH))
            return
        self._apart(group)
        have = [self._take_unread(e, row) for e, row in zip(range(first, stop), words, strict=True)]
        blocks = [-(-(number - h) // LENGTH) for h in have]
        most = max(blocks)
        if most == 0:
            return
        if blocks.count(most) == len(blocks) and have.count(have[0]) == len(have):
            self._fill(first, stop, words[:, have[0] :], most)
            return
        pool = self._pool(first, blocks, most)
        for i, engine in enumerate(range(first, stop)):
            if blocks[i]:
                made, missing = pool[i, : blocks[i] * LENGTH], number - have[i]
                words[i, have[i] :] = made[:missing]
                self.unread[engine] = made[missing:].copy()

    def _apart(self, group: int) -> None:
        """From now on each engine of a group has its own unread words."""
        kept = self.even[group]
        if kept is not None:
            self.unread[group * GROUP : group * GROUP + len(kept)] = list(kept)
            self.even[group] = None

    def _take_unread(self, engine: int, row: Words) -> int:
        kept = self.unread[engine]
        have = min(len(kept), len(row))
        if have:
            row[:have] = kept[:have]
            self.unread[engine] = kept[have:]
        return have

    def _fill(self, first: int, stop: int, words: Words, blocks: int) -> None:
        """All engines are at the same place: write the blocks straight into `words`."""
        if stop == first + 1:
            self._fill_one(first, words[0], blocks)
            return
        columns, number = slice(first % GROUP, first % GROUP + stop - first), words.shape[1]
        for start in range(0, blocks * LENGTH, LENGTH):
            block = self._advance(first // GROUP, columns).T
            if start + LENGTH <= number:
                words[:, start : start + LENGTH] = block
            else:
                words[:, start:] = block[:, : number - start]
                self._keep(first, np.ascontiguousarray(block[:, number - start :]))

    def _keep(self, first: int, words: Words) -> None:
        """Words for the engines from `first` on, which have no others."""
        group = first // GROUP
        if len(words) == self.groups[group].shape[1]:
            self.even[group] = words
        else:
            self.unread[first : first + len(words)] = list(words)

    def _fill_one(self, engine: int, words: Words, blocks: int) -> None:
        """One engine by itself: NumPy's own is the same, and quicker than a matrix with a single column."""
        states = self.groups[engine // GROUP][:, engine % GROUP]
        generator = np.random.MT19937(0)  # a number spares the search for a random one
        generator.state = {"bit_generator": "MT19937", "state": {"key": states, "pos": LENGTH}}
        made = generator.random_raw(blocks * LENGTH).astype(WORD)
        states[:] = generator.state["state"]["key"]
        words[:] = made[: len(words)]
        self.unread[engine] = made[len(words) :]

    def _pool(self, first: int, blocks: list[int], most: int) -> Words:
        """As many blocks for each engine as it lacks, from the left of its row."""
        pool = np.empty((len(blocks), most * LENGTH), WORD)
        for done in range(most):
            active = np.flatnonzero(np.array(blocks) > done)
            columns = active + first % GROUP
            if len(active) == len(blocks):
                columns = slice(first % GROUP, first % GROUP + len(blocks))
            rows = slice(None) if isinstance(columns, slice) else active
            pool[rows, done * LENGTH : (done + 1) * LENGTH] = self._advance(first // GROUP, columns).T
        return pool

    def _advance(self, group: int, columns: slice | np.ndarray) -> Words:
        """The next 624 words of some engines of a group, a column for each."""
        states = self.groups[group][:, columns]
        block, spare = np.empty(states.shape, WORD), np.empty(states.shape, WORD)
        twist(states, block, spare)
        if not isinstance(columns, slice):
            self.groups[group][:, columns] = states
        temper(states, block, spare)
        return block

    def give_back(self, engine: int, words: Words) -> None:
        """Return words that were taken last and not needed; the next taker gets them."""
        if len(words):
            self._state = None
            self._apart(engine // GROUP)
            kept = self.unread[engine]
            self.unread[engine] = np.concatenate([words, kept]) if len(kept) else words.copy()

    def get_state(self) -> dict[str, object]:
        """Plain values and arrays, not to be written to, from which `set_state` continues the streams."""
        if self._state is None:
            self._state = self._copied()
        return dict(self._state)

    def _copied(self) -> dict[str, object]:
        for group in range(len(self.groups)):
            self._apart(group)
        states = np.concatenate([g.T for g in self.groups]) if self.groups else np.empty((0, LENGTH), WORD)
        unread = np.concatenate(self.unread) if self.unread else np.empty(0, WORD)
        lengths = np.array([len(kept) for kept in self.unread], np.int64)
        return {"seed": self.seed, "states": states, "lengths": lengths, "unread": unread}

    def set_state(self, state: dict[str, object]) -> None:
        """Continue where `get_state` was called."""
        lengths = np.asarray(state["lengths"], np.int64)
        states, unread = np.asarray(state["states"], WORD), np.asarray(state["unread"], WORD)
        if states.shape != (len(lengths), LENGTH) or len(lengths) > self.size or lengths.sum() != len(unread):
            raise ValueError("this is no state of a random stream")
        self._state = None
        self.seed = int(state["seed"])  # type: ignore[call-overload]
        self.groups = [np.array(states[i : i + GROUP].T, order="C") for i in range(0, len(states), GROUP)]
        self.unread = [part.copy() for part in np.split(unread, np.cumsum(lengths)[:-1])] if len(lengths) else []
        self.even = [None] * len(self.groups)
