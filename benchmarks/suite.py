"""ReMX beside its peers on the same works, in turns in one run; writes results.md, results.json and results.svg.

python benchmarks/suite.py [--quick] [--only TEXT] [--merge] [--compile] [--threads 1,2] [--memory] [--import]
python benchmarks/suite.py --before CHECKOUT --output FOLDER [--only TEXT]

Peers: ReMX itself without numba; PyTorch eager; ONNX Runtime and OpenVINO where they are installed; torch.compile, and
ReMX through torch's compiler, with --compile; real MXNet 1.9.1 if REMX_MXNET_PYTHON names an interpreter that has it. A
number is the median over the turns; a ratio is the peer's median over ReMX's (above 1: ReMX is faster), and its spread
runs over the quartiles of the turns' own ratios. With --processor it is the time that the process got, not the time on
the wall: with one thread, and no disk in the work, that tells contestants apart where other programs run beside them.
With --merge rows measured earlier stay, so that a long suite can be run in parts. With --before the only peer is the
ReMX of another checkout (`git worktree add CHECKOUT REVISION`): it tells what a change costs or gains.
"""

import argparse
import importlib.util
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import memory
import numpy as np
import products
import report
import torch
from contest import Contestant, measure

import mxnet as mx

HERE = Path(__file__).parent


def peers(args, threads):
    """The contestants; ReMX is the first."""
    if args.before:
        return [
            Contestant("ReMX", threads, args.layers),
            Contestant("ReMX before", threads, args.layers, source=args.before / "src"),
        ]
    names = ["ReMX", "ReMX without numba", "torch"]
    names += ["ReMX by inductor", "torch.compile"] if args.compile else []
    if importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnx"):
        names.append("ONNX Runtime")
    if importlib.util.find_spec("openvino") and importlib.util.find_spec("onnx"):
        names.append("OpenVINO")
    names = [name for name in names if name not in args.without]
    found = [Contestant(name, threads, args.layers) for name in names]
    if os.environ.get("REMX_MXNET_PYTHON"):
        found.append(Contestant("MXNet", threads, args.layers, os.environ["REMX_MXNET_PYTHON"]))
    return found


def row(name, threads, times):
    """Median times in milliseconds, and ratios to ReMX with their spread."""
    ours = np.array(times["ReMX"])
    ratios = {}
    for who, theirs in times.items():
        if who != "ReMX":
            low, high = np.quantile(np.array(theirs) / ours, (0.25, 0.75))
            ratios[who] = {"ratio": float(np.median(theirs) / np.median(ours)), "low": float(low), "high": float(high)}
    medians = {who: float(np.median(taken)) * 1e3 for who, taken in times.items()}
    return {"work": name, "threads": threads, "ms": medians, "ratios": ratios}


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


def setting(args, threads):
    """What the numbers of a run were taken with."""
    facts = f"{platform.machine()}, {threads} thread(s), torch {torch.__version__}, ReMX {mx.__remx_version__}"
    clock = "processor time" if args.processor else "wall time"
    return f"{facts}, {clock}, {args.rounds} turns, {args.layers} encoder layers"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few turns, two encoder layers instead of twelve")
    parser.add_argument("--only", action="append", help="works whose names contain this; may be given several times")
    parser.add_argument("--without", action="append", default=[], help="leave this peer out")
    parser.add_argument("--before", type=Path, help="compare with the ReMX of this checkout only")
    parser.add_argument("--merge", action="store_true", help="keep the rows that are in the results already")
    parser.add_argument("--compile", action="store_true", help="torch.compile, too (needs a C++ compiler)")
    parser.add_argument("--memory", action="store_true", help="peak memory, too (a minute)")
    parser.add_argument("--import", dest="importing", action="store_true", help="time of importing, too")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, one after the other")
    parser.add_argument("--processor", action="store_true", help="processor time, for a machine that others use, too")
    parser.add_argument("--rounds", type=int, help="turns of each contestant")
    parser.add_argument("--layers", type=int, help="encoder layers")
    parser.add_argument("--note", default="", help="what else is to be said about the machine")
    parser.add_argument("--output", type=Path, default=HERE)
    args = parser.parse_args()
    if args.processor:
        os.environ["REMX_BENCH_CLOCK"] = "processor"
    args.threads = [int(number) for number in args.threads.split(",")]
    args.rounds = args.rounds or (5 if args.quick else 15)
    args.layers = args.layers or (2 if args.quick else 12)
    return args


def wanted(args, name):
    return args.only is None or any(text.lower() in name.lower() for text in args.only)


def run(args, threads, results):
    """Each work in turn; the files are written after each, so that a run that is cut short is not lost."""
    contestants = peers(args, threads)
    for name in filter(lambda name: wanted(args, name), contestants[0].works):
        made = row(name, threads, measure(name, contestants, args.rounds))
        if name in products.WORKS:
            made["products"] = products.milliseconds(name, threads, args.layers)
        results.add(made, setting(args, threads))
        ratios = "  ".join(f"{who} {q['ratio']:.2f}" for who, q in made["ratios"].items())
        print(f"{threads} {name:42s} {made['ms']['ReMX']:10.4f} ms   {ratios}", flush=True)
    results.arrange(contestants[0].works)
    for each in contestants:
        each.close()
    if args.before:
        found = [each["ratios"]["ReMX before"]["ratio"] for each in results.facts["rows"] if each["threads"] == threads]
        mean = statistics.geometric_mean(found)
        print(f"{threads} {len(found)} works: geometric mean {mean:.3f}, lowest {min(found):.3f}", flush=True)


def main():
    args = arguments()
    results = report.Results(args.output, keep=args.merge, note=args.note)
    if args.importing or args.only is None:
        results.set("import", imports(args.processor))
    if args.memory:
        who = ["ReMX", "torch"] + (["MXNet"] if os.environ.get("REMX_MXNET_PYTHON") else [])
        results.set("memory", memory.measure(who, args.threads[0]))
    for threads in args.threads:
        run(args, threads, results)


if __name__ == "__main__":
    main()
