"""Throughput of `dist_sync` against the speed and the delay of the links between hosts, and a model of it.

    python benchmarks/hosts.py --hosts 2 4 [--json FILE]     # measures; needs root, see host_network.py
    python benchmarks/hosts.py --model FILE                  # fits the model to 2 hosts, compares with 4, predicts 64

Hosts are network namespaces of this machine. Each runs one worker that trains the same network: with gradients that
travel while backward runs, only at the step, or as two bits each. The workers share this machine's cores, so a step
without any exchange (`apart`) is measured with as many workers; the model takes its time as given.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import host_network
from scaling_model import report

WAYS = ("apart", "at the step", "overlapped", "2 bits")
LINKS = ((400, 0), (200, 0), (100, 0))  # megabits a second, milliseconds one way
DELAYED = ((200, 0), (200, 5), (200, 20))  # through the relay, where the kernel has no netem
QUICK = ((400, 0), (100, 0))
LAYERS, WIDTH, BATCH, STEPS = 3, 1024, 128, 5


# ---------------------------------------------------------------------- a worker
def trainers(store):
    """{way: a function that makes one step}."""
    import mxnet as mx

    found = {}
    for way in WAYS:
        os.environ["MXNET_KVSTORE_OVERLAP"] = "1" if way == "overlapped" else "0"
        net = mx.gluon.nn.HybridSequential()
        for _ in range(LAYERS):
            net.add(mx.gluon.nn.Dense(WIDTH, in_units=WIDTH, activation="relu"))
        net.initialize(mx.init.Xavier())
        net.hybridize()
        options = {"kvstore": None if way == "apart" else "dist_sync", "update_on_kvstore": False}
        if way == "2 bits":
            options["compression_params"] = {"type": "2bit", "threshold": 0.01}
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e-4}, **options)
        found[way] = stepper(net, trainer, store)
        found[way]()
        found[way]()  # plans are made with the first step, and used from the second on
    return found


def stepper(net, trainer, store):
    import mxnet as mx

    data = mx.nd.random.normal(shape=(BATCH, WIDTH))

    def step():
        with mx.autograd.record():
            loss = net(data).square().mean(axis=1)
        loss.backward()
        trainer.step(BATCH * store.num_workers)
        loss.wait_to_read()

    return step


def work(folder):
    """Measure each way whenever the links have changed, until there is nothing left to do."""
    import mxnet as mx

    store = mx.kv.create("dist_sync")
    steps = trainers(store)
    for number in range(10**6):
        told = folder / f"go-{number}"
        while not told.exists():
            time.sleep(0.02)
        if told.read_text() == "end":
            break
        found = {way: seconds_of(step, store) for way, step in steps.items()}
        if store.rank == 0:
            draft = folder / "draft"
            draft.write_text(json.dumps(found))
            draft.rename(folder / f"result-{number}")


def seconds_of(step, store):
    """The time of the quickest step: others may use this machine, too."""
    store.barrier()
    step()
    times = []
    for _ in range(STEPS):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return min(times)


# ---------------------------------------------------------------------- all hosts
def start(hosts, folder):
    """The workers, one on each host, as a cluster would start them."""
    key = folder / "key"
    key.touch(mode=0o600)
    key.write_text(os.urandom(32).hex())
    place = {"MASTER_ADDR": host_network.address(0), "MASTER_PORT": "29500", "WORLD_SIZE": str(hosts.count)}
    common = {**os.environ, **place, "LOCAL_WORLD_SIZE": "1", "LOCAL_RANK": "0", "OMP_NUM_THREADS": "1"}
    common["MXNET_KVSTORE_SECRET_FILE"] = str(key)
    command = [sys.executable, os.path.abspath(__file__), "--worker", str(folder)]
    return [
        subprocess.Popen(
            hosts.command(number, *command),
            env={**common, "RANK": str(number), "DMLC_NODE_HOST": host_network.address(number)},
        )
        for number in range(hosts.count)
    ]


def wait_for(path, workers):
    """Wait for a file while all workers live."""
    while not path.exists():
        if any(worker.poll() for worker in workers):
            raise SystemExit("a worker failed")
        time.sleep(0.05)


def measure(count, links, relayed):
    """Rows of a job on so many hosts."""
    with tempfile.TemporaryDirectory() as name, host_network.Hosts(count, relayed) as hosts:
        folder = pathlib.Path(name)
        hosts.shape(1000, 0)
        workers = start(hosts, folder)
        try:
            for number, (megabits, milliseconds) in enumerate(links):
                hosts.shape(megabits, milliseconds)
                (folder / f"go-{number}").write_text("go")
                wait_for(folder / f"result-{number}", workers)
                seconds = json.loads((folder / f"result-{number}").read_text())
                facts = {"hosts": count, "megabits": megabits, "milliseconds": milliseconds, "relayed": relayed}
                yield {**facts, "seconds": seconds, "bytes": parameter_bytes()}
            (folder / f"go-{len(links)}").write_text("end")
            for worker in workers:
                worker.wait(60)
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


def parameter_bytes():
    """Bytes of the network's gradients."""
    return LAYERS * (WIDTH * WIDTH + WIDTH) * 4


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--hosts", type=int, nargs="+", default=[2, 4])
    options.add_argument("--delays", action="store_true", help="measure against the delay, in place of the speed")
    options.add_argument("--quick", action="store_true", help="two speeds only")
    options.add_argument("--json", metavar="FILE", help="add the rows to this file")
    options.add_argument("--model", metavar="FILE", help="print the model of the rows in this file")
    options.add_argument("--worker", type=pathlib.Path, help=argparse.SUPPRESS)
    told = options.parse_args()
    if told.worker:
        return work(told.worker)
    if told.model:
        return print(report(json.loads(pathlib.Path(told.model).read_text())))
    if reason := host_network.why_not():
        raise SystemExit(reason)
    relayed = told.delays and not host_network.has_netem()
    links = QUICK if told.quick else DELAYED if told.delays else LINKS
    found = [row for count in told.hosts for row in measure(count, links, relayed)]
    for row in found:
        times = ", ".join(f"{way} {seconds * 1e3:.0f} ms" for way, seconds in row["seconds"].items())
        print(f"{row['hosts']} hosts, {row['megabits']} Mbit/s, {row['milliseconds']} ms: {times}", flush=True)
    if told.json:
        path = pathlib.Path(told.json)
        before = json.loads(path.read_text()) if path.exists() else []
        path.write_text(json.dumps([*before, *found], indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
