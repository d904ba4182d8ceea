"""Compiled loops draw what the steps of all engines side by side draw, and leave the streams where those do."""

import numpy as np
import pytest

from mxnet._core import samplers, streams
from mxnet._ops import random_quick

pytest.importorskip("numba")

MANY = np.linspace(0.1, 30, 30, dtype=np.float32)
CASES = {
    "gamma": [(2.0, 1.5), (0.5, 1.0), (MANY / 5, MANY)],
    "poisson": [(0.0,), (4.0,), (40.0,), (9000.0,), (MANY,)],
    "negative_binomial": [(4.0, 0.5), (40.0, 0.01), (MANY, MANY / 40)],
    "generalized_negative_binomial": [(4.0, 0.5), (MANY, MANY), (4.0, 0.0)],
}


def drawn(kind, parameters, quick, monkeypatch):
    monkeypatch.setattr(samplers, "QUICK", random_quick.WAYS if quick else {})
    stream = streams.Stream(seed=3)
    draw = getattr(stream, kind)
    parts = [draw(*parameters, size, "float32") for size in (9000, 100, 80001)]
    return np.concatenate([*parts, stream.uniform(0.0, 1.0, 70000, "float32")])


@pytest.mark.parametrize("width", [None, 2])
@pytest.mark.parametrize(("kind", "number"), [(kind, n) for kind, given in CASES.items() for n in range(len(given))])
def test_the_same_numbers(kind, number, width, monkeypatch):
    if random_quick._loader.get(wait=True) is None:
        pytest.skip("no kernels for this processor")
    parameters = CASES[kind][number]
    if width:  # words run out in the middle of samples
        fill = random_quick._fill
        narrow = lambda draw, bank, step, _, *rest: fill(draw, bank, step, width, *rest)
        monkeypatch.setattr(random_quick, "_fill", narrow)
        monkeypatch.setattr(random_quick, "WIDEST", 512)
    quick = drawn(kind, parameters, True, monkeypatch)
    np.testing.assert_array_equal(quick, drawn(kind, parameters, False, monkeypatch))


def test_other_parameters_go_the_long_way():
    run, out = random_quick.WAYS[samplers.Poisson], np.empty(1 << 14, np.float32)
    assert not run(None, (np.asarray(np.float32("nan")),), 16, out)
    assert not run(None, (np.asarray(4.0),), 16, out)
    assert not run(None, (np.asarray(np.float32(4)),), 16, out[:9])
