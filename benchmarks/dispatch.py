"""What a small call costs: ReMX beside torch's own call, interleaved in one run, and the time of importing.

Prints a table of the best bursts; `over` is what ReMX adds. The goals: 1.5 µs over torch, recording 1 µs more.
"""

import statistics
import subprocess
import sys
import time

import torch

import mxnet as mx
from mxnet import autograd, nd

CALLS, ROUNDS = 200, 250  # short bursts: some of them fall into quiet moments of a busy machine


def cost(function):
    """Microseconds of one call, averaged over a burst."""
    start = time.perf_counter()
    for _ in range(CALLS):
        function()
    return (time.perf_counter() - start) / CALLS * 1e6


def compare(pairs):
    """Best costs of (name, ours, torch's), measured in turns so that noise hits both alike."""
    for _, ours, theirs in pairs:
        ours(), theirs()
    seen = {name: ([], []) for name, _, _ in pairs}
    for _ in range(ROUNDS):
        for name, ours, theirs in pairs:
            seen[name][0].append(cost(ours))
            seen[name][1].append(cost(theirs))
    return {name: tuple(min(v) for v in both) for name, both in seen.items()}


def eager_pairs():
    a, c = nd.array([[1, 2, 3], [4, 5, 6]]), nd.array([[1, 2], [3, 4], [5, 6]])
    b = a + 1
    ta, tb, tc = a.as_torch(), b.as_torch(), c.as_torch()
    return [
        ("a + b", lambda: a + b, lambda: ta + tb),
        ("a * 2.5", lambda: a * 2.5, lambda: ta * 2.5),
        ("nd.exp(a)", lambda: nd.exp(a), lambda: torch.exp(ta)),
        ("a[1]", lambda: a[1], lambda: ta[1]),
        ("a[0:1]", lambda: a[0:1], lambda: ta[0:1]),
        ("a.sum()", lambda: a.sum(), lambda: ta.sum()),
        ("a.sum(axis=1)", lambda: a.sum(axis=1), lambda: ta.sum(1)),
        ("nd.dot(a, c)", lambda: nd.dot(a, c), lambda: torch.mm(ta, tc)),
        ("a > b", lambda: a > b, lambda: ta > tb),
        ("a.asnumpy()", lambda: a.asnumpy(), lambda: ta.numpy().copy()),
    ]


def recorded_pairs():
    x = nd.array([1.0, 2.0, 3.0])
    x.attach_grad()
    t = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    return [
        ("x * x, recorded", lambda: x * x, lambda: t * t),
        ("nd.exp(x), recorded", lambda: nd.exp(x), lambda: torch.exp(t)),
    ]


def import_seconds(statement):
    """Seconds of a fresh interpreter for `statement`, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        best = min(best, time.perf_counter() - start)
    return best


def main():
    torch.set_num_threads(1)
    results = compare(eager_pairs())
    with autograd.record():
        results.update(compare(recorded_pairs()))
    print(f"{'call':22s} {'ReMX µs':>9s} {'torch µs':>9s} {'over':>7s}")
    for name, (ours, theirs) in results.items():
        print(f"{name:22s} {ours:9.2f} {theirs:9.2f} {ours - theirs:7.2f}")
    over = [ours - theirs for ours, theirs in results.values()]
    print(f"median over torch: {statistics.median(over):.2f} µs")
    bare, plain = import_seconds("pass"), import_seconds("import mxnet")
    base, array = import_seconds("import torch"), import_seconds("import mxnet as mx; mx.nd.ones((1,)) + 1")
    print(
        f"import mxnet: {plain - bare:.3f} s; import torch: {base - bare:.3f} s; "
        f"first array: {array - base:+.3f} s over torch"
    )
    return mx.__version__


if __name__ == "__main__":
    main()
