"""Killed and resumed equals uninterrupted, bit for bit."""

import os
import signal
import subprocess
import sys

import pytest

from . import resume_runs


def run(name, folder, last):
    command = [sys.executable, resume_runs.__file__, name, str(folder), str(last)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})


@pytest.mark.parametrize("name", resume_runs.RUNS)
def test_killed_and_resumed(name, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    expected = run(name, whole, -1)
    assert expected.returncode == 0, expected.stderr
    assert run(name, killed, 1).returncode == -signal.SIGKILL
    resumed = run(name, killed, -1)
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout.split()[-1] == expected.stdout.split()[-1]
