"""Results of the suite as JSON, as a Markdown table with the goals beside the numbers, and as a chart."""

import json
from collections import Counter

# (what the name of a work contains, peer, at least this ratio); the first that fits counts for a peer
GOALS = [
    ("small call", "MXNet", 1.0),
    ("first hybridized", "MXNet", 1.0),
    ("simple_bind", "MXNet", 1.0),
    (".params", "MXNet", 1.0),
    ("Trainer.step", "torch", 1.0),
    ("Trainer.step", "MXNet", 1.0),
    ("train step", "torch", 1.0),
    ("train step", "MXNet", 1.0),
    ("forward+backward", "torch", 1.0),
    ("forward+backward", "MXNet", 1.0),
    ("inference", "torch", 1.0),
    ("inference", "torch.compile", 1.0),
    ("inference", "ONNX Runtime", 1.0),
    ("inference", "OpenVINO", 1.0),
    ("inference", "MXNet", 1.0),
]
OVER_TORCH = 1.5e-3  # milliseconds that a small call may add
OF_PRODUCTS = 0.9  # the share of the time that an encoder and an LSTM spend in their products at the core's own pace
PEERS = ("ReMX before", "torch", "torch.compile", "ONNX Runtime", "OpenVINO", "MXNet")
BARE, INDUCTOR = "ReMX without numba", "ReMX by inductor"


def goal(work, who):
    """The ratio that is aimed at, or None."""
    return next((least for text, peer, least in GOALS if peer == who and text in work), None)


def judged(work, who, ratio):
    """The ratio with its goal, and a mark that says if it is met."""
    least = goal(work, who)
    return "" if least is None else f" {'✓' if round(ratio, 2) >= least else '✗'}"


def _time(ms):
    return f"{ms * 1e3:.2f} µs" if ms < 0.1 else f"{ms:.3g} ms" if ms < 100 else f"{ms:.0f} ms"


def _peer_cell(r, who):
    """A peer's time, its ratio to ReMX's with the spread, and whether the goal is met."""
    q = r["ratios"].get(who)
    if q is None:
        return ""
    mark = judged(r["work"], who, q["ratio"])
    if who == "torch" and r["work"].startswith("small call"):
        over = r["ms"]["ReMX"] - r["ms"]["torch"]
        mark = f" {'✓' if over <= OVER_TORCH else '✗'} {over * 1e3:+.2f} µs"
    return f"{_time(r['ms'][who])}, **{q['ratio']:.2f}** ({q['low']:.2f}–{q['high']:.2f}){mark}"


def _bare_cell(r):
    """The time without numba, and what its peers need in multiples of it."""
    if BARE not in r["ms"]:
        return ""
    against = [f"{who} {r['ms'][who] / r['ms'][BARE]:.2f}" for who in ("torch", "MXNet") if who in r["ms"]]
    return ", ".join([_time(r["ms"][BARE]), *against])


def _own_cell(r):
    share = f", products {r['products'] / r['ms']['ReMX']:.0%}" if "products" in r else ""
    inductor = f", by inductor {_time(r['ms'][INDUCTOR])}" if INDUCTOR in r["ms"] else ""
    return _time(r["ms"]["ReMX"]) + share + inductor


def works_table(rows):
    others = [who for who in PEERS if any(who in r["ratios"] for r in rows)]
    heads = ["work", "threads", "ReMX", "without numba", *others]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for r in rows:
        cells = [r["work"], str(r["threads"]), _own_cell(r), _bare_cell(r), *(_peer_cell(r, who) for who in others)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _settings(rows):
    """How the rows were measured: the most common way first, and for the others of which rows it is true."""
    ways = Counter(r.get("setting", "") for r in rows).most_common()
    named = {way: ", ".join(r["work"] for r in rows if r.get("setting", "") == way) for way, _ in ways[1:]}
    return [f"- {way}" + (f" ({named[way]})" if way in named else "") for way, _ in ways]


def import_lines(ms):
    first, torch = ms["import mxnet, first array"], ms["import torch"]
    marks = {
        "import mxnet": f"{'✓' if ms['import mxnet'] <= 150 else '✗'} ≤ 150 ms",
        "import mxnet, first array": f"{first - torch:+.0f} ms over torch, "
        f"{'✓' if first - torch <= 300 else '✗'} ≤ 300 ms",
    }
    rows = [f"| {name} | {value:.0f} | {marks.get(name, '')} |" for name, value in ms.items()]
    return ["", "| import | ms | goal |", "|---|---|---|", *rows]


def memory_lines(mb):
    lines = ["", "| peak memory, ResNet-50 training, batch 8 | MB | goal |", "|---|---|---|"]
    for who, value in mb.items():
        share = value / mb["torch"]
        mark = f"{share:.2f} × torch, {'✓' if share <= 1.05 else '✗'} ≤ 1.05" if who == "ReMX" else ""
        lines.append(f"| {who} | {value:.0f} | {mark} |")
    return lines


def growth_lines(rows):
    lines = ["", "Growth (see growth.svg): a line through the medians, ReMX beside torch.", ""]
    lines += ["| against | ReMX: start + slope | torch: start + slope | slopes' ratio |", "|---|---|---|---|"]
    for r in rows:
        ours, theirs = r["fit"]["ReMX"], r["fit"]["torch"]
        cells = [f"{f['start']:.2f} ms + {f['slope']:.4g} ms/{r['unit']}" for f in (ours, theirs)]
        lines.append(f"| {r['against']} | {cells[0]} | {cells[1]} | {ours['slope'] / theirs['slope']:.2f} |")
    return lines


EXPLANATION = """\
Medians of turns in one run. A peer's cell has its time, **its time as a multiple of ReMX's** (above 1: ReMX is faster),
the quartiles of the turns' own ratios, and a mark: ✓ at least 1, ✗ below. Small calls are marked by what they add to
torch's call, at most 1.5 µs. The column without numba has ReMX's time where numba is not installed, and its peers'
times as multiples of it. *Products* is the share of the time that the matrix products of a network take alone.
"""


class Results:
    """What has been measured, in the files of a folder."""

    def __init__(self, folder, keep=False, note=""):
        self.folder, self.note = folder, note
        path = folder / "results.json"
        self.facts = json.loads(path.read_text()) if keep and path.exists() else {"rows": []}

    def add(self, row, setting):
        """One work; a row of the same name is replaced."""
        row["setting"] = setting + (f"; {self.note}" if self.note else "")
        rows = self.facts["rows"]
        same = [i for i, r in enumerate(rows) if (r["work"], r["threads"]) == (row["work"], row["threads"])]
        if same:
            rows[same[0]] = row
        else:
            rows.append(row)
        self.write()

    def arrange(self, names):
        """Put the rows into the suite's own order, in whichever parts it was run."""
        places = {name: i for i, name in enumerate(names)}
        self.facts["rows"].sort(key=lambda r: (places.get(r["work"], len(places)), r["threads"]))
        self.write()

    def set(self, what, values):
        self.facts[what] = values
        self.write()

    def text(self):
        rows = self.facts["rows"]
        lines = ["# Results", "", *EXPLANATION.splitlines(), ""]
        lines += _settings(rows)
        lines += ["", *works_table(rows)] if rows else []
        parts = {"import": import_lines, "memory": memory_lines, "growth": growth_lines}
        for what, make in parts.items():
            lines += make(self.facts[what]) if what in self.facts else []
        return "\n".join(lines) + "\n"

    def write(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "results.json").write_text(json.dumps(self.facts, indent=1) + "\n")
        (self.folder / "results.md").write_text(self.text())
        if self.facts["rows"]:
            chart(self.facts["rows"], self.folder / "results.svg")


def chart(rows, path):
    """Ratios as bars, a line at 1; left out where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    rows = [r for r in rows if r["threads"] == rows[0]["threads"] and not r["work"].startswith("small call")][::-1]
    figure = Figure(figsize=(9, 0.34 * len(rows) + 1.2), layout="constrained")
    axes = figure.subplots()
    others = [who for who in PEERS if any(who in r["ratios"] for r in rows)]
    height = 0.8 / max(len(others), 1)
    for k, who in enumerate(others):
        found = [(i, r["ratios"][who]["ratio"]) for i, r in enumerate(rows) if who in r["ratios"]]
        axes.barh([i + 0.4 - (k + 0.5) * height for i, _ in found], [v for _, v in found], height, label=who)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_yticks(range(len(rows)), [r["work"] for r in rows], fontsize=7)
    axes.set_xlabel("peer's time / ReMX's: right of the line ReMX is faster")
    axes.legend(fontsize=7)
    figure.savefig(path, metadata={"Date": None})
