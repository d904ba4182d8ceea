"""A training program that knows nothing of who started it: all distributed stores, then a line of what it saw.

`cluster_worker.py ENVIRONMENTS` plays several launchers one after the other, each in a process of its own; they are
forked, because the imports take longer than everything else.
"""

import json
import os
import sys

import mxnet as mx
from mxnet import nd


def train():
    kv = mx.kv.create("dist_sync")
    for kind in ("dist_sync", "dist_device_sync", "dist_async"):
        store = kv if kind == "dist_sync" else mx.kv.create(kind)
        if kind == "dist_async":
            store.set_optimizer(mx.optimizer.SGD(learning_rate=1.0))
        out = nd.zeros(2)
        store.init(0, nd.zeros(2))
        store.push(0, nd.full(2, kv.rank + 1))
        store._barrier()
        store.pull(0, out=out)
        assert abs(out.asnumpy()).tolist() == [3, 3], (kind, out)
    return f"worker {kv.rank} of {kv.num_workers}"


def play(name, variables):
    """Train in a new process with these variables; it ends as a program does."""
    if process := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.environ.update(variables)
    print(f"{name}: {train()}", flush=True)
    sys.exit()


if __name__ == "__main__":
    if len(sys.argv) == 1:
        print(train(), flush=True)
    else:
        for name, variables in json.loads(sys.argv[1]).items():
            code = play(name, variables)
            print(f"{name}: exit code {code}", flush=True)
