"""The tests in `checks` run on a simulated GPU, in a process of their own: see `test_simulated_gpu.py`."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "operators")]

import pytest  # noqa: E402
import simulated  # noqa: E402 - found by the line above

if os.environ.get("REMX_ON_SIMULATED_GPU") and simulated.why_not() is None:
    simulated.start()
else:
    collect_ignore = ["checks"]


@pytest.fixture
def exact_products(monkeypatch):
    """A program that lets torch round products to TF32, while MXNet's variables forbid it to ReMX."""
    from mxnet._device import settings

    monkeypatch.setenv("MXNET_CUDA_ALLOW_TENSOR_CORE", "0")
    names = ("matmul", "conv", "rnn")
    before = {name: settings.get(name) for name in names}
    for name in names:
        settings.put(name, "tf32")
    yield
    assert {name: settings.get(name) for name in names} == dict.fromkeys(names, "tf32")
    for name, value in before.items():
        settings.put(name, value)
