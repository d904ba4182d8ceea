"""The tests in `checks` run on a simulated GPU, in a process of their own: see `test_simulated_gpu.py`."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "operators")]

import simulated  # noqa: E402 - found by the line above

if os.environ.get("REMX_ON_SIMULATED_GPU") and simulated.why_not() is None:
    simulated.start()
else:
    collect_ignore = ["checks"]
