"""What a small call costs: ReMX beside torch's own call, in turns in one run, recorded calls too, and the imports.

Prints a table of the best bursts; `over` is what ReMX adds. The goals: 1.5 µs over torch, recording 1 µs more.
"""

import statistics
import time

import small_works
import torch
from suite import imports

from mxnet import autograd, nd

ROUNDS = 250  # short bursts: some of them fall into quiet moments of a busy machine


def cost(function):
    """Microseconds of one call, averaged over a burst."""
    start = time.perf_counter()
    for _ in range(small_works.CALLS):
        function()
    return (time.perf_counter() - start) / small_works.CALLS * 1e6


def compare(ours, theirs):
    """name -> best costs of our call and torch's, measured in turns so that noise hits both alike."""
    seen = {name: ([], []) for name in ours}
    for _ in range(ROUNDS):
        for name, (mine, other) in seen.items():
            mine.append(cost(ours[name]))
            other.append(cost(theirs[name]))
    return {name: (min(mine), min(other)) for name, (mine, other) in seen.items()}


def recorded():
    """The same two calls on arrays that gradients are asked for."""
    x = nd.array([1.0, 2.0, 3.0])
    x.attach_grad()
    t = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    names = ("x * x, recorded", "nd.exp(x), recorded")
    return (
        dict(zip(names, (lambda: x * x, lambda: nd.exp(x)), strict=True)),
        dict(zip(names, (lambda: t * t, lambda: torch.exp(t)), strict=True)),
    )


def main():
    torch.set_num_threads(1)
    results = compare(small_works.mx_calls(), small_works.torch_calls())
    with autograd.record():
        results.update(compare(*recorded()))
    print(f"{'call':22s} {'ReMX µs':>9s} {'torch µs':>9s} {'over':>7s}")
    for name, (ours, theirs) in results.items():
        print(f"{name:22s} {ours:9.2f} {theirs:9.2f} {ours - theirs:7.2f}")
    over = [ours - theirs for ours, theirs in results.values()]
    print(f"median over torch: {statistics.median(over):.2f} µs")
    taken = imports(processor=False)
    late = taken["import mxnet, first array"] - taken["import torch"]
    print(f"import mxnet: {taken['import mxnet']:.0f} ms; first array: {late:+.0f} ms over `import torch`")


if __name__ == "__main__":
    main()
