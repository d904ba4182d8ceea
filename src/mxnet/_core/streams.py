"""MXNet's random streams on the CPU: what each device draws after `mx.random.seed`, number for number.

A device owns two resources. The *parallel* one is 1,024 mt19937 engines; N samples are split over
min(ceil(N/64), 1024) of them in contiguous chunks. It feeds uniform, normal, Dropout, randint, exponential, gamma,
poisson, the negative binomials and `sample_unique_zipfian`. The *serial* one is a single mt19937; it feeds multinomial,
shuffle, RNN's dropout, the random image operators and `mx.np.random`. All `cpu(i)` share one device, as in MXNet; each
`gpu(i)` has its own.

Equal to MXNet 1.9.1 on Linux bit for bit, in all types: what both resources draw, and shuffle where MXNet itself does
not depend on the number of threads. The logarithm of float32 is glibc's (`log32`).
"""

import os
import threading
from collections.abc import Callable

import numpy as np

from . import samplers
from .engines import GROUP, Bank
from .errors import MXNetError

ENGINES, PER_ENGINE = 1024, 64
MAGIC = 127  # MXNet spreads neighbouring seeds by this factor
COLUMNS = 4096  # samples per engine in one pass: keeps the temporaries in the cache


def engine_seed(seed: int, device_id: int = 0) -> int:
    """The seed of a device's first engine."""
    return (device_id + MAGIC * seed) & 0xFFFFFFFF


def _check_shapes(shapes: object, most: float = np.inf) -> None:
    """Refuse gamma distributions of which MXNet looks for a number without end: it rejects every candidate."""
    if isinstance(shapes, float) and 0 < shapes <= most:
        return
    given = np.asarray(shapes, np.float64)
    if not ((given > -2 / 3) & (given <= most)).all():
        raise MXNetError(f"gamma numbers need a positive, finite shape, got {shapes}")


def _step(size: int) -> int:
    """How many of `size` samples, at least one, each engine draws."""
    return -(-size // min(-(-size // PER_ENGINE), ENGINES))


class Stream:
    """The random numbers of one device. Every method draws under a lock, so threads share it safely."""

    def __init__(self, device_id: int = 0, seed: int = 0) -> None:
        self.lock = threading.RLock()
        self.device_id = device_id
        self.parallel, self.serial = Bank(ENGINES, 0), Bank(1, 0)
        self.reseed(seed)

    def reseed(self, seed: int, spread: bool = True) -> None:
        """Seed both resources; `spread` adds the device's number, so devices differ. Without it MXNet does not spread
        neighbouring seeds of the serial resource either."""
        with self.lock:
            self.seed = engine_seed(seed, self.device_id if spread else 0)
            self.parallel.reseed(self.seed)
            self.serial.reseed(self.seed if spread else seed & 0xFFFFFFFF)

    def get_state(self) -> dict[str, object]:
        """All that is needed to continue later: plain values and NumPy arrays."""
        with self.lock:
            return {"seed": self.seed, "parallel": self.parallel.get_state(), "serial": self.serial.get_state()}

    def set_state(self, state: dict[str, object]) -> None:
        """Continue from what `get_state` returned."""
        with self.lock:
            self.parallel.set_state(state["parallel"])  # type: ignore[arg-type]
            self.serial.set_state(state["serial"])  # type: ignore[arg-type]
            self.seed = int(state["seed"])  # type: ignore[call-overload]

    def fork_lock(self) -> None:
        """Replace a lock that another thread may have held while this process was forked."""
        self.lock = threading.RLock()

    # -- the parallel resource ---------------------------------------------------------------------------------------

    def _split(self, size: int, out: np.ndarray, draw: Callable[[int, int, slice, np.ndarray], None]) -> None:
        """Let `draw(first, stop, columns, part)` fill `out` chunk by chunk, as MXNet's threads would."""
        if 0 < size <= PER_ENGINE:
            draw(0, 1, slice(0, size), out.reshape(1, size))
        if size <= PER_ENGINE:
            return
        step = _step(size)
        full, rest = divmod(size, step)
        self.parallel.prepare(full + bool(rest))  # all at once: each seeding has 623 steps
        whole = out[: full * step].reshape(full, step)
        for first in range(0, full, GROUP):
            stop = min(first + GROUP, full)
            for left in range(0, step, COLUMNS):
                columns = slice(left, min(left + COLUMNS, step))
                draw(first, stop, columns, whole[first:stop, columns])
        if rest:
            draw(full, full + 1, slice(0, rest), out[full * step :].reshape(1, rest))

    def uniform(self, low: object, high: object, size: int, dtype: str) -> np.ndarray:
        """`size` numbers in [low, high); the bounds are scalars or arrays of which each serves an equal share."""
        low, span = samplers.uniform_parameters(low, high, size, dtype)

        def draw(first: int, stop: int, columns: slice, part: np.ndarray) -> None:
            samplers.uniform(self.parallel, first, stop, part)

        with self.lock:
            unit = np.empty(size, samplers.working(dtype))
            self._split(size, unit, draw)
        return samplers.affine(unit, span, low, dtype)

    def dropout(self, kept: float, inclusive: bool, size: int, dtype: str) -> np.ndarray:
        """`size` factors, each 1 / `kept` with the probability `kept`, else 0."""
        out, rule = np.empty(size, dtype), samplers.factors(kept, dtype, inclusive)

        def draw(first: int, stop: int, columns: slice, part: np.ndarray) -> None:
            samplers.dropout(self.parallel, first, stop, rule, part)

        with self.lock:
            if size and not samplers.quick_dropout(self.parallel, _step(size), rule, out):
                self._split(size, out, draw)
        return out

    def normal(self, loc: object, scale: object, size: int, dtype: str) -> np.ndarray:
        """`size` numbers of the normal distribution."""
        loc, scale = samplers.parameters((loc, scale), size, dtype)

        def draw(first: int, stop: int, columns: slice, part: np.ndarray) -> None:
            samplers.normal(self.parallel, first, stop, part)

        with self.lock:
            unit = np.empty(size, samplers.working(dtype))
            self._split(size, unit, draw)
        return samplers.affine(unit, scale, loc, dtype)

    def exponential(self, lam: object, size: int, dtype: str) -> np.ndarray:
        """`size` waiting times at rate `lam`."""
        unit = self.uniform(0.0, 1.0, size, "float64" if dtype != "float32" else dtype)
        (rate,) = samplers.expand((lam,), size)
        with np.errstate(divide="ignore", invalid="ignore"):
            times = -samplers.log(1.0 - unit.astype(np.float64), exact=dtype == "float64") / rate
        return samplers.narrow(samplers.half(times) if rate.dtype == np.float16 else times, dtype)

    def randint(self, low: object, high: object, size: int, dtype: str) -> np.ndarray:
        """`size` integers in [low, high), two words each, folded as MXNet folds them."""
        folded = np.empty(size, np.int64)

        def draw(first: int, stop: int, columns: slice, part: np.ndarray) -> None:
            words = self.parallel.take(first, stop, 2 * part.shape[1]).astype(np.int64)
            np.add(words[:, 0::2] << 31, words[:, 1::2], out=part)

        with self.lock:
            self._split(size, folded, draw)
        low, high = samplers.expand((low, high), size)
        return (low + np.fmod(folded, np.subtract(high, low))).astype(dtype)

    def _machine(
        self,
        machine: Callable[..., samplers.Machine],
        parameters: tuple[object, ...],
        size: int,
        dtype: str,
        kind: type,
    ) -> np.ndarray:
        """Samples by rejection: every engine steps through its chunk on its own."""
        out = np.empty(size, kind)
        if size:
            with self.lock:
                samplers.run(self.parallel, machine, samplers.expand(parameters, size), _step(size), out, kind)
        return samplers.narrow(out, dtype)

    def gamma(self, alpha: object, beta: object, size: int, dtype: str) -> np.ndarray:
        """`size` numbers of the gamma distribution of shape `alpha` and scale `beta`."""
        kind = np.float64 if dtype == "float64" else np.float32
        _check_shapes(alpha, float(np.finfo(kind).max))
        return self._machine(samplers.Gamma, (alpha, beta), size, dtype, kind)

    def poisson(self, lam: object, size: int, dtype: str) -> np.ndarray:
        """`size` counts at rate `lam`."""
        return self._machine(samplers.Poisson, (lam,), size, dtype, np.float32)

    def negative_binomial(self, k: object, p: object, size: int, dtype: str) -> np.ndarray:
        """`size` counts of failures before the `k`-th success, each with probability `p`."""
        kind = _kept(k)
        k, p = np.asarray(k, kind), np.asarray(p, np.float32)
        with np.errstate(all="ignore"):
            beta = ((1.0 - p.astype(np.float64)) / p).astype(np.float32).astype(kind)
        _check_shapes(k)
        return self._machine(samplers.GammaPoisson, (k, beta, np.float32(0)), size, dtype, np.float32)

    def generalized_negative_binomial(self, mu: object, alpha: object, size: int, dtype: str) -> np.ndarray:
        """`size` counts of mean `mu` and dispersion `alpha`; no dispersion is Poisson."""
        kind = _kept(mu)
        mu, alpha = np.asarray(mu, kind), np.asarray(alpha, kind)
        with np.errstate(all="ignore"):
            shape, scale = kind(1) / alpha, alpha * mu
        _check_shapes(shape)
        fixed = np.where(alpha == 0, mu.astype(np.float32), np.float32(np.nan))
        return self._machine(samplers.GammaPoisson, (shape, scale, fixed), size, dtype, np.float32)

    def unique_zipfian(self, range_max: int, rows: int, number: int) -> tuple[np.ndarray, np.ndarray]:
        """For each row `number` different classes, frequent ones first by chance, and how many tries it took."""
        samples, tries = np.empty((rows, number), np.int64), np.zeros(rows, np.int64)
        if number and rows:
            step = -(-rows // min(rows, ENGINES))
            with self.lock:
                for row in range(rows):
                    tries[row] = samplers.zipfian(self.parallel, row // step, range_max, samples[row])
        return samples, tries

    # -- the serial resource -----------------------------------------------------------------------------------------

    def serial_uniform(self, size: int, low: float = 0.0, high: float = 1.0, dtype: str = "float32") -> np.ndarray:
        """`size` numbers in [low, high) from the device's single engine."""
        unit, kind = np.empty((1, size), dtype), np.dtype(dtype).type
        with self.lock:
            samplers.uniform(self.serial, 0, 1, unit)
        return unit[0] * (kind(high) - kind(low)) + kind(low)

    def serial_normal(self, size: int, loc: float = 0.0, scale: float = 1.0, dtype: str = "float32") -> np.ndarray:
        """`size` normal numbers from the single engine, both values of each pair used."""
        kind = np.dtype(dtype).type
        with self.lock:
            return samplers.normal_pairs(self.serial, size, dtype) * kind(scale) + kind(loc)

    def serial_words(self, size: int) -> np.ndarray:
        """`size` numbers of 32 bits from the single engine."""
        with self.lock:
            return self.serial.take(0, 1, size)[0].astype(np.int64)

    def below(self, limits: np.ndarray) -> np.ndarray:
        """A uniform integer below each of `limits`, in order, from the single engine."""
        with self.lock:
            return samplers.below(self.serial, np.asarray(limits, np.int64))

    def permutation(self, size: int, sweep_up: bool) -> np.ndarray:
        """The order in which MXNet's shuffle leaves `size` items; vectors are swept upwards, rows downwards."""
        with self.lock:
            return samplers.permutation(self.serial, size, sweep_up)


def _kept(parameter: object) -> type:
    """The type of parameters in which a gamma number is drawn: halves stay halves, all others are float."""
    return np.float16 if np.asarray(parameter).dtype == np.float16 else np.float32


_STREAMS: dict[tuple[str, int], Stream] = {}
_GUARD = threading.Lock()
_SEED = 0


_CUSTOM = ("custom", 0)
GPU = ("gpu", 2)  # MXNet's name and number for the type


def stream(device_type: str | int = "cpu", device_id: int = 0) -> Stream:
    """The stream of a device, its type by name or number; all CPU contexts, pinned and shared too, are one device."""
    key = ("gpu", device_id) if device_type in GPU else ("cpu", 0)
    found = _STREAMS.get(key)
    if found is None:
        with _GUARD:
            found = _STREAMS.setdefault(key, Stream(key[1], _SEED))
    return found


def custom_stream() -> Stream:
    """What `multivariate_normal` draws from: MXNet computes it in the thread of custom operators, whose random numbers
    `mx.random.seed` of another thread never reaches."""
    with _GUARD:
        return _STREAMS.setdefault(_CUSTOM, Stream())


def _after_fork() -> None:
    """A child has none of its parent's other threads, so no lock is held by anyone."""
    global _GUARD
    _GUARD = threading.Lock()
    for each in _STREAMS.values():
        each.fork_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def seed_all(seed: int) -> None:
    """Seed every device, those that are not in use yet included."""
    global _SEED
    _SEED = seed
    with _GUARD:
        for key, each in _STREAMS.items():
            if key != _CUSTOM:
                each.reseed(seed)


def seed_device(seed: int, device_type: str, device_id: int) -> None:
    """Seed one device so that it draws the same numbers whatever its number is."""
    stream(device_type, device_id).reseed(seed, spread=False)


def get_state() -> dict[str, object]:
    """The state of all streams, for a checkpoint."""
    states = {f"{kind}({number})": each.get_state() for (kind, number), each in list(_STREAMS.items())}
    return {"seed": _SEED, "streams": states}


def set_state(state: dict[str, object]) -> None:
    """Continue all streams from what `get_state` returned."""
    seed_all(int(state["seed"]))  # type: ignore[call-overload]
    for name, each in state["streams"].items():  # type: ignore[attr-defined]
        kind, number = name.rstrip(")").split("(")
        (custom_stream() if kind == _CUSTOM[0] else stream(kind, int(number))).set_state(each)
