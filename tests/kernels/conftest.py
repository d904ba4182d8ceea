"""What the tests of kernels share."""

import os
from pathlib import Path

import pytest

import mxnet as mx
from mxnet._kernels.registry import traced

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """With `MXNET_KERNELS=torch` there is nothing to test here."""
    if os.environ.get("MXNET_KERNELS") == "torch":
        skip = pytest.mark.skip(reason="checks kernels, which MXNET_KERNELS=torch switches off")
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(skip)


@pytest.fixture
def both_ways():
    """(step) -> what it returns with kernels off and with kernels on; kernels must have computed in the second run."""

    def run(step, *names):
        with mx.runtime.kernels_off():
            wanted = step()
        with traced() as log:
            found = step()
        used = {decision.kernel for decision in log if decision.used}
        assert used and used >= set(names), log
        return wanted, found

    return run
