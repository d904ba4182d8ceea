"""Banks of mt19937 engines, computed side by side: word for word what C++'s `std::mt19937` gives for the same seeds."""

import ctypes
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

Words = np.ndarray  # of uint32
WORD = np.uint32
LENGTH, MIDDLE = 624, 397
GROUP = 64  # engines advanced at a time: their states and the scratch stay in the second-level cache

_ONE, _LOW = WORD(1), WORD(0x7FFFFFFF)
_MATRIX, _MASK_B, _MASK_C = WORD(0x9908B0DF), WORD(0x9D2C5680), WORD(0xEFC60000)
_SEED_FACTOR = WORD(1812433253)
# Words: fewer at once are not worth asking for compiled code, fewer in all not worth importing a compiler
MANY, ENOUGH = 1 << 13, 1 << 24


class Compiled:
    """Compiled code that others may know of: `find` returns the module that has it, or None.

    Few numbers do not make it load, but use it once it is there. To import numba takes as long as to make millions.
    """

    def __init__(self) -> None:
        self.find: Callable[[], Any] = lambda: None
        self._found: Any = None
        self._made = 0

    def for_numbers(self, number: int, effort: int = 0) -> Any:
        """The code for some numbers, which take as long as so many words more."""
        self._made += number + effort
        if self._found is not None or self._made >= ENOUGH or (number >= MANY and "numba" in sys.modules):
            self._found = self.find()  # asked again each time: kernels can be switched off
        return self._found


COMPILED = Compiled()


class _Native:
    """NumPy's own engine, put into the state of one of ours: that is read and written where it lies, in no time."""

    def __init__(self) -> None:
        engine = np.random.MT19937(0)
        self.seed, self._engine = np.random.RandomState(engine).seed, engine
        memory = (ctypes.c_uint32 * (LENGTH + 1)).from_address(engine.ctypes.state_address)
        self._memory = np.ctypeslib.as_array(memory)  # the state, and how many of its words are read
        self.state = self._memory[:LENGTH]
        self.seed(1)
        found = engine.state["state"]
        self.known = bool((self.state == found["key"]).all()) and self._memory[LENGTH] == found["pos"] == LENGTH

    def words(self, state: Words, number: int) -> Words:
        """The next words of an engine, a multiple of 624; its state moves on."""
        if self.known:
            self.state[:], self._memory[LENGTH] = state, LENGTH
        else:  # it lies elsewhere
            self._engine.state = {"bit_generator": "MT19937", "state": {"key": state, "pos": LENGTH}}
        made = self._engine.random_raw(number).astype(WORD)
        state[:] = self.state if self.known else self._engine.state["state"]["key"]
        return made


_THREAD = threading.local()


def _native() -> _Native:
    """This thread's."""
    found: _Native | None = getattr(_THREAD, "native", None)
    if found is None:
        found = _THREAD.native = _Native()
    return found


def seeded(seeds: Words) -> Words:
    """The initial states, a row for each seed."""
    native = _native()
    if not native.known:
        return _seeded_side_by_side(seeds)
    states, seed, state = np.empty((len(seeds), LENGTH), WORD), native.seed, native.state
    for row, number in enumerate(seeds.tolist()):
        seed(number)
        states[row] = state
    return states


def _seeded_side_by_side(seeds: Words) -> Words:
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
    """Advance every row to its next 624 words, in place; word k needs word k+397, hence the runs of 227."""
    reach = LENGTH - MIDDLE
    for start in range(0, LENGTH - 1, reach):
        stop = min(start + reach, LENGTH - 1)
        origin = MIDDLE if start == 0 else start - reach
        source = states[:, origin : origin + stop - start]
        _twist_part(states, slice(start, stop), states[:, start + 1 : stop + 1], source, a, b)
    _twist_part(states, slice(LENGTH - 1, LENGTH), states[:, :1], states[:, MIDDLE - 1 : MIDDLE], a, b)


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
    """Engines, engine i seeded with `seed + i`: a row of states for each, and words it has made that nobody has taken.

    Those are in its row of `words`, from the first of its `cursors` up to the second.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Start over. States are made when an engine is first used: seeding is free, a small draw costs one group."""
        self._state: dict[str, object] | None = None  # of the last `get_state`, while nothing is drawn
        self.seed = seed & 0xFFFFFFFF
        self.states, self.words = np.empty((0, LENGTH), WORD), np.empty((0, LENGTH), WORD)
        self.cursors = np.empty((0, 2), np.int64)

    def prepare(self, engines: int) -> None:
        """Seed the groups that hold the first `engines` engines, from which somebody will draw."""
        self._state = None
        ready = len(self.states)
        if engines > ready:
            stop = min(self.size, -(-engines // GROUP) * GROUP)
            seeds = (np.arange(ready, stop, dtype=np.int64) + self.seed).astype(WORD)
            self.states = np.concatenate([self.states, seeded(seeds)])
            self.words = np.concatenate([self.words, np.empty((stop - ready, self.words.shape[1]), WORD)])
            self.cursors = np.concatenate([self.cursors, np.zeros((stop - ready, 2), np.int64)])

    def take(self, first: int, stop: int, number: int) -> Words:
        """The next `number` words of the engines `first` to `stop`, a row for each."""
        self.prepare(stop)
        words = np.empty((stop - first, number), WORD)
        compiled = COMPILED.for_numbers(words.size)
        if compiled is not None:
            compiled.take(self.states, self.words, self.cursors, first, words)
            return words
        for start in range(first, stop, GROUP):
            self._take(start, words[start - first : start - first + GROUP])
        return words

    def _take(self, first: int, words: Words) -> None:
        count = len(words)
        rows, cursors = slice(first, first + count), self.cursors[first : first + count]
        if count == 1:
            self._take_from_one(first, words[0])
        elif (cursors == cursors[0]).all():
            self._take_evenly(rows, words)
        else:
            self._take_unevenly(first, words)

    def _take_evenly(self, rows: slice, words: Words) -> None:
        """All engines are at the same place."""
        at, end = self.cursors[rows][0].tolist()
        number, done = words.shape[1], min(end - at, words.shape[1])
        words[:, :done] = self.words[rows, at : at + done]
        self.cursors[rows, 0] = at + done
        while done < number:
            block, more = self._advance(rows), min(LENGTH, number - done)
            words[:, done : done + more] = block[:, :more]
            if more < LENGTH:
                self.words[rows, :LENGTH] = block
            self.cursors[rows] = more, LENGTH
            done += more

    def _take_unevenly(self, first: int, words: Words) -> None:
        number, done = words.shape[1], []
        for engine, row in enumerate(words, first):
            at, end = self.cursors[engine].tolist()
            done.append(min(end - at, number))
            row[: done[-1]] = self.words[engine, at : at + done[-1]]
            self.cursors[engine, 0] = at + done[-1]
        while active := [place for place, have in enumerate(done) if have < number]:
            blocks = self._advance(np.array(active) + first)
            for place, block in zip(active, blocks, strict=True):
                more = min(LENGTH, number - done[place])
                words[place, done[place] : done[place] + more] = block[:more]
                self.words[first + place, more:LENGTH] = block[more:]
                self.cursors[first + place] = more, LENGTH
                done[place] += more

    def _take_from_one(self, engine: int, words: Words) -> None:
        """One engine by itself: NumPy's own is the same, and quicker than a matrix with a single row."""
        at, end = self.cursors[engine].tolist()
        done = min(end - at, len(words))
        words[:done] = self.words[engine, at : at + done]
        self.cursors[engine, 0] = at + done
        blocks = -(-(len(words) - done) // LENGTH)
        if blocks:
            made = _native().words(self.states[engine], blocks * LENGTH)
            words[done:] = made[: len(words) - done]
            self.words[engine, :LENGTH] = made[-LENGTH:]
            self.cursors[engine] = len(words) - done - (blocks - 1) * LENGTH, LENGTH

    def _advance(self, rows: slice | np.ndarray) -> Words:
        """The next 624 words of some engines."""
        states = self.states[rows]
        block, spare = np.empty(states.shape, WORD), np.empty(states.shape, WORD)
        twist(states, block, spare)
        if not isinstance(rows, slice):
            self.states[rows] = states
        temper(states, block, spare)
        return block

    def give_back(self, engine: int, words: Words) -> None:
        """Return words that were taken last and not needed; the next taker gets them."""
        if not len(words):
            return
        self._state = None
        at, end = self.cursors[engine].tolist()
        if len(words) > at:
            kept, at, end = self.words[engine, at:end].copy(), len(words), len(words) + end - at
            self._make_room(end)
            self.words[engine, at:end] = kept
        self.words[engine, at - len(words) : at] = words
        self.cursors[engine] = at - len(words), end

    def _make_room(self, width: int) -> None:
        if width > self.words.shape[1]:
            wider = np.empty((len(self.words), width), WORD)
            wider[:, : self.words.shape[1]] = self.words
            self.words = wider

    def mark(self, engine: int) -> tuple[Words, Words]:
        """The place at which an engine is, for `go_back`."""
        self.prepare(engine + 1)
        at, end = self.cursors[engine].tolist()
        return self.states[engine].copy(), self.words[engine, at:end].copy()

    def go_back(self, engine: int, place: tuple[Words, Words]) -> None:
        """To where the engine was: what it has given since then it gives once more."""
        self._state = None
        self.states[engine], self.cursors[engine] = place[0], 0
        self.give_back(engine, place[1])

    def get_state(self) -> dict[str, object]:
        """Plain values and arrays, not to be written to, from which `set_state` continues the streams."""
        if self._state is None:
            unread = [row[at:end] for row, (at, end) in zip(self.words, self.cursors.tolist(), strict=True)]
            self._state = {
                "seed": self.seed,
                "states": self.states.copy(),
                "lengths": self.cursors[:, 1] - self.cursors[:, 0],
                "unread": np.concatenate(unread) if unread else np.empty(0, WORD),
            }
        return dict(self._state)

    def set_state(self, state: dict[str, object]) -> None:
        """Continue where `get_state` was called."""
        lengths = np.asarray(state["lengths"], np.int64)
        states, unread = np.asarray(state["states"], WORD), np.asarray(state["unread"], WORD)
        fitting = states.shape == (len(lengths), LENGTH) and len(lengths) <= self.size and (lengths >= 0).all()
        if not fitting or lengths.sum() != len(unread):
            raise ValueError("this is no state of a random stream")
        self.reseed(int(state["seed"]))  # type: ignore[call-overload]
        self.states = states.copy()
        self.words = np.empty((len(lengths), max(LENGTH, lengths.max(initial=0))), WORD)
        self.cursors = np.stack([np.zeros_like(lengths), lengths], 1)
        for row, last, length in zip(self.words, lengths.cumsum().tolist(), lengths.tolist(), strict=True):
            row[:length] = unread[last - length : last]
