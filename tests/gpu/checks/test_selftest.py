"""`remx selftest` on the simulated GPU."""

import json

import pytest
import simulated

import mxnet as mx
from mxnet.cli import main, selftest
from mxnet.cli._selftest import operators, speed, training


@pytest.mark.slow
def test_report(tmp_path, capsys):
    path = tmp_path / "report.json"
    assert main(["selftest", "--device", "gpu", "--no-speed", "--json", str(path)]) == 0
    found = json.loads(path.read_text())
    assert found["facts"]["device"] == "gpu(0)" and found["operators"]["passed"] > 600
    assert not found["operators"]["failed"] and len(found["trainings"]) == 6
    assert all(same for *_, same in found["trainings"])
    assert len(found["graphs"]) == 4 and all(same and why is None for *_, same, why in found["graphs"]), found["graphs"]
    assert "samples equal the CPU's, 0 do not" in capsys.readouterr().out


def test_timings_that_do_not_fit_into_memory_do_not_cost_the_report(monkeypatch, capsys):
    monkeypatch.setattr(operators, "check", lambda *args: (1, []))
    for name in ("check", "check_graphs"):
        monkeypatch.setattr(training, name, lambda ctx: [])
    rows = speed._rows
    monkeypatch.setattr(
        speed, "_rows", lambda name, *rest: rows(name, *rest) if "ResNet" in name else [(name, 1.0, 2.0)]
    )
    with simulated.memory_limit(64 << 20):
        found = selftest.report(mx.gpu(0))
    ((name, reason),) = found["not measured"]
    assert name.startswith("ResNet-50") and "out of memory" in reason.lower()
    assert [row[0] for row in found["speed"]] == ["LSTM, 64 sequences of 50"]
    selftest._show(found)
    assert "ResNet-50, 32 images of 224 x 224 could not be measured" in capsys.readouterr().out
