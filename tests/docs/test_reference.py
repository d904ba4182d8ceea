"""The reference is made from the code: every operator and every public name of a module is in it."""

import importlib.util
import re
from pathlib import Path

import pytest

from mxnet._ops import registry

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


def test_modules_show_their_names(reference):
    headings = set(re.findall(r"^## (\S+)$", (reference / "gluon.nn.md").read_text(encoding="utf-8"), re.M))
    assert {"Dense", "Conv2D", "BatchNorm", "HybridSequential", "Embedding"} <= headings


def test_the_index_links_to_every_page(reference):
    linked = set(re.findall(r"\]\((\S+\.md)\)", (reference / "index.md").read_text(encoding="utf-8")))
    pages = {str(page.relative_to(reference)) for page in reference.rglob("*.md")} - {"index.md"}
    assert linked == pages
