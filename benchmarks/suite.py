"""ReMX beside its peers on the same works, interleaved in one run; writes results.md and results.json.

python benchmarks/suite.py [--quick] [--only TEXT] [--compile] [--threads N]

Peers: PyTorch eager; torch.compile with --compile; real MXNet 1.9.1 if REMX_MXNET_PYTHON names an interpreter that has
it. The numbers are best times over rounds, for the machine may be shared; the ratio is the peer's time over ReMX's
(above 1: ReMX is faster), and its spread runs over the quartiles of the rounds' own ratios.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import mx_works
import numpy as np
import torch
import torch_works

import mxnet as mx

HERE = Path(__file__).parent
SLOW = 0.2  # seconds; a work longer than this is run once a round


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
        env = {**os.environ, "OMP_NUM_THREADS": str(threads)}
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


def peers(args, layers):
    """The contestants by name; ReMX is the first."""
    found = {"ReMX": Local(mx_works.works(layers)), "torch": Local(torch_works.works(layers))}
    if args.compile:
        found["torch.compile"] = Local(torch_works.works(layers, compiled=True))
    if os.environ.get("REMX_MXNET_PYTHON"):
        found["MXNet"] = Worker(os.environ["REMX_MXNET_PYTHON"], layers, args.threads)
    return found


def measure(name, contestants, rounds):
    """Times of every contestant that has this work, taken in turns."""
    taking = {who: peer for who, peer in contestants.items() if name in peer.table}
    times = {who: [] for who in taking}
    size = 1
    for who, peer in taking.items():
        peer.prepare(name)
        warm = min(peer.run(name, 3))
        if who == "ReMX":
            size = max(1, int(SLOW / max(warm, 1e-6) / 4))
    for _ in range(rounds):
        for who, peer in taking.items():
            times[who].append(min(peer.run(name, size)))
    return times


def row(name, times):
    """Best times in milliseconds, and ratios to ReMX with their spread."""
    ours = np.array(times["ReMX"])
    ratios = {}
    for who, theirs in times.items():
        if who != "ReMX":
            each = np.array(theirs) / ours
            low, high = np.quantile(each, (0.25, 0.75))
            ratios[who] = {"ratio": min(theirs) / ours.min(), "low": low, "high": high}
    return {"work": name, "ms": {who: min(t) * 1e3 for who, t in times.items()}, "ratios": ratios}


def seconds_of(statement, rounds=3):
    """A fresh interpreter's time for `statement`, the best of several."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        best = min(best, time.perf_counter() - start)
    return best


def imports():
    """Milliseconds of importing, the interpreter's own start taken away."""
    bare = seconds_of("pass")
    statements = {
        "import mxnet": "import mxnet",
        "import torch": "import torch",
        "import mxnet, first array": "import mxnet as mx; mx.nd.ones((1,)) + 1",
    }
    return {name: (seconds_of(text) - bare) * 1e3 for name, text in statements.items()}


def table(rows, importing, machine):
    """The results as Markdown."""
    others = list(dict.fromkeys(who for r in rows for who in r["ratios"]))
    lines = [
        "# Results",
        "",
        machine,
        "",
        "Best times; ratio = the peer's time / ReMX's, quartiles of rounds behind.",
        "",
    ]
    heads = ["work", "ReMX ms", *[f"{who} {what}" for who in others for what in ("ms", "ratio")]]
    lines += ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for r in rows:
        cells = [r["work"], f"{r['ms']['ReMX']:.3f}"]
        for who in others:
            if who in r["ratios"]:
                q = r["ratios"][who]
                cells += [f"{r['ms'][who]:.3f}", f"**{q['ratio']:.2f}** ({q['low']:.2f}–{q['high']:.2f})"]
            else:
                cells += ["", ""]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "| import | ms |", "|---|---|", *[f"| {name} | {ms:.0f} |" for name, ms in importing.items()], ""]
    return "\n".join(lines)


def report(folder, rows, importing, machine):
    """Write both files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.md").write_text(table(rows, importing, machine))
    facts = {"machine": machine, "rows": rows, "import": importing}
    (folder / "results.json").write_text(json.dumps(facts, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rounds, two encoder layers instead of twelve")
    parser.add_argument("--only", default="", help="works whose names contain this")
    parser.add_argument("--compile", action="store_true", help="torch.compile, too (needs a C++ compiler)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, help="turns of each contestant")
    parser.add_argument("--output", type=Path, default=HERE)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    layers, rounds = (2, 5) if args.quick else (12, 15)
    machine = f"{platform.machine()}, {args.threads} thread(s), torch {torch.__version__}, ReMX {mx.__version__}, "
    machine += f"{layers} encoder layers" + (", quick setting" if args.quick else "")
    importing = {} if args.only else imports()
    contestants = peers(args, layers)
    rows = []
    for name in contestants["ReMX"].table:
        if args.only.lower() in name.lower():
            rows.append(row(name, measure(name, contestants, args.rounds or rounds)))
            ratios = "  ".join(f"{who} {q['ratio']:.2f}" for who, q in rows[-1]["ratios"].items())
            print(f"{name:42s} {rows[-1]['ms']['ReMX']:10.3f} ms   {ratios}", flush=True)
            report(args.output, rows, importing, machine)  # after each work: a run that is cut short is not lost
    if "MXNet" in contestants:
        contestants["MXNet"].close()


if __name__ == "__main__":
    main()
