"""What symbol tests share: a fresh name manager, and the record of real MXNet."""

import json
import pathlib

import pytest

import mxnet as mx

RECORD = pathlib.Path(__file__).resolve().parent.parent / "data" / "symbols.json"


@pytest.fixture(scope="session")
def record():
    return json.loads(RECORD.read_text())


@pytest.fixture(autouse=True)
def fresh_names():
    with mx.name.NameManager():
        yield
