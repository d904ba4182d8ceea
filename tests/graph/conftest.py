"""What the tests of graphs share: choices made anew for each test, and what there is to test without kernels."""

import os

import pytest

from mxnet._kernels.conv import choose

# Files that look at rewritten graphs, which do not exist where kernels are switched off
REWRITINGS = {"test_channels_last", "test_folding", "test_inductor", "test_packed_dense", "test_recompute"}


def pytest_collection_modifyitems(items):
    if os.environ.get("MXNET_KERNELS") == "torch":
        skip = pytest.mark.skip(reason="checks rewritten graphs, which MXNET_KERNELS=torch switches off")
        for item in items:
            if item.path.stem in REWRITINGS or "rewritten" in item.keywords:
                item.add_marker(skip)


@pytest.fixture(autouse=True)
def fresh_choices():
    """Choices among ways to compute a convolution are kept; each test decides for itself."""
    choose.forget()
    yield
    choose.forget()
