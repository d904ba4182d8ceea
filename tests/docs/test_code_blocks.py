"""Every Python block of the README and the documentation runs, a file's blocks one after another in one namespace."""

import re
from pathlib import Path

import pytest

import mxnet as mx

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if "reference" not in p.parts)]


def blocks(page):
    """(line, code) of a page's blocks."""
    text = page.read_text(encoding="utf-8")
    return [(text[: match.start(1)].count("\n"), match[1]) for match in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mx.random.seed(0)
    space = {"__name__": "__main__"}
    for line, code in blocks(page):
        exec(compile("\n" * line + code, str(page), "exec"), space)


def test_both_languages_of_the_readme_show_the_same_code():
    assert [code for _, code in blocks(ROOT / "README.md")] == [code for _, code in blocks(ROOT / "README.zh.md")]


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "README.zh.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+\.md)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), f"{page.name} links to {target}"
