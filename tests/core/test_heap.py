"""Freed memory that the C library keeps for the next step of a network."""

import os
import subprocess
import sys

import pytest

from mxnet import MXNetError
from mxnet._core.machine import heap

PROGRAM = """
import resource
from mxnet import nd
from mxnet._core.machine import heap

x = nd.ones((1, 1 << 20))
heap.keep_freed()

def step():
    return len([x.sin() for _ in range(40)])

for _ in range(4):
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(4):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, heap.keep_freed())
"""


def pages(**settings):
    """Pages that the system had to clear in four steps, and whether memory is kept."""
    env = {name: value for name, value in os.environ.items() if name not in (*heap.SETTINGS, heap.VARIABLE)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env={**env, **settings}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    count, kept = done.stdout.split()
    return int(count), kept == "True"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's malloc only")
def test_a_step_finds_the_memory_of_the_step_before():
    """Without it a step clears 40,000 pages, unless something else happens to lie behind them."""
    count, kept = pages()
    assert kept and count < 1000
    assert pages(MXNET_KEPT_MEMORY="0")[1] is False


def test_the_users_own_settings_stay():
    assert pages(MALLOC_TRIM_THRESHOLD_="1000000")[1] is False


def test_a_wrong_amount_is_told(monkeypatch):
    monkeypatch.setenv(heap.VARIABLE, "much")
    with pytest.raises(MXNetError, match="must be a number of megabytes below 2048, or 0, got 'much'"):
        heap.kept_megabytes()
