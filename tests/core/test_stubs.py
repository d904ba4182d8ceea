"""Stubs: editors know every operator; the index: each is found without loading the others."""

import subprocess
import sys
from pathlib import Path

import pytest

import mxnet
from mxnet._ops.registry import discovery, registry
from mxnet._ops.registry.signature import namespace

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
    for method in ("exp", "sum", "__add__"):
        assert f"def {method}(" in text
    views = (ROOT / "ndarray" / "_views.pyi").read_text()
    assert "def reshape(self, *shape: Any, **kwargs: Any) -> Self" in views


def test_stubs_are_those_that_the_sources_give():
    tool = ROOT.parents[1] / "tools" / "make_stubs.py"
    if not tool.exists():
        pytest.skip("an installed package has no tools")
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_index_says_where_each_operator_is():
    there = {name: operator.module for name, operator in registry.load().items()}
    assert there == discovery.KNOWN, "run tools/make_stubs.py"


LONE = """
import sys, mxnet as mx
assert (mx.nd.ones((2,)) + 1).asnumpy().tolist() == [2, 2]
print(*(name for name in sys.modules if name.startswith("mxnet._ops.")))
assert mx.nd.Convolution and mx.sym.Convolution and mx.nd.contrib.box_nms
"""


def test_an_operator_loads_its_own_family_only():
    done = subprocess.run([sys.executable, "-c", LONE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = {name.rpartition(".")[2] for name in done.stdout.split()}
    assert "scalar" in loaded and len(loaded & set(discovery.modules())) < 10 < len(discovery.modules())
