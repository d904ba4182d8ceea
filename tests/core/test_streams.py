"""Random streams of the CPU against what MXNet 1.9.1 drew (`tools/record_streams.py`)."""

import os
import pathlib
import threading
import zlib

import numpy as np
import pytest

from mxnet._core import engines, samplers, streams
from mxnet._core.engines import Bank

GOLDEN = np.load(pathlib.Path(__file__).parents[1] / "data" / "streams.npz")
NAMES = [name for name in GOLDEN.files if not name.endswith("crc")]
KEPT = 16


def numbers(text, kind=float):
    return [kind(part) for part in text.split(",")]


def kept(values):
    flat = values.reshape(-1)
    return flat if flat.size <= 300 else np.r_[flat[:KEPT], flat[KEPT :: flat.size // 61 | 1]]


def draw(stream, distribution, parameters, size, dtype):
    if distribution == "exponential":  # the public function takes a scale, the stream a rate
        parameters = [1 / p for p in parameters]
    return getattr(stream, distribution)(*parameters, size, dtype)


def scalar_cases():
    return [n for n in NAMES if n.split("|")[0] not in ("multinomial", "multinomial_log", "shuffle", "zipfian")
            and not n.startswith("rows") and not n.endswith("after") and "@" not in n]  # fmt: skip


@pytest.mark.parametrize("name", scalar_cases())
def test_scalar_parameters_give_mxnets_numbers(name):
    distribution, text, dtype, seed, size = name.split("|")
    parameters = numbers(text, int if distribution == "randint" else float)
    stream = streams.Stream(0, int(seed))
    values = draw(stream, distribution, parameters, int(size), dtype)
    golden = GOLDEN[name]
    assert values.dtype == golden.dtype and values.shape == (int(size),)
    np.testing.assert_array_equal(kept(values), golden)
    assert zlib.crc32(values.tobytes()) == GOLDEN[name + "|crc"]
    if name + "|after" in GOLDEN.files:
        np.testing.assert_array_equal(stream.uniform(0.0, 1.0, 200, "float32"), GOLDEN[name + "|after"])


@pytest.mark.parametrize("name", [n for n in NAMES if n.startswith("rows")])
def test_arrays_of_parameters_give_mxnets_numbers(name):
    distribution, text, dtype, seed, size = name.split("|")
    _, distribution, kind = distribution.split(":")
    parameters = [np.array(numbers(p)).astype(kind) for p in text.split(";")]
    values = draw(streams.Stream(0, int(seed)), distribution, parameters, int(size), dtype)
    assert values.dtype == dtype
    np.testing.assert_array_equal(values, GOLDEN[name])


@pytest.mark.parametrize("size", [131071, 131072, 131073, 300000, 1000000])
def test_long_vectors_are_shuffled_as_mxnet_shuffles_them(size):
    order = streams.Stream(0, 7).permutation(size, sweep_up=True)
    assert zlib.crc32(order.astype(np.float32).tobytes()) == GOLDEN[f"shuffle|vector||7|{size}|crc"]


@pytest.mark.parametrize("seed", [7, 128])
def test_the_serial_engine(seed):
    stream = streams.Stream(0, seed)
    edges = np.cumsum([[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.0, 0.5]], axis=1).astype(np.float32)
    unit = stream.serial_uniform(80).reshape(2, 40)
    drawn = (edges[:, None, :] < unit[:, :, None]).sum(axis=2)
    np.testing.assert_array_equal(drawn.ravel(), GOLDEN[f"multinomial|||{seed}|80"])
    order = stream.permutation(500, sweep_up=True)
    assert zlib.crc32(order.astype(np.float32).tobytes()) == GOLDEN[f"shuffle|vector||{seed}|500|crc"]
    np.testing.assert_array_equal(stream.permutation(300, sweep_up=False), GOLDEN[f"shuffle|rows||{seed}|300"])


@pytest.mark.parametrize("seed", [7, 128])
def test_zipfian_candidates(seed):
    samples, tries = streams.Stream(0, seed).unique_zipfian(1000, 5, 60)
    np.testing.assert_array_equal(samples.ravel(), GOLDEN[f"zipfian|samples||{seed}|300"])
    np.testing.assert_array_equal(tries, GOLDEN[f"zipfian|tries||{seed}|5"])


@pytest.mark.parametrize("context", ["cpu(0)", "cpu(3)"])
def test_seeding_one_device_ignores_its_number(context):
    kind, number = context.rstrip(")").split("(")
    streams.seed_device(7, kind, int(number))
    drawn = streams.stream(kind, int(number)).uniform(0.0, 1.0, 100, "float32")
    np.testing.assert_array_equal(drawn, GOLDEN[f"uniform|0,1|float32|7@{context}|100"])


def test_all_cpus_share_a_stream_and_gpus_do_not():
    streams.seed_all(5)
    assert streams.stream("cpu", 0) is streams.stream("cpu", 3) is streams.stream("cpu_pinned", 0)
    first, second = (streams.stream("gpu", i).uniform(0.0, 1.0, 4, "float32") for i in range(2))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, streams.stream("cpu").uniform(0.0, 1.0, 4, "float32"))


def test_words_are_those_of_mt19937():
    bank, twins = Bank(1024, 5), [np.random.RandomState(5 + i) for i in range(1024)]
    chance = np.random.default_rng(0)
    for _ in range(6):
        engines, number = int(chance.integers(1, 1025)), int(chance.integers(0, 2000))
        words = bank.take(0, engines, number)
        for engine in range(0, engines, 7):
            np.testing.assert_array_equal(words[engine].tobytes(), twins[engine].bytes(4 * number))
        for engine in set(range(engines)) - set(range(0, engines, 7)):
            twins[engine].bytes(4 * number)


def test_words_given_back_come_again():
    bank = Bank(16, 1)
    words = bank.take(0, 10, 700)
    for engine in range(10):
        bank.give_back(engine, words[engine, 700 - 60 * engine :])
    for engine in range(10):
        np.testing.assert_array_equal(bank.take(engine, engine + 1, 60 * engine)[0], words[engine, 700 - 60 * engine :])


def test_words_of_engines_that_are_not_at_the_same_place():
    random, seed = np.random.RandomState(0), 7
    bank = Bank(200, seed)
    words = [np.random.RandomState(seed + i).randint(0, 1 << 32, 1 << 17, dtype=np.uint32) for i in range(200)]
    at = np.zeros(200, int)
    for turn in range(120):
        first, stop = [(0, 200), (64, 128), sorted(random.choice(201, 2, replace=False))][turn % 3]
        number = random.choice([1, 100, 624, 1300])
        for engine, taken in enumerate(bank.take(first, stop, number), first):
            assert (taken == words[engine][at[engine] : at[engine] + number]).all()
        at[first:stop] += number
        if turn % 5 == 0:
            bank.give_back(first, words[first][at[first] - 1 : at[first]])
            at[first] -= 1
        if turn % 20 == 0:
            state, bank = bank.get_state(), Bank(200, 0)
            bank.set_state(state)


def test_state_saved_and_restored():
    stream = streams.Stream(0, 11)
    stream.normal(0.0, 1.0, 70_001, "float32")
    stream.serial_uniform(3)
    state = stream.get_state()
    expected = stream.normal(0.0, 1.0, 5000, "float32"), stream.serial_uniform(5), stream.gamma(2.0, 1.0, 9, "float32")
    other = streams.Stream(0, 99)
    other.set_state(state)
    again = other.normal(0.0, 1.0, 5000, "float32"), other.serial_uniform(5), other.gamma(2.0, 1.0, 9, "float32")
    for a, b in zip(expected, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_foreign_state_is_refused():
    state = Bank(16, 1).get_state()
    state["lengths"] = np.array([5])
    with pytest.raises(ValueError, match="no state"):
        Bank(16, 1).set_state(state)


def test_threads_draw_disjoint_parts():
    stream, parts = streams.Stream(0, 3), []
    threads = [threading.Thread(target=lambda: parts.append(stream.uniform(0.0, 1.0, 64, "float32"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = streams.Stream(0, 3)
    expected = {alone.uniform(0.0, 1.0, 64, "float32").tobytes() for _ in range(8)}
    assert {p.tobytes() for p in parts} == expected


def test_a_forked_child_can_draw_while_the_parent_holds_the_lock():
    stream = streams.stream("cpu")
    with stream.lock:
        child = os.fork()
        if child == 0:
            drawer = threading.Thread(target=stream.uniform, args=(0.0, 1.0, 4, "float32"), daemon=True)
            drawer.start()
            drawer.join(5)
            os._exit(drawer.is_alive())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_serial_normal_keeps_the_second_value():
    values = streams.Stream(0, 3).serial_normal(10001)
    assert abs(values.mean()) < 0.05 and abs(values.std() - 1) < 0.05
    np.testing.assert_array_equal(values[:7], streams.Stream(0, 3).serial_normal(7))


def test_engines_seeded_one_by_one_are_those_seeded_side_by_side(monkeypatch):
    seeds = np.array([0, 1, 5489, 2**31, 2**32 - 1], np.uint32)
    states = engines.seeded(seeds)
    assert states[2, 1] == 1301868182  # of the C++ standard's default seed
    monkeypatch.setattr(engines._native(), "known", False)
    np.testing.assert_array_equal(engines.seeded(seeds), states)


@pytest.mark.parametrize("known", [False, True])
def test_words_of_one_engine(known, monkeypatch):
    """NumPy's engine takes over where ours is, whether its state is known to lie in its memory or not."""
    monkeypatch.setattr(engines._native(), "known", known and engines._native().known)
    monkeypatch.setattr(engines, "COMPILED", engines.Compiled())
    bank, words = Bank(1, 9), np.random.RandomState(9).randint(0, 1 << 32, 9000, dtype=np.uint32)
    at = 0
    for number in (1, 700, 0, 624, 548, 623, 1, 3000, 5):
        np.testing.assert_array_equal(bank.take(0, 1, number)[0], words[at : at + number])
        at += number


def test_many_small_draws_ask_for_compiled_code_in_the_end(monkeypatch):
    monkeypatch.setattr(engines, "ENOUGH", 10_000)
    compiled = engines.Compiled()
    compiled.find = lambda: "code"
    assert compiled.for_numbers(400) is None
    assert compiled.for_numbers(100, effort=6_400) is None
    assert compiled.for_numbers(100, effort=6_400) == "code"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 2, 7, 63, 64, 65])
def test_few_normal_numbers_are_those_of_many(size, dtype, monkeypatch):
    """One engine by itself, or as a matrix of one row: the same numbers, and the same words left."""

    def drawn():
        stream = streams.Stream(seed=3)
        return [np.concatenate([stream.normal(1, 2.5, size, dtype) for _ in range(40)]), stream.uniform(0, 1, 9, dtype)]

    monkeypatch.setattr(engines, "COMPILED", engines.Compiled())
    monkeypatch.setattr(samplers, "COMPILED", engines.COMPILED)
    few = drawn()
    monkeypatch.setattr(samplers, "FEW", 0)
    for found, wanted in zip(few, drawn(), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_numbers_as_parameters_are_those_of_arrays():
    for given in ((2, 5), (0.1, 0.7), (1, 2.5)):
        for size in (1, 70):
            one, other = streams.Stream(seed=1), streams.Stream(seed=1)
            arrays = [np.full(1, value, np.float32) for value in given]
            for kind in ("uniform", "normal", "gamma"):
                found, wanted = (getattr(s, kind)(*p, size, "float32") for s, p in ((one, given), (other, arrays)))
                np.testing.assert_array_equal(found, wanted)


def test_integers_below_limits_when_words_are_refused():
    """Large limits refuse up to half of the words; those that follow move up."""
    limits = np.random.RandomState(0).choice([1, 3, 1 << 20, (1 << 31) + 1, 3 << 29, 0xFFFFFFFF], 3000)
    bank, words = Bank(1, 5), iter(np.random.RandomState(5).randint(0, 1 << 32, 20000, dtype=np.uint32).tolist())
    wanted = []
    for limit in limits.tolist():
        scale = 0xFFFFFFFF // limit
        wanted.append(next(word for word in words if word < limit * scale) // scale)
    assert samplers.below(bank, limits).tolist() == wanted
    assert bank.take(0, 1, 1)[0, 0] == next(words)


@pytest.mark.parametrize("size", [0, 1, 2, 63, 64, 65, 128, 129])
def test_numbers_are_split_over_engines_of_64(size):
    """Up to 64 numbers come from the first engine; none take nothing from it."""
    stream, calls = streams.Stream(0), []
    stream._split(size, np.empty(size), lambda first, stop, columns, part: calls.append((first, stop, part.shape)))
    parts = -(-size // 64)
    assert sum(np.prod(shape) for _, _, shape in calls) == size and (calls == []) == (size == 0)
    assert not calls or max(stop for _, stop, _ in calls) == parts
    if 0 < size <= 64:
        assert calls == [(0, 1, (1, size))]


@pytest.mark.parametrize("shape", [-0.66, 0.0, 1.0, 5.0, np.array([0.5, 2.0])])
def test_gamma_distributions_that_have_numbers(shape):
    streams._check_shapes(shape, 5.0)


@pytest.mark.parametrize("shape", [-0.67, -1, 5.1, float("nan"), float("inf"), [1.0, -0.67], [1.0, 5.1]])
def test_gamma_distributions_that_have_none(shape):
    with pytest.raises(streams.MXNetError, match="gamma numbers need a positive, finite shape"):
        streams._check_shapes(shape, 5.0)
