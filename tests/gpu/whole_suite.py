"""A plugin for pytest: the whole suite with a simulated `gpu(0)` as the default context.

    python -m pytest -p whole_suite tests/ndarray ...

`EXPECTED` are the tests that cannot pass there, each with the reason; one that passes all the same fails the run.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import simulated

REASON = simulated.why_not()
if REASON is None:
    simulated.start()

import mxnet as mx  # noqa: E402
from mxnet._device import late  # noqa: E402


@pytest.fixture(autouse=True)
def on_gpu():
    """Every test begins with the GPU as default, and leaves no late error to the next."""
    mx.Context.default_ctx = mx.gpu(0)
    yield
    mx.Context.default_ctx = mx.cpu()
    late.discard()
