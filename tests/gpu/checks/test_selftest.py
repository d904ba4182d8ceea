"""`remx selftest` on the simulated GPU."""

import json

import pytest

from mxnet.cli import main


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
