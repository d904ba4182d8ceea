"""ReMX beside its peers on the same works, interleaved in one run; writes results.md, results.json and results.svg.

python benchmarks/suite.py [--quick] [--only TEXT] [--merge] [--compile] [--threads N] [--memory] [--import]

Peers: PyTorch eager; ONNX Runtime if it is installed; torch.compile with --compile; real MXNet 1.9.1 if
REMX_MXNET_PYTHON names an interpreter that has it. The contestants take turns. A number is the median over the turns;
a ratio is the peer's median over ReMX's (above 1: ReMX is faster), and its spread runs over the quartiles of the turns'
own ratios. With --processor it is the time that the process got, not the time on the wall: with one thread, and no disk
in the work, that tells contestants apart where other programs run beside them. With --merge rows measured earlier stay,
so that a long suite can be run in parts.
"""

import argparse
import importlib.util
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import memory
import mx_works
import numpy as np
import onnx_works
import report
import torch
import torch_works

import mxnet as mx

HERE = Path(__file__).parent
SHORTER = 5
SLOW, WARM = 0.2, 1.5  # seconds: of a turn, if it is not a single run, and of runs that do not count
REST = 0.1  # seconds before a turn of several threads: those of the contestant before go on looking for work so long


class Local:
    """A peer in this process."""

    def __init__(self, table):
        self.table, self.step = table, None

    def prepare(self, name):
        self.step = self.table[name]()

    def run(self, name, rounds):
        return mx_works.burst(self.step, rounds)


class Worker:
    """A peer in an interpreter of its own, which waits while the others run."""

    def __init__(self, interpreter, layers, threads):
        env = {"MXNET_KERNELS": "wait", **os.environ, "OMP_NUM_THREADS": str(threads)}
        env.pop("PYTHONPATH", None)
        command = [interpreter, str(HERE / "mx_works.py"), str(layers)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self.table = mx_works.works(layers)

    def prepare(self, name):
        self.run(name, 0)

    def run(self, name, rounds):
        self.process.stdin.write(json.dumps([name, rounds]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker ended while it ran {name!r}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def peers(args):
    """The contestants by name; ReMX is the first."""
    found = {"ReMX": Local(mx_works.works(args.layers)), "torch": Local(torch_works.works(args.layers))}
    if args.compile:
        found["torch.compile"] = Local(torch_works.works(args.layers, compiled=True))
        found["ReMX"].table.update(mx_works.inductor_works(args.layers))
    if importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnx"):
        found["ONNX Runtime"] = Local(onnx_works.works(args.layers, args.threads))
    if os.environ.get("REMX_MXNET_PYTHON"):
        found["MXNet"] = Worker(os.environ["REMX_MXNET_PYTHON"], args.layers, args.threads)
        if args.compile:
            found["MXNet"].table = {n: w for n, w in found["MXNet"].table.items() if "inductor" not in n}
    return found


def measure(name, contestants, rounds):
    """Times of every contestant that has this work, taken in turns, each time in another order."""
    taking = {who: peer for who, peer in contestants.items() if name in peer.table}
    times = {who: [] for who in taking}
    size, small = 1, False
    for who, peer in taking.items():
        peer.prepare(name)
        warm = warmed_up(peer, name)
        if who == "ReMX" and getattr(peer.step, "calls", 1) > 1:
            small = True
            rounds *= SHORTER  # of single bursts: small calls see most of a machine that changes its pace
        elif who == "ReMX":
            size = min(50, max(1, int(SLOW / max(warm, 1e-6))))
    order = list(taking)
    for turn in range(rounds):
        for who in order[turn % len(order) :] + order[: turn % len(order)]:
            if torch.get_num_threads() > 1 and not small:
                time.sleep(REST)
            times[who].append(statistics.median(taking[who].run(name, size)))
    return times


def warmed_up(peer, name):
    """The best time of some runs, enough for code that is compiled in the background to be there."""
    end, best = time.perf_counter() + WARM, min(peer.run(name, 2))
    while time.perf_counter() < end:
        best = min(best, *peer.run(name, 2))
    return best


def row(name, times):
    """Median times in milliseconds, and ratios to ReMX with their spread."""
    ours = np.array(times["ReMX"])
    ratios = {}
    for who, theirs in times.items():
        if who != "ReMX":
            low, high = np.quantile(np.array(theirs) / ours, (0.25, 0.75))
            ratios[who] = {"ratio": float(np.median(theirs) / np.median(ours)), "low": float(low), "high": float(high)}
    return {"work": name, "ms": {who: float(np.median(t)) * 1e3 for who, t in times.items()}, "ratios": ratios}


def seconds_of(statement, clock):
    """A fresh interpreter's time for `statement`."""
    start = clock()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return clock() - start


def children_time():
    """Processor time of the processes that have ended."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def imports(processor, rounds=5):
    """Milliseconds of importing, in turns, the interpreter's own start taken away; medians."""
    statements = {
        "bare": "pass",
        "import mxnet": "import mxnet",
        "import torch": "import torch",
        "import mxnet, first array": "import mxnet as mx; mx.nd.ones((1,)) + 1",
    }
    clock = children_time if processor else time.perf_counter
    taken = {name: [] for name in statements}
    for _ in range(rounds):
        for name, text in statements.items():
            taken[name].append(seconds_of(text, clock))
    found = {name: statistics.median(times) * 1e3 for name, times in taken.items()}
    return {name: ms - found["bare"] for name, ms in found.items() if name != "bare"}


def setting(args):
    """What the numbers of a run were taken with."""
    facts = f"{platform.machine()}, {args.threads} thread(s), torch {torch.__version__}, ReMX {mx.__version__}"
    clock = "processor time" if args.processor else "wall time"
    return f"{facts}, {clock}, {args.rounds} turns, {args.layers} encoder layers"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few turns, two encoder layers instead of twelve")
    parser.add_argument("--only", action="append", help="works whose names contain this; may be given several times")
    parser.add_argument("--merge", action="store_true", help="keep the rows that are in the results already")
    parser.add_argument("--compile", action="store_true", help="torch.compile, too (needs a C++ compiler)")
    parser.add_argument("--memory", action="store_true", help="peak memory, too (a minute)")
    parser.add_argument("--import", dest="importing", action="store_true", help="time of importing, too")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--processor", action="store_true", help="processor time, for a machine that others use, too")
    parser.add_argument("--rounds", type=int, help="turns of each contestant")
    parser.add_argument("--layers", type=int, help="encoder layers")
    parser.add_argument("--note", default="", help="what else is to be said about the machine")
    parser.add_argument("--output", type=Path, default=HERE)
    args = parser.parse_args()
    if args.processor:
        os.environ["REMX_BENCH_CLOCK"] = "processor"
    args.rounds = args.rounds or (5 if args.quick else 15)
    args.layers = args.layers or (2 if args.quick else 12)
    return args


def wanted(args, name):
    texts = [""] if args.only is None else args.only
    return any(text and text.lower() in name.lower() for text in texts) or "" in texts


def run(args, results):
    """Each work in turn; the files are written after each, so that a run that is cut short is not lost."""
    contestants = peers(args)
    for name in contestants["ReMX"].table:
        if wanted(args, name):
            made = row(name, measure(name, contestants, args.rounds))
            results.add(made, setting(args))
            ratios = "  ".join(f"{who} {q['ratio']:.2f}" for who, q in made["ratios"].items())
            print(f"{name:42s} {made['ms']['ReMX']:10.4f} ms   {ratios}", flush=True)
    results.arrange(contestants["ReMX"].table)
    if "MXNet" in contestants:
        contestants["MXNet"].close()


def main():
    args = arguments()
    torch.set_num_threads(args.threads)
    results = report.Results(args.output, keep=args.merge, note=args.note)
    if args.importing or args.only is None:
        results.set("import", imports(args.processor))
    if args.memory:
        who = ["ReMX", "torch"] + (["MXNet"] if os.environ.get("REMX_MXNET_PYTHON") else [])
        results.set("memory", memory.measure(who, args.threads))
    if args.only != ["nothing"]:
        run(args, results)


if __name__ == "__main__":
    main()
