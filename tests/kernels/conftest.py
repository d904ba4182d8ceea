"""What the tests of kernels share."""

import os
from pathlib import Path

import pytest

import mxnet as mx
from mxnet._kernels.conv import choose
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
    """(step, *names) -> results with kernels off, and on, where these kernels (or at least one) must compute.

    With `used=False` no kernel may compute.
    """

    def run(step, *names, used=True):
        with mx.runtime.kernels_off():
            wanted = step()
        with traced() as log:
            found = step()
        computed = {decision.kernel for decision in log if decision.used}
        assert bool(computed) == used and computed >= set(names), log
        return wanted, found

    return run


@pytest.fixture(autouse=True)
def fresh_choices():
    """Choices among ways to compute a convolution are kept; each test decides for itself."""
    choose.forget()
    yield
    choose.forget()
