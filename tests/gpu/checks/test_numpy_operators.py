"""Every operator of `mx.np` on `gpu(0)`: device, values and gradients are those of the CPU."""

import gzip
import json
import re
from pathlib import Path

import numpy as onp
import pytest
import simulated
from numpy_samples import EXPRESSIONS, RANDOM
from synchronizing import NUMPY, NUMPY_FUNCTIONS

import mxnet as mx
from mxnet import autograd, np, npx
from mxnet._device import late
from mxnet._ops.registry import observe
from mxnet._ops.registry.registry import load

DATA = Path(__file__).resolve().parents[2] / "data"
RECORDED = json.loads(gzip.decompress((DATA / "np_graphs.json.gz").read_bytes()))
TEXTS = [*(graph["text"] for graph in RECORDED["graphs"]), *EXPRESSIONS]
# Makes an array out of nothing: in the current context, which is the CPU for all others
CREATES = re.compile(
    r"np\.(full|indices|\w+m?ing|blackman|array|arange|ones|zeros|eye|identity|linspace|logspace)\(|random\."
)


@pytest.fixture(autouse=True)
def numpy_semantics():
    npx.set_np()
    yield
    npx.reset_np()
    late.discard()


def _assigned(array, value):
    array[array > 2] = value if isinstance(value, float) else value[: int((array > 2).sum())]
    return array


def evaluated(text, ctx, backward=True):
    """The results of an expression in a context, and the gradients of what it takes."""
    spd = onp.array([[4, 1, 0.5], [1, 3, 0.2], [0.5, 0.2, 2]], "float32")
    a = np.array(onp.array(RECORDED["data"], "float32"), ctx=ctx)
    p = np.abs(np.copy(a)) + 0.5
    s, n = np.array(spd, ctx=ctx), np.array(onp.arange(24).reshape(2, 3, 4) % 7, dtype="int32", ctx=ctx)
    for x in (a, p, s):
        x.attach_grad()
    names = {"F": mx.nd, "np": np, "npx": npx, "a": a, "p": p, "s": s, "n": n, "_assigned": _assigned}
    with autograd.record() if backward else autograd.pause(), ctx if CREATES.search(text) else mx.cpu():
        results = eval(text, names)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    heads = [r for r in results if isinstance(r, np.ndarray) and r._t.requires_grad]
    if heads:
        autograd.backward(heads)
    return results, [x.grad for x in (a, p, s)]


def waiting_in(text, events):
    """The listed operators and functions that waited for the device; it is a mistake if there were others."""
    syncs = simulated.of_kind(events, "sync")
    lines = " ".join(line for event in syncs for line in event.lines)
    found = set(re.findall(r"<operator (\w+)>", lines)) | {f for f in NUMPY_FUNCTIONS if syncs and text.startswith(f)}
    assert found <= NUMPY.keys() | NUMPY_FUNCTIONS.keys() and bool(found) == bool(syncs), f"{text} waits: {syncs}"
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_equals_the_cpu(text, exact_products):
    backward = not text.startswith("_assigned")
    simulated.forget()
    want = evaluated(text, mx.cpu(), backward)
    with simulated.watched() as events:
        found = evaluated(text, mx.gpu(0), backward)
    assert not simulated.of_kind(events, "race", "assert")
    waiting_in(text, events)
    assert not any(name.endswith(" tf32") for name in simulated.seen()), f"{text} computes under torch's settings"
    for left, right in zip(want, found, strict=True):
        assert len(left) == len(right)
        for a, b in zip(left, right, strict=True):
            if not isinstance(a, np.ndarray):
                assert type(a) is type(b) and onp.allclose(a, b)
                continue
            assert b.ctx == mx.gpu(0) and b._t.device.type == "cuda", text
            a, b = a.asnumpy(), b.asnumpy()
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            onp.testing.assert_allclose(b.astype("float64"), a.astype("float64"), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("text", RANDOM)
def test_random_numbers_are_on_the_device(text):
    want = evaluated(text, mx.cpu())[0]
    with simulated.watched() as events:
        found = evaluated(text, mx.gpu(0))[0]
    assert not simulated.of_kind(events, "sync", "race", "assert"), events
    for a, b in zip(want, found, strict=True):
        assert b.ctx == mx.gpu(0) and b._t.device.type == "cuda", text
        assert (a.shape, a.dtype) == (b.shape, b.dtype)


def test_every_listed_function_waits():
    words = {name.split("_")[2] for name in NUMPY}
    texts = [t for t in TEXTS if t.startswith(tuple(NUMPY_FUNCTIONS)) or any(word in t for word in words)]
    waiting = set()
    for text in texts:
        with simulated.watched() as events:
            evaluated(text, mx.gpu(0), not text.startswith("_assigned"))
        waiting |= waiting_in(text, events)
    assert waiting == NUMPY.keys() | NUMPY_FUNCTIONS.keys()


def test_every_operator_has_a_sample():
    seen = set()

    def noted(op):
        def call(*tensors, **attrs):
            seen.update(op.names)
            return op.fn(*tensors, **attrs)

        return call

    observe.watch(noted)
    try:
        for text in [*TEXTS, *RANDOM]:
            evaluated(text, mx.cpu(), not text.startswith("_assigned"))
    finally:
        observe.unwatch(noted)
    operators = {op.name: op for op in load().values() if op.name.startswith("_np")}
    missing = {name for name, op in operators.items() if not seen & set(op.names)}
    assert not missing
