"""Banks of mt19937 engines, computed side by side: word for word what C++'s `std::mt19937` gives for the same seeds."""

import numpy as np

Words = np.ndarray  # of uint32
WORD = np.uint32
LENGTH, MIDDLE = 624, 397
GROUP = 128  # engines advanced at a time: their states and the scratch stay in the second-level cache

_ONE, _LOW = WORD(1), WORD(0x7FFFFFFF)
_MATRIX, _MASK_B, _MASK_C = WORD(0x9908B0DF), WORD(0x9D2C5680), WORD(0xEFC60000)
_SEED_FACTOR = WORD(1812433253)


def seeded(seeds: Words) -> Words:
    """The initial states, one row for each seed."""
    states = np.empty((LENGTH, len(seeds)), WORD)
    states[0] = seeds
    mixed = np.empty(len(seeds), WORD)
    for i in range(1, LENGTH):
        np.right_shift(states[i - 1], WORD(30), out=mixed)
        np.bitwise_xor(mixed, states[i - 1], out=mixed)
        np.multiply(mixed, _SEED_FACTOR, out=mixed)
        np.add(mixed, WORD(i), out=states[i])
    return np.ascontiguousarray(states.T)


def _twist_part(states: Words, part: slice, following: Words, source: Words, a: Words, b: Words) -> None:
    current = states[:, part]
    a, b = a[:, : current.shape[1]], b[:, : current.shape[1]]
    np.bitwise_xor(current, following, out=a)
    np.bitwise_and(a, _LOW, out=a)
    np.bitwise_xor(a, current, out=a)
    np.bitwise_and(a, _ONE, out=b)
    np.multiply(b, _MATRIX, out=b)
    np.right_shift(a, _ONE, out=a)
    np.bitwise_xor(a, b, out=a)
    np.bitwise_xor(a, source, out=current)


def twist(states: Words, a: Words, b: Words) -> None:
    """Advance every row to its next 624 words, in place; word k needs word k+397, so the row is done in runs of 227."""
    reach = LENGTH - MIDDLE
    for start in range(0, LENGTH - 1, reach):
        stop = min(start + reach, LENGTH - 1)
        origin = (start + MIDDLE) % LENGTH if start == 0 else start - reach
        source = states[:, origin : origin + stop - start]
        _twist_part(states, slice(start, stop), states[:, start + 1 : stop + 1], source, a, b)
    last = slice(LENGTH - 1, LENGTH)
    _twist_part(states, last, states[:, :1], states[:, MIDDLE - 1 : MIDDLE], a, b)


def temper(states: Words, out: Words, scratch: Words) -> None:
    """The words a row of states stands for."""
    np.right_shift(states, WORD(11), out=scratch)
    np.bitwise_xor(states, scratch, out=out)
    for shift, mask in ((7, _MASK_B), (15, _MASK_C)):
        np.left_shift(out, WORD(shift), out=scratch)
        np.bitwise_and(scratch, mask, out=scratch)
        np.bitwise_xor(out, scratch, out=out)
    np.right_shift(out, WORD(18), out=scratch)
    np.bitwise_xor(out, scratch, out=out)


class Bank:
    """A row of engines, engine i seeded with `seed + i`; each keeps the words it has made and nobody has taken."""

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Start over. States are made when an engine is first used: seeding is free, a small draw costs one engine."""
        self.seed = seed & 0xFFFFFFFF
        self.states = np.empty((0, LENGTH), WORD)
        self.unread: list[Words] = []

    def _prepare(self, engines: int) -> None:
        ready = len(self.unread)
        if engines > ready:
            engines = self.size if engines > self.size // 8 else min(self.size, max(16, engines))
            seeds = (np.arange(ready, engines, dtype=np.int64) + self.seed).astype(WORD)
            self.states = np.concatenate([self.states, seeded(seeds)])
            self.unread += [np.empty(0, WORD)] * (engines - ready)

    def take(self, first: int, stop: int, number: int) -> Words:
        """The next `number` words of the engines `first` to `stop`, a row for each."""
        self._prepare(stop)
        words = np.empty((stop - first, number), WORD)
        for start in range(first, stop, GROUP):
            self._take_group(start, min(start + GROUP, stop), words[start - first :])
        return words

    def _take_group(self, first: int, stop: int, words: Words) -> None:
        number = words.shape[1]
        filled = [self._take_unread(e, words[e - first]) for e in range(first, stop)]
        scratch = np.empty((2, stop - first, LENGTH), WORD)
        while True:
            active = [i for i, have in enumerate(filled) if have < number]
            if not active:
                return
            block = self._advance(first, stop, active, scratch)
            self._deal(first, active, block, filled, words)

    def _take_unread(self, engine: int, row: Words) -> int:
        kept = self.unread[engine]
        have = min(len(kept), len(row))
        if have:
            row[:have] = kept[:have]
            self.unread[engine] = kept[have:]
        return have

    def _advance(self, first: int, stop: int, active: list[int], scratch: Words) -> Words:
        """The next 624 words of the active engines of a group."""
        block, spare = np.empty((len(active), LENGTH), WORD), scratch[:, : len(active)]
        if len(active) == stop - first:
            states = self.states[first:stop]
            twist(states, spare[0], spare[1])
        else:
            rows = np.asarray(active) + first
            states = self.states[rows]
            twist(states, spare[0], spare[1])
            self.states[rows] = states
        temper(states, block, spare[0])
        return block

    def _deal(self, first: int, active: list[int], block: Words, filled: list[int], words: Words) -> None:
        number, have = words.shape[1], filled[active[0]]
        together = len(active) == len(filled) and filled.count(have) == len(filled)
        if together and have + LENGTH <= number:
            words[: len(filled), have : have + LENGTH] = block
            filled[:] = [have + LENGTH] * len(filled)
            return
        for row, i in zip(block, active, strict=True):
            want = min(LENGTH, number - filled[i])
            words[i, filled[i] : filled[i] + want] = row[:want]
            filled[i] += want
            if want < LENGTH:
                self.unread[first + i] = row[want:]

    def give_back(self, engine: int, words: Words) -> None:
        """Return words that were taken last and not needed; the next taker gets them."""
        if len(words):
            kept = self.unread[engine]
            self.unread[engine] = np.concatenate([words, kept]) if len(kept) else words.copy()

    def get_state(self) -> dict[str, object]:
        """Plain values and arrays from which `set_state` continues the streams."""
        lengths = np.array([len(kept) for kept in self.unread], np.int64)
        unread = np.concatenate(self.unread) if self.unread else np.empty(0, WORD)
        return {"seed": self.seed, "states": self.states.copy(), "lengths": lengths, "unread": unread}

    def set_state(self, state: dict[str, object]) -> None:
        """Continue where `get_state` was called."""
        lengths = np.asarray(state["lengths"], np.int64)
        states, unread = np.asarray(state["states"], WORD), np.asarray(state["unread"], WORD)
        if states.shape != (len(lengths), LENGTH) or len(lengths) > self.size or lengths.sum() != len(unread):
            raise ValueError("this is no state of a random stream")
        self.seed, self.states = int(state["seed"]), states.copy()  # type: ignore[call-overload]
        self.unread = [part.copy() for part in np.split(unread, np.cumsum(lengths)[:-1])] if len(lengths) else []
