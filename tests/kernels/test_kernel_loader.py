"""Code that numba compiles stays out of a program's sight."""

import os
import subprocess
import sys

import pytest


def test_compiling_writes_nothing_into_the_log(tmp_path):
    pytest.importorskip("numba")
    code = (
        "import logging; logging.basicConfig(level=logging.DEBUG)\n"
        "from mxnet._graph.inference import parameter_watch\n"
        "assert parameter_watch._loader.get(wait=True) is not None\n"
        "assert logging.getLogger('numba').level == logging.NOTSET"  # as it was
    )
    new = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}  # nothing is compiled yet
    done = subprocess.run([sys.executable, "-c", code], env=new, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
