"""The benchmark suite: contestants have the same works, take turns, and end up in one table."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch):
    if not BENCHMARKS.is_dir():
        pytest.skip("an installed package has no benchmarks")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if str(BENCHMARKS) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_the_works_of_all_contestants_have_the_same_names(benchmarks):
    import exported_works
    import mx_works
    import torch_works

    ours = {**mx_works.works(2), **mx_works.small_parts()}
    exported = exported_works.works(exported_works.onnx_runtime, 2, 1)
    for theirs in (torch_works.works(2), torch_works.small_parts(), mx_works.inductor_works(2), exported):
        assert set(theirs) <= set(ours)
    learning = {name for name in mx_works.works(2) if "train" in name}
    assert learning - set(torch_works.works(2)) == {"SSD train step"}  # torch has no operator for its targets


def test_contestants_take_turns(benchmarks, monkeypatch):
    import contest

    monkeypatch.setattr(contest, "WARM", 0.05)
    work = "small call: a + b"
    peers = [contest.Contestant(peer, 1, 2) for peer in ("ReMX", "torch")]
    try:
        times = contest.measure(work, peers, 1)
    finally:
        for each in peers:
            each.close()
    assert {peer: len(seconds) for peer, seconds in times.items()} == {"ReMX": 5, "torch": 5}
    assert all(0 < second < 1e-3 for seconds in times.values() for second in seconds)


def test_one_table_has_all_peers_and_thread_counts(benchmarks, tmp_path):
    import report

    results = report.Results(tmp_path, note="a test")
    for threads, mxnet in ((2, 5.0), (1, 30.0)):
        row = {
            "work": "LSTM forward+backward",
            "threads": threads,
            "ms": {"ReMX": 10.0, "ReMX without numba": 20.0, "torch": 15.0, "MXNet": mxnet},
            "ratios": {
                "ReMX without numba": {"ratio": 2.0, "low": 1.9, "high": 2.1},
                "torch": {"ratio": 1.5, "low": 1.4, "high": 1.6},
                "MXNet": {"ratio": mxnet / 10, "low": mxnet / 11, "high": mxnet / 9},
            },
            "products": 9.5,
        }
        results.add(row, "made up")
    results.arrange(["LSTM forward+backward"])
    again = report.Results(tmp_path, keep=True)
    assert [row["threads"] for row in again.facts["rows"]] == [1, 2]
    table = [line for line in (tmp_path / "results.md").read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    assert table == [
        "| work | threads | ReMX | without numba | torch | MXNet |",
        "| LSTM forward+backward | 1 | 10 ms, products 95% | 20 ms, torch 0.75, MXNet 1.50 | "
        "15 ms, **1.50** (1.40–1.60) ✓ | 30 ms, **3.00** (2.73–3.33) ✓ |",
        "| LSTM forward+backward | 2 | 10 ms, products 95% | 20 ms, torch 0.75, MXNet 0.25 | "
        "15 ms, **1.50** (1.40–1.60) ✓ | 5 ms, **0.50** (0.45–0.56) ✗ |",
    ]
