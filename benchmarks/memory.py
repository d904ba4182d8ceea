"""Peak memory of training ResNet-50, batch 8 at 224: a process of its own for each contestant.

python benchmarks/memory.py WHO      prints megabytes; WHO is ReMX, torch or MXNet
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def steps(who):
    """A training step, prepared."""
    if who == "torch":
        import torch_works as w

        return w.training(w.zoo("ResNet-50"), w.images("ResNet-50", 8), w.labels(8), w.momentum)
    import mx_works as w

    return w.zoo_training("ResNet-50")


def peak(who):
    """Megabytes that the process has had at most, after three steps."""
    step = steps(who)
    for _ in range(3):
        step()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(contestants, threads):
    """who -> megabytes."""
    found = {}
    for who in contestants:
        env = dict(os.environ, OMP_NUM_THREADS=str(threads))
        interpreter = sys.executable
        if who == "MXNet":
            interpreter = env["REMX_MXNET_PYTHON"]
            env.pop("PYTHONPATH", None)
        done = subprocess.run(
            [interpreter, str(HERE / "memory.py"), who], capture_output=True, text=True, env=env, check=True
        )
        found[who] = float(done.stdout.split()[-1])
    return found


if __name__ == "__main__":
    print(peak(sys.argv[1]))
