"""C++'s mt19937 with libstdc++'s distributions, which MXNet's image augmenters draw from."""

import math
import threading

import numpy as np

_WINDOW = 1 << 14  # draws looked at together when a list is shuffled
MAGIC = 111  # MXNet's constant: every seed of an iterator is moved by it


class Engine:
    """One std::mt19937: the same seed gives the numbers that MXNet's iterators see."""

    __slots__ = ("_draw", "_saved", "_state")

    def __init__(self, seed):
        bits = np.random.MT19937()
        self._state = np.random.RandomState(bits)
        self._draw = bits.random_raw  # 32 bits
        self.seed(seed)

    def seed(self, seed):
        """Begin another stream; much cheaper than another engine."""
        self._state.seed(seed & 0xFFFFFFFF)
        self._saved = None
        return self

    def get_state(self):
        """Where the stream is, in plain values and NumPy arrays."""
        return self._state.get_state(), self._saved

    def set_state(self, state):
        """Continue from what `get_state` returned."""
        generator, self._saved = state
        self._state.set_state(generator)

    def unit(self):
        """A float32 in [0, 1)."""
        value = np.float32(self._draw()) / np.float32(4294967296.0)
        return float(value) if value < 1 else float(np.nextafter(np.float32(1), np.float32(0)))

    def uniform(self, low, high):
        """A float32 in [low, high)."""
        low, high = np.float32(low), np.float32(high)
        return float(np.float32(self.unit()) * (high - low) + low)

    def integer(self, low, high):
        """An integer from low to high, both included, by rejection as in GCC before version 11."""
        count = high - low + 1
        scaling = 0xFFFFFFFF // count
        limit = count * scaling
        while True:
            value = self._draw()
            if value < limit:
                return low + value // scaling

    def normal(self, deviation):
        """A normal float32 by the polar method; `forget` drops the second value of a pair."""
        if self._saved is not None:
            value, self._saved = self._saved, None
            return value * deviation
        while True:
            x = 2.0 * self.unit() - 1.0
            y = 2.0 * self.unit() - 1.0
            square = x * x + y * y
            if 0.0 < square <= 1.0:
                break
        factor = math.sqrt(-2.0 * math.log(square) / square)
        self._saved = x * factor
        return y * factor * deviation

    def forget(self):
        """A new std::normal_distribution starts without a saved value."""
        self._saved = None

    def coin(self):
        """True with probability one half (std::bernoulli_distribution, which draws two words)."""
        low, high = self._draw(), self._draw()
        return (low + high * 4294967296.0) / 18446744073709551616.0 < 0.5

    def shuffle(self, items):
        """std::shuffle as GCC before version 7 does it: one draw for each position, `integer(0, i)`."""
        for i, j in enumerate(self._targets(len(items)).tolist(), 1):
            items[i], items[j] = items[j], items[i]

    def _targets(self, count):
        """`integer(0, i)` for i from 1 to count - 1, drawn together; a rejected draw moves all that follow it."""
        sizes = np.arange(2, count + 1, dtype=np.uint64)
        scaling = np.uint64(0xFFFFFFFF) // sizes
        limits = sizes * scaling
        targets = np.empty(max(count - 1, 0), np.int64)
        done, drawn = 0, np.empty(0, np.uint64)
        while done < len(targets):
            missing = min(len(targets) - done, _WINDOW) - len(drawn)
            if missing > 0:
                drawn = np.concatenate([drawn, self._draw(missing)])
            rejected = np.flatnonzero(drawn >= limits[done : done + len(drawn)])
            good = int(rejected[0]) if len(rejected) else len(drawn)
            targets[done : done + good] = drawn[:good] // scaling[done : done + good]
            done, drawn = done + good, drawn[good + 1 :]
        return targets


class _Local(threading.local):
    def __init__(self):
        self.engine = Engine(0)


_LOCAL = _Local()


def thread_engine(seed):
    """This thread's engine at the beginning of a stream, for use until it is asked for again."""
    return _LOCAL.engine.seed(seed)
