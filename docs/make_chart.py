"""Draws the speed chart of the home page from the recorded results of the benchmarks."""

import json
import sys
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results.json"
WORKS = {  # row of the benchmarks -> label
    "LeNet train step, hybridized": "LeNet, training",
    "ResNet-18 train step, batch 8": "ResNet-18, training",
    "ResNet-50 inference, batch 1": "ResNet-50, inference",
    "MobileNetV2 inference, batch 1": "MobileNetV2, inference",
    "LSTM forward+backward": "LSTM, training",
    "BERT encoder inference": "BERT encoder, inference",
}


def ratios():
    """{label: {contestant: its time as a multiple of ReMX's}}."""
    found = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]
    rows = {row["work"]: row["ms"] for row in found if row["threads"] == 1}
    return {label: {who: ms / rows[work]["ReMX"] for who, ms in rows[work].items()} for work, label in WORKS.items()}


def draw(path):
    """Bars: how many times as long as ReMX PyTorch and MXNet 1.9.1 take."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3.2), layout="constrained")
    axes = figure.add_subplot()
    found = ratios()
    for offset, (who, label, colour) in enumerate(
        (("torch", "PyTorch", "#ee4c2c"), ("MXNet", "MXNet 1.9.1", "#3b82c4"))
    ):
        places = [row + 0.2 - 0.4 * offset for row in range(len(found))]
        bars = axes.barh(places, [each[who] for each in found.values()], 0.38, label=label, color=colour)
        axes.bar_label(bars, fmt="%.1f", padding=2, fontsize=7)
    axes.axvline(1, color="#222", linewidth=1)
    axes.set_yticks(range(len(found)), list(found), fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("time, as a multiple of ReMX's (one core of Zen 4)", fontsize=8)
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    draw(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "images" / "speed.svg")
