"""Single operators on arrays of middling size beside real MXNet: which are slower here?

REMX_MXNET_PYTHON=/path/to/python python benchmarks/operators.py [--below RATIO] [--seconds S] [GROUP or NAME ...]

Each case, with and without its gradient, runs in turns in both interpreters: MXNet, ReMX, and both once more. The table
lists the ratio MXNet / ReMX of the quicker turns, the smallest first, and the geometric mean of all ratios.
`--json FILE` also adds the times to a file, so that several runs of parts make one table. `--processor` takes the time
that the process got, not that on the wall, for a machine that others use, too; it needs OMP_NUM_THREADS=1.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time

from operator_cases import GROUPS, LEAVES, arrays

FEWEST = 3  # runs of each case in a turn
TURNS = 2


def timed(step, least):
    """Milliseconds of a run, a quick one of many."""
    clock = time.process_time if os.environ.get("REMX_BENCH_CLOCK") == "processor" else time.perf_counter
    step()
    seconds, end = [], clock() + least
    while len(seconds) < FEWEST or clock() < end:
        start = clock()
        step()
        seconds.append(clock() - start)
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

        self.mx, self.nd, self.numpy_arrays = mxnet, mxnet.nd, False
        if hasattr(mxnet, "__remx_version__"):  # kernels are there, as in a program that has run for some seconds
            from mxnet.cli.warmup import warm_up

            warm_up()
        self.made = arrays(self.nd, numpy)
        self.attach()
        self.made.update(nd=self.nd, np=mxnet.np, npx=mxnet.npx, mx=mxnet)

    def attach(self):
        for name in LEAVES:
            self.made[name].attach_grad()

    def numpy(self):
        """From here on NumPy's semantics, and its arrays."""
        self.mx.npx.set_np()
        self.numpy_arrays = True
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

    def measure(self, group, code, gradient, least):
        """Milliseconds of one case, or what it raised."""
        if group == "numpy" and not self.numpy_arrays:
            self.numpy()
        call, step = compile(code, "<case>", "eval"), self.backward if gradient else self.forward
        try:
            return timed(lambda: step(call), least)
        except Exception as error:  # the table goes on without it
            return f"{type(error).__name__} {str(error).strip().splitlines()[0][:150]}"


class Other:
    """MXNet's interpreter, which answers questions on its standard input; some operators crash it."""

    def __init__(self):
        self.process = None

    def measure(self, *case):
        if self.process is None:
            alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
            command = [os.environ["REMX_MXNET_PYTHON"], __file__, "--answer"]
            pipe = subprocess.PIPE
            self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=alone)
        print(json.dumps(case), file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            if line.startswith("answer: "):
                return json.loads(line.removeprefix("answer: "))
        self.process = None
        return "crashed"


def answer():
    """What MXNet's interpreter does: a case on each line of the input, its time on a line of the output."""
    machine = Machine()
    for line in sys.stdin:
        print("answer:", json.dumps(machine.measure(*json.loads(line))), flush=True)


def compared(ours, theirs, case):
    """(ours, theirs): the quicker of the turns, None if one of them failed."""
    best = [math.inf, math.inf]
    for _ in range(TURNS):
        for at, machine in enumerate((theirs, ours)):
            taken = machine.measure(*case)
            if isinstance(taken, str):
                return None, ("MXNet: ", "ReMX: ")[at] + taken
            best[at] = min(best[at], taken)
    return best[1], best[0]


def measured(options):
    """{name: [our time, theirs]} in milliseconds."""
    times, ours, theirs = {}, Machine(), Other()
    for group, name, code, gradient in chosen(options.names):
        for suffix in ("", ", gradient")[: 1 + gradient]:
            case = group, code, bool(suffix), options.seconds / TURNS
            mine, other = compared(ours, theirs, case)
            if mine is None:
                print(name + suffix, other, file=sys.stderr)
            else:
                times[name + suffix] = [mine, other]
    return times


def kept(path, times):
    """The times with those of earlier runs, which are in the file."""
    earlier = {}
    if os.path.exists(path):
        with open(path) as file:
            earlier = json.load(file)
    with open(path, "w") as file:
        json.dump(earlier | times, file, indent=0)
    return earlier | times


def show(times, below):
    ratios = {name: theirs / ours for name, (ours, theirs) in times.items()}
    print("| operator | ReMX, ms | MXNet, ms | MXNet / ReMX |\n|---|---|---|---|")
    for name in sorted(ratios, key=ratios.get):
        if ratios[name] < below:
            print(f"| {name} | {times[name][0]:.3f} | {times[name][1]:.3f} | {ratios[name]:.2f} |")
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    slower = sum(ratio < 0.95 for ratio in ratios.values())
    print(f"\n{len(ratios)} cases, geometric mean {mean:.2f}, {slower} below 0.95")


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--below", type=float, default=float("inf"), help="list only ratios below this")
    parser.add_argument("--seconds", type=float, default=0.3, help="time of each case in each interpreter")
    parser.add_argument("--json", help="file to which the times are added")
    parser.add_argument("--processor", action="store_true", help="processor time instead of wall time")
    parser.add_argument("--answer", action="store_true", help="measure the cases that standard input names")
    return parser.parse_args()


if __name__ == "__main__":
    given = options()
    if given.processor:
        os.environ["REMX_BENCH_CLOCK"] = "processor"
    if given.answer:
        answer()
    else:
        found = measured(given)
        show(kept(given.json, found) if given.json else found, given.below)
