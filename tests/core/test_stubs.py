"""Stubs: editors know every operator, and the files are those that the generator writes now."""

from pathlib import Path

import pytest

import mxnet
from mxnet._ops import registry
from mxnet._ops.signature import namespace

ROOT = Path(mxnet.__file__).parent


@pytest.mark.parametrize("face", ["ndarray", "symbol"])
def test_every_public_operator_has_a_stub(face):
    texts = {space: (ROOT / face / f"{space}.pyi").read_text() for space in ("op", "contrib", "linalg", "image")}
    missing = []
    for name in registry.load():
        space, short = namespace(name)
        if space in texts and f"\ndef {short}(" not in texts[space]:
            missing.append(name)
    assert missing == [], "run tools/make_stubs.py"


def test_arrays_have_their_generated_methods():
    text = (ROOT / "ndarray" / "ndarray.pyi").read_text()
    for method in ("exp", "sum", "reshape", "asnumpy", "__add__"):
        assert f"def {method}(" in text
