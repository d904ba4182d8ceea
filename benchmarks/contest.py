"""Contestants that take turns: each is a process of its own (worker.py), which waits while the others run."""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

WORKER = str(Path(__file__).with_name("worker.py"))
WARM, TURN = 1.5, 0.2  # seconds: of runs that do not count, and of a turn, if it is not a single run
REST = 0.1  # seconds before a turn of several threads: those of the contestant before go on looking for work so long
SMALL = 1e-4  # seconds: works below this see most of a machine that changes its pace, and have five times the turns


class Contestant:
    """A process that has works and runs them when it is asked to."""

    def __init__(self, peer, threads, layers=12, interpreter=sys.executable, source=None):
        env = {"MXNET_KERNELS": "wait", **os.environ, "OMP_NUM_THREADS": str(threads)}
        if interpreter != sys.executable:
            env.pop("PYTHONPATH", None)
        if source is not None:
            env["PYTHONPATH"] = str(source)
        command = [interpreter, "-W", "ignore", WORKER, peer, str(threads), str(layers)]
        self.peer, self.threads = peer, threads
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self.works = self._answer("it was started")

    def _answer(self, when):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.peer} ended while {when}")
        return json.loads(line)

    def run(self, name, rounds):
        """Seconds of each of so many runs."""
        self.process.stdin.write(json.dumps([name, rounds]) + "\n")
        self.process.stdin.flush()
        return self._answer(f"it ran {name!r}")

    def warm_up(self, name):
        """The best time of some runs, enough for code that is compiled in the background to be there."""
        end, taken = time.perf_counter() + WARM, self.run(name, 2)
        while time.perf_counter() < end or (min(taken) >= SMALL and sum(taken) < WARM / 3):
            taken += self.run(name, 2)
        return min(taken)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def measure(name, contestants, rounds):
    """{peer: median seconds of each turn}, taken in turns, each time in another order, by all that have this work."""
    taking = [each for each in contestants if name in each.works]
    quickest = min(each.warm_up(name) for each in taking)
    rounds *= 5 if quickest < SMALL else 1
    size = min(50, max(1, int(TURN / quickest))) if quickest >= SMALL else 1
    times = {each.peer: [] for each in taking}
    for turn in range(rounds):
        place = turn % len(taking)
        for each in taking[place:] + taking[:place]:
            if each.threads > 1 and quickest >= SMALL:
                time.sleep(REST)
            times[each.peer].append(statistics.median(each.run(name, size)))
    return times
