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
    ours = [line for line in done.stderr.splitlines() if "Compiling CPU kernels for this processor" in line]
    assert (done.returncode, done.stderr.splitlines()) == (0, ours) and len(ours) <= 1  # if it took a second


COLOURS = """
import sys, types
asked = []
colorama = types.ModuleType("colorama")
colorama.__version__ = "0.4.6"
for name in ("init", "reinit", "deinit"):  # the real ones replace sys.stdout
    setattr(colorama, name, lambda: asked.append(sys.stdout))
colorama.Fore = colorama.Style = type("Codes", (type,), {"__getattr__": lambda kind, name: ""})("Codes", (), {})
sys.modules["colorama"] = colorama
import numba.cpython.listobj  # makes a message when it is imported
asked.clear()
from mxnet._kernels.conv import direct
assert direct._code.get(wait=True) is not None and not asked, len(asked)
from numba.core import errors
errors.termcolor().errmsg("a program's own message")
assert asked
"""


def test_compiling_does_not_replace_standard_output(tmp_path):
    """numba colours messages that it makes and drops while it compiles; colorama replaces sys.stdout for each."""
    pytest.importorskip("numba")
    new = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}  # nothing is compiled yet
    done = subprocess.run([sys.executable, "-c", COLOURS], env=new, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


ENDING = """
import atexit, threading
atexit.register(lambda: print([t.name for t in threading.enumerate()], direct._code.get(wait=True) is None))
from mxnet._kernels.conv import direct  # its own hook is registered later, so it runs first
assert direct._code.get(wait=False) is None
{then}
"""


@pytest.mark.parametrize("then", ["", "import time; time.sleep(0.4)", "raise SystemExit"])
def test_a_program_that_ends_while_something_is_compiled_waits_for_the_thread(tmp_path, then):
    """A daemon thread that outlives the interpreter is unwound through LLVM's C++ frames, which aborts the process."""
    pytest.importorskip("numba")
    new = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}  # nothing is compiled yet
    done = subprocess.run(
        [sys.executable, "-c", ENDING.format(then=then)], env=new, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "['MainThread'] True\n", "")
