"""A model of `dist_sync` on many hosts: what a step takes, from the compute time, the link and the number of hosts.

With n hosts, S bytes of gradients, B bytes a second, L seconds of delay one way, and o seconds of work for a message:

    dense   a ring of 2 (n - 1) messages of S / n bytes:  R = 2 (n - 1) (S / (n B) + L + o)
    2 bits  n - 1 messages of S / 16 bytes, each unpacked:  Q = (n - 1) (S / (16 B) + L + o + q S) + p S
    step    C + R at the step;  C + max(R - h C, 0) where gradients travel while backward runs;  C + Q with 2 bits

C is the compute time, h the share of it that can hide messages: one bucket of 4 MB cannot hide behind itself.
"""

import dataclasses
import itertools

RESNET50 = 102e6  # bytes of its gradients


@dataclasses.dataclass
class Model:
    """The constants that are fitted."""

    payload: float  # share of the link's speed that gradients get
    message: float  # o, seconds
    unpack: float  # q, seconds a byte
    pack: float  # p, seconds a byte
    hidden: float  # h

    def exchange(self, way, hosts, size, rate, delay):
        """Seconds of R or Q; `rate` in bytes a second."""
        rate, others = rate * self.payload, hosts - 1
        if way == "2 bits":
            each = size / 16 / rate + delay + self.message + self.unpack * size
            return others * each + self.pack * size
        return 2 * others * (size / hosts / rate + delay + self.message)

    def step(self, way, hosts, compute, size, rate, delay):
        """Seconds of a step."""
        if way == "apart" or hosts == 1:
            return compute
        took = self.exchange(way, hosts, size, rate, delay)
        return compute + (max(took - self.hidden * compute, 0.0) if way == "overlapped" else took)


def _facts(row):
    return row["hosts"], row["seconds"]["apart"], row["bytes"], row["megabits"] * 125000, row["milliseconds"] / 1e3


def fit(rows):
    """The constants that fit these rows best, among the points of a grid."""
    grids = {
        "payload": [0.7, 0.8, 0.85, 0.9, 0.95],
        "message": [0.0, 0.001, 0.002, 0.004, 0.008],
        "unpack": [0.0, 1e-9, 3e-9, 1e-8, 3e-8],
        "pack": [0.0, 1e-9, 3e-9, 1e-8, 3e-8],
        "hidden": [0.0, 0.2, 0.4, 0.6],
    }
    models = (Model(**dict(zip(grids, values, strict=True))) for values in itertools.product(*grids.values()))
    return min(models, key=lambda model: sum(abs(error) for _, _, _, error in compare(model, rows)))


def compare(model, rows):
    """[(row, way, predicted seconds, relative error)]."""
    found = []
    for row in rows:
        for way, seconds in row["seconds"].items():
            if way != "apart":
                predicted = model.step(way, *_facts(row))
                found.append((row, way, predicted, predicted / seconds - 1))
    return found


def _table(head, rows):
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return [*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)]


def report(rows):
    """Measured and predicted times, and what the model says of 64 hosts, as Markdown."""
    model = fit([row for row in rows if row["hosts"] == 2])
    lines = [f"fitted to 2 hosts: {model}", ""]
    head = ["hosts", "Mbit/s", "delay ms", "way", "without exchange ms", "measured ms", "model ms", "error"]
    lines += _table(
        head,
        [
            (row["hosts"], row["megabits"], row["milliseconds"], way, f"{row['seconds']['apart'] * 1e3:.0f}",
             f"{row['seconds'][way] * 1e3:.0f}", f"{predicted * 1e3:.0f}", f"{error:+.0%}")
            for row, way, predicted, error in compare(model, rows)
        ],
    )  # fmt: skip
    return "\n".join([*lines, "", *predictions(model)])


def predictions(model, compute=1.0, counts=(1, 4, 16, 64)):
    """Efficiency (time of a step alone / with n hosts) of a network like ResNet-50 whose step takes a second."""
    links = [(gigabits, delay) for gigabits in (1, 10, 25) for delay in (0.05e-3, 0.5e-3)]
    head = ["link", "way", *(f"{count} hosts" for count in counts)]
    rows = []
    for gigabits, delay in links:
        for way in ("at the step", "overlapped", "2 bits"):
            times = [model.step(way, count, compute, RESNET50, gigabits * 125e6, delay) for count in counts]
            efficiency = [f"{compute / seconds:.2f}" for seconds in times]
            rows.append((f"{gigabits} Gbit/s, {delay * 1e3:g} ms", way, *efficiency))
    return _table(head, rows)
