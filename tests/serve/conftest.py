"""A saved network with two outputs, and a server of it in this process."""

import pathlib
import sys

import pytest

from mxnet.serve.settings import Settings

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from serve_support import save, serving


@pytest.fixture(scope="session")
def prefix(tmp_path_factory):
    return save(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def address(prefix):
    settings = Settings(prefix, 2, "net", {"data": (1, 6)}, max_batch=8, max_body=10000, timeout=20)
    with serving(settings) as found:
        yield found
