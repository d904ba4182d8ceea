"""Two workers against one: how much of two cores' work is left after the gradients are exchanged, and what is sent.

`python benchmarks/distributed.py` trains a ResNet-18 on 32 x 32 images, one thread a worker, in these ways: one worker
alone; two that know nothing of each other (what two cores allow); two with `dist_sync`, whose gradients travel while
backward runs, or only at the step, or with two bits each; and two with `dist_async`. Prints a table; `--json FILE`
keeps it. `--quick` is a small network and few steps. Bytes are counted twice: those of the tensors handed to the
transport, and those that the kernel was given for this process's TCP connections (on Linux). On a machine that others
use as well, `CPU ms` tells more than the time on the clock.
"""

import argparse
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import time

BYTES_ACKED = 120  # where Linux's struct tcp_info has it
WAYS = {
    # name: workers, store, environment, compression
    "one worker": (1, None, {}, None),
    "two apart": (2, None, {}, None),
    "dist_sync": (2, "dist_sync", {}, None),
    "dist_sync, sums at the step": (2, "dist_sync", {"MXNET_KVSTORE_OVERLAP": "0"}, None),
    "dist_sync, 2 bits": (2, "dist_sync", {}, {"type": "2bit", "threshold": 0.01}),
    "dist_async": (2, "dist_async", {}, None),
}


# ---------------------------------------------------------------------- a worker
def tcp_bytes():
    """Bytes this process has written to its open TCP connections, or None where the kernel does not tell."""
    if not sys.platform.startswith("linux"):
        return None
    total = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            if not os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(int(name))) as connection:
                listens = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
                if connection.type == socket.SOCK_STREAM and connection.family != socket.AF_UNIX and not listens:
                    total += _written(connection)
        except FileNotFoundError:  # the descriptor of the listing itself
            continue
    return total


def _written(connection):
    """What the other side has acknowledged, and what waits for it: on a busy machine that is late.

    What is acknowledged between both questions would count twice.
    """
    import fcntl
    import termios

    before, now, waiting = None, _acknowledged(connection), 0
    while now != before:
        waiting = struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))[0]
        before, now = now, _acknowledged(connection)
    return now + waiting if now is not None else 0


def _acknowledged(connection):
    """Bytes, or None where the kernel does not tell."""
    information = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, BYTES_ACKED + 8)
    return struct.unpack_from("Q", information, BYTES_ACKED)[0] if len(information) >= BYTES_ACKED + 8 else None


def network(quick):
    from mxnet.gluon import model_zoo, nn

    if not quick:
        return model_zoo.vision.resnet18_v1(thumbnail=True, classes=10)
    net = nn.HybridSequential()
    net.add(nn.Flatten(), nn.Dense(256, activation="relu"), nn.Dense(256, activation="relu"), nn.Dense(10))
    return net


def work(way, quick, batch):
    """Train as one worker of a way; prints what it measured as a line of JSON."""
    import numpy as np

    import mxnet as mx
    from mxnet import autograd, gluon
    from mxnet.kvstore import group

    _, kind, _, compression = WAYS[way]
    store = mx.kv.create(kind) if kind else None
    mx.random.seed(1)
    net = network(quick)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    settings = {"learning_rate": 0.01, "momentum": 0.9}
    if kind == "dist_async":
        settings = {"learning_rate": 0.01}
    trainer = gluon.Trainer(net.collect_params(), "sgd", settings, kvstore=store, compression_params=compression)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    random = np.random.RandomState(store.rank if store else 0)
    steps = 4 if quick else 8
    data, label = mx.nd.array(random.rand(batch, 3, 32, 32)), mx.nd.array(random.randint(0, 10, batch))

    def step():
        with autograd.record():
            loss = loss_of(net(data), label)
        loss.backward()
        trainer.step(batch * (store.num_workers if store else 1))
        loss.wait_to_read()

    for _ in range(2):
        step()
    if store:
        store.barrier()
    handed, sent, times, busy = group.Traffic.handed, tcp_bytes(), [], time.process_time()
    for _ in range(steps):
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    busy = (time.process_time() - busy) / steps
    if store:
        store.barrier()
    written = tcp_bytes()
    if store:
        store.barrier()  # a connection that the other one closes no longer counts
    learning = [p for p in net.collect_params().values() if p.grad_req != "null"]
    report = {
        "seconds": statistics.median(times) or busy,  # some virtual machines' clocks stand still for several steps
        "busy": busy,
        "handed": (group.Traffic.handed - handed) / steps,
        "tcp": None if sent is None else (written - sent) / steps,
        "parameters": sum(p.data().size * 4 for p in learning),
    }
    os.write(1, (json.dumps(report) + "\n").encode())  # at once: the workers share the pipe


# ---------------------------------------------------------------------- all ways
def command(way, quick, batch):
    size = ["--batch", str(batch), *(["--quick"] if quick else [])]
    return [sys.executable, os.path.abspath(__file__), "--worker", way, *size]


def measure(way, quick, batch):
    """What the workers of a way have measured, averaged."""
    workers, kind, variables, _ = WAYS[way]
    surroundings = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", **variables}
    lines = [command(way, quick, batch)] * workers
    if kind:
        lines = [[sys.executable, "-m", "mxnet.tools.launch", "-n", str(workers), *lines[0]]]
    running = [subprocess.Popen(line, env=surroundings, stdout=subprocess.PIPE, text=True) for line in lines]
    said = [process.communicate()[0] for process in running]
    if any(process.returncode for process in running):
        raise SystemExit(f"{way}: a worker failed")
    found = [json.loads(line) for text in said for line in text.splitlines() if line.startswith("{")]
    assert len(found) == workers, said
    none = any(one["tcp"] is None for one in found)
    return {key: None if key == "tcp" and none else statistics.mean(one[key] for one in found) for key in found[0]}


def rows(results):
    """Efficiency and bytes of each way."""
    alone, allowed = results["one worker"]["seconds"], results.get("two apart", results["one worker"])["seconds"]
    for way, one in results.items():
        yield {
            "way": way,
            "milliseconds": one["seconds"] * 1e3,
            "busy_milliseconds": one["busy"] * 1e3,
            "efficiency": alone / one["seconds"],
            "of_what_cores_allow": allowed / one["seconds"] if WAYS[way][0] == 2 else 1.0,
            "handed_share": one["handed"] / one["parameters"],
            "tcp_share": None if one["tcp"] is None else one["tcp"] / one["parameters"],
            "parameter_bytes": one["parameters"],
        }


def table(found):
    lines = [
        "| way | ms a step | CPU ms | efficiency | of what two cores allow | bytes handed / parameters | TCP bytes |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in found:
        tcp = "?" if row["tcp_share"] is None else f"{row['tcp_share']:.4f}"
        lines.append(
            f"| {row['way']} | {row['milliseconds']:.1f} | {row['busy_milliseconds']:.1f} | {row['efficiency']:.2f} "
            f"| {row['of_what_cores_allow']:.2f} | {row['handed_share']:.4f} | {tcp} |"
        )
    return "\n".join(lines)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="a small network, few steps")
    options.add_argument("--batch", type=int, default=32, help="examples a step and worker")
    options.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS), help="measure these only")
    options.add_argument("--json", metavar="FILE", help="write the rows there")
    options.add_argument("--worker", choices=list(WAYS), help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.worker:
        work(chosen.worker, chosen.quick, chosen.batch)
        return
    found = list(
        rows({way: measure(way, chosen.quick, chosen.batch) for way in dict.fromkeys(["one worker", *chosen.ways])})
    )
    print(table(found))
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
