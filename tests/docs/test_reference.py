"""The reference is made from the code: every operator and every public name of a module is in it."""

import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

import mxnet
from mxnet._ops.registry import registry

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    made.FOLDER = tmp_path_factory.mktemp("docs") / "reference"
    made.main()
    return made.FOLDER


def test_every_operator_is_there_under_all_its_names(reference):
    text = "\n".join(page.read_text(encoding="utf-8") for page in (reference / "operators").iterdir())
    shown = set(re.findall(r"^## (\S+)$", text, re.M)) | set(re.findall(r"`([\w.]+)`", text))
    assert set(registry.load()) - shown == set()


def test_every_public_module_has_a_page(reference):
    found = {module.name for module in pkgutil.iter_modules(mxnet.__path__) if not module.name.startswith("_")}
    found -= {"cli", "serve", "tools"}  # the command line
    found -= {"numpy_op_signature", "numpy_dispatch_protocol"}  # mere tables
    pages = {page.name.split(".")[0] for page in reference.glob("*.md")}
    assert found - pages == set()


def test_modules_show_their_names(reference):
    headings = set(re.findall(r"^## (\S+)$", (reference / "gluon.nn.md").read_text(encoding="utf-8"), re.M))
    assert {"Dense", "Conv2D", "BatchNorm", "HybridSequential", "Embedding"} <= headings


def test_the_index_links_to_every_page(reference):
    for folder in (reference, reference.parent / "zh" / "reference"):
        linked = set(re.findall(r"\]\((\S+\.md)\)", (folder / "index.md").read_text(encoding="utf-8")))
        assert linked == {str(page.relative_to(folder)) for page in folder.rglob("*.md")} - {"index.md"}


def test_everything_public_is_described(reference):
    """Each operator, class and function has a sentence of its own."""
    bare = {}
    for page in {*reference.rglob("*.md")} - {reference / "index.md"}:
        for name, body in re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page.read_text(encoding="utf-8"), re.M | re.S):
            prose = re.sub(r"```.*?```|^- .*?$|^Extends .*$|^Also .*$", "", body, flags=re.M | re.S).strip()
            if not prose:
                bare.setdefault(page.name, []).append(name)
    assert bare == {}
