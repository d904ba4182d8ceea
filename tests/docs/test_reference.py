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
    """Each operator, class and function has a sentence of its own, before its parameters and methods."""
    bare = {}
    for page in {*reference.rglob("*.md")} - {reference / "index.md"}:
        for name, body in re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page.read_text(encoding="utf-8"), re.M | re.S):
            own = re.split(r"^### |^\*\*", body, flags=re.M)[0]
            prose = re.sub(r"```.*?```|^<.*?$|^Extends .*$|^Also .*$", "", own, flags=re.M | re.S).strip()
            if not prose:
                bare.setdefault(page.name, []).append(name)
    assert bare == {}


def section(page, name):
    return re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", page.read_text(encoding="utf-8"), re.M | re.S)[1]


def test_entries_have_the_whole_docstring(reference):
    text = section(reference / "gluon.nn.md", "Conv2D")
    assert "**Parameters**" in text and "- `kernel_size` (*int or tuple of int*): " in text
    assert "```pycon\n>>> " in text and "source/mxnet/gluon/nn/conv_layers.html#L-" in text
    operator = section(reference / "operators" / "nn.convolution.md", "Convolution")
    assert "- `num_filter` (*" in operator and "**Parameters**" in operator


def test_long_signatures_are_wrapped(reference):
    for page in reference.rglob("*.md"):
        calls = re.findall(
            r'<div class="signature" markdown>\n\n```python\n(.*?)\n```', page.read_text(encoding="utf-8"), re.S
        )
        long = [call for call in calls if "\n" not in call and len(call) > 88]
        assert not long, page.name


def test_the_chinese_reference_has_chinese_headings_and_summaries(reference):
    chinese = reference.parent / "zh" / "reference"
    text = section(chinese / "gluon.nn.md", "Conv2D")
    assert "二维卷积层" in text and "**参数**" in text and "**示例**" in text
    count = missing = 0
    for name in ("gluon", "gluon.nn", "gluon.loss", "gluon.rnn", "gluon.data", "lr_scheduler", "visualization"):
        for body in re.findall(
            r"^## \S+\n(.*?)(?=^## |\Z)", (chinese / f"{name}.md").read_text(encoding="utf-8"), re.M | re.S
        ):
            count += 1
            missing += not re.search("[\u4e00-\u9fff]", re.split(r"^\*\*", body, flags=re.M)[0].partition("</div>")[2])
    assert count > 100 and missing == 0


def test_docstrings_become_markdown():
    import docstring_pages

    text = """The sum of `a` and b*c.

    Parameters
    ----------
    a, b : int
        Two
        lines.
    **kwargs
        More.

    Examples
    --------
    A comment.

    >>> 1 + 1
    2
    """
    assert docstring_pages.markdown(text, chinese=True, translated="和。") == (
        "和。\n\nThe sum of `a` and b\\*c.\n\n**参数**\n\n- `a`, `b` (*int*): Two\n    lines.\n- `**kwargs`: More.\n\n"
        "**示例**\n\nA comment.\n\n```pycon\n>>> 1 + 1\n2\n```\n"
    )


def test_methods_of_private_bases_are_shown_and_their_names_are_not(reference):
    page = (reference / "gluon.nn.md").read_text(encoding="utf-8")
    assert "### Sequential.add" in page and "Extends _" not in page and "Conv2D.hybrid_forward" not in page
