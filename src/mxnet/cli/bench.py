"""`remx bench`: how fast this machine runs small calls, beside torch's own, and a small network."""

import time

from .._core.arguments import at_least
from ._output import add_json, print_json, table


def add(parser):
    """The command's own options."""
    parser.add_argument("--calls", type=at_least(1), default=1000, help="calls in a burst")
    parser.add_argument("--rounds", type=at_least(1), default=7, help="bursts; the fastest counts")
    add_json(parser)


def _burst(function, calls):
    """Microseconds of a call, averaged over a burst, or over as many as a coarse clock needs to move."""
    start, done, seconds = time.perf_counter(), 0, 0.0
    while not seconds:
        for _ in range(calls):
            function()
        done, seconds = done + calls, time.perf_counter() - start
    return seconds / done * 1e6


def compare(pairs, calls, rounds):
    """Rows of (what, ours, torch's, difference): bursts in turns, so that noise hits both alike."""
    best = {name: [float("inf"), float("inf")] for name, _, _ in pairs}
    for _ in range(rounds):
        for name, *functions in pairs:
            for which, function in enumerate(functions):
                best[name][which] = min(best[name][which], _burst(function, calls))
    return [(name, f"{ours:.2f}", f"{theirs:.2f}", f"{ours - theirs:+.2f}") for name, (ours, theirs) in best.items()]


def _small_calls():
    from .. import ndarray as nd

    a = nd.array([[1, 2, 3], [4, 5, 6]])
    b, c = a + 1, a.T.copy()
    ta, tb, tc = a.as_torch(), b.as_torch(), c.as_torch()
    return [
        ("a + b", lambda: a + b, lambda: ta + tb),
        ("a * 2.5", lambda: a * 2.5, lambda: ta * 2.5),
        ("nd.exp(a)", lambda: nd.exp(a), lambda: ta.exp()),
        ("a.sum(axis=1)", lambda: a.sum(axis=1), lambda: ta.sum(1)),
        ("nd.dot(a, c)", lambda: nd.dot(a, c), lambda: ta.mm(tc)),
    ]


def _steps(net, data, label):
    """One inference, and one step of training, as functions."""
    from .. import autograd, gluon

    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})

    def train():
        with autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(len(data))
        loss.wait_to_read()

    return lambda: net(data).wait_to_read(), train


def network_rows(rounds, batch=64):
    """Images a second of LeNet, plain and hybridized."""
    from .. import ndarray as nd
    from ..tools.demo import lenet

    data, label = nd.ones((batch, 1, 28, 28)), nd.zeros((batch,))
    for hybrid in (False, True):
        net = lenet()
        net.initialize()
        net.hybridize(hybrid)
        infer, train = _steps(net, data, label)
        infer(), train()
        fastest = [min(_burst(step, 3) for _ in range(rounds)) for step in (infer, train)]
        name = "LeNet, hybridized" if hybrid else "LeNet"
        yield (name, *(f"{batch / (micro / 1e6):,.0f}" for micro in fastest))


def run(options):
    """Print both tables, or both as JSON."""
    calls, networks = compare(_small_calls(), options.calls, options.rounds), list(network_rows(options.rounds))
    if options.json:
        named = ({"call": name, "remx_us": float(ours), "torch_us": float(theirs)} for name, ours, theirs, _ in calls)
        speeds = ((name, *(float(value.replace(",", "")) for value in values)) for name, *values in networks)
        keys = ("network", "inferred_images_per_second", "trained_images_per_second")
        print_json({"calls": list(named), "networks": [dict(zip(keys, row, strict=True)) for row in speeds]})
        return
    table(["call", "ReMX µs", "torch µs", "over"], calls)
    print()
    table(["network", "inferred images/s", "trained images/s"], networks)
