"""Choices among ways to compute a convolution are kept; each test decides for itself."""

import pytest

from mxnet._kernels.conv import choose


@pytest.fixture(autouse=True)
def fresh_choices():
    choose.forget()
    yield
    choose.forget()
