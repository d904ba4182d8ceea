"""Single operators on arrays of middling size beside real MXNet: which are slower here?

REMX_MXNET_PYTHON=/path/to/python python benchmarks/operators.py [--below RATIO] [--seconds S] [GROUP or NAME ...]

Each interpreter runs all cases, with and without gradients; the table lists the ratio MXNet / ReMX, the smallest first.
`--kept FILE` keeps MXNet's times in a file, where later runs find them.
"""

import argparse
import json
import os
import subprocess
import sys
import time

from operator_cases import GROUPS, LEAVES, arrays

FEWEST = 3  # runs of each case


def timed(step, least):
    """Milliseconds of a run, a quick one of many."""
    step()
    seconds, end = [], time.perf_counter() + least
    while len(seconds) < FEWEST or time.perf_counter() < end:
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)[len(seconds) // 3] * 1e3


def chosen(names):
    """(group, name, code, has it a gradient) of each case that is asked for."""
    for group, cases in GROUPS.items():
        for line in cases.strip().splitlines():
            name, code = line.removeprefix("- ").split(" = ", 1)
            if not names or group in names or name in names or name + ", gradient" in names:
                yield group, name, code, not line.startswith("- ")


class Machine:
    """This interpreter's package, with the arrays and ways to run a case."""

    def __init__(self):
        import numpy

        import mxnet

        self.mx, self.nd = mxnet, mxnet.nd
        self.made = arrays(self.nd, numpy)
        self.attach()
        self.made.update(nd=self.nd, np=mxnet.np, npx=mxnet.npx, mx=mxnet)

    def attach(self):
        for name in LEAVES:
            self.made[name].attach_grad()

    def numpy(self):
        """From here on NumPy's semantics, and its arrays."""
        self.mx.npx.set_np()
        for name, array in self.made.items():
            if isinstance(array, self.nd.NDArray) and array.stype == "default":
                self.made[name] = array.detach().as_np_ndarray()
        self.attach()

    def forward(self, call):
        result = eval(call, self.made)
        self.nd.waitall()
        return result[0] if isinstance(result, (list, tuple)) else result

    def backward(self, call):
        with self.mx.autograd.record():
            result = self.forward(call)
        result.backward()
        self.nd.waitall()


def measure(names, least, tell=lambda name, value: None):
    """All cases in this interpreter; a case that fails is told and left out."""
    machine, taken, turned = Machine(), {}, False
    for group, name, code, gradient in chosen(names):
        if group == "numpy" and not turned:
            machine.numpy()
            turned = True
        call = compile(code, name, "eval")
        for suffix, step in (("", machine.forward), (", gradient", machine.backward))[: 1 + gradient]:
            try:
                taken[name + suffix] = timed(lambda step=step, call=call: step(call), least)
                tell(name + suffix, taken[name + suffix])
            except Exception as error:  # the table goes on without it
                print(name + suffix, type(error).__name__, str(error).strip().split("\n")[0][:150], file=sys.stderr)
    return taken


def other(options):
    """MXNet's times: kept ones, or of runs of its interpreter."""
    kept = {}
    if options.kept and os.path.exists(options.kept):
        with open(options.kept) as file:
            kept = json.load(file)
    missing = [name for _, name, _, _ in chosen(options.names) if name not in kept]
    while missing:
        found, crashed = asked(missing, options.seconds)
        kept.update(found)
        last = next(reversed(found), "").removesuffix(", gradient")
        missing = missing[missing.index(last) + 2 :] if crashed and last else []
    if options.kept:
        with open(options.kept, "w") as file:
            json.dump(kept, file)
    return kept


def asked(names, seconds):
    """Times that MXNet's interpreter told, and if it crashed before the end, which some of its operators make it do."""
    command = [os.environ["REMX_MXNET_PYTHON"], __file__, "--measure", f"--seconds={seconds}", *names]
    alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=alone)
    lines = [line.rsplit(" ", 1) for line in run.stdout.splitlines() if line.startswith("ms: ")]
    return {name.removeprefix("ms: "): float(value) for name, value in lines}, run.returncode != 0


def main(options):
    theirs = other(options)
    ours = measure(options.names, options.seconds)
    ratios = {name: theirs[name] / ours[name] for name in ours if name in theirs}
    print("| operator | ReMX, ms | MXNet, ms | MXNet / ReMX |\n|---|---|---|---|")
    for name in sorted(ratios, key=ratios.get):
        if ratios[name] < options.below:
            print(f"| {name} | {ours[name]:.3f} | {theirs[name]:.3f} | {ratios[name]:.2f} |")


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--below", type=float, default=float("inf"), help="list only ratios below this")
    parser.add_argument("--seconds", type=float, default=0.3, help="time of each case")
    parser.add_argument("--kept", help="file that keeps MXNet's times")
    parser.add_argument("--measure", action="store_true", help="print this interpreter's times")
    return parser.parse_args()


if __name__ == "__main__":
    given = options()
    if given.measure:
        measure(given.names, given.seconds, lambda name, value: print(f"ms: {name} {value}", flush=True))
    else:
        main(given)
