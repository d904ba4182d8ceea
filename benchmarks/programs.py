"""Steps of whole programs beside real MXNet: which are slower here?

REMX_MXNET_PYTHON=/path/to/python python benchmarks/programs.py [--rounds N] [--threads N] [--below RATIO] [NAME ...]

Both interpreters take turns. The table lists the ratio MXNet / ReMX of the medians, the smallest first.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

WARM, TURN = 1.5, 0.2  # seconds: of runs that do not count, and of a turn, if it is not a single run


class Worker:
    """An interpreter that runs works when it is asked to."""

    def __init__(self, interpreter, threads):
        env = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        if interpreter != sys.executable:
            env.pop("PYTHONPATH", None)
        command = [interpreter, "-W", "ignore", str(Path(__file__).with_name("program_works.py"))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def run(self, name, rounds):
        self.process.stdin.write(json.dumps([name, rounds]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the worker ended while it ran {name!r}")
        return json.loads(line)

    def warm_up(self, name):
        """How many runs fill a turn."""
        end, best = time.perf_counter() + WARM, min(self.run(name, 2))
        while time.perf_counter() < end:
            best = min(best, *self.run(name, 2))
        return min(50, max(1, int(TURN / best)))


def measure(name, workers, rounds):
    """Median milliseconds of each."""
    sizes = [worker.warm_up(name) for worker in workers]
    times = [[] for _ in workers]
    for _ in range(rounds):
        for worker, size, seen in zip(workers, sizes, times, strict=True):
            seen.append(statistics.median(worker.run(name, size)))
    return [statistics.median(seen) * 1e3 for seen in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="turns of each interpreter")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--below", type=float, default=float("inf"), help="only ratios below this one")
    parser.add_argument("names", nargs="*", help="works whose names contain one of these")
    args = parser.parse_args()
    from program_works import works

    workers = [Worker(python, args.threads) for python in (sys.executable, os.environ["REMX_MXNET_PYTHON"])]
    rows = []
    for name in works():
        if not args.names or any(part in name for part in args.names):
            ours, theirs = measure(name, workers, args.rounds)
            rows.append((theirs / ours, name, ours, theirs))
            print(f"{theirs / ours:6.2f}  {name:34} {ours:10.2f} {theirs:10.2f} ms", file=sys.stderr, flush=True)
    for ratio, name, ours, theirs in sorted(rows):
        if ratio < args.below:
            print(f"{ratio:6.2f}  {name:34} {ours:10.2f} {theirs:10.2f} ms")


if __name__ == "__main__":
    main()
