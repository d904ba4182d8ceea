"""The tests in `checks` on simulated GPUs, each group in a process of its own: the simulation loads before torch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import simulated

HERE = Path(__file__).resolve().parent
GROUPS = {
    "operators": ["test_operators.py", "test_numpy_operators.py", "test_no_round_trips.py"],
    "programs": [
        "test_models.py",
        "test_layers.py",
        "test_training_step.py",
        "test_training_programs.py",
        "test_control_flow.py",
        "test_recurrent.py",
        "test_copies.py",
        "test_engine.py",
        "test_settings.py",
        "test_backward_threads.py",
        "test_graphs.py",
        "test_available.py",
        "test_selftest.py",
        "test_several_workers.py",
    ],
}


def test_every_file_is_in_a_group():
    assert sorted(p.name for p in (HERE / "checks").glob("test_*.py")) == sorted(sum(GROUPS.values(), []))


@pytest.mark.skipif(simulated.why_not() is not None, reason=simulated.why_not() or "")
@pytest.mark.parametrize("group", GROUPS)
def test_on_simulated_gpus(group):
    files = [str(HERE / "checks" / name) for name in GROUPS[group]]
    command = [sys.executable, "-m", "pytest", "-m", "not slow", "--tb=short", *files]
    environment = {**os.environ, "REMX_ON_SIMULATED_GPU": "1", "OMP_NUM_THREADS": "1"}
    environment.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=HERE.parents[1], timeout=900)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
