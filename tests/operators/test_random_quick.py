"""COMPILED loops draw what the steps of all engines side by side draw, and leave the streams where those do."""

import sys

import numpy as np
import pytest

from mxnet._core import engines, samplers, streams
from mxnet._ops import random_quick

pytest.importorskip("numba")

MANY = np.linspace(0.1, 30, 30, dtype=np.float32)
CASES = {
    "uniform": [(0.0, 1.0), (MANY, MANY + 1)],
    "randint": [(0, 100)],
    "exponential": [(2.0,)],
    "normal": [(0.0, 1.0), (MANY, MANY)],
    "gamma": [(2.0, 1.5), (0.5, 1.0), (MANY / 5, MANY)],
    "poisson": [(0.0,), (4.0,), (40.0,), (9000.0,), (MANY,)],
    "negative_binomial": [(4.0, 0.5), (40.0, 0.01), (MANY, MANY / 40)],
    "generalized_negative_binomial": [(4.0, 0.5), (MANY, MANY), (4.0, 0.0)],
}


@pytest.fixture(autouse=True)
def kernels():
    if random_quick._loader.get(wait=True) is None:
        pytest.skip("no kernels for this processor")


def drawn(kind, parameters, quick, monkeypatch):
    monkeypatch.setattr(samplers, "QUICK", random_quick.WAYS if quick else {})
    monkeypatch.setattr(engines.COMPILED, "find", random_quick.compiled if quick else lambda: None)
    stream = streams.Stream(seed=3)
    draw, dtype = getattr(stream, kind), "int32" if kind == "randint" else "float32"
    parts = [draw(*parameters, size, dtype) for size in (9000, 100, 80001)]
    return np.concatenate([*parts, stream.uniform(0.0, 1.0, 70000, "float32")])


@pytest.mark.parametrize(("kind", "number"), [(kind, n) for kind, given in CASES.items() for n in range(len(given))])
def test_the_same_numbers(kind, number, monkeypatch):
    parameters = CASES[kind][number]
    quick = drawn(kind, parameters, True, monkeypatch)
    np.testing.assert_array_equal(quick, drawn(kind, parameters, False, monkeypatch))


def test_engines_that_are_not_at_the_same_place(monkeypatch):
    """Words by compiled loops and by NumPy in turns, some given back, are those of one sequence."""
    random, seed = np.random.RandomState(0), 7
    bank, at = engines.Bank(200, seed), np.zeros(200, int)
    words = [np.random.RandomState(seed + i).randint(0, 1 << 32, 1 << 17, dtype=np.uint32) for i in range(200)]
    for turn in range(60):
        monkeypatch.setattr(engines.COMPILED, "find", [random_quick.compiled, lambda: None][turn % 2])
        first, stop = [(0, 200), (64, 128), (30, 31)][turn % 3]
        number = random.choice([100, 624, 1300])
        for engine, taken in enumerate(bank.take(first, stop, number), first):
            assert (taken == words[engine][at[engine] : at[engine] + number]).all()
        at[first:stop] += number
        for engine in range(first, stop, 3):
            back = random.randint(number)
            bank.give_back(engine, words[engine][at[engine] - back : at[engine]])
            at[engine] -= back


def test_other_parameters_go_the_long_way(monkeypatch):
    monkeypatch.setattr(engines, "COMPILED", engines.Compiled())
    engines.COMPILED.find = random_quick.compiled
    run, out = random_quick.WAYS[samplers.Poisson], np.empty(1 << 14, np.float32)
    bank = engines.Bank(1024, 0)
    assert not run(bank, (np.asarray(np.float32("nan")),), 16, out)
    assert not run(bank, (np.asarray(4.0),), 16, out)
    four = (np.asarray(np.float32(4)),)
    assert not run(bank, four, 16, out[:9])
    assert run(bank, four, 16, out) and run(bank, four, 16, out[:9])  # few use what is there


def test_a_compiler_is_imported_for_millions_of_numbers_only(monkeypatch):
    """To import it takes as long as to make them."""
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    asked, compiled = [], engines.Compiled()
    compiled.find = lambda: asked.append(len(asked))
    for _ in range(100):
        compiled.for_numbers(engines.MANY)
    assert not asked
    compiled.for_numbers(engines.ENOUGH)
    assert len(asked) == 1


@pytest.mark.parametrize("upwards", [False, True])
@pytest.mark.parametrize("size", [0, 1, 2, 700, 200_000])
def test_the_same_order(size, upwards, monkeypatch):
    """Among many, some words are refused."""

    def ordered(find):
        monkeypatch.setattr(engines.COMPILED, "find", find)
        monkeypatch.setattr(engines.COMPILED, "_made", engines.ENOUGH)
        stream = streams.Stream(seed=size)
        return [stream.permutation(size, upwards), stream.permutation(5, upwards), stream.serial_words(3)]

    for found, wanted in zip(ordered(random_quick.compiled), ordered(lambda: None), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
