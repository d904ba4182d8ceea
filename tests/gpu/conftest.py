"""The tests in `checks` run on a simulated GPU, in a process of their own: see `test_simulated_gpu.py`."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "operators")]

if os.environ.get("REMX_ON_SIMULATED_GPU"):
    import simulated

    simulated.start()
else:
    collect_ignore = ["checks"]
