"""How the time of a training step grows with batch size, depth and number of parameters: ReMX beside torch.

python benchmarks/growth.py [--rounds N] [--processor]     adds a section to results.md and draws growth.svg

The lines' slopes say what the work costs, their starts what a step costs before any work is done; the slope against
depth is work and overhead of a layer together, and small layers make it mostly overhead.
"""

import argparse
import os
import statistics
from pathlib import Path

import mx_works
import numpy as np
import report
import timing
import torch
import torch_works
from torch import nn as tnn

from mxnet import nd
from mxnet.gluon import nn

HERE = Path(__file__).parent


def pair(width, depth, batch):
    """A training step of `depth` dense layers, in ReMX and in torch."""
    ours = nn.HybridSequential()
    layers = []
    for _ in range(depth):
        ours.add(nn.Dense(width, activation="relu"))
        layers += [tnn.Linear(width, width), tnn.ReLU()]
    data, labels = nd.random.normal(shape=(batch, width)), nd.array([i % 10 for i in range(batch)])
    options = {"learning_rate": 0.01, "momentum": 0.9}
    remx = mx_works.training(ours, data, labels, "sgd", options, True)
    theirs = torch_works.training(
        tnn.Sequential(*layers), torch.randn(batch, width), torch_works.labels(batch), torch_works.momentum
    )
    return {"ReMX": remx, "torch": theirs}


# against, unit, sizes, what makes a size's contestants, what stands on the axis
SERIES = [
    ("batch size (4 layers of 256)", "example", (32, 64, 128, 256, 512), lambda n: pair(256, 4, n), lambda n: n),
    ("depth (layers of 32, batch 8)", "layer", (4, 8, 16, 32, 64), lambda n: pair(32, n, 8), lambda n: n),
    (
        "parameters (4 layers, batch 8)",
        "million",
        (128, 256, 512, 768),
        lambda n: pair(n, 4, 8),
        lambda n: n * n * 4e-6,
    ),
]


def measure(make, rounds):
    """Median milliseconds of each contestant, taken in turns."""
    contestants = make()
    times = {who: [] for who in contestants}
    for step in contestants.values():
        timing.burst(step, 3)
    for _ in range(rounds):
        for who, step in contestants.items():
            times[who].append(statistics.median(timing.burst(step, 5)) * 1e3)
    return {who: statistics.median(t) for who, t in times.items()}


def fitted(places, values):
    """Start and slope of the line that is nearest in relative terms, so that small sizes count as much."""
    slope, start = np.polyfit(places, values, 1, w=1 / np.array(values))
    return {"start": float(start), "slope": float(slope)}


def series(against, unit, sizes, make, place, rounds):
    """One chart's points and lines."""
    points = {n: measure(lambda n=n: make(n), rounds) for n in sizes}
    places = [place(n) for n in sizes]
    values = {who: [points[n][who] for n in sizes] for who in ("ReMX", "torch")}
    print(against, {who: [round(v, 2) for v in vs] for who, vs in values.items()}, flush=True)
    fits = {who: fitted(places, vs) for who, vs in values.items()}
    return {"against": against, "unit": unit, "places": places, "ms": values, "fit": fits}


def draw(rows, path):
    """The points and lines side by side; needs matplotlib."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4 * len(rows), 3.4), layout="constrained")
    for axes, r in zip(figure.subplots(1, len(rows)), rows, strict=True):
        for who, mark in (("ReMX", "o"), ("torch", "s")):
            (line,) = axes.plot(r["places"], r["ms"][who], mark, label=who)
            ends = [0, max(r["places"])]
            fit = r["fit"][who]
            axes.plot(ends, [fit["start"] + fit["slope"] * x for x in ends], color=line.get_color(), linewidth=0.8)
        axes.set_title(r["against"], fontsize=9)
        axes.set_ylabel("ms a step")
        axes.legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--output", type=Path, default=HERE)
    parser.add_argument("--processor", action="store_true", help="processor time, for a machine that others use, too")
    args = parser.parse_args()
    if args.processor:
        os.environ["REMX_BENCH_CLOCK"] = "processor"
    torch.set_num_threads(args.threads)
    rows = [series(*each, args.rounds) for each in SERIES]
    report.Results(args.output, keep=True).set("growth", rows)
    draw(rows, args.output / "growth.svg")


if __name__ == "__main__":
    main()
