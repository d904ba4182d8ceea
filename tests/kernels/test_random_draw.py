"""Compiled loops draw what the steps of all engines side by side draw, and leave the streams where those do."""

import sys

import numpy as np
import pytest

import mxnet as mx
from mxnet._core import engines, samplers, streams
from mxnet._kernels.random import draw as random_kernels
from mxnet._kernels.registry import traced

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
    if random_kernels._code.get(wait=True) is None:
        pytest.skip("no kernels for this processor")


def drawn(kind, parameters, quick, monkeypatch):
    monkeypatch.setattr(samplers, "QUICK", random_kernels.SAMPLERS if quick else {})
    monkeypatch.setattr(engines.COMPILED, "find", random_kernels.mt19937 if quick else lambda: None)
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
        monkeypatch.setattr(engines.COMPILED, "find", [random_kernels.mt19937, lambda: None][turn % 2])
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
    engines.COMPILED.find = random_kernels.mt19937
    run, out = random_kernels.SAMPLERS[samplers.Poisson], np.empty(1 << 14, np.float32)
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

    for found, wanted in zip(ordered(random_kernels.mt19937), ordered(lambda: None), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9, 624, 20_001])
def test_the_same_normal_numbers_of_the_single_engine(size, monkeypatch):
    def made(find):
        monkeypatch.setattr(engines.COMPILED, "find", find)
        monkeypatch.setattr(engines.COMPILED, "_made", engines.ENOUGH)
        stream = streams.Stream(seed=size)
        return [stream.serial_normal(size, 2.0, 3.0), stream.serial_normal(5), stream.serial_words(3)]

    for found, wanted in zip(made(random_kernels.mt19937), made(lambda: None), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


SHAPES = {
    "large": (2.0, 1.5, 20_001),
    "below one": (0.3, 2.0, 20_001),
    "one": (1.0, 1.0, 1),
    "none": (2.0, 1.0, 0),
    "without bounds": (np.inf, 2.0, 100),
    "arrays": (np.linspace(0.05, 9, 300), np.linspace(0.1, 3, 900).reshape(3, 300), (3, 300)),
    "an array": (np.linspace(0.05, 9, 300), 2.0, (70, 300)),
    "an empty array": (np.zeros(0), 2.0, None),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("case", SHAPES)
def test_the_same_gamma_numbers_of_the_single_engine(case, dtype, monkeypatch):
    def made(find):
        monkeypatch.setattr(engines.COMPILED, "find", find)
        monkeypatch.setattr(engines.COMPILED, "_made", engines.ENOUGH)
        mx.random.seed(11)
        *parameters, size = SHAPES[case]
        given = [mx.np.array(p) if isinstance(p, np.ndarray) else p for p in parameters]
        numbers = mx.np.random.gamma(*given, size=size, dtype=dtype)
        return numbers.asnumpy(), mx.np.random.uniform(size=5).asnumpy()

    found, wanted = made(random_kernels.mt19937), made(lambda: None)
    assert found[0].dtype == wanted[0].dtype == dtype
    np.testing.assert_array_equal(found[1], wanted[1])
    # Logarithms of normal numbers' squares are the C library's in the loop, and NumPy's, whose last bit may differ
    near = 1e-14 if dtype == "float64" else 0
    np.testing.assert_allclose(found[0], wanted[0], rtol=near)


def test_a_handful_point_by_point(monkeypatch):
    """As by arrays, also where points are missing and more words are taken."""

    def made(handful):
        monkeypatch.setattr(samplers, "HANDFUL", handful)
        monkeypatch.setattr(engines.COMPILED, "find", lambda: None)
        monkeypatch.setattr(engines.COMPILED, "_found", None)
        stream = streams.Stream(seed=5)
        return np.concatenate([stream.serial_normal(size % 9) for size in range(1000)])

    np.testing.assert_array_equal(made(8), made(0))


def chances(rows, classes, kind):
    numbers = np.random.RandomState(rows).dirichlet(np.ones(classes), rows).astype(np.float32)
    if kind == "none":
        numbers[:] = 0
    elif kind == "infinite":
        numbers[0, classes // 2] = np.inf
    elif kind == "zeros":
        numbers[:, ::2] = 0
    elif kind in ("nan", "negative"):
        numbers[0, 0] = np.nan if kind == "nan" else -0.5
    return numbers


@pytest.mark.parametrize("kind", ["usual", "none", "infinite", "zeros", "nan", "negative"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 10, 1), (3, 1000, 1), (5, 37, 200), (2, 1, 9), (1, 64, 2)])
def test_the_same_choices(sizes, kind, monkeypatch):
    rows, classes, each = sizes
    numbers, ran = mx.nd.array(chances(rows, classes, kind)), []

    def made(find):
        monkeypatch.setattr(engines.COMPILED, "find", find)
        monkeypatch.setattr(engines.COMPILED, "_made", engines.ENOUGH)
        mx.random.seed(7)
        found = mx.nd.sample_multinomial(numbers, shape=each, get_prob=True)
        return [*(x.asnumpy() for x in found), mx.np.random.uniform(size=5).asnumpy()]

    def noted(*given):
        ran.append(choices(*given))
        return ran[-1]

    choices = random_kernels.choices
    monkeypatch.setattr(random_kernels, "choices", noted)
    for found, wanted in zip(made(random_kernels.mt19937), made(lambda: None), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    assert (ran[0] is None) == (kind in ("nan", "negative")) and ran[1] is None


def test_choices_of_views_and_other_types(monkeypatch):
    """A turned matrix, a vector, leading dimensions, and halves and doubles, which go without."""
    numbers = chances(6, 8, "usual")
    given = [mx.nd.array(numbers.T.copy()).T, mx.nd.array(numbers[0]), mx.nd.array(numbers.reshape(2, 3, 8))]
    given += [mx.nd.array(numbers, dtype=dtype) for dtype in ("float16", "float64")]

    def made(find):
        monkeypatch.setattr(engines.COMPILED, "find", find)
        monkeypatch.setattr(engines.COMPILED, "_made", engines.ENOUGH)
        mx.random.seed(7)
        return [mx.nd.sample_multinomial(x, shape=s).asnumpy() for x in given for s in ((), (2, 3))]

    for found, wanted in zip(made(random_kernels.mt19937), made(lambda: None), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_recorded_choices(monkeypatch):
    """Likelihoods have a gradient, classes have none."""
    numbers = mx.nd.array(chances(4, 9, "usual"))
    numbers.attach_grad()

    def made(find):
        monkeypatch.setattr(engines.COMPILED, "find", find)
        monkeypatch.setattr(engines.COMPILED, "_made", engines.ENOUGH)
        mx.random.seed(7)
        with mx.autograd.record():
            classes, likely = mx.nd.sample_multinomial(numbers, shape=3, get_prob=True)
        likely.backward()
        return classes.asnumpy(), numbers.grad.asnumpy()

    for found, wanted in zip(made(random_kernels.mt19937), made(lambda: None), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_the_switch(monkeypatch):
    """Numbers are the same with kernels off, where compiled code does not draw them."""
    random_kernels._code.get(wait=True)
    monkeypatch.setattr(engines.COMPILED, "_made", engines.ENOUGH)
    monkeypatch.setattr(engines.COMPILED, "find", random_kernels.mt19937)

    def numbers():
        mx.random.seed(3)
        return mx.nd.random.normal(shape=(30000,)).asnumpy()

    with traced() as log:
        quick = numbers()
    assert any(each.kernel == "random.mt19937" and each.used for each in log)
    with mx.runtime.kernels_off(), monkeypatch.context() as patch:
        patch.setattr(random_kernels.mt19937, "run", None)
        np.testing.assert_array_equal(numbers(), quick)
