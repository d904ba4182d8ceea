"""Results of the suite as JSON, as a Markdown table with the goals beside the numbers, and as a chart."""

import json
from collections import Counter

# (what the name of a work contains, peer, at least this ratio); the first that fits counts for a peer
GOALS = [
    ("small call", "MXNet", 5.0),
    ("inductor", "torch.compile", 1.0),
    ("MLP", "torch", 1.0),
    ("MLP", "MXNet", 1.3),
    ("LeNet", "torch", 1.0),
    ("LeNet", "MXNet", 1.3),
    ("ResNet-18 train", "torch", 1.15),
    ("ResNet-18 train", "MXNet", 1.5),
    ("LSTM", "torch", 1.0),
    ("LSTM", "MXNet", 1.8),
    ("BERT", "torch", 1.0),
    ("BERT", "MXNet", 1.5),
    ("Trainer.step", "torch", 1.0),
    ("ResNet-50 .params", "MXNet", 1.0),
    ("Net", "torch", 1.5),
    ("Net", "MXNet", 1.8),
    ("Net", "torch.compile", 0.95),
    ("Net", "ONNX Runtime", 0.95),
]
OVER_TORCH = 1.5e-3  # milliseconds that a small call may add
WITHOUT_GOAL = ("first hybridized", "simple_bind")
PEERS = ("torch", "torch.compile", "ONNX Runtime", "MXNet")


def goal(work, who):
    """The ratio that is aimed at, or None."""
    if any(text in work for text in WITHOUT_GOAL) or (".params" in work and who != "MXNet"):
        return None
    return next((least for text, peer, least in GOALS if peer == who and text in work), None)


def judged(work, who, ratio):
    """The ratio with its goal, and a mark that says if it is met."""
    least = goal(work, who)
    return "" if least is None else f" {'✓' if round(ratio, 2) >= least else '✗'} ≥ {least:g}"


def _time(ms):
    return f"{ms * 1e3:.2f} µs" if ms < 0.1 else f"{ms:.3g} ms" if ms < 100 else f"{ms:.0f} ms"


def works_table(rows):
    others = [who for who in PEERS if any(who in r["ratios"] for r in rows)]
    heads = ["work", "ReMX", *[f"{who}: time, ratio, goal" for who in others]]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for r in rows:
        cells = [r["work"], _time(r["ms"]["ReMX"])]
        for who in others:
            q = r["ratios"].get(who)
            spread = "" if q is None else f" ({q['low']:.2f}–{q['high']:.2f})"
            mark = "" if q is None else judged(r["work"], who, q["ratio"])
            if q is not None and who == "torch" and r["work"].startswith("small call"):
                over = r["ms"]["ReMX"] - r["ms"]["torch"]
                mark = f" {'✓' if over <= OVER_TORCH else '✗'} {over * 1e3:+.2f} µs, ≤ +1.5"
            cells.append("" if q is None else f"{_time(r['ms'][who])}, **{q['ratio']:.2f}**{spread}{mark}")
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
        same = [i for i, r in enumerate(rows) if r["work"] == row["work"]]
        if same:
            rows[same[0]] = row
        else:
            rows.append(row)
        self.write()

    def arrange(self, names):
        """Put the rows into the suite's own order, in whichever parts it was run."""
        places = {name: i for i, name in enumerate(names)}
        self.facts["rows"].sort(key=lambda r: places.get(r["work"], len(places)))
        self.write()

    def set(self, what, values):
        self.facts[what] = values
        self.write()

    def text(self):
        rows = self.facts["rows"]
        lines = [
            "# Results",
            "",
            "Medians of turns; ratio = the peer's time / ReMX's (above 1: ReMX is faster), behind",
        ]
        lines += ["it the quartiles of the turns' own ratios, then the goal: ✓ met, ✗ not met.", ""]
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
    rows = rows[::-1]
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
